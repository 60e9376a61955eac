//! Cursor transcripts: `role` beside `message`, with the blocks of Anthropic, but without ids that join calls and results.

use super::{BY_ID, Dialect, DialectWriter, Fit, Format, Item, Patch, anthropic, blocks};
use crate::json::{Value, list, object};
use crate::transcript::{Content, Draft, DraftResult, PairingRules, ResultPlace};

/// The dialect `cursor`.
pub(super) struct Cursor;

impl Dialect for Cursor {
    fn format(&self) -> &'static Format {
        &Format {
            name: "cursor",
            signature: "`role` beside `message` with `content`; `tool_use` without an id, answered in the next message",
            pairing: PairingRules { results: ResultPlace::NextMessageFirst, ids: false, ..BY_ID },
            is_log: true,
            writer: Some(&Cursor),
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let message = item.get("message").filter(|message| message.is_object());
        let is_line = item.get("role").is_some() && item.get("type").is_none();
        if is_line && message.is_some_and(|message| message.get("content").is_some()) { Fit::Certain } else { Fit::No }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        match item.get_text("role") {
            None if item.member_is("type", "turn_ended") => Item::Metadata,
            None => blocks::unknown_kind(item.word("type")),
            name => blocks::read_message(item, name, blocks::speaker_of, |message| {
                let content = item.get("message").and_then(|body| body.get("content"));
                message.parts = blocks::content(content, read_block);
            }),
        }
    }

    fn connect<'a>(&self, _items: &[Value<'a>], read: &mut [Item<'a>]) {
        blocks::close_rounds(read);
        // Most versions write no results; a log of another one has them.
        let has_results =
            read.iter_mut().filter_map(Item::message_mut).any(|message| message.results().next().is_some());
        for message in read.iter_mut().filter_map(Item::message_mut) {
            message.call_rules.unanswered = !has_results;
        }
    }
}

impl DialectWriter for Cursor {
    fn write_message(&self, draft: &Draft, _anchor: Option<Value<'_>>) -> String {
        object! { "role": blocks::speaker(draft), "message": object! { "content": blocks::parts(self, draft) } }.0
    }

    fn write_result(&self, DraftResult { name, text, .. }: &DraftResult) -> String {
        object! { "type": "tool_result", "name": name, "content": list([blocks::text_block(text)]) }.0
    }

    fn prepend_parts(&self, message: Value<'_>, parts: &[String]) -> Option<Patch> {
        let content = message.get("message")?.get("content")?;
        blocks::prepend_blocks(Some(content), parts)
    }
}

/// Results have an id that no call has; they are matched by position.
fn read_block(block: Value<'_>) -> Content<'_> {
    match &*block.word("type") {
        "tool_use" | "tool_call" => blocks::call(None, block.get_text("name"), block.get("input")),
        "tool_result" | "tool-result" => blocks::result(None, block.get_text("name"), block.get("content")),
        _ => anthropic::read_block(block),
    }
}
