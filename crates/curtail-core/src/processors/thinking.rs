//! What is done with signed thoughts after a change. It is not a processor of a chain, but the step after each of them.

use foldhash::HashMap;

use super::plan::{Change, Decision, Plan, Reason};
use crate::numbers::number_of;
use crate::transcript::{Content, Message, PartRef, Role, in_flight};

/// What to do with signed thoughts after the first change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Thinking {
    /// Drop them if the model checks them. If no model is named, drop them outside the in-flight round; keep them in
    /// datasets.
    #[default]
    Auto,
    /// Keep them.
    Keep,
    /// Drop them.
    Drop,
}

const CHANGED_BEFORE: Reason = Reason::Borrowed("its signature covers everything before it, and that has changed");

/// What is known when thoughts are dropped.
#[derive(Clone, Copy)]
pub struct ThoughtModels<'m> {
    /// Whether the model that wrote the message with this index checks thoughts; `None` if no model is named.
    pub checks: &'m dyn Fn(usize) -> Option<bool>,
    /// Whether the transcript belongs to a dataset: nobody sends it to the model that wrote it.
    pub dataset: bool,
}

impl ThoughtModels<'_> {
    /// Whether the model that wrote `message` checks thoughts, if that is known.
    fn of(&self, message: &Message<'_>) -> Option<bool> {
        message.source_index().and_then(self.checks)
    }
}

impl Thinking {
    /// The plan that drops the `broken` thoughts of `messages`; a message without other content is dropped whole.
    #[must_use]
    pub fn plan(self, messages: &[Message<'_>], broken: &[PartRef], models: ThoughtModels<'_>) -> Plan {
        let flight = in_flight(messages);
        // The model that answers next checks what earlier ones wrote.
        let mut newest: HashMap<u32, bool> = HashMap::default();
        for message in messages.iter().filter(|message| message.role == Role::Assistant) {
            newest.extend(models.of(message).map(|checks| (message.thread, checks)));
        }
        let mut plan = Plan::keep(messages.len());
        let mut dropped = 0;
        let mut kept = 0;
        for &at in broken {
            let message = &messages[at.message];
            match self.verdict([models.of(message), newest.get(&message.thread).copied()], models.dataset) {
                Verdict::Keep => {}
                Verdict::Unknown if at.message >= flight => kept += 1,
                verdict => {
                    dropped += usize::from(verdict == Verdict::Unknown);
                    plan.change(at.message, [Change::Cut(at.part)], CHANGED_BEFORE);
                }
            }
        }
        for (message, decision) in messages.iter().zip(&mut plan.decisions) {
            if let Decision::Change(changes, reason) = decision
                && is_nothing_without(message, changes)
            {
                *decision = Decision::Drop(std::mem::take(reason));
            }
        }
        plan.notes.extend(note(dropped, kept));
        plan
    }

    /// What becomes of a thought after a change, by whether the model that wrote it and the newest one check thoughts.
    fn verdict(self, checks: [Option<bool>; 2], dataset: bool) -> Verdict {
        match self {
            Self::Keep => Verdict::Keep,
            Self::Drop => Verdict::Drop,
            Self::Auto if checks.contains(&Some(true)) => Verdict::Drop,
            Self::Auto if dataset || checks.contains(&Some(false)) => Verdict::Keep,
            Self::Auto => Verdict::Unknown,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Keep,
    Drop,
    /// No model is named.
    Unknown,
}

/// Whether only reasoning and blank text remain of a message without the parts that are cut.
fn is_nothing_without(message: &Message<'_>, changes: &[Change]) -> bool {
    let mut left = message.parts.iter().enumerate().filter(|(nth, _)| !changes.contains(&Change::Cut(*nth)));
    left.all(|(_, part)| match &part.content {
        Content::Text(text) => text.is_blank(),
        Content::Reasoning(_) => true,
        _ => false,
    })
}

fn note(dropped: usize, kept: usize) -> Option<String> {
    let loss = match (dropped, kept) {
        (0, 0) => return None,
        (0, kept) => format!("{} after a change kept in the in-flight round", number_of(kept, "signed thought")),
        (dropped, 0) => format!("{} after a change dropped", number_of(dropped, "signed thought")),
        (dropped, kept) => format!(
            "{} after a change dropped, {kept} kept in the in-flight round",
            number_of(dropped, "signed thought")
        ),
    };
    Some(format!("{loss}; the transcript names no model, and only some models check signatures (see --thinking)"))
}
