//! How much each unit of the transcript is needed in its summary: by its speaker, and by its place in the conversation.

use unicode_segmentation::UnicodeSegmentation;

use super::excerpts::{Excerpt, KnownFacts, is_error_line};
use super::units::{SummaryUnit, units_of};
use crate::summarizers::Speaker;

/// How much a unit is needed, the most needed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// What the person wanted before the first answer.
    Goal,
    /// The first sentence of a person's later message.
    Ask,
    /// The last sentence of the last reply.
    Result,
    /// An error that a tool reported.
    Error,
    /// The last sentence of an earlier reply.
    Outcome,
    /// The last sentence of a person's message.
    AskEnd,
    /// The first sentence of a reply.
    Lead,
    /// The other sentences.
    Rest,
    /// A sentence of instructions.
    Instructions,
    /// A sentence that says little: a greeting, an assent.
    Minor,
}

/// Where a message is in the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The last message of the user before the first answer.
    Task,
    /// The last reply.
    LastReply,
    /// Anywhere else.
    Between,
}

/// A unit with its rank.
pub(super) struct Ranked {
    pub(super) rank: Rank,
    pub(super) unit: SummaryUnit,
}

/// The units in the order of the transcript, without repetitions and without what the facts say.
pub(super) fn ranked(excerpts: &[Excerpt<'_>], facts: &KnownFacts) -> Vec<Ranked> {
    let first = excerpts.iter().position(|excerpt| *excerpt.speaker == Speaker::User).unwrap_or(excerpts.len());
    // An example may precede the task.
    let task = (first..excerpts.len()).take_while(|&at| *excerpts[at].speaker == Speaker::User).last();
    let last_reply = excerpts.iter().rposition(|excerpt| *excerpt.speaker == Speaker::Assistant);
    let mut seen = foldhash::HashSet::default();
    let mut units = Vec::new();
    for (index, excerpt) in excerpts.iter().enumerate() {
        let place = match Some(index) {
            at if at == task => Place::Task,
            at if at == last_reply => Place::LastReply,
            _ => Place::Between,
        };
        for (rank, unit) in excerpt.units(index, place) {
            let text = &excerpt.text[unit.range.clone()];
            if !facts.contain(text) {
                let rank = if seen.insert(text) { rank } else { Rank::Minor };
                units.push(Ranked { rank, unit });
            }
        }
    }
    units
}

impl Excerpt<'_> {
    /// Its units, each with its rank.
    fn units(&self, index: usize, place: Place) -> Vec<(Rank, SummaryUnit)> {
        match self.speaker {
            Speaker::Tool(_) => {
                let units = units_of(index, &self.text).into_iter();
                let errors = units.filter(|unit| is_error_line(&self.text[unit.range.clone()]));
                errors.map(|unit| (Rank::Error, unit)).collect()
            }
            _ => self.sentences(units_of(index, &self.text), place),
        }
    }

    /// The rank of each sentence of a person or the model, by its place among those of substance.
    fn sentences(&self, units: Vec<SummaryUnit>, place: Place) -> Vec<(Rank, SummaryUnit)> {
        let text = |unit: &SummaryUnit| &self.text[unit.range.clone()];
        let longest =
            units.iter().filter(|unit| !unit.fenced).map(|unit| text(unit).chars().count()).max().unwrap_or(0);
        let is_major = |unit: &SummaryUnit| {
            !unit.fenced && 5 * text(unit).chars().count() >= 2 * longest && text(unit).unicode_words().nth(1).is_some()
        };
        let major: Vec<usize> = (0..units.len()).filter(|&at| is_major(&units[at])).collect();
        let is_user = *self.speaker == Speaker::User;
        let rank = |at: usize| match () {
            () if place == Place::Task && major.iter().take(2).any(|&first| first == at) => Rank::Goal,
            () if is_user && major.first() == Some(&at) => Rank::Ask,
            () if place == Place::LastReply && major.last() == Some(&at) => Rank::Result,
            () if *self.speaker == Speaker::Assistant && major.last() == Some(&at) => Rank::Outcome,
            () if is_user && major.last() == Some(&at) => Rank::AskEnd,
            () if *self.speaker == Speaker::Assistant && major.first() == Some(&at) => Rank::Lead,
            () if *self.speaker == Speaker::System => Rank::Instructions,
            () if major.binary_search(&at).is_ok() || units[at].fenced => Rank::Rest,
            () => Rank::Minor,
        };
        let ranks: Vec<Rank> = (0..units.len()).map(rank).collect();
        ranks.into_iter().zip(units).collect()
    }
}
