//! Tool calls and tool results.

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
    /// Whether its result may be anywhere after it, and several may come, of which the last counts.
    pub deferred: bool,
    /// Whether the program leaves it open on purpose: it is deferred, and stays while its answer can come.
    pub waits: bool,
    /// The text that the model wrote for it, where a call is a text: counted in place of name and arguments. It is empty for
    /// a call that the text of another one contains.
    pub written: Option<Box<Text<'a>>>,
}

/// Why no tool can take the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentFault {
    /// They are not JSON.
    NotJson(ParseError),
    /// They are JSON, but not an object.
    NotAnObject,
}

impl<'a> ToolCall<'a> {
    /// A call of a function of the caller.
    #[must_use]
    pub const fn new(id: Option<Text<'a>>, name: Text<'a>, arguments: Text<'a>) -> Self {
        Self {
            id,
            name,
            arguments,
            family: Family::Function,
            hosted: false,
            deferred: false,
            waits: false,
            written: None,
        }
    }

    /// What a model reads of it.
    pub fn texts(&self) -> impl Iterator<Item = &Text<'a>> {
        let structure = self.written.is_none().then_some([&self.name, &self.arguments]);
        self.written.as_deref().into_iter().chain(structure.into_iter().flatten())
    }

    /// Whether the text of another call contains it.
    #[must_use]
    pub fn is_inside_another(&self) -> bool {
        self.written.as_ref().is_some_and(|text| text.len_bound() == 0)
    }

    /// Leaves it open on purpose.
    pub const fn wait(&mut self) {
        (self.deferred, self.waits) = (true, true);
    }

    /// What is wrong with the arguments; `None` if they are valid or empty, or if the tool accepts any text.
    #[must_use]
    pub fn argument_fault(&self) -> Option<ArgumentFault> {
        let is_function = matches!(self.family, Family::Function | Family::Positional) && self.written.is_none();
        if self.hosted || !is_function || self.arguments.is_blank() {
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
    /// Whether it says only that the answer to a deferred call is to come.
    pub interim: bool,
}

impl<'a> ToolResult<'a> {
    /// The result of a function of the caller, without media.
    #[must_use]
    pub const fn new(id: Option<Text<'a>>, name: Option<Text<'a>>, content: Vec<Text<'a>>) -> Self {
        Self { id, name, content, media: 0, family: Family::Function, same_message: false, interim: false }
    }
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
