//! Writes the state of working memory into a transcript, as a block of text after the leading system messages.

use std::borrow::Cow;
use std::sync::Arc;

use super::block::{Block, fit, is_block};
use super::{BUDGET, NAMES, Outcome, Schema, Scratchpad, State, Update};
use curtail_core::counting::Tokenizer;
use curtail_core::processors::{
    Change, Decision, Plan, Prepend, Processor, ProcessorError, Reason, Remark, Traits, View, place_blocks,
};
use curtail_core::transcript::{
    Message, Part, PartRef, Role, behind_boundary, front, is_own_block, main_thread, own_blocks,
};

/// How a block begins.
const OPENING: &str = "<working_memory>";

/// Writes the state into the transcript as a block; replaces an older block, and drops it if the state is empty.
///
/// ```
/// use curtail_core::dialects::{Framing, Reading};
/// use curtail_memory::memory::State;
/// use curtail_core::pipeline::{Chain, TextCutter};
/// use curtail_memory::memory::{StateSource, WorkingMemory};
/// use curtail_tokens::tokenizers;
///
/// let state = StateSource::Given(State::given("Prefers trains."));
/// let memory = WorkingMemory::new(state, tokenizers::tokenizer_by_name("o200k_base")?);
/// let cutter = TextCutter { chain: Chain::default().then(memory), ..TextCutter::default() };
/// let mut with_memory = String::new();
/// let chat = "{\"role\":\"user\",\"content\":\"Hello\"}\n";
/// cutter.cut(&Reading::new(Framing::Lines, None, None)?, chat, &mut with_memory)?;
/// assert!(with_memory.contains("Prefers trains."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct WorkingMemory {
    /// The source of the state.
    pub source: StateSource,
    /// The JSON Schema that updates must satisfy.
    pub schema: Option<Arc<Schema>>,
    /// Whether updates in the transcript are ignored.
    pub read_only: bool,
    /// The largest block in tokens, tags and marker included.
    pub budget: usize,
    /// Counts the tokens of the block.
    pub tokenizer: Arc<dyn Tokenizer>,
}

/// The source of the state.
#[derive(Debug, Clone, PartialEq)]
pub enum StateSource {
    /// This state.
    Given(State),
    /// This state, with the updates in the transcript applied to it.
    Replayed(State),
}

/// A call in a transcript that updates the state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundUpdate<'m> {
    /// Index of the message with the call.
    pub message: usize,
    /// The call's id; empty if it has none.
    pub call_id: Cow<'m, str>,
    /// The arguments as JSON text.
    pub arguments: Cow<'m, str>,
}

impl FoundUpdate<'_> {
    /// The update in the form that [`Scratchpad::apply`] takes.
    pub fn update(&self) -> Update<'_> {
        Update { call_id: &self.call_id, arguments: &self.arguments }
    }
}

/// The updates in `messages`, in order, under both tool names. Updates of a subagent's conversation belong to the subagent and
/// are not included, nor are those of turns that were rolled back.
pub fn updates<'m>(messages: &'m [Message<'_>]) -> Vec<FoundUpdate<'m>> {
    let main_thread = main_thread(messages);
    let own = messages.iter().enumerate().filter(|(_, message)| message.counts_in(main_thread));
    let calls = own.flat_map(|(at, message)| message.calls().map(move |(_, call)| (at, call)));
    let updates = calls.filter(|(_, call)| NAMES.iter().any(|name| call.name.is(name)));
    updates
        .map(|(message, call)| FoundUpdate {
            message,
            call_id: call.id.as_ref().map(|id| id.decode()).unwrap_or_default(),
            arguments: call.arguments.decode(),
        })
        .collect()
}

impl WorkingMemory {
    /// Writes the state of `source`, in at most 1,500 tokens, without a schema.
    pub fn new(source: StateSource, tokenizer: Arc<dyn Tokenizer>) -> Self {
        Self { source, schema: None, read_only: false, budget: BUDGET, tokenizer }
    }
}

impl Processor for WorkingMemory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn traits(&self) -> Traits {
        Traits { writes: true, may_empty: true, ..Traits::default() }
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let mut plan = Plan::keep(view.messages.len());
        if view.messages.is_empty() {
            // An empty transcript has nothing to answer and is not changed.
            return Ok(plan);
        }
        let Some(state) = self.state(view, &mut plan) else { return Ok(plan) };
        let block = fit(&state, self.budget, &|text| self.tokenizer.count(text));
        let block = block.map_err(|error| ProcessorError::Other(Box::new(error)))?;
        let front = front(view.messages);
        match (block, existing_block(view.messages, front)) {
            (None, None) => {}
            (None, Some(at)) => {
                let reason = Reason::Borrowed("the working memory is empty");
                plan.decisions[at.message] = match view.messages[at.message].parts.len() {
                    1 => Decision::Drop(reason),
                    _ => Decision::Change(vec![Change::Cut(at.part)], reason),
                };
            }
            (Some(block), Some(at)) => {
                note_shortened(&block, self.budget, &mut plan);
                replace(&mut plan, view, at, block.text);
            }
            (Some(block), None) => {
                note_shortened(&block, self.budget, &mut plan);
                let reason = Reason::Borrowed("the current working memory");
                let (role, blocks) = new_block(view, block.text);
                place_blocks(&mut plan, view, front, role, blocks, reason);
            }
        }
        Ok(plan)
    }
}

