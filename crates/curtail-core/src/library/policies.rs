//! The policies that need more than one word: windows, token limits and tools.

use std::sync::Arc;

use super::Error;
use crate::counting::Tokenizer;
use crate::pipeline::Chain;
use crate::processors::{
    Counting, HistoryWindow, InvalidGlob, Keep, NameGlobs, Overflow, SlidingWindow, TokenLimit, ToolFilter, ToolGlobs,
    WindowUnit,
};

/// Keeps the newest units of a transcript, and its instructions.
///
/// By default, the last units before the in-flight round are kept, with the round itself, and the window grows until it has a
/// user message and an assistant message that speak.
///
/// ```
/// use curtail_core::{Cutter, WindowPolicy, WindowUnit};
///
/// let chat = concat!(
///     "{\"role\":\"system\",\"content\":\"Answer in one sentence.\"}\n",
///     "{\"role\":\"user\",\"content\":\"When does the first train leave?\"}\n",
///     "{\"role\":\"assistant\",\"content\":\"At 05:12.\"}\n",
///     "{\"role\":\"user\",\"content\":\"And the last one?\"}\n",
///     "{\"role\":\"assistant\",\"content\":\"At 23:40.\"}\n",
/// );
/// let window = WindowPolicy::last(1).of(WindowUnit::Turns);
/// let cut = Cutter::builder().window(window).build()?.cut(chat)?;
/// assert_eq!(cut.lines().count(), 3, "the instructions and the last turn: {cut}");
///
/// let strict = WindowPolicy::last(2).sliding().without_instructions();
/// let cut = Cutter::builder().window(strict).build()?.cut(chat)?;
/// assert_eq!(cut.lines().count(), 2);
///
/// let both_ends = WindowPolicy::last(1).of(WindowUnit::Turns).keep_first(1);
/// let cut = Cutter::builder().window(both_ends).build()?.cut(chat)?;
/// assert_eq!(cut, chat);
/// # Ok::<(), curtail_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[must_use]
pub struct WindowPolicy {
    size: usize,
    unit: WindowUnit,
    sliding: bool,
    keep: Keep,
}

impl WindowPolicy {
    /// Keeps the last `size` items, 1 or more.
    pub fn last(size: usize) -> Self {
        Self { size, unit: WindowUnit::default(), sliding: false, keep: Keep::default() }
    }

    /// Measures the window in `unit`.
    pub const fn of(self, unit: WindowUnit) -> Self {
        Self { unit, ..self }
    }

    /// Keeps at most `size` units, instructions and the in-flight round included, instead of at least one exchange.
    pub const fn sliding(self) -> Self {
        Self { sliding: true, ..self }
    }

    /// Keeps the first `units` of the transcript, too.
    pub const fn keep_first(self, units: usize) -> Self {
        Self { keep: Keep { first: units, ..self.keep }, ..self }
    }

    /// Drops system and developer messages as it drops others.
    pub const fn without_instructions(self) -> Self {
        Self { keep: Keep { system: false, ..self.keep }, ..self }
    }

    pub(super) fn onto(self, chain: Chain) -> Chain {
        let Self { size, unit, sliding, keep } = self;
        match sliding {
            true => chain.then(SlidingWindow { size, unit, keep, step: 1 }),
            false => chain.then(HistoryWindow { size, unit, keep, ..HistoryWindow::default() }),
        }
    }
}

/// Keeps the newest messages that fit into a number of tokens, and the instructions.
///
/// Tokens are counted by the [tokenizer of the cutter](super::CutterBuilder::tokenizer).
///
/// ```
/// use curtail_core::{Cutter, LimitPolicy, Overflow};
///
/// let limit = LimitPolicy::tokens(8_000).above(16_000).on_overflow(Overflow::Truncate);
/// let chat = "{\"role\":\"user\",\"content\":\"Hello\"}\n";
/// assert_eq!(Cutter::builder().limit(limit).build()?.cut(chat)?, chat);
/// # Ok::<(), curtail_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[must_use]
pub struct LimitPolicy {
    tokens: usize,
    trigger: Option<usize>,
    on_overflow: Overflow,
}

impl LimitPolicy {
    /// Keeps at most `tokens` tokens.
    pub fn tokens(tokens: usize) -> Self {
        Self { tokens, trigger: None, on_overflow: Overflow::default() }
    }

    /// Cuts only transcripts with more than `tokens` tokens.
    pub const fn above(self, tokens: usize) -> Self {
        Self { trigger: Some(tokens), ..self }
    }

    /// What happens if not even the newest messages fit.
    pub const fn on_overflow(self, on_overflow: Overflow) -> Self {
        Self { on_overflow, ..self }
    }

    pub(super) fn onto(self, chain: Chain, tokenizer: &Arc<dyn Tokenizer>) -> Chain {
        let counting = Counting::new(Arc::clone(tokenizer));
        let limit = TokenLimit::new(self.tokens, counting);
        chain.then(TokenLimit { trigger: self.trigger, on_overflow: self.on_overflow, ..limit })
    }
}

/// Drops tool calls with their results.
///
/// ```
/// use curtail_core::{Cutter, ToolPolicy};
///
/// let chat = r#"{"messages": [{"role": "user", "content": "When?"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "debug_print", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "1", "content": "ok"}]}"#;
/// let drop = |tools| Cutter::builder().tools(tools).build()?.cut(chat);
/// assert_eq!(drop(ToolPolicy::drop_named(["debug_*"]))?, r#"{"messages": [{"role": "user", "content": "When?"}]}"#);
/// assert_eq!(drop(ToolPolicy::drop_except(["debug_*"]))?, chat);
/// assert!(drop(ToolPolicy::drop_all().with_notes())?.contains("Used debug_print tool"));
/// # Ok::<(), curtail_core::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct ToolPolicy {
    /// An invalid glob is an error when the cutter is built.
    tools: Result<ToolGlobs, InvalidGlob>,
    notes: bool,
}

impl ToolPolicy {
    /// Drops the calls of all tools.
    pub const fn drop_all() -> Self {
        Self { tools: Ok(ToolGlobs::All), notes: false }
    }

    /// Drops the calls of tools whose name matches one of `globs`: `*`, `?`, `[…]`, `{a,b}`.
    pub fn drop_named<S: Into<String>>(globs: impl IntoIterator<Item = S>) -> Self {
        Self::of_globs(globs, ToolGlobs::Exclude)
    }

    /// Drops the calls of tools whose name matches none of `globs`.
    pub fn drop_except<S: Into<String>>(globs: impl IntoIterator<Item = S>) -> Self {
        Self::of_globs(globs, ToolGlobs::Include)
    }

    fn of_globs<S: Into<String>>(globs: impl IntoIterator<Item = S>, select: fn(NameGlobs) -> ToolGlobs) -> Self {
        let globs: Vec<String> = globs.into_iter().map(Into::into).collect();
        Self { tools: NameGlobs::compile(&globs).map(select), notes: false }
    }

    /// Leaves a note such as `Used search tool` in place of the calls.
    pub fn with_notes(self) -> Self {
        Self { notes: true, ..self }
    }

    pub(super) fn onto(self, chain: Chain) -> Result<Chain, Error> {
        let tools = self.tools.map_err(|error| Error::InvalidGlob { glob: error.glob, what: error.reason })?;
        Ok(chain.then(ToolFilter { tools, persist_results: self.notes, dropped: None }))
    }
}
