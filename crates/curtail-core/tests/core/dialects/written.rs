//! Calls and thoughts that are texts, in every role and syntax: their results belong to them.

use curtail_core::pipeline::Chain;
use curtail_core::processors::{Keep, Repair, RepairMode, SlidingWindow, Strip, StripKind, WindowUnit};
use curtail_core::transcript::{Content, Fault, Message, Pairs, segments};

use super::files::{cut, read_transcripts};
use crate::laws::cases::without;

/// Texts that call `moor`, and one in no syntax.
const CALLS: &[&str] = &[
    r#"<tool_call>\n{\"name\": \"moor\", \"arguments\": {\"at\": 3}}\n</tool_call>"#,
    r#"\u003ctool_call\u003e{\"name\": \"moor\", \"arguments\": {}}\u003c/tool_call\u003e"#,
    r"I look.\n<function_call>{'arguments': {}, 'name': 'moor'}</function_call>",
    r#"<tools>{\"name\": \"moor\", \"parameters\": {}}</tools>"#,
    "[moor(at=3)]",
    r#"<|python_tag|>{\"name\": \"moor\", \"parameters\": {}}"#,
    r#"{\"name\": \"moor\", \"parameters\": {\"at\": 3}}"#,
    r"<tool_call>\n<function=moor>\n<parameter=at>3</parameter>\n</function>\n</tool_call>",
    r"Thought: where?\nAction: moor\nAction Input: 3",
    "moor, please: at three",
];

/// How a conversation with such a text is written: the text is `CALL`.
const CHATS: &[(&str, &str)] = &[
    (
        "roles",
        r#"{"messages":[{"role":"user","content":"Where?"},{"role":"assistant","content":"CALL"},{"role":"tool","content":"berth nine"},{"role":"assistant","content":"At nine."},{"role":"user","content":"Thanks."}]}"#,
    ),
    (
        "ids",
        r#"{"messages":[{"role":"user","content":"Where?"},{"role":"assistant","content":"CALL"},{"role":"tool","tool_call_id":"moor","content":"berth nine"},{"role":"assistant","content":"At nine."},{"role":"user","content":"Thanks."}]}"#,
    ),
    (
        "ipython",
        r#"{"messages":[{"role":"user","content":"Where?"},{"role":"assistant","content":"CALL"},{"role":"ipython","content":"berth nine"},{"role":"assistant","content":"At nine."},{"role":"user","content":"Thanks."}]}"#,
    ),
    (
        "turns",
        r#"{"conversations":[{"from":"human","value":"Where?"},{"from":"gpt","value":"CALL"},{"from":"tool","value":"<tool_response>\nberth nine\n</tool_response>"},{"from":"gpt","value":"At nine."},{"from":"human","value":"Thanks."}]}"#,
    ),
    (
        "plain",
        r#"{"messages":[{"speaker":"user","text":"Where?"},{"speaker":"ai","text":"CALL"},{"speaker":"environment","text":"berth nine"},{"speaker":"ai","text":"At nine."},{"speaker":"user","text":"Thanks."}]}"#,
    ),
];

/// Every conversation of [`CHATS`] with every text of [`CALLS`].
fn chats() -> impl Iterator<Item = (String, String)> {
    let with = |(name, chat): &(&str, &str), call: &str| (format!("{name}: {call}"), chat.replace("CALL", call) + "\n");
    CHATS.iter().flat_map(move |chat| CALLS.iter().map(move |call| with(chat, call)))
}

fn roles(text: &str) -> Vec<String> {
    let mut roles = Vec::new();
    let see = |message: &Message<'_>| message.writer().to_owned();
    read_transcripts(text, |_, transcript| roles.extend(transcript.messages.iter().map(see))).expect("it is read");
    roles
}

