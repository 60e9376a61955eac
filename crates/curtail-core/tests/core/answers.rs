//! Answers of providers, as people quote them: each known one, wrapped and damaged, leads to its rule and to the line of its
//! fault.

use curtail_core::checks::{
    ALL, Answer, Constraint, Diagnosis, Finding, Inspection, Profile, Rule, Table, constraints,
};

use crate::checked::{detected, verdicts};

/// The findings of an answer in `text`.
fn found(answer: &str, text: &str) -> Vec<Finding> {
    let reading = detected(text);
    match Answer::read(answer).diagnose(&reading, text) {
        Ok(Diagnosis::Found { findings, .. }) => findings,
        Ok(Diagnosis::Named(finding)) => vec![finding],
        _ => Vec::new(),
    }
}

/// The words of a row with numbers and ids in them.
fn filled(row: &Constraint, message: usize, id: &str) -> String {
    let base = usize::from(row.words.contains(".member."));
    let words = row.words.replace("srvtoolu_…", id).replace("toolu_…", id).replace("tooluse_…", id);
    let words = words.replace("call_….", &format!("{id}.")).replace("call_…", id);
    let mut out = String::new();
    let mut rest = words.as_str();
    // The first number is that of the message.
    for (mark, number) in [('N', message + base), ('M', base), ('K', 0)] {
        let at = rest.char_indices().find(|(at, c)| *c == mark && stands_alone(rest, *at));
        if let Some((at, _)) = at {
            out += &rest[..at];
            out += &number.to_string();
            rest = &rest[at + 1..];
        }
    }
    (out + rest).replace('…', "x")
}

fn stands_alone(text: &str, at: usize) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    !is_word(text[..at].chars().next_back()) && !is_word(text[at + 1..].chars().next())
}

/// Ways in which a sentence reaches a screen.
fn quoted(sentence: &str) -> Vec<(&'static str, String)> {
    let json = |text: &str| serde_json::to_string(text).unwrap();
    let inner = format!(
        "{{\"type\":\"error\",\"error\":{{\"type\":\"invalid_request_error\",\"message\":{}}}}}",
        json(sentence)
    );
    let python = sentence.replace('\'', "\\'");
    let in_box: String = sentence
        .chars()
        .collect::<Vec<_>>()
        .chunks(38)
        .map(|line| format!("\u{2502} {:38} \u{2502}\n", line.iter().collect::<String>()))
        .collect();
    vec![
        ("plain", sentence.to_owned()),
        ("json", format!("API Error: 400 {inner}")),
        (
            "python",
            format!(
                "BadRequestError: Error code: 400 - {{'error': {{'message': '{python}', 'type': 'invalid_request_error', 'param': None}}}}"
            ),
        ),
        (
            "twice",
            format!("{{\"error\":{{\"code\":400,\"message\":{},\"status\":\"INVALID_ARGUMENT\"}}}}", json(&inner)),
        ),
        (
            "router",
            format!(
                "{{\"error\":{{\"message\":\"Provider returned error\",\"code\":400,\"metadata\":{{\"raw\":{},\"provider_name\":\"Google\"}}}}}}",
                json(&inner)
            ),
        ),
        ("bytes", format!("litellm.BadRequestError: VertexAIException - b'{}'", inner.replace('\'', "\\'"))),
        ("java", format!("400 Bad Request: {{type=error, error={{type=invalid_request_error, message={sentence}}}}}")),
        (
            "service",
            format!(
                "An error occurred (ValidationException) when calling the Converse operation: {sentence} (Service: BedrockRuntime, Status Code: 400)"
            ),
        ),
        ("box", format!("\u{256d}\u{2500}\u{2500}\u{256e}\n{in_box}\u{2570}\u{2500}\u{2500}\u{256f}")),
        ("html", sentence.replace('&', "&amp;").replace('<', "&lt;").replace('\'', "&#39;").replace('"', "&quot;")),
        (
            "stack",
            format!(
                "Error: 400 {}\n    at D6.generate (file:///home/me/cli.js:942:2414)\n    at async D6 (cli.js:961:2101)",
                inner.replace('"', "\\\"")
            ),
        ),
    ]
}