impl WorkingMemory {
    /// The state; `None` if neither the caller nor the transcript has one.
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
            plan.notes.extend(fault_note(found, &outcome));
            plan.remarks.push(remark(found, &outcome));
        }
        Some(scratchpad.into_state())
    }
}

/// The remark about an update, for `--explain`.
fn remark(found: &FoundUpdate<'_>, outcome: &Outcome) -> Remark {
    let (action, reason) = outcome.described();
    let colon = if reason.is_some() { ": " } else { "" };
    let reason = format!("update by call {:?}{colon}{}", found.call_id, reason.unwrap_or_default());
    Remark { message: found.message, action, reason: Reason::Owned(reason) }
}

/// The note about an update that was not applied.
fn fault_note(found: &FoundUpdate<'_>, outcome: &Outcome) -> Option<String> {
    let (action, reason) = outcome.described();
    let reason = reason.filter(|_| outcome.is_fault())?;
    Some(format!("message {}, call {:?}: the update is {action}: {reason}", found.message + 1, found.call_id))
}

/// Adds a note if the block was shortened.
fn note_shortened(block: &Block, budget: usize, plan: &mut Plan) {
    if block.left_out > 0 {
        let omitted = block.left_out;
        plan.notes.push(format!("the working memory is cut to {budget} tokens; {omitted} characters are omitted"));
    }
}

/// The existing block: a system or developer message, or, in formats without these roles, a part of the first user message that
/// this program wrote.
fn existing_block(messages: &[Message<'_>], front: usize) -> Option<PartRef> {
    // A model does not read what is before a boundary.
    let start = behind_boundary(messages);
    let instructions = messages[start..]
        .iter()
        .position(|message| message.role.instructs() && matches!(&message.parts[..], [part] if contains_block(part)));
    if let Some(at) = instructions {
        return Some(PartRef { message: start + at, part: 0 });
    }
    let message = messages.get(front).filter(|message| message.role == Role::User)?;
    let mut parts = message.parts.iter().take(own_blocks(message));
    let part = parts.position(|part| contains_block(part) && is_own_block(part, OPENING))?;
    Some(PartRef { message: front, part })
}

fn contains_block(part: &Part<'_>) -> bool {
    part.content.text().is_some_and(|text| is_block(&text.decode()))
}

/// Replaces the block at `at`, unless it is unchanged.
fn replace(plan: &mut Plan, view: &View<'_, '_>, at: PartRef, block: String) {
    let message = &view.messages[at.message];
    let part = &message.parts[at.part];
    if part.content.text().is_some_and(|text| text.decode() == block) {
        return;
    }
    let reason = Reason::Borrowed("the working memory changed");
    let rewritable = part.place().is_some_and(|place| place.rewrite.is_some());
    if message.role.instructs() && rewritable {
        plan.decisions[at.message] = Decision::Change(vec![Change::Rewrite(at.part, block)], reason);
    } else if message.parts.len() == 1 {
        plan.decisions[at.message] = Decision::Drop(reason.clone());
        let (role, blocks) = new_block(view, block);
        place_blocks(plan, view, at.message, role, blocks, reason);
    } else {
        let changes = vec![Change::Cut(at.part), Change::Prepend(vec![Prepend::Block(block)])];
        plan.decisions[at.message] = Decision::Change(changes, reason);
    }
}

/// A new block, and its role.
fn new_block(view: &View<'_, '_>, text: String) -> (Role, Vec<Prepend>) {
    let role = if view.rules.pairing.developer { Role::Developer } else { Role::System };
    (role, vec![Prepend::Block(text)])
}
