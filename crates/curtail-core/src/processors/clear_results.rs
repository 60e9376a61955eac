//! Clears the content of tool results that are no longer needed and keeps the pairs.

use std::sync::Arc;

use super::stale_results::{duplicates, superseded_reads};
use super::{Change, Decision, NameGlobs, Plan, Processor, ProcessorError, Reason, Remark, View};
use crate::counting::Tokenizer;
use crate::json::quote;
use crate::transcript::{Pairs, Part, PartRef};

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
    /// Tools whose results are never cleared.
    pub exempt: NameGlobs,
    /// Compares the placeholder with the content that it replaces.
    pub tokenizer: Arc<dyn Tokenizer>,
}

impl ClearResults {
    /// Writes `[cleared]` into the results that `stale` describes.
    #[must_use]
    pub fn new(stale: StaleResults, tokenizer: Arc<dyn Tokenizer>) -> Self {
        Self { stale, placeholder: String::from("[cleared]"), exempt: NameGlobs::default(), tokenizer }
    }
}

impl Processor for ClearResults {
    fn name(&self) -> &'static str {
        "filter"
    }

    fn unmatched_globs(&self) -> Vec<&str> {
        let reads = match &self.stale {
            StaleResults::SupersededReads(reads) => Some(reads),
            StaleResults::AllButLast(_) | StaleResults::Duplicates => None,
        };
        reads.into_iter().chain([&self.exempt]).flat_map(NameGlobs::unmatched).collect()
    }

    fn keeps_last_results(&self) -> Option<usize> {
        match &self.stale {
            StaleResults::AllButLast(last) if self.exempt.is_empty() => Some(*last),
            _ => None,
        }
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let pairs = Pairs::from_messages(view.messages);
        let counted = |result: &PartRef| !self.is_exempt(view, &pairs, *result);
        let (stale, reason) = match &self.stale {
            StaleResults::AllButLast(keep) => {
                let older = pairs.results().iter().rev().copied().filter(counted).skip(*keep);
                (older.collect(), "older tool result")
            }
            StaleResults::SupersededReads(reads) => {
                (superseded_reads(view, &pairs, reads, &self.placeholder), "the file is read again later")
            }
            StaleResults::Duplicates => {
                (duplicates(view, &pairs, &self.placeholder), "a later result has the same content")
            }
        };
        let mut plan = Plan::keep(view.messages.len());
        for result in stale.into_iter().filter(counted) {
            let part = &view.messages[result.message].parts[result.part];
            if let Some(reason) = self.spared(part) {
                plan.remarks.extend(reason.map(|reason| Remark::kept(result.message, reason)));
            } else {
                let change = Change::Rewrite(result.part, self.placeholder.clone());
                match &mut plan.decisions[result.message] {
                    Decision::Change(changes, _) => changes.push(change),
                    decision => *decision = Decision::Change(vec![change], Reason::Borrowed(reason)),
                }
            }
        }
        plan.remarks.sort_by_key(|remark| remark.message);
        Ok(plan)
    }
}

impl ClearResults {
    fn is_exempt(&self, view: &View<'_, '_>, pairs: &Pairs, result: PartRef) -> bool {
        let part = |at: PartRef| &view.messages[at.message].parts[at.part].content;
        let call = pairs.other_half(result).and_then(|call| part(call).call()).map(|call| &call.name);
        let name = call.or_else(|| part(result).result().and_then(|result| result.name.as_ref()));
        name.is_some_and(|name| self.exempt.is_match(&name.decode()))
    }

    /// If the result is not cleared, why not, or `None` within if there is nothing to clear: the placeholder must be shorter
    /// than the current content, in bytes and in tokens.
    #[expect(clippy::option_option, reason = "cleared, spared for a reason, spared because it is clear already")]
    fn spared(&self, part: &Part<'_>) -> Option<Option<Reason>> {
        const FIXED: Reason = Reason::Borrowed("the format has no place for a placeholder in this result");
        const LONGER: Reason = Reason::Borrowed("the placeholder would be longer than the result");
        let (Some(rewrite), Some(result)) = (part.place().and_then(|place| place.rewrite), part.content.result())
        else {
            return Some(Some(FIXED));
        };
        let spelled = rewrite.before.len() + quote(&self.placeholder).len() + rewrite.after.len();
        let text: Vec<_> = result.content.iter().map(|text| text.decode()).collect();
        if text.len() == 1 && text[0] == self.placeholder.as_str() {
            return Some(None);
        }
        if spelled >= rewrite.span.len() {
            return Some(Some(LONGER));
        }
        let bytes: usize = text.iter().map(|text| text.len()).sum();
        let placeholder = self.tokenizer.count(&self.placeholder);
        let surely = bytes > placeholder * LONGEST_TOKEN || result.media > 0;
        let shorter = surely || text.iter().map(|text| self.tokenizer.count(text)).sum::<usize>() >= placeholder;
        if shorter { None } else { Some(Some(LONGER)) }
    }
}
