//! A policy of the user's own, as a processor of the chain.

use foldhash::HashSet;

use super::TranscriptView;
use crate::processors::{
    Change, Decision, DropSet, Insert, Insertion, Plan, Processor, ProcessorError, Reason, Traits, View,
};
use crate::transcript::{Content, Draft, Message, Pairs, PartRef, Role, joints_and_end};

/// A policy of your own: it decides about every message of a transcript, in any dialect.
///
/// What depends on a dropped message is dropped with it: the counterpart of a call or result, and reasoning without its
/// call. The result of a policy should be one that it does not change again.
///
/// ```
/// use curtail_core::{Action, Cutter, Policy, TranscriptView};
///
/// /// Drops messages that only say "ok".
/// struct DropOk;
///
/// impl Policy for DropOk {
///     fn name(&self) -> &'static str {
///         "drop-ok"
///     }
///
///     fn decide(&self, transcript: &TranscriptView<'_>) -> Result<Vec<Action>, Box<dyn std::error::Error + Send + Sync>> {
///         let is_ok = |text: &str| text.trim_end_matches('.').eq_ignore_ascii_case("ok");
///         let decide = |text: String| if is_ok(&text) { Action::Drop("says only \"ok\"".into()) } else { Action::Keep };
///         Ok(transcript.messages().map(|message| decide(message.text())).collect())
///     }
/// }
///
/// let chat = "{\"role\":\"user\",\"content\":\"Is there parking?\"}\n{\"role\":\"user\",\"content\":\"OK.\"}\n";
/// let cutter = Cutter::builder().policy(DropOk).build()?;
/// assert_eq!(cutter.cut(chat)?, "{\"role\":\"user\",\"content\":\"Is there parking?\"}\n");
/// # Ok::<(), curtail_core::Error>(())
/// ```
pub trait Policy: Send + Sync {
    /// Its name, by which explanations and errors name it.
    fn name(&self) -> &'static str;

    /// One action for every message of `transcript`, in order, and inserts between them.
    ///
    /// # Errors
    /// Why it cannot decide. The text is then not cut at all, and the error becomes [`Error::Policy`](super::Error::Policy).
    fn decide(&self, transcript: &TranscriptView<'_>) -> Result<Vec<Action>, Box<dyn std::error::Error + Send + Sync>>;
}

/// What a [`Policy`] does with a message. A reason reads after "dropped: ".
///
/// ```
/// use curtail_core::{Action, Cutter, PartEdit, PartKind, Policy, TranscriptView};
///
/// /// Shortens results, and drops reasoning.
/// struct Tidy;
///
/// impl Policy for Tidy {
///     fn name(&self) -> &'static str {
///         "tidy"
///     }
///
///     fn decide(&self, transcript: &TranscriptView<'_>) -> Result<Vec<Action>, Box<dyn std::error::Error + Send + Sync>> {
///         let action = |parts: Vec<PartKind>| match parts.as_slice() {
///             [PartKind::ToolResult] => Action::Edit { parts: vec![PartEdit::Rewrite(0, "[seen]".into())], reason: "seen before".into() },
///             [PartKind::Reasoning, ..] => Action::Edit { parts: vec![PartEdit::Cut(0)], reason: "thought enough".into() },
///             _ => Action::Keep,
///         };
///         Ok(transcript.messages().map(|message| action(message.parts().map(|part| part.kind()).collect())).collect())
///     }
/// }
///
/// let result = r#"{"role":"tool","tool_call_id":"1","content":"05:12"}"#;
/// let cutter = Cutter::builder().policy(Tidy).build()?;
/// assert_eq!(cutter.cut(result)?, r#"{"role":"tool","tool_call_id":"1","content":"[seen]"}"#);
/// # Ok::<(), curtail_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Action {
    /// Keeps it byte for byte.
    #[default]
    Keep,
    /// Drops it, for this reason.
    Drop(String),
    /// Keeps it with changes to some of its parts.
    Edit {
        /// The changes, in any order and one for each part.
        parts: Vec<PartEdit>,
        /// Why.
        reason: String,
    },
    /// Writes a message of the same role in its place: not of a tool, which would answer no call. What belongs to its calls and
    /// results is dropped.
    Replace {
        /// What the message says.
        text: String,
        /// Why.
        reason: String,
    },
    /// Writes a message before the one that the next action is about, or at the end. It is about no message itself, so a policy
    /// returns it in addition to the actions for the messages. No message comes between a call and its result: there, it is
    /// written before the call.
    Insert {
        /// Who speaks: not a tool, which would answer no call.
        role: Role,
        /// What the message says.
        text: String,
        /// Why.
        reason: String,
    },
}

/// A change to a part of a message that an [`Action::Edit`] keeps. Parts are named by their indices in the message as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartEdit {
    /// Drops the part.
    Cut(usize),
    /// Writes another text into the part, which is a text or a tool result.
    Rewrite(usize, String),
}

impl PartEdit {
    const fn part(&self) -> usize {
        match self {
            Self::Cut(part) | Self::Rewrite(part, _) => *part,
        }
    }
}

/// A policy of the user as a processor.
pub(super) struct UserPolicy<P>(pub(super) P);

impl<P: Policy + 'static> Processor for UserPolicy<P> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn traits(&self) -> Traits {
        Traits { writes: true, may_empty: true, ..Traits::default() }
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let actions = self.0.decide(&TranscriptView::of_messages(view.messages)).map_err(ProcessorError::Other)?;
        plan(view, actions).map_err(|reason| ProcessorError::Other(reason.into()))
    }
}

