//! The laws that hold for every command, every dialect and every input, on generated transcripts.

mod spell;

use std::sync::Arc;

use curtail::batch::{Cutter, Reading};
use curtail::dialects::Framing;
use curtail::json::Document;
use curtail::pipeline::Chain;
use curtail::processors::{
    ClearResults, Counting, HistoryWindow, Keep, Overflow, Overhead, Repair, RepairMode, SlidingWindow, Strip,
    StripKind, TokenLimit, ToolFilter, ToolGlobs, Unit, View,
};
use curtail::tokenizers::Tokenizer;
use curtail::transcript::{Fault, FaultKind, Pairs};
use proptest::prelude::*;
use spell::{SPELLERS, Speller, broken_script, respace, sound_script};

/// A chain, and what holds for it.
struct Case {
    name: &'static str,
    chain: fn() -> Chain,
    /// It writes notes, stubs or moved messages: output may grow, and messages may be new.
    writes: bool,
}

fn tokenizer() -> Arc<dyn Tokenizer> {
    curtail::tokenizers::find("o200k_base").expect("the default is there")
}

fn history(size: usize, unit: Unit, keep: Keep) -> HistoryWindow {
    HistoryWindow { size, unit, max_expansion: None, cap_in_flight: false, keep }
}

fn globs(names: &[&str]) -> globset::GlobSet {
    ToolGlobs::compile(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).expect("patterns compile")
}

fn limit(max_tokens: usize, on_overflow: Overflow) -> TokenLimit {
    TokenLimit {
        max_tokens,
        trigger: None,
        counting: Counting { tokenizer: tokenizer(), overhead: Overhead::None, reserve: 0 },
        on_overflow,
        preserve_system: false,
    }
}

const fn keep(system: bool, first: usize, start_on_user: bool) -> Keep {
    Keep { system, first, start_on_user }
}

const CASES: &[Case] = &[
    Case {
        name: "history 3",
        chain: || Chain::default().then(history(3, Unit::Items, keep(true, 0, false))),
        writes: false,
    },
    Case {
        name: "history 5 bare",
        chain: || Chain::default().then(history(5, Unit::Items, keep(false, 0, false))),
        writes: false,
    },
    Case {
        name: "history 2 head",
        chain: || Chain::default().then(history(2, Unit::Items, keep(true, 2, true))),
        writes: false,
    },
    Case {
        name: "history turns",
        chain: || Chain::default().then(history(1, Unit::Turns, keep(true, 0, false))),
        writes: false,
    },
    Case {
        name: "history segments",
        chain: || Chain::default().then(history(2, Unit::Segments, keep(true, 1, false))),
        writes: false,
    },
    Case {
        name: "history messages",
        chain: || Chain::default().then(history(3, Unit::Messages, keep(false, 0, true))),
        writes: false,
    },
    Case {
        name: "history bounded",
        chain: || {
            let window = history(2, Unit::Items, keep(true, 0, false));
            Chain::default().then(HistoryWindow { max_expansion: Some(2), cap_in_flight: true, ..window })
        },
        writes: false,
    },
    Case {
        name: "sliding 4",
        chain: || Chain::default().then(SlidingWindow { size: 4, unit: Unit::Items, keep: keep(true, 0, false) }),
        writes: false,
    },
    Case {
        name: "sliding turns",
        chain: || Chain::default().then(SlidingWindow { size: 2, unit: Unit::Turns, keep: keep(false, 0, true) }),
        writes: false,
    },
    Case {
        name: "sliding head",
        chain: || Chain::default().then(SlidingWindow { size: 6, unit: Unit::Items, keep: keep(true, 2, false) }),
        writes: false,
    },
    Case {
        name: "filter all",
        chain: || Chain::default().then(ToolFilter { tools: ToolGlobs::All, persist_results: false }),
        writes: false,
    },
    Case {
        name: "filter exclude",
        chain: || {
            let tools = ToolGlobs::Exclude(globs(&["debug_*", "bash"]));
            Chain::default().then(ToolFilter { tools, persist_results: false })
        },
        writes: false,
    },
    Case {
        name: "filter include, persist",
        chain: || {
            Chain::default().then(ToolFilter { tools: ToolGlobs::Include(globs(&["search"])), persist_results: true })
        },
        writes: true,
    },
    Case {
        name: "clear results",
        chain: || {
            let placeholder = String::from("[cleared]");
            Chain::default().then(ClearResults {
                keep: 1,
                placeholder,
                exempt: globs(&["fetch"]),
                tokenizer: tokenizer(),
            })
        },
        writes: false,
    },
    Case {
        name: "strip",
        chain: || {
            Chain::default().then(Strip { kinds: vec![StripKind::Reasoning, StripKind::Media], roles: Vec::new() })
        },
        writes: false,
    },
    Case { name: "limit 60", chain: || Chain::default().then(limit(60, Overflow::Empty)), writes: false },
    Case { name: "limit 25 truncate", chain: || Chain::default().then(limit(25, Overflow::Truncate)), writes: true },
    Case { name: "limit 25 newest", chain: || Chain::default().then(limit(25, Overflow::KeepNewest)), writes: false },
];

