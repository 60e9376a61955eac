//! Signed reasoning: a provider may refuse it if the messages before it are not the original ones.

use std::collections::BTreeSet;

use super::history::History;
use super::prefixes::{Link, Sent};
use curtail_core::transcript::{Content, Message};

/// The signed thoughts of a session under one policy.
pub(super) struct Thoughts {
    /// The positions of those that are valid.
    valid: BTreeSet<usize>,
    /// For each position, the digest of everything that was sent before it when the model wrote it.
    made_for: Vec<u64>,
}

impl Thoughts {
    /// The thoughts of `history` that have one of the members `signatures`.
    pub(super) fn new(history: &History<'_>, signatures: &[&str]) -> Self {
        let signed = history.messages.iter().enumerate().filter(|(_, message)| is_signed(message, signatures));
        Self { valid: signed.map(|(at, _)| at).collect(), made_for: vec![0; history.messages.len()] }
    }

    /// How many thoughts become invalid with `sent`, which begins with `common` messages of the request before.
    pub(super) fn invalidated(&mut self, sent: &Sent, common: usize, history: &History<'_>) -> usize {
        let behind = sent.behind(common, &self.valid, history);
        let invalid = behind.into_iter().filter(|(position, before)| self.made_for[*position] != before.digest);
        invalid.filter(|(position, _)| self.valid.remove(position)).count()
    }

    /// Records which prefix the messages at `next` were written for: everything in `sent`.
    pub(super) fn made(&mut self, history: &History<'_>, sent: Link, next: impl Iterator<Item = usize>) {
        let mut link = sent;
        for at in next {
            self.made_for[at] = link.digest;
            link = link.then(history.fact(at));
        }
    }
}

fn is_signed(message: &Message<'_>, signatures: &[&str]) -> bool {
    message.parts.iter().filter(|part| matches!(part.content, Content::Reasoning(_))).any(|part| {
        let element = part.place().map(|place| place.element);
        element.is_some_and(|element| signatures.iter().any(|name| element.get(name).is_some()))
    })
}
