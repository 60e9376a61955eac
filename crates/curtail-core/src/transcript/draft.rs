//! What this program writes into transcripts: messages, before a dialect turns them into JSON, and blocks of text with the mark
//! by which it recognizes them.

use std::fmt;

use super::{Family, Role};

/// A message for a dialect to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// The role.
    pub role: Role,
    /// The parts, in order.
    pub parts: Vec<DraftPart>,
    /// The draft of an earlier stage that it replaces or was inserted next to, instead of the message that was read there.
    pub beside: Option<DraftId>,
    /// Whether it is about a message that a boundary superseded: a model reads neither.
    pub superseded: bool,
    /// The links of its record, in formats whose records have some.
    pub links: Option<Links>,
}

/// What links the record of a [`Draft`] to others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Links {
    /// Its own id.
    pub id: DraftId,
    /// The id of its parent.
    pub parent: Option<String>,
}

/// The id of a draft in formats whose records have one. It is set when the stage that wrote the draft is done, so that it is
/// the same whether later stages read the draft from a file or in the same run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DraftId([u8; 16]);

impl DraftId {
    /// The id with this number.
    #[must_use]
    pub const fn new(number: u128) -> Self {
        Self(number.to_be_bytes())
    }

    /// Its number.
    #[must_use]
    pub const fn number(self) -> u128 {
        u128::from_be_bytes(self.0)
    }
}

impl fmt::Display for DraftId {
    /// As a UUID (RFC 9562).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = format!("{:032x}", self.number());
        let [first, second, third, fourth, fifth] = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
        write!(f, "{first}-{second}-{third}-{fourth}-{fifth}")
    }
}

impl Draft {
    /// A message with one text part.
    #[must_use]
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::part(role, DraftPart::Text(text.into()))
    }

    /// The note of the assistant in place of calls of so many tools, which are named `names`.
    #[must_use]
    pub fn tools_used(names: &str, count: usize) -> Self {
        let text = if count == 1 { format!("Used {names} tool") } else { format!("Used tools: {names}") };
        Self::text(Role::Assistant, text)
    }

    /// Whether `text` is such a note.
    #[must_use]
    pub fn says_tools_used(text: &str) -> bool {
        text.starts_with("Used tools: ") || text.starts_with("Used ") && text.ends_with(" tool")
    }

    /// A message with one part.
    #[must_use]
    pub fn part(role: Role, part: DraftPart) -> Self {
        Self { role, parts: vec![part], beside: None, superseded: false, links: None }
    }

    /// The text of all text parts, one per line.
    #[must_use]
    pub fn joined_text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            DraftPart::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The result that it consists of, if it is nothing else.
    #[must_use]
    pub fn only_result(&self) -> Option<&DraftResult> {
        if let [DraftPart::ToolResult(result)] = self.parts.as_slice() { Some(result) } else { None }
    }
}

/// A part of a [`Draft`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftPart {
    /// A text.
    Text(String),
    /// A result for a call whose own result is missing.
    ToolResult(DraftResult),
    /// A part that is already JSON of the dialect, moved from another message.
    Verbatim(String),
}

impl DraftPart {
    /// The text of a text or a result.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::ToolResult(DraftResult { text, .. }) => Some(text),
            Self::Verbatim(_) => None,
        }
    }
}

/// A result for a dialect to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftResult {
    /// The id of the call.
    pub id: Option<String>,
    /// The tool's name.
    pub name: String,
    /// The text of the result.
    pub text: String,
    /// The family of the call.
    pub family: Family,
    /// The key by which the other results of the transcript name their calls, if the format has several.
    pub key: Option<&'static str>,
}

impl DraftResult {
    /// The id of the call; empty if it has none.
    #[must_use]
    pub fn call_id(&self) -> &str {
        self.id.as_deref().unwrap_or_default()
    }
}
