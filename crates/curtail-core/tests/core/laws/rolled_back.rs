//! Turns that were rolled back stay so, and nothing is chosen among them.

use std::collections::HashSet;

use curtail_core::dialects::Framing;
use curtail_core::json::Document;
use curtail_core::pipeline::{Chain, Splitting, TextCutter};
use curtail_core::processors::{
    ClearResults, Counting, MediaLimits, MessageRange, Pins, Plan, Processor, ProcessorError, Question, Split,
    SplitOverflow, StaleResults, Strip, StripKind, Thinking, ToolFilter, ToolGlobs, Traits, View, drop_standing,
    without_rolled_back,
};
use curtail_core::transcript::{Fault, FaultKind, Message, PairingRules, Pairs, Role, Standing};
use curtail_memory::rolling::Counted;
use proptest::prelude::*;

use super::bounded::{BOUNDED, marked, standings};
use super::cases::{CASES, LIVE, all_but_pins, globs, rolling, tokenizer};
use super::check::{check_laws, cut_unless_refused, cut_with, is_refused, reading};
use super::thoughts::threads;
use crate::properties::{drawn, tried};
use crate::serializers::{Serializer, claude_code, codex, gemini, kimi, open_script, pi, qwen, sound_script};

/// Logs in which a person rolls turns back.
const REWOUND: &[Serializer] = &[
    ("claude-code", claude_code::serialize_session),
    ("claude-code", claude_code::serialize_torn),
    ("codex", codex::serialize_rewound),
    ("gemini", gemini::serialize_rewound),
    ("kimi", kimi::serialize_rewound),
    ("pi", pi::serialize_branches),
    ("qwen", qwen::serialize_branches),
];

/// Drops the turns that were rolled back.
pub struct RolledBack;

impl Processor for RolledBack {
    fn name(&self) -> &'static str {
        "rolled back"
    }

    fn traits(&self) -> Traits {
        Traits { may_empty: true, ..Traits::default() }
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        Ok(drop_standing(view, Standing::ROLLED_BACK))
    }
}

/// A chain that chooses by place: the last results, the first prompt, what is pinned.
type Choice = (&'static str, fn() -> Chain);

fn clearing(stale: StaleResults) -> ClearResults {
    ClearResults { placeholder: String::from("-"), ..ClearResults::new(stale, tokenizer()) }
}

const CHOICES: &[Choice] = &[
    ("the last results", || Chain::default().then(clearing(StaleResults::AllButLast(2)))),
    ("the last results in steps", || {
        Chain::default().then(ClearResults { step: 3, ..clearing(StaleResults::AllButLast(2)) })
    }),
    ("the last results of a tool", || {
        Chain::default().then(ClearResults { only: globs(&["bash", "fetch"]), ..clearing(StaleResults::AllButLast(1)) })
    }),
    ("protected tokens", || {
        Chain::default().then(ClearResults { protected_tokens: 12, ..clearing(StaleResults::AllButLast(0)) })
    }),
    ("repeated results", || Chain::default().then(clearing(StaleResults::Duplicates))),
    ("superseded reads", || Chain::default().then(clearing(StaleResults::SupersededReads(globs(&["*"]))))),
    ("the last media", || Chain::default().then(MediaLimits { keep_last: Some(1), max_bytes: None, max_pixels: None })),
    ("reasoning of the open turn", || {
        Chain::default().then(Strip { kinds: vec![StripKind::Reasoning], ..Strip::default() })
    }),
    ("the first prompt", || all_but_pins(Pins { system: false, first_user: true, ..Pins::default() })),
    ("the last prompt", || all_but_pins(Pins { system: false, question: Question::Always, ..Pins::default() })),
    ("calls of some tools", || {
        Chain::default().then(ToolFilter {
            tools: ToolGlobs::Exclude(globs(&["bash", "fetch"])),
            persist_results: false,
            dropped: None,
        })
    }),
    ("pins", || all_but_pins(Pins { system: true, first_user: true, ..Pins::default() })),
    ("a role and pins", || {
        let pins = Pins { system: true, first_user: true, ..Pins::default() };
        Chain::default().then(Strip { roles: vec![Role::Assistant], pins, ..Strip::default() })
    }),
];

/// The values of the messages of a log that were not rolled back.
fn told(dialect: &str, log: &str) -> Vec<String> {
    let document = Document::parse_log(log).expect("it is a log");
    let transcripts = reading(Some(dialect), Framing::Lines).transcripts_or_none(&document).expect("it is read");
    let Some((_, transcript)) = transcripts.first() else { return Vec::new() };
    let view = View::of_layout(&transcript.layout, &transcript.messages);
    let content = |message: &Message<'_>| {
        format!("{:?} {:?}", message.role, message.parts.iter().map(|part| part.content.clone()).collect::<Vec<_>>())
    };
    without_rolled_back(&view).iter().map(content).collect()
}

