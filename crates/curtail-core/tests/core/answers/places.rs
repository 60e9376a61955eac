//! The place that an answer means: an index, an id, a limit, or the place of the only fault.

use curtail_core::checks::{Answer, Diagnosis};

use super::found;
use crate::checked::detected;

/// A session of Claude Code: two records of one reply, and lines that are no messages.
const SESSION: &str = r#"{"type":"summary","summary":"Weather","leafUuid":"u4"}
{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"Is it raining in Oslo?"}}
{"type":"assistant","uuid":"u2","parentUuid":"u1","sessionId":"s","message":{"id":"msg_1","role":"assistant","content":[{"type":"text","text":"Let me look."}]}}
{"type":"assistant","uuid":"u3","parentUuid":"u2","sessionId":"s","message":{"id":"msg_1","role":"assistant","content":[{"type":"tool_use","id":"toolu_01AbCdEfGhIjKl9z","name":"weather","input":{"city":"Oslo"}}]}}
{"type":"system","uuid":"u9","parentUuid":"u3","sessionId":"s","subtype":"info","content":"slow"}
{"type":"user","uuid":"u4","parentUuid":"u9","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_01AbCdEfGhIjKl9z","content":"rain"},{"type":"text","text":""}]}}
{"type":"assistant","uuid":"u5","parentUuid":"u4","sessionId":"s","message":{"id":"msg_2","role":"assistant","content":[{"type":"text","text":"It is."}]}}
{"type":"user","uuid":"u6","parentUuid":"u5","sessionId":"s","message":{"role":"user","content":"And in Rome?"}}
"#;

#[test]
fn an_index_counts_the_messages_of_the_request_and_not_the_lines_of_the_log() {
    let line = |answer: &str| found(answer, SESSION).first().map(|finding| finding.at.line);
    assert_eq!(line("messages.2.content.1.text: text content blocks must be non-empty"), Some(6));
    assert_eq!(
        line("messages.1.content.1.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
        Some(4)
    );
    assert_eq!(line("messages.1.content.0: text content blocks must contain non-whitespace text"), Some(6));
    let shortened = "messages.4.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$': toolu_01Ab…Kl9z";
    assert_eq!(line(shortened), Some(4));
    let without_index = "messages: text content blocks must be non-empty";
    assert_eq!(line(without_index), Some(6));
}

#[test]
fn an_id_is_found_whole_whatever_is_in_it_and_with_a_gap_wherever_that_is() {
    let call = |id: &str| {
        let call = format!(r#"{{"id":"{id}","type":"function","function":{{"name":"look","arguments":"{{}}"}}}}"#);
        format!("{{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{call}]}}\n")
    };
    let user = "{\"role\":\"user\",\"content\":\"Go on.\"}\n";
    let line = |ids: [&str; 2], said: &str| {
        let chat = format!("{user}{}{user}{}{user}", call(ids[0]), call(ids[1]));
        let lines: Vec<usize> = found(&format!("No tool output found for function call {said}."), &chat)
            .iter()
            .map(|one| one.at.line)
            .collect();
        lines
    };
    assert_eq!(line(["call_xyz|fc_9", "call_abc|fc_123"], "call_abc|fc_123"), [4]);
    let long = ["call_ZzYyXxWwVvUuTtSsRrQq9999", "call_AbCdEfGhIjKlMnOpQrSt1234"];
    assert_eq!(line(long, "call_AbCdEfGhIjKlMn…Qr St1234".replace(' ', "").as_str()), [4]);
    assert_eq!(line(long, "call_AbCdEfGhI...MnOpQrSt1234"), [4]);
}

/// The second of two places with the same fault, and both of them where the answer names none.
#[test]
fn two_places_that_fit_are_both_said() {
    let chat = r#"{"role":"user","content":[{"type":"text","text":" "},{"type":"text","text":"Rain?"}]}
{"role":"assistant","content":[{"type":"text","text":"Yes."}]}
{"role":"user","content":[{"type":"text","text":"And?"},{"type":"text","text":""}]}
{"role":"assistant","content":[{"type":"thinking","thinking":"So.","signature":"c2ln"},{"type":"text","text":"No."}]}
"#;
    let lines = |answer: &str| found(answer, chat).iter().map(|finding| finding.at.line).collect::<Vec<_>>();
    assert_eq!(lines("messages: text content blocks must contain non-whitespace text"), [1, 3]);
    assert_eq!(lines("messages.2.content.1.text: text content blocks must contain non-whitespace text"), [3]);
}

/// Bedrock counts from 1 in one kind of sentence and from 0 in the other.
#[test]
fn bases_differ_inside_one_provider() {
    let chat = r#"{"messages":[{"role":"user","content":[{"text":"Rain?"}]},
{"role":"assistant","content":[{"toolUse":{"toolUseId":"a 1","name":"weather","input":{}}}]},
{"role":"user","content":[{"toolResult":{"toolUseId":"a 1","content":[{"text":"rain"}]}}]},
{"role":"assistant","content":[{"text":""},{"text":"Yes."}]}]}
"#;
    let line = |answer: &str| found(answer, chat).first().map(|finding| finding.at.line);
    let pattern = "Value 'x' at 'messages.2.member.content.1.member.toolUse.toolUseId' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.:-]+";
    assert_eq!(line(pattern), Some(2));
    assert_eq!(
        line(
            "The text field in the ContentBlock object at messages.3.content.0 is blank. Add text to the text field, and try again."
        ),
        Some(4)
    );
}

