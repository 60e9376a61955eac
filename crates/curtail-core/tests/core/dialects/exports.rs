//! What is looked at and not cut: exports of chats, traces, and rows with messages in strings.

use curtail_core::dialects::{Framing, Reading, unfolded};
use curtail_core::json::Document;
use curtail_core::transcript::{Content, Pairs, Role};
use serde_json::{Value, json};

use super::files::read_transcripts;

/// The messages of an export: what it is, their roles, and how many pairs they have.
fn looked_at(text: &str) -> Option<(&'static str, String, usize)> {
    let export = unfolded(text)?;
    let document = Document::parse(&export.text).expect("JSON");
    let reading = Reading { framing: Framing::Document, dialect: None, named: false, messages_key: None };
    let transcripts = reading.transcripts(&document).expect("transcripts");
    let (_, transcript) = transcripts.first()?;
    let letter = |role: Role| role.name().chars().next().unwrap_or_default();
    let roles = transcript.messages.iter().map(|message| letter(message.role)).collect();
    Some((export.format, roles, Pairs::from_messages(&transcript.messages).pairs().count()))
}

fn chat() -> Value {
    json!([
        {"role": "user", "content": "Is the lamp lit?"},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "lit"},
    ])
}

#[test]
fn exports_are_read_along_their_current_branch() {
    let said = |id: &str, parent: Value, role: &str, text: &str, recipient: &str| {
        json!({"id": id, "parent": parent, "children": [], "message": {"id": id, "author": {"role": role},
            "recipient": recipient, "content": {"content_type": "text", "parts": [text]}}})
    };
    let tree = json!({"current_node": "d", "mapping": {
        "a": said("a", Value::Null, "user", "Is the lamp lit?", "all"),
        "b": said("b", json!("a"), "assistant", "look(lamp)", "lamp.look"),
        "x": said("x", json!("a"), "assistant", "I do not know.", "all"),
        "c": said("c", json!("b"), "tool", "lit", "all"),
        "d": said("d", json!("c"), "assistant", "It is.", "all"),
    }});
    let webui = json!([{"chat": {"history": {"currentId": "b", "messages": {
        "a": {"id": "a", "parentId": null, "childrenIds": ["b", "x"], "role": "user", "content": "Is the lamp lit?"},
        "b": {"id": "b", "parentId": "a", "childrenIds": [], "role": "assistant", "content": "It is.", "output": [
            {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "lit"}]},
            {"type": "message", "content": [{"type": "output_text", "text": "It is."}]}]},
        "x": {"id": "x", "parentId": "a", "childrenIds": [], "role": "assistant", "content": "I do not know."},
    }}}}]);
    let leaf =
        json!({"messageId": "b", "isCreatedByUser": false, "sender": "Keeper", "text": "It is.", "children": []});
    let left = json!({"messageId": "x", "isCreatedByUser": false, "sender": "Keeper", "text": "No.", "children": []});
    let libre = json!({"messagesTree": [{"messageId": "a", "isCreatedByUser": true, "sender": "User", "text": "Lit?",
        "children": [left, leaf]}]});
    for (export, expected) in [
        (tree.to_string(), ("an export of ChatGPT", "uata", 1)),
        (webui.to_string(), ("an export of Open WebUI", "uata", 1)),
        (libre.to_string(), ("an export of LibreChat with branches", "ua", 0)),
    ] {
        let (format, roles, pairs) = looked_at(&export).expect("it is an export");
        // A byte order mark changes nothing.
        assert_eq!(looked_at(&format!("\u{feff}{export}")), looked_at(&export));
        assert_eq!((format, roles.as_str(), pairs), expected);
    }
}

#[test]
fn a_conversation_with_a_message_of_nobody_is_not_left_out() {
    let conversation = |author: Value| {
        json!({"current_node": "a", "mapping": {"a": {"id": "a", "parent": null, "children": [], "message":
            {"id": "a", "author": author, "content": {"content_type": "text", "parts": ["Is the lamp lit?"]}}}}})
    };
    let export = json!([conversation(json!({"role": "user"})), conversation(json!({}))]).to_string();
    let export = unfolded(&export).expect("it is an export");
    assert_eq!(export.text.matches("Is the lamp lit?").count(), 2, "{}", export.text);
}

