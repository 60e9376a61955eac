//! How models and chat templates spell calls in a text.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::dialects::blocks;
use crate::json::{Document, Text, Value};
use crate::transcript::ToolCall;

/// What a call in a text begins with. The text before the first of these is no call.
const OPENINGS: &[&str] = &[
    "<tool_call>", "<function_call>", "<functioncall>", "<tool_use>", "<tools>", "<tool_code>", "<function=",
    "<invoke name=", "<|tool_call|>", "<|tool_call_start|>", "<|python_tag|>", "[TOOL_CALLS]", "```tool_call",
    "```tool_code",
];

/// What several calls begin with that are in one pair of tags.
const WRAPPERS: &[&str] =
    &["<tool_calls>", "<function_calls>", "<|tool_calls_section_begin|>", "<｜tool▁calls▁begin｜>"];

/// To make a [`Finder`] takes longer than to search most texts.
type Finders = LazyLock<Vec<Finder<'static>>>;

static OPENING: Finders = LazyLock::new(|| finders(OPENINGS.iter().copied()));
static WRAPPER: Finders = LazyLock::new(|| finders(WRAPPERS.iter().copied()));
/// What is before a name, in the order of [`NAMES`].
static BEFORE_NAME: Finders = LazyLock::new(|| finders(NAMES.iter().map(|[open, _]| *open)));
static FENCE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("```"));
static ACTION: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("Action: "));
static NAME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("name"));

fn finders(words: impl Iterator<Item = &'static str>) -> Vec<Finder<'static>> {
    words.map(Finder::new).collect()
}

/// What each call in such a pair begins with.
const UNITS: &[&str] =
    &["<tool_call>", "<function_call>", "<invoke name=", "<|tool_call_begin|>", "<｜tool▁call▁begin｜>"];

/// What the name of a tool follows where a call is not JSON, and what ends it.
const NAMES: &[[&str; 2]] = &[
    ["<function=", ">"],
    ["<invoke name=\"", "\""],
    ["<｜tool▁sep｜>", "\n"],
    ["functions.", ":"],
    ["Action: ", "\n"],
    ["<name>", "</name>"],
    ["<tool_name>", "</tool_name>"],
    ["<|tool_call|>", "{"],
    ["[TOOL_CALLS]", "["],
    ["[TOOL_CALLS]", "{"],
];

/// The members of an object that name a tool, its arguments and the call.
const TOOL: &[&str] = &["name", "tool_name", "tool", "function_name", "function", "action", "recipient_name"];
const ARGUMENTS: &[&str] = &["arguments", "parameters", "args", "input", "tool_input", "action_input", "kwargs"];
const IDS: &[&str] = &["id", "tool_call_id", "call_id"];

/// The calls in a text, which is the inside of a JSON string.
pub(super) struct Calls {
    /// Where the first call begins.
    pub(super) start: usize,
    /// What is cut together, in order: the first at `start`, each up to the next one, the last up to the end.
    pub(super) written: Vec<Written>,
}

/// Bytes of a text, and the calls in them.
pub(super) struct Written {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) calls: Vec<ToolCall<'static>>,
}

impl Calls {
    /// All of `raw` as one call of no known syntax.
    pub(super) fn whole(raw: &str) -> Self {
        let call = named(&Text::Escaped(raw).decode());
        Self { start: 0, written: vec![Written { start: 0, end: raw.len(), calls: vec![call] }] }
    }

    /// The calls of `raw` that begin at these places.
    fn at(raw: &str, mut starts: Vec<usize>) -> Self {
        if let Some(first) = starts.first_mut().filter(|first| Text::Escaped(&raw[..**first]).is_blank()) {
            *first = 0;
        }
        let ends = starts.iter().skip(1).copied().chain([raw.len()]);
        let written = starts.iter().copied().zip(ends).map(|(start, end)| {
            let calls = calls_of(&Text::Escaped(&raw[start..end]).decode());
            Written { start, end, calls }
        });
        Self { start: starts.first().copied().unwrap_or(0), written: written.collect() }
    }
}

