//! Members of objects by their key, with a default where a member is missing or has another type, and the texts in them.

use std::borrow::Cow;

use super::is_media;
use crate::json::{Text, Value, ValueKind};
use crate::steps;

impl<'a> Value<'a> {
    /// The characters of the string under `key`; none if there is no string.
    pub(in crate::dialects) fn word(self, key: &str) -> Cow<'a, str> {
        self.get_text(key).map(Text::into_decoded).unwrap_or_default()
    }

    /// The string under `key`, as a text; an empty one if there is none.
    pub(in crate::dialects) fn text_or_empty(self, key: &str) -> Text<'a> {
        self.get_text(key).unwrap_or(Text::Escaped(""))
    }

    /// The string under `key`, unless it is empty.
    pub(in crate::dialects) fn some_text(self, key: &str) -> Option<Text<'a>> {
        self.get_text(key).filter(|text| text.len_bound() > 0)
    }

    /// Whether the member `key` is the string `word`.
    pub(crate) fn member_is(self, key: &str, word: &str) -> bool {
        self.get(key).is_some_and(|member| member.is(word))
    }

    /// Whether the member `key` is `true`.
    pub(in crate::dialects) fn is_true(self, key: &str) -> bool {
        self.get(key).is_some_and(|flag| flag.raw() == "true")
    }

    /// The integer under `key`, which some programs write as `1200.0`; 0 if it is missing or has another type.
    pub(in crate::dialects) fn number(self, key: &str) -> u64 {
        let Some(raw) = self.get(key).map(Value::raw) else { return 0 };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the nearest integer below")]
        raw.parse().or_else(|_| raw.parse().map(|number: f64| number as u64)).unwrap_or(0)
    }

    /// The values of the list under `key`, in order; none if there is no list.
    pub(in crate::dialects) fn items_under(self, key: &str) -> impl Iterator<Item = Value<'a>> {
        self.get(key).into_iter().flat_map(Value::items)
    }
}

/// The numbers in `holder`, at any depth, without those under the keys `besides`.
pub(in crate::dialects) fn numbers<'a>(holder: Value<'a>, besides: &[&str]) -> Vec<Value<'a>> {
    let mut numbers = Vec::new();
    let mut open = vec![holder];
    while let Some(value) = open.pop() {
        steps::count(1);
        if value.kind() == ValueKind::Number {
            numbers.push(value);
        }
        let members = value.members().filter(|member| !besides.iter().any(|key| member.key.is(key)));
        open.extend(value.items().chain(members.map(|member| member.value)));
    }
    numbers
}

/// The texts as one, a line break between each two; a single one as it stands.
pub(in crate::dialects) fn joined<'a>(texts: impl IntoIterator<Item = Text<'a>>) -> Text<'a> {
    let mut texts: Vec<Text<'a>> = texts.into_iter().collect();
    if texts.len() < 2 {
        return texts.pop().unwrap_or(Text::Escaped(""));
    }
    let decoded: Vec<Cow<'a, str>> = texts.into_iter().map(Text::into_decoded).collect();
    Text::Owned(decoded.join("\n"))
}

/// The text of a string or of a list of `{"text": …}` blocks. Any other value is read as its JSON.
pub(in crate::dialects) fn texts(value: Option<Value<'_>>) -> Vec<Text<'_>> {
    let Some(value) = value else { return Vec::new() };
    if let Some(text) = value.text() {
        return vec![text];
    }
    if value.is_array() {
        return value.items().filter_map(block_text).collect();
    }
    match value.raw() {
        "null" => Vec::new(),
        raw => vec![Text::Json(raw)],
    }
}

/// The text of a block in a list: its `text`, or its JSON unless it is media.
pub(in crate::dialects) fn block_text(block: Value<'_>) -> Option<Text<'_>> {
    if let Some(text) = block.text().or_else(|| block.get_text("text")) {
        return Some(text);
    }
    (!is_media(block)).then(|| Text::Json(block.raw()))
}

/// The record whose list `items` are, if they are in one.
pub(in crate::dialects) fn record_of<'a>(items: &[Value<'a>]) -> Option<Value<'a>> {
    items.first()?.parent()?.parent()
}

/// The member with the key `camel` or `snake`; `null` is the same as missing.
pub(in crate::dialects) fn either<'a>(value: Value<'a>, camel: &str, snake: &str) -> Option<Value<'a>> {
    value.some(camel).or_else(|| value.some(snake))
}

/// The model under `model` of an item or of its `message`. A name in angle brackets belongs to a program and is ignored.
pub(in crate::dialects) fn model(item: Value<'_>) -> Option<Text<'_>> {
    let named = item.some_text("model").or_else(|| item.get("message")?.some_text("model"));
    named.filter(|name| !name.decode().starts_with('<'))
}

/// The arguments of a call: the text of a string, or the JSON of any other value.
pub(in crate::dialects) fn arguments(value: Option<Value<'_>>) -> Text<'_> {
    value.map_or(Text::Escaped(""), |value| value.text().unwrap_or(Text::Json(value.raw())))
}

/// The values under `keys` of a record, as text.
pub(in crate::dialects) fn preamble<'a>(record: Value<'a>, keys: &[&str]) -> Vec<Text<'a>> {
    keys.iter().flat_map(|key| texts(record.some(key))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    #[test]
    fn whole_numbers_are_integers_however_they_are_written() {
        let document = Document::parse(r#"{"a": 1200, "b": 1200.0, "c": 1.2e3, "d": "1200", "e": null}"#).unwrap();
        let usage = document.roots().next().unwrap();
        assert_eq!(["a", "b", "c", "d", "e", "f"].map(|key| usage.number(key)), [1200, 1200, 1200, 0, 0, 0]);
    }

    #[test]
    fn an_empty_model_names_none() {
        let document = Document::parse(r#"{"model": "", "message": {"model": "gpt-5"}}"#).unwrap();
        let named = model(document.roots().next().unwrap());
        assert!(named.is_some_and(|name| name.is("gpt-5")));
    }
}
