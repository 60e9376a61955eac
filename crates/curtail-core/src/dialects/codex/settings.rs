//! Lines that set up a turn. A long session repeats them until they are most of the file, and a resumed one reads the newest.

use crate::dialects::Item;
use crate::json::Value;

/// Binds a setting that a newer one replaces to the last message of its turn, so that it is kept while something of the turn
/// is. A `turn_context` is replaced by the next one; a `world_state` by a later one that is `full`, and not by changes to it.
pub(super) fn bind<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    for (kind, replaces) in [("turn_context", is_setting as fn(Value<'_>) -> bool), ("world_state", is_full)] {
        let mut replaced = false;
        let mut last = None;
        // The message that the next one is bound to.
        let mut next = None;
        for at in (0..items.len()).rev() {
            match &read[at] {
                Item::Message(_) => last = last.or(Some(at)),
                Item::Pinned if items[at].get("type").is_some_and(|own| own.is(kind)) => {
                    if replaced {
                        // Where nothing follows before the next one, it goes with that, or else with what was before it.
                        next = last.or(next);
                        read[at] = next.map_or(Item::Metadata, Item::With);
                    }
                    replaced |= replaces(items[at]);
                    last = None;
                }
                _ => {}
            }
        }
    }
}

fn is_setting(_: Value<'_>) -> bool {
    true
}

fn is_full(item: Value<'_>) -> bool {
    item.get("payload").and_then(|payload| payload.get("full")).is_some_and(|full| full.raw() == "true")
}