/// The first finding of a rule in its own bad example.
fn fault_of(rule: &'static Rule) -> Option<Finding> {
    let reading = detected(rule.bad);
    let all = Table { deny: vec!["all".into()], ..Table::default() };
    let findings = Inspection::default().examine_all(&reading, &verdicts(&all), rule.bad);
    findings.into_iter().find(|finding| finding.rule.code == rule.code)
}

/// The id in the excerpt of a finding that a provider would repeat.
fn id_in(text: &str) -> &str {
    let starts = ["srvtoolu_1", "toolu_1", "call_1", "rs_1", "fc_1", "msg_1"];
    starts.into_iter().find(|id| text.contains(id)).unwrap_or("x")
}

#[test]
fn every_answer_leads_to_its_rule_and_line_however_it_is_quoted() {
    let mut wrong = Vec::new();
    let mut all = 0;
    for rule in ALL {
        let Some(fault) = fault_of(rule) else { continue };
        let native = constraints().iter().filter(|row| row.rule == Some(rule.code));
        let dialect = detected(rule.bad);
        let document = dialect.parse(rule.bad);
        let name =
            document.ok().and_then(|document| Some(dialect.transcripts_or_none(&document).ok()?.first()?.0.name()));
        for row in native.filter(|row| Some(row.provider) == name) {
            let sentence = filled(row, fault.at.message.unwrap_or(fault.at.line - 1), id_in(rule.bad));
            for (way, text) in quoted(&sentence) {
                all += 1;
                let findings = found(&text, rule.bad);
                let is_right = findings.iter().any(|finding| {
                    finding.rule.code == rule.code
                        && (finding.at.line == fault.at.line
                            || finding.other.as_ref().is_some_and(|other| other.line == fault.at.line))
                });
                if !is_right {
                    wrong.push(format!(
                        "{} {way}: {sentence}: {:?}",
                        rule.code,
                        findings.iter().map(|finding| (finding.rule.code, finding.at.line)).collect::<Vec<_>>()
                    ));
                }
            }
        }
    }
    assert!(all > 400, "{all}");
    assert!(wrong.is_empty(), "{} of {all}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_is_not_about_the_transcript_is_said_to_be() {
    for row in constraints().iter().filter(|row| row.rule.is_none()) {
        let sentence = filled(row, 3, "x");
        // Every way is tried on the answers about transcripts; here, the plain one and one in JSON.
        for (way, text) in quoted(&sentence).into_iter().take(2) {
            let diagnosis = Answer::read(&text).unrelated();
            assert!(matches!(diagnosis, Some(Diagnosis::Unrelated(_))), "{way}: {text}: {diagnosis:?}");
        }
    }
}

#[test]
fn what_no_provider_says_is_unknown() {
    for text in ["the weather is fine", "TypeError: Cannot read properties of undefined (reading 'content')", ""] {
        let diagnosis = Answer::read(text).unrelated();
        let Some(Diagnosis::Unknown(nearest)) = diagnosis else { panic!("{text}: {diagnosis:?}") };
        assert_eq!(nearest.len(), 3);
    }
}

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

/// A screen cuts a line off in the middle of a word.
#[test]
fn the_beginning_of_an_answer_is_enough() {
    let chat = r#"{"role":"user","content":"Rain?"}
{"role":"assistant","content":[{"type":"tool_use","id":"toolu_7","name":"weather","input":{}}]}
{"role":"user","content":"Well?"}
{"role":"assistant","content":[{"type":"text","text":"Yes."}]}
"#;
    for text in [
        "API Error: 400 messages.1: `tool_use` ids were found without `tool_re…",
        "messages.1: `tool_use` ids were fou... (truncated)",
    ] {
        assert_eq!(
            found(text, chat).first().map(|finding| (finding.rule.code, finding.at.line)),
            Some(("P002", 2)),
            "{text}"
        );
    }
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

#[test]
fn an_answer_about_the_length_of_the_context_means_no_rule() {
    for rest in ["", " Please reduce the length of the messages."] {
        let words =
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.";
        let Some(Diagnosis::Unrelated(row)) = Answer::read(&format!("{words}{rest}")).unrelated() else {
            panic!("{rest}")
        };
        assert_eq!(row.what, "the length of the context");
    }
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

const CALL: &str = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{}"}}]}"#;

/// Each answer, what was sent, and the rule and the line that it means.
#[test]
fn answers_of_many_providers_lead_to_their_rule_and_line() {
    let chat = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let user = r#"{"role":"user","content":"Rain?"}"#;
    let yes = r#"{"role":"assistant","content":"Yes."}"#;
    let system = r#"{"role":"system","content":"Be brief."}"#;
    let developer = r#"{"role":"developer","content":"Be brief."}"#;
    let blocks = r#"{"role":"user","content":[{"type":"text","text":"Rain?"}]}"#;
    let result = r#"{"role":"tool","tool_call_id":"call_1","content":"rain"}"#;
    let nameless = r#"{"role":"tool","content":"rain"}"#;
    let parts = r#"{"role":"user","parts":[{"text":"Rain?"}]}"#;
    let cases = [
        (
            "{'code': 'Client specified an invalid argument', 'error': 'An empty message was provided. Every message needs at least one non-empty content element.'}",
            chat(&[user, r#"{"role":"assistant","content":""}"#, user]),
            "S004",
            2,
        ),
        (
            "Failed to deserialize the JSON body into the target type: messages[1].role: unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool`, `latest_reminder` at line 1 column 51036",
            chat(&[user, developer, yes]),
            "S002",
            2,
        ),
        (
            "Invalid value: 'Tool'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
            chat(&[user, CALL, &result.replace("tool\"", "Tool\""), yes]),
            "S002",
            3,
        ),
        ("Invalid consecutive assistant message at message index 2", chat(&[user, yes, yes, user]), "T003", 3),
        (
            "Invalid parameter: Duplicate value for 'tool_call_id' of 'call_1', in messages[2] and messages[3].",
            chat(&[user, CALL, result, result, yes]),
            "P005",
            4,
        ),
        // Vertex counts contents from 1.
        (
            "Unable to submit request because function call `default_api:look` in the 4. content block is missing a `thought_signature`. Learn more: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures",
            chat(&[parts, SIGNED_CALL, RESPONSE, UNSIGNED_CALL, RESPONSE, UNSIGNED_CALL, RESPONSE]),
            "S011",
            4,
        ),
        (
            "messages[2]: missing field `tool_call_id` at line 1 column 4021",
            chat(&[user, CALL, nameless, yes]),
            "P009",
            3,
        ),
        (
            "Failed to deserialize the JSON body into the target type: messages[1].tool_calls[0].function.arguments: invalid type: map, expected a string",
            chat(&[user, &CALL.replace("\"{}\"", "{}"), result, yes]),
            "S005",
            2,
        ),
        (
            "[{'type': 'string_type', 'loc': ('body', 'messages', 2, 'typed-dict', 'content', 'str'), 'msg': 'Input should be a valid string', 'input': None}, {'type': 'iterable_type', 'loc': ('body', 'messages', 2, 'typed-dict', 'content', 'generator[typed-dict]')}]",
            chat(&[system, user, CALL, result, yes]),
            "S004",
            3,
        ),
        (
            "Error code: 400 - {'code': 20015, 'message': '\"messages\" in request are illegal: Message has tool role, but there was no previous assistant message with a tool call!..'}",
            chat(&[user, result, yes]),
            "P001",
            2,
        ),
        ("jinja2.exceptions.TemplateError: System role not supported", chat(&[system, user, yes]), "S002", 1),
        (
            "GroqException - {'error': {'message': \"'messages.0' : for 'role:user' the following must be satisfied[('messages.0.content' : value must be a string)]\"}}",
            chat(&[blocks, yes]),
            "S031",
            1,
        ),
        (
            "Extra inputs are not permitted, field: 'messages[1].sender', value: 'r'",
            chat(&[user, r#"{"role":"assistant","content":"Yes.","sender":"r"}"#, user]),
            "S026",
            2,
        ),
        ("{\"message\":\"cannot have duplicate tool ids\"}", chat(&[user, &CALL.replace("}]}", "},{\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"sun\",\"arguments\":\"{}\"}}]}"), result, yes]), "P004", 2),
        (
            "HTTP 400: invalid params, chat content is empty (2013)",
            chat(&[user, r#"{"role":"assistant","content":""}"#, user]),
            "S004",
            2,
        ),
        (
            "AiError: Bad input: Error: oneOf at '/' not met, 0 matches: Type mismatch of '/messages/1/content', 'array' not in 'string'",
            chat(&[system, blocks, yes]),
            "S031",
            2,
        ),
        (
            "Found AIMessages with tool_calls that do not have a corresponding ToolMessage. Here are the first few of those tool calls: [{'name': 'weather', 'args': {}, 'id': 'call_1'}]",
            chat(&[user, CALL, user, yes]),
            "P002",
            2,
        ),
        (
            "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.', 'param': 'messages.[2].role'",
            chat(&[user, CALL, nameless, yes]),
            "P009",
            3,
        ),
        (
            "'messages.2' : for 'role:tool' the following must be satisfied[('messages.2' : property 'tool_call_id' is missing)]",
            chat(&[user, CALL, nameless, yes]),
            "P009",
            3,
        ),
        (
            "Invalid 'messages[2].tool_call_id': empty string. Expected a string with minimum length 1, but got an empty string instead.",
            chat(&[user, CALL, &result.replace("call_1", ""), yes]),
            "P009",
            3,
        ),
        (
            "[{'type': 'missing', 'loc': ('body', 'messages', 2, 'ChatCompletionToolMessageParam', 'tool_call_id'), 'msg': 'Field required', 'input': {'role': 'tool'}}]",
            chat(&[user, CALL, nameless, yes]),
            "P009",
            3,
        ),
        (
            "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1.tool_calls' : minimum number of items is 1)]",
            chat(&[user, r#"{"role":"assistant","content":"Yes.","tool_calls":[]}"#, user]),
            "S030",
            2,
        ),
        (
            "[{'type': 'text', 'text': 'Rain?'}] is not of type 'string' - 'messages.0.content'",
            chat(&[blocks, yes]),
            "S031",
            1,
        ),
        (
            "{'code': 500, 'message': 'Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse error at line 1, column 2'}",
            chat(&[user, &CALL.replace("{}", "{"), result, yes]),
            "S005",
            2,
        ),
        ("ValueError: System message must be at beginning of message list.", chat(&[user, yes, system, user]), "T005", 3),
        (
            "messages.2.content.0.text.text: String should have at least 1 character",
            chat(&[
                blocks,
                r#"{"role":"assistant","content":[{"type":"text","text":"Yes."}]}"#,
                r#"{"role":"user","content":[{"type":"text","text":""},{"type":"text","text":"So?"}]}"#,
            ]),
            "S004",
            3,
        ),
        (
            "400 INVALID_ARGUMENT. {'error': {'message': 'Request contains an invalid argument.'}}",
            chat(&[
                parts,
                r#"{"role":"model","parts":[{"functionCall":{"id":"c","name":"a","args":{}}},{"functionCall":{"id":"c","name":"b","args":{}}}]}"#,
                r#"{"role":"user","parts":[{"functionResponse":{"id":"c","name":"a","response":{}}},{"functionResponse":{"id":"c","name":"b","response":{}}}]}"#,
            ]),
            "P004",
            2,
        ),
        (
            "ValidationException: A conversation must end with a user message. Try again with a conversation that ends with a user message.",
            chat(&[r#"{"role":"user","content":[{"text":"Rain?"}]}"#, r#"{"role":"assistant","content":[{"text":"Yes."}]}"#]),
            "T004",
            2,
        ),
        (
            "Role 'system' is not supported. Please use a valid role: MODEL, USER.",
            chat(&[r#"{"role":"system","parts":[{"text":"Be brief."}]}"#, parts]),
            "S002",
            1,
        ),
        (
            "Invalid value at 'contents[2].parts[0].function_response.response' (type.googleapis.com/google.protobuf.Struct), \"rain\"",
            chat(&[
                parts,
                r#"{"role":"model","parts":[{"functionCall":{"name":"weather","args":{}}}]}"#,
                r#"{"role":"user","parts":[{"functionResponse":{"name":"weather","response":"rain"}}]}"#,
            ]),
            "S005",
            3,
        ),
        (
            "Malformed input request: #/messages/1/content: expected minimum item count: 1, found: 0, please reformat your input and try again.",
            chat(&[
                r#"{"role":"user","content":[{"text":"Rain?"}]}"#,
                r#"{"role":"assistant","content":[]}"#,
                r#"{"role":"user","content":[{"text":"Well?"}]}"#,
            ]),
            "S004",
            2,
        ),
        (
            "messages.1: `tool_result` blocks can only be in `user` messages",
            chat(&[
                blocks,
                r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"weather","input":{}},{"type":"tool_result","tool_use_id":"toolu_1","content":"rain"}]}"#,
            ]),
            "S027",
            2,
        ),
        (
            "Invalid 'input[1].id': 'rs_a:b'. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters.",
            chat(&[
                r#"{"type":"message","role":"user","content":"Rain?"}"#,
                r#"{"type":"reasoning","id":"rs_a:b","summary":[]}"#,
                r#"{"type":"message","role":"assistant","content":"Yes."}"#,
            ]),
            "S014",
            2,
        ),
        (
            "Invalid 'input[3].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
            CODEX_ITEMS.join("\n"),
            "S018",
            5,
        ),
    ];
    let mut wrong = Vec::new();
    for (answer, text, code, line) in &cases {
        let places: Vec<_> = found(answer, text).iter().map(|finding| (finding.rule.code, finding.at.line)).collect();
        if !places.contains(&(*code, *line)) {
            wrong.push(format!("{answer}: {code} {line}, and not {places:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A message of several blocks is one item of a request.
const CODEX_ITEMS: [&str; 7] = [
    r#"{"type":"session_meta","payload":{"id":"1","cwd":"/"}}"#,
    r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"See"},{"type":"input_text","text":"Rain?"}]}}"#,
    r#"{"type":"response_item","payload":{"type":"function_call","name":"one!","arguments":"{}","call_id":"c1"}}"#,
    r#"{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"no"}}"#,
    r#"{"type":"response_item","payload":{"type":"function_call","name":"two!","arguments":"{}","call_id":"c2"}}"#,
    r#"{"type":"response_item","payload":{"type":"function_call_output","call_id":"c2","output":"yes"}}"#,
    r#"{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Yes."}]}}"#,
];

const SIGNED_CALL: &str =
    r#"{"role":"model","parts":[{"functionCall":{"name":"look","args":{}},"thoughtSignature":"c2ln"}]}"#;
const UNSIGNED_CALL: &str = r#"{"role":"model","parts":[{"functionCall":{"name":"look","args":{}}}]}"#;
const RESPONSE: &str = r#"{"role":"user","parts":[{"functionResponse":{"name":"look","response":{"output":"rain"}}}]}"#;

/// Answers about a value in another shape, and what `--fix` writes in its place.
#[test]
fn a_value_in_another_shape_is_found_and_written_as_the_provider_wants_it() {
    let chat = |content: &str| {
        format!("{{\"role\":\"user\",\"content\":{content}}}\n{{\"role\":\"assistant\",\"content\":\"Yes.\"}}\n")
    };
    let tool = |content: &str| {
        format!(
            "{}{CALL}\n{{\"role\":\"tool\",\"tool_call_id\":\"call_1\",\"content\":{content}}}\n",
            chat("\"Rain?\"")
        )
    };
    let input = |item: &str| format!("{{\"type\":\"message\",\"role\":\"user\",\"content\":\"Rain?\"}}\n{item}\n");
    let gemini = |parts: &str| {
        format!("{{\"role\":\"user\",\"parts\":{parts}}}\n{{\"role\":\"model\",\"parts\":[{{\"text\":\"Yes.\"}}]}}\n")
    };
    let image = |address: &str| {
        format!("[{{\"type\":\"text\",\"text\":\"See\"}},{{\"type\":\"image_url\",\"image_url\":{address}}}]")
    };
    let block = "{\"type\":\"text\",\"text\":\"Rain?\"}";
    let cases = [
        (
            "Invalid type for 'messages[0].content[1].image_url': expected an object, but got a string instead.",
            chat(&image("\"https://example.com/a.png\"")),
            chat(&image("{\"url\":\"https://example.com/a.png\"}")),
        ),
        (
            "Invalid type for 'messages[0].content': expected one of a string or array of objects, but got an object instead.",
            chat(block),
            chat(&format!("[{block}]")),
        ),
        (
            "Invalid type for 'messages[0].content[0]': expected an object, but got a string instead.",
            chat("[\"Rain?\"]"),
            chat(&format!("[{block}]")),
        ),
        (
            "Invalid type for 'messages[3].content': expected one of a string or array of objects, but got an object instead.",
            tool("{\"mm\":3}"),
            tool("\"{\\\"mm\\\":3}\""),
        ),
        (
            "Invalid type for 'input[1].output': expected one of a string or array of objects, but got an object instead.",
            input(r#"{"type":"function_call_output","call_id":"c","output":{"mm":3}}"#),
            input(r#"{"type":"function_call_output","call_id":"c","output":"{\"mm\":3}"}"#),
        ),
        (
            "Invalid type for 'input[1].content[0].image_url': expected an image URL, but got an object instead.",
            input(
                r#"{"type":"message","role":"user","content":[{"type":"input_image","image_url":{"url":"https://example.com/a.png","detail":"low"}}]}"#,
            ),
            input(
                r#"{"type":"message","role":"user","content":[{"type":"input_image","image_url":"https://example.com/a.png","detail":"low"}]}"#,
            ),
        ),
        ("messages.0.content: Input should be a valid list", chat(block), chat(&format!("[{block}]"))),
        (
            "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
            chat("\"Rain?\"")
                .replace("\"Yes.\"", r#"[{"type":"tool_use","id":"toolu_1","name":"a","input":"{\"at\":1}"}]"#),
            chat("\"Rain?\"")
                .replace("\"Yes.\"", r#"[{"type":"tool_use","id":"toolu_1","name":"a","input":{"at":1}}]"#),
        ),
        (
            "Invalid value at 'contents[0].parts' (type.googleapis.com/google.ai.generativelanguage.v1beta.Part), \"Rain?\"",
            gemini("{\"text\":\"Rain?\"}"),
            gemini("[{\"text\":\"Rain?\"}]"),
        ),
        (
            "Invalid value at 'contents[0].parts[0]' (oneof), oneof field 'data' is already set. Cannot set 'functionResponse'",
            gemini(r#"[{"text":"So.","functionResponse":{"name":"a","response":{}}}]"#),
            gemini(r#"[{"text":"So."},{"functionResponse":{"name":"a","response":{}}}]"#),
        ),
        (
            "Invalid value at 'contents[0].parts[1].inline_data.data' (TYPE_BYTES), Base64 decoding failed for \"data:image/png;base64,iVBORw0KGgo\"",
            gemini(
                r#"[{"text":"See"},{"inlineData":{"mimeType":"image/png","data":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAABLAAAAPoCAIAAAA="}}]"#,
            ),
            gemini(
                r#"[{"text":"See"},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAABLAAAAPoCAIAAAA="}}]"#,
            ),
        ),
    ];
    for (answer, text, expected) in cases {
        let findings = found(answer, &text);
        let finding = findings.first().unwrap_or_else(|| panic!("{answer}"));
        assert!(["S033", "S022"].contains(&finding.rule.code), "{answer}: {finding:?}");
        let inspection = Inspection { is_refused: true, profile: profile_of(answer), ..Inspection::default() };
        let reading = detected(&text);
        let only = Table { allow: vec!["all".into()], deny: vec![finding.rule.code.into()], ..Table::default() };
        let mended = inspection.mend(&reading, &verdicts(&only), &text, false).unwrap();
        assert_eq!(mended.as_deref(), Some(expected.as_str()), "{answer}");
    }
}

/// The provider that writes paths as `answer` does.
fn profile_of(answer: &str) -> Option<Profile> {
    let paths = [("messages[", "openai"), ("input[", "responses"), ("messages.", "anthropic"), ("contents[", "gemini")];
    let provider = paths.iter().find(|(path, _)| answer.contains(path)).map(|(_, provider)| *provider);
    provider.and_then(Profile::of_provider)
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