/// A node that a cut or an export left out is not the current one.
#[test]
fn a_tree_whose_current_node_is_gone_is_read_to_its_newest() {
    let said = json!({"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Lit?"]}});
    let node = json!({"parent": "gone", "children": [], "message": said});
    let webui = json!({"a": {"parentId": null, "childrenIds": [], "role": "user", "content": "Lit?"}});
    for (export, format) in [
        (json!({"current_node": "gone", "mapping": {"a": node}}), "an export of ChatGPT"),
        (json!({"history": {"currentId": "gone", "messages": webui}}), "an export of Open WebUI"),
    ] {
        assert_eq!(looked_at(&export.to_string()), Some((format, String::from("u"), 0)));
    }
}

#[test]
fn images_beside_a_message_of_a_tree_are_media() {
    let files = json!([{"type": "image", "url": "data:image/png;base64,AAAA"}, {"type": "file", "id": "f"}]);
    let node = json!({"parentId": null, "childrenIds": [], "role": "user", "content": "See?", "files": files});
    let export = unfolded(&json!({"history": {"currentId": "a", "messages": {"a": node}}}).to_string());
    let read: Value = serde_json::from_str(&export.expect("it is an export").text).expect("JSON");
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}});
    assert_eq!(read.pointer("/0/messages/0/content"), Some(&json!([{"type": "text", "text": "See?"}, image])));
}

