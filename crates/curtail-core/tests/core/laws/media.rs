//! The laws on transcripts with images, in messages and in results, of the wires whose images are known.

use std::collections::HashSet;

use curtail_core::dialects::Framing;
use curtail_core::json::Span;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{Keep, MediaLimits, WindowUnit};
use curtail_core::transcript::{Content, Message, Part};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::cases::{CASES, history, persist};
use super::check::{Stage, check_laws, check_stages, cut_with, reading};
use super::generated::{frame, framings};
use crate::dialects::files::{below, fixtures, read_transcripts, real_data};
use crate::properties::{drawn, tried};
use crate::serializers::{SERIALIZERS, Serializer, Turn, broken_script};

/// How a wire writes an image of these bytes in base64, and a text.
type Wire = (&'static str, fn(&str) -> Value, fn(&str) -> Value);

const WIRES: &[Wire] = &[
    ("anthropic", anthropic, text),
    ("claude-code", anthropic, text),
    ("droid", anthropic, text),
    (
        "openai",
        |data| json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{data}")}}),
        text,
    ),
    (
        "responses",
        |data| json!({"type": "input_image", "image_url": format!("data:image/png;base64,{data}")}),
        |text| json!({"type": "input_text", "text": text}),
    ),
    (
        "codex",
        |data| json!({"type": "input_image", "image_url": format!("data:image/png;base64,{data}")}),
        |text| json!({"type": "input_text", "text": text}),
    ),
    ("gemini", |data| json!({"inlineData": {"mimeType": "image/png", "data": data}}), |text| json!({"text": text})),
    ("bedrock", |data| json!({"image": {"format": "png", "source": {"bytes": data}}}), |text| json!({"text": text})),
    ("goose", |data| json!({"type": "image", "data": data, "mimeType": "image/png"}), text),
    ("pi", |data| json!({"type": "image", "data": data, "mimeType": "image/png"}), text),
];

fn anthropic(data: &str) -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// The base64 of the head of an image, with some data behind it: another one for each `seed`.
fn image(seed: u64) -> String {
    let side = ["AAAAyAAAAGQ", "AAAjKAAAAlg"][(seed % 2) as usize];
    let rest = usize::try_from(seed / 2 % 90).unwrap_or_default() * 4;
    format!("iVBORw0KGgoAAAANSUhEUg{side}{}", "A".repeat(7 + rest))
}

/// Adds images to the contents of user messages and results.
fn illustrate(value: &mut Value, wire: Wire, seed: &mut u64) {
    let takes_image = match value.get("role").or_else(|| value.get("type")).and_then(Value::as_str) {
        Some("user" | "tool_result" | "function_call_output" | "toolResult") => true,
        Some("message" | "function_response" | "tool") => false,
        _ => value.get("toolUseId").is_some() && value.get("content").is_some(),
    };
    let list = ["content", "parts", "output"]
        .into_iter()
        .find(|key| value.get(key).is_some_and(|held| held.is_array() || held.is_string()));
    if let Some(Value::Object(members)) = Some(&mut *value) {
        members.values_mut().for_each(|member| illustrate(member, wire, seed));
    } else if let Value::Array(items) = value {
        items.iter_mut().for_each(|item| illustrate(item, wire, seed));
    }
    let Some(content) = list.filter(|_| takes_image).and_then(|list| value.get_mut(list)) else { return };
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let drawn = *seed >> 33;
    if drawn.is_multiple_of(3) {
        return;
    }
    if let Value::String(text) = content {
        *content = json!([(wire.2)(text)]);
    }
    if let Value::Array(items) = content {
        let at = usize::try_from(drawn >> 8).unwrap_or_default() % (items.len() + 1);
        items.insert(at, (wire.1)(&image(drawn)));
    }
}

fn illustrated() -> impl Strategy<Value = (Serializer, Wire)> {
    let known = |serializer: &&Serializer| WIRES.iter().any(|wire| wire.0 == serializer.0);
    let serializers: Vec<(Serializer, Wire)> = SERIALIZERS
        .iter()
        .filter(known)
        .filter_map(|serializer| Some((*serializer, *WIRES.iter().find(|wire| wire.0 == serializer.0)?)))
        .collect();
    prop::sample::select(serializers)
}

fn with_images(items: &[String], wire: Wire, mut seed: u64) -> Vec<String> {
    let draw = |item: &String| {
        let mut value: Value = serde_json::from_str(item).expect("items are JSON");
        illustrate(&mut value, wire, &mut seed);
        value.to_string()
    };
    items.iter().map(draw).collect()
}

fn limits() -> impl Strategy<Value = MediaLimits> {
    let (few, bytes, pixels) =
        (prop::option::of(0..4_usize), prop::option::of(0..300_u64), prop::option::of(0..10_000_usize));
    (few, bytes, pixels).prop_map(|(keep_last, max_bytes, max_pixels)| MediaLimits { keep_last, max_bytes, max_pixels })
}

/// The generator writes images that each wire's dialect reads.
#[test]
fn every_wire_carries_images() {
    let script = vec![Turn::User(String::from("Look.")); 8];
    for serializer in SERIALIZERS {
        let Some(wire) = WIRES.iter().find(|wire| wire.0 == serializer.0) else { continue };
        let text = frame(&with_images(&(serializer.1)(&script), *wire, 1), Framing::Lines, 1);
        let none = MediaLimits { keep_last: Some(0), ..MediaLimits::default() };
        let bare = cut_with(Chain::default().then(none), Some(serializer.0), Framing::Lines, &text).expect("it is cut");
        assert!(text.contains("iVBORw0KGgo") && bare.contains("removed]"), "{}: {text}", serializer.0);
    }
}

/// Media go by their age, whatever the text in their place weighs and wherever the JSON has spaces.
#[test]
fn media_that_are_only_named_are_removed_as_well() {
    let named = [
        r#"{"type":"image_url","image_url":{"url":"https://example.com/1.png"}}"#,
        r#"{"type":"file","file":{"file_id":"f1"}}"#,
        r#"{"type": "image_url", "image_url": {"url": "https://example.com/2.png"}}"#,
    ];
    let text = named.map(|part| format!("{{\"role\":\"user\",\"content\":[{part}]}}\n")).concat();
    let last = MediaLimits { keep_last: Some(1), ..MediaLimits::default() };
    let out = cut_with(Chain::default().then(last), Some("openai"), Framing::Lines, &text).expect("it is cut");
    let left = named.map(|part| out.contains(part));
    assert_eq!((left, out.matches("removed]").count()), ([false, false, true], 2), "{out}");
}

/// What `--strip` drops takes no text with it.
#[test]
fn no_text_is_in_the_bytes_of_what_is_stripped() {
    let of_data = real_data().into_iter().flat_map(|folder| below(&folder));
    for file in fixtures().into_iter().chain(of_data) {
        let read = read_transcripts(&file.text, |_, transcript| {
            for message in &transcript.messages {
                assert_eq!(lost_text(message), None, "{}", file.name);
            }
        });
        // What cannot be read is left to other tests.
        drop(read);
    }
}

/// A text of a message in the bytes of a part that is no text, and that `--strip` drops.
fn lost_text(message: &Message<'_>) -> Option<String> {
    let whole = |part: &Part<'_>| part.place().filter(|place| place.piece.is_none()).map(|place| place.element.span());
    let is_stripped =
        |part: &&Part<'_>| matches!(part.content, Content::Media(_) | Content::Reasoning(_) | Content::Unknown(_));
    let stripped: HashSet<Span> = message.parts.iter().filter(is_stripped).filter_map(whole).collect();
    let texts = message.parts.iter().filter(|part| part.content.text().is_some_and(|text| !text.is_blank()));
    let lost = texts.into_iter().find(|part| whole(part).is_some_and(|span| stripped.contains(&span)));
    lost.and_then(|part| part.content.text()).map(|text| text.decode().into_owned())
}

/// The number of conversations in a text: the main one, and those of sub-agents.
fn conversations(dialect: &str, framing: Framing, text: &str) -> usize {
    let reading = reading(Some(dialect), framing);
    let document = reading.parse(text).expect("what we write is JSON");
    let transcripts = reading.transcripts_or_none(&document).expect("it is read");
    let threads = transcripts.iter().map(|(_, transcript)| {
        let threads: HashSet<u32> = transcript.messages.iter().map(|message| message.thread).collect();
        threads.len()
    });
    threads.sum()
}

proptest! {
    #![proptest_config(crate::properties::property(32))]

    #[test]
    fn media_keep_the_laws(script in broken_script(), drawn_wire in illustrated(), framing in framings(), seed in any::<u64>(), drawn in drawn()) {
        let (serializer, wire) = drawn_wire;
        let text = frame(&with_images(&(serializer.1)(&script), wire, seed), framing, seed);
        for case in tried(CASES, drawn) {
            check_laws(case, Some(serializer.0), framing, &text)?;
        }
        let stages: [Stage; 4] = [
            Box::new(|| persist("bash")),
            Box::new(|| Chain::default().then(MediaLimits { keep_last: Some(2), ..MediaLimits::default() })),
            Box::new(|| Chain::default().then(history(6, WindowUnit::Items, Keep::default()))),
            Box::new(|| Chain::default().then(MediaLimits { max_pixels: Some(2_000), ..MediaLimits::default() })),
        ];
        check_stages(&stages, Some(serializer.0), framing, &text)?;
    }

    /// Without any image left, no data of one is; what is not above the limits stays.
    #[test]
    fn only_media_above_a_limit_are_removed(script in broken_script(), drawn_wire in illustrated(), framing in framings(), seed in any::<u64>(), limits in limits()) {
        let (serializer, wire) = drawn_wire;
        let text = frame(&with_images(&(serializer.1)(&script), wire, seed), framing, seed);
        let none = MediaLimits { keep_last: Some(0), ..MediaLimits::default() };
        let bare = cut_with(Chain::default().then(none), Some(serializer.0), framing, &text)?;
        let images = |text: &str| text.matches("iVBORw0KGgo").count();
        prop_assert_eq!(images(&bare), 0, "in  {}\nout {}", text, bare);
        let out = cut_with(Chain::default().then(limits.clone()), Some(serializer.0), framing, &text)?;
        // Each conversation has newest images of its own.
        let most = limits.keep_last.unwrap_or(usize::MAX).saturating_mul(conversations(serializer.0, framing, &text));
        prop_assert!(images(&out) <= most);
        prop_assert_eq!(images(&out) + out.matches("removed]").count(), images(&text), "in  {}\nout {}", text, out);
        if limits.max_pixels.is_some_and(|most| most < 9_000) {
            prop_assert!(!out.contains("AAAjKAAAAlg"));
        }
    }
}
