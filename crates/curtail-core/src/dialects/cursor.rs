//! Cursor transcripts: `role` beside `message`, with the blocks of Anthropic, but without ids that join calls and results.

use super::{Dialect, DialectWriter, Fit, Item, LogHabits, Patch, anthropic, blocks, events};
use crate::json::{Json, Text, Value, list, object};
use crate::transcript::{Content, Draft, DraftPart, PairingRules, ResultPlace, Role, Unknown};

/// The dialect `cursor`.
pub(super) struct Cursor;

impl Dialect for Cursor {
    fn name(&self) -> &'static str {
        "cursor"
    }

    fn signature(&self) -> &'static str {
        "`role` beside `message` with `content`; `tool_use` without an id, answered in the next message"
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let said = item.get("message").filter(|said| said.is_object());
        let own = item.get("role").is_some() && item.get("type").is_none();
        if own && said.is_some_and(|said| said.get("content").is_some()) { Fit::Certain } else { Fit::No }
    }

    fn pairing_rules(&self) -> PairingRules {
        PairingRules { results: ResultPlace::NextMessageFirst, unique_ids: false, ids: false, developer: false }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        let role = match item.get_text("role").as_ref().map(Text::decode).as_deref() {
            Some(name) => match blocks::speaker_of(name) {
                Some(role) => role,
                None => return Item::Unknown(Unknown::Named(name.to_owned())),
            },
            None if item.get("type").is_some_and(|kind| kind.is("turn_ended")) => return Item::Metadata,
            None => return events::unknown(events::kind(item)),
        };
        let content = item.get("message").and_then(|said| said.get("content"));
        events::message(role, item, None, blocks::content(content, read_block))
    }

    fn read_all<'a>(&self, items: &[Value<'a>]) -> Vec<Item<'a>> {
        let mut read: Vec<Item<'a>> = items.iter().map(|&item| self.read(item)).collect();
        events::close_rounds(&mut read);
        read
    }
}

impl DialectWriter for Cursor {
    fn write_message(&self, draft: &Draft, _anchor: Option<Value<'_>>) -> String {
        let role = if draft.role == Role::Assistant { "assistant" } else { "user" };
        let blocks = list(draft.parts.iter().map(|part| self.write_part(part)));
        object! { "role": role, "message": object! { "content": blocks } }.0
    }

    fn write_part(&self, part: &DraftPart) -> String {
        match part {
            DraftPart::ToolResult { name, text, .. } => {
                let content = list([blocks::text_block(text)]);
                object! { "type": "tool_result", "name": name, "content": content }.0
            }
            other => anthropic::write_block(other),
        }
    }

    fn prepend_parts(&self, message: Value<'_>, parts: &[String]) -> Option<Patch> {
        let content = message.get("message")?.get("content")?;
        blocks::prepend_parts(content, parts, |json| object! { "type": "text", "text": Json(json) }.0)
    }
}

impl LogHabits for Cursor {
    fn is_log(&self) -> bool {
        true
    }
}

/// Results have an id that no call has; they are matched by position.
fn read_block(block: Value<'_>) -> Content<'_> {
    match events::kind(block).as_str() {
        "tool_use" | "tool_call" => events::call(None, block.get_text("name"), block.get("input")),
        "tool_result" | "tool-result" => events::result(None, block.get_text("name"), block.get("content")),
        _ => anthropic::read_block(block),
    }
}
