//! Laws of threads, on every fixture: what a thread took it knows again, and in pieces it takes what it takes whole.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may stop at what it did not expect")]

use std::collections::HashSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use curtail_core::dialects::{Framing, Reading, detect_framing};
use curtail_core::figures::StaleFigures;
use curtail_core::processors::Thinking;
use curtail_memory::rolling::{Rolling, RollingSummary, Shown, Taken, Thread, ThreadError};
use curtail_memory::summarizers::{Budget, Extractive, Failure, Request, Summarizer, Utterance};
use curtail_tokens::tokenizers::tokenizer_by_name;

/// A file, as the dialect whose folder it is in.
struct Fixture {
    path: PathBuf,
    text: String,
    reading: Reading,
}

/// The fixtures of all dialects.
fn fixtures() -> Vec<Fixture> {
    let dialects = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/dialects");
    let mut found = Vec::new();
    for folder in fs::read_dir(dialects).unwrap().map(|entry| entry.unwrap().path()) {
        let dialect = folder.file_name().unwrap().to_str().unwrap().to_owned();
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let Ok(text) = fs::read_to_string(&path) else { continue };
            let framing = detect_framing(&text, None);
            let Ok(reading) = Reading::new(framing, Some(&dialect), None) else { continue };
            found.push(Fixture { path, text, reading });
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

fn summary(window: usize) -> RollingSummary {
    let rolling = Rolling { window: NonZeroUsize::new(window).unwrap(), ..Rolling::default() };
    let summary = RollingSummary::new(Arc::new(Extractive), tokenizer_by_name("o200k_base").unwrap());
    RollingSummary { rolling, tokens: 60, ..summary }
}

/// A thread and its marks, as a store keeps them.
#[derive(Clone, Default)]
struct Kept {
    thread: Option<Thread>,
    marks: HashSet<String>,
}

/// An input of a thread.
struct Given<'t> {
    text: &'t str,
    from: Option<usize>,
    rewind: bool,
}

impl Kept {
    fn take(&self, summary: &RollingSummary, reading: &Reading, given: &Given<'_>) -> Result<Self, ThreadError> {
        let Given { text, from, rewind } = *given;
        let taken = Taken { text, reading, from, now: "2026-01-01T00:00:00Z", rewind };
        let known = |mark: &str| self.marks.contains(mark);
        let (thread, fresh) = Thread::after(self.thread.clone(), summary, taken, &known)?;
        let mut marks = self.marks.clone();
        marks.extend(fresh);
        Ok(Self { thread: Some(thread), marks })
    }

    /// What is written of the thread.
    fn shown(&self, summary: &RollingSummary) -> [String; 2] {
        let context = Shown::Context { thinking: Thinking::default(), figures: StaleFigures::Keep };
        let render = |shown| self.thread.as_ref().unwrap().render(summary, shown, Framing::Lines).unwrap();
        [render(Shown::State), render(context)]
    }

    fn next(&self) -> usize {
        self.thread.as_ref().map_or(0, Thread::taken) + 1
    }
}

/// A summarizer that leaves nothing out.
struct WordForWord;

impl Summarizer for WordForWord {
    fn name(&self) -> &'static str {
        "word-for-word"
    }

    fn summarize(&self, utterances: &[Utterance<'_>], _: &Budget<'_>) -> Result<String, Failure> {
        Ok(utterances.iter().map(|utterance| format!("{}\n", utterance.text)).collect())
    }

    fn request(&self, _: &[Utterance<'_>], _: &Budget<'_>) -> Option<Request> {
        None
    }
}

/// A chat without calls: the messages from number `first` to `last`.
fn chat(first: usize, last: usize) -> String {
    let role = |nth: usize| if nth % 2 == 1 { "user" } else { "assistant" };
    let line = |nth: usize| format!("{{\"role\": \"{}\", \"content\": \"<{nth}> was said\"}}\n", role(nth));
    (first..=last).map(line).collect()
}

/// The first summary leaves out the interaction that has just left the window, but not what was asked there.
#[test]
fn the_first_request_of_a_chat_without_calls_is_kept() {
    let reading = Reading::new(Framing::Lines, None, None).unwrap();
    let wordy = RollingSummary { summarizer: Arc::new(WordForWord), tokens: 10_000, ..summary(21) };
    for summary in [RollingSummary { tokens: 200, ..summary(21) }, wordy] {
        for last in [21, 22, 30, 42, 43, 64] {
            let text = chat(1, last);
            let given = Given { text: &text, from: Some(1), rewind: false };
            let [state, context] = Kept::default().take(&summary, &reading, &given).unwrap().shown(&summary);
            assert!(state.contains("<1> was said") && context.contains("<1> was said"), "{last}: {state}\n{context}");
        }
    }
}

/// What a log appends may be metadata that shows no dialect. It is that of the thread, if the thread is that of a log which has
/// such lines.
#[test]
fn metadata_alone_is_appended_to_the_thread_of_a_log() {
    let label = "{\"type\":\"label\",\"id\":\"b9\",\"parentId\":\"b2\",\"timestamp\":\"2026-05-01T10:00:10.000Z\",\"targetId\":\"b1\",\"label\":\"x\"}\n";
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/dialects/pi/branches.jsonl");
    let log = fs::read_to_string(fixture).unwrap();
    let summary = summary(4);
    let reading = |text: &str| Reading::new(detect_framing(text, None), None, None).unwrap();
    let take =
        |kept: &Kept, text: &str| kept.take(&summary, &reading(text), &Given { text, from: None, rewind: false });
    let before: String = log.split_inclusive('\n').take(6).collect();
    let kept = take(&Kept::default(), &before).unwrap();
    let with_label = take(&kept, label).unwrap();
    assert_eq!(with_label.thread.as_ref().map(Thread::taken), kept.thread.as_ref().map(Thread::taken));
    assert!(with_label.shown(&summary)[1].contains(label.trim()));
    for foreign in ["{\"name\":\"x\",\"version\":\"1.0.0\"}\n", "{\"type\":\"module\",\"name\":\"x\"}\n"] {
        assert!(take(&kept, foreign).is_err(), "{foreign}");
        assert!(take(&kept, &[label, foreign].concat()).is_err(), "{foreign}");
    }
    let chat = take(&Kept::default(), &chat(1, 4)).unwrap();
    assert!(take(&chat, label).is_err());
}

/// Whatever is said is in the window or in a summary, also where another window begins its summaries elsewhere.
#[test]
fn a_window_of_another_size_loses_nothing() {
    let reading = Reading::new(Framing::Lines, None, None).unwrap();
    let of = |window| {
        let rolling = Rolling { window: NonZeroUsize::new(window).unwrap(), max_summaries: NonZeroUsize::MAX };
        RollingSummary { rolling, summarizer: Arc::new(WordForWord), tokens: 100_000, ..summary(window) }
    };
    for (first, then) in [(21, 5), (21, 20), (5, 21), (4, 3)] {
        for at in 1..=60 {
            let [begin, rest] = [chat(1, at), chat(at + 1, 64)];
            let begun =
                Kept::default().take(&of(first), &reading, &Given { text: &begin, from: Some(1), rewind: false });
            let rest = Given { text: &rest, from: Some(at + 1), rewind: false };
            let [_, context] = begun.unwrap().take(&of(then), &reading, &rest).unwrap().shown(&of(then));
            for nth in 1..=64 {
                let said = format!("<{nth}> was said");
                let times = context.matches(&said).count();
                assert!(times > 0, "{first} then {then} after {at}: {nth} is lost\n{context}");
            }
        }
    }
}

/// A message without calls may be of many dialects.
#[test]
fn a_thread_has_the_dialect_of_all_its_messages() {
    let reading = Reading::new(Framing::Lines, None, None).unwrap();
    let lines = [
        r#"{"role":"user","content":"hi"}"#,
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]}"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}"#,
        r#"{"role":"assistant","content":"done"}"#,
    ];
    let lines = lines.map(|line| format!("{line}\n"));
    let summary = summary(2);
    let take = |thread: &Kept, text: &str| {
        thread.take(&summary, &reading, &Given { text, from: None, rewind: false }).unwrap()
    };
    let whole = take(&Kept::default(), &lines.concat());
    let one_by_one = lines.iter().fold(Kept::default(), |thread, line| take(&thread, line));
    assert_eq!(one_by_one.shown(&summary), whole.shown(&summary));
}

