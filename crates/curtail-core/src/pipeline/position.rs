//! Where a transcript is in a chain that reads it several times.

use super::{Cut, Cutter, Decider, Run, Stage, Totals};
use crate::dialects::Dialect;
use crate::edit::{Explained, explain};
use crate::processors::Plan;
use crate::transcript::{Message, Transcript};

/// The index of a message, and the offset of its value, as they were read first; `None` if a stage wrote it.
type Source = Option<(usize, usize)>;

/// Where a transcript is in a chain, and what is known of it so far.
pub(super) struct Position {
    pub(super) dialect: &'static dyn Dialect,
    /// The cutter that is calibrated for it, if one is.
    pub(super) cutter: Option<Cutter>,
    /// Index of the stage that comes next.
    pub(super) next: usize,
    /// Where it begins in the text that was read first.
    pub(super) offset: usize,
    pub(super) totals: Totals,
    /// The messages, once they are read again.
    sources: Option<Vec<Source>>,
    explained: Vec<(Decider, Explained)>,
    notes: Vec<String>,
}

impl Position {
    /// A transcript that was just read.
    pub(super) fn begun(dialect: &'static dyn Dialect, transcript: &Transcript<'_>, cutter: Option<Cutter>) -> Self {
        let messages_before = transcript.messages.len();
        let totals = Totals { transcripts: 1, messages_before, ..Totals::default() };
        let offset = transcript.layout.span.start as usize;
        Self { dialect, cutter, next: 0, offset, totals, sources: None, explained: Vec::new(), notes: Vec::new() }
    }

    /// Notes that `messages` were read. If they are not those that were written, it is not known where they come from.
    pub(super) fn reads(&mut self, messages: &[Message<'_>]) {
        if let Some(sources) = self.sources.as_mut().filter(|sources| sources.len() != messages.len()) {
            *sources = vec![None; messages.len()];
        }
    }

    /// Explains what `stage` decided about `messages`.
    pub(super) fn explain(&mut self, stage: &Stage, messages: &[Message<'_>], plan: &Plan) {
        for mut decision in explain(messages, plan) {
            if let Some(sources) = &self.sources {
                let source = decision.message.and_then(|at| sources.get(at).copied().flatten());
                (decision.message, decision.offset) = source.unzip();
            }
            self.explained.push((Decider::from_stage(stage), decision));
        }
    }

    pub(super) fn note(&mut self, notes: impl IntoIterator<Item = String>) {
        self.notes.extend(notes);
    }

    /// Notes what the stages up to the next made, of `stages` in all.
    pub(super) fn advance(&mut self, run: &Run<'_>, stages: usize) {
        self.next = run.next;
        self.totals.changed |= usize::from(run.changed);
        self.totals.messages_after = run.messages.len();
        if self.next == stages {
            return;
        }
        let source = |message: &Message<'_>| {
            let at = message.source_index()?;
            let read = || message.value().map(|value| (at, value.span().start as usize));
            self.sources.as_ref().map_or_else(read, |sources| sources.get(at).copied().flatten())
        };
        self.sources = Some(run.messages.iter().map(source).collect());
    }

    /// Hands over what is to be said about the transcript.
    pub(super) fn report(&mut self, cut: &mut Cut) {
        cut.explained.append(&mut self.explained);
        cut.notes.extend(self.notes.drain(..).map(|note| (self.offset, note)));
    }
}
