//! Writing a thread: for a model, or its state for a program.

use super::stored_text::{StoredTranscript, document};
use super::{Thread, ThreadError};
use crate::rolling::{RollingSummary, state};
use curtail_core::dialects::{self, Framing};
use curtail_core::edit::apply;
use curtail_core::figures::{FigureEdits, StaleFigures};
use curtail_core::processors::{Plan, Thinking, ThoughtModels, ThoughtPrefixes, View, apply_plan};
use curtail_core::transcript::checks_prefix;

/// The state of an empty thread.
const EMPTY_STATE: &str = "{\"interactions\":[],\"summaries\":[]}\n";

/// The form in which a thread is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// System messages, summaries and window, as a model should read them.
    Context {
        /// How to handle signed reasoning, which a provider may reject if the messages before it are missing.
        thinking: Thinking,
        /// What happens to figures that are wrong without the messages before them.
        figures: StaleFigures,
    },
    /// The state as JSON.
    State,
}

impl Thread {
    /// The thread in the form `shown`. It ends with a line break.
    ///
    /// # Errors
    /// The stored thread cannot be read.
    pub fn render(&self, summary: &RollingSummary, shown: Shown, framing: Framing) -> Result<String, ThreadError> {
        let text = match framing {
            _ if self.items.is_empty() => String::new(),
            Framing::Lines => self.lines(),
            Framing::Document | Framing::Records => self.list(),
        };
        if self.items.is_empty() || self.dialect.is_none() {
            return Ok(if shown == Shown::State { EMPTY_STATE.to_owned() } else { text });
        }
        let document = document(&text)?;
        let stored = self.read(&document)?;
        let rolling = self.rolling(summary, &stored);
        match shown {
            Shown::State => {
                let times = self.times(&stored);
                let held = summary.held(&rolling);
                Ok(state(&stored.messages, &rolling, held, &|at| times.get(at).cloned()) + "\n")
            }
            Shown::Context { thinking, figures } => {
                let plan = summary.plan(&View::of_layout(&stored.layout, &stored.messages), &rolling);
                let edited = self.edited(&plan, stored, thinking, figures);
                Ok(edited.unwrap_or_else(|| if framing == Framing::Lines { self.log() } else { text }))
            }
        }
    }

    /// What a model should read: `stored` with the changes of `plan`, and without reasoning and figures that are wrong then.
    /// `None` if nothing changes.
    fn edited(
        &self,
        plan: &Plan,
        stored: StoredTranscript<'_>,
        thinking: Thinking,
        figures: StaleFigures,
    ) -> Option<String> {
        let StoredTranscript { dialect, layout, messages, .. } = stored;
        let prefixes = ThoughtPrefixes::from_messages(&messages);
        let mut is_same = plan.is_identity();
        let mut remaining = apply_plan(messages, plan);
        if let Some(prefixes) = prefixes {
            let broken = if self.dropped > 0 { prefixes.all(&remaining) } else { prefixes.broken(&remaining) };
            let models = dialects::models(dialect, &layout);
            let checks = |index: usize| models.get(index)?.as_ref().map(|model| checks_prefix(&model.decode()));
            let plan = thinking.plan(&remaining, &broken, ThoughtModels { checks: &checks, dataset: false });
            is_same &= plan.is_identity();
            remaining = apply_plan(remaining, &plan);
        }
        let is_reset = self.dropped > 0 && figures == StaleFigures::Reset;
        let stale = if is_reset { StaleFigures::ResetAll } else { figures };
        let figures = FigureEdits::find(&layout, dialect, &remaining, stale);
        if is_same && figures.count == 0 {
            return None;
        }
        let mut out = String::new();
        apply(&layout, dialect, &remaining, &figures, &mut out);
        Some(out)
    }
}
