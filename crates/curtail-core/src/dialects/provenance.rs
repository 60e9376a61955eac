//! What the items of a transcript say beside their messages: by which model and when they were written, and what the provider
//! counted.

use super::Dialect;
use crate::calendar::date_of;
use crate::json::{Text, Value};
use crate::transcript::{Layout, SlotKind, Usage};

/// The model of every message of a transcript, by its index: the model that the message names, or the nearest item before
/// it, or the record around it, or else the first item after it. `None` if nothing names a model.
#[must_use]
pub fn models<'a>(dialect: &dyn Dialect, layout: &Layout<'a>) -> Vec<Option<Text<'a>>> {
    let mut models: Vec<Option<Text<'a>>> = Vec::new();
    let mut current = record_model(dialect, layout);
    for (slot, element) in layout.slotted_elements() {
        current = dialect.model(element).or(current);
        if let SlotKind::Message(_) = slot.kind {
            models.push(current.clone());
        }
    }
    let first = models.iter().find_map(Clone::clone).or(current);
    for model in models.iter_mut().take_while(|model| model.is_none()) {
        model.clone_from(&first);
    }
    models
}

/// The model that the record around the items of a transcript names.
#[must_use]
pub fn record_model<'a>(dialect: &dyn Dialect, layout: &Layout<'a>) -> Option<Text<'a>> {
    layout.elements.first().and_then(|first| around(dialect, *first))
}

/// The model that a value around `element` names, nearest first.
fn around<'a>(dialect: &dyn Dialect, element: Value<'a>) -> Option<Text<'a>> {
    let parents = std::iter::successors(element.parent(), |value| value.parent());
    parents.filter(|parent| parent.is_object()).find_map(|parent| dialect.model(parent))
}

// Times: under the usual keys, as ISO 8601.

/// The time of an item under one of the usual keys: ISO 8601, or seconds or milliseconds since 1970.
pub(super) fn time(item: Value<'_>) -> Option<String> {
    const NAMES: &[&str] = &["timestamp", "ts", "createdAt", "created_at", "time", "date"];
    NAMES.iter().filter_map(|name| item.get(name)).find_map(written_time)
}

/// A time that is written as ISO 8601 or as a number.
pub(super) fn written_time(value: Value<'_>) -> Option<String> {
    match value.text() {
        Some(text) => {
            let mut text = text.into_decoded().into_owned();
            // As databases and Python write it.
            if text.as_bytes().get(10) == Some(&b' ') {
                text.replace_range(10..11, "T");
            }
            Some(text).filter(|text| is_iso_8601(text))
        }
        None => since_1970(value.raw()).map(iso_8601),
    }
}

