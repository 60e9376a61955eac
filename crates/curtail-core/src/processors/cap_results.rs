//! Shortens long tool results, each to a number of tokens of its own tool.

use std::sync::Arc;

use super::planning::{CapKeep, capped};
use super::{Change, Decision, NameGlobs, Plan, Processor, ProcessorError, Reason, Remark, View};
use crate::counting::{Tokenizer, token_count};
use crate::transcript::{Pairs, Part, PartRef};

/// Shortens every tool result with more tokens than its cap. A marker in its place states how many tokens were cut. Results with
/// media are kept.
#[derive(Clone)]
pub struct CapResults {
    /// The cap of results of any tool; `None` if only those of `tools` are capped.
    pub max_tokens: Option<usize>,
    /// Caps of the tools that a glob matches; the first one that matches applies.
    pub tools: Vec<(NameGlobs, usize)>,
    /// Which end of a result is kept.
    pub keep: CapKeep,
    /// Tools whose results are never shortened.
    pub exempt: NameGlobs,
    /// Counts the tokens.
    pub tokenizer: Arc<dyn Tokenizer>,
}

impl CapResults {
    /// The smallest cap: below it, there is no room for the marker and anything beside it.
    pub const LEAST: usize = 32;
}

impl Processor for CapResults {
    fn name(&self) -> &'static str {
        "filter"
    }

    fn unmatched_globs(&self) -> Vec<&str> {
        self.tools.iter().map(|(globs, _)| globs).chain([&self.exempt]).flat_map(NameGlobs::unmatched).collect()
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let pairs = Pairs::from_messages(view.messages);
        let mut plan = Plan::keep(view.messages.len());
        for result in pairs.results() {
            let Some(cap) = self.cap(view, &pairs, *result) else { continue };
            let part = &view.messages[result.message].parts[result.part];
            let Some(text) = capped(part, cap, self.keep, &*self.tokenizer) else {
                plan.remarks.extend(self.spared(part, cap).map(|reason| Remark::kept(result.message, reason)));
                continue;
            };
            let change = Change::Rewrite(result.part, text);
            match &mut plan.decisions[result.message] {
                Decision::Change(changes, _) => changes.push(change),
                decision => {
                    let reason = format!("the result has more than {}", token_count(cap));
                    *decision = Decision::Change(vec![change], Reason::Owned(reason));
                }
            }
        }
        plan.remarks.sort_by_key(|remark| remark.message);
        Ok(plan)
    }
}

impl CapResults {
    /// The most tokens of a result; `None` if it is not capped.
    fn cap(&self, view: &View<'_, '_>, pairs: &Pairs, result: PartRef) -> Option<usize> {
        let name = pairs.tool_name(view.messages, result).map(|name| name.decode().into_owned()).unwrap_or_default();
        if self.exempt.is_match(&name) {
            return None;
        }
        let tool_cap = self.tools.iter().find(|(globs, _)| globs.is_match(&name)).map(|(_, cap)| *cap);
        tool_cap.or(self.max_tokens)
    }

    /// Why a result above its cap is kept.
    fn spared(&self, part: &Part<'_>, cap: usize) -> Option<Reason> {
        let result = part.content.result()?;
        let mut left = cap;
        let fits = result.content.iter().all(|text| {
            let tokens = self.tokenizer.count_until(&text.decode(), left);
            tokens.is_some_and(|tokens| {
                left -= tokens;
                true
            })
        });
        let why =
            if result.media > 0 { "a result with media is not shortened" } else { "the result cannot become shorter" };
        (!fits).then_some(Reason::Borrowed(why))
    }
}