/// In the log of a subagent, its messages are the conversation.
#[test]
fn a_log_of_a_subagent_alone_has_interactions() {
    let reading = Reading::new(Framing::Lines, Some("claude-code"), None).unwrap();
    let line = |nth: usize| {
        let role = if nth % 2 == 1 { "user" } else { "assistant" };
        let parent = if nth == 1 { String::from("null") } else { format!("\"u{}\"", nth - 1) };
        format!(
            r#"{{"parentUuid":{parent},"isSidechain":true,"sessionId":"s","uuid":"u{nth}","type":"{role}","message":{{"role":"{role}","content":"<{nth}> was said"}}}}"#
        ) + "\n"
    };
    let text: String = (1..=9).map(line).collect();
    let summary = RollingSummary { tokens: 200, ..summary(2) };
    let given = Given { text: &text, from: Some(1), rewind: false };
    let [_, context] = Kept::default().take(&summary, &reading, &given).unwrap().shown(&summary);
    assert_eq!(context.matches("\"uuid\":\"u").count(), 2, "{context}");
}

#[test]
fn a_window_may_be_as_large_as_a_number() {
    let reading = Reading::new(Framing::Lines, None, None).unwrap();
    let rolling = Rolling { window: NonZeroUsize::MAX, ..Rolling::default() };
    let summary = RollingSummary { rolling, trigger: Some(20), ..summary(1) };
    let text = chat(1, 9);
    let given = Given { text: &text, from: None, rewind: false };
    let [state, _] = Kept::default().take(&summary, &reading, &given).unwrap().shown(&summary);
    assert!(state.contains("<1> was said"), "{state}");
}

