//! Every text is accounted for: what no format defines is counted, and the formats define what their fixtures have.

use std::collections::BTreeMap;

use curtail_core::dialects::Dialect;
use curtail_core::json::Text;
use curtail_core::transcript::{Content, Estimated, Message, Part, PartPlace, Transcript};
use proptest::prelude::*;
use serde_json::Value;

use super::check::reading;
use super::generated::{frame, framings, serializer};
use crate::dialects::files::{below, fixtures, read_transcripts, real_data};
use crate::serializers::sound_script;

/// The texts that are counted of a message.
fn counted(message: &Message<'_>) -> Vec<String> {
    let mut texts: Vec<String> = message.attached.iter().map(|text| text.decode().into_owned()).collect();
    let unread = |texts: &[Estimated<'_>]| -> Vec<String> {
        texts.iter().filter_map(|text| Some(text.value.text()?.decode().into_owned())).collect()
    };
    texts.extend(unread(&message.estimated));
    for part in &message.parts {
        texts.extend(part.place().into_iter().flat_map(|place| unread(place.estimated())));
        texts.extend(content(part));
    }
    texts
}

fn content(part: &Part<'_>) -> Vec<String> {
    let texts: Vec<&Text<'_>> = match &part.content {
        Content::Text(text) | Content::Reasoning(text) | Content::Media(text) | Content::Unknown(text) => vec![text],
        Content::ToolCall(call) => call.texts().collect(),
        Content::ToolResult(result) => result.content.iter().collect(),
        Content::Other => Vec::new(),
    };
    texts.into_iter().map(|text| text.decode().into_owned()).collect()
}

/// Members that plant a text where no format has one: beside the content, in an object, and in a list.
fn plant(item: &mut Value, at: usize, text: &str) -> bool {
    let holders = ["message", "payload", "data", "event"];
    let inner = holders.iter().find(|key| item.get(**key).is_some_and(Value::is_object)).copied();
    let holder = match inner {
        Some(key) => &mut item[key],
        None => item,
    };
    let Some(members) = holder.as_object_mut() else { return false };
    let planted = match at % 3 {
        0 => Value::from(text),
        1 => serde_json::json!({"deeper": {"kind": "beacon", "light": text}}),
        _ => serde_json::json!([1, {"light": text}]),
    };
    members.insert(String::from("lighthouse"), planted);
    true
}

const PLANTED: &str = "a lamp that turns above the harbor and is seen from twenty miles";

proptest! {
    #![proptest_config(crate::properties::property(24))]

    #[test]
    fn what_no_format_defines_is_estimated(script in sound_script(), serializer in serializer(), framing in framings(), seed in any::<u64>(), at in any::<prop::sample::Index>()) {
        let items = (serializer.1)(&script);
        prop_assume!(!items.is_empty());
        let at = at.index(items.len());
        let mut planted: Vec<Value> = items.iter().map(|item| serde_json::from_str(item).expect("JSON")).collect();
        prop_assume!(plant(&mut planted[at], at, PLANTED));
        let items: Vec<String> = planted.iter().map(Value::to_string).collect();
        let text = frame(&items, framing, seed);
        let reading = reading(Some(serializer.0), framing);
        let document = reading.parse(&text).expect("JSON");
        for (_, transcript) in reading.transcripts_or_none(&document).expect("a transcript") {
            let of_item = |message: &&Message<'_>| message.value().is_some_and(|value| value.raw().contains(PLANTED));
            for message in transcript.messages.iter().filter(of_item) {
                let is_counted = counted(message).iter().any(|text| text.contains(PLANTED));
                prop_assert!(is_counted, "{}: {}", serializer.0, message.value().map_or("", |value| value.raw()));
            }
        }
    }
}

/// The members of fixtures that are estimated, by dialect. Their formats define all of them, except those of the fixtures of what
/// is unknown.
fn estimated(dialect: &dyn Dialect, transcript: &Transcript<'_>, found: &mut BTreeMap<(&'static str, String), usize>) {
    let in_parts = transcript.messages.iter().flat_map(|message| &message.parts).filter_map(Part::place);
    let places = in_parts
        .flat_map(PartPlace::estimated)
        .chain(transcript.messages.iter().flat_map(|message| &*message.estimated));
    for text in places.filter(|text| !text.sealed) {
        let pointer = text.value.pointer();
        let name: Vec<&str> = pointer.split('/').filter(|step| step.parse::<usize>().is_err()).collect();
        *found.entry((dialect.name(), name.join("."))).or_default() += text.value.raw().len();
    }
}

