//! A plan: one decision per message, in order, with a reason for everything that is dropped or changed.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use foldhash::HashSet;

use crate::json::Text;
use crate::transcript::{
    ContextPlace, Draft, DraftPart, Message, PairingRules, PartRef, Role, Substitution, main_thread, own_blocks,
};

/// The part of a transcript that a processor sees.
#[derive(Debug, Clone, Copy)]
pub struct View<'v, 'a> {
    /// The messages, in order.
    pub messages: &'v [Message<'a>],
    /// Instructions and tool definitions outside the list of messages.
    pub preamble: &'v [Text<'a>],
    /// Where the format places results, and whether calls have ids.
    pub pairing_rules: PairingRules,
    /// Where blocks of context are written.
    pub context: ContextPlace,
    /// Called after each summary that a processor makes; `None` without an observer.
    pub on_summary: Option<&'v OnSummary>,
}

impl<'v, 'a> View<'v, 'a> {
    /// A view without an observer.
    #[must_use]
    pub const fn new(messages: &'v [Message<'a>], preamble: &'v [Text<'a>], pairing_rules: PairingRules) -> Self {
        let context = ContextPlace { joins: false, system: true };
        Self { messages, preamble, pairing_rules, context, on_summary: None }
    }

    /// The same view of a transcript whose format has this place for blocks of context.
    #[must_use]
    pub const fn placing(self, context: ContextPlace) -> Self {
        Self { context, ..self }
    }

    /// The same view, with an observer of summaries.
    #[must_use]
    pub const fn observed_by(self, on_summary: Option<&'v OnSummary>) -> Self {
        Self { on_summary, ..self }
    }
}

/// An observer that is called after each summary, for example to advance a progress bar. It may be called from several
/// threads at once.
#[derive(Clone)]
pub struct OnSummary(Arc<dyn Fn(Option<Asked>) + Send + Sync>);

/// What left the process to make a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// Digest of the request.
    pub digest: u64,
    /// Its tokens.
    pub tokens: usize,
}

impl OnSummary {
    /// Wraps a function, which learns what was sent; `None` if nothing left the process.
    #[must_use]
    pub fn new(observer: impl Fn(Option<Asked>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(observer))
    }

    /// Reports one summary.
    pub fn call(&self, asked: Option<Asked>) {
        (self.0)(asked);
    }
}

impl fmt::Debug for OnSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnSummary")
    }
}

/// Why a message or a part is dropped, changed or inserted; reads after "dropped: ".
pub type Reason = Cow<'static, str>;

/// The decision about one message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Decision {
    /// Keep the message byte for byte.
    #[default]
    Keep,
    /// Drop the message.
    Drop(Reason),
    /// Keep the message with these changes.
    Change(Vec<Change>, Reason),
    /// Write another message in its place.
    Replace(Draft, Reason),
}

/// A change to a message that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Drop the part with this index.
    Cut(usize),
    /// Replace the text of the part with this index.
    Rewrite(usize, String),
    /// Write a result into the call with this index, for formats that store a result inside its call.
    Answer(usize, String),
    /// Write these in place of some bytes of the part with this index.
    Substitute(usize, Vec<Substitution>),
    /// Insert results or blocks before the first part.
    Prepend(Vec<Prepend>),
    /// Insert results after the last part, for formats with a call and its result in one message.
    Append(Vec<Prepend>),
}

/// A result or a block that is inserted into a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prepend {
    /// A part of another message, which loses it.
    Moved(PartRef),
    /// A new part.
    Draft(DraftPart),
    /// A new text that is a block: later runs recognize it.
    Block(String),
}

/// A message that is inserted between two others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Insert {
    /// Index of the message that follows it; the number of messages to append at the end.
    pub before: usize,
    /// The inserted message.
    pub what: Insertion,
    /// Why it is inserted.
    pub reason: Reason,
}

/// The message that an [`Insert`] adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Insertion {
    /// A new message about the message with this index, in whose conversation it is.
    Note(usize, Draft),
    /// A new message that contains these blocks.
    Blocks(Role, Vec<Prepend>),
    /// The message with this index, moved here; its old place is dropped.
    Moved(usize),
    /// A new message that contains these results.
    Results(Vec<Prepend>),
}

