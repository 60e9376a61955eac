//! Which signed thoughts the changes of a chain break, and what is done with them.

use std::cell::OnceCell;

use crate::dialects::{Dialect, models};
use crate::processors::{Plan, Thinking, ThoughtModels, ThoughtPrefixes};
use crate::transcript::{Layout, Message, checks_prefix};

/// How a chain treats the signed thoughts of a transcript after its changes.
pub(super) struct ThoughtStep<'s> {
    /// The messages before each thought, as they were read.
    prefixes: ThoughtPrefixes,
    dialect: &'static dyn Dialect,
    layout: &'s Layout<'s>,
    thinking: Thinking,
    /// Whether the transcript belongs to a dataset.
    dataset: bool,
    /// Whether the model of each message checks thoughts, by the index of the message, once it was asked for; `None` if no model
    /// is named.
    checks: OnceCell<Vec<Option<bool>>>,
}

impl<'s> ThoughtStep<'s> {
    /// For `messages` as they were read; `None` if they have no thought that depends on what precedes it.
    pub(super) fn new(
        dialect: &'static dyn Dialect,
        layout: &'s Layout<'s>,
        messages: &[Message<'_>],
        thinking: Thinking,
        dataset: bool,
    ) -> Option<Self> {
        let prefixes = ThoughtPrefixes::from_messages(messages)?;
        Some(Self { prefixes, dialect, layout, thinking, dataset, checks: OnceCell::new() })
    }

    /// The plan that drops the thoughts of `messages` which a change broke.
    pub(super) fn plan(&self, messages: &[Message<'_>]) -> Plan {
        let broken = self.prefixes.broken(messages);
        if broken.is_empty() {
            return Plan::keep(messages.len());
        }
        let checks = self.checks.get_or_init(|| checks(self.dialect, self.layout));
        let models = ThoughtModels { checks: &|index| checks.get(index).copied().flatten(), dataset: self.dataset };
        self.thinking.plan(messages, &broken, models)
    }
}

/// Whether the model of each message checks thoughts; `None` if no model is named.
fn checks(dialect: &dyn Dialect, layout: &Layout<'_>) -> Vec<Option<bool>> {
    let models = models(dialect, layout).into_iter();
    models.map(|model| model.map(|model| checks_prefix(&model.decode()))).collect()
}
