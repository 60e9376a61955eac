//! What a model reads of what programs and people write down: in the spellings that they use, and without what is only shown.

use curtail_core::transcript::{Content, Message, Part, Standing};
use serde_json::{Value, json};

use super::files::read_transcripts;

/// The dialect of a transcript, and what its messages say, a line each.
fn outline(text: &str) -> String {
    let mut lines = Vec::new();
    read_transcripts(text, |dialect, transcript| {
        lines.push(dialect.name().to_owned());
        lines.extend(transcript.messages.iter().map(said));
    })
    .expect("it is read");
    lines.join("\n")
}

fn said(message: &Message<'_>) -> String {
    let mut words = vec![format!("{}:", message.role.name())];
    words.extend(message.parts.iter().map(said_in));
    words.extend(message.attached.iter().map(|text| format!("+ {}", text.decode())));
    words.extend(message.automatic.then(|| String::from("(automatic)")));
    words.extend((message.standing == Standing::Unsent).then(|| String::from("(unsent)")));
    words.join(" ")
}

fn said_in(part: &Part<'_>) -> String {
    match &part.content {
        Content::Text(text) => text.decode().into_owned(),
        Content::Reasoning(text) => format!("({})", text.decode()),
        Content::ToolCall(call) => format!("{}{}", call.name.decode(), call.arguments.decode()),
        Content::ToolResult(result) => {
            let texts: Vec<_> = result.content.iter().map(|text| text.decode()).collect();
            format!("-> {} [{}]", texts.join(" | "), result.media)
        }
        Content::Media(_) => String::from("[medium]"),
        Content::Unknown(_) => String::from("?"),
        Content::Other => String::from("-"),
    }
}

/// Datasets for Gemma call the assistant `model`; others write `ai`, `gpt` or `bot`.
#[test]
fn roles_have_the_names_of_datasets() {
    for [user, assistant] in [["user", "model"], ["human", "gpt"], ["User", "Assistant"], ["human", "ai"]] {
        let chat = json!({"messages": [
            {"role": user, "content": "Is it lit?"},
            {"role": assistant, "content": "It is."},
        ]});
        assert_eq!(outline(&chat.to_string()), "openai\nuser: Is it lit?\nassistant: It is.", "{assistant}");
    }
}

