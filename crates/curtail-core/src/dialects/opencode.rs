//! Exports of `OpenCode`, and of Kilo, which is built on it: messages with `info` and `parts`. A part of type `tool` is a call,
//! and its result once there is one. Version 2 writes blocks in `content`.

use super::opencode_drafts::{first_id, id_text, name_drafts, write_version1, write_version2};
use super::opencode_history::{Names, is_summary, kept_by, mark, relink, roll_back};
use super::opencode_messages::{info, is_version1, is_version2, read_version1, read_version2};
use super::{
    BY_ID, Dialect, DialectWriter, Fit, Format, HistoryChange, Item, LogHabits, NO_RULES, Patch, Remaining,
    SizeFigures, blocks, provenance,
};
use crate::json::{Text, Value};
use crate::transcript::{Draft, DraftId, DraftPart, Layout, PairingRules, ProviderRules, ResultPlace, Usage};

/// The dialect `opencode`.
pub(super) struct OpenCode;

impl Dialect for OpenCode {
    fn format(&self) -> &'static Format {
        &Format {
            name: "opencode",
            known: &["diffs"],
            signature: "`info` with `role` and `sessionID`, and `parts`, each with `messageID`; or `type`, \
                `time` and `content` blocks `tool` with `state`",
            pairing: PairingRules { results: ResultPlace::SameMessage, ..BY_ID },
            // Version 2 writes what changed of the instructions where it changed.
            provider: ProviderRules { system_beside: true, system_anywhere: true, ..NO_RULES },
            writer: Some(&OpenCode),
            log: &OpenCode,
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let is_message = is_version1(item) || is_version2(item);
        if is_message { Fit::Certain } else { Fit::No }
    }

    fn fits_record(&self, record: Value<'_>) -> bool {
        session(record).is_some_and(|session| {
            session.get_text("id").is_some_and(|id| id.decode().starts_with("ses_")) && session.has("time")
        })
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        if item.has("info") { read_version1(item) } else { read_version2(item) }
    }

    fn connect<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        if let Some(revert) = blocks::record_of(items).and_then(session).and_then(|session| session.some("revert")) {
            roll_back(revert, items, read);
        }
        mark(items, read);
    }

    /// Exports contain no instructions.
    fn preamble<'a>(&self, _record: Value<'a>) -> Vec<Text<'a>> {
        Vec::new()
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        let info = info(item);
        info.get_text("modelID").or_else(|| {
            let model = info.some("model")?;
            model.get_text("modelID").or_else(|| model.get_text("id"))
        })
    }

    fn time(&self, item: Value<'_>) -> Option<String> {
        info(item).some("time")?.get("created").and_then(provenance::written_time)
    }
}

impl DialectWriter for OpenCode {
    /// Exports have no role for instructions, and results are written inside their calls.
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let id = id_text(DraftId::new(first_id(draft, anchor)));
        let texts = draft.parts.iter().map(|part| match part {
            DraftPart::Verbatim(raw) => raw,
            value => value.text().unwrap_or_default(),
        });
        let text = texts.collect::<Vec<_>>().join("\n");
        match anchor {
            Some(anchor) if !anchor.has("info") && !anchor.has("parts") => {
                write_version2(draft.role, &id, &text, anchor)
            }
            _ => write_version1(draft.role, &id, &text, anchor),
        }
    }

    fn name_drafts(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) {
        name_drafts(layout, remaining);
    }

    fn relink(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) -> Vec<Patch> {
        name_drafts(layout, remaining);
        relink(layout, remaining.kept)
    }
}

impl LogHabits for OpenCode {
    /// `input` is what was not in the cache.
    fn usage(&self, item: Value<'_>) -> Option<Usage> {
        let tokens = info(item).some("tokens")?;
        let cache = tokens.some("cache");
        let cached = ["read", "write"].map(|key| cache.map_or(0, |cache| cache.number(key)));
        let output = tokens.number("output") + tokens.number("reasoning");
        provenance::counted(tokens.number("input") + cached.iter().sum::<u64>(), cached, output)
    }

    /// The last reply decides whether `OpenCode` compacts before it answers.
    fn size_figures<'a>(&self, item: Value<'a>) -> Option<SizeFigures<'a>> {
        Some(SizeFigures::SoFar(blocks::numbers(info(item).some("tokens")?, &[])))
    }

    fn provider(&self, item: Value<'_>) -> Option<&'static str> {
        let info = info(item);
        let id = info.get_text("providerID").or_else(|| info.get("model")?.get_text("providerID"))?.into_decoded();
        let ids = [("anthropic", "anthropic"), ("amazon-bedrock", "bedrock"), ("google", "gemini")];
        ids.into_iter().find(|(name, _)| *name == id).map(|(_, provider)| provider)
    }

    fn history(&self, items: &[Value<'_>]) -> Vec<HistoryChange> {
        let mut names = None;
        HistoryChange::compactions(items.len(), |at| {
            let is_compaction = is_summary(items[at]);
            is_compaction.then(|| kept_by(at, items, names.get_or_insert_with(|| Names::new(items))))
        })
    }
}

/// What a record says of its session.
fn session(record: Value<'_>) -> Option<Value<'_>> {
    record.some("info").filter(|info| info.is_object())
}
