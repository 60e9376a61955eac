//! Shortens tool results, each to the number of tokens that its tool may have.

use std::sync::Arc;

use super::shorter_texts::{LongText, shortenable};
use super::{Change, NameGlobs, Plan, Processor, ProcessorError, Reason, Remark, View};
use crate::counting::{Tokenizer, token_count};
use crate::transcript::{Pairs, Part, PartRef};

/// Which end of a text is kept where it is capped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CapKeep {
    /// The beginning.
    Head,
    /// The end.
    Tail,
    /// Both, in equal shares.
    #[default]
    Both,
}

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

    fn remarks(&self) -> Vec<String> {
        self.globs().flat_map(NameGlobs::remarks).collect()
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let pairs = Pairs::from_messages(view.messages);
        self.globs().for_each(|globs| globs.see(pairs.tool_names(view.messages)));
        let mut plan = Plan::keep(view.messages.len());
        for result in pairs.results() {
            let Some(cap) = self.cap(view, &pairs, *result) else { continue };
            let part = result.part_in(view.messages);
            if self.fits(part, cap) {
                continue;
            }
            match self.capped(*result, part, cap) {
                Some(text) => {
                    let reason = Reason::Owned(format!("the result has more than {}", token_count(cap)));
                    plan.change(result.message, [Change::Rewrite(result.part, text)], reason);
                }
                None => plan.remarks.push(Remark::kept(result.message, Reason::Borrowed(why_whole(part)))),
            }
        }
        plan.remarks.sort_by_key(|remark| remark.message);
        Ok(plan)
    }
}

impl CapResults {
    fn globs(&self) -> impl Iterator<Item = &NameGlobs> {
        self.tools.iter().map(|(globs, _)| globs).chain([&self.exempt])
    }

    /// The most tokens of a result; `None` if it is not capped.
    fn cap(&self, view: &View<'_, '_>, pairs: &Pairs, result: PartRef) -> Option<usize> {
        let name = pairs.tool_name(view.messages, result).map(|name| name.decode().into_owned()).unwrap_or_default();
        if self.exempt.is_match(&name) {
            return None;
        }
        let tool_cap = self.tools.iter().find(|(globs, _)| globs.is_match(&name)).map(|(_, cap)| *cap);
        tool_cap.or(self.max_tokens)
    }

    /// Whether the result has at most `cap` tokens.
    fn fits(&self, part: &Part<'_>, cap: usize) -> bool {
        let mut texts = part.content.result().into_iter().flat_map(|result| &result.content);
        let left =
            texts.try_fold(cap, |left, text| left.checked_sub(self.tokenizer.count_until(&text.decode(), left)?));
        left.is_some()
    }

    /// The text of a result in at most `cap` tokens, with a marker that says how many were cut; `None` if it cannot become
    /// shorter.
    fn capped(&self, at: PartRef, part: &Part<'_>, cap: usize) -> Option<String> {
        let tokenizer = &self.tokenizer;
        let (text, most) = shortenable(part)?;
        let tokens = tokenizer.count(&text);
        let whole = LongText { at, text, tokens, most };
        let mut room = cap.saturating_sub(tokenizer.count(&format!("\n{}\n", marker(tokens))));
        loop {
            let ends = match self.keep {
                CapKeep::Head => (room, 0),
                CapKeep::Tail => (0, room),
                CapKeep::Both => (room.div_ceil(2), room / 2),
            };
            let head = tokenizer.head(&whole.text, ends.0);
            let tail = tokenizer.tail(&whole.text, ends.1).max(head);
            let mark = marker(tokenizer.count(&whole.text[head..tail]));
            let short = match self.keep {
                CapKeep::Head => format!("{}\n{mark}", &whole.text[..head]),
                CapKeep::Tail => format!("{mark}\n{}", &whole.text[tail..]),
                CapKeep::Both => format!("{}\n{mark}\n{}", &whole.text[..head], &whole.text[tail..]),
            };
            if tokenizer.count(&short) <= cap && whole.holds(&short) {
                return Some(short);
            }
            // Tokens may merge differently at a cut, and the marker may be longer in bytes than what it replaces.
            room = room.checked_sub(1 + room / 16)?;
        }
    }
}

/// What is written in place of as many tokens.
fn marker(cut: usize) -> String {
    format!("[… {cut} tokens cut …]")
}

/// Why a result above its cap is kept.
fn why_whole(part: &Part<'_>) -> &'static str {
    match part.content.result() {
        Some(result) if result.media > 0 => "a result with media is not shortened",
        _ if part.place().is_some_and(|place| place.rewrite.is_none()) => {
            "the format has no place for a text in this result"
        }
        _ => "the result cannot become shorter",
    }
}
