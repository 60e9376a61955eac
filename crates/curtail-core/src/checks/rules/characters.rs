//! Characters that a provider cannot read.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use memchr::memmem;

use super::RULE;
use crate::checks::{Detector, Fix, Match, Rule, RuleContext};
use crate::dialects::Patch;
use crate::json::{Span, Value};
use crate::transcript::{Message, Part};

pub(super) static LONE_SURROGATE: Rule = Rule {
    code: "S023",
    name: "lone-surrogate",
    summary: "A text contains half of a character.",
    why: "JSON writes a character such as an emoji as two escapes (`\\ud83e\\udd80`). A program that cuts a text between the \
          two leaves one that means nothing by itself. Many parsers accept it, and those of providers reject the whole \
          request: the message is sent again with every further request, so the session stays broken. \
          The messages that a model reads are searched, and the instructions and tools beside them. Other keys of a record, \
          such as `metadata`, are not, nor is what a program only logs.",
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
    // A message of a request is sent with all of its keys; of one in a log, only what its parts were read of.
    let is_request = context.is_request();
    let beside = BESIDE.into_iter().filter_map(|key| context.record?.get(key)).map(|value| (None, value, vec![value]));
    let messages = context.read_messages().filter_map(|(at, message)| {
        let item = message.value()?;
        Some((Some(at), item, if is_request { vec![item] } else { elements(message) }))
    });
    let found = beside.chain(messages).filter_map(|(message_index, item, sent)| {
        let halves = halves_in(sent);
        let string = string_at(item, halves.first()?.start);
        let message = String::from("the text contains half of a character");
        let found = Match { message_index, ..Match::new(Some(string), message) };
        let copies = message_index.map_or_else(Vec::new, |at| copies(&context.messages[at]));
        let halves: BTreeSet<Span> = halves.into_iter().chain(halves_in(copies)).collect();
        Some(found.writing(halves.into_iter().map(|span| Patch { span, text: String::from("\\ufffd") })))
    });
    found.collect()
}

/// Where requests have instructions and tools, beside the messages. Other keys may be a dataset's own and never sent.
const BESIDE: [&str; 6] = ["system", "instructions", "systemInstruction", "system_instruction", "tools", "toolConfig"];

/// The values that the parts of a message were read of.
fn elements<'a>(message: &Message<'a>) -> Vec<Value<'a>> {
    message.parts.iter().filter_map(Part::place).map(|place| place.element).collect()
}

/// What repeats parts of a message. A program may send it in place of them.
fn copies<'a>(message: &Message<'a>) -> Vec<Value<'a>> {
    message.parts.iter().filter_map(Part::place).flat_map(|place| place.copies.iter().copied()).collect()
}

/// Where the halves of characters in some values are, in order.
fn halves_in(mut values: Vec<Value<'_>>) -> Vec<Span> {
    // Several parts may be of one value, and a value is after the one that it is in.
    values.sort_by_key(|value| (value.span().start, Reverse(value.span().end)));
    let mut read = 0;
    values.retain(|value| {
        let is_outer = value.span().end > read;
        read = read.max(value.span().end);
        is_outer
    });
    let halves = values.into_iter().flat_map(|value| {
        let start = value.span().start;
        lone_halves(value.raw()).into_iter().map(move |half| start + u32::try_from(half).unwrap_or_default())
    });
    halves.map(|half| Span::new(half, half + ESCAPE)).collect()
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
