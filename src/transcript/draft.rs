//! A message that curtail writes: role and parts, before a dialect turns them into JSON.

use super::Role;

/// A message for a dialect to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// The role.
    pub role: Role,
    /// The parts, in order.
    pub parts: Vec<DraftPart>,
}

impl Draft {
    /// A message with one text part.
    #[must_use]
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self { role, parts: vec![DraftPart::Text(text.into())] }
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
}

/// A part of a [`Draft`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DraftPart {
    /// A text.
    Text(String),
    /// A result for a call whose own result is missing.
    ToolResult {
        /// The id of the call.
        id: Option<String>,
        /// The tool's name.
        name: String,
        /// The text of the result.
        text: String,
        /// The family of the call.
        family: super::Family,
    },
    /// A part that is already JSON of the dialect, moved from another message.
    Verbatim(String),
}
