//! How a format is written: new messages, and what changes in those that stay.

use super::{blocks, tree};
use crate::json::{Span, Value};
use crate::transcript::{Draft, DraftId, DraftPart, DraftResult, Layout, Links, Role, SlotKind};

/// How messages and links are written in a wire format.
pub trait DialectWriter: Sync {
    /// The key by which the results of `items` name their calls, if it is not the one that
    /// [`write_message`](Self::write_message) writes by itself: some formats have several.
    fn result_key(&self, _items: &[Value<'_>]) -> Option<&'static str> {
        None
    }

    /// Writes `draft` in this format, with its links. Formats with an envelope copy it from `anchor`, a message of the
    /// transcript.
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String;

    /// Writes `part` as an element of a list of parts, in formats whose messages have such lists.
    fn write_part(&self, part: &DraftPart) -> String {
        match part {
            DraftPart::Text(text) => self.write_text(text),
            DraftPart::Verbatim(raw) => raw.clone(),
            DraftPart::ToolResult(result) => self.write_result(result),
        }
    }

    /// Writes a text as an element of such a list.
    fn write_text(&self, text: &str) -> String {
        blocks::text_block(text)
    }

    /// Writes a result as an element of such a list: by default, as a message of its own.
    fn write_result(&self, result: &DraftResult) -> String {
        self.write_message(&Draft::part(Role::Tool, DraftPart::ToolResult(result.clone())), None)
    }

    /// The patch that puts `parts`, already in this format, before the other parts of `message`.
    /// `None` for formats in which each result is a message.
    fn prepend_parts(&self, _message: Value<'_>, _parts: &[String]) -> Option<Patch> {
        None
    }

    /// The keys that link the records, in formats whose records have ids and parents.
    fn tree(&self) -> Option<&'static tree::Tree> {
        None
    }

    /// The links of a record for `draft` before it has neighbors, in formats whose records have ids.
    fn links(&self, draft: &Draft, anchor: Option<Value<'_>>) -> Option<Links> {
        Some(self.tree()?.links(draft, anchor))
    }

    /// Sets the ids of the drafts in `remaining` that have none, in formats whose records have ids.
    fn name_drafts(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) {
        if let Some(tree) = self.tree() {
            tree.name_drafts(layout, remaining);
        }
    }

    /// The patches that keep links between records valid when only `remaining` is written. The ids and links of drafts are set.
    fn relink(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) -> Vec<Patch> {
        if let Some(tree) = self.tree() {
            return tree.relink(layout, remaining);
        }
        self.name_drafts(layout, remaining);
        Vec::new()
    }
}

/// The part of a transcript that is written.
#[derive(Debug)]
pub struct Remaining<'l> {
    /// Which of its messages, by index, are written.
    pub kept: &'l [bool],
    /// The drafts among them, in the order of the output.
    pub written: Vec<Written>,
}

impl Remaining<'_> {
    /// For each draft, the index of the element of `layout` that it replaces, precedes or follows; `None` at the beginning.
    pub(super) fn elements_before(&self, layout: &Layout<'_>) -> Vec<Option<usize>> {
        let slots = layout.slotted_elements().enumerate();
        let messages = slots.filter(|(_, (slot, _))| matches!(slot.kind, SlotKind::Message(_)));
        let of_message: Vec<usize> = messages.map(|(at, _)| at).collect();
        let before = self.written.iter().map(|draft| {
            let after = draft.after.and_then(|message| of_message.get(message).copied());
            let elements = &layout.elements;
            let place = draft.place.map(|start| elements.partition_point(|element| element.span().start < start));
            place.max(after)
        });
        before.collect()
    }
}

/// A draft, and where it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The draft, with the links of its record.
    pub draft: Draft,
    /// The draft as JSON, with the links that it had first.
    pub text: String,
    /// The id of its record, once it is set.
    pub id: Option<DraftId>,
    /// Index of the nearest message before it in the output that is not a draft.
    pub after: Option<usize>,
    /// Index of the nearest message of its conversation before it that is neither a draft nor abandoned. If it is abandoned
    /// itself, the nearest message, if that is, too.
    pub previous: Option<usize>,
    /// The same after it.
    pub next: Option<usize>,
    /// Whether it is about messages that are abandoned.
    pub abandoned: bool,
    /// Whether a model reads it.
    pub live: bool,
    /// Byte of the source before which it is written: where the element begins that it replaces or precedes, if any.
    pub place: Option<u32>,
}

/// A replacement of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// The bytes that are replaced.
    pub span: Span,
    /// The bytes that replace them.
    pub text: String,
}
