//! Blocks that this program writes into transcripts, and the mark by which it recognizes them.
//!
//! The mark is a spelling: the letter behind the `<` of a block is written as an escape, such as `\u0063`. Writers of JSON
//! escape no letters, so no text that somebody said carries the mark, and a model that reads the text sees nothing of it.

use super::{Content, Part, PartOrigin};
use crate::json::Text;

/// `json`, in which a dialect spelt the block `text`, with the mark.
#[must_use]
pub fn marked(mut json: String, text: &str) -> String {
    // The characters that are spelt as they are.
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
        (PartOrigin::Block(own), _) => own.starts_with(opening),
        (PartOrigin::Source(_), Text::Escaped(raw)) => spelt_with_mark(raw, opening),
        _ => false,
    }
}

fn spelt_with_mark(raw: &str, opening: &str) -> bool {
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
    use super::{marked, spelt_with_mark};
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
    fn no_text_carries_the_mark() {
        for (raw, own) in [
            (r"<\u006demory>", true),
            ("<memory>", false),
            (r"<\\u006demory>", false),
            (r"\u003cmemory>", false),
            (r"\u003c\u006demory>", false),
            (r"<\u006Demory>", false),
            ("", false),
        ] {
            assert_eq!(spelt_with_mark(raw, "<memory>"), own, "{raw}");
        }
    }
}
