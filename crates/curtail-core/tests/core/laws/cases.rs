//! The chains that the laws are tried with.

use std::num::NonZeroUsize;
use std::sync::Arc;

use curtail_core::pipeline::Chain;
use curtail_core::processors::{
    CapKeep, CapResults, ClearResults, Counting, DropMessages, HistoryWindow, Keep, Live, MediaLimits, MessageRange,
    NameGlobs, Overflow, Pins, Question, Repair, RepairMode, SlidingWindow, StaleResults, Strip, StripKind, TokenLimit,
    ToolFilter, ToolGlobs, WindowUnit,
};
use curtail_core::transcript::Role;
use curtail_memory::memory::State;
use curtail_memory::memory::{StateSource, WorkingMemory};
use curtail_memory::rolling::{Counted, Rolling, RollingSummary};
use curtail_memory::summarizers::Extractive;
use curtail_tokens::tokenizers::Tokenizer;

/// A chain, and what holds for it.
pub struct LawCase {
    pub name: &'static str,
    pub chain: fn() -> Chain,
    pub change: Change,
}

/// What a chain does with the bytes of the messages that it keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It drops messages and parts.
    Cuts,
    /// It also writes these texts in place of results.
    Rewrites(&'static [&'static str]),
    /// It writes notes, stubs or moved messages: output may grow, and messages may be new.
    Writes,
}

/// What the processors of the cases write in place of results.
const PLACEHOLDERS: &[&str] = &["[cleared]"];

/// The same, and what they write in place of arguments.
const CLEARED: &[&str] = &["[cleared]", "{}"];

impl Change {
    pub fn rewritten(self) -> &'static [&'static str] {
        match self {
            Self::Rewrites(texts) => texts,
            Self::Cuts | Self::Writes => &[],
        }
    }
}

const BY_NUMBER: &str = "drop by number";

impl LawCase {
    pub fn writes(&self) -> bool {
        self.change == Change::Writes
    }

    /// Whether it names messages and turns by number.
    pub fn goes_by_number(&self) -> bool {
        self.name == BY_NUMBER
    }
}

pub fn tokenizer() -> Arc<dyn Tokenizer> {
    curtail_tokens::tokenizers::tokenizer_by_name("o200k_base").expect("the default is there")
}

pub fn history(size: usize, unit: WindowUnit, keep: Keep) -> HistoryWindow {
    HistoryWindow { size, unit, max_expansion: None, cap_in_flight: false, keep, step: 1 }
}

pub fn globs(names: &[&str]) -> NameGlobs {
    NameGlobs::compile(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).expect("patterns compile")
}

/// Drops the calls of `tool` and keeps its results as notes.
pub fn persist(tool: &str) -> Chain {
    Chain::default().then(ToolFilter {
        tools: ToolGlobs::Exclude(globs(&[tool])),
        persist_results: true,
        dropped: None,
    })
}

/// Drops the calls of `tool` with their results.
pub fn without(tool: &str) -> Chain {
    Chain::default().then(ToolFilter {
        tools: ToolGlobs::Exclude(globs(&[tool])),
        persist_results: false,
        dropped: None,
    })
}

/// The last `size` items, system messages not excepted.
pub fn last(size: usize) -> Chain {
    let keep = Keep { system: false, ..Keep::default() };
    Chain::default().then(SlidingWindow { size, unit: WindowUnit::Items, keep, step: 1 })
}

/// Clears every result.
pub fn cleared() -> Chain {
    Chain::default().then(ClearResults::new(StaleResults::AllButLast(0), tokenizer()))
}

pub fn limit(max_tokens: usize, on_overflow: Overflow) -> TokenLimit {
    TokenLimit {
        max_tokens,
        trigger: None,
        counting: Counting::new(tokenizer()),
        on_overflow,
        preserve_system: false,
        first_user: false,
        question: Question::default(),
        step: 1,
    }
}

pub fn memory(state: &str) -> WorkingMemory {
    let (schema, source) = (None, StateSource::Given(State::given(state)));
    WorkingMemory { source, schema, read_only: false, budget: 200, tokenizer: tokenizer() }
}

pub fn rolling(window: usize, max_summaries: usize, counted: Counted) -> RollingSummary {
    let at_least_one = |n| NonZeroUsize::new(n).expect("not zero");
    RollingSummary {
        rolling: Rolling { window: at_least_one(window), max_summaries: at_least_one(max_summaries) },
        counted,
        trigger: None,
        summarizer: Arc::new(Extractive),
        tokens: 60,
        tokenizer: tokenizer(),
        role: Role::User,
        least_kept: None,
        given: None,
    }
}

