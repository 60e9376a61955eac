//! Summaries that are made once, and a memory that continues from those it has.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may stop at what it did not expect")]

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use curtail_core::dialects::{Framing, Reading};
use curtail_core::json::Document;
use curtail_core::processors::{Processor, View};
use curtail_memory::rolling::{Rolling, RollingSummary};
use curtail_memory::summarizers::{
    Budget, Extractive, Failure, RememberedSummaries, Request, Speaker, Summarizer, Utterance,
};
use curtail_tokens::tokenizers::tokenizer_by_name;

/// A memory that continues from its summaries drops what they cover, whether or not it has to make another one.
#[test]
fn a_continued_memory_knows_whether_it_changes_anything() {
    let line = |nth: usize| format!("{{\"role\":\"{}\",\"content\":\"{nth}\"}}\n", ["user", "assistant"][nth % 2]);
    let log: String = (0..20).map(line).collect();
    let document = Document::parse_log(&log).unwrap();
    let reading = Reading::new(Framing::Lines, Some("openai"), None).unwrap();
    let (_, transcript) = reading.transcripts(&document).unwrap().pop().unwrap();
    let view = View::of_layout(&transcript.layout, &transcript.messages);
    let [window, max_summaries] = [4, 2].map(|n| NonZeroUsize::new(n).unwrap());
    let memory = RollingSummary::new(Arc::new(Extractive), tokenizer_by_name("o200k_base").unwrap());
    let memory = RollingSummary { rolling: Rolling { window, max_summaries }, tokens: 60, ..memory };
    let (continued, from) = memory.resumed(&view, |_| true).expect("all pairs are closed");
    for end in from..=view.messages.len() {
        let view = View::of_layout(&transcript.layout, &view.messages[from..end]);
        let changes = !continued.decide(&view).unwrap().is_identity();
        assert_eq!(continued.would_change(&view).unwrap(), changes, "messages {from} to {end}");
    }
}

/// A memory of one process: the same summary is made once.
#[test]
fn summaries_are_made_once() {
    struct Counted(Arc<AtomicUsize>);
    impl Summarizer for Counted {
        fn name(&self) -> &'static str {
            "counted"
        }
        fn summarize(&self, utterances: &[Utterance<'_>], _: &Budget<'_>) -> Result<String, Failure> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(utterances[0].text.to_uppercase())
        }
        fn request(&self, _: &[Utterance<'_>], _: &Budget<'_>) -> Option<Request> {
            None
        }
    }
    let made = Arc::new(AtomicUsize::new(0));
    let summaries = RememberedSummaries::new(Arc::new(Counted(Arc::clone(&made))));
    let count = |text: &str| text.len();
    let say = |text: &'static str, tokens| {
        let spoken = [Utterance::new(Speaker::User, text)];
        summaries.summarize(&spoken, &Budget { tokens, count: &count }).unwrap()
    };
    assert_eq!(
        (say("one", 9), say("one", 9), say("two", 9), say("one", 8)),
        ("ONE".into(), "ONE".into(), "TWO".into(), "ONE".into())
    );
    assert_eq!(made.load(Ordering::Relaxed), 3);
}