/// The calls in the inside of a JSON string; `None` if it has none of a known syntax.
pub(super) fn calls(raw: &str) -> Option<Calls> {
    let first = |openings: &'static Finders| {
        let found = openings.iter().filter_map(|opening| Some((find(raw, opening, 0)?, opening)));
        found.min_by_key(|(at, opening)| (*at, opening.needle()))
    };
    let wrapper = first(&WRAPPER);
    let is_outer = |at: usize| wrapper.is_none_or(|(wrapper, _)| at < wrapper);
    if let Some((start, opening)) = first(&OPENING).filter(|(at, _)| is_outer(*at)) {
        let next = |at: &usize| find(raw, opening, at + opening.needle().len());
        return Some(Calls::at(raw, std::iter::successors(Some(start), next).collect()));
    }
    wrapper.map(|(start, _)| start).or_else(|| start_of_structure(raw)).map(|start| Calls::at(raw, vec![start]))
}

/// Where calls begin in a text that has no tag: as JSON, in a fence or not, in brackets, or after `Action:`.
fn start_of_structure(raw: &str) -> Option<usize> {
    let said = Text::Escaped(raw);
    let text = said.decode();
    let text = text.trim();
    let is_structure = |text: &str| !json_calls(text).is_empty() || python_calls(text).is_some();
    if text.starts_with(['{', '[']) && is_structure(text) {
        return Some(0);
    }
    if let Some(fence) = find(raw, &FENCE, 0).filter(|at| !json_calls(&Text::Escaped(&raw[*at..]).decode()).is_empty())
    {
        return Some(fence);
    }
    let action = ACTION.find_iter(raw.as_bytes()).find(|at| !begins_in_escape(raw, *at));
    action.filter(|at| raw[*at..].contains("Action Input:"))
}

/// Where `opening` is in the inside of a JSON string, from `from` on.
fn find(raw: &str, opening: &Finder<'_>, from: usize) -> Option<usize> {
    opening.find(raw.get(from..)?.as_bytes()).map(|at| from + at)
}

/// Whether a word at `at` begins with the last digits of an escape. Of all that calls begin with, only `Action` begins with
/// digits: with two.
fn begins_in_escape(raw: &str, at: usize) -> bool {
    [4, 5].into_iter().filter_map(|back| raw.get(..at.checked_sub(back)?)).any(|before| {
        let backslashes = before.bytes().rev().take_while(|byte| *byte == b'\\').count();
        raw[before.len()..].starts_with("\\u") && backslashes.is_multiple_of(2)
    })
}

/// The calls in a text, which is cut as one; at least one.
fn calls_of(text: &str) -> Vec<ToolCall<'static>> {
    let calls = json_calls(text);
    if !calls.is_empty() {
        return calls;
    }
    if let Some(calls) = python_calls(text) {
        return calls;
    }
    let units = UNITS.iter().map(|unit| text.matches(unit).count()).max().unwrap_or(0);
    if let Some(unit) = UNITS.iter().find(|unit| units > 1 && text.matches(**unit).count() == units) {
        return text.split(unit).skip(1).map(|inside| one_of(&[unit, inside].concat())).collect();
    }
    vec![named(text)]
}

/// The only call in a text.
fn one_of(text: &str) -> ToolCall<'static> {
    json_calls(text).into_iter().next().unwrap_or_else(|| named(text))
}

/// The calls in the JSON of a text: an object, or a list of objects.
fn json_calls(text: &str) -> Vec<ToolCall<'static>> {
    /// The brackets at which the JSON can begin: the first can be a part of a tag, as in `[TOOL_CALLS] [{…}]`, and the second of
    /// another one, as in `[TOOL_CALLS]name[ARGS]{…}`.
    const BRACKETS: usize = 3;
    let starts = text.match_indices(['{', '[']).map(|(at, _)| at).take(BRACKETS);
    let end = text.rfind(['}', ']']).map_or(text.len(), |end| end + 1);
    starts
        .filter(|start| *start < end)
        .map(|start| parsed_calls(&text[start..end]))
        .find(|calls| !calls.is_empty())
        .unwrap_or_default()
}

