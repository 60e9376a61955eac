//! What a model reads of what programs and people write down: in the spellings that they use, and without what is only shown.

use std::sync::Arc;

use curtail_core::pipeline::Chain;
use curtail_core::processors::{Counting, MediaLimits, Repair, RepairMode};
use curtail_core::transcript::{Content, Message, Pairs, Part, PartRef, Standing};
use curtail_core::{Approximate, Cutter, Framing, StripKind, Tokenizer as _, ToolPolicy};
use serde_json::{Value, json};

use super::files::read_transcripts;
use crate::laws::check::cut_with;

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
    words.extend((0..message.attached_media).map(|_| String::from("+ [medium]")));
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

/// What Claude Code sends of an attachment depends on its type: images as images, of a PDF no bytes, of a mailbox the messages. A
/// type that nobody knows yet has texts all the same.
#[test]
fn attachments_of_claude_code_are_what_the_program_sends_of_them() {
    let bytes = "iVBORw0KGgo".repeat(40);
    let image = json!({"base64": bytes, "type": "image/png", "originalSize": 330});
    let shown = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": bytes}});
    let output = json!({"output_type": "display_data", "text": "a plot", "image": {"image_data": bytes, "media_type": "image/png"}});
    for (attachment, sent) in [
        (
            json!({"type": "file", "filename": "a.png", "content": {"type": "image", "file": image}}),
            "+ a.png + [medium]",
        ),
        (
            json!({"type": "file", "filename": "a.pdf", "content": {"type": "pdf", "file": {"base64": bytes}}}),
            "+ a.pdf",
        ),
        (
            json!({"type": "file", "filename": "a.py", "content": {"type": "text", "file": {"content": "lit = 1"}}}),
            "+ a.py + lit = 1",
        ),
        (
            json!({"type": "file", "filename": "a.ipynb", "content": {"type": "notebook", "file":
                {"cells": [{"cellType": "code", "source": "plot()", "outputs": [output]}]}}}),
            "+ a.ipynb + plot() + a plot + [medium]",
        ),
        (
            json!({"type": "mcp_resource", "server": "s", "uri": "u", "content": {"contents":
                [{"uri": "u", "blob": bytes, "mimeType": "image/png"}, {"uri": "v", "text": "Fog."}]}}),
            "+ s + u + Fog.",
        ),
        (
            json!({"type": "teammate_mailbox", "messages": [{"from": "ada", "text": "Come.", "color": "red"}]}),
            "+ ada + Come.",
        ),
        (
            json!({"type": "task_status", "taskId": "t", "description": "Sweep.", "deltaSummary": "Half is done."}),
            "+ t + Sweep. + Half is done.",
        ),
        (json!({"type": "queued_command", "prompt": "And?"}), "+ And?"),
        (json!({"type": "queued_command", "prompt": "x", "batchedRelayPrompts": ["One.", "Two."]}), "+ One. + Two."),
        (json!({"type": "queued_command", "prompt": "One.", "renderedByBatchHead": true}), ""),
        (json!({"type": "queued_command", "prompt": [{"type": "text", "text": "See."}, shown]}), "+ See. + [medium]"),
        (
            json!({"type": "todo_reminder", "content": [{"content": "Sweep.", "status": "pending", "activeForm": "Sweeping"}]}),
            "+ pending + Sweep.",
        ),
        (json!({"type": "relevant_memories", "memories": [{"path": "m.md", "content": "Lit."}]}), "+ m.md + Lit."),
        (json!({"type": "goal_status", "text": "Not yet."}), ""),
        (
            json!({"type": "new", "notes": [{"type": "note", "words": "It rains."}, shown], "blob": bytes}),
            "+ It rains. + [medium]",
        ),
    ] {
        let record = |rest: Value| {
            let mut record = json!({"uuid": "u", "parentUuid": null, "sessionId": "s", "isSidechain": false});
            record.as_object_mut().expect("an object").extend(rest.as_object().expect("an object").clone());
            record
        };
        let asked = record(json!({"type": "user", "message": {"role": "user", "content": "Lit?"}}));
        let log = format!("{asked}\n{}\n", record(json!({"type": "attachment", "attachment": attachment})));
        assert_eq!(outline(&log), format!("claude-code\nuser: Lit? {sent}").trim_end(), "{attachment}");
    }
}

