//! Thoughts that a model wrote in front of its answer, between two tags.

use super::{inside, piece};
use crate::json::{Text, written_offsets};
use crate::transcript::{Content, Message, PartOrigin, Role};

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
    if let PartOrigin::Source(place) = &mut thought.origin {
        place.further_mut().unsigned = true;
    }
    let rest = piece(whole, span, [end, raw.len()], Content::Text(Text::Escaped(&raw[end..])));
    let rest = (end < raw.len()).then_some(rest);
    message.parts.splice(at..=at, std::iter::once(thought).chain(rest));
}

/// Where the thoughts end that the inside of a JSON string begins with, with the white space after them.
fn end_of_thoughts(raw: &str) -> Option<usize> {
    let text = Text::Escaped(raw);
    if !text.characters().find(|c| !c.is_whitespace()).is_some_and(|c| matches!(c, '<' | '[')) {
        return None;
    }
    let text = text.decode();
    let mut rest = text.trim_start();
    let mut end = None;
    while let Some([open, close]) = TAGS.iter().find(|[open, _]| rest.starts_with(open)) {
        let Some((_, behind)) = rest[open.len()..].split_once(close) else { break };
        rest = behind.trim_start();
        end = Some(text.len() - rest.len());
    }
    written_offsets(raw, &[end?]).pop()
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
            (r"\u003cthink\u003eIs it?\u003c\/think\u003e\n\nIt \u0026 is.", Some(r"It \u0026 is.")),
            (r"<think>never closed", None),
            (r"It is. <think>late</think>", None),
            ("", None),
        ] {
            assert_eq!(end_of_thoughts(raw).map(|end| &raw[end..]), answer, "{raw}");
        }
    }
}