#[test]
fn results_belong_to_the_text_before_them() {
    for (name, text) in chats() {
        let see = |_: &dyn curtail_core::dialects::Dialect, transcript: &curtail_core::transcript::Transcript<'_>| {
            let messages = &transcript.messages;
            let pairs = Pairs::from_messages(messages);
            let found: Vec<_> = pairs.pairs().map(|(call, result)| (call.message, result.message)).collect();
            assert_eq!(found, [(1, 2)], "{name}");
            assert_eq!(segments(messages, &pairs), [0..1, 1..3, 3..4, 4..5], "{name}");
            let faults = Fault::find_all(messages, &pairs, transcript.layout.rules.pairing);
            assert!(faults.is_empty(), "{name}: {faults:?}");
            let call = messages[1].calls().next().expect("a call").1;
            assert!(["moor", ""].contains(&&*call.name.decode()), "{name}: {}", call.name.decode());
        };
        read_transcripts(&text, see).expect("it is read");
    }
}

#[test]
fn repair_leaves_calls_in_texts_alone() {
    for (name, text) in chats() {
        for mode in [RepairMode::Drop, RepairMode::Stub, RepairMode::Move] {
            assert_eq!(cut(Chain::default().then(Repair { mode, pending: true }), &text), text, "{name}");
        }
    }
}

#[test]
fn a_window_keeps_a_text_and_its_results_together() {
    for (name, text) in chats() {
        for size in 1..5 {
            let keep = Keep { system: false, ..Keep::default() };
            let window = SlidingWindow { size, unit: WindowUnit::Items, keep, step: 1 };
            let roles = roles(&cut(Chain::default().then(window), &text));
            let lone = roles.iter().any(|role| role == "tool")
                != (roles.iter().filter(|role| *role == "assistant").count() == 2);
            assert!(!lone, "{name}: {roles:?}");
        }
    }
}

#[test]
fn a_filter_finds_the_tool_by_the_name_in_the_text() {
    for (name, text) in chats().filter(|(name, _)| !name.contains("please")) {
        assert_eq!(cut(without("sail"), &text), text, "{name}");
        let out = cut(without("moor"), &text);
        assert!(!out.contains("berth nine") && !out.contains("moor"), "{name}: {out}");
        assert_eq!(out.contains("I look."), text.contains("I look."), "{name}: {out}");
        assert_eq!(cut(without("moor"), &out), out, "{name}");
    }
}

