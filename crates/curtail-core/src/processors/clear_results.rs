//! Clears the content of tool results that are no longer needed and keeps the pairs.

use std::sync::Arc;

use super::stale_results::{duplicates, superseded_reads};
use super::{
    Change, Counting, Decision, Growth, NameGlobs, Plan, Processor, ProcessorError, Reason, Remark, Traits, View,
};
use crate::counting::Tokenizer;
use crate::json::quote;
use crate::transcript::{Pairs, Part, PartOrigin, PartRef, without_arguments};

/// Length of the longest token of any known encoding, in bytes: a text of more than `n` times as many bytes has more than `n`
/// tokens.
const LONGEST_TOKEN: usize = 128;

/// Which results are cleared.
#[derive(Debug, Clone)]
pub enum StaleResults {
    /// All except the newest ones, of which this many are kept; exempt results are not included.
    AllButLast(usize),
    /// The results of reads of a file that a later call reads again. The globs match the tools that read files.
    SupersededReads(NameGlobs),
    /// Results whose content is repeated by a later result.
    Duplicates,
}

/// Why a stale result is left as it is.
enum Spared {
    /// It is clear already.
    Clear,
    For(Reason),
}

/// Replaces the content of older tool results by `placeholder`.
///
/// ```
/// use curtail_core::processors::{ClearResults, StaleResults, ToolGlobs};
/// use curtail_tokens::tokenizers;
///
/// let tokenizer = tokenizers::tokenizer_by_name("o200k_base")?;
/// let exempt = ToolGlobs::compile(&["read_plan"])?;
/// let clear = ClearResults { exempt, ..ClearResults::new(StaleResults::AllButLast(5), tokenizer) };
/// assert_eq!(clear.placeholder, "[cleared]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ClearResults {
    /// The results to clear.
    pub stale: StaleResults,
    /// The content of a cleared result.
    pub placeholder: String,
    /// Whether the arguments of the calls whose results are cleared become an empty object.
    pub clear_inputs: bool,
    /// Tools whose results are never cleared.
    pub exempt: NameGlobs,
    /// The only tools whose results are cleared; all, if there is no glob.
    pub only: NameGlobs,
    /// Tokens of the newest results, without exempt ones, that are not cleared.
    pub protected_tokens: usize,
    /// Clears nothing in a transcript of at most this many tokens.
    pub trigger: Option<usize>,
    /// Clears nothing unless this many tokens are freed.
    pub at_least: usize,
    /// Clears this many results at a time, counted from the first: so the earlier requests of a conversation are prefixes of
    /// the later ones until the next step, and stay in the provider's cache.
    pub step: usize,
    /// Compares the placeholder with the content that it replaces.
    pub tokenizer: Arc<dyn Tokenizer>,
}

impl ClearResults {
    /// Writes `[cleared]` into the results that `stale` describes.
    #[must_use]
    pub fn new(stale: StaleResults, tokenizer: Arc<dyn Tokenizer>) -> Self {
        Self {
            stale,
            placeholder: String::from("[cleared]"),
            clear_inputs: false,
            exempt: NameGlobs::default(),
            only: NameGlobs::default(),
            protected_tokens: 0,
            trigger: None,
            at_least: 0,
            step: 1,
            tokenizer,
        }
    }
}

impl Processor for ClearResults {
    fn name(&self) -> &'static str {
        "filter"
    }

    fn traits(&self) -> Traits {
        let last_results = match &self.stale {
            StaleResults::AllButLast(last) if self.is_plain() => Some(*last),
            _ => None,
        };
        Traits { growth: Growth { last_results, ..Growth::default() }, ..Traits::default() }
    }

    fn unmatched_globs(&self) -> Vec<&str> {
        let reads = match &self.stale {
            StaleResults::SupersededReads(reads) => Some(reads),
            StaleResults::AllButLast(_) | StaleResults::Duplicates => None,
        };
        reads.into_iter().chain([&self.exempt, &self.only]).flat_map(NameGlobs::unmatched).collect()
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let mut plan = Plan::keep(view.messages.len());
        if self.is_idle(view) {
            return Ok(plan);
        }
        let pairs = Pairs::from_messages(view.messages);
        let (stale, reason) = self.stale(view, &pairs);
        let mut freed = 0;
        for result in stale {
            let part = &view.messages[result.message].parts[result.part];
            match self.spared(part) {
                Some(Spared::For(reason)) => {
                    plan.remarks.push(Remark::kept(result.message, reason));
                    continue;
                }
                Some(Spared::Clear) => {}
                None => {
                    freed += if self.at_least > 0 { self.tokens(part) } else { 0 };
                    change(&mut plan, result.message, Change::Rewrite(result.part, self.placeholder.clone()), reason);
                }
            }
            if let Some(call) = pairs.counterpart(result).filter(|_| self.clear_inputs) {
                freed += self.clear_input(view, call, &mut plan);
            }
        }
        if freed < self.at_least {
            return Ok(Plan::keep(view.messages.len()));
        }
        plan.remarks.sort_by_key(|remark| remark.message);
        Ok(plan)
    }
}

impl ClearResults {
    /// Whether each result is decided about by the number of those that follow it, and by nothing else.
    fn is_plain(&self) -> bool {
        let every_tool = self.exempt.is_empty() && self.only.is_empty();
        every_tool
            && !self.clear_inputs
            && self.protected_tokens == 0
            && self.trigger.is_none()
            && self.at_least == 0
            && self.step == 1
    }