#[test]
fn what_a_step_of_a_trajectory_saw_without_a_call_may_be_an_image() {
    let seen = json!([{"type": "text", "text": "Fog."}, {"type": "image", "source": {"media_type": "image/png", "path": "a.png"}}]);
    let step = json!({"step_id": 1, "source": "agent", "message": "I watch.", "observation": {"results": [{"content": seen}]}});
    let text = json!({"schema_version": "ATIF-v1.7", "agent": {}, "steps": [step]}).to_string();
    assert_eq!(outline(&text), "atif\nassistant: I watch. + Fog. + [medium]");
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

/// In other formats, another member says that a program wrote a message of the user.
#[test]
fn a_message_of_the_user_is_automatic_where_its_format_says_so() {
    let line = |value: Value| format!("{value}\n");
    let entry = |kind: &str, said: &str| json!({"type": kind, "id": said, "parentId": null, "timestamp": "t", said: "So far.", "customType": "memory"});
    let pi = line(json!({"type": "session", "version": 3, "id": "s", "cwd": "/w"}))
        + &line(entry("custom_message", "content"))
        + &line(entry("branch_summary", "summary"));
    assert_eq!(outline(&pi), "pi\nuser: So far. (automatic)\nuser: So far. (automatic)");

    let event = |source: Option<&str>| {
        line(json!({"type": "user.message", "id": "e", "data": {"content": "Go on.", "source": source}}))
    };
    let copilot = event(None) + &event(Some("user")) + &event(Some("skill-pdf")) + &event(Some("autopilot"));
    let said = "copilot\nuser: Go on.\nuser: Go on.\nuser: Go on. (automatic)\nuser: Go on. (automatic)";
    assert_eq!(outline(&copilot), said);

    let grok = line(json!({"type": "user", "content": "The files.", "synthetic_reason": "environment_context"}))
        + &line(json!({"type": "user", "content": "Is it lit?"}))
        + &line(json!({"type": "assistant", "content": "It is.", "model_id": "grok"}));
    assert_eq!(outline(&grok), "grok\nuser: The files. (automatic)\nuser: Is it lit?\nassistant: It is.");

    let human =
        |source: &str| json!({"type": "human", "content": "So far.", "additional_kwargs": {"lc_source": source}});
    let langchain = json!({"messages": [human("summarization"), human("slack")]});
    assert_eq!(outline(&langchain.to_string()), "langchain\nuser: So far. (automatic)\nuser: So far.");

    let request = |asked: bool| json!({"requestId": "r", "message": {"text": "It ended."}, "response": [], "isSystemInitiated": asked});
    let chat = json!({"sessionId": "s", "requests": [request(false), request(true)]});
    assert_eq!(outline(&chat.to_string()), "vscode-copilot\nuser: It ended.\nuser: It ended. (automatic)");

    let said =
        |asked: bool| json!({"id": "1", "date": "x", "role": "user", "content": "It ended.", "isMcpResponse": asked});
    let session = json!({"id": "s", "topic": "Lamp", "mask": {}, "messages": [said(false), said(true)]});
    let store = json!({"chat-next-web-store": {"sessions": [session]}});
    assert_eq!(outline(&store.to_string()), "nextchat\nuser: It ended.\nuser: It ended. (automatic)");

    let said = |role: &str, text: &str| json!({"role": role, "content": [{"type": "text", "text": text}]});
    let steps = json!([
        said("user", "New task:\nIs it lit?"),
        said("user", "Now proceed and carry out this plan."),
        said("tool-call", "look()"),
        said("tool-response", "Lit."),
    ]);
    let lines = outline(&steps.to_string());
    assert!(lines.contains("\nuser: Now proceed and carry out this plan. (automatic)\n"), "{lines}");
}

/// Its definition gives the output of a local shell no other key.
#[test]
fn the_output_of_a_local_shell_names_its_call_by_its_id() {
    let request = json!({"input": [
        {"type": "message", "role": "user", "content": "List."},
        {"type": "local_shell_call", "id": "lsh_1", "call_id": "c1", "status": "completed", "action": {"type": "exec", "command": ["ls"], "env": {}}},
        {"type": "local_shell_call_output", "id": "c1", "output": "a"},
    ]});
    read_transcripts(&request.to_string(), |_, transcript| {
        let pairs = Pairs::from_messages(&transcript.messages);
        assert!(pairs.counterpart(PartRef { message: 1, part: 0 }).is_some());
    })
    .expect("it is read");
}

/// Also who is none of those that the service names is counted.
#[test]
fn others_in_a_memory_of_agents_are_no_metadata() {
    let said = |role: &str| json!({"conversational": {"role": role, "content": {"text": "The lamp is lit."}}});
    let event = json!({"eventId": "e", "payload": [said("USER"), said("OTHER"), said("ASSISTANT")]});
    let read =
        "agentcore-memory\nuser: The lamp is lit.\nuser: The lamp is lit. (automatic)\nassistant: The lamp is lit.";
    assert_eq!(outline(&event.to_string()), read);
}

/// Who approved a call stands between the call and its result, and repeats the call.
#[test]
fn approvals_of_agent_framework_are_no_messages_and_no_parts() {
    let call = json!({"type": "function_call", "call_id": "c1", "name": "pay", "arguments": "{}"});
    let request = json!({"type": "function_approval_request", "id": "r1", "function_call": call});
    let response = json!({"type": "function_approval_response", "id": "r1", "approved": true, "function_call": call});
    let said = |role: &str, contents: Value| json!({"type": "message", "role": role, "contents": contents});
    let list = json!([
        said("user", json!([{"type": "text", "text": "Pay."}])),
        said("assistant", json!([{"type": "text", "text": "I pay."}, call, request])),
        said("user", json!([response])),
        said("tool", json!([{"type": "function_result", "call_id": "c1", "result": "Paid."}])),
        said("assistant", json!([{"type": "text", "text": "Done."}])),
    ]);
    let read = "agent-framework\nuser: Pay.\nassistant: I pay. pay{}\ntool: -> Paid. [0]\nassistant: Done.";
    assert_eq!(outline(&list.to_string()), read);
    let shorter = filtered(&list.to_string());
    assert!(shorter.contains("I pay.") && !shorter.contains("function_approval_request"), "{shorter}");
}

/// A compaction marks what it leaves out, and stores it.
#[test]
fn what_a_compaction_of_agent_framework_left_out_is_not_sent() {
    let said = |role: &str, content: Value, excluded: bool| json!({"type": "message", "role": role, "contents": [content], "additional_properties": {"_excluded": excluded}});
    let list = json!([
        said("user", json!({"type": "text", "text": "Lit?"}), false),
        said("assistant", json!({"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}), true),
        said("tool", json!({"type": "function_result", "call_id": "c", "result": "It is."}), true),
        said("assistant", json!({"type": "text", "text": "It is."}), false),
    ]);
    assert_eq!(outline(&list.to_string()), "agent-framework\nuser: Lit?\nassistant: It is.");
}

/// Newer versions list what a tool said beside it. Of two that said the same, each has its own.
#[test]
fn a_result_of_agent_framework_is_repeated_in_its_items() {
    let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "look", "arguments": "{}"});
    let text = "The lamp is lit and turns once in nine seconds.".repeat(3);
    let result = |id: &str| json!({"type": "function_result", "call_id": id, "result": text, "items": [{"type": "text", "text": text}]});
    let said = |role: &str, contents: Value| json!({"type": "message", "role": role, "contents": contents});
    let list = json!([
        said("user", json!([{"type": "text", "text": "Lit?"}])),
        said("assistant", json!([call("c1"), call("c2")])),
        said("tool", json!([result("c1"), result("c2")])),
    ]);
    let cutter = Cutter::builder().keep_last_results(1).build().expect("a policy");
    let shorter: Value = serde_json::from_str(&cutter.cut(&list.to_string()).expect("it is cut")).expect("JSON");
    assert_eq!(shorter.pointer("/2/contents/0/items"), Some(&json!([])));
    assert_eq!(shorter.pointer("/2/contents/1"), Some(&result("c2")));
}

/// The text without its calls.
fn filtered(text: &str) -> String {
    let cutter = Cutter::builder().tools(ToolPolicy::drop_all()).build().expect("a policy");
    cutter.cut(text).expect("it is cut")
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

/// `DeepSeek`'s messages in Spring AI have reasoning, which the metadata repeat.
#[test]
fn spring_ai_has_reasoning_and_responses_of_tools() {
    let call = json!({"id": "c", "type": "function", "name": "look", "arguments": "{}"});
    let metadata = json!({"reasoning_content": "I look."});
    let response = json!({"id": "c", "name": "look", "responseData": "A lamp."});
    let chat = json!([
        {"messageType": "USER", "metadata": {}, "text": "And?"},
        {"messageType": "ASSISTANT", "metadata": metadata, "text": "", "reasoningContent": "I look.", "toolCalls": [call]},
        {"messageType": "TOOL", "metadata": {}, "text": "", "toolResponses": [response]},
    ]);
    let said = "spring-ai\nuser: And?\nassistant: (I look.) look{}\ntool: -> A lamp. [0]";
    assert_eq!(outline(&chat.to_string()), said);
    let cutter = Cutter::builder().strip(StripKind::AllReasoning).build().expect("a policy");
    assert!(!cutter.cut(&chat.to_string()).expect("it is cut").contains("I look."));
}

/// What a server answered to its own call is in the call, under a key of its tool.
#[test]
fn answers_of_hosted_tools_are_results() {
    for (call, answer) in [
        (json!({"type": "mcp_call", "name": "draw", "arguments": "{}", "output": "Wet."}), "Wet."),
        (json!({"type": "mcp_call", "name": "draw", "arguments": "{}", "output": null, "error": "Dry."}), "Dry."),
        (
            json!({"type": "mcp_call", "name": "draw", "arguments": "{}", "error": {"content": [{"type": "text", "text": "Dry."}]}}),
            "Dry.",
        ),
        (
            json!({"type": "code_interpreter_call", "code": "1", "outputs": [{"type": "logs", "logs": "1"}, {"type": "logs", "logs": "2"}]}),
            "1 | 2",
        ),
        (json!({"type": "file_search_call", "queries": ["well"], "results": [{"text": "Nine."}]}), "Nine."),
        (json!({"type": "hosted_tool_call", "name": "file_search_call", "output": "Nine."}), "Nine."),
    ] {
        let mut call = call;
        call["id"] = json!("h_1");
        let asked = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "And?"}]});
        let said = outline(&json!([asked, call]).to_string());
        assert!(said.starts_with("responses\n") && said.ends_with(&format!("-> {answer} [0]")), "{said}");
    }
}

