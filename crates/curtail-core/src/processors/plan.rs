//! A plan: one decision per message, in order, with a reason for everything that is dropped or changed. And how it is applied.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use crate::json::{Text, Value};
use crate::transcript::{
    Anchor, Content, ContextPlace, Draft, DraftPart, DraftResult, Layout, Message, Origin, PairingRules, Part,
    PartOrigin, PartPlace, PartRef, Role, Substitution, ToolResult, bind_split_replies, main_thread, own_blocks,
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
    /// A view of messages of a transcript with this layout, without an observer.
    #[must_use]
    pub fn of_layout(layout: &'v Layout<'a>, messages: &'v [Message<'a>]) -> Self {
        let Layout { preamble, pairing_rules, context, .. } = layout;
        Self { messages, preamble, pairing_rules: *pairing_rules, context: *context, on_summary: None }
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
    Replace(Box<Draft>, Reason),
}

impl Decision {
    /// Whether this part is cut out of a message that is kept.
    pub(crate) fn cuts(&self, part: usize) -> bool {
        self.changes().contains(&Change::Cut(part))
    }

    /// The changes to a message that is kept.
    fn changes(&self) -> &[Change] {
        if let Self::Change(changes, _) = self { changes } else { &[] }
    }
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
    pub insertion: Insertion,
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
        let changes = self.decisions.iter().flat_map(Decision::changes);
        let prepended = changes.filter(|change| matches!(change, Change::Prepend(_) | Change::Append(_)));
        self.inserts.len() + prepended.count()
    }

    /// The parts that are cut out of messages that are kept.
    pub(super) fn cuts(&self) -> HashSet<PartRef> {
        let numbered = self.decisions.iter().enumerate();
        let changes = numbered.flat_map(|(at, decision)| decision.changes().iter().map(move |change| (at, change)));
        let cuts = changes.filter_map(|(message, change)| match change {
            Change::Cut(part) => Some(PartRef { message, part: *part }),
            _ => None,
        });
        cuts.collect()
    }

    /// Adds `changes` to those of the message `at`, unless it is dropped or replaced.
    pub fn change(&mut self, at: usize, changes: impl IntoIterator<Item = Change>, reason: Reason) {
        match &mut self.decisions[at] {
            Decision::Change(others, _) => others.extend(changes),
            decision @ Decision::Keep => *decision = Decision::Change(changes.into_iter().collect(), reason),
            Decision::Drop(_) | Decision::Replace(..) => {}
        }
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
    let before = main_from(view, before);
    let role = if role.instructs() && !view.context.system { Role::User } else { role };
    match block_host(plan, view, before, role) {
        Some(at) => plan.change(at, [Change::Prepend(blocks)], reason),
        None => plan.inserts.push(Insert { before, insertion: Insertion::Blocks(role, blocks), reason }),
    }
}

/// The message before which a block at `before` stands: the next one of the main conversation.
fn main_from(view: &View<'_, '_>, before: usize) -> usize {
    let main = main_thread(view.messages);
    let next = view.messages[before..].iter().position(|message| message.thread == main);
    before + next.unwrap_or(0)
}

/// The message that takes in a block of this role which is written before the message `before`: that of the user which follows,
/// if turns alternate.
#[must_use]
pub fn block_host(plan: &Plan, view: &View<'_, '_>, before: usize, role: Role) -> Option<usize> {
    let joins = view.context.joins && role == Role::User;
    host(plan, view.messages, main_from(view, before)).filter(|_| joins)
}

/// The next message that is kept and gives no instructions, if it is a user's message with parts. Results alone are no
/// interaction, and a block among them would make them one.
fn host(plan: &Plan, messages: &[Message<'_>], before: usize) -> Option<usize> {
    let at = (before..messages.len())
        .find(|&at| !matches!(plan.decisions[at], Decision::Drop(_)) && !messages[at].role.instructs())?;
    let message = &messages[at];
    let parts = &message.parts[own_blocks(message)..];
    let holds_result = parts.iter().any(|part| part.content.result().is_some());
    let only_results = holds_result && !parts.iter().any(|part| part.content.has_text());
    let takes = message.role == Role::User && !message.is_exchange() && !message.parts.is_empty() && !only_results;
    (takes && !matches!(plan.decisions[at], Decision::Replace(..))).then_some(at)
}

// Applies a plan to messages, so that the next stage sees the result of this one.

/// The messages after `plan` is applied to `messages`.
#[must_use]
pub fn apply_plan<'a>(messages: Vec<Message<'a>>, plan: &Plan) -> Vec<Message<'a>> {
    if plan.is_identity() {
        return messages;
    }
    let inserted: Vec<(usize, Message<'a>)> =
        plan.inserts.iter().map(|insert| (insert.before, inserted(&messages, insert))).collect();
    let changes = plan.decisions.iter().filter(|decision| matches!(decision, Decision::Change(..)));
    let taken: Vec<TakenIn<'a>> = changes.map(|decision| answers(&messages, decision)).collect();
    let mut taken = taken.into_iter();
    let kept = plan.decisions.iter().filter(|decision| !matches!(decision, Decision::Drop(_))).count();
    let mut remaining = Vec::with_capacity(kept + inserted.len());
    let mut inserted = inserted.into_iter().peekable();
    for (at, (message, decision)) in messages.into_iter().zip(&plan.decisions).enumerate() {
        while let Some((_, message)) = inserted.next_if(|(before, _)| *before <= at) {
            remaining.push(message);
        }
        match decision {
            Decision::Keep => remaining.push(message),
            Decision::Drop(_) => {}
            Decision::Change(changes, _) => {
                remaining.push(changed(message, changes, taken.next().unwrap_or_default()));
            }
            Decision::Replace(draft, _) => {
                remaining.push(note(draft, &message));
            }
        }
    }
    remaining.extend(inserted.map(|(_, message)| message));
    bind_split_replies(&mut remaining);
    remaining
}