/// Answers are inside what they answer, two levels of JSON for each.
#[test]
fn a_long_conversation_of_nested_messages_is_read() {
    const MESSAGES: usize = 2000;
    let node = |nth: usize| {
        format!(r#"{{"messageId":"m{nth}","isCreatedByUser":{},"text":"{nth}","children":["#, nth.is_multiple_of(2))
    };
    let nodes: String = (0..MESSAGES).map(node).collect();
    let export = format!(r#"[{{"messagesTree":[{nodes}{}]}}]"#, "]}".repeat(MESSAGES));
    let roles = "ua".repeat(MESSAGES / 2);
    assert_eq!(looked_at(&export), Some(("an export of LibreChat with branches", roles, 0)));
}

/// What no value of a program's own can hold does not make an export something else.
#[test]
fn an_export_with_a_deep_value_or_half_a_character_is_read() {
    for odd in [format!("{}{}", "[".repeat(400), "]".repeat(400)), String::from(r#""\ud83d""#)] {
        let said = r#"{"author":{"role":"user"},"content":{"content_type":"text","parts":["Lit?"]}}"#;
        let tree = format!(r#"{{"mapping":{{"a":{{"parent":null,"message":{said},"metadata":{odd}}}}}}}"#);
        assert_eq!(looked_at(&tree), Some(("an export of ChatGPT", String::from("u"), 0)), "{odd}");
    }
}

/// Rows of data sets with answers that are texts have no calls.
#[test]
fn answers_that_are_no_calls_make_no_export() {
    for answers in [json!(["It is."]), json!([{"text": "It is."}]), json!([{"name": "look"}, "It is."])] {
        assert_eq!(unfolded(&json!({"query": "Lit?", "answers": answers}).to_string()), None);
    }
}

#[test]
fn results_of_a_span_that_name_no_call_answer_those_that_no_other_names() {
    for (named, expected) in [(0, ["c1", "c2"]), (1, ["c2", "c1"])] {
        let mut attributes = json!({"llm.input_messages.0.message.role": "assistant"});
        for (nth, id) in ["c1", "c2"].into_iter().enumerate() {
            let call = format!("llm.input_messages.0.message.tool_calls.{nth}.tool_call");
            attributes[format!("{call}.id")] = json!(id);
            attributes[format!("{call}.function.name")] = json!("look");
            attributes[format!("llm.input_messages.{}.message.role", nth + 1)] = json!("tool");
        }
        attributes[format!("llm.input_messages.{}.message.tool_call_id", named + 1)] = json!("c1");
        let export = unfolded(&json!({"attributes": attributes}).to_string()).expect("it is an export");
        let read: Value = serde_json::from_str(&export.text).expect("JSON");
        let answered =
            [1, 2].map(|nth| read.pointer(&format!("/0/messages/{nth}/tool_call_id")).and_then(Value::as_str));
        assert_eq!(answered, expected.map(Some));
    }
}

#[test]
fn a_span_has_tools_reasoning_and_calls_in_the_older_form() {
    let tool = json!({"type": "function", "function": {"name": "look", "parameters": {}}});
    let span = json!({"attributes": {
        "llm.tools.0.tool.json_schema": tool.to_string(),
        "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "Lit?",
        "llm.input_messages.1.message.role": "assistant",
        "llm.input_messages.1.message.function_call_name": "look",
        "llm.input_messages.1.message.function_call_arguments_json": "{\"at\":1}",
        "llm.input_messages.2.message.role": "function", "llm.input_messages.2.message.name": "look",
        "llm.input_messages.2.message.content": "lit",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.contents.0.message_content.type": "reasoning",
        "llm.output_messages.0.message.contents.0.message_content.text": "I look.",
        "llm.output_messages.0.message.contents.1.message_content.type": "text",
        "llm.output_messages.0.message.contents.1.message_content.text": "It is.",
    }})
    .to_string();
    assert_eq!(looked_at(&span), Some(("a span of OpenInference", String::from("uata"), 1)));
    let export = unfolded(&span).expect("it is an export");
    read_transcripts(&export.text, |_, transcript| {
        let outside: Vec<_> = transcript.layout.outside().map(|text| text.decode().into_owned()).collect();
        assert_eq!(outside.len(), 1, "{outside:?}");
        assert_eq!(serde_json::from_str::<Value>(&outside[0]).ok(), Some(tool.clone()));
        let parts = &transcript.messages[3].parts;
        assert!(matches!(&parts[0].content, Content::Reasoning(text) if text.is("I look.")));
        assert!(matches!(&parts[1].content, Content::Text(text) if text.is("It is.")));
    })
    .expect("it is read");
}

#[test]
fn arguments_that_are_text_already_stay_as_they_are() {
    for arguments in [json!({"lamp": 1}), json!("{\"lamp\":1}")] {
        let answers = json!([{"name": "look", "arguments": arguments}]).to_string();
        let export = unfolded(&json!({"query": "Lit?", "answers": answers}).to_string()).expect("it is an export");
        let read: Value = serde_json::from_str(&export.text).expect("JSON");
        assert_eq!(read.pointer("/0/messages/1/tool_calls/0/function/arguments"), Some(&json!("{\"lamp\":1}")));
    }
}

#[test]
fn traces_and_rows_are_read_out_of_their_strings() {
    let reply = json!({"role": "assistant", "content": "It is."});
    let flat = json!({"attributes": {
        "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "Lit?",
        "llm.input_messages.1.message.role": "assistant",
        "llm.input_messages.1.message.tool_calls.0.tool_call.id": "c1",
        "llm.input_messages.1.message.tool_calls.0.tool_call.function.name": "look",
        "llm.input_messages.2.message.role": "tool", "llm.input_messages.2.message.content": "lit",
        "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": "It is.",
    }});
    let asked = json!([{"role": "user", "parts": [{"type": "text", "content": "Lit?"}]}]).to_string();
    let otlp = json!({"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": [
        {"key": "gen_ai.input.messages", "value": {"stringValue": &asked}}]}]}]}]});
    let rows: Vec<String> = chat()
        .as_array()
        .expect("a list")
        .iter()
        .map(|message| json!({"id": 1, "session_id": "s", "message_data": message.to_string()}).to_string())
        .collect();
    for (text, expected) in [
        (flat.to_string(), ("a span of OpenInference", "uata", 1)),
        (otlp.to_string(), ("a span of OpenTelemetry with messages in strings", "u", 0)),
        (json!({"gen_ai.input.messages": asked}).to_string(), ("a span of OpenTelemetry with messages in strings", "u", 0)),
        (json!({"id": "r", "run_type": "llm", "inputs": {"messages": [chat()]}, "outputs": {"choices": [{"message": reply}]}}).to_string(), ("a run of LangSmith", "uata", 1)),
        (json!({"op_name": "x", "inputs": {"messages": chat()}, "output": {"choices": [{"message": reply}]}}).to_string(), ("a call of Weave", "uata", 1)),
        (json!({"traceId": "t", "input": {"messages": chat()}, "output": reply}).to_string(), ("an observation of Langfuse", "uata", 1)),
        (json!({"trace_id": "t", "input": {"messages": chat()}, "output": reply}).to_string(), ("an observation of Langfuse", "uata", 1)),
        (json!({"messages": chat().to_string(), "id": 1}).to_string(), ("a row with its messages in a string", "uat", 1)),
        (rows.join("\n"), ("rows of a store with messages in strings", "uat", 1)),
        (json!({"query": "Lit?", "answers": "[{\"name\": \"look\", \"arguments\": {}}]"}).to_string(), ("a row of questions and calls", "ua", 0)),
    ] {
        let (format, roles, pairs) = looked_at(&text).unwrap_or_else(|| panic!("{text} is read"));
        assert_eq!((format, roles.as_str(), pairs), expected, "{text}");
    }
    for other in [
        chat().to_string(),
        json!({"query": "Lit?", "answers": [{"name": "look", "arguments": {}}], "messages": chat()}).to_string(),
        String::from(
            "{\"role\": \"user\", \"content\": \"[{\\\"a\\\": 1}]\"}\n{\"role\": \"assistant\", \"content\": \"[]\"}",
        ),
    ] {
        assert!(unfolded(&other).is_none(), "{other}");
    }
}

