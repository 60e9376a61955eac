//! Draws the conversation: every message with its parts, results inside the calls that they answer, and the reasons of a cut.

mod agents;
mod call;
mod filters;
mod looks;
mod message;
mod rows;

use std::collections::{HashMap, HashSet};

use maud::Markup;

use crate::conversation::{Attached, Conversation};
use crate::sides::Side;
use crate::tools::{CallKind, Look};
use crate::unread::unread;
use curtail_core::transcript::{Part, PartRef};

/// The limits that keep a page small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum characters of a text on the page; a note says where the rest is.
    pub max_text: usize,
    /// Number of tokens from which on the later messages of a conversation are built only when they come into view.
    pub long: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_text: 20_000, long: 1_000_000 }
    }
}

/// Begins what the script builds when it comes into view, in `element`, which is an empty `div`.
fn begin_later(element: &Markup, out: &mut String) {
    out.push_str(element.0.strip_suffix("</div>").unwrap_or(&element.0));
    out.push_str("<noscript>");
}

/// The end of what the script builds when it comes into view.
pub(crate) const LATER_END: &str = "</noscript></div>";

/// Draws the messages of a conversation.
pub(crate) struct Chat<'c, 'a> {
    conversation: &'c Conversation<'a>,
    limits: Limits,
    calls: HashMap<PartRef, Sketch>,
    /// The sub-agents inside the log that each call started.
    started: HashMap<PartRef, Vec<&'c Side>>,
    /// Those whose call is not known, by their first message.
    loose: HashMap<usize, &'c Side>,
    /// The sub-agents in files of their own that each call started.
    attached: HashMap<PartRef, Vec<&'c Attached<'a>>>,
    /// Messages that are drawn with a sub-agent, and not in the conversation.
    aside: HashSet<usize>,
    /// For each message, the one before it in the same conversation.
    previous: Vec<Option<usize>>,
}

/// What a call is, as far as the messages around it are drawn differently.
struct Sketch {
    is_edit: bool,
    /// What it looks at, if it changes nothing.
    look: Option<(Look, String)>,
}

impl Sketch {
    fn of_call(conversation: &Conversation<'_>, at: PartRef) -> Option<Self> {
        let call = conversation.part(at).content.call()?;
        let kind = CallKind::from_call(&call.name.decode(), &call.arguments.decode());
        Some(Self { is_edit: matches!(kind, CallKind::Edit { .. }), look: kind.look() })
    }
}

impl<'c, 'a> Chat<'c, 'a> {
    pub(crate) fn new(conversation: &'c Conversation<'a>, limits: Limits) -> Self {
        let calls = conversation.pairs.calls().iter();
        let mut newest: HashMap<u32, usize> = HashMap::new();
        let threads = conversation.messages.iter().map(|message| message.thread).enumerate();
        let mut chat = Self {
            conversation,
            limits,
            calls: calls.filter_map(|&at| Some((at, Sketch::of_call(conversation, at)?))).collect(),
            started: HashMap::new(),
            loose: HashMap::new(),
            attached: HashMap::new(),
            aside: conversation.agents.sides.iter().flat_map(|side| &side.messages).copied().collect(),
            previous: threads.map(|(at, thread)| newest.insert(thread, at)).collect(),
        };
        for side in &conversation.agents.sides {
            match side.call {
                Some(call) => chat.started.entry(call).or_default().push(side),
                None => {
                    chat.loose.insert(side.messages[0], side);
                }
            }
        }
        for attached in &conversation.attached {
            if let Some(call) = attached.call {
                chat.attached.entry(call).or_default().push(attached);
            }
        }
        chat
    }
}

/// What is known of a message or a part, whatever draws it.
impl Chat<'_, '_> {
    fn tokens(&self, at: PartRef) -> usize {
        self.conversation.costs[at.message].parts[at.part]
    }

    fn calls_of(&self, at: usize) -> impl Iterator<Item = PartRef> + Clone {
        let parts = self.conversation.messages[at].parts.iter().enumerate();
        parts.filter(|(_, part)| part.content.call().is_some()).map(move |(part, _)| PartRef { message: at, part })
    }

    /// The counterpart of a call or result.
    fn counterpart(&self, at: PartRef) -> Option<PartRef> {
        self.conversation.pairs.counterpart(at)
    }

    /// Whether a message contains only results of calls in other messages: they are shown with these calls.
    fn is_folded(&self, at: usize) -> bool {
        let message = &self.conversation.messages[at];
        let mut parts = message.parts.iter().enumerate();
        !message.begins_context()
            && unread(&message.estimated).next().is_none()
            && !message.parts.is_empty()
            && parts.all(|(nth, part)| self.answers_elsewhere(PartRef { message: at, part: nth }, part))
    }

    /// Whether a part is the result of a call in another message.
    fn answers_elsewhere(&self, at: PartRef, part: &Part<'_>) -> bool {
        part.content.result().is_some() && self.counterpart(at).is_some_and(|call| call.message != at.message)
    }

    /// Whether a call started a sub-agent.
    fn has_agents(&self, call: PartRef) -> bool {
        self.started.contains_key(&call) || self.attached.contains_key(&call)
    }
}
