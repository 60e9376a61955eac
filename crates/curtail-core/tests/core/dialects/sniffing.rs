//! The dialect of every fixture, which its folder names, and its framing are detected.

use curtail_core::dialects::{ALL, Framing, Item, mark};
use curtail_core::json::Document;

use super::files::{File, fixtures, read_transcripts};

/// Fixtures that are not a message per line.
const FRAMINGS: &[(&str, Framing)] = &[
    ("ai-sdk/ui-parallel.json", Framing::Document),
    ("gemini/adk-eval.json", Framing::Document),
    ("gemini/adk-session.json", Framing::Document),
    ("gemini/cli.json", Framing::Document),
    ("gemini/parallel.json", Framing::Document),
    ("anthropic/parallel.jsonl", Framing::Records),
    ("responses/parallel.jsonl", Framing::Records),
    ("bedrock/parallel.json", Framing::Document),
    ("langchain/copies.json", Framing::Document),
    ("openai/bfcl.jsonl", Framing::Records),
    ("openai/hermes.json", Framing::Document),
    ("openai/custom.jsonl", Framing::Records),
    ("openai/grouped.jsonl", Framing::Records),
    ("openai/template.jsonl", Framing::Records),
    ("openai/written.jsonl", Framing::Records),
    ("sharegpt/written.jsonl", Framing::Records),
    ("openai/legacy.jsonl", Framing::Records),
    ("openai/parallel.jsonl", Framing::Records),
    ("openai/preferences.jsonl", Framing::Records),
    ("openai/swe-agent.json", Framing::Document),
    ("openai/tau2.jsonl", Framing::Records),
    ("openai/verifiers.jsonl", Framing::Records),
    ("atif/embedded.json", Framing::Document),
    ("atif/in-flight.jsonl", Framing::Records),
    ("atif/loose.jsonl", Framing::Records),
    ("atif/media.jsonl", Framing::Records),
    ("atif/minimal.jsonl", Framing::Records),
    ("atif/observations.jsonl", Framing::Records),
    ("atif/parallel.json", Framing::Document),
    ("atif/pending.jsonl", Framing::Records),
    ("atif/unknown.jsonl", Framing::Records),
    ("inspect/log.json", Framing::Document),
    ("inspect/parallel.jsonl", Framing::Records),
    ("opencode/compacted.json", Framing::Document),
    ("opencode/full.json", Framing::Document),
    ("opencode/parallel.json", Framing::Document),
    ("opencode/reverted.json", Framing::Document),
    ("opencode/unknown.json", Framing::Document),
    ("opencode/version2.json", Framing::Document),
    ("opencode/version2-records.json", Framing::Document),
    ("gemini-interactions/reply.jsonl", Framing::Records),
    ("gemini-interactions/request.json", Framing::Document),
    ("gemini-interactions/stateful.jsonl", Framing::Records),
    ("gemini-interactions/unknown.jsonl", Framing::Records),
    ("goose/compacted.json", Framing::Document),
    ("goose/full.json", Framing::Document),
    ("kiro/stored.json", Framing::Document),
    ("pydantic-ai/hosted.json", Framing::Document),
    ("pydantic-ai/parallel.json", Framing::Document),
    ("pydantic-ai/retries.json", Framing::Document),
    ("otel/parallel.json", Framing::Document),
    ("otel/span.jsonl", Framing::Records),
    ("openhands/version0-history.jsonl", Framing::Records),
    ("openhands/version0-pairs.jsonl", Framing::Records),
    ("openhands/version0.json", Framing::Document),
    ("sharegpt/alpaca.jsonl", Framing::Records),
    ("sharegpt/blocks.json", Framing::Document),
    ("sharegpt/calls.jsonl", Framing::Records),
    ("sharegpt/in-flight.jsonl", Framing::Records),
    ("sharegpt/labels.jsonl", Framing::Records),
    ("sharegpt/minimal.jsonl", Framing::Records),
    ("sharegpt/parallel.jsonl", Framing::Records),
    ("sharegpt/pending.jsonl", Framing::Records),
    ("sharegpt/preferences.jsonl", Framing::Records),
    ("sharegpt/unknown.jsonl", Framing::Records),
    ("sharegpt/xml.jsonl", Framing::Records),
    ("vscode-copilot/chat.json", Framing::Document),
    ("vscode-copilot/rounds.json", Framing::Document),
    ("vscode-copilot/patches.jsonl", Framing::Records),
    ("zed/thread.json", Framing::Document),
    ("simple/authors.json", Framing::Document),
    ("gemini/adk-compaction.json", Framing::Document),
    ("anthropic/roo-condensed.json", Framing::Document),
    ("anthropic/roo-truncated.json", Framing::Document),
    ("ai-sdk/roo.json", Framing::Document),
    ("simple/trajectory.jsonl", Framing::Records),
    ("a2a/task.json", Framing::Records),
    ("ag-ui/input.json", Framing::Records),
    ("agent-framework/messages.json", Framing::Document),
    ("agno/session.json", Framing::Records),
    ("ai-studio/prompt.json", Framing::Records),
    ("autogen-agentchat/result.json", Framing::Records),
    ("autogen-core/state.json", Framing::Records),
    ("batch-output/output.jsonl", Framing::Records),
    ("claude-ai/conversations.json", Framing::Document),
    ("cohere/chat.jsonl", Framing::Records),
    ("continue/session.json", Framing::Records),
    ("harmony/conversation.json", Framing::Records),
    ("haystack/chat.json", Framing::Document),
    ("haystack/in-flight.json", Framing::Document),
    ("haystack/pydantic.json", Framing::Records),
    ("haystack/state.json", Framing::Records),
    ("haystack/version-2.0.json", Framing::Document),
    ("langchain4j/messages.json", Framing::Document),
    ("letta-messages/list.json", Framing::Document),
    ("letta-messages/parallel.json", Framing::Document),
    ("letta/agent.json", Framing::Document),
    ("letta/parallel.json", Framing::Document),
    ("librechat/flat.json", Framing::Records),
    ("llama-index/both.json", Framing::Document),
    ("llama-index/chat.json", Framing::Document),
    ("llama-index/store.json", Framing::Document),
    ("llama-index/version-0.11.json", Framing::Document),
    ("llama/rows.jsonl", Framing::Records),
    ("lm-studio/chat.json", Framing::Records),
    ("lm-studio/regenerated.json", Framing::Records),
    ("mastra/messages.json", Framing::Document),
    ("mcp-sampling/params.json", Framing::Records),
    ("mcp-sampling/request.jsonl", Framing::Records),
    ("microsoft-extensions-ai/messages.json", Framing::Document),
    ("microsoft-extensions-ai/pascal-case.json", Framing::Document),
    ("nextchat/backup.json", Framing::Document),
    ("ollama/request.json", Framing::Records),
    ("openai-conversations/items.json", Framing::Records),
    ("openai-threads/messages.json", Framing::Records),
    ("openai/chatbot-ui.json", Framing::Document),
    ("qwen-agent/rows.jsonl", Framing::Records),
    ("semantic-kernel-dotnet/history.json", Framing::Document),
    ("semantic-kernel/history.json", Framing::Records),
    ("smolagents-chat/messages.json", Framing::Document),
    ("smolagents/failed.json", Framing::Document),
    ("smolagents/steps.json", Framing::Document),
    ("spring-ai/messages.json", Framing::Document),
];