/// The plan for what a policy decided about the messages.
fn plan(view: &View<'_, '_>, actions: Vec<Action>) -> Result<Plan, String> {
    let messages = view.messages;
    let decided = actions.iter().filter(|action| !matches!(action, Action::Insert { .. })).count();
    if decided != messages.len() {
        return Err(format!("it decided about {decided} of {} messages", messages.len()));
    }
    let pairs = Pairs::from_messages(messages);
    let mut planning = Planning::new(view, &pairs);
    let mut at = 0;
    for action in actions {
        let is_about_message = !matches!(action, Action::Insert { .. });
        match action {
            Action::Insert { role, text, reason } => planning.insert(at, role, text, reason)?,
            Action::Keep => {}
            Action::Drop(reason) => planning.drops.drop_message(at, Reason::Owned(reason)),
            Action::Edit { parts, reason } => planning.edit(at, parts, &reason)?,
            Action::Replace { text, reason } => planning.replace(at, text, reason)?,
        }
        at += usize::from(is_about_message);
    }
    Ok(planning.plan())
}

/// A plan in the making.
struct Planning<'v, 'a> {
    messages: &'v [Message<'a>],
    /// The messages before which another can be written.
    joints: Vec<usize>,
    drops: DropSet<'v, 'a>,
    rewritten: Vec<Rewrite>,
    replaced: Vec<(usize, Decision)>,
    inserts: Vec<Insert>,
}

/// A part that gets another text.
struct Rewrite {
    part: PartRef,
    text: String,
    reason: String,
}

impl<'v, 'a> Planning<'v, 'a> {
    fn new(view: &View<'v, 'a>, pairs: &'v Pairs) -> Self {
        Self {
            messages: view.messages,
            joints: joints_and_end(view.messages, pairs),
            drops: DropSet::none(view, pairs),
            rewritten: Vec::new(),
            replaced: Vec::new(),
            inserts: Vec::new(),
        }
    }

    /// Writes a message before the one at `next`, or before the call whose result that is.
    fn insert(&mut self, next: usize, role: Role, text: String, reason: String) -> Result<(), String> {
        if role == Role::Tool {
            return Err(String::from("it inserts a tool message, which would answer no call"));
        }
        let last = self.messages.len().checked_sub(1).ok_or("it inserts into a transcript without messages")?;
        let joints = &self.joints[..self.joints.partition_point(|joint| *joint <= next)];
        let before = joints.last().copied().unwrap_or(0);
        let insertion = Insertion::Note(before.min(last), Draft::text(role, text));
        self.inserts.push(Insert { before, insertion, reason: Reason::Owned(reason) });
        Ok(())
    }

    /// Writes another message in place of the one at `at`. What belongs to its calls and results is dropped.
    fn replace(&mut self, at: usize, text: String, reason: String) -> Result<(), String> {
        let message = &self.messages[at];
        if message.role == Role::Tool {
            return Err(format!("it replaces message {at}, a tool message, by one that would answer no call"));
        }
        let tools = message.parts.iter().enumerate().filter(|(_, part)| part.content.is_tool());
        for (part, _) in tools {
            self.drops.drop_part(PartRef { message: at, part }, Reason::Owned(reason.clone()));
        }
        let draft = Box::new(Draft::text(message.role, text));
        self.replaced.push((at, Decision::Replace(draft, Reason::Owned(reason))));
        Ok(())
    }

    fn edit(&mut self, at: usize, parts: Vec<PartEdit>, reason: &str) -> Result<(), String> {
        let message = &self.messages[at];
        let mut edited = HashSet::default();
        for edit in parts {
            if !edited.insert(edit.part()) {
                return Err(format!("part {} of message {at} is edited twice", edit.part()));
            }
            match edit {
                PartEdit::Cut(part) => {
                    known_part(at, message, part)?;
                    self.drops.drop_part(PartRef { message: at, part }, Reason::Owned(reason.to_owned()));
                }
                PartEdit::Rewrite(part, text) => {
                    refuse_to_rewrite(at, message, part)?;
                    let part = PartRef { message: at, part };
                    self.rewritten.push(Rewrite { part, text, reason: reason.to_owned() });
                }
            }
        }
        Ok(())
    }

    /// The plan. A part that is dropped with another is not written any more; what replaces a message is.
    fn plan(self) -> Plan {
        let mut plan = Plan { inserts: self.inserts, ..self.drops.into_plan() };
        for Rewrite { part: PartRef { message, part }, text, reason } in self.rewritten {
            if !plan.decisions[message].cuts(part) {
                plan.change(message, [Change::Rewrite(part, text)], Reason::Owned(reason));
            }
        }
        for (at, decision) in self.replaced {
            plan.decisions[at] = decision;
        }
        plan
    }
}

fn refuse_to_rewrite(at: usize, message: &Message<'_>, part: usize) -> Result<(), String> {
    match known_part(at, message, part)? {
        Content::Text(_) | Content::ToolResult(_) => Ok(()),
        _ => Err(format!("part {part} of message {at} is neither text nor a tool result")),
    }
}

fn known_part<'m, 'a>(at: usize, message: &'m Message<'a>, part: usize) -> Result<&'m Content<'a>, String> {
    let found = message.parts.get(part).map(|part| &part.content);
    found.ok_or_else(|| format!("message {at} has no part {part}"))
}