/// Items as a text of some framing, with white space of its own.
fn frame(items: &[String], framing: Framing, seed: u64) -> String {
    let items: Vec<String> = items.iter().enumerate().map(|(nth, item)| respace(item, seed ^ nth as u64)).collect();
    match framing {
        Framing::Lines => items.iter().map(|item| format!("{item}\r\n")).collect(),
        Framing::Records => format!("{{\"id\": 17, \"messages\": [{}], \"x\": 1e-7}}\n", items.join(" , ")),
        Framing::Document => format!("\u{feff}[\n  {}\n]", items.join(",\n  ")),
    }
}

fn cut(case: &Case, dialect: &str, framing: Framing, text: &str) -> Result<String, TestCaseError> {
    cut_with((case.chain)(), dialect, framing, text)
}

fn cut_with(chain: Chain, dialect: &str, framing: Framing, text: &str) -> Result<String, TestCaseError> {
    let reading = Reading::new(framing, Some(dialect), None).map_err(TestCaseError::fail)?;
    let mut out = String::new();
    let done = Cutter { chain, explain: true, counting: None }.cut(&reading, text, &mut out);
    done.map_err(|trouble| TestCaseError::fail(trouble.what))?;
    Ok(out)
}

/// The messages of a text as they are spelt, and its faults as kind and id.
fn read(dialect: &str, framing: Framing, text: &str) -> (Vec<String>, Vec<(FaultKind, String)>, usize) {
    let reading = Reading::new(framing, Some(dialect), None).expect("a dialect of the list");
    let document = Document::read_all(text).unwrap_or_else(|fault| panic!("{fault:?} in {text}"));
    let (mut items, mut faults, mut tokens) = (Vec::new(), Vec::new(), 0);
    let counting = Counting { tokenizer: tokenizer(), overhead: Overhead::None, reserve: 0 };
    for (_, transcript) in reading.transcripts(&document).expect("what we write is a transcript") {
        let messages = &transcript.messages;
        items.extend(messages.iter().filter_map(|message| message.value).map(|value| value.raw().to_owned()));
        let pairs = Pairs::find(messages);
        for fault in Fault::find(messages, &pairs, transcript.manners) {
            let content = &messages[fault.at.message].parts[fault.at.part].content;
            let id =
                content.call().and_then(|call| call.id.clone()).or_else(|| content.result().and_then(|r| r.id.clone()));
            faults.push((fault.kind, id.map_or_else(String::new, |id| id.decode().into_owned())));
        }
        let view = View { messages, preamble: &transcript.preamble, manners: transcript.manners };
        tokens += counting.total_until(&view, usize::MAX).unwrap_or(usize::MAX);
    }
    (items, faults, tokens)
}

fn is_subsequence(small: &str, large: &str) -> bool {
    let mut rest = large.bytes();
    small.bytes().all(|byte| rest.any(|other| other == byte))
}

fn framings() -> impl Strategy<Value = Framing> {
    prop_oneof![Just(Framing::Lines), Just(Framing::Records), Just(Framing::Document)]
}

fn speller() -> impl Strategy<Value = Speller> {
    prop::sample::select(SPELLERS)
}

