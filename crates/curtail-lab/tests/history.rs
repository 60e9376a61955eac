//! What is sent behind rollbacks and compactions, in every format that has both.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

use std::collections::HashMap;

use curtail_core::dialects::{Framing, Reading};
use curtail_core::json::Document;
use curtail_core::transcript::Content;
use curtail_lab::sessions;

/// A step of a session. Messages are named by their texts.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    Ask(&'static str),
    Answer(&'static str),
    /// The next message follows this one.
    Back(&'static str),
    /// A summary in place of everything but these messages.
    Compact(&'static str, &'static [&'static str]),
}

use Step::{Answer, Ask, Back, Compact};

/// What a log writes for a step.
#[derive(Default)]
struct Writer {
    lines: Vec<String>,
    /// What is sent after each message, and what was not rolled back by then.
    after: HashMap<&'static str, State>,
    now: State,
    /// The number of each message, in the order of the log.
    numbers: HashMap<&'static str, usize>,
}

#[derive(Default, Clone)]
struct State {
    sent: Vec<&'static str>,
    in_force: Vec<&'static str>,
}

impl Writer {
    fn step(&mut self, format: &Format, step: Step) {
        let lines = (format.write)(self, step);
        self.lines.extend(lines);
        let name = match step {
            Back(name) => {
                self.now = self.after[name].clone();
                return;
            }
            Ask(name) | Answer(name) => {
                self.now.sent.push(name);
                name
            }
            Compact(name, kept) => {
                self.now.sent.retain(|sent| format.keeps && kept.contains(sent));
                self.now.sent.insert(0, name);
                name
            }
        };
        self.now.in_force.push(name);
        self.numbers.insert(name, self.numbers.len());
        self.after.insert(name, self.now.clone());
    }

    /// The number of the next message.
    fn next(&self) -> usize {
        self.numbers.len()
    }

    /// The last message, as the id of a parent.
    fn parent(&self) -> String {
        self.now.in_force.last().map_or("null".into(), |name| format!("\"{name}\""))
    }

    /// The messages that going back to `name` rolls back.
    fn rolled_back(&self, name: &str) -> &[&'static str] {
        let first = self.now.in_force.iter().position(|one| *one == name).unwrap() + 1;
        &self.now.in_force[first..]
    }
}

struct Format {
    name: &'static str,
    write: fn(&Writer, Step) -> Vec<String>,
    /// Whether a compaction can keep messages.
    keeps: bool,
    /// Whether the messages kept need not be the newest.
    keeps_oldest: bool,
    /// Whether a session goes back to any message, also of a branch that it left.
    returns: bool,
    /// Whether what a rolled back compaction replaced is sent again.
    restores: bool,
}

const FORMATS: &[Format] = &[
    Format { name: "gemini", write: adk, keeps: true, keeps_oldest: true, returns: false, restores: true },
    Format { name: "gemini", write: gemini_cli, keeps: false, keeps_oldest: false, returns: false, restores: false },
    Format { name: "codex", write: codex, keeps: false, keeps_oldest: false, returns: false, restores: true },
    Format { name: "kimi", write: kimi, keeps: true, keeps_oldest: false, returns: false, restores: false },
    Format { name: "pi", write: pi, keeps: true, keeps_oldest: false, returns: true, restores: true },
    Format { name: "claude-code", write: claude_code, keeps: true, keeps_oldest: true, returns: true, restores: true },
    Format { name: "qwen", write: qwen, keeps: false, keeps_oldest: false, returns: true, restores: true },
];

fn adk(log: &Writer, step: Step) -> Vec<String> {
    let time = 1_771_000_000 + log.next();
    let event = |author: &str, invocation: &str, members: String| {
        format!(r#"{{"author":"{author}","invocation_id":"e-{invocation}","timestamp":{time}.0,{members}}}"#)
    };
    let said = |author: &str, invocation: &str, text: &str| {
        let role = if author == "user" { "user" } else { "model" };
        event(author, invocation, format!(r#""content":{{"role":"{role}","parts":[{{"text":"{text}"}}]}}"#))
    };
    let asked = || log.now.in_force.iter().rfind(|name| name.starts_with('q')).unwrap();
    vec![match step {
        Ask(name) => said("user", name, name),
        Answer(name) => said("model", asked(), name),
        Back(name) => {
            let target = log.rolled_back(name)[0];
            event("user", "rewind", format!(r#""actions":{{"rewind_before_invocation_id":"e-{target}"}}"#))
        }
        Compact(name, kept) => {
            let is_replaced = |one: &&&str| !one.starts_with('s') && !kept.contains(*one);
            let replaced = || log.now.in_force.iter().filter(is_replaced).map(|name| 1_771_000_000 + log.numbers[name]);
            let (start, end) = (replaced().min().unwrap(), replaced().max().unwrap());
            let content = format!(r#"{{"role":"model","parts":[{{"text":"{name}"}}]}}"#);
            let times = format!(r#""start_timestamp":{start}.0,"end_timestamp":{end}.0"#);
            event("user", name, format!(r#""actions":{{"compaction":{{{times},"compacted_content":{content}}}}}"#))
        }
    }]
}

fn gemini_cli(log: &Writer, step: Step) -> Vec<String> {
    let record = |kind: &str, name: &str| {
        format!(r#"{{"id":"{name}","timestamp":"2026-01-01T00:00:00Z","type":"{kind}","content":"{name}"}}"#)
    };
    vec![match step {
        Ask(name) => record("user", name),
        Answer(name) => record("gemini", name),
        Back(name) => format!(r#"{{"$rewindTo":"{}"}}"#, log.rolled_back(name)[0]),
        Compact(name, _) => format!(r#"{{"$set":{{"messages":[{}]}}}}"#, record("user", name)),
    }]
}

fn codex(log: &Writer, step: Step) -> Vec<String> {
    let line = |kind: &str, payload: String| {
        format!(r#"{{"timestamp":"2026-01-01T00:00:00Z","type":"{kind}","payload":{{{payload}}}}}"#)
    };
    let message = |role: &str, kind: &str, text: &str| {
        format!(r#""type":"message","role":"{role}","content":[{{"type":"{kind}","text":"{text}"}}]"#)
    };
    vec![match step {
        Ask(name) => line("response_item", message("user", "input_text", name)),
        Answer(name) => line("response_item", message("assistant", "output_text", name)),
        Back(name) => {
            let turns = log.rolled_back(name).iter().filter(|name| name.starts_with('q')).count();
            line("event_msg", format!(r#""type":"thread_rolled_back","num_turns":{turns}"#))
        }
        Compact(name, _) => line("compacted", format!(r#""message":"{name}""#)),
    }]
}

fn kimi(log: &Writer, step: Step) -> Vec<String> {
    let message = |role: &str, name: &str| {
        let content = format!(r#"[{{"type":"text","text":"{name}"}}]"#);
        format!(
            r#"{{"type":"context.append_message","message":{{"role":"{role}","content":{content},"toolCalls":[]}},"time":1}}"#
        )
    };
    vec![match step {
        Ask(name) => message("user", name),
        Answer(name) => message("assistant", name),
        Back(name) => {
            let turns = log.rolled_back(name).iter().filter(|name| name.starts_with('q')).count();
            format!(r#"{{"type":"context.undo","count":{turns},"time":1}}"#)
        }
        Compact(name, kept) => {
            let count = log.now.sent.len() - kept.len();
            format!(r#"{{"type":"context.apply_compaction","summary":"{name}","compactedCount":{count},"time":1}}"#)
        }
    }]
}

fn pi(log: &Writer, step: Step) -> Vec<String> {
    let entry = |name: &str, members: String| {
        format!(r#"{{"id":"{name}","parentId":{},"timestamp":"2026-01-01T00:00:00Z",{members}}}"#, log.parent())
    };
    let message = |role: &str, name: &str| {
        let content = format!(r#"[{{"type":"text","text":"{name}"}}]"#);
        let message = format!(r#"{{"role":"{role}","content":{content},"api":"anthropic-messages"}}"#);
        entry(name, format!(r#""type":"message","message":{message}"#))
    };
    match step {
        Ask(name) => vec![message("user", name)],
        Answer(name) => vec![message("assistant", name)],
        Back(_) => Vec::new(),
        Compact(name, kept) => {
            let first = kept.first().unwrap_or(&name);
            vec![entry(name, format!(r#""type":"compaction","summary":"{name}","firstKeptEntryId":"{first}""#))]
        }
    }
}

fn claude_code(log: &Writer, step: Step) -> Vec<String> {
    let record = |uuid: &str, parent: &str, members: &str| {
        let time = r#""timestamp":"2026-01-01T00:00:00Z","sessionId":"s","version":"2.1.0","isSidechain":false"#;
        format!(r#"{{"uuid":"{uuid}","parentUuid":{parent},{time},{members}}}"#)
    };
    let message = |role: &str, name: &str| {
        format!(r#""type":"{role}","message":{{"role":"{role}","content":[{{"type":"text","text":"{name}"}}]}}"#)
    };
    match step {
        Ask(name) => vec![record(name, &log.parent(), &message("user", name))],
        Answer(name) => vec![record(name, &log.parent(), &message("assistant", name))],
        Back(_) => Vec::new(),
        Compact(name, kept) => {
            let uuids: Vec<String> = kept.iter().map(|name| format!("\"{name}\"")).collect();
            let preserved = format!(r#""compactMetadata":{{"preservedMessages":{{"uuids":[{}]}}}}"#, uuids.join(","));
            let mark = format!(
                r#""type":"system","subtype":"compact_boundary","logicalParentUuid":{},{preserved}"#,
                log.parent()
            );
            let summary = format!(r#""isCompactSummary":true,{}"#, message("user", name));
            let boundary = format!("{name}-mark");
            vec![record(&boundary, "null", &mark), record(name, &format!("\"{boundary}\""), &summary)]
        }
    }
}

fn qwen(log: &Writer, step: Step) -> Vec<String> {
    let record = |name: &str, members: &str| {
        let time = r#""sessionId":"s","timestamp":"2026-01-01T00:00:00Z""#;
        vec![format!(r#"{{"uuid":"{name}","parentUuid":{},{time},{members}}}"#, log.parent())]
    };
    let content = |role: &str, name: &str| format!(r#"{{"role":"{role}","parts":[{{"text":"{name}"}}]}}"#);
    match step {
        Ask(name) => record(name, &format!(r#""type":"user","message":{}"#, content("user", name))),
        Answer(name) => record(name, &format!(r#""type":"assistant","message":{}"#, content("model", name))),
        Back(_) => Vec::new(),
        Compact(name, _) => {
            let payload = format!(r#"{{"compressedHistory":[{}]}}"#, content("user", name));
            record(name, &format!(r#""type":"system","subtype":"chat_compression","systemPayload":{payload}"#))
        }
    }
}

/// What the last request of a log sends, by the names of its messages.
fn sent(format: &Format, log: &Writer) -> Vec<String> {
    let text = log.lines.join("\n") + "\n";
    let document = Document::parse_log(&text).unwrap();
    let reading = Reading::new(Framing::Lines, Some(format.name), None).unwrap();
    let (dialect, transcript) = reading.transcripts(&document).unwrap().remove(0);
    let session = sessions(dialect, &transcript).remove(0);
    let name = |position: usize| {
        let texts =
            transcript.messages[session.messages[position]].parts.iter().filter_map(|part| match &part.content {
                Content::Text(text) => Some(text.decode().into_owned()),
                _ => None,
            });
        let text: String = texts.collect();
        log.numbers.keys().find(|name| text.contains(**name)).map_or(text.clone(), |name| String::from(*name))
    };
    session.requests.last().unwrap().sent.iter().cloned().flatten().map(name).collect()
}

const SCRIPTS: &[&[Step]] = &[
    // A rollback before a compaction, which kept nothing, the newest messages, those around the rollback, and the oldest.
    &[Ask("q1"), Answer("a1"), Ask("q2"), Answer("a2"), Back("a1"), Ask("q3"), Answer("a3"), Compact("s1", &[])],
    &[
        Ask("q1"),
        Answer("a1"),
        Ask("q2"),
        Answer("a2"),
        Back("a1"),
        Ask("q3"),
        Answer("a3"),
        Compact("s1", &["q3", "a3"]),
    ],
    &[
        Ask("q0"),
        Answer("a0"),
        Ask("q1"),
        Answer("a1"),
        Ask("q2"),
        Answer("a2"),
        Back("a1"),
        Ask("q3"),
        Answer("a3"),
        Compact("s1", &["q1", "a1", "q3", "a3"]),
    ],
    &[
        Ask("q1"),
        Answer("a1"),
        Ask("q2"),
        Answer("a2"),
        Back("a1"),
        Ask("q3"),
        Answer("a3"),
        Compact("s1", &["q1", "a1"]),
    ],
    // A rollback behind a compaction, and one over it.
    &[Ask("q1"), Answer("a1"), Compact("s1", &["a1"]), Ask("q2"), Answer("a2"), Back("s1")],
    &[
        Ask("q1"),
        Answer("a1"),
        Ask("q2"),
        Answer("a2"),
        Compact("s1", &["q2", "a2"]),
        Ask("q3"),
        Answer("a3"),
        Back("a1"),
    ],
    // Another compaction behind one that was rolled back.
    &[
        Ask("q1"),
        Answer("a1"),
        Ask("q2"),
        Answer("a2"),
        Compact("s1", &[]),
        Ask("q3"),
        Answer("a3"),
        Back("a1"),
        Ask("q4"),
        Answer("a4"),
        Compact("s2", &["q4", "a4"]),
    ],
    &[
        Ask("q1"),
        Answer("a1"),
        Ask("q2"),
        Answer("a2"),
        Compact("s1", &[]),
        Ask("q3"),
        Answer("a3"),
        Back("a1"),
        Ask("q4"),
        Answer("a4"),
        Compact("s2", &["q1", "a1"]),
    ],
    // A rollback over another one, and over a compaction behind one.
    &[
        Ask("q1"),
        Answer("a1"),
        Ask("q2"),
        Answer("a2"),
        Ask("q3"),
        Answer("a3"),
        Back("a2"),
        Ask("q4"),
        Answer("a4"),
        Back("a1"),
    ],
    &[
        Ask("q1"),
        Answer("a1"),
        Ask("q2"),
        Answer("a2"),
        Ask("q3"),
        Answer("a3"),
        Back("a2"),
        Ask("q4"),
        Compact("s1", &[]),
        Answer("a4"),
        Back("a1"),
    ],
    // A return to a branch, without a compaction and over one.
    &[Ask("q1"), Answer("a1"), Ask("q2"), Answer("a2"), Back("a1"), Ask("q3"), Answer("a3"), Back("a2")],
    &[
        Ask("q1"),
        Answer("a1"),
        Compact("s1", &[]),
        Ask("q2"),
        Answer("a2"),
        Back("a1"),
        Ask("q3"),
        Answer("a3"),
        Back("a2"),
    ],
];

#[test]
fn a_request_sends_what_was_neither_rolled_back_nor_replaced() {
    for format in FORMATS {
        for (nth, script) in SCRIPTS.iter().enumerate() {
            let mut log = Writer::default();
            let fits = script.iter().all(|step| {
                let fits = match step {
                    Back(name) => {
                        let is_left = !log.now.in_force.contains(name);
                        let is_over = !is_left && log.rolled_back(name).iter().any(|name| name.starts_with('s'));
                        if is_left { format.returns } else { !is_over || format.restores }
                    }
                    Compact(_, kept) => {
                        let is_newest = log.now.sent.ends_with(kept);
                        format.keeps_oldest || !format.keeps || is_newest
                    }
                    _ => true,
                };
                if fits {
                    log.step(format, *step);
                }
                fits
            });
            if !fits {
                continue;
            }
            log.step(format, Ask("q9"));
            let expected = log.now.sent.clone();
            log.step(format, Answer("a9"));
            assert_eq!(sent(format, &log), expected, "{}, script {nth}:\n{}", format.name, log.lines.join("\n"));
        }
    }
}

/// The last state of a message may be a record behind those of later messages.
#[test]
fn a_message_that_was_written_again_is_rolled_back_with_those_behind_it() {
    let format = &FORMATS[1];
    let mut log = Writer::default();
    for step in [Ask("q1"), Answer("a1"), Ask("q2"), Answer("a2")] {
        log.step(format, step);
    }
    log.lines.push(log.lines[2].clone());
    for step in [Back("a1"), Ask("q3"), Answer("a3")] {
        log.step(format, step);
    }
    assert_eq!(sent(format, &log), ["q1", "a1", "q3"]);
}
