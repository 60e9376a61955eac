//! Law 10: a boundary is never dropped while a message that needs it is kept.

use std::collections::HashMap;

use curtail_core::dialects::Framing;
use curtail_core::json::Document;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{Live, MessageRange, Strip, Thinking};
use curtail_core::transcript::{Role, Standing};
use curtail_memory::rolling::Counted;
use proptest::prelude::*;

use super::cases::{CASES, Change, LawCase, persist, rolling};
use super::check::{check_laws, cut_with, is_refused, reading};
use super::thoughts::threads;
use crate::properties::{drawn, tried};
use crate::serializers::{
    Serializer, Turn, anthropic, broken_script, claude_code, codex, copilot, gemini, kimi, opencode, pi, qwen,
    responses, sound_script,
};

/// A dialect, its serializer, and the lines of a boundary.
pub type Bounded = (&'static str, fn(&[Turn]) -> Vec<String>, fn(usize) -> Vec<String>);

pub const BOUNDED: &[Bounded] = &[
    ("responses", responses::serialize, |nth| {
        vec![format!("{{\"type\":\"compaction\",\"id\":\"cmp_{nth}\",\"encrypted_content\":\"gAAAA\"}}")]
    }),
    ("anthropic", anthropic::serialize, |nth| {
        vec![format!(
            "{{\"role\":\"assistant\",\"content\":[{{\"type\":\"compaction\",\"content\":\"Summary {nth}: the key is 42.\"}}]}}"
        )]
    }),
    ("anthropic", anthropic::serialize_roo, |nth| {
        vec![format!(
            "{{\"role\":\"user\",\"content\":\"[{nth} messages hidden]\",\"isTruncationMarker\":true,\"truncationId\":\"t{nth}\"}}"
        )]
    }),
    ("anthropic", anthropic::serialize_roo, |nth| {
        vec![format!(
            "{{\"role\":\"user\",\"content\":\"Summary {nth}: the key is 42.\",\"isSummary\":true,\"condenseId\":\"c{nth}\"}}"
        )]
    }),
    ("gemini", gemini::serialize_events, |nth| vec![gemini::compaction(nth)]),
    ("claude-code", claude_code::serialize, |nth| {
        vec![
            format!(
                "{{\"parentUuid\":null,\"isSidechain\":false,\"sessionId\":\"s\",\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"b{nth}\"}}"
            ),
            format!(
                "{{\"parentUuid\":\"b{nth}\",\"isSidechain\":false,\"sessionId\":\"s\",\"type\":\"user\",\"isCompactSummary\":true,\"message\":{{\"role\":\"user\",\"content\":\"Summary {nth}: the key is 42.\"}},\"uuid\":\"c{nth}\"}}"
            ),
        ]
    }),
    ("pi", pi::serialize, |nth| {
        vec![format!(
            "{{\"type\":\"compaction\",\"id\":\"k{nth}\",\"parentId\":null,\"summary\":\"Summary {nth}: the key is 42.\",\"tokensBefore\":9}}"
        )]
    }),
    ("copilot", copilot::serialize, |nth| vec![copilot::compaction(nth)]),
    ("kimi", kimi::serialize, |nth| vec![kimi::compaction(nth, "\"compactedCount\":3")]),
    ("kimi", kimi::serialize, |nth| vec![kimi::compaction(nth, "\"compactedCount\":9,\"keptUserMessageCount\":1")]),
    ("qwen", qwen::serialize, |nth| vec![qwen::compression(&format!("k{nth}"), None)]),
    ("opencode", opencode::serialize, |nth| {
        vec![
            format!(
                "{{\"info\":{{\"role\":\"user\",\"time\":{{\"created\":1}},\"id\":\"msg_mark{nth}\",\"sessionID\":\"ses_1\"}},\"parts\":[{{\"type\":\"compaction\",\"auto\":true}}]}}"
            ),
            format!(
                "{{\"info\":{{\"parentID\":\"msg_mark{nth}\",\"role\":\"assistant\",\"summary\":true,\"finish\":\"stop\",\"time\":{{\"created\":1}},\"id\":\"msg_sum{nth}\",\"sessionID\":\"ses_1\"}},\"parts\":[{{\"type\":\"text\",\"text\":\"Summary {nth}: the key is 42.\"}}]}}"
            ),
        ]
    }),
    ("codex", codex::serialize, |nth| {
        vec![format!(
            "{{\"timestamp\":\"t\",\"type\":\"compacted\",\"payload\":{{\"message\":\"Summary {nth}: the key is 42.\"}}}}"
        )]
    }),
    ("codex", codex::serialize, |nth| {
        let message = |role: &str, kind: &str, text: &str| {
            format!(
                "{{\"type\":\"message\",\"role\":\"{role}\",\"content\":[{{\"type\":\"{kind}\",\"text\":\"{text} {nth}\"}}]}}"
            )
        };
        let history = [
            message("user", "input_text", "What is the key?"),
            String::from("{\"type\":\"function_call\",\"call_id\":\"call_k\",\"name\":\"bash\",\"arguments\":\"{}\"}"),
            String::from("{\"type\":\"function_call_output\",\"call_id\":\"call_k\",\"output\":\"42\"}"),
            message("user", "input_text", "Summary: the key is 42."),
        ];
        vec![format!(
            "{{\"timestamp\":\"t\",\"type\":\"compacted\",\"payload\":{{\"message\":\"\",\"replacement_history\":[{}]}}}}",
            history.join(",")
        )]
    }),
    ("gemini", gemini::serialize_lines, |nth| {
        let history = [
            format!("{{\"id\":\"q{nth}\",\"type\":\"user\",\"content\":[{{\"text\":\"What is the key?\"}}]}}"),
            format!(
                "{{\"id\":\"a{nth}\",\"type\":\"gemini\",\"content\":[{{\"functionCall\":{{\"id\":\"k{nth}\",\"name\":\"bash\",\"args\":{{}}}}}}]}}"
            ),
            format!(
                "{{\"id\":\"a{nth}_response\",\"type\":\"user\",\"content\":[{{\"functionResponse\":{{\"id\":\"k{nth}\",\"name\":\"bash\",\"response\":{{\"output\":\"42\"}}}}}}]}}"
            ),
            format!(
                "{{\"id\":\"r{nth}\",\"type\":\"user\",\"content\":[{{\"functionResponse\":{{\"id\":\"k{nth}\",\"name\":\"bash\",\"response\":{{\"output\":\"42\"}}}}}}]}}"
            ),
            format!("{{\"id\":\"b{nth}\",\"type\":\"gemini\",\"content\":\"Summary: the key is 42.\"}}"),
        ];
        vec![format!("{{\"$set\":{{\"messages\":[{}]}}}}", history.join(","))]
    }),
    ("codex", codex::serialize, |_| {
        vec![String::from(
            "{\"timestamp\":\"t\",\"type\":\"response_item\",\"payload\":{\"type\":\"context_compaction\",\"encrypted_content\":\"gAAAA\"}}",
        )]
    }),
];

const LIVE: LawCase =
    LawCase { name: "live", chain: || curtail_core::pipeline::Chain::default().then(Live), change: Change::Cuts };

/// Dialects whose logs are trees, with their serializers.
const TREES: &[Serializer] = &[
    ("claude-code", claude_code::serialize_session),
    ("pi", pi::serialize_branches),
    ("qwen", qwen::serialize_branches),
    ("qwen", qwen::serialize_compressed),
];

/// The messages `from` up to `count` further ones.
fn ranged(from: usize, count: usize) -> Chain {
    Chain::default().then(MessageRange { from, to: Some(from + count), ..MessageRange::default() })
}

fn of_role(role: Role) -> Chain {
    Chain::default().then(Strip { roles: vec![role], ..Strip::default() })
}

/// How the messages of a text stand that have a mark, by the mark.
pub fn standings(dialect: &str, text: &str) -> HashMap<String, Standing> {
    let document = Document::parse_log(text).expect("what we write is JSON");
    let transcripts = reading(Some(dialect), Framing::Lines).transcripts_or_none(&document).expect("it is read");
    let messages = transcripts.iter().flat_map(|(_, transcript)| &transcript.messages);
    let marked = messages.filter_map(|message| {
        let mark = message.value()?.get_text("mark")?.decode().into_owned();
        Some((mark, message.standing))
    });
    marked.collect()
}

/// The result of a case; `None` if its budget is too small.
fn result(chain: Chain, dialect: &str, text: &str) -> Result<Option<String>, TestCaseError> {
    result_in(Framing::Lines, chain, dialect, text)
}

fn result_in(framing: Framing, chain: Chain, dialect: &str, text: &str) -> Result<Option<String>, TestCaseError> {
    match cut_with(chain, Some(dialect), framing, text) {
        Err(TestCaseError::Fail(reason)) if is_refused(reason.message()) => Ok(None),
        out => out.map(Some),
    }
}

/// A chain never rolls back what was not, and never restores what was rolled back.
fn check_standing((chain, name): (Chain, &str), dialect: &str, text: &str) -> Result<(), TestCaseError> {
    let Some(out) = result(chain, dialect, text)? else { return Ok(()) };
    compare_standings(name, dialect, text, &out)
}

fn compare_standings(name: &str, dialect: &str, text: &str, out: &str) -> Result<(), TestCaseError> {
    let before = standings(dialect, text);
    for (mark, standing) in standings(dialect, out) {
        let was = before.get(&mark).copied().unwrap_or_default();
        // What a compaction superseded is not read in either case.
        if was != Standing::Superseded {
            prop_assert_eq!(was.is_read(), standing.is_read(), "{}: {}\nin  {}\nout {}", name, mark, text, out);
        }
    }
    Ok(())
}

/// Makes the link `key` of an item lead to `target`.
fn link(item: &mut String, key: &str, target: &str) {
    let key = format!("\"{key}\":");
    let start = item.find(&key).expect("a link") + key.len();
    let end = start + item[start..].find(',').expect("a member behind it");
    item.replace_range(start..end, &format!("\"{target}\""));
}

/// The id of an entry of pi, or of a record of Qwen Code.
fn id(item: &str) -> String {
    item.split("id\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect("an id").to_owned()
}

/// Items with boundaries among them, each with a mark of its own; and the places of the boundaries. The lines of a boundary
/// follow each other.
pub fn marked(script: &[Turn], bounded: &Bounded, places: &[prop::sample::Index]) -> (Vec<String>, Vec<usize>) {
    let mut items: Vec<(Option<usize>, String)> = (bounded.1)(script).into_iter().map(|item| (None, item)).collect();
    for (nth, place) in places.iter().enumerate() {
        let mut at = place.index(items.len() + 1);
        let is_one = |last: &(Option<usize>, String), next: &(Option<usize>, String)| {
            next.0.is_some() && next.0 == last.0 || bounded.0 == "qwen" && id(&next.1) == id(&last.1)
        };
        while at > 0 && at < items.len() && is_one(&items[at - 1], &items[at]) {
            at += 1;
        }
        // A log goes on behind the summary.
        let keys = match bounded.0 {
            "claude-code" => Some(("parentUuid", format!("c{nth}"))),
            "pi" => Some(("parentId", format!("k{nth}"))),
            "qwen" => Some(("parentUuid", format!("k{nth}"))),
            _ => None,
        };
        if let (Some((key, summary)), Some((None, _))) = (&keys, items.get(at)) {
            // The pieces of a message share its link.
            let pieces = items[at..].windows(2).take_while(|pair| is_one(&pair[0], &pair[1])).count();
            items[at..=at + pieces].iter_mut().for_each(|(_, item)| link(item, key, summary));
        }
        let mut lines: Vec<(Option<usize>, String)> =
            (bounded.2)(nth).into_iter().map(|line| (Some(nth), line)).collect();
        // A compaction of a range of time replaces nothing that comes behind it.
        let time = |item: &str, key: &str| item.split_once(key)?.1.split([',', '}']).next()?.parse::<usize>().ok();
        let last = items[..at]
            .iter()
            .rev()
            .filter(|(nth, _)| nth.is_none())
            .find_map(|(_, item)| time(item, "\"timestamp\":"));
        for (_, line) in &mut lines {
            if let Some(end) = time(line, "\"end_timestamp\":") {
                let earlier = end.min(last.unwrap_or(0));
                *line = line.replace(&format!("\"end_timestamp\":{end}"), &format!("\"end_timestamp\":{earlier}"));
            }
        }
        if let ("pi" | "qwen", Some((key, _)), Some((_, last))) =
            (bounded.0, &keys, at.checked_sub(1).map(|last| &items[last]))
        {
            link(&mut lines[0].1, key, &id(last));
        }
        items.splice(at..at, lines);
    }
    let mark = |(nth, (_, item)): (usize, &(Option<usize>, String))| {
        item.replacen('{', &format!("{{\"mark\":\"m{nth}.\","), 1)
    };
    let marked = items.iter().enumerate().map(mark).collect();
    (marked, (0..items.len()).filter(|&at| items[at].0.is_some()).collect())
}

/// Turns of Codex: a question and an answer each, then an event that rolls back this many turns; and so on.
fn rolled_back(turns: &[usize]) -> String {
    let message = |mark: String, role: &str, kind: &str| {
        format!(
            "{{\"mark\":\"{mark}\",\"timestamp\":\"t\",\"type\":\"response_item\",\"payload\":{{\"type\":\"message\",\"role\":\"{role}\",\"content\":[{{\"type\":\"{kind}\",\"text\":\"{mark}\"}}]}}}}\n"
        )
    };
    let mut text = String::new();
    for (nth, count) in turns.iter().enumerate() {
        text += &message(format!("q{nth}"), "user", "input_text");
        text += &message(format!("a{nth}"), "assistant", "output_text");
        if *count > 0 {
            text += &format!(
                "{{\"timestamp\":\"t\",\"type\":\"event_msg\",\"payload\":{{\"type\":\"thread_rolled_back\",\"num_turns\":{count}}}}}\n"
            );
        }
        text += &message(format!("s{nth}"), "assistant", "output_text");
    }
    text
}

/// The number in the event follows the turns that are kept, and an answer is not left to the turn before its own.
#[test]
fn a_range_inside_turns_that_were_rolled_back_restores_none() {
    for turns in [&[0, 0, 2, 0][..], &[0, 1, 1, 0], &[0, 0, 1, 2, 0], &[0, 9, 0], &[1, 0, 0, 3, 1, 0]] {
        let text = rolled_back(turns);
        for from in 0..14 {
            for count in 1..14 {
                check_standing((ranged(from, count), "range"), "codex", &text)
                    .unwrap_or_else(|error| panic!("{error}"));
            }
        }
        for role in [Role::User, Role::Assistant] {
            check_standing((of_role(role), "role"), "codex", &text).unwrap_or_else(|error| panic!("{error}"));
        }
    }
    // Of two turns, the second is outside: the event rolls back the first one alone.
    let out = result(ranged(0, 5), "codex", &rolled_back(&[0, 0, 2, 0])).expect("it is cut").expect("it has no budget");
    assert!(out.contains("\"num_turns\":1}"), "{out}");
}

/// The same in a thread of the store: after the events, it reads line by line, and its window begins inside these turns.
#[test]
fn a_thread_gives_no_turn_back() {
    for turns in [&[0, 0, 2, 0, 0][..], &[0, 0, 0, 3, 1, 0, 0], &[0, 1, 0, 1, 0]] {
        let text = rolled_back(turns);
        let behind = text.rfind("thread_rolled_back").and_then(|at| Some(at + text[at..].find('\n')? + 1));
        let (begin, end) = text.split_at(behind.expect("there is an event"));
        let pieces: Vec<String> = std::iter::once(begin).chain(end.split_inclusive('\n')).map(str::to_owned).collect();
        for window in 1..9 {
            let summary = rolling(window, 2, Counted::Message);
            let shown = threads(&summary, "codex", &pieces, Thinking::Auto).expect("the log is read");
            for (nth, out) in shown.iter().enumerate() {
                let before = pieces[..=nth].concat();
                compare_standings("thread", "codex", &before, out).unwrap_or_else(|error| panic!("{window}: {error}"));
            }
        }
    }
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
            let Some(out) = result_in(framing, (case.chain)(), bounded.0, &text)? else { continue };
            let stays = |at: usize| out.contains(&format!("\"m{at}.\""));
            for (nth, &at) in boundaries.iter().enumerate().filter(|(_, at)| !stays(**at)) {
                // A summary that only dropped ones replaced would be read again.
                let is_replaced = standings.get(&format!("m{at}.")) == Some(&Standing::Superseded);
                if is_replaced && !boundaries[nth + 1..].iter().any(|later| stays(*later)) {
                    continue;
                }
                let end = boundaries.get(nth + 1).copied().unwrap_or(items.len());
                let needing: Vec<usize> = (at + 1..end).filter(|&after| stays(after)).collect();
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
            let Some(out) = result((case.chain)(), "pi", &text)? else { continue };
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
            let Some(out) = result((case.chain)(), "copilot", &text)? else { continue };
            let after = standings("copilot", &out);
            for (mark, standing) in after.iter().filter(|_| after.contains_key(&format!("m{newest}."))) {
                prop_assert_eq!(before.get(mark), Some(standing), "{}: {}\nin  {}\nout {}", case.name, mark, text, out);
            }
        }
    }

    /// Turns of Codex that an event rolls back, before and after compactions of every kind.
    #[test]
    fn what_was_rolled_back_stays_rolled_back(
        script in sound_script(),
        bounded in prop::sample::select(BOUNDED.iter().filter(|bounded| bounded.0 == "codex").copied().collect::<Vec<_>>()),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..3),
        phases in prop::collection::vec(any::<(prop::sample::Index, bool)>(), 0..4),
        events in prop::collection::vec((any::<prop::sample::Index>(), 1..4_usize), 1..3),
        range in (0..9_usize, 1..9_usize),
        drawn in drawn(),
    ) {
        let (mut items, _) = marked(&script, &bounded, &places);
        let events = events.into_iter().map(|(place, turns)| (place, format!("\"thread_rolled_back\",\"num_turns\":{turns}")));
        let phases = phases.into_iter().map(|(place, begins)| {
            (place, String::from(if begins { "\"task_started\"" } else { "\"task_complete\"" }))
        });
        for (place, event) in phases.chain(events) {
            let at = place.index(items.len() + 1);
            items.insert(at, format!("{{\"timestamp\":\"t\",\"type\":\"event_msg\",\"payload\":{{\"type\":{event}}}}}"));
        }
        let text: String = items.iter().map(|item| format!("{item}\n")).collect();
        for case in tried(CASES.iter().chain([&LIVE]), drawn) {
            check_laws(case, Some("codex"), Framing::Lines, &text)?;
            let chains = ((case.chain)(), case.name);
            check_standing(chains, "codex", &text)?;
        }
        let (from, count) = range;
        check_standing((ranged(from, count), "any range"), "codex", &text)?;
        check_standing((of_role(Role::Assistant), "role"), "codex", &text)?;
    }

    /// Lines of Gemini CLI that roll back a message and all after it, a list that replaces everything included: what was
    /// rolled back is not read again because the line or its target went.
    #[test]
    fn a_rewind_rolls_back_the_same(
        script in sound_script(),
        rewinds in prop::collection::vec(any::<(prop::sample::Index, prop::sample::Index)>(), 1..4),
        list in prop::option::of(any::<prop::sample::Index>()),
        unknown in prop::bool::weighted(0.1),
        range in (0..9_usize, 1..9_usize),
        drawn in drawn(),
    ) {
        let mut items = gemini::serialize_lines(&script);
        if let Some(place) = list {
            // A resumed recording begins with its history as a list.
            let history = items.drain(..place.index(items.len() + 1)).filter(|item| item.starts_with("{\"id\"")).collect::<Vec<_>>();
            items.insert(0, format!("{{\"$set\":{{\"messages\":[{}]}}}}", history.join(",")));
        }
        for (place, target) in rewinds {
            let at = place.index(items.len() + 1);
            let before = items[..at].join("");
            let ids: Vec<&str> = before.split("{\"id\":\"m").skip(1).filter_map(|rest| rest.split('"').next()).collect();
            let named = if unknown || ids.is_empty() { "?" } else { ids[target.index(ids.len())] };
            items.insert(at, format!("{{\"$rewindTo\":\"m{named}\"}}"));
        }
        let mut nth = 0;
        let mut mark = |item: &String| {
            let marked = item.split("{\"id\":\"m").collect::<Vec<_>>();
            let mut out = String::from(marked[0]);
            for piece in &marked[1..] {
                nth += 1;
                out += &format!("{{\"mark\":\"n{nth}.\",\"id\":\"m{piece}");
            }
            out + "\n"
        };
        let text: String = items.iter().map(&mut mark).collect();
        for case in tried(CASES.iter().chain([&LIVE]), drawn) {
            check_laws(case, Some("gemini"), Framing::Lines, &text)?;
            check_standing(((case.chain)(), case.name), "gemini", &text)?;
        }
        let (from, count) = range;
        check_standing((ranged(from, count), "any range"), "gemini", &text)?;
        check_standing((of_role(Role::Assistant), "role"), "gemini", &text)?;
        check_standing((of_role(Role::User), "role"), "gemini", &text)?;
    }

    /// Logs that are trees, broken ones included: sessions of Claude Code with second roots and compactions, and branches. No cut
    /// begins another tree. Only without the newest message, another path is the newest.
    #[test]
    fn what_is_read_stays_read(
        script in broken_script(),
        tree in prop::sample::select(TREES),
        persisted in any::<bool>(),
        drawn in drawn(),
    ) {
        let (dialect, serialize) = tree;
        let items = serialize(&script);
        let mark = |(nth, item): (usize, &String)| item.replacen('{', &format!("{{\"mark\":\"m{nth}.\","), 1) + "\n";
        let mut text: String = items.iter().enumerate().map(mark).collect();
        if persisted {
            text = cut_with(persist("*"), Some(dialect), Framing::Lines, &text)?;
        }
        for case in tried(CASES.iter().chain([&LIVE]), drawn) {
            check_laws(case, Some(dialect), Framing::Lines, &text)?;
            let newest = items.iter().rposition(|item| !item.contains("\"isSidechain\":true")).unwrap_or_default();
            let newest = format!("\"m{newest}.\"");
            match result((case.chain)(), dialect, &text)? {
                Some(out) if out.contains(&newest) => compare_standings(case.name, dialect, &text, &out)?,
                _ => {}
            }
        }
    }
}