#[test]
fn each_session_of_a_store_is_a_record() {
    let row = |session: &str, column: &str, message: &Value| json!({"id": 1, "session_id": session, column: message.to_string()});
    let own = chat();
    let lang =
        [json!({"type": "human", "data": {"content": "Lit?"}}), json!({"type": "ai", "data": {"content": "It is."}})];
    for (column, [first, second]) in [("message_data", [&own[0], &own[0]]), ("message", [&lang[0], &lang[1]])] {
        let rows = json!([row("a", column, first), row("b", column, first), row("a", column, second)]);
        let export = unfolded(&rows.to_string()).unwrap_or_else(|| panic!("{rows} is read"));
        let read: Value = serde_json::from_str(&export.text).expect("JSON");
        assert_eq!(read, json!([{"messages": [first, second]}, {"messages": [first]}]));
    }
    // Lines of logs have a `message` as well.
    assert!(unfolded(&json!([{"level": "info", "message": "{\"a\": 1}"}]).to_string()).is_none());
}

/// A message that was cut off is an error of its row: the others are read.
#[test]
fn a_row_of_a_store_that_is_cut_off_is_named() {
    let [question, answer] = [chat()[0].to_string(), chat()[1].to_string()];
    let parts = json!([{"type": "text", "text": "Lit?"}]).to_string();
    for [sound, torn] in [
        [json!({"session_id": "a", "message_data": question}), json!({"session_id": "b", "message_data": answer[..9]})],
        [json!({"session_id": "a", "message": question}), json!({"session_id": "b", "message": answer[..9]})],
        [json!({"role": "user", "parts": parts}), json!({"role": "user", "parts": parts[..9]})],
    ] {
        let text = format!("{sound}\n{torn}\n{sound}\n");
        let export = unfolded(&text).unwrap_or_else(|| panic!("{text} is read"));
        let read: Value = serde_json::from_str(&export.text).expect("JSON");
        assert_eq!(read["messages"].as_array().map(Vec::len), Some(2), "{read}");
        let faults: Vec<usize> = export.faults.iter().map(|fault| fault.offset).collect();
        assert_eq!(faults, [sound.to_string().len() + 1]);
    }
    // Lines of logs hold other texts as well.
    let said = json!({"session_id": "a", "message": "Lit."});
    assert!(unfolded(&format!("{}\n{said}", json!({"session_id": "a", "message": question}))).is_none());
}

/// A record of what is read is where it was read.
#[test]
fn each_record_of_an_export_has_its_place() {
    let row = json!({"messages": chat().to_string()});
    let note = json!({"note": "none"});
    let message = |session: &str| json!({"session_id": session, "message_data": chat()[0].to_string()});
    let [first, second] = [message("a"), message("b")];
    let width = row.to_string().len();
    for (text, places) in [
        (format!("{row}\n\n{note}\n{row}"), vec![(1, 1), (3, 1), (4, 1)]),
        (format!("[{row},{note},\n {row}]"), vec![(1, 2), (1, width + 3), (2, 2)]),
        (format!("{first}\n{first}\n{second}"), vec![(1, 1), (3, 1)]),
        (format!("{first}\n{first}"), vec![(1, 1)]),
    ] {
        let export = unfolded(&text).unwrap_or_else(|| panic!("{text} is read"));
        let found: Vec<_> = export.parts.iter().map(|part| (part.place.line, part.place.column)).collect();
        assert_eq!(found, places, "{text}");
        let document = Document::parse(&export.text).expect("JSON");
        let root = document.roots().next().expect("a value");
        let records = root.items().map(|record| record.span().start as usize);
        assert!(!root.is_array() || records.eq(export.parts.iter().map(|part| part.offset)), "{text}");
    }
}