fn check_laws(case: &Case, (dialect, spell): Speller, framing: Framing, text: &str) -> Result<(), TestCaseError> {
    let _ = spell;
    let once = cut(case, dialect, framing, text)?;
    let (before, faults_before, tokens_before) = read(dialect, framing, text);
    let (after, faults_after, tokens_after) = read(dialect, framing, &once);

    // Law 2 and 6: what is kept is kept byte for byte, less the parts that were cut, and in order.
    let mut from = 0;
    for item in &after {
        let found = before[from..].iter().position(|old| old == item || is_subsequence(item, old));
        match found {
            Some(nth) => from += nth + 1,
            None => prop_assert!(
                case.writes || case.name == "clear results",
                "{}: new message {item}\nin {once}",
                case.name
            ),
        }
    }
    // Law 3: no pair is broken by us.
    for fault in &faults_after {
        let softer = (FaultKind::UnansweredCall, fault.1.clone());
        let known =
            faults_before.contains(fault) || fault.0 == FaultKind::PendingCall && faults_before.contains(&softer);
        prop_assert!(known, "{}: new fault {fault:?}\nin  {text}\nout {once}", case.name);
    }
    // Law 4: twice is once.
    let twice = cut(case, dialect, framing, &once)?;
    prop_assert_eq!(&once, &twice, "{}: twice is not once\nin {}", case.name, text);
    // Law 5: never bigger.
    if !case.writes {
        prop_assert!(once.len() <= text.len() && tokens_after <= tokens_before, "{}: bigger", case.name);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    /// Laws 2 to 6, for every case.
    #[test]
    fn cutting_keeps_the_laws(script in broken_script(), speller in speller(), framing in framings(), seed in any::<u64>()) {
        let text = frame(&(speller.1)(&script), framing, seed);
        for case in CASES {
            check_laws(case, speller, framing, &text)?;
        }
    }

    /// A chain gives what its stages give one after another, each reading what the last one wrote.
    #[test]
    fn a_chain_is_its_stages_in_a_row(script in broken_script(), speller in speller(), framing in framings(), seed in any::<u64>()) {
        let stages: [fn() -> Chain; 3] = [
            || Chain::default().then(ToolFilter { tools: ToolGlobs::Exclude(globs(&["bash"])), persist_results: true }),
            || Chain::default().then(history(6, Unit::Items, keep(true, 0, false))),
            || Chain::default().then(limit(80, Overflow::Truncate)),
        ];
        let text = frame(&(speller.1)(&script), framing, seed);
        let mut piped = text.clone();
        let mut whole = Chain::default();
        for stage in stages {
            piped = cut_with(stage(), speller.0, framing, &piped)?;
            whole.stages.extend(stage().stages);
        }
        prop_assert_eq!(cut_with(whole, speller.0, framing, &text)?, piped, "in {}", text);
    }

    /// Law 1: nothing to do is the identity.
    #[test]
    fn nothing_to_do_is_the_identity(script in broken_script(), speller in speller(), framing in framings(), seed in any::<u64>()) {
        let text = frame(&(speller.1)(&script), framing, seed);
        let idle: [fn() -> Chain; 4] = [
            || Chain::default().then(history(100_000, Unit::Items, Keep::default())),
            || Chain::default().then(SlidingWindow { size: 100_000, unit: Unit::Turns, keep: Keep::default() }),
            || Chain::default().then(limit(100_000_000, Overflow::Error)),
            || Chain::default().then(ToolFilter { tools: ToolGlobs::Exclude(globs(&["no-such-tool"])), persist_results: true }),
        ];
        for chain in idle {
            let case = Case { name: "idle", chain, writes: false };
            prop_assert_eq!(&cut(&case, speller.0, framing, &text)?, &text);
        }
    }

    /// Law 3 with repair: no fault at all is left, and what was sound stays as it was.
    #[test]
    fn repair_leaves_no_fault(script in broken_script(), sound in sound_script(), speller in speller(), framing in framings(), seed in any::<u64>()) {
        let repairs: [fn() -> Chain; 3] = [
            || Chain::default().then(Repair { mode: RepairMode::Drop, pending: true }),
            || Chain::default().then(Repair { mode: RepairMode::Stub, pending: true }).then(Repair { mode: RepairMode::Drop, pending: true }),
            || Chain::default().then(Repair { mode: RepairMode::Move, pending: true }).then(Repair { mode: RepairMode::Drop, pending: true }),
        ];
        for chain in repairs {
            let case = Case { name: "repair", chain, writes: true };
            let text = frame(&(speller.1)(&script), framing, seed);
            let mended = cut(&case, speller.0, framing, &text)?;
            let (_, faults, _) = read(speller.0, framing, &mended);
            prop_assert!(faults.is_empty(), "{:?} left\nin  {}\nout {}", faults, text, mended);
            prop_assert_eq!(&cut(&case, speller.0, framing, &mended)?, &mended, "repairing twice");
        }
        let whole = frame(&(speller.1)(&sound), framing, seed);
        let (_, faults, _) = read(speller.0, framing, &whole);
        if faults.is_empty() {
            let case = Case { name: "repair", chain: repairs[0], writes: true };
            prop_assert_eq!(&cut(&case, speller.0, framing, &whole)?, &whole);
        }
    }
}
