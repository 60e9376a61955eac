//! Working memory in front of the model: the state as a block behind the leading instructions.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Change, Decision, Insert, Insertion, Plan, Processor, Reason, Remark, View};
use crate::memory::{Block, NAMES, Outcome, Schema, Scratchpad, State, Update, fit, is_block};
use crate::tokenizers::Tokenizer;
use crate::transcript::{Content, Draft, Message, Part, Role};

/// Puts the state into the transcript, or takes out what stands there of a state that is empty now.
#[derive(Clone)]
pub struct WorkingMemory {
    /// Where the state comes from.
    pub source: StateSource,
    /// What an object has to look like.
    pub schema: Option<Arc<Schema>>,
    /// Whether updates in the transcript are left unheard.
    pub read_only: bool,
    /// The most tokens that the block takes, tags and marker included.
    pub budget: usize,
    /// Counts them.
    pub tokenizer: Arc<dyn Tokenizer>,
}

/// Where the state comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum StateSource {
    /// It is known.
    Given(State),
    /// From this one on, the updates in the transcript make it.
    Replayed(State),
}

/// A call in a transcript that wants to change the state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundUpdate<'m> {
    /// Index of the message that makes the call.
    pub message: usize,
    /// The call's id; empty where there is none.
    pub call_id: Cow<'m, str>,
    /// Its arguments as JSON text.
    pub arguments: Cow<'m, str>,
}

impl FoundUpdate<'_> {
    /// What a scratchpad takes.
    #[must_use]
    pub fn update(&self) -> Update<'_> {
        Update { call_id: &self.call_id, arguments: &self.arguments }
    }
}

/// The updates in `messages`, in their order, under both names. Those of a conversation within the conversation
/// (a subagent's) are its own.
#[must_use]
pub fn updates<'m>(messages: &'m [Message<'_>]) -> Vec<FoundUpdate<'m>> {
    let main = messages.first().map_or(0, |message| message.thread);
    let calls = messages
        .iter()
        .enumerate()
        .filter(|(_, message)| message.thread == main)
        .flat_map(|(at, message)| message.calls().map(move |(_, call)| (at, call)));
    let wanted = calls.filter(|(_, call)| NAMES.iter().any(|name| call.name.is(name)));
    wanted
        .map(|(message, call)| FoundUpdate {
            message,
            call_id: call.id.as_ref().map(|id| id.decode()).unwrap_or_default(),
            arguments: call.arguments.decode(),
        })
        .collect()
}

impl Processor for WorkingMemory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, String> {
        let mut plan = Plan::keep(view.messages.len());
        if view.messages.is_empty() {
            // Nothing that a model could be asked about: an empty transcript stays empty.
            return Ok(plan);
        }
        let Some(state) = self.state(view, &mut plan) else { return Ok(plan) };
        let block = fit(&state, self.budget, &|text| self.tokenizer.count(text)).map_err(|error| error.to_string())?;
        let front = view.messages.iter().take_while(|message| message.role.instructs()).count();
        match (block, standing(view.messages, front)) {
            (None, None) => {}
            (None, Some(at)) => plan.decisions[at] = Decision::Drop(Reason::Borrowed("the working memory is empty")),
            (Some(block), Some(at)) => {
                note(&block, self.budget, &mut plan);
                plan.decisions[at] = replaced(&view.messages[at], block.text, view.pairing_rules.developer);
            }
            (Some(block), None) => {
                note(&block, self.budget, &mut plan);
                let what = Insertion::Draft(draft(block.text, view.pairing_rules.developer));
                let reason = Reason::Borrowed("the working memory");
                plan.inserts.push(Insert { before: front, what, reason });
            }
        }
        Ok(plan)
    }
}

impl WorkingMemory {
    /// The state; `None` where neither the caller nor the transcript says anything of one.
    fn state(&self, view: &View<'_, '_>, plan: &mut Plan) -> Option<State> {
        let from = match &self.source {
            StateSource::Given(state) => return Some(state.clone()),
            StateSource::Replayed(from) => from,
        };
        let updates = updates(view.messages);
        if updates.is_empty() && from.is_empty() {
            return None;
        }
        let mut scratchpad = Scratchpad::new(from.clone(), self.schema.as_deref(), self.read_only);
        for found in &updates {
            let outcome = scratchpad.apply(found.update());
            plan.notes.extend(complaint(found, &outcome));
            plan.remarks.push(remark(found, &outcome));
        }
        Some(scratchpad.into_state())
    }
}

fn remark(found: &FoundUpdate<'_>, outcome: &Outcome) -> Remark {
    let (action, reason) = outcome.words();
    let colon = if reason.is_some() { ": " } else { "" };
    let reason = format!("update by call {:?}{colon}{}", found.call_id, reason.unwrap_or_default());
    Remark { message: found.message, action, reason: Reason::Owned(reason) }
}

/// What to tell the user of an update that was dropped.
fn complaint(found: &FoundUpdate<'_>, outcome: &Outcome) -> Option<String> {
    let (word, reason) = outcome.words();
    let reason = reason.filter(|_| outcome.is_fault())?;
    Some(format!("message {}, call {:?}: the update is {word}: {reason}", found.message + 1, found.call_id))
}

fn note(block: &Block, budget: usize, plan: &mut Plan) {
    if block.left_out > 0 {
        let left_out = block.left_out;
        plan.notes.push(format!("the working memory is cut to {budget} tokens; {left_out} characters are left out"));
    }
}

/// Where a block stands from before: in a message of the application's, or, where the format has none, in a user
/// message right where a block is put.
fn standing(messages: &[Message<'_>], front: usize) -> Option<usize> {
    let own = messages.iter().position(|message| message.role.instructs() && says_block(message));
    let in_front = || messages.get(front).is_some_and(|message| message.role == Role::User && says_block(message));
    own.or_else(|| in_front().then_some(front))
}

fn says_block(message: &Message<'_>) -> bool {
    text(message).is_some_and(|text| is_block(&text))
}

/// What a message says that says one thing only.
fn text<'m>(message: &'m Message<'_>) -> Option<Cow<'m, str>> {
    match message.parts.as_slice() {
        [Part { content: Content::Text(text), .. }] => Some(text.decode()),
        _ => None,
    }
}

fn replaced(message: &Message<'_>, block: String, developer: bool) -> Decision {
    if text(message).is_some_and(|text| text == block) {
        return Decision::Keep;
    }
    let reason = Reason::Borrowed("the working memory changed");
    let rewritable = message.parts.iter().any(|part| part.place().is_some_and(|place| place.rewrite.is_some()));
    if rewritable {
        return Decision::Change(vec![Change::Rewrite(0, block)], reason);
    }
    Decision::Replace(draft(block, developer), reason)
}

fn draft(block: String, developer: bool) -> Draft {
    let role = if developer { Role::Developer } else { Role::System };
    Draft::text(role, block)
}
