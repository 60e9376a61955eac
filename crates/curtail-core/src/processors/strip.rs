//! Drops parts by kind, media by age and size, and messages by role.

use foldhash::HashMap;

use super::{Change, Decision, DropSet, Pins, Plan, Processor, ProcessorError, Reason, Traits, View};
use crate::dialects::media::{Medium, MediumFacts, media};
use crate::transcript::{Content, Pairs, Part, PartRef, RequiredReasoning, Role, Substitution};

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
    /// Parts of unknown type.
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
        let mut lone_reasoning = Vec::new();
        for (at, message) in view.messages.iter().enumerate() {
            if !self.roles.is_empty() && !self.roles.contains(&message.role) {
                drops.drop_message(at, Reason::Owned(format!("role {}", message.role.name())));
                continue;
            }
            if message.is_bound_reasoning() && self.strips_reasoning() {
                if spares && required.is_in(at) {
                    drops.spare(at, NEEDED);
                } else {
                    lone_reasoning.push(at);
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
        for at in lone_reasoning {
            plan.decisions[at] = Decision::Drop(Reason::Borrowed("reasoning"));
        }
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

    fn strips_reasoning(&self) -> bool {
        self.kinds.iter().any(|kind| matches!(kind, StripKind::Reasoning | StripKind::AllReasoning))
    }

    fn strips(&self, content: &Content<'_>) -> Option<(StripKind, &'static str)> {
        let (kind, reason) = match content {
            Content::Reasoning(_) => (StripKind::Reasoning, "reasoning"),
            Content::Media(_) => (StripKind::Media, "media"),
            Content::Unknown(_) | Content::Other => (StripKind::Other, "part of unknown type"),
            _ => return None,
        };
        let is_chosen = self.kinds.contains(&kind) || kind == StripKind::Reasoning && self.strips_reasoning();
        is_chosen.then_some((kind, reason))
    }
}

// Removes images, audio and files that are old or large, and writes a text in their place that describes them.

/// Removes media by age and by size. What is at another address has no size that is known.
#[derive(Debug, Clone, Default)]
pub struct MediaLimits {
    /// The number of newest media of each conversation to keep, without those of turns that were taken back; `None` keeps all.
    pub keep_last: Option<usize>,
    /// The most bytes of one medium.
    pub max_bytes: Option<u64>,
    /// The most pixels of the longest side of an image.
    pub max_pixels: Option<usize>,
}

impl Processor for MediaLimits {
    fn name(&self) -> &'static str {
        "filter"
    }

    fn traits(&self) -> Traits {
        // What describes a medium is a text like any other once it is read.
        Traits { writes: true, ..Traits::default() }
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let mut plan = Plan::keep(view.messages.len());
        let most = self.keep_last.unwrap_or(usize::MAX);
        let mut left: HashMap<u32, usize> = HashMap::default();
        for (at, message) in view.messages.iter().enumerate().rev() {
            let mut over = self.keep_last.map_or(usize::MAX, |_| 0);
            let is_over = message.standing.is_rolled_back();
            let kept = if is_over { &mut over } else { left.entry(message.thread).or_insert(most) };
            for (nth, part) in message.parts.iter().enumerate().rev() {
                let found = media(part);
                let mut gone: Vec<Substitution> =
                    found.iter().rev().filter_map(|medium| self.removes(medium, kept)).collect();
                gone.reverse();
                if !gone.is_empty() {
                    let reason = gone.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join(" ");
                    plan.change(at, [Change::Substitute(nth, gone)], Reason::Owned(reason));
                }
            }
        }
        Ok(plan)
    }
}

impl MediaLimits {
    /// The text in place of `medium`, if it is removed; `kept` counts down the newest ones.
    fn removes(&self, medium: &Medium<'_>, kept: &mut usize) -> Option<Substitution> {
        let facts = medium.facts();
        let described = medium.described(&facts.to_string());
        // What is only named, such as a file of the provider, may be shorter than the text.
        let is_shorter = described.json.len() < described.span.len();
        let is_removed = is_shorter && (*kept == 0 || self.is_too_large(&facts));
        if !is_removed {
            *kept = kept.saturating_sub(1);
        }
        is_removed.then_some(described)
    }

    fn is_too_large(&self, facts: &MediumFacts) -> bool {
        let above =
            |most: Option<u64>, amount: Option<u64>| most.zip(amount).is_some_and(|(most, amount)| amount > most);
        let side = facts.pixels.and_then(|sides| sides.into_iter().max());
        above(self.max_bytes, facts.bytes)
            || above(self.max_pixels.map(|most| most as u64), side.map(|side| side as u64))
    }
}
