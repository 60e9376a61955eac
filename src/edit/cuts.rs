//! The patches of one message: parts that were cut, texts that were rewritten, results that were prepended.

use crate::dialects::{Dialect, Patch};
use crate::json::{Span, Value, quote, removal};
use crate::transcript::{Content, DraftPart, Message, Part, PartOrigin};

/// The patches that turn the bytes of `message`, as it was read, into what it is now.
pub(super) fn patches(message: &Message<'_>, dialect: &dyn Dialect) -> Vec<Patch> {
    let mut patches = cuts(message);
    patches.extend(message.parts.iter().filter_map(rewrite));
    let prepended: Vec<String> = message.parts.iter().filter_map(draft).map(|part| dialect.spell_part(&part)).collect();
    if !prepended.is_empty() {
        let stays = |part: &Part<'_>| matches!(part.origin, PartOrigin::Source(_) | PartOrigin::Rewritten(_));
        let front = message.value().and_then(|value| dialect.prepend_parts(value, &prepended));
        patches.extend(front.map(|mut patch| {
            // No element follows, so the comma is left out.
            if patch.text.ends_with(',') && !message.parts.iter().any(stays) {
                patch.text.pop();
            }
            patch
        }));
    }
    patches
}

/// The draft of a part that is not in the bytes of its message yet.
pub(super) fn draft(part: &Part<'_>) -> Option<DraftPart> {
    match &part.origin {
        PartOrigin::Moved(place) => Some(DraftPart::Verbatim(place.element.raw().to_owned())),
        PartOrigin::Draft(draft) => Some(draft.clone()),
        PartOrigin::Source(_) | PartOrigin::Rewritten(_) => None,
    }
}

fn rewrite(part: &Part<'_>) -> Option<Patch> {
    let PartOrigin::Rewritten(place) = &part.origin else { return None };
    let rewrite = place.rewrite?;
    let text = match &part.content {
        Content::Text(text) => text.decode(),
        Content::ToolResult(result) => result.content.first()?.decode(),
        _ => return None,
    };
    Some(Patch { span: rewrite.span, text: format!("{}{}{}", rewrite.before, quote(&text), rewrite.after) })
}

fn cuts(message: &Message<'_>) -> Vec<Patch> {
    let mut gone: Vec<Value<'_>> = Vec::new();
    for place in message.cut.iter().filter_map(Part::place) {
        gone.push(place.element);
        gone.extend(&place.copies);
    }
    // A copy of a rewritten text would still contain the old one.
    for part in &message.parts {
        if let PartOrigin::Rewritten(place) = &part.origin {
            gone.extend(&place.copies);
        }
    }
    for place in message.cut.iter().filter_map(Part::place).filter(|place| place.shell) {
        for element in std::iter::once(&place.element).chain(&place.copies) {
            if let Some(shell) = element.parent().filter(|shell| is_emptied(*shell, &gone))
                && !gone.contains(&shell)
            {
                gone.push(shell);
            }
        }
    }
    let mut holders: Vec<Value<'_>> = Vec::new();
    for holder in gone.iter().filter_map(|value| value.parent()) {
        if !holders.contains(&holder) {
            holders.push(holder);
        }
    }
    let spans: Vec<Span> = holders.iter().flat_map(|holder| removal(*holder, |value| gone.contains(&value))).collect();
    spans.into_iter().map(|span| Patch { span, text: String::new() }).collect()
}

fn is_emptied(shell: Value<'_>, gone: &[Value<'_>]) -> bool {
    shell.items().all(|item| gone.contains(&item)) && shell.members().all(|member| gone.contains(&member.value))
}
