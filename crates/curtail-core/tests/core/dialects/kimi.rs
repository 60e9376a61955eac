//! Logs of the Kimi CLI: what compactions, clears and undos leave of the context, and the numbers that count it.

use curtail_core::dialects::{ChangeKind, Framing, Reading};
use curtail_core::json::Document;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{DropMessages, Strip, StripKind};
use curtail_core::transcript::Standing::{self, Live, Preserved, RolledBack, Superseded};

use super::files::cut;

fn message(role: &str, text: &str) -> String {
    format!(
        r#"{{"type":"context.append_message","message":{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}],"toolCalls":[]}},"time":1}}"#
    )
}

fn event(event: &str) -> String {
    format!(r#"{{"type":"context.append_loop_event","event":{{{event}}},"time":1}}"#)
}

/// A step that thinks, answers and calls a tool.
fn step(id: &str) -> Vec<String> {
    let piece = |part: &str| event(&format!(r#""type":"content.part","stepUuid":"{id}","part":{{{part}}}"#));
    vec![
        event(&format!(r#""type":"step.begin","uuid":"{id}""#)),
        piece(r#""type":"think","think":"I see.""#),
        piece(r#""type":"text","text":"I look.""#),
        event(&format!(
            r#""type":"tool.call","stepUuid":"{id}","toolCallId":"call_{id}","name":"Bash","args":{{"command":"ls"}}"#
        )),
        event(&format!(r#""type":"tool.result","toolCallId":"call_{id}","result":{{"output":"quay"}}"#)),
        event(&format!(
            r#""type":"step.end","uuid":"{id}","usage":{{"inputOther":9,"output":5,"inputCacheRead":0,"inputCacheCreation":0}}"#
        )),
    ]
}

fn change(kind: &str, members: &str) -> String {
    format!(r#"{{"type":"context.{kind}"{members},"time":1}}"#)
}

fn log(lines: &[Vec<String>]) -> String {
    lines.concat().iter().map(|line| format!("{line}\n")).collect()
}

fn reading() -> Reading {
    Reading::new(Framing::Lines, Some("kimi"), None).expect("it is a dialect")
}

fn standings(log: &str) -> Vec<Standing> {
    let document = Document::parse_log(log).expect("it is a log");
    let (_, transcript) = reading().transcripts(&document).expect("it is read").remove(0);
    transcript.messages.iter().map(|message| message.standing).collect()
}

fn without(messages: &[usize]) -> Chain {
    let messages = messages.iter().map(|at| *at..at + 1).collect();
    Chain::default().then(DropMessages { messages, ..DropMessages::default() })
}

#[test]
fn a_compaction_of_an_older_version_keeps_the_last_messages() {
    // In the context: a question, a step, its result, a question, an answer.
    let text = log(&[
        vec![message("user", "a")],
        step("s1"),
        vec![message("user", "b"), message("assistant", "c")],
        vec![change("apply_compaction", r#","summary":"s","compactedCount":3,"tokensAfter":9"#)],
        vec![message("user", "d")],
    ]);
    let replaced = [Superseded; 5];
    assert_eq!(standings(&text), [&replaced[..], &[Preserved, Preserved, Live, Live]].concat());
    let out = cut(without(&[0, 1, 2, 3, 4]), &text);
    assert!(out.contains(r#""compactedCount":0"#), "{out}");
    assert_eq!(standings(&out), [Preserved, Preserved, Live, Live]);
    let out = cut(without(&[0, 5]), &text);
    assert!(out.contains(r#""compactedCount":2"#), "{out}");
    assert_eq!(standings(&out), [&replaced[1..], &[Preserved, Live, Live]].concat());
}

#[test]
fn a_compaction_keeps_what_the_user_typed_first_and_last() {
    let compaction = r#","summary":"s","contextSummary":"Of this conversation: s","compactedCount":5,"keptUserMessageCount":2,"keptHeadUserMessageCount":1"#;
    let injected = message("user", "i").replace(r#""toolCalls":[]"#, r#""toolCalls":[],"origin":{"kind":"injection"}"#);
    let asked = ["a", "b", "c"].map(|name| message("user", name));
    let text =
        log(&[asked.to_vec(), vec![injected, message("assistant", "d"), change("apply_compaction", compaction)]]);
    assert_eq!(standings(&text), [Preserved, Superseded, Preserved, Superseded, Superseded, Live]);
    let out = cut(without(&[0, 3]), &text);
    let numbers = r#""compactedCount":3,"keptUserMessageCount":1,"keptHeadUserMessageCount":0"#;
    assert!(out.contains(numbers), "{out}");
    assert_eq!(standings(&out), [Superseded, Preserved, Superseded, Live]);
}

#[test]
fn a_clear_takes_back_everything_before_it() {
    let text = log(&[
        vec![message("user", "a"), change("apply_compaction", r#","summary":"s","compactedCount":1"#)],
        vec![message("user", "b"), change("clear", ""), message("user", "c")],
    ]);
    assert_eq!(standings(&text), [RolledBack, RolledBack, RolledBack, Live]);
    let out = cut(without(&[0]), &text);
    assert_eq!(standings(&out), [RolledBack, RolledBack, Live]);
}

#[test]
fn an_undo_takes_back_the_last_turns() {
    let text = log(&[
        vec![message("user", "a"), message("assistant", "b"), message("user", "c")],
        step("s1"),
        vec![message("user", "d"), change("undo", r#","count":2"#), message("user", "e")],
    ]);
    let undone = [RolledBack; 6];
    assert_eq!(standings(&text), [&[Live, Live], &undone[..], &[Live]].concat());
    // Without one of the two, the other is undone; without the first, both go, and the undo.
    let out = cut(without(&[7]), &text);
    assert!(out.contains(r#""count":1"#), "{out}");
    assert_eq!(standings(&out), [&[Live, Live], &undone[..5], &[Live]].concat());
    let out = cut(without(&[2]), &text);
    assert!(!out.contains("context.undo"), "{out}");
    assert_eq!(standings(&out), [Live, Live, Live]);
}

/// The program undoes nothing if it cannot undo all that is asked for.
#[test]
fn an_undo_reaches_no_compaction() {
    let text = log(&[
        vec![message("user", "a"), change("apply_compaction", r#","summary":"s","compactedCount":1"#)],
        vec![message("user", "b"), change("undo", r#","count":2"#)],
    ]);
    assert_eq!(standings(&text), [Superseded, Live, Live]);
}

/// An older version keeps the last messages behind the summary, where an undo reaches them. What the summary replaced stays replaced.
#[test]
fn an_undo_of_what_a_compaction_kept_leaves_the_compaction() {
    let text = log(&[
        vec![message("user", "a"), message("assistant", "b"), message("user", "c"), message("assistant", "d")],
        vec![change("apply_compaction", r#","summary":"s","compactedCount":2"#), message("user", "e")],
        vec![change("undo", r#","count":3"#), change("undo", r#","count":2"#), message("user", "f")],
    ]);
    let undone = [RolledBack, RolledBack, Live, RolledBack, Live];
    assert_eq!(standings(&text), [&[Superseded, Superseded], &undone[..]].concat());
    let document = Document::parse_log(&text).expect("it is a log");
    let (dialect, transcript) = reading().transcripts(&document).expect("it is read").remove(0);
    let history = dialect.log().history(&transcript.layout.elements);
    let kept = |nth: usize| match &history[nth].kind {
        ChangeKind::Compaction { kept } => Some(kept.clone()),
        ChangeKind::Rollback { .. } => None,
    };
    assert_eq!(history.iter().map(|change| change.at).collect::<Vec<_>>(), [4, 7]);
    assert_eq!([kept(0), kept(1)], [Some(std::iter::once(2..4).collect()), Some(std::iter::once(4..5).collect())]);
}

/// From such a line on, the program sends no long result among the first messages.
#[test]
fn results_stay_cleared_up_to_the_same_message() {
    let clearing = String::from(r#"{"type":"micro_compaction.apply","cutoff":3,"time":1}"#);
    let text = log(&[vec![message("user", "a")], step("s1"), vec![clearing, message("user", "b")], step("s2")]);
    let out = cut(without(&[0]), &text);
    assert!(out.contains(r#""cutoff":2"#), "{out}");
    assert_eq!(cut(without(&[5]), &text).matches(r#""cutoff":3"#).count(), 1);
    // Each counts the context that is there: what is rolled back is no part of it, and a cutoff may be behind its end.
    let clearing = |cutoff: usize| format!(r#"{{"type":"micro_compaction.apply","cutoff":{cutoff},"time":1}}"#);
    let undo = String::from(r#"{"type":"context.undo","count":1,"time":1}"#);
    let text = log(&[
        vec![message("user", "a"), message("assistant", "b"), clearing(2), message("user", "c"), clearing(9)],
        vec![undo, clearing(1), message("user", "d"), message("assistant", "e"), clearing(4)],
    ]);
    let cutoffs = |log: &str| -> Vec<usize> {
        let values = log.split(r#""cutoff":"#).skip(1);
        values.map(|rest| rest[..rest.find(',').unwrap()].parse().unwrap()).collect()
    };
    assert_eq!(cutoffs(&cut(without(&[]), &text)), [2, 9, 1, 4]);
    // The first clearing is dropped with the message that it follows.
    assert_eq!(cutoffs(&cut(without(&[1]), &text)), [8, 1, 3]);
    assert_eq!(cutoffs(&cut(without(&[0, 1, 3]), &text)), [7, 0, 1]);
}

/// The program ignores the pieces of a step that it has not begun.
#[test]
fn a_step_stays_begun() {
    let text = log(&[vec![message("user", "a")], step("s1"), step("s2"), vec![message("user", "b")]]);
    let out = cut(without(&[0, 1, 2, 3, 4]), &text);
    assert!(out.starts_with(&event(r#""type":"step.begin","uuid":"s2""#)), "{out}");
    let thoughts = Strip { kinds: vec![StripKind::AllReasoning], ..Strip::default() };
    let out = cut(Chain::default().then(thoughts), &text);
    assert_eq!(out.matches("step.begin").count(), 2, "{out}");
}
