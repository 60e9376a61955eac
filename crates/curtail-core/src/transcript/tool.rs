//! Tool calls and tool results: what a message contains of them.

use super::{Content, Part, Substitution};
use crate::json::{Document, ParseError, Text, Value};

/// A call of a tool.
#[derive(Debug, Clone)]
pub struct ToolCall<'a> {
    /// The id that its result repeats; `None` if the format has none.
    pub id: Option<Text<'a>>,
    /// The tool's name.
    pub name: Text<'a>,
    /// The arguments: JSON, or raw text for some tools.
    pub arguments: Text<'a>,
    /// Which kind of result answers it.
    pub family: Family,
    /// Whether the provider runs the tool, so that the call needs no result from the caller.
    pub hosted: bool,
}

/// Why no tool can take the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentFault {
    /// They are not JSON.
    NotJson(ParseError),
    /// They are JSON, but not an object.
    NotAnObject,
}

impl ToolCall<'_> {
    /// What is wrong with the arguments; `None` if they are valid or empty, or if the tool accepts any text.
    #[must_use]
    pub fn argument_fault(&self) -> Option<ArgumentFault> {
        if self.hosted || !matches!(self.family, Family::Function | Family::Positional) || self.arguments.is_blank() {
            return None;
        }
        if let Text::Json(raw) = &self.arguments {
            return (!raw.starts_with('{') && *raw != "null").then_some(ArgumentFault::NotAnObject);
        }
        match Document::parse(&self.arguments.decode()) {
            Ok(document) if document.roots().all(Value::is_object) => None,
            Ok(_) => Some(ArgumentFault::NotAnObject),
            Err(fault) => Some(ArgumentFault::NotJson(fault)),
        }
    }
}

/// The result of a tool.
#[derive(Debug, Clone)]
pub struct ToolResult<'a> {
    /// The id of the call; `None` if the format has none.
    pub id: Option<Text<'a>>,
    /// The name of the tool, if the format repeats it.
    pub name: Option<Text<'a>>,
    /// The text of the result, one entry per block.
    pub content: Vec<Text<'a>>,
    /// Number of images and files in it.
    pub media: usize,
    /// The family of the call that it answers.
    pub family: Family,
    /// Whether it must be in the same message as its call (a tool that the provider ran).
    pub same_message: bool,
}

/// The kinds of calls, each with a kind of result; formats with one kind use `Function`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// A function of the caller.
    Function,
    /// A function of the caller in a format without ids: results belong to calls by position.
    Positional,
    /// A tool that takes raw text.
    Custom,
    /// A computer that is controlled by mouse and keyboard.
    Computer,
    /// A shell in a container or on the caller's side.
    Shell,
    /// A shell on the caller's side, in its older form.
    LocalShell,
    /// A patch to files.
    ApplyPatch,
    /// A search among tools.
    ToolSearch,
    /// A program that calls tools.
    Program,
    /// Another agent.
    Agent,
    /// A tool that the provider runs.
    Server,
    /// A remote tool that is called through the Model Context Protocol.
    Mcp,
    /// A request for the user's consent.
    Approval,
}

impl Family {
    /// Whether a result of family `result` answers a call of this family. Codex and older histories answer a local shell call
    /// with the result of a function.
    #[must_use]
    pub fn is_answered_by(self, result: Self) -> bool {
        self == result || self == Self::LocalShell && result == Self::Function
    }
}

// What replaces the arguments of a call that is cleared.

/// Members that contain the provider's signature of the call beside them.
pub(super) const SIGNATURES: &[&str] = &["thoughtSignature", "thought_signature", "signature"];

/// An empty object in place of the arguments of a call, wherever its part holds them. `None` if an object is not valid
/// there: the tool takes text, the provider ran the call or signed it, or the format writes no object.
///
/// Anthropic's `clear_tool_inputs` does the same.
#[must_use]
pub fn without_arguments(part: &Part<'_>) -> Option<Vec<Substitution>> {
    let (Content::ToolCall(call), place) = (&part.content, part.place()?) else { return None };
    let is_function = matches!(call.family, Family::Function | Family::Positional) && !call.hosted;
    if !is_function || call.argument_fault().is_some() {
        return None;
    }
    let read = values(place.element).find(|value| holds(*value, call))?;
    if is_signed(read, place.element) {
        return None;
    }
    let object = arguments(read);
    // One copy may be an object, and another its JSON as a string.
    let same = |value: &Value<'_>| value.raw() == read.raw() || object.is_some() && arguments(*value) == object;
    let copies = place.copies.iter().flat_map(|copy| values(*copy)).filter(same);
    let empty = |value: Value<'_>| if value.is_object() { "{}" } else { "\"{}\"" };
    let mut found: Vec<Substitution> = std::iter::once(read)
        .chain(copies)
        .map(|value| Substitution { span: value.span(), json: empty(value).to_owned(), text: "{}".to_owned(), at: 0 })
        .collect();
    found.sort_by_key(|one| one.span.start);
    Some(found)
}

/// The arguments that `value` is: an object, or a string of JSON.
fn arguments(value: Value<'_>) -> Option<serde_json::Value> {
    let written = match value.text() {
        Some(text) => text.decode().into_owned(),
        None => value.raw().to_owned(),
    };
    serde_json::from_str(&written).ok().filter(serde_json::Value::is_object)
}

/// Whether an object around `arguments`, up to the element of the part, carries a signature, or an object of metadata in it
/// does. The signatures of thoughts beside the call are in lists of their own.
fn is_signed(arguments: Value<'_>, element: Value<'_>) -> bool {
    let signs = |object: Value<'_>| SIGNATURES.iter().any(|key| object.get(key).is_some());
    let around = std::iter::successors(arguments.parent(), |value| value.parent());
    around.take_while(|object| object.span().start >= element.span().start).any(|object| {
        let metadata = object.members().map(|member| member.value);
        signs(object) || metadata.filter(|value| value.is_object() && *value != arguments).flat_map(values).any(signs)
    })
}

/// Whether `value` is where the arguments of `call` were read: the same bytes, not only equal ones.
fn holds(value: Value<'_>, call: &ToolCall<'_>) -> bool {
    let is_same = match (&call.arguments, value.text()) {
        (Text::Escaped(arguments), Some(Text::Escaped(text))) => std::ptr::eq(*arguments, text),
        (Text::Json(arguments), None) => std::ptr::eq(*arguments, value.raw()),
        _ => false,
    };
    is_same && value.span().len() > "{}".len() + usize::from(!value.is_object()) * "\"\"".len()
}

/// `root` and all values in it.
fn values(root: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let mut open = vec![root];
    std::iter::from_fn(move || {
        let value = open.pop()?;
        open.extend(value.items().chain(value.members().map(|member| member.value)));
        Some(value)
    })
}