/// Milliseconds since 1970 of a number: seconds, or milliseconds if it is too large for seconds. Numbers outside 1973–5138 are
/// not timestamps.
fn since_1970(number: &str) -> Option<u64> {
    let number: f64 = number.parse().ok()?;
    let milliseconds = match number {
        1e8..1e11 => number * 1000.0,
        1e11..1e14 => number,
        _ => return None,
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, and far below 2^52")]
    let whole = milliseconds.round() as u64;
    Some(whole)
}

/// Whether a text begins with a date and a time, such as `2024-05-01T12:30`. Each digit is at most the one of the shape.
fn is_iso_8601(text: &str) -> bool {
    const SHAPE: &[u8] = b"9999-19-39T29:59";
    let mut pairs = text.as_bytes().iter().zip(SHAPE);
    text.len() >= SHAPE.len()
        && pairs.all(|(found, most)| found == most || most.is_ascii_digit() && (b'0'..=*most).contains(found))
}

/// The time `milliseconds` after 1970 in ISO 8601, such as `1970-01-01T00:00:01.234Z`.
#[must_use]
pub fn iso_8601(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    let milliseconds = milliseconds % 1000;
    let days = seconds / 86_400;
    let clock = seconds % 86_400;
    let (year, month, day) = date_of(days);
    let hour = clock / 3600;
    let minute = clock / 60 % 60;
    let second = clock % 60;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")
}

// The provider's usage of a reply, in the fields that several formats share.

/// The usage in the fields of OpenAI's chat completions, which `LiteLLM` writes for every provider. The input includes
/// cached tokens.
pub(super) fn chat_usage(usage: Value<'_>) -> Option<Usage> {
    let read = usage.some("prompt_tokens_details").map_or(0, |details| details.number("cached_tokens"));
    let [input, write, output] =
        ["prompt_tokens", "cache_creation_input_tokens", "completion_tokens"].map(|key| usage.number(key));
    counted(input, [read, write], output)
}

/// The `usageMetadata` of Gemini's API, in camel case or snake case.
pub(super) fn gemini_usage(usage: Value<'_>) -> Option<Usage> {
    let thoughts = either(usage, "thoughtsTokenCount", "thoughts_token_count");
    let output = either(usage, "candidatesTokenCount", "candidates_token_count") + thoughts;
    let read = either(usage, "cachedContentTokenCount", "cached_content_token_count");
    counted(either(usage, "promptTokenCount", "prompt_token_count"), [read, 0], output)
}

fn either(usage: Value<'_>, camel: &str, snake: &str) -> u64 {
    usage.number(camel).max(usage.number(snake))
}

/// The `usage_metadata` of `LangChain`. The input includes cached tokens.
pub(super) fn langchain_usage(usage: Value<'_>) -> Option<Usage> {
    let details = usage.some("input_token_details");
    let cached = ["cache_read", "cache_creation"].map(|key| details.map_or(0, |details| details.number(key)));
    counted(usage.number("input_tokens"), cached, usage.number("output_tokens"))
}

/// The usage of `inspect_ai`. Whether the input includes cached tokens depends on the provider and the version; the total
/// tells.
pub(super) fn inspect_usage(usage: Value<'_>) -> Option<Usage> {
    let input = usage.number("input_tokens");
    let output = usage.number("output_tokens");
    let cached = ["input_tokens_cache_read", "input_tokens_cache_write"].map(|key| usage.number(key));
    let apart = input + cached.iter().sum::<u64>();
    let is_apart = apart + output <= usage.number("total_tokens");
    counted(if is_apart { apart } else { input }, cached, output)
}

/// The usage of a reply whose input includes what was read from and written to the cache; `None` without an input.
pub(super) fn counted(input: u64, [cache_read, cache_write]: [u64; 2], output: u64) -> Option<Usage> {
    (input > 0).then(|| Usage { input, cache_read, cache_write, output, ..Usage::default() })
}

#[cfg(test)]
mod tests {
    use super::{chat_usage, gemini_usage, inspect_usage, iso_8601, langchain_usage, time};
    use crate::json::{Document, Value};
    use crate::transcript::Usage;

    #[test]
    fn an_item_has_its_time_as_text_or_as_a_number() {
        for (item, expected) in [
            (r#"{"timestamp": "2026-01-01T00:00:00Z"}"#, Some("2026-01-01T00:00:00Z")),
            (r#"{"time": 1785613801102}"#, Some("2026-08-01T19:50:01.102Z")),
            (r#"{"timestamp": "yesterday", "ts": 1780680349.4410355}"#, Some("2026-06-05T17:25:49.441Z")),
            (r#"{"time": 12.5}"#, None),
            (r#"{"created_at": "2026-01-01 10:00:00"}"#, Some("2026-01-01T10:00:00")),
            (r#"{"date": "2026-01-01"}"#, None),
            (r#"{"date": "2026-01-01T24:61"}"#, None),
        ] {
            let document = Document::parse_all(item).unwrap();
            assert_eq!(document.roots().next().and_then(time).as_deref(), expected, "{item}");
        }
    }

    #[test]
    fn times_are_iso_8601() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_735_689_599, "2024-12-31T23:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(iso_8601(seconds * 1000), expected);
        }
        assert_eq!(iso_8601(1_234), "1970-01-01T00:00:01.234Z");
    }

    fn read(json: &str, usage_in: fn(Value<'_>) -> Option<Usage>) -> Option<[u64; 4]> {
        let document = Document::parse_all(json).unwrap();
        let usage = document.roots().next().and_then(usage_in)?;
        Some([usage.input, usage.cache_read, usage.cache_write, usage.output])
    }

    #[test]
    fn the_input_includes_what_was_cached() {
        let details =
            r#"{"prompt_tokens": 90, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 64}}"#;
        assert_eq!(read(details, chat_usage), Some([90, 64, 0, 5]));
        let api = r#"{"promptTokenCount": 90, "cachedContentTokenCount": 64, "candidatesTokenCount": 5, "thoughtsTokenCount": 2}"#;
        assert_eq!(read(api, gemini_usage), Some([90, 64, 0, 7]));
        assert_eq!(
            read(r#"{"prompt_token_count": 32, "candidates_token_count": 13}"#, gemini_usage),
            Some([32, 0, 0, 13])
        );
        let split = r#"{"input_tokens": 90, "output_tokens": 5, "input_token_details": {"cache_read": 64, "cache_creation": 8}}"#;
        assert_eq!(read(split, langchain_usage), Some([90, 64, 8, 5]));
    }

    #[test]
    fn the_total_tells_whether_cached_tokens_are_apart() {
        let within = r#"{"input_tokens": 90, "output_tokens": 5, "total_tokens": 95, "input_tokens_cache_read": 64}"#;
        assert_eq!(read(within, inspect_usage), Some([90, 64, 0, 5]));
        let apart = r#"{"input_tokens": 18, "output_tokens": 5, "total_tokens": 95, "input_tokens_cache_read": 64,
            "input_tokens_cache_write": 8}"#;
        assert_eq!(read(apart, inspect_usage), Some([90, 64, 8, 5]));
    }

    #[test]
    fn figures_without_an_input_are_none() {
        assert_eq!(read("{}", chat_usage), None);
        assert_eq!(read(r#"{"input_tokens": 0}"#, langchain_usage), None);
    }
}
