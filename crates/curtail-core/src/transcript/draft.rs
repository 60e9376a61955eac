//! What this program writes into transcripts: messages, before a dialect turns them into JSON, and blocks of text with the mark
//! by which it recognizes them.

use std::fmt;

use super::{Content, Family, Message, Part, PartOrigin, Role};
use crate::json::Text;

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
        let group = |shift: u32, mask: u128| self.number() >> shift & mask;
        let [first, second, third] = [group(96, 0xffff_ffff), group(80, 0xffff), group(64, 0xffff)];
        write!(f, "{first:08x}-{second:04x}-{third:04x}-{:04x}-{:012x}", group(48, 0xffff), group(0, 0xffff_ffff_ffff))
    }
}

/// What is before and after the name of a tool in a note about it, and the names of several.
const USED: [[&str; 2]; 2] = [["Used ", " tool"], ["Used tools: ", ""]];

impl Draft {
    /// A message with one text part.
    #[must_use]
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::part(role, DraftPart::Text(text.into()))
    }

    /// The note of the assistant in place of calls of so many tools, which are named `names`.
    #[must_use]
    pub fn tools_used(names: &str, count: usize) -> Self {
        let [one, many] = USED;
        let text =
            if count == 1 { format!("{}{names}{}", one[0], one[1]) } else { format!("{}{names}{}", many[0], many[1]) };
        Self::text(Role::Assistant, text)
    }

    /// Whether `text` is such a note.
    #[must_use]
    pub fn says_tools_used(text: &str) -> bool {
        USED.iter().any(|[before, after]| text.starts_with(before) && text.ends_with(after))
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

// Blocks, and their mark. The mark is an escape: the letter after the `<` of a block is written as `\u0063`, for example.
// Writers of JSON escape no letters, so no other text has the mark, and a model, which reads the decoded text, does not see it.

/// `json`, in which a dialect wrote the block `text`, with the mark.
#[must_use]
pub fn marked(mut json: String, text: &str) -> String {
    // The characters that JSON writes without escapes.
    let opening = text.split(['"', '\\', '\n']).next().unwrap_or_default();
    if let Some(at) = json.find(&format!("\"{opening}"))
        && let Some(letter) = opening.chars().nth(1).filter(char::is_ascii)
    {
        json.replace_range(at + 2..at + 3, &escape(letter));
    }
    json
}

/// Whether a part is a block of this program whose text begins with `opening`, such as `<working_memory>`.
#[must_use]
pub fn is_own_block(part: &Part<'_>, opening: &str) -> bool {
    let Content::Text(text) = &part.content else { return false };
    match (&part.origin, text) {
        (PartOrigin::Block(block), _) => block.starts_with(opening),
        (PartOrigin::Source(_) | PartOrigin::Moved(_), Text::Escaped(raw)) => begins_with_marked(raw, opening),
        _ => false,
    }
}

/// How many parts at the beginning of a message are blocks of this program.
#[must_use]
pub fn own_blocks(message: &Message<'_>) -> usize {
    let is_own = |part: &&Part<'_>| match (&part.origin, &part.content) {
        (PartOrigin::Block(_), _) => true,
        (PartOrigin::Source(_) | PartOrigin::Moved(_), Content::Text(Text::Escaped(raw))) => marked_name(raw).is_some(),
        _ => false,
    };
    message.parts.iter().take_while(is_own).count()
}

/// For each block at the beginning of the JSON string `raw`, which comes without its quotes: where the block ends, and where the
/// empty line after it ends. None for a string that consists of a block alone.
#[must_use]
pub fn blocks_in_text(raw: &str) -> Vec<[usize; 2]> {
    const EMPTY_LINE: &str = "\\n\\n";
    let mut found: Vec<[usize; 2]> = Vec::new();
    loop {
        let start = found.last().map_or(0, |[_, end]| *end);
        let rest = raw.get(start..).unwrap_or_default();
        let close = marked_name(rest).map(|name| format!("</{name}>"));
        let end = close.and_then(|close| Some(rest.find(&close)? + close.len()));
        match end.filter(|end| rest[*end..].starts_with(EMPTY_LINE)) {
            Some(end) => found.push([start + end, start + end + EMPTY_LINE.len()]),
            None => return found,
        }
    }
}

/// The name of the block that a JSON string begins with, if it has the mark.
fn marked_name(raw: &str) -> Option<String> {
    let digits = raw.strip_prefix("<\\u00")?.get(..2)?;
    let letter = u8::from_str_radix(digits, 16).ok().map(char::from).filter(char::is_ascii_lowercase)?;
    let rest = raw.strip_prefix(&format!("<{}", escape(letter)))?;
    let name = rest.split(|c: char| !c.is_ascii_lowercase() && c != '_').next().unwrap_or_default();
    Some(format!("{letter}{name}"))
}

fn begins_with_marked(raw: &str, opening: &str) -> bool {
    let mut letters = opening.chars();
    let (Some(first), Some(second)) = (letters.next(), letters.next()) else { return false };
    let rest = raw.strip_prefix(first).and_then(|rest| rest.strip_prefix(escape(second).as_str()));
    rest.is_some_and(|rest| rest.starts_with(letters.as_str()))
}

fn escape(letter: char) -> String {
    format!("\\u{:04x}", u32::from(letter))
}

#[cfg(test)]
mod tests {
    use super::{begins_with_marked, blocks_in_text, marked};
    use crate::json::quote;

    #[test]
    fn a_mark_is_in_the_spelling_alone() {
        let text = "<memory next=\"2\">\nsaid <memory next=\n</memory>";
        let json = marked(format!("{{\"a\":1,\"text\":{}}}", quote(text)), text);
        assert!(json.contains(r#""text":"<\u006demory next=\"2\">"#), "{json}");
        let read: serde_json::Value = serde_json::from_str(&json).unwrap_or_default();
        assert_eq!(read["text"], text);
    }

    #[test]
    fn blocks_end_before_what_somebody_said() {
        let memory = r"<\u006demory>\nsaid\n</memory>";
        let notes = r#"<\u006eotes_of next=\"2\">\na\n</notes_of>"#;
        let first = memory.len();
        let second = memory.len() + 4 + notes.len();
        let both = format!(r"{memory}\n\n{notes}\n\nHello");
        assert_eq!(blocks_in_text(&both), [[first, first + 4], [second, second + 4]]);
        let look_alike = format!(r"{memory}\n\n<notes>\n</notes>\n\nHello");
        assert_eq!(blocks_in_text(&look_alike), [[first, first + 4]]);
        for text in [memory.to_owned(), format!("{memory} Hello"), format!("Hello {memory}"), String::from(r"<\u00")] {
            assert!(blocks_in_text(&text).is_empty(), "{text}");
        }
    }

    #[test]
    fn no_text_carries_the_mark() {
        for (raw, is_marked) in [
            (r"<\u006demory>", true),
            ("<memory>", false),
            (r"<\\u006demory>", false),
            (r"\u003cmemory>", false),
            (r"\u003c\u006demory>", false),
            (r"<\u006Demory>", false),
            ("", false),
        ] {
            assert_eq!(begins_with_marked(raw, "<memory>"), is_marked, "{raw}");
        }
    }
}
