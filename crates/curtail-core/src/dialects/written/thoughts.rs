//! Thoughts that a model wrote in front of its answer, between two tags.

use super::{inside, piece};
use crate::json::Text;
use crate::transcript::{Content, Message, Role};

/// The tags around thoughts, as models and datasets write them.
const TAGS: &[[&str; 2]] = &[
    ["<think>", "</think>"],
    ["<thinking>", "</thinking>"],
    ["<thought>", "</thought>"],
    ["<reasoning>", "</reasoning>"],
    ["<scratch_pad>", "</scratch_pad>"],
    ["[THINK]", "[/THINK]"],
    ["<|begin_of_thought|>", "<|end_of_thought|>"],
];

/// Reads the thoughts at the head of a reply as reasoning: a piece of the text, which can be cut out of it.
pub(super) fn split(message: &mut Message<'_>) {
    if message.role != Role::Assistant {
        return;
    }
    let Some(at) = message.parts.iter().position(|part| matches!(part.content, Content::Text(_))) else { return };
    let part = &message.parts[at];
    let Some((raw, span)) = inside(part) else { return };
    let (Some(end), Some(whole)) = (end_of_thoughts(raw), part.place()) else { return };
    let mut thought = piece(whole, span, [0, end], Content::Reasoning(Text::Escaped(&raw[..end])));
    if let crate::transcript::PartOrigin::Source(place) = &mut thought.origin {
        place.further_mut().unsigned = true;
    }
    let rest = piece(whole, span, [end, raw.len()], Content::Text(Text::Escaped(&raw[end..])));
    let rest = (end < raw.len()).then_some(rest);
    message.parts.splice(at..=at, std::iter::once(thought).chain(rest));
}

/// Where the thoughts end that the inside of a JSON string begins with, with the white space after them.
fn end_of_thoughts(raw: &str) -> Option<usize> {
    let mut end = None;
    let mut at = blank(raw);
    while let Some([open, close]) = TAGS.iter().find(|[open, _]| raw[at..].starts_with(open)) {
        let inside = at + open.len();
        let Some(closed) = raw[inside..].find(close) else { break };
        at = inside + closed + close.len();
        at += blank(&raw[at..]);
        end = Some(at);
    }
    end
}

/// How much white space the inside of a JSON string begins with, in bytes.
fn blank(raw: &str) -> usize {
    let mut rest = raw;
    while let Some(next) = [" ", "\\n", "\\r", "\\t"].iter().find_map(|space| rest.strip_prefix(space)) {
        rest = next;
    }
    raw.len() - rest.len()
}

#[cfg(test)]
mod tests {
    use super::end_of_thoughts;

    #[test]
    fn thoughts_end_before_the_answer() {
        for (raw, answer) in [
            (r"<think>\nIs it?\n</think>\n\nIt is.", Some("It is.")),
            (r"\n<think>a</think><think>b</think> c", Some("c")),
            (r"<think></think>", Some("")),
            (r"[THINK]a[/THINK]b", Some("b")),
            (r"<think>never closed", None),
            (r"It is. <think>late</think>", None),
            ("", None),
        ] {
            assert_eq!(end_of_thoughts(raw).map(|end| &raw[end..]), answer, "{raw}");
        }
    }
}