/// Chains that change no transcript.
pub const IDLE: [fn() -> Chain; 4] = [
    || Chain::default().then(history(100_000, WindowUnit::Items, Keep::default())),
    || Chain::default().then(SlidingWindow { size: 100_000, unit: WindowUnit::Turns, keep: Keep::default(), step: 1 }),
    || Chain::default().then(limit(100_000_000, Overflow::Error)),
    || persist("no-such-tool"),
];

/// Drops everything but the pins.
pub fn all_but_pins(pins: Pins) -> Chain {
    Chain::default().then(DropMessages {
        messages: std::iter::once(0..usize::MAX).collect(),
        pins,
        ..DropMessages::default()
    })
}

/// Repairs in every mode.
pub const REPAIRS: [LawCase; 3] = [
    LawCase {
        name: "repair drop",
        chain: || Chain::default().then(Repair { mode: RepairMode::Drop, pending: true }),
        change: Change::Writes,
    },
    LawCase {
        name: "repair stub",
        chain: || Chain::default().then(Repair { mode: RepairMode::Stub, pending: true }),
        change: Change::Writes,
    },
    LawCase {
        name: "repair move",
        chain: || Chain::default().then(Repair { mode: RepairMode::Move, pending: true }),
        change: Change::Writes,
    },
];

/// Drops what no model reads.
pub const LIVE: LawCase = LawCase { name: "live", chain: || Chain::default().then(Live), change: Change::Cuts };

fn roles(roles: &[Role]) -> Chain {
    Chain::default().then(Strip { roles: roles.to_vec(), ..Strip::default() })
}

pub const fn keep(system: bool, first: usize, start_on_user: bool) -> Keep {
    Keep { system, first, start_on_user, first_user: false, question: Question::InFlight }
}

/// The case of that name.
pub fn named(name: &str) -> &'static LawCase {
    CASES.iter().find(|case| case.name == name).expect("there is such a case")
}