/// What shows an export may stand behind much else.
#[test]
fn an_export_is_recognized_behind_what_is_not_of_it() {
    let lamps = "lamp ".repeat(50_000);
    let row = json!({"context": lamps, "messages": chat().to_string()});
    let tool = json!({"attributes": {"db.statement": lamps}});
    let model = json!({"attributes": {"gen_ai.input.messages": "[{\"role\": \"user\", \"parts\": []}]"}});
    for [first, second] in [[&row, &row], [&tool, &model]] {
        for text in [format!("{first}\n{second}\n"), json!([first, second]).to_string()] {
            assert!(unfolded(&text).is_some());
        }
    }
}

#[test]
fn a_row_without_messages_is_an_empty_record() {
    let [said, none] = [chat().to_string(), String::from("[]")];
    let rows = json!([{"messages": said}, {"messages": none}, {"messages": none, "history": said}]);
    let export = unfolded(&rows.to_string()).expect("it is read");
    let document = Document::parse(&export.text).expect("JSON");
    let reading = Reading { framing: Framing::Document, dialect: None, named: false, messages_key: None };
    let transcripts = reading.transcripts(&document).expect("transcripts");
    let counts: Vec<usize> = transcripts.iter().map(|(_, transcript)| transcript.messages.len()).collect();
    assert_eq!(counts, [3, 0, 3]);
    assert!(unfolded(&json!([{"messages": chat(), "history": "[]", "note": "[{"}]).to_string()).is_none());
}

/// `ChatGPT` makes several calls before the first result, and gives some results in two messages.
#[test]
fn results_of_a_tree_belong_to_the_calls_of_their_tools() {
    let said = |id: &str, parent: Value, [role, name, recipient]: [&str; 3], text: &str| {
        json!({"id": id, "parent": parent, "message": {"id": id, "author": {"role": role, "name": name},
            "recipient": recipient, "content": {"content_type": "text", "parts": [text]}}})
    };
    let tree = json!({"current_node": "f", "mapping": {
        "a": said("a", Value::Null, ["user", "", "all"], "Are the lamp and the gate well?"),
        "b": said("b", json!("a"), ["assistant", "", "lamp"], "look"),
        "c": said("c", json!("b"), ["assistant", "", "gate"], "look"),
        "d": said("d", json!("c"), ["tool", "gate", "all"], "closed"),
        "e": said("e", json!("d"), ["tool", "lamp", "all"], "lit"),
        "f": said("f", json!("e"), ["tool", "lamp", "all"], "and warm"),
    }});
    assert_eq!(looked_at(&tree.to_string()), Some(("an export of ChatGPT", String::from("uaatt"), 2)));
    let export = unfolded(&tree.to_string()).expect("it is an export");
    let read: Value = serde_json::from_str(&export.text).expect("JSON");
    let answered = |nth: usize| read.pointer(&format!("/0/messages/{nth}/tool_call_id")).and_then(Value::as_str);
    assert_eq!([answered(3), answered(4)], [Some("c"), Some("b")]);
    assert_eq!(read.pointer("/0/messages/4/content/1/text"), Some(&json!("and warm")));
}

#[test]
fn a_batch_of_a_trace_is_a_record_for_each_list() {
    let reply = |said: &str| json!([{"message": {"role": "assistant", "content": said}}]);
    let run = json!({"run_type": "llm", "inputs": {"messages": [chat(), [{"role": "user", "content": "Lit?"}]]},
        "outputs": {"generations": [reply("It is."), reply("Yes.")]}});
    let export = unfolded(&run.to_string()).expect("it is an export");
    let read: Value = serde_json::from_str(&export.text).expect("JSON");
    assert_eq!(read.pointer("/0/messages/3/content"), Some(&json!("It is.")));
    assert_eq!(read.pointer("/1/messages/1/content"), Some(&json!("Yes.")));
}

