//! Law 10: a boundary is never dropped while a message that needs it is kept, and what it replaced is neither read again nor pinned.

use curtail_core::dialects::Framing;
use curtail_core::json::Document;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{DropMessages, Pins, Question, Strip};
use curtail_core::transcript::{Pairs, Role, Standing};
use proptest::prelude::*;

use super::bounded::{BOUNDED, id, link, marked, standings};
use super::cases::{CASES, LIVE, LawCase, all_but_pins};
use super::check::{check_laws, cut_unless_refused, cut_with, reading};
use crate::properties::{drawn, tried};
use crate::serializers::{copilot, pi, sound_script};

/// The marks of the messages that stay because a call waits for its answer.
fn waiting(dialect: &str, log: &str) -> Vec<String> {
    let document = Document::parse_log(log).expect("it is a log");
    let transcripts = reading(Some(dialect), Framing::Lines).transcripts_or_none(&document).expect("it is read");
    let Some((_, transcript)) = transcripts.first() else { return Vec::new() };
    let messages = &transcript.messages;
    let waiting = Pairs::from_messages(messages).awaiting_messages(messages);
    let mark = |at: usize| Some(messages[at].value()?.get_text("mark")?.decode().into_owned());
    waiting.into_iter().filter_map(mark).collect()
}

/// Drops one message by its number.
fn without(at: usize) -> Chain {
    Chain::default().then(DropMessages { messages: std::iter::once(at..at + 1).collect(), ..DropMessages::default() })
}

/// A compaction at the end of a log is kept with what it replaced, which would be read again without it.
#[test]
fn a_compaction_at_the_end_is_not_dropped_alone() {
    let log = concat!(
        "{\"role\":\"user\",\"content\":\"Paint the gate.\"}\n",
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Done.\"}]}\n",
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"compaction\",\"content\":\"The gate is painted.\"}]}\n",
    );
    let users = Strip { roles: vec![Role::User], ..Strip::default() };
    let out = cut_with(Chain::default().then(users), Some("anthropic"), Framing::Lines, log).unwrap();
    assert!(out.contains("Paint the gate") && out.contains("compaction"), "{out}");
    let whole = DropMessages { messages: std::iter::once(0..3).collect(), ..DropMessages::default() };
    assert_eq!(cut_with(Chain::default().then(whole), Some("anthropic"), Framing::Lines, log).unwrap(), "");
}

proptest! {
    #![proptest_config(crate::properties::property(12))]

    #[test]
    fn a_boundary_stays_with_what_follows_it(
        script in sound_script(),
        bounded in prop::sample::select(BOUNDED),
        places in prop::collection::vec(any::<prop::sample::Index>(), 1..3),
        framing in prop::sample::select(&[Framing::Lines, Framing::Document, Framing::Records]),
        drawn in drawn(),
    ) {
        let (items, mut boundaries) = marked(&script, &bounded, &places);
        let lines: String = items.iter().map(|item| format!("{item}\n")).collect();
        // A boundary that the log took back replaces nothing any more, and neither does one whose range is inside that of another.
        let standings = standings(bounded.0, &lines);
        boundaries.retain(|at| match standings.get(&format!("m{at}.")) {
            Some(standing) => !standing.is_rolled_back() && (*standing != Standing::Superseded || bounded.0 != "gemini"),
            None => true,
        });
        let text = match framing {
            Framing::Document => format!("[{}]\n", items.join(", ")),
            Framing::Records => format!("{{\"messages\": [{}]}}\n", items.join(", ")),
            Framing::Lines => lines,
        };
        for case in tried(CASES.iter().chain([&LIVE]), drawn) {
            check_laws(case, Some(bounded.0), framing, &text)?;
            let Some(out) = cut_unless_refused((case.chain)(), Some(bounded.0), framing, &text)? else { continue };
            let stays = |at: usize| out.contains(&format!("\"m{at}.\""));
            for (nth, &at) in boundaries.iter().enumerate().filter(|(_, at)| !stays(**at)) {
                // A summary that only dropped ones replaced would be read again.
                let is_replaced = standings.get(&format!("m{at}.")) == Some(&Standing::Superseded);
                if is_replaced && !boundaries[nth + 1..].iter().any(|later| stays(*later)) {
                    continue;
                }
                let end = boundaries.get(nth + 1).copied().unwrap_or(items.len());
                // What belongs to a message behind a later boundary, such as the beginning of a step, needs only that one.
                let is_of_later = |after: usize| {
                    let standing = standings.get(&format!("m{after}."));
                    end < items.len() && standing.is_none_or(|standing| *standing == Standing::Live)
                };
                let needing: Vec<usize> = (at + 1..end).filter(|&after| stays(after) && !is_of_later(after)).collect();
                prop_assert!(needing.is_empty(), "{}: boundary {} is gone, {:?} stay\nin  {}\nout {}", case.name, at, needing, text, out);
            }
        }
    }

    /// What a compaction of pi kept is read before and after a cut, also where the cut drops the entry that it names.
    #[test]
    fn what_a_compaction_kept_stays_kept(
        script in sound_script(),
        (place, first) in any::<(prop::sample::Index, prop::sample::Index)>(),
        drawn in drawn(),
    ) {
        let compaction = |nth: usize| {
            let first = first.index(nth.max(1));
            format!("{{\"type\":\"compaction\",\"id\":\"k\",\"parentId\":null,\"summary\":\"The key is 42.\",\"firstKeptEntryId\":\"{first:08x}\"}}")
        };
        let mut items = pi::serialize(&script);
        let at = place.index(items.len() + 1);
        let mut compaction = compaction(at);
        if let Some(last) = at.checked_sub(1) {
            link(&mut compaction, "parentId", &id(&items[last]));
        }
        if let Some(next) = items.get_mut(at) {
            link(next, "parentId", "k");
        }
        items.insert(at, compaction);
        let mark = |(nth, item): (usize, &String)| item.replacen('{', &format!("{{\"mark\":\"m{nth}.\","), 1) + "\n";
        let text: String = items.iter().enumerate().map(mark).collect();
        let before = standings("pi", &text);
        for case in tried(CASES, drawn) {
            check_laws(case, Some("pi"), Framing::Lines, &text)?;
            let Some(out) = cut_unless_refused((case.chain)(), Some("pi"), Framing::Lines, &text)? else { continue };
            let after = standings("pi", &out);
            for (mark, standing) in after.iter().filter(|_| after.contains_key(&format!("m{at}."))) {
                prop_assert_eq!(before.get(mark), Some(standing), "{}: {}\nin  {}\nout {}", case.name, mark, text, out);
            }
        }
    }

    /// Messages that arrive while Copilot writes a summary are kept, and a cut changes none of that.
    #[test]
    fn what_is_said_during_a_compaction_stays_kept(
        script in sound_script(),
        places in any::<[prop::sample::Index; 4]>(),
        drawn in drawn(),
    ) {
        let mut items = copilot::serialize(&script);
        let mut places = places.map(|place| place.index(items.len() + 1));
        places.sort_unstable();
        for (nth, place) in places.into_iter().enumerate().rev() {
            items.insert(place, if nth % 2 == 0 { copilot::compaction_start(nth) } else { copilot::compaction(nth) });
        }
        // Where it begins between results, which calls it keeps depends on the first of them.
        let began = &items[places[2] + 2..];
        prop_assume!(!began.iter().find(|item| !item.contains("session.")).is_some_and(|item| item.contains("tool.")));
        let newest = places[3] + 3;
        let mark = |(nth, item): (usize, &String)| item.replacen('{', &format!("{{\"mark\":\"m{nth}.\","), 1) + "\n";
        let text: String = items.iter().enumerate().map(mark).collect();
        let before = standings("copilot", &text);
        for case in tried(CASES.iter().chain([&LIVE]), drawn) {
            check_laws(case, Some("copilot"), Framing::Lines, &text)?;
            let Some(out) = cut_unless_refused((case.chain)(), Some("copilot"), Framing::Lines, &text)? else { continue };
            let after = standings("copilot", &out);
            for (mark, standing) in after.iter().filter(|_| after.contains_key(&format!("m{newest}."))) {
                prop_assert_eq!(before.get(mark), Some(standing), "{}: {}\nin  {}\nout {}", case.name, mark, text, out);
            }
        }
    }
}