/// OpenAI's Agents SDK for JavaScript has types of its own for results.
#[test]
fn results_of_agents_in_javascript_answer_their_calls() {
    let call =
        json!({"type": "function_call", "callId": "c", "name": "look", "arguments": "{}", "status": "completed"});
    let output = json!({"type": "text", "text": "A lamp."});
    let result =
        json!({"type": "function_call_result", "callId": "c", "name": "look", "status": "completed", "output": output});
    let seen = json!({"type": "computer_call", "callId": "d", "action": {"type": "screenshot"}, "status": "completed"});
    let shown = json!({"type": "computer_screenshot", "data": "data:image/png;base64,iVBORw0KGgo="});
    let shown = json!({"type": "computer_call_result", "callId": "d", "output": shown});
    let history = json!([{"role": "user", "content": "And?"}, call, result, seen, shown]);
    let said = "responses\nuser: And?\nassistant: look{}\ntool: -> A lamp. [0]\n\
        assistant: computer_call{\"type\":\"screenshot\"}\ntool: ->  [1]";
    assert_eq!(outline(&history.to_string()), said);
}

/// A result may be one medium, or an object with a list of blocks. An object with the type of a medium and without its bytes is
/// what the tool found.
#[test]
fn a_result_that_is_an_object_with_bytes_is_media() {
    let png = "iVBORw0KGgo=";
    let url = format!("data:image/png;base64,{png}");
    for (output, read) in [
        (json!({"type": "input_image", "image_url": url}), "->  [1]"),
        (json!({"type": "image", "image": {"data": png, "mediaType": "image/png"}}), "->  [1]"),
        (
            json!([{"type": "input_text", "text": "See."}, {"type": "computer_screenshot", "image_url": url}]),
            "-> See. [1]",
        ),
        (
            json!({"content": [{"type": "text", "text": "See."}, {"type": "image", "data": png}], "isError": false}),
            "-> See. [1]",
        ),
        (json!({"type": "file", "path": "a.rs"}), "-> {\"type\":\"file\",\"path\":\"a.rs\"} [0]"),
        (
            json!({"content": [{"type": "file", "path": "a"}]}),
            "-> {\"content\":[{\"type\":\"file\",\"path\":\"a\"}]} [0]",
        ),
    ] {
        let call = json!({"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"});
        let result = json!({"type": "function_call_output", "call_id": "c", "output": output});
        let history = json!([{"role": "user", "content": "And?"}, call, result]).to_string();
        assert!(outline(&history).ends_with(read), "{}", outline(&history));
        let none = MediaLimits { keep_last: Some(0), ..MediaLimits::default() };
        let cut = cut_with(Chain::default().then(none), None, Framing::Document, &history).expect("it is cut");
        assert!(outline(&cut).ends_with(" [0]") && !cut.contains(png), "{cut}");
    }
    // A described format, with a medium that is a result.
    let call = json!({"tool_call": {"id": "c", "tool_name": "look", "arguments": {}}});
    let image = json!({"type": "image", "data": png, "mime_type": "image/png"});
    let result = json!({"tool_call_result": {"result": image, "origin": {"id": "c", "tool_name": "look"}}});
    let history = json!([
        {"_role": "user", "_meta": {}, "_content": [{"text": "And?"}]},
        {"_role": "assistant", "_meta": {}, "_content": [call]},
        {"_role": "tool", "_meta": {}, "_content": [result]},
    ]);
    let said = outline(&history.to_string());
    assert!(said.starts_with("haystack\n") && said.ends_with("->  [1]"), "{said}");
}