#[test]
fn one_of_several_calls_in_a_text_can_be_dropped() {
    let text = r#"{"messages":[{"role":"user","content":"Where?"},{"role":"assistant","content":"<think>\nTwo.\n</think>\n<tool_call>{\"name\": \"moor\", \"arguments\": {}}</tool_call>\n<tool_call>{\"name\": \"sail\", \"arguments\": {}}</tool_call>"},{"role":"tool","content":"nine"},{"role":"tool","content":"ten"},{"role":"assistant","content":"At nine."}]}
"#;
    let out = cut(without("moor"), text);
    let left = text.replace(r#"<tool_call>{\"name\": \"moor\", \"arguments\": {}}</tool_call>\n"#, "");
    assert_eq!(out, left.replace(r#"{"role":"tool","content":"nine"},"#, ""));
    let strip = Chain::default().then(Strip { kinds: vec![StripKind::Reasoning], ..Strip::default() });
    assert_eq!(cut(strip, text), text.replace(r"<think>\nTwo.\n</think>\n", ""));
}

/// As many results as there are: several in one message, or more of them than calls that were found.
#[test]
fn results_of_one_text_are_one_round() {
    let call = r#"<tool_call>{\"name\": \"moor\", \"arguments\": {}}</tool_call>"#;
    for (calls, results) in [
        (2, vec![r"<tool_response>\na\n</tool_response>\n<tool_response>\nb\n</tool_response>"]),
        (1, vec!["a", "b"]),
        (3, vec!["a", "b"]),
        (2, vec!["a"]),
    ] {
        let mut messages = vec![
            String::from(r#"{"role":"user","content":"Where?"}"#),
            format!(r#"{{"role":"assistant","content":"{}"}}"#, call.repeat(calls)),
        ];
        messages.extend(results.iter().map(|text| format!(r#"{{"role":"tool","content":"{text}"}}"#)));
        messages.push(String::from(r#"{"role":"assistant","content":"At nine."}"#));
        let text = format!("{{\"messages\":[{}]}}\n", messages.join(","));
        let repair = || Chain::default().then(Repair { mode: RepairMode::Drop, pending: true });
        assert_eq!(cut(repair(), &text), text);
        assert_eq!(roles(&cut(without("moor"), &text)), ["user", "assistant"], "{calls} and {results:?}");
    }
}

/// The user's own texts are results only in tags, and only behind a call.
#[test]
fn what_a_user_says_is_no_result() {
    for (said, is_result) in [
        (r"<tool_response>\nnine\n</tool_response>", true),
        (r"<tool_response>\nnine\n</tool_response> And then?", false),
        ("nine", false),
    ] {
        let chat = format!(
            "{{\"messages\":[{{\"role\":\"assistant\",\"content\":\"{}\"}},{{\"role\":\"user\",\"content\":\"{said}\"}},{{\"role\":\"assistant\",\"content\":\"At nine.\"}}]}}\n",
            CALLS[0]
        );
        assert_eq!(roles(&chat)[1] == "tool", is_result, "{said}");
        let talk = chat.replace(CALLS[0], "Good morning.");
        assert_eq!(roles(&talk)[1], "user", "{said}");
    }
}

/// A history for the API that lost its calls keeps its orphans: the id names a call that is nowhere, whatever the text says of
/// the tool.
#[test]
fn an_orphan_of_the_api_stays_one() {
    for name in ["", r#""name":"look","#] {
        let chat = format!(
            r#"{{"messages":[{{"role":"user","content":"Where?"}},{{"role":"assistant","content":"Let me look."}},{{"role":"tool","tool_call_id":"call_1",{name}"content":"nine"}},{{"role":"assistant","content":"At nine."}}]}}
"#
        );
        assert_eq!(
            roles(&cut(Chain::default().then(Repair { mode: RepairMode::Drop, pending: true }), &chat)),
            ["user", "assistant", "assistant"],
            "{name}"
        );
    }
}

#[test]
fn a_thought_in_tags_is_reasoning() {
    for (said, thought) in [
        (r"<think>\nIs it?\n</think>\n\nIt is.", true),
        (r"[THINK]Is it?[/THINK]It is.", true),
        (r"It is. <think>late</think>", false),
    ] {
        let chat = format!(
            "{{\"messages\":[{{\"role\":\"user\",\"content\":\"{said}\"}},{{\"role\":\"assistant\",\"content\":\"{said}\"}}]}}\n"
        );
        let mut kinds = Vec::new();
        read_transcripts(&chat, |_, transcript| {
            let is_thought =
                |message: &Message<'_>| message.parts.iter().any(|part| matches!(part.content, Content::Reasoning(_)));
            kinds.extend(transcript.messages.iter().map(is_thought));
        })
        .expect("it is read");
        assert_eq!(kinds, [false, thought], "{said}");
    }
}

/// The framework makes the id, and the text calls the tool by its name. A sentence that names a tool calls none.
#[test]
fn a_text_that_calls_a_tool_by_name_is_answered() {
    for (text, is_call) in [
        ("ACTION moor(at=3)", true),
        ("moor{at: 3}", true),
        (r"I look.\nmoor(\n  at=3,\n)\n", true),
        ("`moor(at=3);`<|im_end|>", true),
        ("I use moor at three.", false),
        ("I called moor() and that is all.", false),
    ] {
        let lines = [
            r#"{"role":"user","content":"Where?"}"#.to_owned(),
            format!("{{\"role\":\"assistant\",\"content\":\"{text}\"}}"),
            r#"{"role":"tool","tool_call_id":"call_1","name":"moor","content":"berth nine"}"#.to_owned(),
            r#"{"role":"assistant","content":"At nine."}"#.to_owned(),
        ];
        read_transcripts(&(lines.join("\n") + "\n"), |_, transcript| {
            assert_eq!(transcript.messages.iter().any(|message| message.calls().next().is_some()), is_call, "{text}");
        })
        .expect("it is read");
    }
}
