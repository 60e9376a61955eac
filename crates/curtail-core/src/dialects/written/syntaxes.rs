//! What the text of a call says, in the syntaxes of models and chat templates: as JSON, as Python, or with its name after a word.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::python::{literal_as_json, python_calls};
use crate::dialects::blocks;
use crate::json::{Document, Text, Value};
use crate::steps;
use crate::transcript::ToolCall;

/// The calls in a text, which is cut as one; at least one.
pub(super) fn calls_of(text: &str) -> Vec<ToolCall<'static>> {
    if let Some(calls) = python_calls(text) {
        return calls;
    }
    let units = units(text);
    if units.len() > 1 {
        let ends = units.iter().skip(1).copied().chain([text.len()]);
        return units.iter().zip(ends).map(|(start, end)| only_call(&text[*start..end])).collect();
    }
    let calls = json_calls(text);
    if calls.is_empty() { vec![named(text)] } else { calls }
}

/// The only call in a text.
fn only_call(text: &str) -> ToolCall<'static> {
    json_calls(text).into_iter().next().unwrap_or_else(|| named(text))
}

/// What each call begins with where several are in one pair of tags.
const UNITS: &[&str] =
    &["<tool_call>", "<function_call>", "<invoke name=", "<|tool_call_begin|>", "<｜tool▁call▁begin｜>"];

/// Where the calls begin that are in one pair of tags: the word before each stands before whatever JSON they contain.
fn units(text: &str) -> Vec<usize> {
    let before_json = &text[..text.find(BRACKETS).unwrap_or(text.len())];
    let first = UNITS.iter().filter_map(|unit| Some((before_json.find(unit)?, *unit))).min();
    first.map(|(_, unit)| starts_of(unit, text)).unwrap_or_default()
}

/// Where `word` begins in a text, but for the JSON behind it: a tag in that is an argument.
pub(super) fn starts_of(word: &str, text: &str) -> Vec<usize> {
    /// After so many brackets that do not close, no more are read: each is read to the end of the text.
    const MISSES: usize = 16;
    let mut starts = Vec::new();
    let mut misses = 0;
    let mut at = 0;
    while let Some(start) = text[at..].find(word).map(|found| at + found) {
        at = start + word.len();
        if is_quoted(text, start, word) {
            continue;
        }
        starts.push(start);
        let rest = text[at..].trim_start();
        if misses == MISSES || !rest.starts_with(BRACKETS) {
            continue;
        }
        match calls_at_head(rest) {
            Some((length, _)) => at = text.len() - rest.len() + length,
            None => {
                steps::count(rest.len());
                misses += 1;
            }
        }
    }
    starts
}

/// Whether `word` at `start` is between two equal quotes: a sentence names it.
pub(super) fn is_quoted(text: &str, start: usize, word: &str) -> bool {
    let quote = text[..start].chars().next_back().filter(|c| matches!(c, '`' | '"' | '\''));
    quote.is_some_and(|quote| text[start + word.len()..].starts_with(quote))
}

/// What JSON begins with.
const BRACKETS: [char; 2] = ['{', '['];

/// The calls in the JSON of a text: objects and lists of objects that follow each other. JSON behind the name of a tool is an
/// argument of it.
pub(super) fn json_calls(text: &str) -> Vec<ToolCall<'static>> {
    /// How many brackets may begin no call: the first can be a part of a tag, as in `[TOOL_CALLS] [{…}]`, and the second of another
    /// one, as in `[TOOL_CALLS]name[ARGS]{…}`.
    const MISSES: usize = 3;
    let end = name_after_word(text).map_or(text.len(), |(end, _)| end);
    let mut calls = Vec::new();
    let mut misses = 0;
    let mut at = 0;
    while let Some(start) = text[at..].find(BRACKETS).map(|found| at + found).filter(|start| *start < end) {
        let is_next = text[at..start].chars().all(|c| c.is_whitespace() || matches!(c, ',' | ';'));
        if misses == MISSES || !calls.is_empty() && !is_next {
            break;
        }
        match calls_at_head(&text[start..]) {
            Some((length, found)) => {
                misses += usize::from(found.is_empty());
                calls.extend(found);
                at = start + length;
            }
            None => {
                misses += 1;
                at = start + 1;
            }
        }
    }
    calls
}

/// The length of the JSON or the literal of Python that a text begins with, and the calls that it is.
pub(super) fn calls_at_head(text: &str) -> Option<(usize, Vec<ToolCall<'static>>)> {
    if !text.starts_with(BRACKETS) {
        return None;
    }
    if let Ok(document) = Document::parse_first(text) {
        let value = document.roots().next()?;
        return Some((value.span().len(), calls_in(value)));
    }
    let (length, json) = literal_as_json(text)?;
    let document = Document::parse(&json).ok()?;
    Some((length, calls_in(document.roots().next()?)))
}