/// Whether a text is refused for what it is: a thread takes one transcript that it can read and write.
fn is_refused(error: &ThreadError) -> bool {
    matches!(error, ThreadError::Input(..) | ThreadError::SeveralTranscripts(_))
}

#[test]
fn what_is_taken_twice_is_taken_once() {
    let mut taken = 0;
    let mut broken = Vec::new();
    for Fixture { path, text, reading } in &fixtures() {
        let name = path.display();
        for (from, rewind) in [(Some(1), false), (Some(1), true), (None, true)] {
            let summary = summary(2);
            let given = Given { text, from, rewind };
            let once = match Kept::default().take(&summary, reading, &given) {
                Err(error) if is_refused(&error) => continue,
                once => once.unwrap_or_else(|error| panic!("{name}: {error}")),
            };
            taken += 1;
            match once.take(&summary, reading, &given) {
                Err(error) => broken.push(format!("{name}, from {from:?}, rewind {rewind}: {error}")),
                Ok(twice) if twice.thread != once.thread || twice.marks != once.marks => {
                    broken
                        .push(format!("{name}, from {from:?}, rewind {rewind}: {:?}\n{:?}", once.thread, twice.thread));
                }
                Ok(_) => {}
            }
        }
    }
    assert!(taken > 500, "only {taken} were taken");
    assert!(broken.is_empty(), "{} of {taken}:\n{}", broken.len(), broken.join("\n"));
}

/// The places of the messages in a text.
fn places(reading: &Reading, text: &str) -> Vec<Option<(u32, u32)>> {
    let document = reading.parse(text).unwrap();
    let transcripts = reading.transcripts_or_none(&document).unwrap();
    let messages = transcripts.iter().flat_map(|(_, transcript)| &transcript.messages);
    messages.map(|message| message.value().map(|value| (value.span().start, value.span().end))).collect()
}

/// What comes behind the first half: the second half with its number, or the whole log again.
fn continuations<'t>(whole: &'t str, rest: &'t str, half: &Kept) -> [Given<'t>; 3] {
    [
        Given { text: rest, from: Some(half.next()), rewind: false },
        Given { text: whole, from: Some(1), rewind: false },
        Given { text: whole, from: None, rewind: true },
    ]
}

/// What is wrong with a log that is taken up to byte `at` and then goes on, or how often it was right.
fn compare(summary: &RollingSummary, fixture: &Fixture, whole: &Kept, at: usize) -> Result<usize, String> {
    let Fixture { text, reading, .. } = fixture;
    let (begin, rest) = text.split_at(at);
    let Ok(half) = Kept::default().take(summary, reading, &Given { text: begin, from: Some(1), rewind: false }) else {
        return Ok(0);
    };
    let mut compared = 0;
    for given in continuations(text, rest, &half) {
        let how = format!("from {:?}, rewind {}", given.from, given.rewind);
        let after = match half.take(summary, reading, &given) {
            // A thread says of turns that it may have summarized that they were rolled back.
            Err(ThreadError::RolledBack) if !given.rewind => continue,
            Err(ThreadError::Input(..)) if given.text == rest => continue,
            // In some logs, later lines replace messages of earlier ones: then the log itself has another history.
            Err(ThreadError::Changed(_))
                if !given.rewind && !places(reading, text).starts_with(&places(reading, begin)) =>
            {
                continue;
            }
            after => after.map_err(|error| format!("{how}: {error}"))?,
        };
        compared += 1;
        // A summary of an interaction whose end was not there yet says less.
        if summary.rolling.window.get() == ALL && after.shown(summary) != whole.shown(summary) {
            return Err(format!("{how}:\n{}\n{}", after.shown(summary).concat(), whole.shown(summary).concat()));
        }
        if after.next() != whole.next() {
            return Err(format!("{how}: {} messages instead of {}", after.next() - 1, whole.next() - 1));
        }
    }
    Ok(compared)
}

/// A window that no fixture fills.
const ALL: usize = 1000;

#[test]
fn two_halves_are_the_whole() {
    let mut compared = 0;
    let mut broken = Vec::new();
    for fixture in fixtures().iter().filter(|fixture| fixture.reading.framing == Framing::Lines) {
        for window in [2, ALL] {
            let summary = summary(window);
            let given = Given { text: &fixture.text, from: Some(1), rewind: false };
            let Ok(whole) = Kept::default().take(&summary, &fixture.reading, &given) else { continue };
            for (at, _) in fixture.text.match_indices('\n') {
                match compare(&summary, fixture, &whole, at + 1) {
                    Ok(count) => compared += count,
                    Err(what) => {
                        let lines = fixture.text[..at].lines().count();
                        broken.push(format!("{}, window {window}, {lines} lines, then {what}", fixture.path.display()));
                    }
                }
            }
        }
    }
    assert!(compared > 5000, "only {compared} were compared");
    assert!(broken.is_empty(), "{} of {compared}:\n{}", broken.len(), broken.join("\n"));
}
