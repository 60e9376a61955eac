//! A message that we write: role and parts, in no dialect yet.

use super::Role;

/// A message to be spelt by a dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub parts: Vec<DraftPart>,
}

impl Draft {
    /// A message that says `text`.
    #[must_use]
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self { role, parts: vec![DraftPart::Text(text.into())] }
    }

    /// All that its text parts say.
    #[must_use]
    pub fn words(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            DraftPart::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// A part of a message that we write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftPart {
    /// Something said.
    Text(String),
    /// An answer in place of one that never came.
    ToolResult {
        /// The id of the call.
        id: Option<String>,
        /// The tool's name.
        name: String,
        /// What it says.
        text: String,
        /// The kind of call that it answers.
        family: super::Family,
    },
    /// A part in the dialect's own spelling, moved from elsewhere.
    Verbatim(String),
}
