//! Signed reasoning, which a provider may refuse if the messages before it are not the original ones.

use std::collections::BTreeSet;

use super::history::History;
use super::sent::Sent;
use crate::links::Link;
use curtail_core::transcript::{Content, Message};

/// The signed thoughts of a session under one policy.
pub(super) struct Thoughts {
    /// The positions of those that are valid.
    valid: BTreeSet<usize>,
    /// For each position, the digest of everything that was sent before it when the model wrote it.
    prefixes: Vec<u64>,
}

impl Thoughts {
    /// The thoughts of `history` that have one of the keys `signatures`.
    pub(super) fn new(history: &History<'_>, signatures: &[&str]) -> Self {
        let signed = history.messages.iter().enumerate().filter(|(_, message)| is_signed(message, signatures));
        Self { valid: signed.map(|(at, _)| at).collect(), prefixes: vec![0; history.messages.len()] }
    }

    /// Invalidates the thoughts that `sent`, which begins with `common` messages of the request before, has after another prefix.
    /// Returns how many they are.
    pub(super) fn invalidate(&mut self, sent: &Sent, common: usize, history: &History<'_>) -> usize {
        let sent = sent.sent_after(common, &self.valid, history).into_iter();
        let invalid = sent.filter(|(position, before)| self.prefixes[*position] != before.digest);
        invalid.filter(|(position, _)| self.valid.remove(position)).count()
    }

    /// Records that the messages at `next` were written after everything in `sent` and each other.
    pub(super) fn record_prefixes(&mut self, history: &History<'_>, sent: Link, next: impl Iterator<Item = usize>) {
        let mut link = sent;
        for at in next {
            self.prefixes[at] = link.digest;
            link = link.then(history.stats[at]);
        }
    }
}

fn is_signed(message: &Message<'_>, signatures: &[&str]) -> bool {
    message.parts.iter().filter(|part| matches!(part.content, Content::Reasoning(_))).any(|part| {
        let element = part.place().map(|place| place.element);
        element.is_some_and(|element| signatures.iter().any(|name| element.get(name).is_some()))
    })
}