/// Each described format that has images, with one that a person shows.
#[test]
fn images_of_people_are_media_in_described_formats() {
    let data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk";
    let url = format!("data:image/png;base64,{data}");
    let chats = [
        (
            "a2a",
            json!([{"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "What is it?"}, {"kind": "file", "file": {"bytes": data, "mimeType": "image/png"}}]}]),
        ),
        (
            "ag-ui",
            json!({"threadId": "t", "runId": "r", "messages": [{"id": "m", "role": "user", "content": [{"type": "text", "text": "What is it?"}, {"type": "binary", "mimeType": "image/png", "data": data}]}]}),
        ),
        (
            "agent-framework",
            json!([{"type": "message", "role": "user", "contents": [{"type": "text", "text": "What is it?"}, {"type": "data", "uri": url}]}]),
        ),
        (
            "agno",
            json!({"runs": [{"run_id": "r", "messages": [{"role": "user", "content": "What is it?", "images": [{"id": "i", "content": data}]}]}]}),
        ),
        (
            "agno",
            json!({"runs": [{"run_id": "r", "messages": [{"role": "user", "content": "What is it?", "audio": [{"id": "i", "content": data}]}]}]}),
        ),
        (
            "autogen-agentchat",
            json!([{"type": "MultiModalMessage", "source": "user", "content": ["What is it?", {"data": data}]}]),
        ),
        (
            "autogen-core",
            json!([{"type": "UserMessage", "source": "user", "content": ["What is it?", {"data": data}]}]),
        ),
        (
            "continue",
            json!({"history": [{"message": {"role": "user", "content": [{"type": "text", "text": "What is it?"}, {"type": "imageUrl", "imageUrl": {"url": url}}]}, "contextItems": []}]}),
        ),
        (
            "crush",
            json!([{"session_id": "s", "role": "user", "parts": [{"type": "text", "data": {"text": "What is it?"}}, {"type": "binary", "data": {"Path": "/a.png", "MIMEType": "image/png", "Data": data}}]}]),
        ),
        (
            "haystack",
            json!([{"role": "user", "meta": {}, "content": [{"text": "What is it?"}, {"image": {"base64_image": data, "mime_type": "image/png"}}]}]),
        ),
        (
            "langchain4j",
            json!([{"type": "USER", "contents": [{"type": "TEXT", "text": "What is it?"}, {"type": "IMAGE", "image": {"base64Data": data, "mimeType": "image/png"}}]}]),
        ),
        (
            "letta",
            json!({"agents": [{"in_context_message_ids": ["m"], "messages": [{"id": "m", "role": "user", "content": [{"type": "text", "text": "What is it?"}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}]}]}]}),
        ),
        (
            "letta-messages",
            json!([{"message_type": "user_message", "content": [{"type": "text", "text": "What is it?"}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}]}]),
        ),
        (
            "llama-index",
            json!([{"role": "user", "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": "What is it?"}, {"block_type": "image", "image": data}]}]),
        ),
        (
            "microsoft-extensions-ai",
            json!([{"role": "user", "contents": [{"$type": "text", "text": "What is it?"}, {"$type": "data", "uri": url}]}]),
        ),
        (
            "ollama",
            json!({"messages": [{"role": "user", "content": "What is it?", "images": [data]}, {"role": "tool", "tool_name": "look", "content": "A lamp."}]}),
        ),
        (
            "openai-threads",
            json!({"data": [{"object": "thread.message", "role": "user", "content": [{"type": "text", "text": {"value": "What is it?"}}, {"type": "image_file", "image_file": {"file_id": "f"}}]}]}),
        ),
        ("qwen-agent", json!([{"role": "user", "content": [{"text": "What is it?"}, {"image": url}]}])),
        (
            "semantic-kernel",
            json!({"messages": [{"content_type": "message", "role": "user", "items": [{"content_type": "text", "text": "What is it?"}, {"content_type": "image", "data_uri": url}]}]}),
        ),
        (
            "semantic-kernel-dotnet",
            json!([{"Role": {"Label": "user"}, "Items": [{"$type": "TextContent", "Text": "What is it?"}, {"$type": "ImageContent", "Data": data}]}]),
        ),
        (
            "spring-ai",
            json!([{"messageType": "USER", "text": "What is it?", "media": [{"mimeType": "image/png", "data": data}]}]),
        ),
        (
            "zencoder",
            json!([{"creationReason": "user", "chatId": "c"}, {"role": "user", "content": [{"type": "text", "text": "What is it?"}, {"type": "image", "image": url}]}]),
        ),
    ];
    for (dialect, chat) in chats {
        let read = outline(&chat.to_string());
        let is_shown = read.contains("[medium]") && !read.contains(" ?");
        assert!(read.starts_with(&format!("{dialect}\nuser: ")) && is_shown, "{read}");
    }
}

