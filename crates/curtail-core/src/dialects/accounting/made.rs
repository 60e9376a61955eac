//! Texts of parts that were put together from several values, or read out of one: they stand nowhere as they are.

use super::texts_of;
use crate::json::{Span, Text, Value};
use crate::transcript::Part;

/// The made texts of the parts of a message.
pub(super) struct MadeTexts(Vec<PartTexts>);

/// The made texts of a part.
struct PartTexts {
    /// Where the part is.
    element: Option<Span>,
    /// The letters and digits of each text.
    condensed: Vec<String>,
    /// Those of them that JSON inside a text does not escape.
    unescaped: Vec<String>,
}

impl MadeTexts {
    pub(super) fn of(parts: &[Part<'_>]) -> Self {
        let made = parts.iter().map(|part| (part, made_texts(part))).filter(|(_, made)| !made.is_empty());
        let made = made.map(|(part, made)| PartTexts {
            element: part.place().map(|place| place.element.span()),
            condensed: condensed_each(&made, false),
            unescaped: condensed_each(&made, true),
        });
        Self(made.collect())
    }

    /// Whether the text of `value` is in one of these, or all that was read for a part is in it, and it in the part: a text
    /// elsewhere may have the name of a tool in it.
    pub(super) fn have(&self, value: Value<'_>) -> bool {
        let Some(text) = value.text().filter(|_| !self.0.is_empty()).map(Text::into_decoded) else { return false };
        let ascii = text.contains(ESCAPE);
        let text = condensed(&text, ascii);
        let span = value.span();
        !text.is_empty()
            && self.0.iter().any(|part| {
                let made = if ascii { &part.unescaped } else { &part.condensed };
                let is_inside =
                    part.element.is_some_and(|element| element.start <= span.start && span.end <= element.end);
                made.iter().any(|made| made.contains(&text))
                    || is_inside && !made.is_empty() && made.iter().all(|made| text.contains(made))
            })
    }
}

fn made_texts<'p>(part: &'p Part<'_>) -> Vec<&'p str> {
    let made =
        texts_of(&part.content).filter_map(|text| if let Text::Owned(text) = text { Some(&**text) } else { None });
    made.filter(|text| !text.is_empty()).collect()
}

/// The letters and digits of each text. A text without any is left out: it would be found in every other.
fn condensed_each(texts: &[&str], ascii: bool) -> Vec<String> {
    texts.iter().map(|text| condensed(text, ascii)).filter(|text| !text.is_empty()).collect()
}

/// What begins a character that an escape hides, in JSON inside a text.
const ESCAPE: &str = "\\u";

/// The letters and digits of a text, so that what was read out of it is found in it, whatever the spelling. Those that an escape
/// hides are left out, and with `ascii` all that can be hidden.
fn condensed(text: &str, ascii: bool) -> String {
    let pieces = text.split(ESCAPE).enumerate();
    let left = pieces.flat_map(|(nth, piece)| piece.chars().skip(if nth == 0 { 0 } else { "0000".len() }));
    left.filter(|c| c.is_ascii_alphanumeric() || !ascii && c.is_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use super::condensed;

    #[test]
    fn what_an_escape_hides_is_left_out_and_nothing_behind_it() {
        for (text, expected) in
            [("a-b c", "abc"), (r"a\u00e9b", "ab"), (r"a\u00ébcd e", "acde"), (r"a\u00", "a"), (r"\u0041\u0042c", "c")]
        {
            assert_eq!(condensed(text, true), expected, "{text}");
        }
    }
}