/// A conversation with one fault of each kind that an answer without a place can mean.
#[test]
fn answers_without_a_number_are_found_by_what_they_name() {
    let gemini = r#"{"role":"user","parts":[{"text":"Rain?"}]}
{"role":"assistant","parts":[{"text":"Yes."}]}
{"role":"user","parts":[{"text":"And?"}]}
"#;
    let chat = r#"{"role":"user","content":"Rain?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"call_1","content":null}
{"role":"assistant","content":"Yes.","sender":"forecast","score":1}
{"role":"developer","content":"Be brief."}
"#;
    let place =
        |answer: &str, text: &str| found(answer, text).first().map(|finding| (finding.rule.code, finding.at.line));
    assert_eq!(place("Please use a valid role: user, model.", gemini), Some(("S002", 2)));
    assert_eq!(place("Invalid value for 'content': expected a string, got null.", chat), Some(("S004", 3)));
    assert_eq!(place("Each message must have at least one content element.", chat), Some(("S004", 2)));
    let unknown = "[{'type': 'extra_forbidden', 'loc': ('body', 'messages', 3, 'typed-dict', 'sender'), 'msg': 'Extra inputs are not permitted', 'input': 'x'}]";
    let members: Vec<String> = found(unknown, chat).iter().map(|finding| finding.message.clone()).collect();
    assert_eq!(members, ["the provider does not know the member `sender`"]);
}

/// A broken pair that was mended since is nowhere; other places are shown, because rules do not find every fault.
#[test]
fn a_place_without_a_fault_is_shown_unless_the_rule_finds_every_fault() {
    let sound = r#"{"role":"user","content":"Rain?"}
{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"c2ln"},{"type":"text","text":"Yes."}]}
{"role":"user","content":"And?"}
"#;
    let reading = detected(sound);
    let diagnosis = |answer: &str| Answer::read(answer).diagnose(&reading, sound).unwrap();
    let pair = "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.";
    assert!(matches!(diagnosis(pair), Diagnosis::Absent(_)));
    let Diagnosis::Named(finding) = diagnosis("messages.1.content.0: Invalid `signature` in `thinking` block") else {
        panic!()
    };
    assert_eq!((finding.rule.code, finding.at.line, finding.mended_by()), ("S011", 2, None));
    assert!(finding.help.ends_with("; `--fix` leaves this one to a person"), "{}", finding.help);
}

/// Answers that no row of the table has, which name a place with a fault or none.
#[test]
fn an_answer_that_nobody_has_described_means_the_fault_at_its_place() {
    let chat = r#"{"role":"user","content":"Rain?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_a7Zq81","type":"function","function":{"name":"the weather","arguments":"{}"}}]}
{"role":"user","content":"Well?"}
{"role":"assistant","content":"Yes."}
"#;
    let places = |answer: &str| {
        found(answer, chat).iter().map(|finding| (finding.rule.code, finding.at.line)).collect::<Vec<_>>()
    };
    assert_eq!(places("messages[1].tool_calls[0]: a sentence of tomorrow"), [("P002", 2), ("S018", 2)]);
    assert_eq!(places("a call was lost on the way: call_a7Zq81"), [("P002", 2), ("S018", 2)]);
    assert_eq!(places("messages[3].content: a sentence of tomorrow"), []);
    assert_eq!(places("a sentence of tomorrow"), []);
}

/// A number in the answer is the limit of a provider whose own is not known, or has moved.
#[test]
fn a_limit_is_the_one_that_the_answer_names() {
    let image = r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAABLAAAAPoCAIAAAA="}}"#;
    let chat = format!(
        "{{\"role\":\"user\",\"content\":[{image},{image},{image}]}}\n{{\"role\":\"assistant\",\"content\":[{{\"type\":\"thinking\",\"thinking\":\"So.\",\"signature\":\"c2ln\"}},{{\"type\":\"text\",\"text\":\"Maps.\"}}]}}\n"
    );
    let count = |answer: &str| found(answer, &chat).len();
    assert_eq!(count("messages: too many images and documents: 3 + 0 > 2"), 1);
    assert_eq!(count("messages: too many images and documents: 3 + 0 > 4"), 0);
}

/// The id of one call can be the beginning of that of another.
#[test]
fn an_id_is_named_only_if_no_longer_one_is() {
    let orphan = |id: &str| format!("{{\"role\":\"tool\",\"tool_call_id\":\"{id}\",\"content\":\"no\"}}\n");
    let asked = "{\"role\":\"user\",\"content\":\"Rain?\"}\n";
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_12","type":"function","function":{"name":"weather","arguments":"{}"}}]}"#;
    let answer = "400 Invalid parameter: 'tool_call_id' of 'call_12' not found in 'tool_calls' of previous message.";
    let lines = |text: &str| found(answer, text).iter().map(|finding| finding.at.line).collect::<Vec<_>>();
    assert_eq!(lines(&[asked, &orphan("call_1"), &orphan("call_12")].concat()), [3]);
    let fine = [asked, &orphan("call_1"), asked, call, "\n", &orphan("call_12")].concat();
    let reading = detected(&fine);
    let diagnosis = Answer::read(answer).diagnose(&reading, &fine).unwrap();
    let is_named = matches!(diagnosis, Diagnosis::Found { is_named: true, .. });
    assert!(!is_named, "{diagnosis:?}");
}
