//! Tool calls and tool results: what a message contains of them.

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