#[test]
fn every_fixture_is_told() {
    for file in fixtures() {
        let folder = file.name.split('/').next().unwrap_or_default().to_owned();
        let reported = read_transcripts(&file.text, |dialect, _| assert_eq!(dialect.name(), folder, "{}", file.name));
        let framing = reported.unwrap_or_else(|error| panic!("{}: {}", file.name, error.what));
        let expected =
            FRAMINGS.iter().find(|(name, _)| *name == file.name).map_or(Framing::Lines, |(_, framing)| *framing);
        assert_eq!(framing, expected, "{}", file.name);
    }
}

#[test]
fn every_framing_named_is_of_a_fixture() {
    let fixtures = fixtures();
    for (name, _) in FRAMINGS {
        assert!(fixtures.iter().any(|file| file.name == *name), "there is no {name}");
    }
}

#[test]
fn what_nobody_claims_or_two_claim_is_an_error_that_shows_it() {
    let table = [
        (r#"{"when":1,"what":"x"}"#, "its keys are `when`, `what`"),
        ("17", "it is not an object"),
        (
            "{\"from\":\"human\",\"value\":\"a\"}\n{\"role\":\"user\",\"content\":[{\"toolUse\":{}}]}",
            "this message (line 2) is written as `bedrock`, one before it (line 1) as `sharegpt`",
        ),
        (r#"{"type":"user","message":{"deep":1}}"#, "its keys are `type`, `message`"),
    ];
    for (text, words) in table {
        let error = read_transcripts(text, |_, _| {}).expect_err(text);
        assert_eq!(error.offset, text.find('\n').map_or(0, |line| line + 1), "{text}");
        assert!(error.what.contains(words) && error.what.contains("--dialect"), "{text}: {}", error.what);
    }
}

/// Columns of a table that are empty hide no others, a list in a message is none of messages, and whoever speaks may speak of the
/// marks of templates.
#[test]
fn what_looks_like_something_else_is_read() {
    let chat = r#"[{"from":"human","value":"Is it raining?"},{"from":"gpt","value":"It is."}]"#;
    let table = [
        format!(r#"{{"messages":[],"conversations":{chat}}}"#),
        format!(r#"{{"history":[],"steps":{chat}}}"#),
        format!(r#"{{"input":[],"items":[],"trajectory":{chat}}}"#),
        String::from(
            "{\"from\":\"human\",\"text\":\"What is <|im_start|>?\"}\n{\"from\":\"gpt\",\"text\":\"A marker.\"}\n",
        ),
        String::from(
            "{\"role\":\"user\",\"content\":\"Hi\",\"steps\":[]}\n{\"role\":\"assistant\",\"content\":\"Yes.\",\"events\":[{\"name\":\"x\"}]}\n",
        ),
        String::from(r#"{"conversations":[["system","Be brief."],{"from":"human","value":"Is it?"}]}"#),
        String::from(
            r#"[{"speaker":"human","text":"What does [INST] mean?"},{"speaker":"gpt","text":"An instruction."}]"#,
        ),
        String::from(
            r#"[{"role":"user","content":[{"note":1,"text":"Hi"}]},{"role":"assistant","content":[{"text":"Yes."}]}]"#,
        ),
    ];
    for text in table {
        let mut spoken = 0;
        let read = read_transcripts(&text, |_, transcript| {
            let messages = transcript.messages.iter();
            spoken += messages.filter(|message| message.parts.iter().any(|part| part.content.has_text())).count();
        });
        assert_eq!((read.map_err(|error| error.what).map(drop), spoken), (Ok(()), 2), "{text}");
    }
}

/// Items that only one form writes so, and similar ones of other forms.
#[test]
fn forms_that_look_alike_are_told_apart() {
    let table = [
        ("otel", r#"{"role":"user","parts":[{"type":"text","content":"Hi"}]}"#),
        ("ai-sdk", r#"{"role":"user","parts":[{"type":"text","text":"Hi"}]}"#),
        ("otel", r#"{"role":"assistant","parts":[{"type":"tool_call","id":"c","name":"look","arguments":{}}]}"#),
        (
            "ai-sdk",
            r#"{"role":"assistant","parts":[{"type":"tool-look","toolCallId":"c","state":"input-available","input":{}}]}"#,
        ),
        ("otel", r#"{"role":"tool","parts":[{"type":"tool_call_response","id":"c","response":{"a":1}}]}"#),
        ("gemini", r#"{"role":"user","parts":[{"text":"Hi"}]}"#),
        ("inspect", r#"{"role":"assistant","content":"","tool_calls":[{"id":"c","function":"look","arguments":{}}]}"#),
        (
            "openai",
            r#"{"role":"assistant","content":"","tool_calls":[{"id":"c","function":{"name":"look","arguments":"{}"}}]}"#,
        ),
        ("inspect", r#"{"role":"tool","tool_call_id":"c","function":"look","content":"seen"}"#),
        ("openai", r#"{"role":"tool","tool_call_id":"c","content":"seen"}"#),
        ("openai", r#"{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]}]}"#),
        ("anthropic", r#"{"role":"assistant","content":[{"type":"thinking","thinking":"Hm."}]}"#),
        (
            "inspect",
            r#"{"role":"user","content":[{"type":"image","image":"data:,","detail":"auto"}],"source":"input"}"#,
        ),
        ("ai-sdk", r#"{"role":"user","content":[{"type":"image","image":"data:,"}]}"#),
        ("atif", r#"{"step_id":1,"source":"user","message":"Hi"}"#),
        ("simple", r#"{"source":"user","message":"Hi"}"#),
        ("openhands", r#"{"id":1,"source":"user","message":"Hi","action":"message","args":{"content":"Hi"}}"#),
        ("openhands", r#"{"id":"p","source":"environment","kind":"PauseEvent"}"#),
        ("pi", r#"{"type":"session","harness":"loom","id":"s"}"#),
        ("pi", r#"{"type":"message","message":{"role":"tool","toolCallId":"c","content":"seen"}}"#),
        (
            "pi",
            concat!(
                r#"{"type":"session","id":"s","cwd":"/loom"}"#,
                "\n",
                r#"{"type":"message","id":"a","parentId":"s","message":{"role":"assistant","content":[{"type":"thinking","thinking":"Hm."}]}}"#
            ),
        ),
    ];
    for (dialect, item) in table {
        let mut reported = String::new();
        let reading = read_transcripts(&format!("{item}\n"), |found, _| reported = found.name().to_owned());
        reading.unwrap_or_else(|error| panic!("{item}: {}", error.what));
        assert_eq!(reported, dialect, "{item}");
    }
}

/// A member that only one format has tells more than the role.
#[test]
fn calls_beside_a_list_of_thoughts_decide_the_dialect() {
    let calls = r#"[{"id":"abcdefghi","function":{"name":"look","arguments":"{}"}}]"#;
    let thought = r#"[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]}]"#;
    let chat = format!(r#"{{"messages":[{{"role":"assistant","content":{thought},"tool_calls":{calls}}}]}}"#);
    read_transcripts(&chat, |dialect, transcript| {
        assert_eq!(mark(dialect, transcript).as_deref(), Some("`tool_calls` in item 1"));
    })
    .expect("it is read");
}

/// An object that is none of its lines is no metadata of a log.
#[test]
fn no_dialect_takes_every_object_for_metadata() {
    let document = Document::parse(r#"{"nobody": "says this"}"#).unwrap();
    let item = document.roots().next().unwrap();
    let knowing = ALL.iter().filter(|dialect| matches!(dialect.read(item), Item::Metadata | Item::Pinned));
    assert_eq!(knowing.map(|dialect| dialect.name()).collect::<Vec<_>>(), Vec::<&str>::new());
}

/// JSON can write every letter as an escape: it is the same format.
#[test]
fn escapes_change_no_dialect() {
    let dialect = |text: &str| {
        let mut found = Vec::new();
        read_transcripts(text, |dialect, _| found.push(dialect.name())).map(|_| found).ok()
    };
    let differs = |file: &File| dialect(&escaped(&file.text)) != dialect(&file.text);
    let failed: Vec<String> = fixtures().into_iter().filter(differs).map(|file| file.name).collect();
    assert!(failed.is_empty(), "{failed:?}");
}

/// JSON with the first letter of every key and text as an escape.
fn escaped(json: &str) -> String {
    let mut escaped = String::new();
    let mut in_text = false;
    let mut characters = json.chars().peekable();
    while let Some(character) = characters.next() {
        escaped.push(character);
        if in_text && character == '\\' {
            escaped.extend(characters.next());
        } else if character == '"' {
            in_text = !in_text;
            if let Some(first) = characters.next_if(|first| in_text && first.is_ascii_alphabetic()) {
                escaped.push_str(&format!("\\u{:04x}", u32::from(first)));
            }
        }
    }
    escaped
}

/// A server lists items newest first unless it is asked otherwise, and they have no time.
#[test]
fn items_that_are_listed_newest_first_are_refused() {
    const USER: &str = r#"{"type":"message","id":"m1","role":"user","content":[{"type":"input_text","text":"Lit?"}]}"#;
    const CALL: &str = r#"{"type":"function_call","call_id":"c1","name":"look","arguments":"{}"}"#;
    const RESULT: &str = r#"{"type":"function_call_output","call_id":"c1","output":"lit"}"#;
    const REPLY: &str =
        r#"{"type":"message","id":"m2","role":"assistant","content":[{"type":"output_text","text":"It is."}]}"#;
    const THOUGHT: &str = r#"{"type":"reasoning","id":"r1","summary":[{"type":"summary_text","text":"A lamp."}]}"#;
    for (items, is_refused) in [
        (&[USER, CALL, RESULT, REPLY][..], false),
        (&[REPLY, RESULT, CALL, USER], true),
        (&[RESULT, CALL], true),
        (&[USER, REPLY], false),
        (&[REPLY, USER], false),
        (&[REPLY, USER, CALL, RESULT, REPLY, USER], false),
        (&[RESULT, REPLY, USER, REPLY], false),
        (&[REPLY], false),
        (&[USER, THOUGHT, REPLY, USER], false),
        (&[REPLY, THOUGHT, USER], true),
        (&[REPLY, THOUGHT, USER, REPLY, THOUGHT, USER], true),
        // A reply that ended early, after one that did not.
        (&[USER, THOUGHT, REPLY, THOUGHT, USER], false),
        (&[THOUGHT, REPLY, THOUGHT, USER], false),
        (&[USER, REPLY, USER, REPLY, THOUGHT, USER, REPLY], false),
    ] {
        let list = format!(
            r#"{{"object":"list","data":[{}],"first_id":"a","last_id":"b","has_more":false}}"#,
            items.join(",")
        );
        let error = read_transcripts(&list, |_, _| {}).err().map(|error| error.what);
        assert_eq!(error.as_ref().is_some_and(|what| what.contains("newest first")), is_refused, "{list}: {error:?}");
        assert!(error.is_none_or(|what| what.ends_with("jq -c '.data |= reverse'")), "{list}");
    }
}
