//! Generates chats with tools like those of datasets: 21 to 61 messages, tool outputs of 0.2 to 20 KB with escapes.
//!
//! The same seed gives the same chats on every machine.

#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test may stop at what it did not expect"
)]

use std::fmt::Write as _;

const WORDS: &[&str] = &[
    "the", "request", "failed", "because", "file", "module", "returns", "user", "value", "and", "path", "error", "of",
    "to", "is", "handler", "timeout", "in", "configuration", "test", "expected", "a", "function", "line", "naïve",
    "which", "server", "connection", "“quoted”", "retry", "parse", "token", "stack", "with", "index", "größer", "map",
];

/// A generator of chats, with pseudorandom numbers (xorshift, Marsaglia 2003).
pub struct Chats {
    state: u64,
    next: usize,
}

impl Chats {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, next: 0 }
    }

    fn number(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.number() >> 11).unwrap_or(0) % end
    }

    /// Appends one chat and its line end.
    pub fn append(&mut self, line: &mut String) {
        self.next += 1;
        write!(line, r#"{{"id": "chat-{:08}", "messages": ["#, self.next).unwrap();
        line.push_str(r#"{"role": "system", "content": "You are a careful assistant.\nUse the tools."}"#);
        let total = 20 + self.below(41);
        let mut messages = 1;
        while messages < total {
            messages += self.turn(line, messages, total);
        }
        line.push_str("], \"source\": \"generated\"}\n");
    }

    /// Appends a question, rounds of tool calls and an answer, and returns the number of messages.
    fn turn(&mut self, line: &mut String, from: usize, total: usize) -> usize {
        line.push_str(r#", {"role": "user", "content": ""#);
        let length = 40 + self.below(400);
        self.prose(line, length);
        line.push_str("\"}");
        let rounds = 1 + self.below(4);
        let mut messages = 1;
        for round in 0..rounds {
            if from + messages + 2 > total {
                break;
            }
            let id = format!("call_{}_{}_{round}", self.next, from + messages);
            let query = self.below(1_000_000);
            write!(
                line,
                r#", {{"role": "assistant", "content": null, "tool_calls": [{{"id": "{id}", "type": "function", "function": {{"name": "search", "arguments": "{{\"query\": \"{query}\", \"limit\": 10}}"}}}}]}}, {{"role": "tool", "tool_call_id": "{id}", "content": ""#
            )
            .unwrap();
            // Most outputs are short, some are long: 0.2 to 20 KB.
            let length = 200 << self.below(7);
            let length = (length + self.below(length)).min(20_000);
            self.output(line, length);
            line.push_str("\"}");
            messages += 2;
        }
        line.push_str(r#", {"role": "assistant", "content": ""#);
        let length = 100 + self.below(900);
        self.prose(line, length);
        line.push_str("\"}");
        messages + 1
    }

    fn prose(&mut self, line: &mut String, length: usize) {
        let end = line.len() + length;
        while line.len() < end {
            line.push_str(WORDS[self.below(WORDS.len())]);
            line.push_str(if self.below(14) == 0 { ".\\n" } else { " " });
        }
    }

    /// Appends the output of a tool, like a listing or a log: lines, indentation, quotes, numbers.
    fn output(&mut self, line: &mut String, length: usize) {
        let end = line.len() + length;
        while line.len() < end {
            match self.below(8) {
                0 => line.push_str("\\n    "),
                1 => line.push_str("\\\""),
                2 => write!(line, "{}: ", self.below(100_000)).unwrap(),
                3 => line.push_str("\\t"),
                _ => {}
            }
            line.push_str(WORDS[self.below(WORDS.len())]);
            line.push(' ');
        }
    }
}
