//! Events of `OpenHands`: version 1, which the agent SDK writes (`kind` is the type of an event), and version 0 (`action`
//! and `observation`). A condensation names the events that the model no longer reads.

mod condensation;
mod stats;
mod version0;
mod version1;

use super::{Dialect, DialectWriter, Fit, Item, LogHabits, Patch, Remaining};
use crate::json::{Text, Value};
use crate::transcript::{
    Draft, DraftPart, Layout, Message, PairingRules, PartOrigin, ProviderRules, ResultPlace, Role, Usage,
};

/// The dialect `openhands`.
pub(super) struct OpenHands;

impl Dialect for OpenHands {
    fn name(&self) -> &'static str {
        "openhands"
    }

    fn signature(&self) -> &'static str {
        "`source` and `kind`: `MessageEvent`, `ActionEvent`, `ObservationEvent`; or `source` and `action` with `args`, `observation` with `cause`"
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        const SOURCES: &[&str] = &["user", "agent", "environment", "hook"];
        if item.get("role").is_some() || !item.get("source").is_some_and(|source| SOURCES.iter().any(|s| source.is(s)))
        {
            return Fit::No;
        }
        version1::fit(item).max(version0::fit(item))
    }

    fn pairing_rules(&self) -> PairingRules {
        PairingRules { results: ResultPlace::Anywhere, unique_ids: false, ids: true, developer: false }
    }

    fn provider_rules(&self) -> ProviderRules {
        // The program updates its instructions when its tools change.
        ProviderRules { log: true, system_anywhere: true, ..ProviderRules::default() }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        if item.is_array() {
            // Older outputs of version 0 contain pairs of action and observation.
            return Item::Nested(item.items().collect());
        }
        match item.get_text("kind") {
            Some(kind) => version1::read_event(item, &kind.decode()),
            None => version0::read_event(item),
        }
    }

    fn read_all<'a>(&self, items: &[Value<'a>]) -> Vec<Item<'a>> {
        let mut read: Vec<Item<'a>> = items.iter().map(|&item| self.read(item)).collect();
        join_signed(items, &mut read);
        condensation::mark(items, &mut read);
        read
    }
}

impl DialectWriter for OpenHands {
    fn spell(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let before = anchor.filter(|anchor| anchor.get("kind").is_none() && !anchor.is_array());
        match before {
            Some(anchor) => version0::spell(draft, anchor),
            None => version1::spell(draft, anchor),
        }
    }

    fn spell_part(&self, part: &DraftPart) -> String {
        match part {
            DraftPart::Verbatim(raw) => raw.clone(),
            part => self.spell(&Draft::part(Role::Assistant, part.clone()), None),
        }
    }

    fn relink(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) -> Vec<Patch> {
        condensation::forget_drafts(layout, &mut remaining.written);
        condensation::renumber(layout, remaining.kept)
    }
}

impl LogHabits for OpenHands {
    fn is_log(&self) -> bool {
        true
    }

    fn reply_id<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        version1::reply_id(item).or_else(|| version0::reply_id(item))
    }

    fn usage(&self, item: Value<'_>) -> Option<Usage> {
        version0::usage(item)
    }

    fn usages(&self, items: &[Value<'_>]) -> Vec<Option<Usage>> {
        stats::usages(items)
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        version0::model(item).or_else(|| version1::model(item)).or_else(|| stats::model(item))
    }

    fn replaces_past(&self, item: Value<'_>) -> bool {
        condensation::Condensation::from_event(item).is_some()
    }

    fn kept_by(&self, compaction: Value<'_>, before: &[Value<'_>]) -> Vec<usize> {
        condensation::kept(compaction, before)
    }
}

/// Joins the parallel calls of a reply with signed thoughts: the event of the first call contains the thoughts.
fn join_signed<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    let mut first: Option<(Text<'a>, Value<'a>)> = None;
    for (&item, read) in items.iter().zip(read) {
        let Item::Message(message) = read else { continue };
        let reply = version1::reply_id(item).filter(|_| message.role == Role::Assistant);
        match (reply, &first) {
            (Some(reply), Some((own, call))) if reply == *own => name_first(message, *call),
            (Some(reply), _) => {
                let signed = message.parts.iter().any(crate::transcript::Part::is_prefix_bound);
                first = item.get("tool_call_id").filter(|_| signed).map(|call| (reply, call));
            }
            (None, _) => {}
        }
    }
}

fn name_first<'a>(message: &mut Message<'a>, first: Value<'a>) {
    for part in message.parts.iter_mut().filter(|part| part.content.call().is_some()) {
        if let PartOrigin::Source(place) = &mut part.origin {
            place.thinking_call = Some(first);
        }
    }
}
