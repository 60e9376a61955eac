//! What a cut lost: the facts of a transcript before it, and which of them whoever reads only what is left can still state.
//!
//! A fact is kept wherever it is said and however it is spelled, lost if it is not said or if the same words now mean something
//! else, and reworded if only a person can decide. It knows no dialect and no file; both sides are messages, or a text.

mod about;
mod clauses;
mod digests;
mod fact;
mod fact_grammars;
mod facts;
mod give_back;
mod grammar;
mod hindsight;
mod identifiers;
mod judge;
mod languages;
mod lexicon;
mod negation;
mod outcomes;
mod outdated_names;
mod sentence_index;
mod spelling;
mod statements;
mod tokens;
mod told;
mod voices;
mod word_forms;
mod work;

pub use digests::digest;
pub use fact::{Fact, Kind, State};
pub use give_back::give_back;
pub use hindsight::used;
pub use judge::Fate;
pub(crate) use outcomes::Family;

use curtail_core::transcript::{Content, Message, Pairs};
use facts::{SideFacts, facts_of};
use judge::{CheckGroups, Decision, Wanted, claim, decide, stale};
use lexicon::Lexicon;
use sentence_index::SentenceIndex;

/// What a model reads before or after a cut: messages with the texts outside of them, or a text alone.
#[derive(Debug, Clone, Copy)]
pub struct Side<'s, 'a> {
    /// The messages; none for a text.
    pub messages: &'s [Message<'a>],
    /// Their pairs.
    pub pairs: &'s Pairs,
    /// The texts outside of the messages, such as a system prompt; or the text.
    pub outside: &'s [String],
}

/// A fact of the side before a cut, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedFact {
    /// The fact.
    pub fact: Fact,
    /// What became of it.
    pub fate: Fate,
    /// The sentence of the side after the cut that decided, if one did.
    pub near: Option<String>,
}

/// Something that the side after a cut says and the side before it does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// What it is about.
    pub about: String,
    /// The sentence.
    pub text: String,
}

/// What a cut kept and lost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The facts before the cut, by kind and in the order of the messages.
    pub facts: Vec<JudgedFact>,
    /// How many names were printed before the cut and not used.
    pub printed: usize,
    /// What is said only after the cut.
    pub claims: Vec<Claim>,
}

/// How many facts were kept, of how many that could be decided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    /// Facts that were kept.
    pub kept: usize,
    /// Facts that were lost.
    pub lost: usize,
    /// Facts that only a person can decide about.
    pub reworded: usize,
    /// Facts that nobody can know, because what is left is encrypted.
    pub unknown: usize,
}

impl Share {
    /// The facts that could be decided.
    pub const fn all(&self) -> usize {
        self.kept + self.lost
    }

    /// The facts that could be lost.
    pub const fn total(&self) -> usize {
        self.kept + self.lost + self.reworded + self.unknown
    }

    /// These facts and those of `other`.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            kept: self.kept + other.kept,
            lost: self.lost + other.lost,
            reworded: self.reworded + other.reworded,
            unknown: self.unknown + other.unknown,
        }
    }

    /// The share that was kept, from 0 to 1; `None` if there was nothing to decide.
    #[expect(clippy::cast_precision_loss, reason = "numbers of facts are far below 2^52")]
    pub fn kept(&self) -> Option<f64> {
        (self.all() > 0).then(|| self.kept as f64 / self.all() as f64)
    }

    fn add(&mut self, fate: Fate) {
        match fate {
            Fate::Kept => self.kept += 1,
            Fate::Lost => self.lost += 1,
            Fate::Reworded => self.reworded += 1,
            Fate::Unknown => self.unknown += 1,
            Fate::Overtaken => {}
        }
    }
}

impl Comparison {
    /// The facts that are important and could be lost.
    fn counted(&self) -> impl Iterator<Item = &JudgedFact> {
        self.facts.iter().filter(|judged| judged.fact.important && judged.fate != Fate::Overtaken)
    }

    /// How many important facts of a kind were kept.
    pub fn of_kind(&self, kind: Kind) -> Share {
        share(self.counted().filter(|judged| judged.fact.kind == kind))
    }

    /// How many important facts were kept.
    pub fn all(&self) -> Share {
        share(self.counted())
    }

    /// How many facts that are not important were kept.
    pub fn unimportant(&self) -> Share {
        share(self.facts.iter().filter(|judged| !judged.fact.important && judged.fate != Fate::Overtaken))
    }

    /// The important facts that were lost, most needed first.
    pub fn losses(&self) -> Vec<&JudgedFact> {
        let mut losses: Vec<&JudgedFact> = self.counted().filter(|judged| judged.fate == Fate::Lost).collect();
        losses.sort_by_key(|judged| std::cmp::Reverse(judged.fact.need));
        losses
    }
}

fn share<'j>(facts: impl Iterator<Item = &'j JudgedFact>) -> Share {
    let mut share = Share::default();
    facts.for_each(|judged| share.add(judged.fate));
    share
}

/// What became of the facts of `before` in `after`.
pub fn compare(before: &Side<'_, '_>, after: &Side<'_, '_>) -> Comparison {
    let SideFacts { facts, printed } = facts_of(before);
    let digests = digests::digests(after);
    let mut lexicon = Lexicon::default();
    // Every path of the side before takes part in deciding whether a short name is that of one file.
    let checks = CheckGroups::of(&facts);
    let wanted: Vec<Wanted> = facts.iter().map(|fact| Wanted::of(fact, &checks, &mut lexicon)).collect();
    let mut index = SentenceIndex::of(after, &mut lexicon);
    for (fact, wanted) in facts.iter().zip(&wanted).filter(|(fact, _)| fact.overtaken) {
        let stale = stale(fact, wanted, &index);
        index.stale.extend(stale);
    }
    let is_opaque = after.messages.iter().any(is_encrypted);
    let mut claims = Vec::new();
    let mut judged = Vec::with_capacity(facts.len());
    for (fact, wanted) in facts.into_iter().zip(&wanted) {
        if let Some(sentence) = claim(&fact, wanted, &index) {
            claims.push(Claim { about: fact.text.clone(), text: sentence.text.clone() });
        }
        let is_whole = !fact.sources.is_empty() && fact.sources.iter().all(|source| digests.contains(source));
        let decision = if fact.overtaken {
            Decision::without_sentence(Fate::Overtaken)
        } else if is_whole {
            Decision::without_sentence(Fate::Kept)
        } else {
            decide(&fact, wanted, &index).or_unknown_if(is_opaque)
        };
        judged.push(JudgedFact { fact, fate: decision.fate, near: decision.near });
    }
    Comparison { facts: judged, printed, claims }
}

/// Whether a message replaces others with something that only its provider can read.
fn is_encrypted(message: &Message<'_>) -> bool {
    message.is_boundary()
        && message.parts.iter().all(|part| match &part.content {
            Content::Text(text) => text.is_blank(),
            Content::Reasoning(_) | Content::Unknown(_) | Content::Other => true,
            Content::ToolCall(_) | Content::ToolResult(_) | Content::Media(_) => false,
        })
}
