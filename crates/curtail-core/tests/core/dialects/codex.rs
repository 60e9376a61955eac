//! Codex rollouts: context, events that repeat it, and lines that are always kept or hold a list of messages.

use curtail_core::dialects::{Framing, Reading, dialect_named};
use curtail_core::json::Document;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{ToolFilter, ToolGlobs};
use curtail_core::transcript::{Content, Pairs};

use super::files::{cut, fixture};
use crate::laws::cases::last;

fn reading() -> Reading {
    Reading { framing: Framing::Lines, dialect: None, named: false, messages_key: None }
}

/// How many messages and pairs are read, and what counts as instructions.
fn read_rollout(name: &str) -> (usize, usize, Vec<String>) {
    let text = fixture(&format!("codex/{name}"));
    let document = Document::parse_log(&text).expect("a rollout");
    let read = reading().transcripts(&document).expect("a transcript");
    let (dialect, transcript) = &read[0];
    assert_eq!(dialect.name(), "codex");
    let preamble = transcript.layout.preamble.iter().map(|text| text.decode().into_owned()).collect();
    (transcript.messages.len(), Pairs::from_messages(&transcript.messages).pairs().count(), preamble)
}

#[test]
fn only_items_are_context() {
    for (name, messages, pairs) in [
        ("minimal.jsonl", 5, 1),
        ("parallel.jsonl", 6, 2),
        ("reasoning.jsonl", 6, 1),
        ("tools.jsonl", 10, 3),
        ("compacted.jsonl", 7, 1),
        ("compacted-text.jsonl", 5, 0),
        ("torn.jsonl", 3, 1),
    ] {
        let (read_messages, read_pairs, _) = read_rollout(name);
        assert_eq!((read_messages, read_pairs), (messages, pairs), "{name}");
    }
}

#[test]
fn instructions_count() {
    assert_eq!(read_rollout("minimal.jsonl").2, ["You weave code."]);
    assert_eq!(read_rollout("compacted-text.jsonl").2, ["You weave code."]);
}

#[test]
fn settings_stay_and_mirrors_go_with_what_they_mirror() {
    let out = cut(last(1), &fixture("codex/minimal.jsonl"));
    assert!(out.contains("session_meta") && out.contains("turn_context"), "{out}");
    assert!(out.contains("\"agent_message\"") && out.contains("Only the blue one."), "{out}");
    assert!(!out.contains("\"user_message\"") && !out.contains("call_1a"), "{out}");
}