fn parsed_calls(json: &str) -> Vec<ToolCall<'static>> {
    let Ok(document) = Document::parse(json) else { return Vec::new() };
    let Some(root) = document.roots().next() else { return Vec::new() };
    let alone = root.is_object().then_some(root);
    let calls: Option<Vec<_>> = root.items().chain(alone).map(call_in).collect();
    calls.unwrap_or_default()
}

fn call_in(value: Value<'_>) -> Option<ToolCall<'static>> {
    let owned = |text: Text<'_>| Text::Owned(text.into_decoded().into_owned());
    let inner = value.get("function").filter(|inner| inner.is_object()).unwrap_or(value);
    let name = TOOL.iter().find_map(|key| inner.get_text(key)).filter(|name| name.len_bound() > 0)?;
    let arguments = ARGUMENTS.iter().find_map(|key| inner.get(key));
    let has_arguments = arguments.is_some() || inner.members().count() == 1;
    let id = IDS.iter().find_map(|key| value.get_text(key)).map(owned);
    has_arguments.then(|| ToolCall::new(id, owned(name), owned(blocks::arguments(arguments))))
}

/// `[first(a=1), second(b=2)]`, as a list in brackets alone or after a tag.
fn python_calls(text: &str) -> Option<Vec<ToolCall<'static>>> {
    const AFTER: &[&str] = &["<|python_tag|>", "<|tool_call_start|>", "<tool_code>", "```tool_code", "<tool_call>"];
    const UNTIL: &[&str] = &["<|tool_call_end|>", "</tool_code>", "```", "</tool_call>"];
    let text = text.trim();
    let tag = AFTER.iter().find_map(|tag| text.strip_prefix(tag));
    let text = tag.unwrap_or(text).trim();
    let text = UNTIL.iter().find_map(|tag| text.strip_suffix(tag)).unwrap_or(text).trim();
    let list = text.strip_prefix('[').and_then(|inside| inside.strip_suffix(']'));
    let mut rest = list.or(tag.map(|_| text))?.trim();
    let mut calls = Vec::new();
    while !rest.is_empty() {
        let open = rest.find('(')?;
        let name = rest[..open].trim();
        let is_name = |c: char| !"()[]{}\"'=,:\n".contains(c);
        if name.is_empty() || !name.chars().all(is_name) {
            return None;
        }
        let close = open + end_of_arguments(&rest[open..])?;
        let arguments = rest[open + 1..close].to_owned();
        calls.push(ToolCall::new(None, Text::Owned(name.to_owned()), Text::Owned(arguments)));
        rest = rest[close + 1..].trim_start().trim_start_matches([',', ';']).trim_start();
    }
    (!calls.is_empty()).then_some(calls)
}

/// Where the bracket closes that a text begins with; brackets in quotes do not count.
fn end_of_arguments(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// A call of another syntax: the name after one of the usual words, or a quoted `name`, and the text.
fn named(text: &str) -> ToolCall<'static> {
    let after = |(open, [_, close]): (&Finder<'_>, &[&str; 2])| {
        let rest = &text[open.find(text.as_bytes())? + open.needle().len()..];
        let name = rest.split(close).next().unwrap_or_default();
        Some(name.trim().trim_matches('"')).filter(|name| is_name(name))
    };
    let name = BEFORE_NAME.iter().zip(NAMES).find_map(after).or_else(|| quoted(text, &NAME)).unwrap_or_default();
    ToolCall::new(None, Text::Owned(name.to_owned()), Text::Owned(text.to_owned()))
}

fn is_name(name: &str) -> bool {
    /// Longer than any name that providers accept: 64 to 128 characters, and few are that long.
    const LONGEST: usize = 100;
    (1..=LONGEST).contains(&name.len()) && name.chars().all(|c| c.is_alphanumeric() || "_-. /:".contains(c))
}

