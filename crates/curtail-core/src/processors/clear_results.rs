//! Clears the content of tool results that are no longer needed and keeps the pairs.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::stale_results::{duplicates, is_told, superseded_reads};
use super::{Change, Counting, NameGlobs, Plan, Processor, ProcessorError, Reason, Remark, View};
use crate::counting::Tokenizer;
use crate::json::{Text, quote};
use crate::transcript::{Pairs, Part, PartOrigin, PartRef, without_arguments};

/// Length of the longest token of any known encoding, in bytes: a text of more than `n` times as many bytes has more than `n`
/// tokens.
const LONGEST_TOKEN: usize = 128;

/// Which results are cleared.
#[derive(Debug, Clone)]
pub enum StaleResults {
    /// All except the newest ones, of which each conversation keeps this many; neither exempt results are counted, nor those of
    /// turns that were rolled back.
    AllButLast(usize),
    /// The results of reads of a file that a later call reads again. The globs match the tools that read files.
    SupersededReads(NameGlobs),
    /// Results whose content is repeated by a later result.
    Duplicates,
}

/// Why a stale result is left as it is.
enum Uncleared {
    /// It is clear already.
    Clear,
    For(Reason),
}

/// Replaces the content of older tool results by `placeholder`.
///
/// ```
/// use curtail_core::processors::{ClearResults, NameGlobs, StaleResults};
/// use curtail_tokens::tokenizers;
///
/// let tokenizer = tokenizers::tokenizer_by_name("o200k_base")?;
/// let exempt = NameGlobs::compile(&["read_plan"])?;
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
    /// Tokens of the newest results of each conversation, without exempt ones, that are not cleared.
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

    fn remarks(&self) -> Vec<String> {
        self.globs().flat_map(NameGlobs::remarks).collect()
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let mut plan = Plan::keep(view.messages.len());
        let pairs = Pairs::from_messages(view.messages);
        self.globs().for_each(|globs| globs.see(pairs.tool_names(view.messages)));
        if self.is_idle(view) {
            return Ok(plan);
        }
        let (stale, reason) = self.stale(view, &pairs);
        let mut freed = 0;
        for result in stale {
            let part = result.part_in(view.messages);
            match self.uncleared(part) {
                Some(Uncleared::For(reason)) => {
                    plan.remarks.push(Remark::kept(result.message, reason));
                    continue;
                }
                Some(Uncleared::Clear) => {}
                None => {
                    freed += self.freed(|counting| counting.content(&part.content), &self.placeholder);
                    let change = Change::Rewrite(result.part, self.placeholder.clone());
                    plan.change(result.message, [change], Reason::Borrowed(reason));
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
    /// Whether each result is decided about by the number of those around it and the tokens of the transcript, and by nothing else.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        let every_tool = self.exempt.is_empty() && self.only.is_empty();
        every_tool && !self.clear_inputs && self.protected_tokens == 0 && self.at_least == 0
    }

    fn globs(&self) -> impl Iterator<Item = &NameGlobs> {
        let reads = match &self.stale {
            StaleResults::SupersededReads(reads) => Some(reads),
            StaleResults::AllButLast(_) | StaleResults::Duplicates => None,
        };
        reads.into_iter().chain([&self.exempt, &self.only])
    }

    /// Whether the transcript is too short to be cleared.
    fn is_idle(&self, view: &View<'_, '_>) -> bool {
        self.trigger.is_some_and(|trigger| self.counting().total_until(view, trigger).is_some())
    }

    fn counting(&self) -> Counting {
        Counting::new(self.tokenizer.clone())
    }

    /// The results to clear, and why.
    fn stale(&self, view: &View<'_, '_>, pairs: &Pairs) -> (Vec<PartRef>, &'static str) {
        let (mut stale, reason) = match &self.stale {
            StaleResults::AllButLast(keep) => (self.older(view, pairs, *keep), "older tool result"),
            StaleResults::SupersededReads(reads) => {
                (superseded_reads(view, pairs, reads, &self.placeholder), "the file is read again later")
            }
            StaleResults::Duplicates => {
                (duplicates(view, pairs, &self.placeholder), "a later result has the same content")
            }
        };
        stale.retain(|result| !self.is_exempt(view, pairs, *result));
        if self.protected_tokens > 0 {
            let protected = self.protected(view, pairs);
            stale.retain(|result| !protected.contains(result));
        }
        (stale, reason)
    }

    /// The results that are not exempt, by conversation: the main one and those of sub-agents each have newest ones. Those of turns
    /// that were rolled back are in none.
    fn conversations(&self, view: &View<'_, '_>, pairs: &Pairs) -> HashMap<u32, Vec<PartRef>> {
        let mut conversations: HashMap<u32, Vec<PartRef>> = HashMap::new();
        for &result in pairs.results() {
            if is_told(view, result) && !self.is_exempt(view, pairs, result) {
                conversations.entry(view.messages[result.message].thread).or_default().push(result);
            }
        }
        conversations
    }

    /// All results but the last `keep` of each conversation, in order.
    fn older(&self, view: &View<'_, '_>, pairs: &Pairs, keep: usize) -> Vec<PartRef> {
        let mut last: HashSet<PartRef> = HashSet::default();
        for results in self.conversations(view, pairs).into_values() {
            let older = results.len().saturating_sub(keep).next_multiple_of(self.step).min(results.len());
            last.extend(results.into_iter().skip(older));
        }
        pairs.results().iter().copied().filter(|result| !last.contains(result)).collect()
    }

    /// The newest results of each conversation whose tokens are protected.
    fn protected(&self, view: &View<'_, '_>, pairs: &Pairs) -> HashSet<PartRef> {
        let mut protected = HashSet::default();
        for results in self.conversations(view, pairs).into_values() {
            let mut left = self.protected_tokens;
            for result in results.into_iter().rev() {
                let Some(rest) = left.checked_sub(self.tokens(result.part_in(view.messages))) else { break };
                left = rest;
                protected.insert(result);
            }
        }
        protected
    }

    /// Tokens of a result's texts.
    fn tokens(&self, part: &Part<'_>) -> usize {
        let texts = part.content.result().into_iter().flat_map(|result| &result.content);
        texts.map(|text| self.tokenizer.count(&text.decode())).sum()
    }

    fn is_exempt(&self, view: &View<'_, '_>, pairs: &Pairs, result: PartRef) -> bool {
        match pairs.tool_name(view.messages, result).map(Text::decode) {
            Some(name) => self.exempt.is_match(&name) || !self.only.is_empty() && !self.only.is_match(&name),
            None => !self.only.is_empty(),
        }
    }

    /// Clears the arguments of the call at `at`; returns the tokens that this frees.
    fn clear_input(&self, view: &View<'_, '_>, at: PartRef, plan: &mut Plan) -> usize {
        const FIXED: Reason = Reason::Borrowed("nothing valid can replace the arguments of this call");
        let part = at.part_in(view.messages);
        let Some(call) = part.content.call().filter(|call| !call.arguments.is("{}") && !call.arguments.is_blank())
        else {
            return 0;
        };
        let Some(empty) = without_arguments(part) else {
            plan.remarks.push(Remark::kept(at.message, FIXED));
            return 0;
        };
        plan.change(at.message, [Change::Substitute(at.part, empty)], Reason::Borrowed("arguments of a cleared call"));
        self.freed(|counting| counting.text(&call.arguments), "{}")
    }

    /// The tokens that are freed where `written` replaces the tokens `before`. They are counted only if they matter.
    fn freed(&self, before: impl Fn(&Counting) -> usize, written: &str) -> usize {
        match self.at_least {
            0 => 0,
            _ => before(&self.counting()).saturating_sub(self.tokenizer.count(written)),
        }
    }

    /// Why the result is not cleared, if it is not: the placeholder must be shorter than the current content, in bytes and in
    /// tokens.
    fn uncleared(&self, part: &Part<'_>) -> Option<Uncleared> {
        const FIXED: Reason = Reason::Borrowed("the format has no place for a placeholder in this result");
        const LONGER: Reason = Reason::Borrowed("the placeholder would be longer than the result");
        let (Some(rewrite), Some(result)) = (part.place().and_then(|place| place.rewrite), part.content.result())
        else {
            return Some(Uncleared::For(FIXED));
        };
        let spelled = rewrite.spelled(quote(&self.placeholder).len());
        let text: Vec<_> = result.content.iter().map(|text| text.decode()).collect();
        if text.len() == 1 && text[0] == self.placeholder.as_str() {
            return Some(Uncleared::Clear);
        }
        // What an earlier stage wrote is as long as it was spelled, and not as long as what it replaced.
        let current = match (&part.origin, text.as_slice()) {
            (PartOrigin::Rewritten(_), [text]) => rewrite.spelled(quote(text).len()),
            _ => rewrite.span.len(),
        };
        if spelled >= current {
            return Some(Uncleared::For(LONGER));
        }
        let bytes: usize = text.iter().map(|text| text.len()).sum();
        let placeholder = self.tokenizer.count(&self.placeholder);
        let surely = bytes > placeholder * LONGEST_TOKEN || result.media > 0;
        let shorter = surely || text.iter().map(|text| self.tokenizer.count(text)).sum::<usize>() >= placeholder;
        if shorter { None } else { Some(Uncleared::For(LONGER)) }
    }
}