/// Each processor is in a chain here, in [`REPAIRS`] or in [`LIVE`], except for `ScaledLimit`: its numbers are shares of what it cuts,
/// so a second run cuts again.
pub const CASES: &[LawCase] = &[
    LawCase {
        name: "history 3",
        chain: || Chain::default().then(history(3, WindowUnit::Items, keep(true, 0, false))),
        change: Change::Cuts,
    },
    LawCase {
        name: "history 5 bare",
        chain: || Chain::default().then(history(5, WindowUnit::Items, keep(false, 0, false))),
        change: Change::Cuts,
    },
    LawCase {
        name: "history 2 head",
        chain: || Chain::default().then(history(2, WindowUnit::Items, keep(true, 2, true))),
        change: Change::Cuts,
    },
    LawCase {
        name: "history turns",
        chain: || Chain::default().then(history(1, WindowUnit::Turns, keep(true, 0, false))),
        change: Change::Cuts,
    },
    LawCase {
        name: "history segments",
        chain: || Chain::default().then(history(2, WindowUnit::Segments, keep(true, 1, false))),
        change: Change::Cuts,
    },
    LawCase {
        name: "history messages",
        chain: || Chain::default().then(history(3, WindowUnit::Messages, keep(false, 0, true))),
        change: Change::Cuts,
    },
    LawCase {
        name: "history bounded",
        chain: || {
            let window = history(2, WindowUnit::Items, keep(true, 0, false));
            Chain::default().then(HistoryWindow { max_expansion: Some(2), cap_in_flight: true, ..window })
        },
        change: Change::Cuts,
    },
    LawCase {
        name: "sliding 4",
        chain: || {
            Chain::default().then(SlidingWindow {
                size: 4,
                unit: WindowUnit::Items,
                keep: keep(true, 0, false),
                step: 1,
            })
        },
        change: Change::Cuts,
    },
    LawCase {
        name: "sliding turns",
        chain: || {
            Chain::default().then(SlidingWindow {
                size: 2,
                unit: WindowUnit::Turns,
                keep: keep(false, 0, true),
                step: 1,
            })
        },
        change: Change::Cuts,
    },
    LawCase {
        name: "sliding head",
        chain: || {
            Chain::default().then(SlidingWindow {
                size: 6,
                unit: WindowUnit::Items,
                keep: keep(true, 2, false),
                step: 1,
            })
        },
        change: Change::Cuts,
    },
    LawCase {
        name: "filter all",
        chain: || Chain::default().then(ToolFilter { tools: ToolGlobs::All, persist_results: false, dropped: None }),
        change: Change::Cuts,
    },
    LawCase {
        name: "filter exclude",
        chain: || {
            let tools = ToolGlobs::Exclude(globs(&["debug_*", "bash"]));
            Chain::default().then(ToolFilter { tools, persist_results: false, dropped: None })
        },
        change: Change::Cuts,
    },
    LawCase {
        name: "filter include, persist",
        chain: || {
            Chain::default().then(ToolFilter {
                tools: ToolGlobs::Include(globs(&["search"])),
                persist_results: true,
                dropped: None,
            })
        },
        change: Change::Writes,
    },
    LawCase {
        name: "clear results",
        chain: || {
            let clear = ClearResults::new(StaleResults::AllButLast(1), tokenizer());
            Chain::default().then(ClearResults { exempt: globs(&["fetch"]), ..clear })
        },
        change: Change::Rewrites(PLACEHOLDERS),
    },
    LawCase {
        name: "clear results in steps",
        chain: || {
            let clear = ClearResults::new(StaleResults::AllButLast(2), tokenizer());
            Chain::default().then(ClearResults { step: 2, ..clear })
        },
        change: Change::Rewrites(PLACEHOLDERS),
    },
    LawCase {
        name: "clear results with inputs",
        chain: || {
            let clear = ClearResults::new(StaleResults::AllButLast(1), tokenizer());
            Chain::default().then(ClearResults { clear_inputs: true, ..clear })
        },
        change: Change::Rewrites(CLEARED),
    },
    LawCase {
        name: "clear results above a trigger",
        chain: || {
            let clear = ClearResults::new(StaleResults::AllButLast(0), tokenizer());
            let only = globs(&["search", "fetch"]);
            let clear = ClearResults { only, trigger: Some(30), at_least: 3, protected_tokens: 5, ..clear };
            Chain::default().then(ClearResults { clear_inputs: true, ..clear })
        },
        change: Change::Rewrites(CLEARED),
    },
    LawCase {
        name: "cap results",
        chain: || {
            Chain::default().then(CapResults {
                max_tokens: Some(40),
                tools: vec![(globs(&["search"]), CapResults::LEAST)],
                keep: CapKeep::Both,
                exempt: globs(&["fetch"]),
                tokenizer: tokenizer(),
            })
        },
        change: Change::Writes,
    },
    LawCase {
        name: "media",
        chain: || Chain::default().then(MediaLimits { keep_last: Some(1), max_bytes: Some(6), max_pixels: None }),
        change: Change::Writes,
    },
    LawCase {
        name: "no media",
        chain: || Chain::default().then(MediaLimits { keep_last: Some(0), ..MediaLimits::default() }),
        change: Change::Writes,
    },
    LawCase {
        name: "supersede reads, dedupe results",
        chain: || {
            let reads = StaleResults::SupersededReads(globs(&["*"]));
            Chain::default()
                .then(ClearResults::new(reads, tokenizer()))
                .then(ClearResults::new(StaleResults::Duplicates, tokenizer()))
        },
        change: Change::Rewrites(PLACEHOLDERS),
    },
    LawCase {
        name: "range",
        chain: || {
            Chain::default().then(MessageRange {
                from: 0,
                to: Some(5),
                pins: Pins { first_user: true, ..Pins::default() },
                ..MessageRange::default()
            })
        },
        change: Change::Cuts,
    },
    LawCase {
        name: "strip",
        chain: || {
            Chain::default().then(Strip { kinds: vec![StripKind::Reasoning, StripKind::Media], ..Strip::default() })
        },
        change: Change::Cuts,
    },
    LawCase {
        name: "summarize 2",
        chain: || Chain::default().then(rolling(2, 2, Counted::Message)),
        change: Change::Writes,
    },
    LawCase {
        name: "summarize 5",
        chain: || Chain::default().then(rolling(5, 1, Counted::Message)),
        change: Change::Writes,
    },
    LawCase {
        name: "summarize exchanges",
        chain: || Chain::default().then(rolling(1, 3, Counted::Exchange)),
        change: Change::Writes,
    },
    LawCase {
        name: "summarize by tokens",
        chain: || {
            let by_tokens = RollingSummary { trigger: Some(25), ..rolling(4, 2, Counted::Message) };
            Chain::default().then(by_tokens)
        },
        change: Change::Writes,
    },
    LawCase { name: "memory", chain: || Chain::default().then(memory("{\"goal\":\"ship\"}")), change: Change::Writes },
    LawCase { name: "no memory", chain: || Chain::default().then(memory("")), change: Change::Cuts },
    LawCase { name: "limit 60", chain: || Chain::default().then(limit(60, Overflow::Empty)), change: Change::Cuts },
    LawCase {
        name: "limit 25 truncate",
        chain: || Chain::default().then(limit(25, Overflow::Truncate)),
        change: Change::Writes,
    },
    LawCase {
        name: "limit 25 newest",
        chain: || Chain::default().then(limit(25, Overflow::KeepNewest)),
        change: Change::Cuts,
    },
    LawCase {
        name: "history 3 pinned",
        chain: || {
            let pinned = Keep { first_user: true, ..Keep::default() };
            Chain::default().then(history(3, WindowUnit::Items, pinned))
        },
        change: Change::Cuts,
    },
    LawCase {
        name: "sliding 4 pinned",
        chain: || {
            let keep = Keep { first_user: true, ..Keep::default() };
            Chain::default().then(SlidingWindow { size: 4, unit: WindowUnit::Items, keep, step: 1 })
        },
        change: Change::Cuts,
    },
    LawCase {
        name: "limit 60 pinned",
        chain: || Chain::default().then(TokenLimit { first_user: true, ..limit(60, Overflow::Empty) }),
        change: Change::Cuts,
    },
    LawCase {
        name: "history 2 and what a person asked last",
        chain: || {
            let keep = Keep { question: Question::Always, ..Keep::default() };
            Chain::default().then(HistoryWindow { cap_in_flight: true, ..history(2, WindowUnit::Segments, keep) })
        },
        change: Change::Cuts,
    },
    LawCase {
        name: "sliding 2 without the question",
        chain: || {
            let keep = Keep { question: Question::Never, ..Keep::default() };
            Chain::default().then(SlidingWindow { size: 2, unit: WindowUnit::Items, keep, step: 1 })
        },
        change: Change::Cuts,
    },
    LawCase {
        name: "limit 60 or an error",
        chain: || Chain::default().then(limit(60, Overflow::Error)),
        change: Change::Cuts,
    },
    LawCase {
        name: "limit 60 and what a person asked last",
        chain: || {
            let limit =
                TokenLimit { question: Question::Always, preserve_system: true, ..limit(60, Overflow::Truncate) };
            Chain::default().then(limit)
        },
        change: Change::Writes,
    },
    LawCase {
        name: "history 4 in steps",
        chain: || {
            Chain::default().then(HistoryWindow { step: 3, ..history(4, WindowUnit::Items, keep(true, 1, false)) })
        },
        change: Change::Cuts,
    },
    LawCase {
        name: "history 3 bounded in steps",
        chain: || {
            let window = history(3, WindowUnit::Segments, keep(false, 0, true));
            Chain::default().then(HistoryWindow { step: 2, max_expansion: Some(2), cap_in_flight: true, ..window })
        },
        change: Change::Cuts,
    },
    LawCase {
        name: "history turns in steps",
        chain: || {
            let keep = Keep { first_user: true, ..Keep::default() };
            Chain::default().then(HistoryWindow { step: 2, ..history(2, WindowUnit::Turns, keep) })
        },
        change: Change::Cuts,
    },
    LawCase {
        name: "sliding 5 in steps",
        chain: || Chain::default().then(SlidingWindow { size: 5, step: 3, ..SlidingWindow::default() }),
        change: Change::Cuts,
    },
    LawCase {
        name: "limit 60 in steps",
        chain: || Chain::default().then(TokenLimit { step: 20, ..limit(60, Overflow::KeepNewest) }),
        change: Change::Cuts,
    },
    LawCase {
        name: "limit 90 pinned in steps",
        chain: || {
            let limit = TokenLimit { first_user: true, preserve_system: true, ..limit(90, Overflow::Truncate) };
            Chain::default().then(TokenLimit { step: 40, trigger: Some(100), ..limit })
        },
        change: Change::Writes,
    },
    LawCase {
        name: BY_NUMBER,
        chain: || {
            let messages = vec![7..9, 9..usize::MAX];
            Chain::default().then(DropMessages {
                messages,
                turns: vec![3..4, 4..usize::MAX],
                ..DropMessages::default()
            })
        },
        change: Change::Cuts,
    },
    LawCase { name: "role user", chain: || roles(&[Role::User]), change: Change::Cuts },
    LawCase {
        name: "role assistant, pinned",
        chain: || {
            let pins = Pins { system: true, first_user: true, ..Pins::default() };
            Chain::default().then(Strip { roles: vec![Role::Assistant], pins, ..Strip::default() })
        },
        change: Change::Cuts,
    },
    LawCase { name: "role assistant, tool", chain: || roles(&[Role::Assistant, Role::Tool]), change: Change::Cuts },
];