/// A message that is inserted between messages of a turn that was rolled back belongs to that turn.
fn inserted<'a>(messages: &[Message<'a>], insert: &Insert) -> Message<'a> {
    let mut message = written(messages, insert);
    let thread = message.thread;
    let around = messages.get(..insert.before).and_then(<[_]>::last).zip(messages.get(insert.before));
    if let Some((before, after)) = around
        && [before, after].iter().all(|message| message.thread == thread && message.standing.is_rolled_back())
    {
        message.standing = before.standing;
        message.dropped_with = before.dropped_with.or_else(|| u32::try_from(before.source_index()?).ok());
    }
    message
}

fn written<'a>(messages: &[Message<'a>], insert: &Insert) -> Message<'a> {
    let parts = |items: &[Prepend]| items.iter().map(|item| prepended_part(messages, item)).collect();
    match &insert.insertion {
        Insertion::Note(at, draft) => note(draft, &messages[*at]),
        Insertion::Blocks(role, blocks) => {
            let message = Message::draft(*role, context_anchor(messages, insert.before));
            Message { parts: parts(blocks), thread: main_thread(messages), ..message }
        }
        Insertion::Moved(at) => {
            let mut message = messages[*at].clone();
            if let Origin::Source(source) = message.origin {
                message.origin = Origin::Moved(source);
            }
            message
        }
        Insertion::Results(results) => {
            let before = insert.before.checked_sub(1).and_then(|at| messages.get(at));
            let anchor = before.map(Message::anchor).unwrap_or_default();
            let message = Message { parts: parts(results), ..Message::draft(Role::Tool, anchor) };
            // The results answer calls of the conversation that they are inserted into.
            match before {
                Some(before) => Message { thread: before.thread, standing: before.standing, ..message },
                None => message,
            }
        }
    }
}

/// The message that is written about `subject`: a model reads both or neither.
fn note<'a>(draft: &Draft, subject: &Message<'a>) -> Message<'a> {
    Message {
        parts: draft.parts.iter().map(drafted_part).collect(),
        thread: subject.thread,
        standing: subject.standing,
        dropped_with: subject.dropped_with,
        ..Message::draft(draft.role, subject.anchor())
    }
}

/// What blocks before the message `before` are written for: a message of the main conversation. At the end of a list inside a
/// compaction, it is the compaction, which they follow.
fn context_anchor<'a>(messages: &[Message<'a>], before: usize) -> Anchor<'a> {
    let main = main_thread(messages);
    let next = messages.get(before).filter(|message| message.thread == main);
    let message = next.or_else(|| messages[..before].iter().rfind(|message| message.thread == main));
    let Some(message) = message else { return Anchor::default() };
    let ends = before == messages.len() && message.is_in_compaction();
    match message.value().filter(|_| ends).and_then(compaction_around) {
        Some(value) => Anchor { value: Some(value), draft: None },
        None => message.anchor(),
    }
}

/// The record of a compaction, in an object of which `message` is in a list.
fn compaction_around(message: Value<'_>) -> Option<Value<'_>> {
    message.parent()?.parent()?.parent()
}

fn drafted_part<'a>(part: &DraftPart) -> Part<'a> {
    let content = match part {
        DraftPart::Text(text) => Content::Text(Text::Owned(text.clone())),
        DraftPart::ToolResult(DraftResult { id, name, text, family, .. }) => {
            let [name, text] = [name, text].map(|text| Text::Owned(text.clone()));
            let result = ToolResult::new(id.clone().map(Text::Owned), Some(name), vec![text]);
            Content::ToolResult(ToolResult { family: *family, ..result })
        }
        DraftPart::Verbatim(_) => Content::Other,
    };
    Part { content, origin: PartOrigin::Draft(Box::new(part.clone())) }
}

/// The results and blocks that a message takes in.
#[derive(Default)]
struct TakenIn<'a> {
    front: Vec<Part<'a>>,
    back: Vec<Part<'a>>,
}

