//! Answers of many providers about requests of each kind, and what `--fix` writes for those about a value in another shape.

use curtail_core::checks::{Inspection, Profile, Table};

use super::found;
use crate::checked::{detected, verdicts};

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