    /// Whether the transcript is too short to be cleared.
    fn is_idle(&self, view: &View<'_, '_>) -> bool {
        let counting = Counting::new(self.tokenizer.clone());
        self.trigger.is_some_and(|trigger| counting.total_until(view, trigger).is_some())
    }

    /// The results to clear, and why.
    fn stale(&self, view: &View<'_, '_>, pairs: &Pairs) -> (Vec<PartRef>, &'static str) {
        let counted = |result: &PartRef| !self.is_exempt(view, pairs, *result);
        let (mut stale, reason) = match &self.stale {
            StaleResults::AllButLast(keep) => {
                let results: Vec<PartRef> = pairs.results().iter().copied().filter(counted).collect();
                let older = results.len().saturating_sub(*keep).next_multiple_of(self.step).min(results.len());
                (results[..older].to_vec(), "older tool result")
            }
            StaleResults::SupersededReads(reads) => {
                (superseded_reads(view, pairs, reads, &self.placeholder), "the file is read again later")
            }
            StaleResults::Duplicates => {
                (duplicates(view, pairs, &self.placeholder), "a later result has the same content")
            }
        };
        stale.retain(counted);
        if self.protected_tokens > 0 {
            let mut left = self.protected_tokens;
            let newest = pairs.results().iter().rev().filter(|result| counted(result));
            let protected = newest.take_while(|result| {
                let tokens = self.tokens(&view.messages[result.message].parts[result.part]);
                left.checked_sub(tokens).map(|rest| left = rest).is_some()
            });
            if let Some(oldest) = protected.last() {
                stale.retain(|result| (result.message, result.part) < (oldest.message, oldest.part));
            }
        }
        (stale, reason)
    }

    /// Tokens of a result's texts.
    fn tokens(&self, part: &Part<'_>) -> usize {
        let texts = part.content.result().into_iter().flat_map(|result| &result.content);
        texts.map(|text| self.tokenizer.count(&text.decode())).sum()
    }

    fn is_exempt(&self, view: &View<'_, '_>, pairs: &Pairs, result: PartRef) -> bool {
        let name = pairs.tool_name(view.messages, result);
        let matches = |globs: &NameGlobs| name.is_some_and(|name| globs.is_match(&name.decode()));
        matches(&self.exempt) || !self.only.is_empty() && !matches(&self.only)
    }

    /// Clears the arguments of the call at `at`; returns the tokens that this frees.
    fn clear_input(&self, view: &View<'_, '_>, at: PartRef, plan: &mut Plan) -> usize {
        const FIXED: Reason = Reason::Borrowed("nothing valid can replace the arguments of this call");
        let part = &view.messages[at.message].parts[at.part];
        let Some(call) = part.content.call().filter(|call| !call.arguments.is("{}") && !call.arguments.is_blank())
        else {
            return 0;
        };
        let Some(empty) = without_arguments(part) else {
            plan.remarks.push(Remark::kept(at.message, FIXED));
            return 0;
        };
        change(plan, at.message, Change::Substitute(at.part, empty), "arguments of a cleared call");
        if self.at_least > 0 { self.tokenizer.count(&call.arguments.decode()).saturating_sub(1) } else { 0 }
    }

    /// Why the result is not cleared, if it is not: the placeholder must be shorter than the current content, in bytes and in
    /// tokens.
    fn spared(&self, part: &Part<'_>) -> Option<Spared> {
        const FIXED: Reason = Reason::Borrowed("the format has no place for a placeholder in this result");
        const LONGER: Reason = Reason::Borrowed("the placeholder would be longer than the result");
        let (Some(rewrite), Some(result)) = (part.place().and_then(|place| place.rewrite), part.content.result())
        else {
            return Some(Spared::For(FIXED));
        };
        let spelled = rewrite.before.len() + quote(&self.placeholder).len() + rewrite.after.len();
        let text: Vec<_> = result.content.iter().map(|text| text.decode()).collect();
        if text.len() == 1 && text[0] == self.placeholder.as_str() {
            return Some(Spared::Clear);
        }
        // What an earlier stage wrote is as long as it was spelled, and not as long as what it replaced.
        let current = match (&part.origin, text.as_slice()) {
            (PartOrigin::Rewritten(_), [text]) => rewrite.before.len() + quote(text).len() + rewrite.after.len(),
            _ => rewrite.span.len(),
        };
        if spelled >= current {
            return Some(Spared::For(LONGER));
        }
        let bytes: usize = text.iter().map(|text| text.len()).sum();
        let placeholder = self.tokenizer.count(&self.placeholder);
        let surely = bytes > placeholder * LONGEST_TOKEN || result.media > 0;
        let shorter = surely || text.iter().map(|text| self.tokenizer.count(text)).sum::<usize>() >= placeholder;
        if shorter { None } else { Some(Spared::For(LONGER)) }
    }
}

/// Adds a change of one message to a plan.
fn change(plan: &mut Plan, message: usize, change: Change, reason: &'static str) {
    match &mut plan.decisions[message] {
        Decision::Change(changes, _) => changes.push(change),
        decision => *decision = Decision::Change(vec![change], Reason::Borrowed(reason)),
    }
}
