//! What is outside the messages of a transcript: instructions and other texts before them, JSON such as the definitions of tools,
//! and replies.

use std::ops::Range;

use curtail_core::json::{Document, Text, Value};
use curtail_core::numbers::counted;
use curtail_core::processors::{Counting, View};
use curtail_core::transcript::{Layout, Message};

/// An empty list or object has fewer bytes, unless it is mostly white space.
const MAX_EMPTY: usize = 100;

/// A text outside the messages.
pub(super) struct OutsideText<'a> {
    pub(super) text: Text<'a>,
    /// Its byte offset in the text that the transcript was read from.
    pub(super) byte: usize,
}

/// What is outside the messages of a transcript.
pub(super) struct Outside<'a> {
    /// The tokens of instructions, tool definitions and replies, and what a request adds to them.
    pub(super) tokens: usize,
    pub(super) preamble: Preamble<'a>,
    /// The texts of a reply.
    pub(super) replies: Vec<OutsideText<'a>>,
}

impl<'a> Outside<'a> {
    pub(super) fn new(layout: &Layout<'a>, messages: &[Message<'a>], counting: &Counting) -> Self {
        Self {
            tokens: counting.outside(&View::of_layout(layout, messages)),
            preamble: Preamble::new(layout.preamble.clone(), layout.source),
            replies: outside_texts(layout.replies.clone(), layout.source),
        }
    }
}

/// What is before the messages. Who wrote it is not known: it can be instructions, tools, or what a person asked.
pub(super) struct Preamble<'a> {
    pub(super) texts: Vec<OutsideText<'a>>,
    pub(super) definitions: Definitions<'a>,
}

/// The tools of a request, of which there can be hundreds.
pub(super) struct Definitions<'a> {
    pub(super) texts: Vec<OutsideText<'a>>,
    /// How many definitions each of `texts` has.
    counts: Vec<usize>,
}

impl<'a> Preamble<'a> {
    /// Those of `texts` that are not empty, which were read from `source`.
    fn new(texts: Vec<Text<'a>>, source: &str) -> Self {
        let (definitions, texts): (Vec<_>, Vec<_>) =
            outside_texts(texts, source).into_iter().partition(|outside| defines_tools(&outside.text));
        Self { texts, definitions: Definitions::new(definitions) }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.definitions.texts.is_empty()
    }
}

impl<'a> Definitions<'a> {
    fn new(texts: Vec<OutsideText<'a>>) -> Self {
        let counts = texts.iter().map(|outside| Defined::in_json(&outside.text.decode()).count).collect();
        Self { texts, counts }
    }

    /// Their number in words.
    pub(super) fn counted(&self) -> String {
        counted(self.counts.iter().sum(), "tool definition")
    }

    /// The number of those after the first `shown` texts in words; `None` if there are none.
    pub(super) fn counted_after(&self, shown: usize) -> Option<String> {
        let rest = self.counts.get(shown..).filter(|rest| !rest.is_empty())?;
        Some(counted(rest.iter().sum(), "more tool definition"))
    }

    /// How many characters they have.
    pub(super) fn characters(&self) -> usize {
        self.texts.iter().map(|outside| outside.text.decode().chars().count()).sum()
    }
}

/// Those of `texts` that are not empty, which were read from `source`.
fn outside_texts<'a>(texts: Vec<Text<'a>>, source: &str) -> Vec<OutsideText<'a>> {
    let texts = texts.into_iter().filter(|text| !is_empty(text));
    texts.map(|text| OutsideText { byte: text.offset_in(source).unwrap_or(0) as usize, text }).collect()
}

/// The bytes of each text outside the messages, in the text that the transcript was read from.
pub(super) fn outside_places(layout: &Layout<'_>) -> impl Iterator<Item = Range<usize>> {
    layout.outside().filter_map(|text| {
        let start = text.offset_in(layout.source)? as usize;
        Some(start..start + text.len_bound())
    })
}

/// Whether a text is blank, or has an empty list or object: datasets write the tools of a row as a string.
fn is_empty(text: &Text<'_>) -> bool {
    text.is_blank() || text.len_bound() < MAX_EMPTY && matches!(&*text.decode(), "{}" | "[]")
}

/// Whether a text defines tools: JSON, or a string with a list of them or with what one takes. Other objects in a string can be what a
/// model is told of itself.
fn defines_tools(text: &Text<'_>) -> bool {
    let json = text.decode();
    let may_define = matches!(text, Text::Json(_))
        || json.trim_start().starts_with('[')
        || ["\"function\"", "\"parameters\"", "\"input_schema\""].iter().any(|key| json.contains(key));
    may_define && Defined::in_json(&json).are_tools
}

