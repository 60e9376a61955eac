//! Exports of `OpenCode`, and of Kilo, which is built on it: messages with `info` and `parts`. A part of type `tool` is a call,
//! and its result once there is one. Version 2 writes blocks in `content`.

mod history;
mod version1;
mod version2;
mod writing;

use super::{Dialect, DialectWriter, Fit, Item, LogHabits, Patch, Remaining, blocks};
use crate::json::{Text, Value, quote};
use crate::transcript::{Draft, DraftPart, Layout, Message, PairingRules, ProviderRules, ResultPlace, Usage};

/// The dialect `opencode`.
pub(super) struct OpenCode;

impl Dialect for OpenCode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn signature(&self) -> &'static str {
        "`info` with `role` and `sessionID`, and `parts`, each with `messageID`; or `type`, `time` and `content` blocks `tool` with `state`"
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let own = version1::is_message(item) || version2::is_message(item);
        if own { Fit::Certain } else { Fit::No }
    }

    fn fits_record(&self, record: Value<'_>) -> bool {
        session(record).is_some_and(|session| {
            session.get_text("id").is_some_and(|id| id.decode().starts_with("ses_")) && session.get("time").is_some()
        })
    }

    fn pairing_rules(&self) -> PairingRules {
        PairingRules { results: ResultPlace::SameMessage, unique_ids: false, ids: true, developer: false }
    }

    fn provider_rules(&self) -> ProviderRules {
        ProviderRules { system_beside: true, ..ProviderRules::default() }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        if item.get("info").is_some() { version1::read(item) } else { version2::read(item) }
    }

    fn read_all<'a>(&self, items: &[Value<'a>]) -> Vec<Item<'a>> {
        let mut read: Vec<Item<'a>> = items.iter().map(|&item| self.read(item)).collect();
        if let Some(revert) = blocks::record_of(items).and_then(session).and_then(|session| session.some("revert")) {
            history::take_back(revert, items, &mut read);
        }
        history::mark(items, &mut read);
        read
    }

    /// Exports contain no instructions.
    fn preamble<'a>(&self, _record: Value<'a>) -> Vec<Text<'a>> {
        Vec::new()
    }
}

impl DialectWriter for OpenCode {
    fn spell(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        writing::spell(draft, anchor)
    }

    fn spell_part(&self, part: &DraftPart) -> String {
        match part {
            DraftPart::Text(text) | DraftPart::ToolResult { text, .. } => {
                format!("{{\"type\":\"text\",\"text\":{}}}", quote(text))
            }
            DraftPart::Verbatim(raw) => raw.clone(),
        }
    }

    fn name_drafts(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) {
        writing::name_drafts(layout, remaining);
    }

    fn relink(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) -> Vec<Patch> {
        writing::name_drafts(layout, remaining);
        history::relink(layout, remaining.kept)
    }
}

impl LogHabits for OpenCode {
    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        let info = item.get("info").unwrap_or(item);
        info.get_text("modelID").or_else(|| {
            let model = info.some("model")?;
            model.get_text("modelID").or_else(|| model.get_text("id"))
        })
    }

    fn time(&self, item: Value<'_>) -> Option<String> {
        let info = item.get("info").unwrap_or(item);
        info.some("time")?.get("created").and_then(super::times::written)
    }

    /// `input` is what was not in the cache.
    fn usage(&self, item: Value<'_>) -> Option<Usage> {
        let figures = item.get("info").unwrap_or(item).some("tokens")?;
        let cache = figures.some("cache");
        let cached = |key: &str| cache.map_or(0, |cache| blocks::number(cache, key));
        let (cache_read, cache_write) = (cached("read"), cached("write"));
        let input = blocks::number(figures, "input") + cache_read + cache_write;
        let output = blocks::number(figures, "output") + blocks::number(figures, "reasoning");
        (input > 0).then(|| Usage { input, cache_read, cache_write, output, ..Usage::default() })
    }

    fn replaces_past(&self, item: Value<'_>) -> bool {
        history::is_summary(item)
    }

    fn kept_by(&self, compaction: Value<'_>, before: &[Value<'_>]) -> Vec<usize> {
        history::kept_by(compaction, before)
    }
}

/// What a record says of its session.
fn session(record: Value<'_>) -> Option<Value<'_>> {
    record.some("info").filter(|info| info.is_object())
}

/// What an item says of its message: a member of it in version 1, the item itself in version 2.
fn info(item: Value<'_>) -> Value<'_> {
    item.get("info").unwrap_or(item)
}

/// Where the result of an open call is written: its state becomes an error.
fn room_for_result(state: Value<'_>) -> Option<crate::transcript::Rewrite> {
    let status = state.get("status")?;
    Some(crate::transcript::Rewrite { span: status.span(), before: "\"error\",\"error\":", after: "" })
}

/// Whether a message says nothing but what the program wrote for the user.
fn is_automatic(message: &Message<'_>, is_own: impl Fn(Value<'_>) -> bool) -> bool {
    let mut said = message.parts.iter().filter(|part| part.content.speaks()).peekable();
    said.peek().is_some() && said.all(|part| part.place().is_some_and(|place| is_own(place.element)))
}
