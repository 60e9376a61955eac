//! What is written: the parts of drafts, and the patches that put parts before others.

use crate::dialects::{DialectWriter, Patch};
use crate::json::{Json, Span, Value, list, object};
use crate::transcript::{Draft, Role};

/// The patch that writes `texts`, the insides of JSON strings, in front of the text `value`.
pub(in crate::dialects) fn prepend_texts(value: Value<'_>, texts: &[&str]) -> Option<Patch> {
    value.text()?;
    let inside = value.span().start + 1;
    let text = texts.iter().flat_map(|text| [text, "\\n\\n"]).collect();
    Some(Patch { span: Span::new(inside, inside), text })
}

/// Puts `parts` before a `content` that is a string or a list; `block` turns the JSON string into an element of the list.
pub(in crate::dialects) fn prepend_parts(
    content: Value<'_>,
    parts: &[String],
    block: impl Fn(&str) -> String,
) -> Option<Patch> {
    let parts = parts.join(",");
    let span = content.span();
    if content.is_array() {
        let comma = if content.items().next().is_some() { "," } else { "" };
        let inside = Span::new(span.start + 1, span.start + 1);
        return Some(Patch { span: inside, text: format!("{parts}{comma}") });
    }
    content.text()?;
    Some(Patch { span, text: format!("[{parts},{}]", block(content.raw())) })
}

/// The parts of a draft, as a list of a format.
pub(in crate::dialects) fn parts(format: &dyn DialectWriter, draft: &Draft) -> Json {
    list(draft.parts.iter().map(|part| format.write_part(part)))
}

/// Puts `parts` before a `content` that is a string or a list of blocks with a type.
pub(in crate::dialects) fn prepend_blocks(content: Option<Value<'_>>, parts: &[String]) -> Option<Patch> {
    prepend_parts(content?, parts, |json| object! { "type": "text", "text": Json(json) }.0)
}

/// An id for a message with these parts: the same input gives the same id on every machine.
pub(in crate::dialects) fn draft_id(parts: &str) -> String {
    format!("curtail-{:016x}", crate::digest::fnv1a_64(parts.bytes()))
}

/// Who speaks in a draft, in formats that write the results of tools and the instructions of an application as messages of the
/// user.
pub(in crate::dialects) const fn speaker(draft: &Draft) -> &'static str {
    match draft.role {
        Role::Assistant => "assistant",
        _ => "user",
    }
}

/// The role of a draft, in formats without a role of the developer.
pub(in crate::dialects) const fn role_name(draft: &Draft) -> &'static str {
    match draft.role {
        Role::Developer => "system",
        role => role.name(),
    }
}

/// `{"role": …, "content": "…"}`
pub(in crate::dialects) fn role_and_content(role: &str, text: &str) -> String {
    object! { "role": role, "content": text }.0
}

/// `{"type": "text", "text": "…"}`
pub(in crate::dialects) fn text_block(text: &str) -> String {
    object! { "type": "text", "text": text }.0
}