#[test]
fn parts_of_gemini_may_be_bare() {
    let said = "gemini\nuser: Is it lit?\nassistant: It is.";
    for [asked, answered] in [
        [json!(["Is it lit?"]), json!(["It is."])],
        [json!("Is it lit?"), json!("It is.")],
        [json!({"text": "Is it lit?"}), json!([{"text": "It is."}])],
    ] {
        let chat = json!({"contents": [{"role": "user", "parts": asked}, {"role": "model", "parts": answered}]});
        assert_eq!(outline(&chat.to_string()), said);
    }
    // Programs add a member with this name to messages of a chat.
    for (asked, answered) in [(json!(["Is it lit?"]), json!(["It is."])), (json!([]), json!("a note"))] {
        let chat = json!({"messages": [
            {"role": "user", "content": "Is it lit?", "parts": asked},
            {"role": "assistant", "content": "It is.", "parts": answered},
        ]});
        assert_eq!(outline(&chat.to_string()), said.replace("gemini", "openai"));
    }
    let call = json!({"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}});
    let chat = json!({"messages": [
        {"role": "user", "parts": ["Is it", "lit?"]},
        {"role": "assistant", "parts": ["I look."], "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "It is."},
    ]});
    assert!(outline(&chat.to_string()).starts_with("openai\n"));
}

#[test]
fn a_thought_is_read_where_it_has_a_text() {
    for (key, value) in [
        ("reasoning", json!("Odd.")),
        ("thinking_blocks", json!([{"type": "thinking", "thinking": "Odd.", "signature": "c2ln"}])),
    ] {
        let reply = json!({"role": "assistant", "content": "It is.", "reasoning_content": "", key: value});
        let chat = json!({"messages": [{"role": "user", "content": "Is 7 prime?"}, reply]});
        assert_eq!(outline(&chat.to_string()), "openai\nuser: Is 7 prime?\nassistant: (Odd.) It is.");
    }
}

#[test]
fn messages_of_langchain_may_be_pairs_or_have_the_names_of_classes() {
    let said = "langchain\nsystem: Short.\nuser: Is it lit?\nassistant: It is.";
    let [system, human, ai] = ["Short.", "Is it lit?", "It is."];
    let pairs = json!({"messages": [["system", system], ["human", human], ["ai", ai]]});
    let classes = json!({"messages": [
        {"type": "SystemMessage", "content": system, "additional_kwargs": {}},
        {"type": "HumanMessage", "content": human},
        {"type": "AIMessage", "content": ai},
    ]});
    let [question, reply] = [json!({"role": "user", "content": human}), json!({"role": "assistant", "content": ai})];
    let first = json!({"messages": [["system", system], question, ["ai", ai]]});
    let last = json!({"messages": [["system", system], ["human", human], reply]});
    for chat in [pairs, classes, first, last] {
        assert_eq!(outline(&chat.to_string()), said);
    }
    // What LangChain fills in later has a name in place of a role.
    for name in ["placeholder", "tool"] {
        let template = json!({"messages": [["system", system], [name, "{history}"], ["human", human], ["ai", ai]]});
        assert_eq!(outline(&template.to_string()), said);
    }
    // A question and its answer may begin with the name of a role.
    for (history, said) in [
        (json!([["human", "A person."], ["A cat?", "An animal."]]), "user: human A person.\nuser: A cat? An animal."),
        (json!([["Hi", "Hello."], ["system", "A whole."]]), "user: Hi Hello.\nuser: system A whole."),
        (json!([["user", "Lit?"], ["assistant", "It is."]]), "user: user Lit?\nuser: assistant It is."),
    ] {
        let row = json!({"instruction": "And?", "input": "", "output": "Yes.", "history": history});
        assert_eq!(outline(&row.to_string()), format!("sharegpt\n{said}"));
    }
    // Alpaca has pairs of a question and an answer.
    let history = json!({"instruction": "And?", "input": "", "output": "Yes.", "history": [["Lit?", "It is."]]});
    assert_eq!(outline(&history.to_string()), "sharegpt\nuser: Lit? It is.");
}

#[test]
fn langchain_has_the_tools_of_providers() {
    let search = json!({"query": "tide"});
    let own = json!([
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": search},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "text", "text": "At 4."}]},
    ]);
    let standard = json!([
        {"type": "server_tool_call", "id": "s1", "name": "web_search", "args": search},
        {"type": "server_tool_result", "tool_call_id": "s1", "status": "success", "output": "At 4."},
    ]);
    for content in [own, standard] {
        let chat = json!([{"type": "human", "content": "When?"}, {"type": "ai", "content": content}]);
        let said = "langchain\nuser: When?\nassistant: web_search{\"query\":\"tide\"} -> At 4. [0]";
        assert_eq!(outline(&chat.to_string()), said);
    }
}

#[test]
fn goose_sends_what_is_for_the_model() {
    let item =
        |text: &str, audience: &str| json!({"type": "text", "text": text, "annotations": {"audience": [audience]}});
    let shown = item("The file has two lines, of which the first one is a heading.", "user");
    let result = json!([item("a\nb", "assistant"), shown, {"type": "text", "text": "c"}]);
    let log = [
        json!({"working_dir": "/w", "description": "d", "message_count": 2}),
        json!({"role": "assistant", "created": 1, "content": [
            {"type": "toolRequest", "id": "c", "toolCall": {"status": "success", "value": {"name": "read", "arguments": {}}}}]}),
        json!({"role": "user", "created": 1, "content": [
            {"type": "toolResponse", "id": "c", "toolResult": {"status": "success", "value": result}}]}),
    ];
    let text: String = log.iter().map(|line| format!("{line}\n")).collect();
    assert_eq!(outline(&text), "goose\nassistant: read{}\nuser: -> a\nb | c [0]");
    let estimated =
        |message: &Message<'_>| message.parts.iter().filter_map(Part::place).any(|place| !place.estimated().is_empty());
    read_transcripts(&text, |_, transcript| assert!(!transcript.messages.iter().any(estimated))).expect("it is read");
}

#[test]
fn opencode_sends_a_sentence_for_a_command_and_nothing_of_a_notice() {
    let part = |rest: serde_json::Value| {
        let mut part = json!({"id": "p", "messageID": "m", "sessionID": "ses_1"});
        part.as_object_mut().expect("an object").extend(rest.as_object().expect("an object").clone());
        part
    };
    let chat = json!([{"info": {"id": "m", "role": "user", "sessionID": "ses_1"}, "parts": [
        part(json!({"type": "subtask", "prompt": "Look", "description": "d", "agent": "general"})),
        part(json!({"type": "text", "text": "12 tokens were pruned.", "ignored": true})),
    ]}]);
    assert_eq!(outline(&chat.to_string()), "opencode\nuser: The following tool was executed by the user -");
}

#[test]
fn qwen_code_has_messages_of_tasks_and_of_voices() {
    let record = |id: &str, parent: &str, subtype: &str| {
        json!({"uuid": id, "parentUuid": parent, "sessionId": "s", "type": "user", "subtype": subtype,
            "message": {"role": "user", "parts": [{"text": id}]}})
    };
    let log = [record("a", "", ""), record("b", "a", "notification"), record("c", "b", "realtime_message")];
    let text: String = log.iter().map(|line| format!("{line}\n")).collect();
    assert_eq!(outline(&text), "qwen\nuser: a\nuser: b (automatic)\nuser: c (unsent)");
}

#[test]
fn claude_code_sends_commands_of_its_own_and_what_some_hooks_say() {
    let record = |rest: serde_json::Value| {
        let mut record = json!({"uuid": "u", "parentUuid": null, "sessionId": "s", "isSidechain": false});
        record.as_object_mut().expect("an object").extend(rest.as_object().expect("an object").clone());
        record
    };
    let hook = |event: &str| {
        record(json!({"type": "attachment", "uuid": event, "attachment":
            {"type": "hook_success", "hookEvent": event, "content": event}}))
    };
    let named = |name: &str| {
        record(json!({"type": "attachment", "uuid": name, "attachment":
            {"type": "hook_success", "hookName": name, "content": name}}))
    };
    let log = [
        record(json!({"type": "user", "message": {"role": "user", "content": "Lit?"}})),
        hook("UserPromptSubmit"),
        hook("PostToolUse"),
        named("SessionStart:resume"),
        named("PostToolUse:Read"),
        record(
            json!({"type": "system", "subtype": "local_command", "uuid": "l", "content": "<local-command-stdout>ok"}),
        ),
    ];
    let text: String = log.iter().map(|line| format!("{line}\n")).collect();
    let expected = "claude-code\nuser: Lit? + UserPromptSubmit + SessionStart:resume + <local-command-stdout>ok";
    assert_eq!(outline(&text), expected);
}

#[test]
fn a_piece_of_a_streamed_reply_is_no_text_of_its_own() {
    let line = |rest: &str| {
        format!("{{\"session_id\":\"s\",\"parent_tool_use_id\":null,\"uuid\":\"{}\",{rest}}}\n", rest.len())
    };
    let delta = "I look at what is in the folder, and then I decide what to do.";
    let log = [
        line(r#""type":"system","subtype":"init","claude_code_version":"2.1.0""#),
        line(&format!(r#""type":"stream_event","event":{{"type":"content_block_delta","delta":{{"text":"{delta}"}}}}"#)),
        line(&format!(r#""type":"assistant","message":{{"id":"m","role":"assistant","content":[{{"type":"text","text":"{delta}"}}]}}"#)),
        line(r#""type":"rate_limit_event","rate_limit_info":{"status":"allowed"}"#),
    ]
    .concat();
    assert_eq!(outline(&log), format!("claude-code\nassistant: {delta}"));
    let unknown = |transcript: &curtail_core::transcript::Transcript<'_>| {
        transcript.layout.non_messages.iter().filter(|item| item.unknown.is_some()).count()
    };
    read_transcripts(&log, |_, transcript| assert_eq!(unknown(transcript), 0)).expect("it is read");
}

#[test]
fn kimi_has_results_in_messages_and_notes_beside_the_output() {
    let log = [
        json!({"type": "metadata", "protocol_version": "1.4"}),
        json!({"type": "context.append_message", "time": 1, "message": {"role": "assistant", "content": [], "toolCalls":
            [{"type": "function", "id": "a", "name": "look", "arguments": "{}"}]}}),
        json!({"type": "context.append_message", "time": 1, "message": {"role": "tool", "toolCallId": "a", "toolCalls": [],
            "content": [{"type": "text", "text": "lit"}]}}),
        json!({"type": "context.append_loop_event", "time": 1, "event": {"type": "tool.result", "toolCallId": "b",
            "result": {"output": "lit", "note": "Only the first of many lines is shown here."}}}),
    ];
    let text: String = log.iter().map(|line| format!("{line}\n")).collect();
    let note = "Only the first of many lines is shown here.";
    assert_eq!(outline(&text), format!("kimi\nassistant: look{{}}\ntool: -> lit [0]\ntool: -> lit | {note} [0]"));
}

/// What follows the message that a compaction of Droid names is still sent, and its calls with it.
#[test]
fn droid_sends_what_follows_the_anchor_of_a_compaction() {
    let line = |id: &str, content: Value| {
        json!({"type": "message", "id": id, "message": {"role": "user", "content": [content]}}).to_string()
    };
    let text = |text: &str| json!({"type": "text", "text": text});
    let summary = |id: &str, anchor: &Value| {
        json!({"type": "compaction_state", "id": id, "summaryText": "It began.", "anchorMessage": anchor}).to_string()
    };
    for (anchor, live) in [
        (json!({"id": "a", "index": 0}), vec![1, 2, 3]),
        (json!({"id": "gone"}), vec![0, 1, 2, 3]),
        (json!(null), vec![2, 3]),
    ] {
        let log = [
            json!({"type": "session_start", "id": "s", "title": "t", "version": 2}).to_string(),
            line("a", text("First.")),
            line("b", text("Second.")),
            summary("c", &anchor),
            line("d", text("Third.")),
        ]
        .join("\n");
        read_transcripts(&log, |_, transcript| {
            let messages = transcript.messages.iter().enumerate();
            let sent: Vec<usize> =
                messages.filter(|(_, message)| message.standing.is_read()).map(|(at, _)| at).collect();
            assert_eq!(sent, live, "{anchor}");
        })
        .expect("it is read");
    }
    // What an earlier compaction replaced stays so if the next one names a message that is gone.
    for (anchor, live) in [("gone", [false, false, false, true, true]), ("a", [false, true, false, true, true])] {
        let log = [
            json!({"type": "session_start", "id": "s", "title": "t", "version": 2}).to_string(),
            line("a", text("First.")),
            line("b", text("Second.")),
            summary("c", &json!(null)),
            line("d", text("Third.")),
            summary("e", &json!({"id": anchor})),
        ];
        read_transcripts(&log.join("\n"), |_, transcript| {
            let sent: Vec<bool> = transcript.messages.iter().map(|message| message.standing.is_read()).collect();
            assert_eq!(sent, live, "{anchor}");
        })
        .expect("it is read");
    }
}

/// `OpenCode` 2 sends a command that the user ran with its output, as a text or in an object, unless it runs in the background; a
/// compaction without a status is finished.
#[test]
fn opencode_2_sends_shells_and_finished_compactions() {
    let item = |at: u32, more: Value| {
        let mut item = json!({"id": format!("msg_{at}"), "time": {"created": at}});
        item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        item
    };
    let session = json!({"info": {"id": "ses_1", "title": "x", "time": {"created": 1, "updated": 1}}, "messages": [
        item(1, json!({"type": "user", "text": "Lit?", "files": [], "agents": []})),
        item(2, json!({"type": "assistant", "agent": "build", "model": {"id": "m", "providerID": "p"}, "content": [{"type": "text", "text": "Yes."}]})),
        item(3, json!({"type": "compaction", "reason": "auto", "summary": "It is lit.", "recent": ""})),
        item(4, json!({"type": "shell", "shellID": "a", "command": "date", "output": "noon"})),
        item(5, json!({"type": "shell", "shellID": "b", "command": "make", "output": {"output": "made"}})),
        item(6, json!({"type": "shell", "shellID": "c", "command": "serve", "output": "up", "metadata": {"background": true}})),
        item(7, json!({"type": "user", "text": "And now?", "files": [], "agents": []})),
        item(8, json!({"type": "compaction", "reason": "auto", "summary": ""})),
    ]});
    let read = outline(&session.to_string());
    for said in ["user: It is lit.", "user: date noon", "user: make made", "user: And now?"] {
        assert!(read.contains(said), "{read}");
    }
    assert!(!read.contains("serve"), "{read}");
    read_transcripts(&session.to_string(), |_, transcript| {
        let last = transcript.messages.last().expect("the question");
        assert!(last.standing.is_read() && !last.is_boundary(), "what has only begun replaces nothing");
    })
    .expect("it is read");
}

/// A notice of Copilot without a text is none, and a call whose request was canceled has an empty result.
#[test]
fn copilot_says_nothing_where_nothing_is_written() {
    let notice = |text: &str| json!({"type": "system.notification", "data": {"content": text}}).to_string();
    let asked = json!({"type": "user.message", "data": {"content": "Row."}}).to_string();
    let read = outline(&[asked, notice(""), notice("The boat is back.")].join("\n"));
    assert_eq!(read, "copilot\nuser: Row.\nuser: The boat is back. (automatic)");
    let round =
        json!({"response": "I look.", "toolCalls": [{"name": "read", "arguments": "{}", "id": "c"}], "id": "r"});
    let request = json!({"requestId": "q", "message": {"text": "Lit?"}, "response": [],
        "result": {"metadata": {"toolCallRounds": [round], "toolCallResults": {}}}});
    let read = outline(&json!({"version": 3, "sessionId": "b", "requests": [request]}).to_string());
    assert!(read.ends_with("assistant: I look. read{} ->  [0]"), "{read}");
}

/// What programs write for the user begins no turn.
#[test]
fn a_plugin_and_a_checkpoint_are_no_person() {
    let line = |source: &str, text: &str| {
        format!(
            "{}\n",
            json!({"type": "user/message", "seq": 1, "time": 1, "data": {
                "content": [{"type": "text", "text": text}], "source": {"kind": source}, "role": "user",
            }})
        )
    };
    let harness = line("user", "Is the lamp lit?") + &line("plugin", "The time is 9.");
    assert_eq!(outline(&harness), "deepseek-harness\nuser: Is the lamp lit?\nuser: The time is 9. (automatic)");
    let step =
        |kind: &str| format!("{}\n", json!({"step_index": 1, "source": "SYSTEM", "type": kind, "content": "So far."}));
    let log = step("USER_INPUT") + &step("CHECKPOINT") + &step("SYSTEM_MESSAGE");
    assert_eq!(outline(&log), "antigravity\nuser: So far.\nuser: So far. (automatic)\nuser: So far. (automatic)");
}

#[test]
fn functions_of_two_plugins_are_two_tools() {
    let call = |plugin: &str| json!({"$type": "FunctionCallContent", "Id": plugin, "PluginName": plugin, "FunctionName": "get", "Arguments": {}});
    let alone = json!({"$type": "FunctionCallContent", "Id": "c", "FunctionName": "get", "Arguments": {}});
    let chat = json!([
        {"Role": {"Label": "user"}, "Items": [{"$type": "TextContent", "Text": "And?"}]},
        {"Role": {"Label": "assistant"}, "Items": [call("Weather"), call("Calendar"), alone]},
    ]);
    let said = "semantic-kernel-dotnet\nuser: And?\nassistant: Weather-get{} Calendar-get{} get{}";
    assert_eq!(outline(&chat.to_string()), said);
}
