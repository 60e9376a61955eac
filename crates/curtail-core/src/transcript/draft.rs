//! A message that curtail writes: role and parts, before a dialect turns them into JSON.

use std::fmt;

use super::Role;

/// A message for a dialect to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// The role.
    pub role: Role,
    /// The parts, in order.
    pub parts: Vec<DraftPart>,
    /// The draft of an earlier stage that it replaces or was inserted next to, instead of the message that was read there.
    pub beside: Option<DraftId>,
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
pub struct DraftId(pub u128);

impl fmt::Display for DraftId {
    /// As a UUID (RFC 9562).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let group = |shift: u32, mask: u128| self.0 >> shift & mask;
        let [first, second, third] = [group(96, 0xffff_ffff), group(80, 0xffff), group(64, 0xffff)];
        write!(f, "{first:08x}-{second:04x}-{third:04x}-{:04x}-{:012x}", group(48, 0xffff), group(0, 0xffff_ffff_ffff))
    }
}

impl Draft {
    /// A message with one text part.
    #[must_use]
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::part(role, DraftPart::Text(text.into()))
    }

    /// A message with one part.
    #[must_use]
    pub fn part(role: Role, part: DraftPart) -> Self {
        Self { role, parts: vec![part], beside: None, links: None }
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
        /// The key by which the other results of the transcript name their calls, if the format has several.
        key: Option<&'static str>,
    },
    /// A part that is already JSON of the dialect, moved from another message.
    Verbatim(String),
}
