//! Signed reasoning: a provider may refuse it if the messages before it are not the original ones.

use super::history::History;
use super::prefixes::Link;
use crate::transcript::{Content, Message};

/// The signed thoughts of a session under one policy.
pub(super) struct Thoughts {
    signed: Vec<bool>,
    /// For each position, the digest of everything that was sent before it when the model wrote it.
    made_for: Vec<u64>,
    invalid: Vec<bool>,
}

impl Thoughts {
    /// The thoughts of `history` that have one of the members `signatures`.
    pub(super) fn new(history: &History<'_>, signatures: &[&str]) -> Self {
        let count = history.messages.len();
        let signed = history.messages.iter().map(|message| is_signed(message, signatures)).collect();
        Self { signed, made_for: vec![0; count], invalid: vec![false; count] }
    }

    /// Whether the thought at `position` becomes invalid when it is sent behind what has the digest `before`.
    pub(super) fn is_invalidated(&mut self, position: usize, before: u64) -> bool {
        let invalid = self.signed[position] && !self.invalid[position] && self.made_for[position] != before;
        self.invalid[position] |= invalid;
        invalid
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
