//! Where calls begin in a text that a model wrote, by the words before them. What they say is in `syntaxes.rs`.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::python::python_calls;
use super::syntaxes::{calls_at_head, calls_of, is_quoted, json_calls, starts_of};
use crate::json::{Text, written_offsets};
use crate::transcript::ToolCall;

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

/// The calls in the inside of a JSON string; `None` if it has none of a known syntax.
pub(super) fn calls(raw: &str) -> Option<Calls> {
    let text = Text::Escaped(raw).into_decoded();
    Some(Calls::at(raw, &text, starts(&text)?))
}

impl Calls {
    /// All of `raw` as calls of no known syntax.
    pub(super) fn whole(raw: &str) -> Self {
        let calls = calls_of(&Text::Escaped(raw).decode());
        Self { start: 0, written: vec![Written { start: 0, end: raw.len(), calls }] }
    }

    /// The calls of `raw` that begin at these places of `text`, which is `raw` decoded.
    fn at(raw: &str, text: &str, mut starts: Vec<usize>) -> Self {
        if let Some(first) = starts.first_mut().filter(|first| text[..**first].trim().is_empty()) {
            *first = 0;
        }
        let places = written_offsets(raw, &starts);
        let mut written = Vec::with_capacity(starts.len());
        for (nth, (&from, &start)) in starts.iter().zip(&places).enumerate() {
            let until = starts.get(nth + 1).copied().unwrap_or(text.len());
            let end = places.get(nth + 1).copied().unwrap_or(raw.len());
            written.push(Written { start, end, calls: calls_of(&text[from..until]) });
        }
        Self { start: places.first().copied().unwrap_or(0), written }
    }
}

/// What a call in a text begins with, besides [`TAG`]. The text before the first of these is no call.
const OPENINGS: &[&str] = &[
    "<function_call>", "<functioncall>", "<tool_use>", "<tools>", "<tool_code>", "<function=", "<invoke name=",
    "<|tool_call|>", "<|tool_call_start|>", "<|python_tag|>", "[TOOL_CALLS]", "```tool_call", "```tool_code",
];

/// The tag of a call without what is before it: models put their name there, as in `<minimax:tool_call>` and
/// `<longcat_tool_call>`.
const TAG: &str = "tool_call>";

/// What several calls begin with that are in one pair of tags.
const WRAPPERS: &[&str] =
    &["<tool_calls>", "<function_calls>", "<|tool_calls_section_begin|>", "<｜tool▁calls▁begin｜>"];

/// To make a [`Finder`] takes longer than to search most texts.
type Finders = LazyLock<Vec<(&'static str, Finder<'static>)>>;

static OPENING: Finders = LazyLock::new(|| OPENINGS.iter().map(|word| (*word, Finder::new(word))).collect());
static IN_TAG: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(TAG));
static WRAPPER: Finders = LazyLock::new(|| WRAPPERS.iter().map(|word| (*word, Finder::new(word))).collect());

/// Where the calls begin that are cut apart from each other.
fn starts(text: &str) -> Option<Vec<usize>> {
    if is_structure(text.trim()) {
        return Some(vec![0]);
    }
    let wrapper = first_of(&WRAPPER, text).map(|(at, _)| at);
    let whole = wrapper.into_iter().chain(start_of_action(text)).min();
    let opening = first_of(&OPENING, text).into_iter().chain(first_tag(text)).min();
    match opening.filter(|(at, _)| whole.is_none_or(|whole| *at < whole)) {
        Some((_, opening)) => Some(starts_of(opening, text)),
        None => Some(vec![whole.or_else(|| start_of_json(text))?]),
    }
}

/// Whether a text begins with calls as JSON, or is a list of calls of Python. Tags in it are arguments.
fn is_structure(text: &str) -> bool {
    text.starts_with(['{', '['])
        && (python_calls(text).is_some() || calls_at_head(text).is_some_and(|(_, calls)| !calls.is_empty()))
}

/// Where the only call begins in a text that names its tool and the input of that.
fn start_of_action(text: &str) -> Option<usize> {
    text.find("Action: ").filter(|at| text[*at..].contains("Action Input:"))
}