/// What a model was told and given beside the messages is in the request, and with `LangChain` in its parameters.
#[test]
fn a_trace_has_its_instructions_and_tools() {
    let [rules, tools] = [json!("Be brief."), json!([{"type": "function", "function": {"name": "look"}}])];
    let request = json!({"system": rules, "messages": chat(), "tools": tools});
    let calls = [
        json!({"op_name": "x", "inputs": request}),
        json!({"traceId": "t", "input": request}),
        json!({"attributes": {"input.value": request.to_string()}}),
        json!({"run_type": "llm", "inputs": {"messages": chat()}, "extra": {"invocation_params": {"system": rules, "tools": tools}}}),
    ];
    for call in calls {
        let export = unfolded(&call.to_string()).expect("it is an export");
        let read: Value = serde_json::from_str(&export.text).expect("JSON");
        assert_eq!(read, json!([{"messages": chat(), "system": rules, "tools": tools}]), "{call}");
    }
}

/// A trace begins with its root and goes down: the runs of models come last.
#[test]
fn a_trace_is_read_whose_first_runs_are_of_no_model() {
    let chain = json!({"run_type": "chain", "inputs": {"question": "Lit?"}, "outputs": {"output": "Yes."}});
    let run = json!({"run_type": "llm", "inputs": {"messages": chat()}, "outputs": {"message": {"role": "assistant"}}});
    let lines = [&chain, &chain, &chain, &chain, &run].map(Value::to_string).join("\n");
    assert_eq!(looked_at(&lines), Some(("a run of LangSmith", String::from("uata"), 1)));
}

#[test]
fn the_state_of_a_graph_repeats_no_message() {
    let said = json!([{"type": "human", "content": "Lit?", "id": "a"}, {"type": "ai", "content": "Yes.", "id": "b"}]);
    let asked = json!([{"role": "user", "content": "Lit?"}]);
    let run = json!({"run_type": "chain", "inputs": {"messages": asked}, "outputs": {"messages": said}});
    let export = unfolded(&run.to_string()).expect("it is an export");
    let read: Value = serde_json::from_str(&export.text).expect("JSON");
    assert_eq!(read, json!([{"messages": said}]));
}

/// A key of a tree beside messages makes no tree: the messages would be lost.
#[test]
fn messages_beside_an_empty_tree_are_read_as_they_are() {
    for (key, tree) in [
        ("mapping", json!({})),
        ("mapping", json!({"a": 1})),
        ("messagesTree", json!([])),
        ("history", json!({"messages": {}, "childrenIds": []})),
    ] {
        let row = json!({(key): tree, "messages": chat()});
        assert!(unfolded(&row.to_string()).is_none(), "{row}");
        let said = json!({"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Lit?"]}});
        let conversation = json!({"current_node": "a", "mapping": {"a": {"parent": null, "message": said}}});
        let export = unfolded(&json!([conversation, row]).to_string()).expect("it is an export");
        let read: Value = serde_json::from_str(&export.text).expect("JSON");
        assert_eq!(read.pointer("/1"), Some(&row));
        // Alone, it has nothing to read, which is an error.
        assert!(unfolded(&json!({(key): tree}).to_string()).is_none());
    }
}

/// Spans of each kind, and of each what it is called.
fn spans() -> [(&'static str, Value); 5] {
    let asked = json!([{"role": "user", "parts": [{"type": "text", "content": "Lit?"}]}]).to_string();
    [
        (
            "a span of OpenInference",
            json!({"attributes": {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "Lit?"}}),
        ),
        ("a run of LangSmith", json!({"run_type": "llm", "inputs": {"messages": [chat()]}})),
        ("a call of Weave", json!({"op_name": "x", "inputs": {"messages": chat()}})),
        ("an observation of Langfuse", json!({"traceId": "t", "input": {"messages": chat()}})),
        ("a span of OpenTelemetry with messages in strings", json!({"attributes": {"gen_ai.input.messages": asked}})),
    ]
}

/// The text that is read of three values as lines and as a document, and the places of what is not, for `value` before,
/// between and after two spans.
fn beside(span: &Value, value: &Value) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for at in 0..3 {
        let mut values = vec![span.clone(), span.clone()];
        values.insert(at, value.clone());
        let lines: Vec<String> = values.iter().map(Value::to_string).collect();
        for text in [lines.join("\n"), json!(values).to_string()] {
            let export = unfolded(&text).unwrap_or_else(|| panic!("{text} is an export"));
            let faults = export.faults.iter().map(|fault| {
                assert!(text[fault.offset..].starts_with(&value.to_string()), "{text}: {}", fault.offset);
                fault.what.clone()
            });
            found.push((export.text, faults.collect()));
        }
    }
    found
}