/// The calls that a value is: an object, or a list of nothing else.
fn calls_in(value: Value<'_>) -> Vec<ToolCall<'static>> {
    let alone = value.is_object().then_some(value);
    let calls: Option<Vec<_>> = value.items().chain(alone).map(call_in).collect();
    calls.unwrap_or_default()
}

/// The members of an object that name a tool, its arguments and the call.
const TOOL: &[&str] = &["name", "tool_name", "tool", "function_name", "function", "action", "recipient_name"];
const ARGUMENTS: &[&str] = &["arguments", "parameters", "args", "input", "tool_input", "action_input", "kwargs"];
const IDS: &[&str] = &["id", "tool_call_id", "call_id"];

fn call_in(value: Value<'_>) -> Option<ToolCall<'static>> {
    let inner = value.get("function").filter(|inner| inner.is_object()).unwrap_or(value);
    let name = TOOL.iter().find_map(|key| inner.get_text(key)).filter(|name| name.len_bound() > 0)?;
    let arguments = ARGUMENTS.iter().find_map(|key| inner.get(key));
    let has_arguments = arguments.is_some() || inner.members().count() == 1;
    let id = IDS.iter().find_map(|key| value.get_text(key)).map(Text::into_static);
    has_arguments.then(|| ToolCall::new(id, name.into_static(), blocks::arguments(arguments).into_static()))
}

/// A call of another syntax: the name after one of the usual words, or a quoted `name`, and the text.
fn named(text: &str) -> ToolCall<'static> {
    let name = name_after_word(text).map(|(_, name)| name).or_else(|| quoted(text, &NAME)).unwrap_or_default();
    ToolCall::new(None, Text::Owned(name.to_owned()), Text::Owned(text.to_owned()))
}

/// What the name of a tool follows where a call is not JSON, and what ends it. Of those that begin at one place, the first counts.
const NAMES: &[[&str; 2]] = &[
    ["<function=", ">"],
    ["<invoke name=\"", "\""],
    ["<｜tool▁call▁begin｜>function<｜tool▁sep｜>", "\n"],
    ["<｜tool▁call▁begin｜>", "<｜tool▁sep｜>"],
    ["functions.", ":"],
    ["Action: ", "\n"],
    ["<name>", "</name>"],
    ["<tool_name>", "</tool_name>"],
    ["tool_call>", "<"],
    ["<|tool_call|>", "{"],
    ["[TOOL_CALLS]", "["],
    ["[TOOL_CALLS]", "{"],
];

/// What is before a name, in the order of [`NAMES`].
static BEFORE_NAME: LazyLock<Vec<Finder<'static>>> =
    LazyLock::new(|| NAMES.iter().map(|[open, _]| Finder::new(open)).collect());

/// The first name of a tool that follows one of the usual words, and where it ends.
fn name_after_word(text: &str) -> Option<(usize, &str)> {
    let named = BEFORE_NAME.iter().zip(NAMES).filter_map(|(open, [_, close])| {
        let place = open.find(text.as_bytes())?;
        let start = place + open.needle().len();
        let written = text[start..].split(close).next()?;
        let name = written.trim().trim_matches('"');
        is_name(name).then_some((place, start + written.len(), name))
    });
    named.min_by_key(|(place, ..)| *place).map(|(_, end, name)| (end, name))
}

fn is_name(name: &str) -> bool {
    /// Longer than any name that providers accept: 64 to 128 characters, and few are that long.
    const LONGEST: usize = 100;
    (1..=LONGEST).contains(&name.len()) && name.chars().all(|c| c.is_alphanumeric() || "_-. /:".contains(c))
}

static NAME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("name"));

/// The string under `key` in an object that is JSON or a literal of Python, however damaged.
pub(super) fn quoted<'t>(text: &'t str, key: &Finder<'_>) -> Option<&'t str> {
    let bytes = text.as_bytes();
    let end = [b'"', b'\''].into_iter().find_map(|quote| {
        let starts = key.find_iter(bytes).filter(|at| *at > 0 && bytes[at - 1] == quote);
        starts.map(|at| at + key.needle().len()).find(|end| bytes.get(*end) == Some(&quote))
    })?;
    let value = text[end + 1..].trim_start().strip_prefix(':')?.trim_start();
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    value[1..].split(quote).next()
}