/// Everything that a processor decided about a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// One decision per message, in order.
    pub decisions: Vec<Decision>,
    /// Inserted messages, ordered by [`Insert::before`].
    pub inserts: Vec<Insert>,
    /// Observations about messages that do not change, ordered by message.
    pub remarks: Vec<Remark>,
    /// Notes for the user; each reads after "curtail: ".
    pub notes: Vec<String>,
}

/// An observation about a message that does not change it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Index of the message.
    pub message: usize,
    /// The outcome in one word, such as `applied`.
    pub action: &'static str,
    /// What was observed, and why it had this outcome.
    pub reason: Reason,
}

impl Remark {
    /// The remark that the message with this index is kept although it was to be dropped or changed.
    #[must_use]
    pub const fn kept(message: usize, reason: Reason) -> Self {
        Self { message, action: "kept", reason }
    }
}

impl Plan {
    /// A plan that keeps `count` messages byte for byte.
    #[must_use]
    pub fn keep(count: usize) -> Self {
        Self { decisions: vec![Decision::Keep; count], inserts: Vec::new(), remarks: Vec::new(), notes: Vec::new() }
    }

    /// The number of messages and parts that the plan adds.
    #[must_use]
    pub fn added(&self) -> usize {
        let prepended = self.decisions.iter().map(|decision| match decision {
            Decision::Change(changes, _) => {
                changes.iter().filter(|change| matches!(change, Change::Prepend(_) | Change::Append(_))).count()
            }
            _ => 0,
        });
        self.inserts.len() + prepended.sum::<usize>()
    }

    /// The parts that are cut out of messages that are kept.
    pub(in crate::processors) fn cuts(&self) -> HashSet<PartRef> {
        let changes = self.decisions.iter().enumerate().flat_map(|(message, decision)| match decision {
            Decision::Change(changes, _) => changes.iter().map(move |change| (message, change)).collect(),
            _ => Vec::new(),
        });
        let cuts = changes.filter_map(|(message, change)| match change {
            Change::Cut(part) => Some(PartRef { message, part: *part }),
            _ => None,
        });
        cuts.collect()
    }

    /// Whether the plan changes nothing.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.inserts.is_empty() && self.decisions.iter().all(|decision| *decision == Decision::Keep)
    }
}

// Where blocks of context are written: as a message of their own, or in front of the user's message that follows. If user and
// assistant must alternate, a message of its own next to a user's message would break the transcript.

/// Writes `blocks` before the message `before`, or before the next one of the main conversation, which they belong to. Their
/// role is the user's if the format has none for instructions.
pub fn place_blocks(
    plan: &mut Plan,
    view: &View<'_, '_>,
    before: usize,
    role: Role,
    blocks: Vec<Prepend>,
    reason: Reason,
) {
    let main = main_thread(view.messages);
    let next = view.messages[before..].iter().position(|message| message.thread == main);
    let before = before + next.unwrap_or(0);
    let role = if role.instructs() && !view.context.system { Role::User } else { role };
    let joins = view.context.joins && role == Role::User;
    match host(plan, view.messages, before).filter(|_| joins) {
        Some(at) => add_changes(plan, at, vec![Change::Prepend(blocks)], reason),
        None => plan.inserts.push(Insert { before, what: Insertion::Blocks(role, blocks), reason }),
    }
}

/// Adds `changes` to those of the message `at`, unless it is dropped.
pub fn add_changes(plan: &mut Plan, at: usize, changes: Vec<Change>, reason: Reason) {
    match &mut plan.decisions[at] {
        Decision::Change(others, _) => others.extend(changes),
        Decision::Keep => plan.decisions[at] = Decision::Change(changes, reason),
        Decision::Drop(_) | Decision::Replace(..) => {}
    }
}

/// The next message that is kept and gives no instructions, if it is a user's message with parts. Results alone are no
/// interaction, and a block among them would make them one.
fn host(plan: &Plan, messages: &[Message<'_>], before: usize) -> Option<usize> {
    let is_next = |at: &usize| !matches!(plan.decisions[*at], Decision::Drop(_)) && !messages[*at].role.instructs();
    let at = (before..messages.len()).find(is_next)?;
    let message = &messages[at];
    let parts = &message.parts[own_blocks(message)..];
    let holds_result = parts.iter().any(|part| part.content.result().is_some());
    let only_results = holds_result && !parts.iter().any(|part| part.content.speaks());
    let takes = message.role == Role::User && !message.is_exchange() && !message.parts.is_empty() && !only_results;
    (takes && !matches!(plan.decisions[at], Decision::Replace(..))).then_some(at)
}
