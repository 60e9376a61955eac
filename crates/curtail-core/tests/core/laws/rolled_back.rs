//! Nothing is chosen among turns that were rolled back, and nothing that a compaction replaced is read again.

use std::collections::HashSet;

use curtail_core::dialects::Framing;
use curtail_core::json::Document;
use curtail_core::pipeline::{Chain, Splitting, TextCutter};
use curtail_core::processors::{
    ClearResults, Counting, DropMessages, MediaLimits, Pins, Plan, Processor, ProcessorError, Question, Split,
    SplitOverflow, StaleResults, Strip, StripKind, ToolFilter, ToolGlobs, Traits, View, drop_standing,
    without_rolled_back,
};
use curtail_core::transcript::{Fault, FaultKind, Message, PairingRules, Pairs, Role, Standing};
use proptest::prelude::*;

use super::boundaries::{BOUNDED, marked, standings};
use super::cases::{CASES, LawCase, globs, tokenizer};
use super::check::{cut_with, is_refused, reading};
use crate::properties::{drawn, tried};
use crate::serializers::{Serializer, claude_code, codex, gemini, kimi, open_script, pi, qwen, sound_script};

/// Logs in which a person takes turns back.
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

fn all_but_pins(pins: Pins) -> Chain {
    Chain::default().then(DropMessages {
        messages: std::iter::once(0..usize::MAX).collect(),
        pins,
        ..DropMessages::default()
    })
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
    let of_all = open_calls(view.messages, view.pairing_rules);
    let mut of_told = open_calls(&told, view.pairing_rules);
    of_told.retain(|call| !of_all.contains(call));
    of_told
}

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
        // A log can end at any line, such as one that takes turns back.
        for text in (1..=lines.len()).map(|count| lines[..count].concat()) {
            let gone = calls_judged_by_turns_that_are_over(dialect, &text);
            prop_assert!(gone.is_empty(), "{:?} of {}:\n{}", gone, dialect, text);
        }
    }

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
            let out = match cut_with(chain, Some(bounded.0), Framing::Lines, &text) {
                Err(TestCaseError::Fail(reason)) if is_refused(reason.message()) => continue,
                out => out?,
            };
            for (mark, standing) in standings(bounded.0, &out) {
                let was_replaced = before.get(&mark) == Some(&Standing::Superseded);
                prop_assert!(!(was_replaced && standing.is_read()), "{}: {} is read again\nin  {}\nout {}", name, mark, text, out);
            }
        }
    }
}