#[test]
fn older_settings_go_with_their_turn() {
    let out = cut(last(2), &fixture("codex/settings.jsonl"));
    let kept = |words: &str| out.contains(words);
    assert!(!kept(r#""cwd":"/one""#) && kept(r#""cwd":"/two""#) && kept(r#""cwd":"/three""#), "{out}");
    // Changes mean nothing without the state that they change.
    assert!(kept(r#""full":true"#) && kept(r#""full":false"#), "{out}");
    assert_eq!(cut(last(1), &fixture("codex/settings.jsonl")).matches("turn_context").count(), 1);
}

#[test]
fn thoughts_mirrored_ahead_go_with_the_call_they_led_to() {
    let tools = ToolFilter { tools: ToolGlobs::All, persist_results: false, dropped: None };
    let out = cut(Chain::default().then(tools), &fixture("codex/reasoning.jsonl"));
    assert!(!out.contains("Looking for the tear") && out.contains("**Mended**"), "{out}");
}

#[test]
fn a_compaction_is_cut_inside_and_stays() {
    let out = cut(last(4), &fixture("codex/compacted.jsonl"));
    let text = fixture("codex/compacted.jsonl");
    let (before, after): (Vec<&str>, Vec<&str>) = (text.lines().collect(), out.lines().collect());
    // What it replaced is older than what is left.
    assert_eq!(before[..1], after[..1]);
    assert!(after[1].contains("\"replacement_history\":[{") && !after[1].contains("Weave a scarf."), "{}", after[1]);
    assert_eq!(before[4..], after[2..]);
}

#[test]
fn a_torn_line_stays() {
    let out = cut(last(2), &fixture("codex/torn.jsonl"));
    assert!(out.ends_with("\"role\":\"assi"), "{out}");
}

/// A line of a message; its text is its role and `name`.
fn message(role: &str, name: &str) -> String {
    let kind = if role == "user" { "input_text" } else { "output_text" };
    format!(
        "{{\"timestamp\":\"t\",\"type\":\"response_item\",\"payload\":{{\"type\":\"message\",\"role\":\"{role}\",\"content\":[{{\"type\":\"{kind}\",\"text\":\"{name}\"}}]}}}}"
    )
}

fn event(payload: &str) -> String {
    format!("{{\"timestamp\":\"t\",\"type\":\"event_msg\",\"payload\":{{\"type\":{payload}}}}}")
}

/// The texts that a model reads of a log: `q` and `a` are a turn, as are `g` of another agent and `a`, `C` is a compaction with a list and `c` one without, `<` and
/// `>` are where a turn begins and ends, and a number is how many turns are rolled back.
fn live_texts(log: &str) -> Vec<String> {
    let lines = log.chars().enumerate().map(|(at, c)| match c {
        'q' => message("user", &format!("q{at}")),
        'g' => format!(
            "{{\"timestamp\":\"t\",\"type\":\"response_item\",\"payload\":{{\"type\":\"agent_message\",\"author\":\"/root\",\"recipient\":\"/root/dyer\",\"content\":[{{\"type\":\"input_text\",\"text\":\"g{at}\"}}]}}}}"
        ),
        'a' => message("assistant", &format!("a{at}")),
        'C' => format!(
            "{{\"timestamp\":\"t\",\"type\":\"compacted\",\"payload\":{{\"message\":\"\",\"replacement_history\":[{{\"type\":\"message\",\"role\":\"user\",\"content\":[{{\"type\":\"input_text\",\"text\":\"C{at}\"}}]}}]}}}}"
        ),
        'c' => format!("{{\"timestamp\":\"t\",\"type\":\"compacted\",\"payload\":{{\"message\":\"c{at}\"}}}}"),
        '<' => event("\"task_started\""),
        '>' => event("\"task_complete\""),
        turns => event(&format!("\"thread_rolled_back\",\"num_turns\":{turns}")),
    });
    let text: String = lines.map(|line| line + "\n").collect();
    let document = Document::parse_log(&text).expect("a rollout");
    let reading = Reading { dialect: dialect_named("codex"), ..reading() };
    let (_, transcript) = &reading.transcripts(&document).expect("a transcript")[0];
    let live = transcript.messages.iter().filter(|message| message.standing.is_read());
    let parts = live.flat_map(|message| &message.parts).filter_map(|part| match &part.content {
        Content::Text(text) => Some(text.decode().into_owned()),
        _ => None,
    });
    parts.collect()
}

/// What a rolled-back compaction replaced is read again, as Codex does when it reads the log.
#[test]
fn a_compaction_goes_with_the_turns_that_are_rolled_back() {
    for (log, expected) in [
        // The compaction is older than the turn, in the middle of it, and between two of them.
        ("qaCqa1", &["C2"][..]),
        ("qaqaCa1", &["q0", "a1"]),
        ("qaqaca1", &["q0", "a1"]),
        ("qaqaCqa2", &["q0", "a1"]),
        ("qaqaCqa1", &["C4"]),
        ("qaCqaCqa2qa", &["C2", "q9", "a10"]),
        ("qaCqacqa3qa", &["q9", "a10"]),
        // Turn by turn.
        ("qaqaCqa1qa2qa", &["q0", "a1", "q11", "a12"]),
        // A turn begins with a compaction; before it, the user asked for one.
        ("<qa><Cqa>1", &["q1", "a2"]),
        ("<qa><cqa>1qa", &["q1", "a2", "q10", "a11"]),
        ("<qa><C><qa>1", &["C5"]),
        ("<qa><C><qa>2qa", &["q12", "a13"]),
        // Another agent begins turns as well.
        ("qaga1", &["q0", "a1"]),
        ("gaCga2ga", &["g6", "a7"]),
    ] {
        assert_eq!(live_texts(log), expected, "{log}");
    }
}

/// A person can write of what the program writes, and a rollback removes the turn that begins so.
#[test]
fn a_prompt_that_begins_as_context_is_a_prompt() {
    let said = |role: &str, kind: &str, text: &str| {
        format!(
            r#"{{"timestamp":"t","type":"response_item","payload":{{"type":"message","role":"{role}","content":[{{"type":"{kind}","text":"{text}"}}]}}}}"#
        )
    };
    let log = [
        said("user", "input_text", r"<environment_context>\n<cwd>/loom</cwd>\n</environment_context>"),
        said("user", "input_text", r"# AGENTS.md instructions for /loom\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>"),
        said("user", "input_text", r#"<codex_internal_context source=\"goal\">\nGo on.\n</codex_internal_context>"#),
        said("user", "input_text", r"<goal_context>\nGo on.\n</goal_context>"),
        said("user", "input_text", "# AGENTS.md instructions are ignored: why?"),
        said("assistant", "output_text", "They are not."),
        said("user", "input_text", "<skill> is no tag that is read"),
        String::from(r#"{"timestamp":"t","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}"#),
        said("user", "input_text", r"<subagent_notification>{}</subagent_notification>"),
    ];
    let text = log.join("\n") + "\n";
    let document = Document::parse_log(&text).expect("a rollout");
    let read = reading().transcripts(&document).expect("a transcript");
    let messages = &read[0].1.messages;
    let found: Vec<_> = messages.iter().map(|message| (message.automatic, message.standing.is_rolled_back())).collect();
    let expected = [
        (true, false),
        (true, false),
        (true, false),
        (true, false),
        (false, false),
        (false, false),
        (false, true),
        (true, false),
    ];
    assert_eq!(found, expected);
}

/// A comma before an element with a list inside it goes with what stood before the comma.
#[test]
fn an_element_with_a_list_inside_it_can_be_the_first() {
    let message = |text: &str| {
        format!(
            r#"{{"type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}}}"#
        )
    };
    let compacted = r#"{"type":"compacted","payload":{"replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"It is 42."}]}]}}"#;
    let log = format!("[{}, {compacted}, {}]\n", message("What is the key?"), message("Thanks."));
    assert_eq!(cut(last(2), &log), format!("[{compacted}, {}]\n", message("Thanks.")));
    let lines = format!("{}\n{compacted}\n{}\n", message("What is the key?"), message("Thanks."));
    assert_eq!(cut(last(2), &lines), format!("{compacted}\n{}\n", message("Thanks.")));
}