/// A model reads what a citation quotes, or where it is from. The name of a function, which a result has beside that of its plugin,
/// is left to the library: from a name of both, it takes both.
#[test]
fn citations_of_semantic_kernel_are_texts() {
    let message = |role: &str, items: Value| json!({"content_type": "message", "role": role, "items": items});
    let call = json!({"content_type": "function_call", "id": "c", "name": "house-look", "function_name": "look", "plugin_name": "house", "arguments": "{}"});
    let chat = json!({"messages": [
        message("user", json!([{"content_type": "text", "text": "When is high tide?"}])),
        message("assistant", json!([
            {"content_type": "text", "text": "At noon."},
            {"content_type": "annotation", "quote": "high at noon", "file_id": "f", "url": null},
            {"content_type": "streaming_annotation", "quote": null, "title": null, "url": "https://example.com"},
            call,
        ])),
        message("user", json!([{"content_type": "text", "text": "And low?"}])),
    ]})
    .to_string();
    let read = outline(&chat);
    for text in ["high at noon", "https://example.com"] {
        assert!(read.contains(text) && !read.contains(" ?"), "{read}");
    }
    let stub = Repair { mode: RepairMode::Stub, pending: true };
    let stubbed = cut_with(Chain::default().then(stub), None, Framing::Document, &chat).expect("it is cut");
    assert!(stubbed.contains(r#""name":"house-look"}"#) && stubbed.matches("function_name").count() == 1, "{stubbed}");
}

/// Where a call has no id, its result has none, neither as a member that is empty.
#[test]
fn the_result_of_a_call_without_an_id_names_none() {
    let call =
        json!({"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "look", "arguments": {}}}]});
    let user = json!({"role": "user", "content": "Lit?"});
    for (answer, written) in [
        (
            json!({"role": "tool", "tool_name": "look", "content": "Yes."}),
            r#"{"role":"tool","tool_name":"look","content":"["#,
        ),
        (json!({"role": "ipython", "content": "Yes."}), r#"{"role":"ipython","content":"["#),
    ] {
        let chat = json!({"messages": [user, call, answer, user, call, user]}).to_string();
        let stub = Chain::default().then(Repair { mode: RepairMode::Stub, pending: true });
        let stubbed = cut_with(stub, None, Framing::Document, &chat).expect("it is cut");
        assert!(stubbed.contains(written), "{stubbed}");
    }
}

#[test]
fn hidden_reasoning_of_letta_is_reasoning() {
    let hidden = |state: &str, data: Value| json!({"message_type": "hidden_reasoning_message", "state": state, "hidden_reasoning": data});
    let log = json!([
        {"message_type": "user_message", "content": "Lit?"},
        hidden("omitted", Value::Null),
        hidden("redacted", json!("c2VhbGVk")),
        {"message_type": "assistant_message", "content": "It is."},
    ]);
    let read = "letta-messages\nuser: Lit?\nassistant: ()\nassistant: (c2VhbGVk)\nassistant: It is.";
    assert_eq!(outline(&log.to_string()), read);
    assert!(curtail_core::check(&log.to_string()).is_empty());
}

/// Tools of a provider take lists, and the image that one made is no text.
#[test]
fn agent_framework_has_the_tools_of_providers() {
    let bytes = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk";
    let image = json!({"type": "data", "uri": format!("data:image/png;base64,{bytes}"), "media_type": "image/png"});
    let code = json!([{"text": "print(1)", "type": "text"}]);
    let chat = json!([
        {"type": "message", "role": "user", "contents": [{"type": "text", "text": "Paint the lamp."}]},
        {"type": "message", "role": "assistant", "contents": [
            {"type": "image_generation_tool_call", "image_id": "i1"},
            {"type": "image_generation_tool_result", "image_id": "i1", "outputs": image},
            {"type": "code_interpreter_tool_call", "call_id": "c1", "inputs": code},
            {"type": "code_interpreter_tool_result", "call_id": "c1", "outputs": [{"type": "text", "text": "1"}]},
            {"type": "shell_tool_call", "call_id": "c2", "commands": ["ls"]}]},
        {"type": "message", "role": "tool", "contents": [
            {"type": "shell_tool_result", "call_id": "c2", "outputs": [{"stdout": "lamp", "type": "shell_command_output"}]}]},
    ]);
    let text = chat.to_string();
    let said = "agent-framework\nuser: Paint the lamp.\n\
        assistant: - [medium] code_interpreter_tool_call[{\"text\":\"print(1)\",\"type\":\"text\"}] -> 1 [0] shell_tool_call[\"ls\"]\n\
        tool: -> {\"stdout\":\"lamp\",\"type\":\"shell_command_output\"} [0]";
    assert_eq!(outline(&text), said);
    assert!(curtail_core::check(&text).is_empty());
}

#[test]
fn autogen_has_messages_of_people_of_programs_and_of_objects() {
    let of = |kind: &str, source: &str, content: Value| json!({"type": kind, "source": source, "content": content});
    let ran = json!({"type": "CodeExecutionEvent", "source": "coder", "retry_attempt": 0,
        "result": {"exit_code": 0, "output": "1", "code_file": "/house/look.py"}});
    let mut made = of("CodeGenerationEvent", "coder", json!("```python\nprint(1)\n```"));
    made["code_blocks"] = json!([{"code": "print(1)", "language": "python"}]);
    let thread = json!({"messages": [
        of("TextMessage", "user", json!("Is it lit?")),
        made,
        ran,
        of("StructuredMessage[Answer]", "keeper", json!({"lit": true})),
        of("UserInputRequestedEvent", "user_proxy", json!("")),
        of("TextMessage", "user_proxy", json!("APPROVE")),
    ]});
    let said = "autogen-agentchat\nuser: Is it lit?\nassistant: ```python\nprint(1)\n```\nuser: 1 (automatic)\n\
        assistant: {\"lit\":true}\nuser: APPROVE";
    assert_eq!(outline(&thread.to_string()), said);
}

/// Claude Code says how it shortens results that it sends: the results are read where they are.
#[test]
fn claude_code_keeps_notes_that_are_no_texts() {
    let user = r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","isSidechain":false,"message":{"role":"user","content":"Lit?"}}"#;
    let note = r#"{"type":"content-replacement","sessionId":"s","replacements":[{"kind":"tool-result","toolUseId":"t","replacement":"Output too large, and its first lines are these."}]}"#;
    let log = format!("{user}\n{note}\n{note}\n");
    assert_eq!(outline(&log), "claude-code\nuser: Lit?");
    let unknown = read_transcripts(&log, |_, transcript| {
        assert!(transcript.layout.non_messages.iter().all(|line| line.unknown.is_none()));
    });
    unknown.expect("it is read");
}

/// The stream of Droid writes thoughts, some twice, and ends with the last reply.
#[test]
fn droid_says_its_last_reply_once() {
    let line = |kind: &str, said: Value| {
        let mut line = json!({"type": kind, "session_id": "s", "timestamp": 1});
        line.as_object_mut().expect("an object").extend(said.as_object().expect("an object").clone());
        line.to_string()
    };
    let stream = |last: &str| {
        let thought = line("reasoning", json!({"id": "r", "text": "A lamp."}));
        let lines = [
            line("message", json!({"id": "m1", "role": "user", "text": "Is it lit?"})),
            thought.clone(),
            thought,
            line("message", json!({"id": "m2", "role": "assistant", "text": "It is."})),
            line("completion", json!({"finalText": last})),
        ];
        outline(&lines.join("\n"))
    };
    let said = "droid\nuser: Is it lit?\nassistant: (A lamp.)\nassistant: It is.";
    assert_eq!(stream("It is."), said);
    assert_eq!(stream("It was."), format!("{said}\nassistant: It was."));
}

/// Cursor writes what it calls, and most versions no results: only the last call can still wait for one.
#[test]
fn cursor_needs_no_results() {
    let said = |role: &str, block: Value| json!({"role": role, "message": {"content": [block]}}).to_string();
    let call = said("assistant", json!({"type": "tool_use", "name": "look", "input": {"at": "lamp"}}));
    let text = |text: &str| json!({"type": "text", "text": text});
    let log = [
        said("user", text("Is it lit?")),
        call.clone(),
        call.clone(),
        said("assistant", text("It is.")),
        said("user", text("And now?")),
    ];
    assert!(curtail_core::check(&log.join("\n")).is_empty());
    let pending = [log.as_slice(), &[call]].concat().join("\n");
    let found: Vec<_> = curtail_core::check(&pending).into_iter().map(|finding| finding.rule.name).collect();
    assert_eq!(found, ["pending-call"]);
}

/// Which messages a model still reads, by their standing.
fn standings(text: &str) -> Vec<Standing> {
    let mut standings = Vec::new();
    read_transcripts(text, |_, transcript| {
        standings.extend(transcript.messages.iter().map(|message| message.standing));
    })
    .expect("it is read");
    standings
}

/// With a summary, Zed sends the newest prompts before it once more; what a provider sealed stands for all of them.
#[test]
fn a_compaction_of_zed_replaces_what_is_before_it() {
    use Standing::{Live, Preserved, Superseded};
    let user = |text: &str| json!({"User": {"id": "u", "content": [{"Text": text}]}});
    let agent = |text: &str| json!({"Agent": {"content": [{"Text": text}], "tool_results": {}}});
    let thread = |compaction: Value| {
        let long = "a".repeat(80_000);
        let before = [user("Old?"), user(&long), agent("Yes."), user("New?")];
        let after = [json!({"Compaction": compaction}), agent("It is."), json!("Resume")];
        let messages = [before.as_slice(), &after].concat();
        json!({"version": "0.3.0", "messages": messages}).to_string()
    };
    let summary = thread(json!({"Summary": "The lamp is lit."}));
    assert_eq!(standings(&summary), [Superseded, Preserved, Superseded, Preserved, Live, Live, Live]);
    let end = "user: The lamp is lit.\nassistant: It is.\nuser: Continue where you left off (automatic)";
    assert!(outline(&summary).ends_with(end), "{}", outline(&summary));
    let sealed = thread(json!({"ProviderNative": {"provider": "openai", "items": [{"type": "compaction"}]}}));
    assert_eq!(standings(&sealed), [Superseded, Superseded, Superseded, Superseded, Live, Live, Live]);
}

/// A summary that the application wrote into a request is sent behind what is before it.
#[test]
fn only_a_provider_compacts_messages_of_pydantic_ai() {
    let message = |kind: &str, part: Value| json!({"kind": kind, "parts": [part]});
    let summary = json!({"part_kind": "compaction", "content": "So far."});
    let log = |kind: &str| {
        let asked = message("request", json!({"part_kind": "user-prompt", "content": "Lit?"}));
        json!([asked, message(kind, summary.clone())]).to_string()
    };
    assert_eq!(standings(&log("request")), [Standing::Live, Standing::Live]);
    assert_eq!(outline(&log("request")), "pydantic-ai\nuser: Lit?\nuser: So far. (automatic)");
    assert_eq!(standings(&log("response")), [Standing::Superseded, Standing::Live]);
}

#[test]
fn speech_is_what_was_said_and_a_baseline_repeats_the_instructions() {
    let rule = "Say where the horn is and how loud it is, in meters and in decibels.";
    let baseline =
        json!({"part_kind": "instruction-baseline", "instructions": [{"part_kind": "instruction", "content": rule}]});
    let talk = json!([
        {"kind": "request", "instructions": rule, "parts": [baseline, {"part_kind": "speech", "speaker": "user", "transcript": "Lit?"}]},
        {"kind": "response", "parts": [{"part_kind": "speech", "speaker": "assistant", "transcript": "It is."}]},
        {"kind": "request", "instructions": rule, "parts": [{"part_kind": "speech", "speaker": "user", "transcript": null, "audio": {"data": "QQ==", "media_type": "audio/wav", "kind": "binary"}}]},
    ]);
    let read = "pydantic-ai\nuser:  Lit?\nassistant: It is.\nuser: [medium]";
    assert_eq!(outline(&talk.to_string()), read);
}

/// A call that failed has its error beside it, and what an application shows is between the parts.
#[test]
fn parts_of_mastra_are_what_the_model_reads() {
    let call = |id: &str, state: &str, key: &str| json!({"type": "tool-invocation", "toolInvocation": {"state": state, "toolCallId": id, "toolName": "look", "args": {}, key: "locked"}});
    let said = |role: &str, content: Value| json!({"id": "m", "role": role, "content": content});
    let shown =
        json!({"type": "data-om-observation-start", "data": {"operationType": "observation of what was said so far"}});
    let image = json!({"contentType": "image/png", "url": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"});
    let chat = json!([
        said(
            "user",
            json!({"format": 2, "parts": [{"type": "text", "text": "Look."}], "experimental_attachments": [image]})
        ),
        said(
            "assistant",
            json!({"format": 2, "parts": [call("c1", "output-error", "errorText"), shown, call("c2", "result", "result")]})
        ),
    ]);
    let read = "mastra\nuser: Look. [medium]\nassistant: look{} -> locked [0] - look{} -> locked [0]";
    assert_eq!(outline(&chat.to_string()), read);
}

/// `SillyTavern` shows calls as a note of its own, and sends them.
#[test]
fn calls_of_silly_tavern_are_read_and_notes_are_not() {
    let said = |[user, system]: [bool; 2], text: &str, extra: Value| {
        json!({"name": "x", "is_user": user, "is_system": system, "mes": text, "extra": extra}).to_string()
    };
    let calls = json!({"isSmallSys": true, "tool_invocations": [{"id": "c", "displayName": "Look", "name": "look", "parameters": "{}", "result": "lit"}]});
    let chat = [
        json!({"user_name": "Ada", "chat_metadata": {}}).to_string(),
        said([true, false], "Lit?", json!({})),
        said([false, true], "Tool calls: Look, with what they were given and what came of them", calls),
        said([false, true], "Hidden.", json!({})),
        said([false, false], "Night falls.", json!({"type": "narrator"})),
        said([false, false], "It is.", json!({})),
    ];
    let read = "silly-tavern\nuser: Lit?\nassistant: look{} -> lit [0]\nsystem: Night falls.\nassistant: It is.";
    assert_eq!(outline(&chat.join("\n")), read);
}

#[test]
fn thoughts_of_lm_studio_are_steps_and_its_notes_are_not_read() {
    let step = |style: Value, text: &str| json!({"type": "contentBlock", "style": style, "content": [{"type": "text", "text": text}]});
    let steps = json!([
        step(json!({"type": "thinking", "ended": true, "title": "Thought for 2 seconds"}), "I must look."),
        {"type": "debugInfoBlock", "debugInfo": "Conversation naming technique: 'prompt' of the user"},
        step(Value::Null, "It is."),
    ]);
    let message = |version: Value| json!({"versions": [version], "currentlySelected": 0});
    let chat = json!({"name": "x", "messages": [
        message(json!({"type": "singleStep", "role": "user", "content": [{"type": "text", "text": "Lit?"}]})),
        message(json!({"type": "multiStep", "role": "assistant", "steps": steps})),
    ]});
    assert_eq!(outline(&chat.to_string()), "lm-studio\nuser: Lit?\nassistant: (I must look.) - It is.");
}

#[test]
fn what_failed_in_next_chat_is_not_sent() {
    let said = |role: &str, text: &str, failed: bool| json!({"id": "m", "date": "x", "role": role, "content": text, "isError": failed});
    let messages =
        json!([said("user", "Lit?", false), said("assistant", "{\"error\": true}", true), said("user", "And?", false)]);
    let backup = json!({"chat-next-web-store": {"sessions": [{"topic": "x", "mask": {}, "messages": messages}]}});
    assert_eq!(outline(&backup.to_string()), "nextchat\nuser: Lit?\nuser: And?");
}

/// It shows what tools did beside the reply, and sends no more of it than the role and the content.
#[test]
fn what_tools_did_in_next_chat_is_not_counted() {
    let text = "The lamp is lit and turns once in nine seconds.";
    let tools = json!([{"id": "c", "function": {"name": "look", "arguments": "{}"}, "content": text}]);
    let said = |other: &str| json!({"id": "m", "date": "x", "role": "user", "content": "Lit?", other: tools});
    for (key, estimated) in [("tools", 0), ("others", 1)] {
        let session = json!({"topic": "x", "mask": {}, "messages": [said(key)]});
        let backup = json!({"chat-next-web-store": {"sessions": [session]}}).to_string();
        let read = read_transcripts(&backup, |dialect, transcript| {
            assert_eq!(dialect.name(), "nextchat");
            assert_eq!(transcript.messages[0].estimated.len(), estimated, "{key}");
        });
        read.expect("it is read");
    }
}

/// An approval holds the call, which is stored again once it was answered.
#[test]
fn approvals_of_microsoft_extensions_are_no_messages() {
    let call = json!({"$type": "functionCall", "callId": "c", "name": "pay", "arguments": {}});
    let said = |role: &str, content: &Value| json!({"role": role, "contents": [content]});
    let chat = json!([
        said("user", &json!({"$type": "text", "text": "Pay."})),
        said("assistant", &json!({"$type": "toolApprovalRequest", "requestId": "r", "toolCall": call})),
        said("user", &json!({"$type": "toolApprovalResponse", "requestId": "r", "approved": true, "toolCall": call})),
        said("assistant", &call),
        said("tool", &json!({"$type": "functionResult", "callId": "c", "result": "Paid."})),
    ]);
    let read = "microsoft-extensions-ai\nuser: Pay.\nassistant: pay{}\ntool: -> Paid. [0]";
    assert_eq!(outline(&chat.to_string()), read);
}

#[test]
fn several_actions_on_a_computer_are_what_a_call_does() {
    let call = json!({"type": "computer_call", "call_id": "c", "actions": [{"type": "wait"}]});
    let items = json!({"input": [{"type": "message", "role": "user", "content": "Wait."}, call]});
    let read = "responses\nuser: Wait.\nassistant: computer_call[{\"type\":\"wait\"}]";
    assert_eq!(outline(&items.to_string()), read);
}

#[test]
fn a_stored_conversation_of_amazon_q_has_the_summary_of_what_was_before() {
    let asked = json!({"content": {"Prompt": {"prompt": "Lit?"}}});
    let record = json!({
        "history": [{"user": asked, "assistant": {"Response": {"message_id": "m", "content": "It is."}}}],
        "latest_summary": ["The horn was silent.", {"request_id": "r"}],
    });
    let mut preamble = Vec::new();
    read_transcripts(&record.to_string(), |_, transcript| {
        preamble.extend(transcript.layout.outside().map(|text| text.decode().into_owned()));
    })
    .expect("it is read");
    assert_eq!(preamble, ["The horn was silent."]);
}

/// Before version 1.14, an entry is a list of the message of the user and the answer.
#[test]
fn a_stored_conversation_of_amazon_q_has_pairs() {
    let call = json!({"id": "t", "name": "look", "args": {}});
    let result = json!({"tool_use_id": "t", "content": [{"Text": "lit"}], "status": "Success"});
    let record = json!({"conversation_id": "c", "latest_summary": "Before.", "history": [
        [{"content": {"Prompt": {"prompt": "Lit?"}}}, {"ToolUse": {"content": "I look.", "tool_uses": [call]}}],
        [{"content": {"ToolUseResults": {"tool_use_results": [result]}}}, {"Response": {"content": "It is."}}],
        [{"content": {"Prompt": {"prompt": "And?"}}}, {"Response": {"content": "Nothing."}}],
    ]});
    let read = "kiro\nassistant: Lit? I look. look{}\nassistant: -> lit [0] It is.\nassistant: And? Nothing.";
    assert_eq!(outline(&record.to_string()), read);
    let cutter = Cutter::builder().tools(ToolPolicy::drop_all()).build().expect("a policy");
    let shorter: Value = serde_json::from_str(&cutter.cut(&record.to_string()).expect("it is cut")).expect("JSON");
    assert_eq!(shorter["history"], json!([record["history"][2]]));
}

/// `LibreChat` sends the latest summary in place of what is before it.
#[test]
fn a_summary_of_libre_chat_replaces_what_is_before_it() {
    let said = |own: bool, content: Value| json!({"messageId": "m", "isCreatedByUser": own, "sender": "x", "text": "", "content": content});
    let text = |text: &str| json!({"type": "text", "text": text});
    let summary = json!({"type": "summary", "content": [text("So far.")], "tokenCount": 2});
    let stopped = json!({"type": "summary", "content": [], "summarizing": true});
    let log = |summary: Value| json!({"conversationId": "c", "messages": [said(true, json!([text("Lit?")])), said(false, json!([summary, text("It is.")]))]});
    let done = log(summary).to_string();
    assert_eq!(outline(&done), "librechat\nuser: Lit?\nassistant: So far. It is.");
    assert_eq!(standings(&done), [Standing::Superseded, Standing::Live]);
    assert_eq!(standings(&log(stopped).to_string()), [Standing::Live, Standing::Live]);
}

/// A callback of smolagents may add what a step saw, and the reply of a model may be a list of blocks.
#[test]
fn a_step_of_smolagents_may_see_something_without_a_call() {
    let step = |number: u8, said: Value, calls: Value, seen: &str, images: Value| {
        json!({"step_number": number, "timing": null, "tool_calls": calls, "error": null, "model_output": said,
            "observations": seen, "observations_images": images})
    };
    let call = json!([{"id": "c", "type": "function", "function": {"name": "look", "arguments": "lamp"}}]);
    let steps = json!([
        {"task": "Lit?", "task_images": null},
        step(1, json!("I watch."), Value::Null, "Fog comes in.", json!(["iVBORw0KGgo="])),
        step(2, json!([{"type": "text", "text": "I look."}]), call, "It is.", json!([])),
    ]);
    let read =
        "smolagents\nuser: Lit?\nassistant: I watch. [medium] Fog comes in.\nassistant: I look. looklamp -> It is. [0]";
    assert_eq!(outline(&steps.to_string()), read);
    let cutter = Cutter::builder().strip(StripKind::Media).build().expect("a policy");
    let stripped = cutter.cut(&steps.to_string()).expect("it is cut");
    assert!(!stripped.contains("iVBOR") && stripped.contains("Fog comes in."), "{stripped}");
}

/// A file of a text type is a text to the model, whatever its size; an image is not, and neither is what is only named.
#[test]
fn files_of_text_are_counted_as_texts() {
    let counting = Counting::new(Arc::new(Approximate::default()));
    let count = |part: &Part<'_>| matches!(part.content, Content::Media(_)).then(|| counting.part(part));
    let base64 = "QSBsaWdodCEg".repeat(1_000);
    let text = "A light! ".repeat(1_000);
    let url = format!("data:text/plain;base64,{base64}");
    let user = |content: Value| json!({"messages": [{"role": "user", "content": [content]}]});
    let binary = |mime: &str| {
        json!({"id": "1", "session_id": "s", "role": "user",
            "parts": [{"type": "binary", "data": {"Path": "a.txt", "MIMEType": mime, "Data": base64}}]})
    };
    let as_text = Approximate::default().count(&text);
    let as_medium = 765;
    for (chat, tokens) in [
        (binary("text/plain"), as_text),
        (binary("image/png"), as_medium),
        (
            user(json!({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": text}})),
            as_text,
        ),
        (user(json!({"type": "document", "source": {"type": "url", "url": "https://a.org/a.txt"}})), as_medium),
        (user(json!({"document": {"format": "md", "name": "a", "source": {"bytes": base64}}})), as_text),
        (
            json!({"contents": [{"role": "user", "parts": [{"inlineData": {"mimeType": "text/plain", "data": base64}}]}]}),
            as_text,
        ),
        (
            json!({"messages": [{"id": "m", "role": "user", "parts": [{"type": "file", "mediaType": "text/plain", "url": url}]}]}),
            as_text,
        ),
        (
            json!([{"kind": "request", "parts": [{"part_kind": "user-prompt", "content":
                ["See.", {"kind": "binary", "data": base64, "media_type": "text/plain"}]}]}]),
            as_text,
        ),
    ] {
        let mut counted = Vec::new();
        read_transcripts(&chat.to_string(), |_, transcript| {
            counted.extend(transcript.messages.iter().flat_map(|message| &message.parts).filter_map(count));
        })
        .expect("it is read");
        assert_eq!(counted, [tokens], "{chat:.200}");
    }
}

#[test]
fn opencode_sends_texts_in_place_of_files_of_text() {
    let file = |mime: &str| json!({"type": "file", "id": "p", "sessionID": "s", "messageID": "m", "mime": mime, "url": "data:text/plain;base64,QQ=="});
    let parts = json!([file("text/plain"), file("application/x-directory"), file("image/png")]);
    let session = json!({"info": {"id": "s"}, "messages": [{"info": {"id": "m", "role": "user", "sessionID": "s"}, "parts": parts}]});
    assert_eq!(outline(&session.to_string()), "opencode\nuser: - - [medium]");
}
