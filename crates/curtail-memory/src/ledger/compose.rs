//! A ledger as the first lines of a summary: every section gets its least share of the tokens, then the most important ones
//! take what the others leave.

use std::cell::RefCell;

use foldhash::HashMap;

use super::Ledger;
use super::sections::{Count, Room, SECTIONS, Section, Written};

/// The part of a summary that a ledger may take, in percent: the rest is for sentences.
const SHARE: usize = 88;

/// A budget below which no sentence explains the pointers.
const SMALL: usize = 150;

/// The first words of the facts, in front of the number of the last message.
pub(super) const HEAD: &str = "Facts of messages 0 to ";

impl Ledger {
    /// The facts in at most `tokens` tokens; empty if there are none that fit.
    ///
    /// For a conversation without calls, only the first message of the user is written, and only if `carried`: the sentences
    /// of the summary tell the rest.
    #[must_use]
    pub fn text(&self, tokens: usize, carried: bool, count: &dyn Fn(&str) -> usize) -> String {
        let work = self.shows_work();
        if self.is_empty() || !work && !carried {
            return String::new();
        }
        let known = RefCell::new(HashMap::default());
        let count = &|text: &str| memoized(&known, text, count);
        let head = if work && tokens >= SMALL { self.head() } else { String::new() };
        let room = (tokens * SHARE / 100).saturating_sub(count(&head));
        let sections = if work { SECTIONS } else { &SECTIONS[..1] };
        let mut written = self.least(sections, tokens, room, count);
        self.grow(sections, &mut written, tokens, room, count);
        let mut text = joined(&head, &written);
        let mut ranks: Vec<usize> = (0..sections.len()).collect();
        ranks.sort_by_key(|&at| sections[at].rank);
        // The sum of the parts may be less than the whole.
        while count(&text) > tokens {
            let Some(last) = ranks.pop() else { return String::new() };
            written[last] = Written::default();
            text = joined(&head, &written);
        }
        text
    }

    /// What the pointers mean, and the last message that the facts cover.
    fn head(&self) -> String {
        format!("{HEAD}{}; [m7] is message 7.\n", self.messages.saturating_sub(1))
    }

    fn least(&self, sections: &[Section], tokens: usize, room: usize, count: Count<'_>) -> Vec<Written> {
        let cap = |section: &Section| (tokens * section.least / 100).min(room);
        sections.iter().map(|section| (section.write)(self, Room { tokens: cap(section), count })).collect()
    }

    /// Lets sections that were cut take what is left, by rank.
    ///
    /// Of 1,000 tokens, the list of changed files gets 280 at first, and all sections 880. If the other sections need 200, the
    /// list is written again with 600 tokens: 680 are left, but 600 is its maximum.
    fn grow(&self, sections: &[Section], written: &mut [Written], tokens: usize, room: usize, count: Count<'_>) {
        let mut order: Vec<usize> = (0..sections.len()).filter(|&at| !written[at].whole).collect();
        order.sort_by_key(|&at| sections[at].rank);
        let mut spent: usize = written.iter().map(|section| count(&section.text)).sum();
        for at in order {
            let before = count(&written[at].text);
            let cap = (tokens * sections[at].most / 100).min(before + room.saturating_sub(spent));
            // A section may have a few tokens more than the sum of its parts.
            for cap in [cap, cap.saturating_sub(4), cap * 7 / 8] {
                let more = (sections[at].write)(self, Room { tokens: cap, count });
                let after = count(&more.text);
                if cap > before && after >= before && spent - before + after <= room {
                    spent = spent - before + after;
                    written[at] = more;
                    break;
                }
            }
        }
    }
}

/// The tokens of a text, counted once: each section is written several times, with more and more room.
fn memoized(known: &RefCell<HashMap<String, usize>>, text: &str, count: Count<'_>) -> usize {
    if let Some(&tokens) = known.borrow().get(text) {
        return tokens;
    }
    let tokens = count(text);
    known.borrow_mut().insert(text.to_owned(), tokens);
    tokens
}

fn joined(head: &str, written: &[Written]) -> String {
    let body: String = written.iter().map(|section| section.text.as_str()).collect();
    if body.is_empty() { String::new() } else { format!("{head}{}", body.trim_end()) }
}