/// What is defined in a text.
#[derive(Default)]
struct Defined {
    count: usize,
    /// Whether a tool is known to be, and none of them is a text or other data.
    are_tools: bool,
}

impl Defined {
    fn in_json(text: &str) -> Self {
        if !text.trim_start().starts_with(['[', '{']) {
            return Self::default();
        }
        let Ok(document) = Document::parse(text) else { return Self::default() };
        let values: Vec<Value<'_>> = document.roots().flat_map(definitions).collect();
        let are_tools = values.iter().copied().any(defines_tool) && !values.iter().copied().any(is_data);
        Self { count: values.len(), are_tools }
    }
}

/// The definitions in a value, which may be a list of them.
fn definitions(value: Value<'_>) -> Vec<Value<'_>> {
    let values = if value.is_array() { value.items().collect() } else { vec![value] };
    values.into_iter().flat_map(declared).collect()
}

/// The definitions in one value: Gemini and Bedrock have several in it.
fn declared(value: Value<'_>) -> Vec<Value<'_>> {
    let keys = ["functionDeclarations", "function_declarations", "tools"];
    let list = keys.into_iter().map(|key| items(value, key)).find(|list| !list.is_empty());
    list.unwrap_or_else(|| vec![value])
}

/// The items of the member `key`, if it is a list.
fn items<'a>(value: Value<'a>, key: &str) -> Vec<Value<'a>> {
    value.some(key).into_iter().flat_map(Value::items).collect()
}

/// Whether a value is no tool: no object, or one with a text, such as a block of the instructions.
fn is_data(value: Value<'_>) -> bool {
    !value.is_object() || value.has_any(["text", "content", "value"]) && !defines_tool(value)
}

/// Whether a value declares a function, has the name of a tool and says what that does or takes, or is a tool of a provider: a type
/// without a text, or keys that only turn it on.
fn defines_tool(value: Value<'_>) -> bool {
    let is_named =
        value.get_text("name").is_some() && value.has_any(["description", "parameters", "input_schema", "inputSchema"]);
    let is_typed = value.get_text("type").is_some() && !value.has_any(["text", "content", "value"]);
    let mut members = value.members().peekable();
    let is_switch = members.peek().is_some() && members.all(|member| is_empty(&Text::Json(member.value.raw())));
    is_named || is_typed || is_switch || value.has_any(["function", "toolSpec"])
}

#[cfg(test)]
mod tests {
    use super::{Preamble, Text};

    #[test]
    fn definitions_are_counted_in_every_form() {
        let tool = r#"{"name":"tide","description":"Levels"}"#;
        let gemini = format!(r#"{{"functionDeclarations":[{tool},{tool}]}}"#);
        let bedrock = format!(r#"{{"tools":[{{"toolSpec":{tool}}},{{"cachePoint":{{}}}}],"toolChoice":{{}}}}"#);
        let openai = format!(r#"{{"type":"function","function":{tool}}}"#);
        for (json, words) in [
            (vec![tool, "{}", "[ ]", tool], "2 tool definitions"),
            (vec![&gemini, r#"{"google_search":{}}"#], "3 tool definitions"),
            (vec![r#"{"type":"bash_20250124","name":"bash"}"#, r#"{"type":"web_search"}"#], "2 tool definitions"),
            (vec![&bedrock], "2 tool definitions"),
            (vec![&openai], "1 tool definition"),
            (vec![r#"{"name":"Bob"}"#, "[1,2]", r#"{"description":"Time","value":"noon"}"#], "0 tool definitions"),
        ] {
            let preamble = Preamble::new(json.iter().map(|raw| Text::Json(raw)).collect(), "");
            assert_eq!(preamble.definitions.counted(), words, "{json:?}");
        }
        assert!(Preamble::new(vec![Text::Json("{ }"), Text::Escaped(" "), Text::Escaped("[]")], "").is_empty());
    }

    #[test]
    fn a_mark_beside_instructions_defines_no_tools() {
        for json in [r#"[{"text":"Be brief."},{"cachePoint":{}}]"#, r#"[{"type":"web_search"},1]"#] {
            assert_eq!(Preamble::new(vec![Text::Json(json)], "").texts.len(), 1, "{json}");
        }
    }

    /// Rows to train on have their tools as a string, which can also be what a person asked.
    #[test]
    fn a_string_can_define_tools() {
        let tools = r#"[{\"name\":\"tide\",\"description\":\"Levels\"},{\"name\":\"moon\",\"parameters\":{}}]"#;
        let preamble =
            Preamble::new(vec![Text::Escaped(tools), Text::Escaped("[1, 2]"), Text::Escaped("Sort it.")], "");
        assert_eq!(preamble.definitions.counted(), "2 tool definitions");
        assert_eq!(preamble.texts.len(), 2);
    }
}
