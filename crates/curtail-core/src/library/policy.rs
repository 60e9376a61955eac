//! A policy of the user's own, as a processor of the chain.

use super::TranscriptView;
use crate::processors::{Change, Decision, DropSet, Plan, Processor, ProcessorError, Reason, Traits, View};
use crate::transcript::{Content, Draft, Message, Pairs, PartRef};

/// A policy of your own: it decides about every message of a transcript, in any dialect.
///
/// What depends on a dropped message is dropped with it: the other half of a pair, and reasoning without its call. The result of
/// a policy should be one that it does not change again.
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

    /// One action for every message of `transcript`, in order.
    ///
    /// # Errors
    /// Why it cannot decide. The text is then not cut at all, and the error becomes [`Error::Policy`](super::Error::Policy).
    fn decide(&self, transcript: &TranscriptView<'_>) -> Result<Vec<Action>, Box<dyn std::error::Error + Send + Sync>>;
}

/// What a [`Policy`] does with a message. A reason reads after "dropped: ".
///
/// ```
/// use curtail_core::{Action, Cutter, PartKind, Policy, TranscriptView};
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
///             [PartKind::ToolResult] => Action::Rewrite { part: 0, text: "[seen]".into(), reason: "seen before".into() },
///             [PartKind::Reasoning, ..] => Action::Cut { parts: vec![0], reason: "thought enough".into() },
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
    /// Keeps it without some of its parts.
    Cut {
        /// Their indices.
        parts: Vec<usize>,
        /// Why.
        reason: String,
    },
    /// Keeps it with another text in one of its parts: a text or a tool result.
    Rewrite {
        /// The index of the part.
        part: usize,
        /// The text.
        text: String,
        /// Why.
        reason: String,
    },
    /// Writes a message of the same role in its place.
    Replace {
        /// What the message says.
        text: String,
        /// Why.
        reason: String,
    },
}

/// A policy of the user as a processor.
pub(super) struct UserPolicy<P>(pub(super) P);

impl<P: Policy> Processor for UserPolicy<P> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn traits(&self) -> Traits {
        Traits { writes: true, ..Traits::default() }
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let actions = self.0.decide(&TranscriptView::of_messages(view.messages)).map_err(ProcessorError::Other)?;
        plan(view, actions).map_err(|what| ProcessorError::Other(what.into()))
    }
}

fn plan(view: &View<'_, '_>, actions: Vec<Action>) -> Result<Plan, String> {
    let messages = view.messages;
    if actions.len() != messages.len() {
        return Err(format!("it decided about {} of {} messages", actions.len(), messages.len()));
    }
    let pairs = Pairs::from_messages(messages);
    let mut drops = DropSet::none(view, &pairs);
    let mut written = Vec::new();
    for ((at, message), action) in messages.iter().enumerate().zip(actions) {
        match action {
            Action::Keep => {}
            Action::Drop(reason) => drops.drop_message(at, Reason::Owned(reason)),
            Action::Cut { parts, reason } => {
                for part in parts {
                    known_part(at, message, part)?;
                    drops.drop_part(PartRef { message: at, part }, Reason::Owned(reason.clone()));
                }
            }
            Action::Rewrite { part, text, reason } => {
                let is_text = matches!(known_part(at, message, part)?, Content::Text(_) | Content::ToolResult(_));
                if !is_text {
                    return Err(format!("part {part} of message {at} is neither a text nor a tool result"));
                }
                written.push((at, Decision::Change(vec![Change::Rewrite(part, text)], Reason::Owned(reason))));
            }
            Action::Replace { text, reason } => {
                written.push((at, Decision::Replace(Draft::text(message.role, text), Reason::Owned(reason))));
            }
        }
    }
    let mut plan = drops.into_plan();
    // A message that is dropped with another is not written any more.
    for (at, decision) in written {
        if plan.decisions[at] == Decision::Keep {
            plan.decisions[at] = decision;
        }
    }
    Ok(plan)
}

fn known_part<'m, 'a>(at: usize, message: &'m Message<'a>, part: usize) -> Result<&'m Content<'a>, String> {
    let found = message.parts.get(part).map(|part| &part.content);
    found.ok_or_else(|| format!("message {at} has no part {part}"))
}
