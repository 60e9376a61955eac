//! Events of `OpenHands`: version 1, which the agent SDK writes (`kind` is the type of an event), and version 0 (`action`
//! and `observation`). A condensation names the events that the model no longer reads.

mod condensations;
mod event_files;
mod usage;
mod version0;
mod version1;

use super::{BY_ID, Dialect, DialectWriter, Fit, Format, HistoryChange, Item, LogHabits, NO_RULES, Patch, Remaining};
use crate::json::{Text, Value};
use crate::transcript::{Draft, Layout, PairingRules, ProviderRules, ResultPlace, Usage};
use condensations::{Condensation, StillRead, forget_drafts, mark, renumber};
pub use event_files::{event_advice, event_number};

/// The dialect `openhands`.
pub(super) struct OpenHands;

impl Dialect for OpenHands {
    fn format(&self) -> &'static Format {
        &Format {
            name: "openhands",
            known: &["action", "message", "summary"],
            signature: "`source` and `kind`: `MessageEvent`, `ActionEvent`, `ObservationEvent`; \
                or `source` and `action` with `args`, `observation` with `cause`",
            pairing: PairingRules { results: ResultPlace::Anywhere, ..BY_ID },
            // The program updates its instructions when its tools change.
            provider: ProviderRules { log: true, system_anywhere: true, ..NO_RULES },
            is_log: true,
            writer: Some(&OpenHands),
            log: &OpenHands,
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        const SOURCES: &[&str] = &["user", "agent", "environment", "hook"];
        if item.has("role") || !item.get("source").is_some_and(|source| SOURCES.iter().any(|s| source.is(s))) {
            return Fit::No;
        }
        version1::fit(item).max(version0::fit(item))
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        if item.is_array() {
            // Older outputs of version 0 contain pairs of action and observation.
            return Item::Nested(item.items().collect());
        }
        match item.get_text("kind") {
            Some(kind) => version1::read(item, &kind.decode()),
            None => version0::read(item),
        }
    }

    fn connect<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        version1::join_signed(items, read);
        mark(items, read);
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        version0::model(item).or_else(|| version1::model_of_state(item)).or_else(|| usage::model(item))
    }
}

impl DialectWriter for OpenHands {
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let before = anchor.filter(|anchor| !anchor.has("kind") && !anchor.is_array());
        match before {
            Some(anchor) => version0::write(draft, anchor),
            None => version1::write(draft, anchor),
        }
    }

    fn relink(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) -> Vec<Patch> {
        forget_drafts(layout, &mut remaining.written);
        renumber(layout, remaining.kept)
    }
}

impl LogHabits for OpenHands {
    fn reply_id<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        version1::reply_id(item).or_else(|| version0::reply_id(item))
    }

    fn usage(&self, item: Value<'_>) -> Option<Usage> {
        version0::usage(item)
    }

    fn usages(&self, items: &[Value<'_>]) -> Vec<Option<Usage>> {
        usage::usages(items)
    }

    fn history(&self, items: &[Value<'_>]) -> Vec<HistoryChange> {
        let mut read = StillRead::default();
        HistoryChange::compactions(items.len(), |at| {
            let condensation = Condensation::from_event(items[at])?;
            read.advance(&items[..at]);
            read.forget(&condensation);
            Some(read.runs())
        })
    }
}
