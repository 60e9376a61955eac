//! The chains that the laws are tried with.

use std::num::NonZeroUsize;
use std::sync::Arc;

use curtail_core::pipeline::Chain;
use curtail_core::processors::{
    CapKeep, CapResults, ClearResults, Counting, HistoryWindow, Keep, MessageRange, NameGlobs, Overflow, SlidingWindow,
    StaleResults, Strip, StripKind, TokenLimit, ToolFilter, ToolGlobs, WindowUnit,
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
    /// It writes notes, stubs or moved messages: output may grow, and messages may be new.
    pub writes: bool,
}

impl LawCase {
    /// Whether it rewrites the content of kept messages.
    pub fn rewrites(&self) -> bool {
        self.name.starts_with("clear results") || self.name == "supersede reads, dedupe results"
    }
}

pub fn tokenizer() -> Arc<dyn Tokenizer> {
    curtail_tokens::tokenizers::tokenizer_by_name("o200k_base").expect("the default is there")
}

pub fn history(size: usize, unit: WindowUnit, keep: Keep) -> HistoryWindow {
    HistoryWindow { size, unit, max_expansion: None, cap_in_flight: false, keep }
}

pub fn globs(names: &[&str]) -> NameGlobs {
    ToolGlobs::compile(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).expect("patterns compile")
}

/// Drops the calls of `tool` and keeps its results as notes.
pub fn persist(tool: &str) -> Chain {
    Chain::default().then(ToolFilter { tools: ToolGlobs::Exclude(globs(&[tool])), persist_results: true })
}

pub fn limit(max_tokens: usize, on_overflow: Overflow) -> TokenLimit {
    TokenLimit { max_tokens, trigger: None, counting: Counting::new(tokenizer()), on_overflow, preserve_system: false }
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
    }
}

fn roles(roles: &[Role]) -> Chain {
    Chain::default().then(Strip { kinds: Vec::new(), roles: roles.to_vec() })
}

pub const fn keep(system: bool, first: usize, start_on_user: bool) -> Keep {
    Keep { system, first, start_on_user }
}

pub const CASES: &[LawCase] = &[
    LawCase {
        name: "history 3",
        chain: || Chain::default().then(history(3, WindowUnit::Items, keep(true, 0, false))),
        writes: false,
    },
    LawCase {
        name: "history 5 bare",
        chain: || Chain::default().then(history(5, WindowUnit::Items, keep(false, 0, false))),
        writes: false,
    },
    LawCase {
        name: "history 2 head",
        chain: || Chain::default().then(history(2, WindowUnit::Items, keep(true, 2, true))),
        writes: false,
    },
    LawCase {
        name: "history turns",
        chain: || Chain::default().then(history(1, WindowUnit::Turns, keep(true, 0, false))),
        writes: false,
    },
    LawCase {
        name: "history segments",
        chain: || Chain::default().then(history(2, WindowUnit::Segments, keep(true, 1, false))),
        writes: false,
    },
    LawCase {
        name: "history messages",
        chain: || Chain::default().then(history(3, WindowUnit::Messages, keep(false, 0, true))),
        writes: false,
    },
    LawCase {
        name: "history bounded",
        chain: || {
            let window = history(2, WindowUnit::Items, keep(true, 0, false));
            Chain::default().then(HistoryWindow { max_expansion: Some(2), cap_in_flight: true, ..window })
        },
        writes: false,
    },
    LawCase {
        name: "sliding 4",
        chain: || Chain::default().then(SlidingWindow { size: 4, unit: WindowUnit::Items, keep: keep(true, 0, false) }),
        writes: false,
    },
    LawCase {
        name: "sliding turns",
        chain: || Chain::default().then(SlidingWindow { size: 2, unit: WindowUnit::Turns, keep: keep(false, 0, true) }),
        writes: false,
    },
    LawCase {
        name: "sliding head",
        chain: || Chain::default().then(SlidingWindow { size: 6, unit: WindowUnit::Items, keep: keep(true, 2, false) }),
        writes: false,
    },
    LawCase {
        name: "filter all",
        chain: || Chain::default().then(ToolFilter { tools: ToolGlobs::All, persist_results: false }),
        writes: false,
    },
    LawCase {
        name: "filter exclude",
        chain: || {
            let tools = ToolGlobs::Exclude(globs(&["debug_*", "bash"]));
            Chain::default().then(ToolFilter { tools, persist_results: false })
        },
        writes: false,
    },
    LawCase {
        name: "filter include, persist",
        chain: || {
            Chain::default().then(ToolFilter { tools: ToolGlobs::Include(globs(&["search"])), persist_results: true })
        },
        writes: true,
    },
    LawCase {
        name: "clear results",
        chain: || {
            let clear = ClearResults::new(StaleResults::AllButLast(1), tokenizer());
            Chain::default().then(ClearResults { exempt: globs(&["fetch"]), ..clear })
        },
        writes: false,
    },
    LawCase {
        name: "clear results in steps",
        chain: || {
            let clear = ClearResults::new(StaleResults::AllButLast(2), tokenizer());
            Chain::default().then(ClearResults { step: 2, ..clear })
        },
        writes: false,
    },
    LawCase {
        name: "clear results above a trigger",
        chain: || {
            let clear = ClearResults::new(StaleResults::AllButLast(0), tokenizer());
            let only = globs(&["search", "fetch"]);
            Chain::default().then(ClearResults { only, trigger: Some(30), at_least: 3, protected_tokens: 5, ..clear })
        },
        writes: false,
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
        writes: true,
    },
    LawCase {
        name: "supersede reads, dedupe results",
        chain: || {
            let reads = StaleResults::SupersededReads(globs(&["*"]));
            Chain::default()
                .then(ClearResults::new(reads, tokenizer()))
                .then(ClearResults::new(StaleResults::Duplicates, tokenizer()))
        },
        writes: false,
    },
    LawCase { name: "range", chain: || Chain::default().then(MessageRange { from: 0, to: Some(5) }), writes: false },
    LawCase {
        name: "strip",
        chain: || {
            Chain::default().then(Strip { kinds: vec![StripKind::Reasoning, StripKind::Media], roles: Vec::new() })
        },
        writes: false,
    },
    LawCase { name: "summarize 2", chain: || Chain::default().then(rolling(2, 2, Counted::Message)), writes: true },
    LawCase { name: "summarize 5", chain: || Chain::default().then(rolling(5, 1, Counted::Message)), writes: true },
    LawCase {
        name: "summarize exchanges",
        chain: || Chain::default().then(rolling(1, 3, Counted::Exchange)),
        writes: true,
    },
    LawCase {
        name: "summarize by tokens",
        chain: || {
            let by_tokens = RollingSummary { trigger: Some(25), ..rolling(4, 2, Counted::Message) };
            Chain::default().then(by_tokens)
        },
        writes: true,
    },
    LawCase { name: "memory", chain: || Chain::default().then(memory("{\"goal\":\"ship\"}")), writes: true },
    LawCase { name: "no memory", chain: || Chain::default().then(memory("")), writes: false },
    LawCase { name: "limit 60", chain: || Chain::default().then(limit(60, Overflow::Empty)), writes: false },
    LawCase { name: "limit 25 truncate", chain: || Chain::default().then(limit(25, Overflow::Truncate)), writes: true },
    LawCase {
        name: "limit 25 newest",
        chain: || Chain::default().then(limit(25, Overflow::KeepNewest)),
        writes: false,
    },
    LawCase { name: "role user", chain: || roles(&[Role::User]), writes: false },
    LawCase { name: "role assistant, tool", chain: || roles(&[Role::Assistant, Role::Tool]), writes: false },
];
