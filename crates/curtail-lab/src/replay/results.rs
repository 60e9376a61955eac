//! Stages that clear or shorten results, which go on from the previous request.

use super::applied::Applied;
use super::history::History;
use super::newest::tokens_before;
use super::runs::Difference;
use super::sent::Sent;
use super::written::WrittenMessages;
use crate::requests::Request;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{CapResults, ClearResults, Counting, ProcessorError, StaleResults, View};
use curtail_core::transcript::Layout;

/// The results about which a request can decide otherwise than the one before it. A policy clears a result once enough others follow
/// it, and shortens one at once.
pub(super) struct Results {
    /// Decides about these results without those before them.
    chain: Chain,
    /// How many of the last results are never cleared.
    last: usize,
    /// How many are cleared at a time.
    step: usize,
    /// The end of the first request that is long enough to clear anything.
    begins: usize,
    /// Positions of messages with results that are not all decided for good, and the number of their results.
    open: Vec<(usize, usize)>,
    /// How many of them were decided about.
    decided: usize,
    /// Index in [`History::originals`] of the first message that no request has sent.
    next: usize,
}

impl Results {
    /// `None` if `clear` looks at more than the number of results, and the size of the transcript.
    pub(super) fn clearing(clear: &ClearResults, history: &History<'_>, layout: &Layout<'_>) -> Option<Self> {
        let StaleResults::AllButLast(last) = clear.stale else { return None };
        let begins = clear.trigger.map_or(0, |trigger| {
            let counting = Counting::new(clear.tokenizer.clone());
            let outside = counting.outside(&View::of_layout(layout, &history.messages));
            tokens_before(&counting, history).partition_point(|before| outside + before.all() <= trigger)
        });
        let chain = Chain::default().then(ClearResults { trigger: None, ..clear.clone() });
        clear.is_plain().then_some(Self {
            chain,
            last,
            step: clear.step,
            begins,
            open: Vec::new(),
            decided: 0,
            next: 0,
        })
    }

    /// `None` if `cap` differs by tool.
    pub(super) fn capping(cap: &CapResults) -> Option<Self> {
        let chain = Chain::default().then(cap.clone());
        let is_plain = cap.tools.is_empty() && cap.exempt.is_empty();
        is_plain.then_some(Self { chain, last: 0, step: 1, begins: 0, open: Vec::new(), decided: 0, next: 0 })
    }

    pub(super) fn difference(
        &mut self,
        request: &Request,
        sent: &Sent,
        applied: &Applied<'_, '_>,
        written: &mut WrittenMessages,
    ) -> Result<Difference, ProcessorError> {
        let Applied { history, counting, .. } = applied;
        let end = history.originals.partition_point(|&at| at < request.at);
        let new = &history.originals[self.next.min(end)..end];
        let results = new.iter().map(|&at| (at, history.messages[at].results().count()));
        self.open.extend(results.filter(|(_, count)| *count > 0));
        let mut at = self.next;
        self.next = end;
        let mut difference = sent.extended(0..0);
        let decides = request.at >= self.begins;
        if decides && self.open.len() > self.decided {
            let messages = self.open.iter().map(|&(at, _)| history.messages[at].clone()).collect();
            let first = self.open[0].0;
            difference = sent.cut(first);
            at = history.originals.partition_point(|&position| position < first).min(at);
            for message in applied.run_in(&self.chain, messages)? {
                let Some(position) = history.position(&message) else { continue };
                let before = history.originals.partition_point(|&other| other < position);
                difference.runs.push_all(&history.originals[at..before]);
                written.push(&mut difference.runs, history, counting, &message);
                at = before + 1;
            }
            self.close();
        }
        difference.runs.push_all(&history.originals[at..end]);
        Ok(difference)
    }

    /// Forgets the messages about which nothing changes any more: those of whole steps, so that the step of the others stays known.
    fn close(&mut self) {
        let all: usize = self.open.iter().map(|(_, count)| count).sum();
        let cleared = all.saturating_sub(self.last).next_multiple_of(self.step).min(all);
        let mut before = 0;
        let mut closed = 0;
        for (nth, (_, count)) in self.open.iter().enumerate() {
            before += count;
            if before <= cleared && before.is_multiple_of(self.step) {
                closed = nth + 1;
            }
        }
        self.open.drain(..closed);
        self.decided = self.open.len();
    }
}
