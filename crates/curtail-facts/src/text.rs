//! Facts as text: the first lines of a summary, which are read back from it. Every section first gets its minimum share of the
//! tokens; then the tokens that remain go to the sections that were cut, the most important ones first.

use std::cell::RefCell;

use foldhash::HashMap;

use super::Facts;
use super::room::{Count, Room, Written};
use super::sections::{SECTIONS, Section};

/// The share of the tokens that the sections may take, in percent; the rest is for the summary's own sentences.
const MAX_PERCENT: usize = 88;

/// The smallest budget, in tokens, at which a first line explains the pointers.
const LEAST_WITH_HEAD: usize = 150;

/// The beginning of the first line, before the number of the last message.
pub(super) const HEAD: &str = "Facts of messages 0 to ";

impl Facts {
    /// The facts in at most `tokens` tokens; empty if there are none that fit.
    ///
    /// For a conversation without calls, only the first message of the user is written, and only if `carried`: if the summarizer
    /// does not read that message. `count` counts the tokens of a text.
    pub fn text(&self, tokens: usize, carried: bool, count: &dyn Fn(&str) -> usize) -> String {
        // Without calls, the only facts are quotes.
        let work = self.calls > 0;
        if self.is_empty() || !work && !carried {
            return String::new();
        }
        let counts = RefCell::new(HashMap::default());
        let count = &|text: &str| count_once(&counts, text, count);
        let head = if work && tokens >= LEAST_WITH_HEAD { self.head() } else { String::new() };
        let room = (tokens * MAX_PERCENT / 100).saturating_sub(count(&head));
        let sections = if work { SECTIONS } else { &SECTIONS[..1] };
        let mut written = self.write_minimum(sections, tokens, room, count);
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

    /// The line that explains the pointers and names the last message that the facts cover.
    fn head(&self) -> String {
        format!("{HEAD}{}; [m7] is message 7.\n", self.messages.saturating_sub(1))
    }

    /// Writes each section within its minimum share.
    fn write_minimum(&self, sections: &[Section], tokens: usize, room: usize, count: Count<'_>) -> Vec<Written> {
        let written = sections.iter().map(|section| {
            let tokens = (tokens * section.least / 100).min(room);
            (section.write)(self, Room { tokens, count })
        });
        written.collect()
    }

    /// Writes sections that were cut again, in the order of their rank, with the tokens that are left.
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

/// The tokens of a text, counted only once: each section is written several times.
fn count_once(counts: &RefCell<HashMap<String, usize>>, text: &str, count: Count<'_>) -> usize {
    if let Some(&tokens) = counts.borrow().get(text) {
        return tokens;
    }
    let tokens = count(text);
    counts.borrow_mut().insert(text.to_owned(), tokens);
    tokens
}

fn joined(head: &str, written: &[Written]) -> String {
    let body: String = written.iter().map(|section| section.text.as_str()).collect();
    if body.is_empty() { String::new() } else { format!("{head}{}", body.trim_end()) }
}
