//! Blocks, and their mark. The mark is an escape: the letter after the `<` of a block is written as `\u0063`, for example.
//! Writers of JSON escape no letters, so no other text has the mark, and a model, which reads the decoded text, does not see it.

use super::{Content, Message, Part, PartOrigin};
use crate::json::Text;

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
    let own = message.parts.iter().take_while(|part| match (&part.origin, &part.content) {
        (PartOrigin::Block(_), _) => true,
        (PartOrigin::Source(_) | PartOrigin::Moved(_), Content::Text(Text::Escaped(raw))) => marked_name(raw).is_some(),
        _ => false,
    });
    own.count()
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
