//! Characters that a provider cannot read.

use memchr::memmem;

use super::RULE;
use crate::checks::{Detector, Fix, Match, Rule, RuleContext};
use crate::dialects::Patch;
use crate::json::{Span, Value};
use crate::transcript::Message;

pub(super) static LONE_SURROGATE: Rule = Rule {
    code: "S023",
    name: "lone-surrogate",
    summary: "A text contains half of a character.",
    why: "JSON writes a character such as an emoji as two escapes (`\\ud83e\\udd80`). A program that cuts a text between the \
          two leaves one that means nothing by itself. Many parsers accept it, and those of providers reject the whole \
          request: the message is sent again with every further request, so the session stays broken.",
    help: "remove the half character: `--fix` writes U+FFFD in its place",
    fix: Fix::Part,
    bad: r#"{"role":"user","content":"Is it raining in Oslo? \ud83e"}
{"role":"assistant","content":"It is."}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo? \ud83e\udd80"}
{"role":"assistant","content":"It is."}
"#,
    detector: Detector::Transcript(lone_surrogate),
    ..RULE
};

fn lone_surrogate<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    // Every item is in the same text.
    let first = context.messages.iter().find_map(Message::value);
    if !first.is_some_and(Value::is_beside_surrogates) {
        return Vec::new();
    }
    let items = context.read_messages().filter_map(|(at, message)| Some((at, message.value()?)));
    let found = items.filter_map(|(at, item)| {
        let start = item.span().start;
        let halves = lone_halves(item.raw()).into_iter().map(|half| start + u32::try_from(half).unwrap_or_default());
        let halves: Vec<Span> = halves.map(|half| Span::new(half, half + ESCAPE)).collect();
        let string = string_at(item, halves.first()?.start);
        let message = String::from("the text contains half of a character");
        let found = Match { message_index: Some(at), ..Match::new(Some(string), message) };
        Some(found.writing(halves.into_iter().map(|span| Patch { span, text: String::from("\\ufffd") })))
    });
    found.collect()
}

/// The length of an escape such as `\ud83e`.
const ESCAPE: u32 = 6;

/// Where in the JSON `raw` an escape of a surrogate begins that belongs to no pair.
fn lone_halves(raw: &str) -> Vec<usize> {
    let bytes = raw.as_bytes();
    let mut lone = Vec::new();
    let mut at = 0;
    for escape in memmem::find_iter(bytes, b"\\u") {
        // All surrogates begin so, and few other characters.
        if !matches!(bytes.get(escape + 2), Some(b'd' | b'D')) {
            continue;
        }
        let before = bytes[..escape].iter().rev().take_while(|byte| **byte == b'\\').count();
        // After an odd number of backslashes, this one is what an escape stands for.
        if escape < at || before % 2 == 1 {
            continue;
        }
        let unit = unit_at(raw, escape);
        let is_pair = unit.is_some_and(is_high) && unit_at(raw, escape + 6).is_some_and(is_low);
        at = escape + if is_pair { 12 } else { 2 };
        if !is_pair && unit.is_some_and(|unit| is_high(unit) || is_low(unit)) {
            lone.push(escape);
        }
    }
    lone
}

/// The UTF-16 unit whose escape begins at `at`.
fn unit_at(raw: &str, at: usize) -> Option<u16> {
    let digits = raw.get(at..at + 6)?.strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
}

const fn is_high(unit: u16) -> bool {
    matches!(unit, 0xD800..=0xDBFF)
}

const fn is_low(unit: u16) -> bool {
    matches!(unit, 0xDC00..=0xDFFF)
}

/// The innermost value of `item` around `offset`.
fn string_at(item: Value<'_>, offset: u32) -> Value<'_> {
    let mut inner = item;
    loop {
        let mut values = inner.items().chain(inner.members().map(|member| member.value));
        match values.find(|value| value.span().start <= offset && offset < value.span().end) {
            Some(value) => inner = value,
            None => return inner,
        }
    }
}