fn answers<'a>(messages: &[Message<'a>], decision: &Decision) -> TakenIn<'a> {
    let mut found = TakenIn::default();
    for change in decision.changes() {
        let (place, answers) = match change {
            Change::Prepend(answers) => (&mut found.front, answers),
            Change::Append(answers) => (&mut found.back, answers),
            _ => continue,
        };
        place.extend(answers.iter().map(|answer| prepended_part(messages, answer)));
    }
    found
}

fn prepended_part<'a>(messages: &[Message<'a>], answer: &Prepend) -> Part<'a> {
    match answer {
        Prepend::Draft(part) => drafted_part(part),
        Prepend::Block(text) => {
            Part { content: Content::Text(Text::Owned(text.clone())), origin: PartOrigin::Block(text.clone()) }
        }
        Prepend::Moved(from) => {
            let part = from.part_in(messages).clone();
            let origin = match part.origin {
                PartOrigin::Source(place) | PartOrigin::Rewritten(place) => PartOrigin::Moved(place),
                origin => origin,
            };
            Part { content: part.content, origin }
        }
    }
}

fn changed<'a>(mut message: Message<'a>, changes: &[Change], taken: TakenIn<'a>) -> Message<'a> {
    let mut cut: HashSet<usize> = HashSet::default();
    let mut answers: HashMap<usize, &str> = HashMap::default();
    for change in changes {
        match change {
            Change::Rewrite(nth, text) => rewrite(&mut message.parts[*nth], text),
            Change::Substitute(nth, substitutions) => substitute(&mut message.parts[*nth], substitutions),
            Change::Cut(nth) => drop(cut.insert(*nth)),
            Change::Answer(nth, text) => drop(answers.insert(*nth, text)),
            Change::Prepend(_) | Change::Append(_) => {}
        }
    }
    let mut parts = taken.front;
    for (nth, part) in message.parts.into_iter().enumerate() {
        let answer = answers.get(&nth).and_then(|text| answered(&part, text));
        if cut.contains(&nth) {
            message.cut.push(part);
        } else {
            parts.push(part);
        }
        parts.extend(answer);
    }
    parts.extend(taken.back);
    message.parts = parts;
    message.instructs_alone();
    message
}

/// The result that is written into the bytes of an open call.
fn answered<'a>(part: &Part<'a>, text: &str) -> Option<Part<'a>> {
    let call = part.content.call()?;
    let result = ToolResult::new(call.id.clone(), Some(call.name.clone()), vec![Text::Owned(text.to_owned())]);
    let result = ToolResult { family: call.family, ..result };
    let mut place = part.place()?.clone();
    place.rewrite(text);
    let origin = PartOrigin::Rewritten(place);
    Some(Part { content: Content::ToolResult(result), origin })
}

/// Makes `substitutions` in a part: texts in place of media, or other arguments of a call.
fn substitute(part: &mut Part<'_>, substitutions: &[Substitution]) {
    let mut texts = substitutions.iter().map(|one| (one.at, Text::Owned(one.text.clone()))).peekable();
    match &mut part.content {
        Content::ToolResult(result) => {
            result.media = result.media.saturating_sub(substitutions.len());
            // In the order of the bytes: each text comes after those that precede it there.
            let kept = std::mem::take(&mut result.content);
            for (nth, text) in kept.into_iter().enumerate() {
                while let Some((_, text)) = texts.next_if(|(at, _)| *at <= nth) {
                    result.content.push(text);
                }
                result.content.push(text);
            }
            result.content.extend(texts.map(|(_, text)| text));
        }
        Content::ToolCall(call) => call.arguments = texts.next().map_or(Text::Escaped(""), |(_, text)| text),
        content => *content = Content::Text(texts.next().map_or(Text::Escaped(""), |(_, text)| text)),
    }
    let add = |place: &mut PartPlace<'_>| place.further_mut().substitutions.extend_from_slice(substitutions);
    match &mut part.origin {
        PartOrigin::Source(place) | PartOrigin::Rewritten(place) => {
            add(place);
            part.origin = PartOrigin::Rewritten(place.clone());
        }
        PartOrigin::Moved(place) => add(place),
        PartOrigin::Draft(_) | PartOrigin::Block(_) => {}
    }
}

fn rewrite(part: &mut Part<'_>, new: &str) {
    let text = Text::Owned(new.to_owned());
    match &mut part.content {
        Content::ToolResult(result) => {
            result.content = vec![text];
            result.media = 0;
        }
        content => *content = Content::Text(text),
    }
    match &mut part.origin {
        PartOrigin::Source(place) | PartOrigin::Rewritten(place) => {
            place.rewrite(new);
            part.origin = PartOrigin::Rewritten(place.clone());
        }
        PartOrigin::Moved(place) => place.rewrite(new),
        PartOrigin::Draft(draft) => match &mut **draft {
            DraftPart::Text(old) | DraftPart::ToolResult(DraftResult { text: old, .. }) => new.clone_into(old),
            DraftPart::Verbatim(_) => {}
        },
        // A block that another processor shortened is no whole block.
        PartOrigin::Block(_) => part.origin = PartOrigin::Draft(Box::new(DraftPart::Text(new.to_owned()))),
    }
}
