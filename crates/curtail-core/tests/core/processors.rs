//! Single processors: what a limit leaves of a text and how often it counts one, and what a window says of what it drops.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use curtail_core::Tokenizer;
use curtail_core::dialects::Framing;
use curtail_core::json::Document;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{Counting, Overflow, Processor, SlidingWindow, TokenLimit, View};

use crate::laws::cases::limit;
use crate::laws::check::{cut_with, reading};

/// A provider refuses a message without a text: where nothing fits, the limit says what it needs.
#[test]
fn no_text_is_shortened_to_nothing() {
    let said = |role: &str, text: &str| format!("{{\"role\":\"{role}\",\"content\":\"{}\"}}\n", text.repeat(9));
    let chat = [said("user", "When does the train leave? "), said("assistant", "At seventeen to ten. ")].concat();
    let mut fits = 0;
    for tokens in 1..80 {
        let chain = Chain::default().then(limit(tokens, Overflow::Truncate));
        let Ok(cut) = cut_with(chain, Some("openai"), Framing::Lines, &chat) else { continue };
        assert!(!cut.contains(r#""content":"""#), "{tokens}: {cut}");
        fits += 1;
    }
    assert!(fits > 20, "{fits}");
}

/// Nor is a failure without a text accepted.
#[test]
fn no_failure_is_shortened_to_nothing() {
    let log = concat!(
        r#"{"role":"user","content":"Oil"}"#,
        "\n",
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"oil","input":{}}]}"#,
        "\n",
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"no oil left at all","is_error":true}]}"#,
        "\n",
    );
    let mut fits = 0;
    for tokens in 1..20 {
        let chain = Chain::default().then(limit(tokens, Overflow::Truncate));
        let Ok(cut) = cut_with(chain, Some("anthropic"), Framing::Lines, log) else { continue };
        assert!(!cut.contains(r#""content":"""#), "{tokens}: {cut}");
        fits += 1;
    }
    assert!(fits > 8, "{fits}");
    // Other providers accept it.
    let parts = |part: &dyn Fn(usize) -> String| (0..5).map(part).collect::<Vec<_>>().join(",");
    let calls = parts(&|nth| format!(r#"{{"functionCall":{{"name":"oil{nth}","args":{{}}}}}}"#));
    let error = "no oil left at all in the can ".repeat(6);
    let results =
        parts(&|nth| format!(r#"{{"functionResponse":{{"name":"oil{nth}","response":{{"error":"{error}"}}}}}}"#));
    let message = |role: &str, parts: &str| format!("{{\"role\":\"{role}\",\"parts\":[{parts}]}}\n");
    let log = message("user", r#"{"text":"Oil"}"#) + &message("model", &calls) + &message("user", &results);
    let chain = Chain::default().then(limit(20, Overflow::Truncate));
    assert!(cut_with(chain, Some("gemini"), Framing::Lines, &log).is_ok());
}

/// Counts words, and how many bytes it has read.
struct Reading(Arc<AtomicUsize>);

impl Tokenizer for Reading {
    fn count(&self, text: &str) -> usize {
        self.0.fetch_add(text.len(), Ordering::Relaxed);
        text.split_whitespace().count()
    }
}

/// A limit in steps counts the message that began a turn once, and not for each message of the turn.
#[test]
fn a_long_question_is_not_counted_for_each_step_of_its_turn() {
    let said = |role: &str, text: &str| format!("{{\"role\":\"{role}\",\"content\":\"{text}\"}}\n");
    let turn = said("user", &"word ".repeat(10_000)) + &said("assistant", "one two three").repeat(300);
    let read = Arc::new(AtomicUsize::new(0));
    let limit = TokenLimit::new(10_500, Counting::new(Arc::new(Reading(Arc::clone(&read)))));
    let chain = Chain::default().then(TokenLimit { step: 100, ..limit });
    let cut = cut_with(chain, Some("openai"), Framing::Lines, &turn).unwrap();
    assert!(cut.len() < turn.len() && cut.contains("word word"), "{}", cut.len());
    assert!(read.load(Ordering::Relaxed) < 50 * turn.len(), "{}", read.load(Ordering::Relaxed));
}

#[test]
fn messages_in_a_sliding_window_are_not_said_to_be_outside_it() {
    let text = [("system", "Be brief."), ("user", "One?"), ("assistant", "Two."), ("user", "Three?")]
        .map(|(role, text)| format!("{{\"role\":\"{role}\",\"content\":\"{text}\"}}\n"))
        .concat();
    let document = Document::parse_log(&text).expect("it is JSON");
    let transcripts = reading(Some("openai"), Framing::Lines).transcripts_or_none(&document).expect("it is read");
    let (_, transcript) = &transcripts[0];
    let window = SlidingWindow { size: 2, ..SlidingWindow::default() };
    let plan = window.decide(&View::of_layout(&transcript.layout, &transcript.messages)).expect("it is decided");
    assert!(format!("{plan:?}").contains("no place in a window of 2 items"), "{plan:?}");
}
