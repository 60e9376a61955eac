//! Drops parts by kind, and messages by role.

use super::{DropSet, Pins, Plan, Processor, ProcessorError, Reason, Traits, View};
use crate::numbers::number_of;
use crate::transcript::{Content, Pairs, Part, PartRef, RequiredReasoning, Role};

/// A kind of part to strip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StripKind {
    /// The model's reasoning. It is kept where a call needs it: in the open turn, before an item with an id of its own that
    /// refers to it, if it carries the signature of the calls, and beside calls where a provider wants it back.
    Reasoning,
    /// All of the model's reasoning, even where a provider requires it with a call.
    AllReasoning,
    /// Images, audio and files.
    Media,
    /// Parts of unknown type. Known parts without text, such as marks, are kept.
    Other,
}

/// Strips parts of some kinds from every message, and drops messages of other roles.
///
/// ```
/// use curtail_core::dialects::{Framing, Reading};
/// use curtail_core::pipeline::{Chain, TextCutter};
/// use curtail_core::processors::Strip;
/// use curtail_core::transcript::Role;
///
/// let strip = Strip { roles: vec![Role::User], ..Strip::default() };
/// let cutter = TextCutter { chain: Chain::default().then(strip), ..TextCutter::default() };
/// let chat = concat!(
///     "{\"role\":\"user\",\"content\":\"Hello\"}\n",
///     "{\"role\":\"assistant\",\"content\":\"Hi\"}\n",
/// );
/// let mut questions = String::new();
/// cutter.cut(&Reading::new(Framing::Lines, None, None)?, chat, &mut questions)?;
/// assert_eq!(questions, "{\"role\":\"user\",\"content\":\"Hello\"}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Strip {
    /// The kinds of parts to drop.
    pub kinds: Vec<StripKind>,
    /// The roles to keep; empty keeps all.
    pub roles: Vec<Role>,
    /// Messages that are kept whatever their role is.
    pub pins: Pins,
}

impl Processor for Strip {
    fn name(&self) -> &'static str {
        "filter"
    }

    fn traits(&self) -> Traits {
        Traits { may_empty: true, ..Traits::default() }
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let pairs = Pairs::from_messages(view.messages);
        let mut drops = DropSet::none(view, &pairs).pinning(self.pins);
        let required = RequiredReasoning::of(view.messages);
        let spares = !self.kinds.contains(&StripKind::AllReasoning);
        for (at, message) in view.messages.iter().enumerate() {
            if !self.roles.is_empty() && !self.roles.iter().any(|role| message.speaks_as(*role)) {
                drops.drop_message(at, Reason::Owned(format!("role {}", message.role.name())));
                continue;
            }
            if message.is_bound_reasoning() && self.strips_reasoning() {
                if spares && required.is_in(at) {
                    drops.spare(at, NEEDED);
                } else {
                    drops.drop_alone(at, Reason::Borrowed("reasoning"));
                }
                continue;
            }
            for (nth, part) in message.parts.iter().enumerate() {
                let place = PartRef { message: at, part: nth };
                match self.strips(&part.content) {
                    Some((StripKind::Reasoning, _)) if spares && required.contains(place) => drops.spare(at, NEEDED),
                    Some((_, reason)) => drops.drop_part(place, Reason::Borrowed(reason)),
                    None => {}
                }
            }
        }
        self.drop_instructions(view, &mut drops);
        let mut plan = drops.into_plan();
        plan.notes.extend(self.kept_media(view, &plan));
        Ok(plan)
    }
}

const NEEDED: Reason = Reason::Borrowed("a call depends on this reasoning; --strip all-reasoning drops it");

impl Strip {
    /// Drops the messages of the user in which only instructions remain, unless the messages of the application are kept: such
    /// a message is one of them.
    fn drop_instructions(&self, view: &View<'_, '_>, drops: &mut DropSet<'_, '_>) {
        if self.roles.is_empty() || self.roles.contains(&Role::System) {
            return;
        }
        for (at, message) in view.messages.iter().enumerate().filter(|(_, message)| message.role == Role::User) {
            let mut parts = message.parts.iter().enumerate();
            let instructs = message.parts.iter().any(Part::instructs);
            if instructs
                && parts.all(|(nth, part)| part.instructs() || drops.is_part_gone(PartRef { message: at, part: nth }))
            {
                drops.drop_message(at, Reason::Borrowed("only instructions of the application remain in it"));
            }
        }
    }

    /// The note that media stay in results, which are parts of another kind.
    fn kept_media(&self, view: &View<'_, '_>, plan: &Plan) -> Option<String> {
        let kept = view.messages.iter().enumerate().filter(|(at, _)| plan.keeps(*at));
        let results = kept.flat_map(|(at, message)| {
            message.results().filter(move |(part, result)| result.media > 0 && !plan.decisions[at].cuts(*part))
        });
        let count = if self.kinds.contains(&StripKind::Media) { results.count() } else { 0 };
        let what = number_of(count, "tool result");
        (count > 0).then(|| {
            format!(
                "media in {what} are kept; --keep-last-media 0 writes a text in place of each, where that is shorter"
            )
        })
    }

    fn strips_reasoning(&self) -> bool {
        self.kinds.iter().any(|kind| matches!(kind, StripKind::Reasoning | StripKind::AllReasoning))
    }

    fn strips(&self, content: &Content<'_>) -> Option<(StripKind, &'static str)> {
        let (kind, reason) = match content {
            Content::Reasoning(_) => (StripKind::Reasoning, "reasoning"),
            Content::Media(_) => (StripKind::Media, "media"),
            Content::Unknown(_) => (StripKind::Other, "part of unknown type"),
            _ => return None,
        };
        let is_chosen = self.kinds.contains(&kind) || kind == StripKind::Reasoning && self.strips_reasoning();
        is_chosen.then_some((kind, reason))
    }
}
