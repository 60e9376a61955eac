//! The dialect of every fixture, which its folder names, is detected; the framing stands in the snapshots of `views`.

use curtail_core::dialects::{ALL, Item, mark};
use curtail_core::json::Document;

use super::files::{File, fixtures, read_transcripts};

#[test]
fn every_fixture_is_told() {
    for file in fixtures() {
        let folder = file.name.split('/').next().unwrap_or_default().to_owned();
        let read = read_transcripts(&file.text, |dialect, _| assert_eq!(dialect.name(), folder, "{}", file.name));
        read.unwrap_or_else(|error| panic!("{}: {}", file.name, error.what));
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