proptest! {
    #![proptest_config(crate::properties::property(24))]

    /// Pins choose among what a model reads: what a compaction replaced is not pinned.
    #[test]
    fn what_was_replaced_is_not_pinned(
        script in sound_script(),
        bounded in prop::sample::select(BOUNDED),
        places in prop::collection::vec(any::<prop::sample::Index>(), 1..3),
        question in prop::sample::select(&[Question::Never, Question::Always][..]),
    ) {
        let (items, boundaries) = marked(&script, &bounded, &places);
        let text: String = items.iter().map(|item| format!("{item}\n")).collect();
        let mut before = standings(bounded.0, &text);
        // A compaction can contain a list of messages, which have its mark.
        before.retain(|mark, _| !boundaries.iter().any(|at| *mark == format!("m{at}.")));
        // What waits for an answer is kept for that.
        for mark in waiting(bounded.0, &text) {
            before.remove(&mark);
        }
        let chain = all_but_pins(Pins { system: false, first_user: true, question });
        let out = cut_with(chain, Some(bounded.0), Framing::Lines, &text)?;
        for (mark, _) in standings(bounded.0, &out) {
            let was_replaced = before.get(&mark) == Some(&Standing::Superseded);
            prop_assert!(!was_replaced, "{} is pinned\nin  {}\nout {}", mark, text, out);
        }
    }

    /// What a compaction replaced is not read again, whatever is dropped: the compaction stays, or what it replaced goes too.
    #[test]
    fn what_was_replaced_is_not_read_again(
        script in sound_script(),
        bounded in prop::sample::select(BOUNDED),
        places in prop::collection::vec(any::<prop::sample::Index>(), 1..3),
        dropped in any::<prop::sample::Index>(),
        drawn in drawn(),
    ) {
        let (items, _) = marked(&script, &bounded, &places);
        let text: String = items.iter().map(|item| format!("{item}\n")).collect();
        let before = standings(bounded.0, &text);
        let roles = [&[Role::User][..], &[Role::Assistant], &[Role::User, Role::Tool], &[Role::Assistant, Role::Tool]];
        let of_roles = roles.map(|roles| Chain::default().then(Strip { roles: roles.to_vec(), ..Strip::default() }));
        let mut chains: Vec<(&str, Chain)> = of_roles.into_iter().map(|chain| ("roles", chain)).collect();
        chains.push(("a message", without(dropped.index(items.len()))));
        chains.push(("the last message", without(before.len().saturating_sub(1))));
        chains.extend(tried(CASES, drawn).into_iter().map(|LawCase { name, chain, .. }| (*name, chain())));
        for (name, chain) in chains {
            let Some(out) = cut_unless_refused(chain, Some(bounded.0), Framing::Lines, &text)? else { continue };
            for (mark, standing) in standings(bounded.0, &out) {
                let was_replaced = before.get(&mark) == Some(&Standing::Superseded);
                prop_assert!(!(was_replaced && standing.is_read()), "{}: {} is read again\nin  {}\nout {}", name, mark, text, out);
            }
        }
    }
}