/// What is no span of the kind of the others is read as what it is, or refused with its place: none of its messages is lost.
#[test]
fn no_messages_beside_spans_are_left_out() {
    let said = json!([{"role": "user", "content": "Lost?"}]);
    let parts = json!([{"role": "user", "parts": [{"type": "text", "content": "Lost?"}]}]);
    let tree = json!({"current_node": "a", "mapping": {"a": {"id": "a", "parent": null, "message":
        {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Lost?"]}}}}});
    let read = [
        json!({"messages": said}),
        json!({"messages": said.to_string()}),
        json!({"conversations": [{"from": "human", "value": "Lost?"}]}),
        json!({"traceId": "t", "messages": said}),
        said.clone(),
        tree,
        json!({"query": "Lost?", "answers": [{"name": "look", "arguments": {}}]}),
        json!({"run_type": "llm", "inputs": {"messages": [said]}}),
        json!({"op_name": "x", "inputs": {"messages": said}}),
        json!({"trace_id": "t", "input": {"messages": said}}),
        json!({"attributes": {"gen_ai.input.messages": parts}}),
        json!({"attributes": {"gen_ai.input.messages": parts.to_string()}}),
        json!({"attributes": {"gen_ai.output.messages": parts.to_string()}}),
        json!({"attributes": {"llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": "Lost?"}}),
        json!({"resourceSpans": [], "messages": said}),
    ];
    let refused = [
        json!({"role": "user", "content": "Lost?"}),
        json!({"sender": "human", "text": "Lost?"}),
        json!({"id": 1, "input": {"turns": said}}),
        json!({"id": 1, "message_data": said[0].to_string()}),
        json!({"attributes": {"gen_ai.input.messages": "Lost?"}}),
        json!({"attributes": [{"key": "gen_ai.input.messages", "value": {"arrayValue": {"values": [1]}}}]}),
        json!({"resourceSpans": [{"instrumentationLibrarySpans": [{"spans": [
            {"attributes": [{"key": "gen_ai.input.messages", "value": {"stringValue": parts.to_string()}}]}]}]}]}),
    ];
    let silent = [
        json!({"exported": "2026-01-01", "count": 2}),
        json!({"author": "Ann", "text": "a good answer", "value": 1}),
        json!({"attributes": {"input.value": "{\"lamp\": 1}", "openinference.span.kind": "TOOL"}}),
        json!({"run_type": "prompt", "inputs": {"lamp": 1}, "outputs": {"messages": said}}),
        json!({"resourceSpans": []}),
        json!(3),
    ];
    for (name, span) in spans() {
        for value in &read {
            for (text, faults) in beside(&span, value) {
                assert!(faults.is_empty() && text.contains("Lost?"), "{name} beside {value}: {text} {faults:?}");
                let document = Document::parse(&text).expect("JSON");
                let reading = Reading { framing: Framing::Document, dialect: None, named: false, messages_key: None };
                let transcripts = reading.transcripts(&document).unwrap_or_else(|error| panic!("{value}: {error}"));
                assert_eq!(transcripts.len(), 3, "{name} beside {value}: {text}");
            }
        }
        for value in &refused {
            for (text, faults) in beside(&span, value) {
                assert!(!text.contains("Lost?"), "{name} beside {value}: {text}");
                assert_eq!(faults.len(), 1, "{name} beside {value}");
                assert!(faults[0].contains("holds messages"), "{}", faults[0]);
            }
        }
        for value in &silent {
            for (_, faults) in beside(&span, value) {
                assert!(faults.is_empty(), "{name} beside {value}: {faults:?}");
            }
        }
    }
}

/// A value of an export that is no row of it is read as what it is.
#[test]
fn a_span_beside_trees_is_read() {
    let said = json!({"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Lit?"]}});
    let tree = json!({"current_node": "a", "mapping": {"a": {"parent": null, "message": said}}});
    for (name, span) in spans() {
        let export = unfolded(&json!([span, tree]).to_string()).expect("it is an export");
        let read: Value = serde_json::from_str(&export.text).expect("JSON");
        assert!(read.as_array().is_some_and(|records| records.len() == 2), "{name}: {read}");
        assert!(!export.text.contains("mapping") && !export.text.contains("attributes"), "{name}: {read}");
    }
}

/// What is no row of the format stays, so that reading it says what is wrong with it.
#[test]
fn no_row_of_an_export_is_left_out() {
    let rows = [
        json!({"messages": chat().to_string()}),
        json!({"messages": chat()}),
        json!({"messages": chat().to_string()}),
        json!({"messages": "not JSON"}),
    ];
    let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    let export = unfolded(&lines.join("\n")).expect("it is an export");
    let read: Value = serde_json::from_str(&export.text).expect("JSON");
    assert_eq!(read.as_array().map(Vec::len), Some(4));
    assert_eq!(read.pointer("/3"), Some(&rows[3]));
}

/// A span has an image under two keys of the same name.
#[test]
fn images_of_spans_are_media() {
    let block = "llm.input_messages.0.message.contents.0.message_content";
    let span = json!({"attributes": {
        "llm.input_messages.0.message.role": "user",
        (format!("{block}.type")): "image", (format!("{block}.image.image.url")): "https://example.org/lamp.png",
    }});
    let export = unfolded(&span.to_string()).expect("it is an export");
    let read: Value = serde_json::from_str(&export.text).expect("JSON");
    let url = read.pointer("/0/messages/0/content/0/image_url/url");
    assert_eq!(url, Some(&json!("https://example.org/lamp.png")));
}

/// `ChatGPT` writes of a voice what it said, and where its sound is; its tools have names that no provider takes.
#[test]
fn voices_and_tools_of_a_tree_are_written_as_providers_take_them() {
    let said = |id: &str, parent: Value, role: &str, recipient: &str, content: Value| {
        json!({"id": id, "parent": parent, "message": {"id": id, "author": {"role": role, "name": "web.run"},
            "recipient": recipient, "content": content}})
    };
    let sound = json!({"content_type": "audio_asset_pointer", "asset_pointer": "sediment://f1", "format": "wav"});
    let voice = |text: &str, sound: Value| {
        let said = json!({"content_type": "audio_transcription", "text": text, "direction": "in"});
        json!({"content_type": "multimodal_text", "parts": [said, sound]})
    };
    let camera = json!({"content_type": "real_time_user_audio_video_asset_pointer", "audio_asset_pointer": sound,
        "frames_asset_pointers": []});
    let about =
        json!({"content_type": "user_editable_context", "user_profile": "A keeper.", "user_instructions": "Be brief."});
    let page = json!({"content_type": "tether_browsing_display", "result": "The lamp is lit.", "summary": ""});
    let picture = json!({"content_type": "image_asset_pointer", "asset_pointer": "file-service://f2"});
    let mut tree = json!({"current_node": "f", "mapping": {
        "a": said("a", Value::Null, "user", "all", about),
        "b": said("b", json!("a"), "user", "all", voice("Is the lamp lit?", camera)),
        "c": said("c", json!("b"), "assistant", "web.run", json!({"content_type": "code", "text": "lamp"})),
        "d": said("d", json!("c"), "tool", "all", page),
        "e": said("e", json!("d"), "assistant", "all", voice("It is.", sound.clone())),
        "f": said("f", json!("e"), "user", "all", json!({"content_type": "multimodal_text", "parts": [sound]})),
    }});
    tree["mapping"]["g"] =
        said("g", json!("f"), "tool", "all", json!({"content_type": "multimodal_text", "parts": [picture]}));
    tree["current_node"] = json!("g");
    let export = unfolded(&tree.to_string()).expect("it is an export");
    let read: Value = serde_json::from_str(&export.text).expect("JSON");
    let content = |nth: usize| &read[0]["messages"][nth]["content"];
    assert_eq!(content(0), "A keeper.\nBe brief.");
    assert_eq!(content(1), &json!([{"type": "text", "text": "Is the lamp lit?"}]));
    assert_eq!(read[0]["messages"][2]["tool_calls"][0]["function"]["name"], "web_run");
    assert_eq!((&read[0]["messages"][3]["name"], content(3)), (&json!("web_run"), &json!("The lamp is lit.")));
    assert_eq!(content(4), &json!([{"type": "text", "text": "It is."}]));
    assert_eq!(content(5)[0]["input_audio"], json!({"data": "sediment://f1", "format": "wav"}));
    assert_eq!(content(6), &json!([{"type": "text", "text": "file-service://f2"}]));
}
