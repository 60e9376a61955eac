//! Fits quotes, lists and names into a number of tokens.

use std::borrow::Cow;

use super::quotes::cut_at;
use super::{Pointer, Quote};

pub(super) const BELOW: &str = "below";

/// Precedes a file name whose folder is left out.
pub(super) const SHORT: &str = "…/";

/// The fewest tokens for which a cut quote is worth a line.
const LEAST_QUOTE: usize = 10;

/// More characters than the tokens of any text have on average: a text with more per token than this exceeds its budget, and
/// need not be counted.
pub(super) const CHARS_PER_TOKEN: usize = 16;

/// The characters of a cut list item, pointer included, that are worth a line: fewer do not show what it is about.
const SHORT_ITEM: usize = 44;

/// A cut list item with at least this many tokens keeps its beginning and its end; a smaller one keeps only its beginning.
const LEAST_WITH_END: usize = 40;

/// Counts the tokens of a text.
pub(super) type Count<'c> = &'c dyn Fn(&str) -> usize;

/// The tokens that a section may take, and how they are counted.
#[derive(Clone, Copy)]
pub(super) struct Room<'c> {
    pub(super) tokens: usize,
    pub(super) count: Count<'c>,
}

/// A section within its tokens.
#[derive(Debug, Clone, Default)]
pub(super) struct Written {
    /// Its lines; empty if nothing fits.
    pub(super) text: String,
    /// Whether nothing was left out.
    pub(super) whole: bool,
}

impl Written {
    /// A section without facts.
    pub(super) const EMPTY: Self = Self { text: String::new(), whole: true };

    /// These lines and those of `next`.
    pub(super) fn and(self, next: &Self) -> Self {
        Self { text: self.text + &next.text, whole: self.whole && next.whole }
    }
}

/// An item of a list that is about to be fitted.
struct ListedItem {
    /// Its index in the list.
    number: usize,
    /// Its tokens, with a line break.
    size: usize,
    /// The fewest tokens of it that are worth a line.
    least: usize,
}

impl ListedItem {
    /// Its tokens if it is cut to `level`.
    fn tokens(&self, level: usize) -> usize {
        self.size.min(level.max(self.least))
    }
}

impl Room<'_> {
    /// The room that is left beside `text`.
    pub(super) fn without(self, text: &str) -> Self {
        Self { tokens: self.tokens.saturating_sub((self.count)(text)), ..self }
    }

    /// A line with one quote, which keeps `tenths` of its letters at its beginning if it is cut.
    pub(super) fn quote(self, label: &str, quote: Option<&Quote>, tenths: usize) -> Written {
        let Some(quote) = quote else { return Written::EMPTY };
        let head = labelled(label, &quote.at);
        let tokens = self.tokens.saturating_sub((self.count)(&head) + 1);
        let text = (Room { tokens, ..self }).fit(&quote.text, tenths);
        text.map_or_else(Written::default, |text| Written {
            whole: text == quote.text,
            text: format!("{head} {text}\n"),
        })
    }

    /// Whether a text fits.
    pub(super) fn holds(self, text: &str) -> bool {
        (self.count)(text) <= self.tokens
    }

    /// `text`, cut in the middle; `None` if too little would be left.
    pub(super) fn fit(self, text: &str, tenths: usize) -> Option<String> {
        let letters = text.chars().count();
        let most = self.tokens * CHARS_PER_TOKEN;
        if letters <= most && self.holds(text) {
            return Some(text.to_owned());
        }
        if self.tokens < LEAST_QUOTE {
            return None;
        }
        let mut low = 0;
        let mut high = letters.min(most);
        while low + 1 < high {
            let middle = usize::midpoint(low, high);
            if self.holds(&cut_at(text, middle, tenths)) { low = middle } else { high = middle }
        }
        (low > 0).then(|| cut_at(text, low, tenths))
    }

    /// A list of the `items` whose beginning fits, sorted by `key` of their index. Long items are cut to the same number of
    /// tokens: of items with 10, 100 and 100 tokens, 60 tokens hold the first one whole and 25 of each of the others.
    pub(super) fn list<K: Ord>(self, head: &str, items: &[String], key: impl Fn(usize) -> K) -> Written {
        let room = self.without(&format!("{head}\n"));
        let taken = room.fitting_items(items);
        // The sum grows with the level.
        let mut level = 0;
        let mut above = room.tokens + 1;
        while level + 1 < above {
            let middle = usize::midpoint(level, above);
            let sum: usize = taken.iter().map(|item| item.tokens(middle)).sum();
            if sum <= room.tokens { level = middle } else { above = middle }
        }
        let chosen = taken.iter().filter_map(|item| {
            let tokens = item.tokens(level);
            let within = Room { tokens: tokens.saturating_sub(1), ..room };
            Some((item.number, within.fit(&items[item.number], if tokens < LEAST_WITH_END { 10 } else { 7 })?))
        });
        let mut chosen: Vec<(usize, String)> = chosen.collect();
        let whole = chosen.len() == items.len() && chosen.iter().all(|(number, text)| items[*number] == *text);
        chosen.sort_by_key(|(number, _)| key(*number));
        lines(head, &chosen.into_iter().map(|(_, text)| text).collect::<Vec<_>>(), whole)
    }

    /// The first items, as long as at least the beginning of each fits.
    fn fitting_items(self, items: &[String]) -> Vec<ListedItem> {
        let mut left = self.tokens;
        let mut taken = Vec::new();
        for (number, item) in items.iter().enumerate() {
            let size = (self.count)(item) + 1;
            let least = if size <= LEAST_QUOTE + 6 {
                size
            } else {
                size.min((self.count)(&cut_at(item, SHORT_ITEM, 10)).max(LEAST_QUOTE + 5) + 1)
            };
            if least <= left {
                left -= least;
                taken.push(ListedItem { number, size, least });
            }
            if left < LEAST_QUOTE {
                break;
            }
        }
        taken
    }

    /// A label, as many names as fit, and the number of the others.
    pub(super) fn names(self, label: &str, names: &[&str]) -> Written {
        if names.is_empty() {
            return Written::EMPTY;
        }
        // The sum of single counts is at least the count of the whole, give or take a few tokens.
        let mut sum = 0;
        let counted = names.iter().take(60).take_while(|name| {
            sum += (self.count)(name);
            sum <= self.tokens + 16
        });
        let most = counted.count();
        for taken in (1..=most.max(1)).rev() {
            let more = if taken < names.len() { format!(", {} more", names.len() - taken) } else { String::new() };
            let list: Vec<_> = names[..taken].iter().map(|name| as_entry(name)).collect();
            let text = format!("{label} {}{more}\n", list.join(", "));
            if self.holds(&text) {
                return Written { text, whole: taken == names.len() };
            }
        }
        Written::default()
    }
}

/// A name as an entry of a list, whose entries are separated by commas: between backticks if it has one.
pub(super) fn as_entry(name: &str) -> Cow<'_, str> {
    if name.contains(", ") { format!("`{name}`").into() } else { name.into() }
}

pub(super) fn labelled(label: &str, at: &Pointer) -> String {
    if at.message.is_none() { format!("{label}:") } else { format!("{label} {at}:") }
}

pub(super) fn bullet(at: &Pointer, text: &str) -> String {
    if at.message.is_none() { format!("- {text}") } else { format!("- {at} {text}") }
}

pub(super) fn lines(head: &str, items: &[String], whole: bool) -> Written {
    let text = if items.is_empty() { String::new() } else { format!("{head}\n{}\n", items.join("\n")) };
    Written { text, whole }
}

pub(super) const DELETED: &str = " (deleted)";