/// The string under `key` in an object that is JSON or a literal of Python.
pub(super) fn quoted<'t>(text: &'t str, key: &Finder<'_>) -> Option<&'t str> {
    let bytes = text.as_bytes();
    let in_quotes = |quote: u8| {
        let ends =
            key.find_iter(bytes).filter(|at| *at > 0 && bytes[at - 1] == quote).map(|at| at + key.needle().len());
        ends.into_iter().find(|end| bytes.get(*end) == Some(&quote))
    };
    let end = in_quotes(b'"').or_else(|| in_quotes(b'\''))?;
    let value = text[end + 1..].trim_start().strip_prefix(':')?.trim_start();
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    value[1..].split(quote).next()
}

#[cfg(test)]
mod tests {
    use super::calls;
    use crate::json::quote;

    fn names(text: &str) -> Vec<String> {
        let json = quote(text);
        let found = calls(&json[1..json.len() - 1]);
        let calls = found.into_iter().flat_map(|found| found.written).flat_map(|written| written.calls);
        calls.map(|call| call.name.decode().into_owned()).collect()
    }

    #[test]
    fn calls_are_found_in_every_syntax() {
        for (text, expected) in [
            ("<tool_call>\n{\"name\": \"moor\", \"arguments\": {\"name\": \"Ada\"}}\n</tool_call>", &["moor"][..]),
            ("I look.\n<tool_call>{'arguments': {}, 'name': 'moor'}</tool_call>", &["moor"]),
            (
                "<tool_call>{\"name\":\"moor\"}</tool_call>\n<tool_call>{\"name\":\"sail\",\"args\":{}}</tool_call>",
                &["moor", "sail"],
            ),
            ("<tool_call>\n<function=moor>\n<parameter=at>\n3\n</parameter>\n</function>\n</tool_call>", &["moor"]),
            ("<tools>{\"name\": \"moor\", \"parameters\": {}}</tools>", &["moor"]),
            ("[moor(at=3, note=\"a) b\"), Set Sail(to='Oslo')]", &["moor", "Set Sail"]),
            ("<|python_tag|>moor.call(query=\"tides\")", &["moor.call"]),
            ("<|python_tag|>{\"name\": \"moor\", \"parameters\": {\"at\": 3}}", &["moor"]),
            ("{\"name\": \"moor\", \"parameters\": {\"at\": 3}}", &["moor"]),
            (
                "[TOOL_CALLS] [{\"name\": \"moor\", \"arguments\": {}}, {\"name\": \"sail\", \"arguments\": {}}]",
                &["moor", "sail"],
            ),
            ("[TOOL_CALLS]moor[ARGS]{\"at\": 3}", &["moor"]),
            (
                "<function_calls>\n<invoke name=\"moor\">\n</invoke>\n<invoke name=\"sail\">\n</invoke>\n</function_calls>",
                &["moor", "sail"],
            ),
            ("Thought: I must.\nAction: moor\nAction Input: 3", &["moor"]),
            ("In C:\\usr<tool_call>{\"name\": \"moor\"}</tool_call>", &["moor"]),
            ("In C:\\usrAction: moor\nAction Input: 3", &["moor"]),
            ("I look.\n```json\n{\"action\": \"moor\", \"action_input\": \"3\"}\n```", &["moor"]),
            ("Calling tools:\n[{'id': 'c1', 'type': 'function', 'function': {'name': 'moor', 'arguments': 'x'}}]", &[]),
            ("At [3] (maybe).", &[]),
            ("{\"sky\": \"grey\"}", &[]),
        ] {
            assert_eq!(names(text), expected, "{text}");
        }
    }

    /// A letter may be written as an escape whose last digits are the beginning of a word.
    #[test]
    fn no_call_begins_inside_an_escape() {
        for (raw, expected) in [
            (r"\\u00Action: moor\nAction Input: 3", Some(5)),
            (r"\\\u00Action: moor\nAction Input: 3", None),
            (r"\u00Action: moor\nAction Input: 3", None),
            (r"\u000Action: moor\nAction Input: 3", None),
            (r"\u0000Action: moor\nAction Input: 3", Some(6)),
        ] {
            assert_eq!(calls(raw).map(|found| found.start), expected, "{raw}");
        }
    }
}