/// Where calls as JSON begin in a text that has no tag: behind what stands in brackets, or in a fence.
fn start_of_json(text: &str) -> Option<usize> {
    let bare = text.trim_start().starts_with(['{', '[']).then_some(0);
    bare.into_iter().chain(text.find("```")).find(|at| !json_calls(&text[*at..]).is_empty())
}

/// Where the first of some words is in a text, and the word.
fn first_of(words: &Finders, text: &str) -> Option<(usize, &'static str)> {
    let places = words.iter().filter_map(|(word, finder)| {
        let mut found = finder.find_iter(text.as_bytes());
        Some((found.find(|at| !is_quoted(text, *at, word))?, *word))
    });
    places.min()
}

/// Where the first tag of a call is in a text, and the tag with the name of a model in it.
fn first_tag(text: &str) -> Option<(usize, &str)> {
    let mut tags = IN_TAG.find_iter(text.as_bytes()).filter_map(|at| {
        let before = text[..at].trim_end_matches(|c: char| c.is_alphanumeric() || matches!(c, ':' | '_' | '-'));
        let start = before.strip_suffix('<')?.len();
        Some((start, &text[start..at + TAG.len()]))
    });
    tags.find(|(at, tag)| !is_quoted(text, *at, tag))
}

#[cfg(test)]
mod tests {
    use super::{Written, calls};
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
            ("<tool_call>moor\n<arg_key>at</arg_key>\n<arg_value>3</arg_value>\n</tool_call>", &["moor"]),
            ("<longcat_tool_call>moor\n<longcat_arg_key>at</longcat_arg_key>\n</longcat_tool_call>", &["moor"]),
            ("<minimax:tool_call>\n<invoke name=\"moor\">\n</invoke>\n</minimax:tool_call>", &["moor"]),
            ("<tools>{\"name\": \"moor\", \"parameters\": {}}</tools>", &["moor"]),
            ("[moor(at=3, note=\"a) b\"), Set Sail(to='Oslo')]", &["moor", "Set Sail"]),
            ("<|python_tag|>moor.call(query=\"tides\")", &["moor.call"]),
            ("<|python_tag|>{\"name\": \"moor\", \"parameters\": {\"at\": 3}}", &["moor"]),
            ("{\"name\": \"moor\", \"parameters\": {\"at\": 3}}", &["moor"]),
            ("{\"name\": \"moor\", \"parameters\": {}}; {\"name\": \"sail\", \"parameters\": {}}", &["moor", "sail"]),
            (
                "[TOOL_CALLS] [{\"name\": \"moor\", \"arguments\": {}}, {\"name\": \"sail\", \"arguments\": {}}]",
                &["moor", "sail"],
            ),
            ("[TOOL_CALLS]moor[ARGS]{\"at\": 3}", &["moor"]),
            (
                "<function_calls>\n<invoke name=\"moor\">\n</invoke>\n<invoke name=\"sail\">\n</invoke>\n</function_calls>",
                &["moor", "sail"],
            ),
            (
                "<tool_calls><tool_call>{\"name\":\"moor\",\"args\":{}}</tool_call><tool_call>{\"name\":\"sail\",\"args\":{\"to\":</tool_call></tool_calls>",
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

    /// A tool that saves a person gets JSON which looks like a call.
    #[test]
    fn json_in_an_argument_is_no_call() {
        const PERSON: &str = "{\"name\": \"Ada\", \"args\": [1]}";
        for text in [
            "<function=save>\n<parameter=who>\nPERSON\n</parameter>\n</function>",
            "<tool_call>\n<function=save>\n<parameter=who>PERSON</parameter>\n</function>\n</tool_call>",
            "<tool_call>save\n<arg_key>who</arg_key>\n<arg_value>PERSON</arg_value>\n</tool_call>",
            "<invoke name=\"save\">\n<parameter name=\"who\">PERSON</parameter>\n</invoke>",
            "<function_calls><invoke name=\"save\"><parameter name=\"who\">PERSON</parameter></invoke></function_calls>",
            "<tool_use><name>save</name><input>PERSON</input></tool_use>",
            "Action: save\nAction Input: PERSON",
            "Action: save\nAction Input: {\"code\": \"<function=load>\"}",
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.save:0<|tool_call_argument_begin|>PERSON<|tool_call_end|>",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>save\n```json\nPERSON\n```<｜tool▁call▁end｜>",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>save<｜tool▁sep｜>PERSON<｜tool▁call▁end｜>",
            "[TOOL_CALLS]save[ARGS]PERSON",
            "[save(who=PERSON)]",
            "[save(note=\"<function=load>\")]",
            "<tool_call>\n{\"name\": \"save\", \"arguments\": {\"note\": \"<tool_call> and <tool_call>\"}}\n</tool_call>",
            "{\"name\": \"save\", \"arguments\": {\"note\": \"<tool_call> and <function=load>\"}}",
        ] {
            assert_eq!(names(&text.replace("PERSON", PERSON)), ["save"], "{text}");
        }
    }

    #[test]
    fn a_literal_of_python_is_read_as_json_is() {
        for (text, arguments) in [
            ("{'arguments': {'name': 'Ada'}, 'name': 'save'}", "{\"name\":\"Ada\"}"),
            (
                "{'name': 'save', 'arguments': {'say': \"it's\", 'on': True, 'by': None}}",
                "{\"say\":\"it's\",\"on\":true,\"by\":null}",
            ),
            (r#"{'name': 'save', 'arguments': {'say': '"a\'b\xe9\n"'}}"#, r#"{"say":"\"a'b\u00e9\n\""}"#),
        ] {
            let json = quote(&format!("<tool_call>\n{text}\n</tool_call>"));
            let found = calls(&json[1..json.len() - 1]).unwrap();
            let call = &found.written[0].calls[0];
            assert_eq!((&*call.name.decode(), &*call.arguments.decode()), ("save", arguments), "{text}");
        }
    }

    #[test]
    fn a_call_begins_with_its_outermost_tag() {
        for text in [
            "<minimax:tool_call>\n<invoke name=\"moor\">\n</invoke>\n</minimax:tool_call>",
            "<seed:tool_call>\n<function=moor>\n</function>\n</seed:tool_call>",
            "<longcat_tool_call>moor\n</longcat_tool_call>",
            "<tool_call>\n{\"name\": \"moor\", \"arguments\": {}}\n</tool_call>\nThat was a `<tool_call>`.",
        ] {
            for said in ["I look.", "I write `<tool_call>` and \"<function_call>\"."] {
                let json = quote(&format!("{said}{text}"));
                let found = calls(&json[1..json.len() - 1]).unwrap();
                assert_eq!(found.start, quote(said).len() - 2, "{json}");
                let [Written { calls, .. }] = found.written.as_slice() else { panic!("{json}") };
                let [call] = calls.as_slice() else { panic!("{json}") };
                assert_eq!(call.name.decode(), "moor", "{json}");
            }
        }
    }

    #[test]
    fn what_follows_a_call_is_no_part_of_it() {
        for text in [
            "<tool_call>{\"name\": \"moor\", \"arguments\": {\"at\": 3}}</tool_call>\nThen I look at [3].",
            "```json\n{\"name\": \"moor\", \"arguments\": {\"at\": 3}}\n```\nIt may answer {\"name\": \"Oslo\", \"args\": 1}.",
        ] {
            let json = quote(text);
            let found = calls(&json[1..json.len() - 1]).unwrap();
            let [call] = found.written[0].calls.as_slice() else { panic!("{text}") };
            assert_eq!((&*call.name.decode(), &*call.arguments.decode()), ("moor", "{\"at\":3}"), "{text}");
        }
    }

    /// Some writers of JSON escape angle brackets, and a letter may be written as an escape whose last digits are the beginning of
    /// a word.
    #[test]
    fn calls_begin_where_the_text_has_them_whatever_is_escaped() {
        for (raw, expected) in [
            (r"\\u00Action: moor\nAction Input: 3", Some(5)),
            (r"\\\u00Action: moor\nAction Input: 3", None),
            (r"\u000Action: moor\nAction Input: 3", None),
            (r"\u0000Action: moor\nAction Input: 3", Some(6)),
            (r#"\ud83d\ude42 \u003ctool_call\u003e{\"name\": \"moor\"}\u003c/tool_call\u003e"#, Some(13)),
        ] {
            assert_eq!(calls(raw).map(|found| found.start), expected, "{raw}");
        }
    }
}