/// The open calls of a log in turns that were not rolled back, by the offset of each, and whether its result may still come.
fn open_calls(messages: &[Message<'_>], rules: PairingRules) -> Vec<(u32, FaultKind)> {
    let faults = Fault::find_all(messages, &Pairs::from_messages(messages), rules);
    let is_call = |fault: &&Fault| matches!(fault.kind, FaultKind::PendingCall | FaultKind::UnansweredCall);
    let counts = faults.iter().filter(is_call).filter(|fault| messages[fault.at.message].counts_in(0));
    let offset = |fault: &Fault| fault.at.part_in(messages).place().map_or(0, |place| place.element.span().start);
    counts.map(|fault| (offset(fault), fault.kind)).collect()
}

/// The open calls of a log that are open in another way without the turns that were rolled back.
fn calls_judged_by_turns_that_are_over(dialect: &str, log: &str) -> Vec<(u32, FaultKind)> {
    let document = Document::parse_log(log).expect("it is a log");
    let transcripts = reading(Some(dialect), Framing::Lines).transcripts_or_none(&document).expect("it is read");
    let Some((_, transcript)) = transcripts.first() else { return Vec::new() };
    let view = View::of_layout(&transcript.layout, &transcript.messages);
    let told = without_rolled_back(&view);
    // A call whose result was rolled back leaves with it, and then its round is another one.
    if told.len() < view.messages.iter().filter(|message| !message.standing.is_rolled_back()).count() {
        return Vec::new();
    }
    let of_all = open_calls(view.messages, view.rules.pairing);
    let mut of_told = open_calls(&told, view.rules.pairing);
    of_told.retain(|call| !of_all.contains(call));
    of_told
}

/// The messages `from` up to `count` further ones.
fn ranged(from: usize, count: usize) -> Chain {
    Chain::default().then(MessageRange { from, to: Some(from + count), ..MessageRange::default() })
}

fn of_role(role: Role) -> Chain {
    Chain::default().then(Strip { roles: vec![role], ..Strip::default() })
}

/// A chain never rolls back what was not, and never restores what was rolled back.
fn check_standing((chain, name): (Chain, &str), dialect: &str, text: &str) -> Result<(), TestCaseError> {
    let Some(out) = cut_unless_refused(chain, Some(dialect), Framing::Lines, text)? else { return Ok(()) };
    compare_standings(name, dialect, text, &out)
}

pub fn compare_standings(name: &str, dialect: &str, text: &str, out: &str) -> Result<(), TestCaseError> {
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
    let out = cut_with(ranged(0, 5), Some("codex"), Framing::Lines, &rolled_back(&[0, 0, 2, 0])).expect("it is cut");
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
    #![proptest_config(crate::properties::property(24))]

    /// What is chosen of a log is what is chosen of the log without the turns that were rolled back.
    #[test]
    fn a_turn_that_was_rolled_back_changes_no_choice(script in sound_script(), log in prop::sample::select(REWOUND), drawn in drawn()) {
        let (dialect, serialize) = log;
        let text: String = serialize(&script).iter().map(|item| format!("{item}\n")).collect();
        let short = cut_with(Chain::default().then(RolledBack), Some(dialect), Framing::Lines, &text)?;
        for (name, chain) in tried(CHOICES, drawn) {
            let [of_all, of_short] = [&text, &short].map(|log| match cut_with(chain(), Some(dialect), Framing::Lines, log) {
                Err(TestCaseError::Fail(reason)) if is_refused(reason.message()) => Ok(None),
                out => out.map(|out| Some(told(dialect, &out))),
            });
            let (of_all, of_short) = (of_all?, of_short?);
            prop_assert_eq!(of_all, of_short, "{} of {}:\n{}", name, dialect, text);
        }
    }

    /// A call is unanswered or may still be answered as if the turns that were rolled back were not there.
    #[test]
    fn a_turn_that_was_rolled_back_answers_for_no_call(script in open_script(), log in prop::sample::select(REWOUND)) {
        let (dialect, serialize) = log;
        let lines: Vec<String> = serialize(&script).iter().map(|item| format!("{item}\n")).collect();
        // A log can end at any line, such as one that rolls turns back.
        for text in (1..=lines.len()).map(|count| lines[..count].concat()) {
            let gone = calls_judged_by_turns_that_are_over(dialect, &text);
            prop_assert!(gone.is_empty(), "{:?} of {}:\n{}", gone, dialect, text);
        }
    }

    /// No window of a split has a turn that was rolled back, if there are several windows.
    #[test]
    fn no_window_has_a_turn_that_was_rolled_back(script in sound_script(), log in prop::sample::select(REWOUND), budget in 30..200_usize) {
        let (dialect, serialize) = log;
        let mark = |(nth, item): (usize, &String)| item.replacen('{', &format!("{{\"mark\":\"m{nth}.\","), 1) + "\n";
        let text: String = serialize(&script).iter().enumerate().map(mark).collect();
        let over: HashSet<String> = standings(dialect, &text)
            .into_iter()
            .filter_map(|(mark, standing)| standing.is_rolled_back().then_some(mark))
            .collect();
        let pins = Pins { system: true, first_user: true, ..Pins::default() };
        let split = Split { pins, on_overflow: SplitOverflow::Keep, ..Split::new(budget, Counting::new(tokenizer())) };
        let splitting = Splitting { split, drop_untrained: false, mark: None, id_key: None };
        let cutter = TextCutter { chain: Chain { splitting: Some(splitting), ..Chain::default() }, ..TextCutter::default() };
        let mut out = String::new();
        let Ok(cut) = cutter.cut(&reading(Some(dialect), Framing::Lines), &text, &mut out) else { return Ok(()) };
        for window in cut.windows.iter().filter(|window| window.count > 1) {
            for mark in &over {
                let quoted = format!("\"{mark}\"");
                prop_assert!(!out[window.written.clone()].contains(&quoted), "{} is in a window of {}\n{}", mark, text, out);
            }
        }
    }
}

proptest! {
    #![proptest_config(crate::properties::property(12))]

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
}
