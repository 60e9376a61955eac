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

/// How many sentences of substance of the task are its goal: the first one may only introduce what is wanted.
const GOAL_SENTENCES: usize = 2;

/// The shortest sentence of substance, as a fraction of the longest one of its message: two fifths.
const MAJOR_LENGTH: [usize; 2] = [2, 5];

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
        let lengths =
            units.iter().filter(|unit| !unit.fenced).map(|unit| self.text[unit.range.clone()].chars().count());
        let longest = lengths.max().unwrap_or(0);
        let major: Vec<usize> = (0..units.len()).filter(|&at| self.is_major(&units[at], longest)).collect();
        let ranked = units.into_iter().enumerate();
        ranked.map(|(at, unit)| (self.sentence_rank(at, unit.fenced, &major, place), unit)).collect()
    }

    /// Whether a sentence has substance. One that is short beside the `longest` of its message, or a single word, is a greeting or
    /// an assent.
    fn is_major(&self, unit: &SummaryUnit, longest: usize) -> bool {
        let text = &self.text[unit.range.clone()];
        let [part, whole] = MAJOR_LENGTH;
        !unit.fenced && whole * text.chars().count() >= part * longest && text.unicode_words().nth(1).is_some()
    }

    /// The rank of the sentence `at`; `major` are those of substance.
    fn sentence_rank(&self, at: usize, fenced: bool, major: &[usize], place: Place) -> Rank {
        let is_first = major.first() == Some(&at);
        let is_last = major.last() == Some(&at);
        let is_goal = major.iter().take(GOAL_SENTENCES).any(|&goal| goal == at);
        match self.speaker {
            Speaker::User if is_goal && place == Place::Task => Rank::Goal,
            Speaker::User if is_first => Rank::Ask,
            Speaker::User if is_last => Rank::AskEnd,
            Speaker::Assistant if is_last && place == Place::LastReply => Rank::Result,
            Speaker::Assistant if is_last => Rank::Outcome,
            Speaker::Assistant if is_first => Rank::Lead,
            Speaker::System => Rank::Instructions,
            _ if fenced || major.binary_search(&at).is_ok() => Rank::Rest,
            _ => Rank::Minor,
        }
    }
}