#[test]
fn formats_define_the_members_of_their_fixtures() {
    let mut found = BTreeMap::new();
    for file in fixtures().iter().filter(|file| !file.name.contains("unknown")) {
        let _ = read_transcripts(&file.text, |dialect, transcript| estimated(dialect, transcript, &mut found));
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn formats_define_the_members_of_real_transcripts() {
    // What a model read that is no part: outputs inside calls of the provider, results after the first of a call, and what a
    // hook added.
    const RIGHTLY: [(&str, &str); 5] = [
        ("responses", ".output"),
        ("responses", ".outputs.logs"),
        ("responses", ".results.text"),
        ("qwen", ".systemPayload.hookContext"),
        ("kimi", ".event.result.note"),
    ];
    let Some(data) = real_data() else {
        return println!("no real transcripts at hand: CURTAIL_DATA names none");
    };
    let mut found = BTreeMap::new();
    for file in below(&data) {
        let _ = read_transcripts(&file.text, |dialect, transcript| estimated(dialect, transcript, &mut found));
    }
    found.retain(|(dialect, member), _| !RIGHTLY.contains(&(dialect, member)));
    assert!(found.is_empty(), "{found:#?}");
}

/// A key that only ends as those of ids and times do is any word.
#[test]
fn words_with_the_end_of_an_id_have_texts() {
    let said = "I said that the tide turns at nine and that the gate is to be painted before.";
    for key in ["said", "grid", "valid", "kids", "aids", "chat", "format", "runtime", "curl", "footpath", "rehash"] {
        let chat = format!("{{\"role\":\"user\",\"content\":\"hi\",\"{key}\":\"{said}\"}}\n");
        let found = read_transcripts(&chat, |_, transcript| {
            assert_eq!(transcript.messages[0].estimated.len(), 1, "{key}");
        });
        found.expect("it is read");
    }
}

/// The name of a tool is a word, which a text beside its call may have as well.
#[test]
fn a_text_with_the_name_of_a_tool_is_a_text() {
    let said = "I said that the keeper is to look at the lamp before the tide turns at nine.";
    let chat = format!(
        r#"{{"id":"m","role":"assistant","note":"{said}","parts":[{{"type":"tool-look","toolCallId":"c","state":"output-available","input":{{}},"output":"lit"}}]}}"#
    );
    let found = read_transcripts(&format!("{chat}\n"), |_, transcript| {
        assert_eq!(transcript.messages[0].estimated.len(), 1, "{chat}");
    });
    found.expect("it is read");
}

/// An image in a result is counted as an image, and none of its bytes as text.
#[test]
fn an_image_in_a_result_is_no_text() {
    let data = "iVBORw0KGgoAAAANSUhEUgAAABQAAAAUCAIAAAAC64paAAAAKUlEQVR4nGP8z8Dwn4FMwESuxlHNo5pHNQ==";
    let image = format!(r#"{{"inlineData":{{"mimeType":"image/png","data":"{data}"}}}}"#);
    let response = r#"{"functionResponse":{"id":"c","name":"look","response":{"output":"an image"}"#;
    let recorded = |result: String| {
        format!(
            r#"{{"id":"m","timestamp":"2026-01-01T10:00:05Z","type":"gemini","content":"","toolCalls":[{{"id":"c","name":"look","args":{{}},"result":[{result}]}}]}}"#
        )
    };
    for line in [
        recorded(format!(r#"{response},"parts":[{image}]}}}}"#)),
        recorded(format!("{response}}}}},{image}")),
        format!(r#"{{"role":"user","parts":[{response},"parts":[{image}]}}}}]}}"#),
    ] {
        let found = read_transcripts(&format!("{line}\n"), |_, transcript| {
            let message = &transcript.messages[0];
            assert!(message.results().all(|(_, result)| result.media == 1), "{line}");
            assert_eq!(counted(message).iter().filter(|text| text.contains(data)).count(), 0, "{line}");
        });
        found.expect("it is read");
    }
}

/// What a medium without a type stands beside is a text all the same.
#[test]
fn texts_beside_media_are_counted() {
    for found in [
        r#"{"document":{"path":"a.txt"},"text":"Long ago, the lamp of the northern light was lit by hand."}"#,
        r#"{"document":{"uri":"https://a.example/b","content":"Long ago, the lamp of the northern light was lit by hand."}}"#,
        r#"{"inlineData":{"mimeType":"image/png","data":"aGk="},"text":"Long ago, the lamp of the northern light was lit by hand."}"#,
    ] {
        let line = format!("{{\"role\":\"assistant\",\"content\":\"ok\",\"found\":[{found}]}}\n");
        let read = read_transcripts(&line, |_, transcript| {
            assert!(
                counted(&transcript.messages[0])
                    .iter()
                    .any(|text| text.contains("Long ago, the lamp of the northern light was lit by hand.")),
                "{line}"
            );
        });
        read.expect("it is read");
    }
}
