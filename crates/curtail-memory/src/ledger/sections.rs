//! The sections of a ledger as text: a [`Room`] fits quotes, lists and names into a number of tokens, and a short writer for
//! each section says what stands in it and what goes first.

use super::changes::{changed, scripts};
use super::facts::{Pointer, Progress, Quote};
use super::quotes::{cut, cut_at};
use super::{Commit, Ledger, Todo, Verdict};

/// Labels in front of the sections. `recall` finds the sections by them.
pub(super) const GOAL: &str = "Goal";
pub(super) const ASKED: &str = "Asked, newest first";
pub(super) const CHANGED: &str = "Changed";
pub(super) const SCRIPTS: &str = "Written and run";
pub(super) const BELOW: &str = "below";
pub(super) const COMMITS: &str = "Commits, newest first";
pub(super) const CHECK: &str = "Last check";
pub(super) const FAILING: &str = "Failing";
pub(super) const PASSED: &str = "Passed since";
pub(super) const OPEN: &str = "Open";
pub(super) const UNANSWERED: &str = "Unanswered";
pub(super) const EARLIER: &str = "Earlier summary";
pub(super) const SAID: &str = "Said last";

/// Marks an item in progress, and a file that was removed.
pub(super) const BEGUN: &str = " (in progress)";
pub(super) const DELETED: &str = " (deleted)";

/// In front of a file name whose folder is left out.
pub(super) const SHORT: &str = "…/";

/// Fewest tokens for which a quote is worth its line.
const LEAST: usize = 10;

/// Letters that no token of a text has on average: a longer text is not counted.
pub(super) const LONGEST_TOKEN: usize = 16;

/// Letters of an item of a list, with its pointer, that are worth a line: fewer do not say what it is about.
const TELLING: usize = 44;

/// An item of a list that gets this many tokens keeps its beginning and its end. With fewer, it keeps only its beginning.
const ROOMY: usize = 40;

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
    /// A section about which there is nothing to say.
    pub(super) const NOTHING: Self = Self { text: String::new(), whole: true };

    /// These lines and those of `next`.
    fn and(self, next: &Self) -> Self {
        Self { text: self.text + &next.text, whole: self.whole && next.whole }
    }
}

/// A section: its writer, the least percentage of the tokens that it gets before others take more, and the most.
pub(super) struct Section {
    pub(super) write: fn(&Ledger, Room<'_>) -> Written,
    pub(super) least: usize,
    pub(super) most: usize,
    /// The order in which sections take more tokens. The last one is dropped first.
    pub(super) rank: usize,
}

/// The sections in the order in which they are read.
pub(super) const SECTIONS: &[Section] = &[
    Section { write: |ledger, room| room.quote(GOAL, ledger.goal.as_ref(), 7), least: 7, most: 14, rank: 5 },
    Section { write: asked, least: 18, most: 44, rank: 3 },
    Section { write: |ledger, room| room.quote(EARLIER, ledger.earlier.as_ref(), 7), least: 3, most: 12, rank: 7 },
    Section { write: changed, least: 28, most: 60, rank: 6 },
    Section { write: scripts, least: 4, most: 40, rank: 8 },
    Section { write: commits, least: 8, most: 20, rank: 1 },
    Section { write: checks, least: 9, most: 20, rank: 0 },
    Section { write: open, least: 10, most: 30, rank: 2 },
    Section { write: said, least: 9, most: 15, rank: 4 },
];

/// The last words. A question among them that nobody answered has a line of its own.
fn said(ledger: &Ledger, room: Room<'_>) -> Written {
    let question = room.quote(UNANSWERED, ledger.question.as_ref(), 7);
    let asked = ledger.question.as_ref().map_or("", |question| question.text.as_str());
    let before = ledger.said.as_ref().map(|said| Quote {
        text: said.text.strip_suffix(asked).unwrap_or(&said.text).trim_end().to_owned(),
        ..said.clone()
    });
    let words = room.beside(&question.text).quote(SAID, before.as_ref().filter(|said| !said.text.is_empty()), 4);
    question.and(&words)
}

/// Corrections first, then the newest; written newest first.
fn asked(ledger: &Ledger, room: Room<'_>) -> Written {
    let mut order: Vec<&Quote> = ledger.asked.iter().rev().collect();
    order.sort_by_key(|quote| !quote.correction);
    let items: Vec<String> = order.iter().map(|quote| bullet(&quote.at, &quote.text)).collect();
    room.list(&format!("{ASKED}:"), &items, |number| std::cmp::Reverse(order[number].at.message))
}

/// Every hash is kept as long as it fits, and as much of the subjects as fits with them.
fn commits(ledger: &Ledger, room: Room<'_>) -> Written {
    let line = |letters: usize, commit: &Commit| {
        let subject = cut(&commit.subject, letters);
        let text = match &commit.hash {
            Some(hash) if letters == 0 => hash.clone(),
            Some(hash) => format!("{hash} {subject}"),
            None => cut(&commit.subject, letters.max(24)),
        };
        bullet(&commit.at, &text)
    };
    let list = |letters: usize| ledger.commits.iter().rev().map(|commit| line(letters, commit)).collect::<Vec<_>>();
    let head = format!("{COMMITS}:");
    let left = room.beside(&format!("{head}\n")).tokens;
    let fits = |items: &[String]| items.iter().map(|item| (room.count)(item) + 1).sum::<usize>() <= left;
    let letters = [200, 72, 48, 30].into_iter().find(|&letters| fits(&list(letters))).unwrap_or(0);
    let mut items = list(letters);
    while !fits(&items) && items.pop().is_some() {}
    lines(&head, &items, letters == 200)
}

/// The last run, the failing tests, and those that failed earlier and pass now.
fn checks(ledger: &Ledger, room: Room<'_>) -> Written {
    let names: Vec<&str> = ledger.failing.iter().rev().map(|failure| failure.name.as_str()).collect();
    let at = ledger.failing.last().map(|failure| failure.at.clone()).unwrap_or_default();
    let failing = Room { tokens: room.tokens * 3 / 5, ..room }.names(&labelled(FAILING, &at), &names);
    let run = ledger.check.as_ref().map(|check| {
        let error = check.error.as_ref().filter(|_| check.verdict == Verdict::Failed);
        let error = error.map_or_else(String::new, |error| format!(": {error}"));
        let text = format!("{}: {}{error}", check.command, check.verdict.name());
        Quote { text, at: check.at.clone(), correction: false }
    });
    let written = room.beside(&failing.text).quote(CHECK, run.as_ref(), 7).and(&failing);
    let passed: Vec<&str> = ledger.passed_since.iter().rev().map(String::as_str).collect();
    let since = room.beside(&written.text).names(&format!("{PASSED}:"), &passed);
    written.and(&since)
}

fn open(ledger: &Ledger, room: Room<'_>) -> Written {
    let Some(newest) = ledger.open().max_by_key(|todo| todo.at.message) else { return Written::NOTHING };
    let begun = |todo: &Todo| if todo.progress == Progress::InProgress { BEGUN } else { "" };
    let items: Vec<String> = ledger.open().map(|todo| format!("- {}{}", todo.text, begun(todo))).collect();
    room.list(&labelled(OPEN, &newest.at), &items, |number| number)
}

pub(super) fn labelled(label: &str, at: &Pointer) -> String {
    if at.message.is_none() { format!("{label}:") } else { format!("{label} {at}:") }
}

fn bullet(at: &Pointer, text: &str) -> String {
    if at.message.is_none() { format!("- {text}") } else { format!("- {at} {text}") }
}

fn lines(head: &str, items: &[String], whole: bool) -> Written {
    let text = if items.is_empty() { String::new() } else { format!("{head}\n{}\n", items.join("\n")) };
    Written { text, whole }
}

/// An item of a list: its number, its tokens with a line break, and the fewest of them that are worth a line.
struct Item {
    number: usize,
    size: usize,
    least: usize,
}

impl Room<'_> {
    /// What is left beside `text`.
    pub(super) fn beside(self, text: &str) -> Self {
        Self { tokens: self.tokens.saturating_sub((self.count)(text)), ..self }
    }

    /// A line with one quote, which keeps `tenths` of its letters at its beginning if it is cut.
    fn quote(self, label: &str, quote: Option<&Quote>, tenths: usize) -> Written {
        let Some(quote) = quote else { return Written::NOTHING };
        let head = labelled(label, &quote.at);
        let tokens = self.tokens.saturating_sub((self.count)(&head) + 1);
        let text = (Room { tokens, ..self }).fit(&quote.text, tenths);
        let line = |text: String| Written { whole: text == quote.text, text: format!("{head} {text}\n") };
        text.map(line).unwrap_or_default()
    }

    /// `text`, cut in the middle; `None` if too little would be left.
    fn fit(self, text: &str, tenths: usize) -> Option<String> {
        let letters = text.chars().count();
        let most = self.tokens * LONGEST_TOKEN;
        let fits = |text: &str| (self.count)(text) <= self.tokens;
        if letters <= most && fits(text) {
            return Some(text.to_owned());
        }
        if self.tokens < LEAST {
            return None;
        }
        let (mut low, mut high) = (0, letters.min(most));
        while low + 1 < high {
            let middle = usize::midpoint(low, high);
            if fits(&cut_at(text, middle, tenths)) { low = middle } else { high = middle }
        }
        (low > 0).then(|| cut_at(text, low, tenths))
    }

    /// A list of those `items` of which at least the beginning fits, the long ones cut to one length, sorted by `key` of their
    /// number. Of three items with 10, 100 and 100 tokens, 60 tokens hold the first one whole and 25 of each long one.
    fn list<K: Ord>(self, head: &str, items: &[String], key: impl Fn(usize) -> K) -> Written {
        let room = self.beside(&format!("{head}\n"));
        let taken = room.take(items);
        let tokens = |item: &Item, level: usize| item.size.min(level.max(item.least));
        let sum = |level: usize| taken.iter().map(|item| tokens(item, level)).sum::<usize>();
        let level = (0..=room.tokens).rev().find(|&level| sum(level) <= room.tokens).unwrap_or(0);
        let fit = |item: &Item| {
            let tokens = tokens(item, level);
            let within = Room { tokens: tokens.saturating_sub(1), ..room };
            Some((item.number, within.fit(&items[item.number], if tokens < ROOMY { 10 } else { 7 })?))
        };
        let mut chosen: Vec<(usize, String)> = taken.iter().filter_map(fit).collect();
        let whole = chosen.len() == items.len() && chosen.iter().all(|(number, text)| items[*number] == *text);
        chosen.sort_by_key(|(number, _)| key(*number));
        lines(head, &chosen.into_iter().map(|(_, text)| text).collect::<Vec<_>>(), whole)
    }

    /// The first items, as long as at least the beginning of each fits.
    fn take(self, items: &[String]) -> Vec<Item> {
        let mut left = self.tokens;
        let mut taken = Vec::new();
        for (number, item) in items.iter().enumerate() {
            let size = (self.count)(item) + 1;
            let beginning = || (self.count)(&cut_at(item, TELLING, 10)).max(LEAST + 5) + 1;
            let least = if size <= LEAST + 6 { size } else { size.min(beginning()) };
            if least <= left {
                left -= least;
                taken.push(Item { number, size, least });
            }
            if left < LEAST {
                break;
            }
        }
        taken
    }

    /// Names behind a label, as many as fit, and the number of the others.
    fn names(self, label: &str, names: &[&str]) -> Written {
        if names.is_empty() {
            return Written::NOTHING;
        }
        // Counted one by one, names take at least as much, but for a few tokens.
        let mut sum = 0;
        let fits = |name: &&&str| {
            sum += (self.count)(name);
            sum <= self.tokens + 16
        };
        let most = names.iter().take(60).take_while(fits).count();
        for taken in (1..=most.max(1)).rev() {
            let more = if taken < names.len() { format!(", {} more", names.len() - taken) } else { String::new() };
            let text = format!("{label} {}{more}\n", names[..taken].join(", "));
            if (self.count)(&text) <= self.tokens {
                return Written { text, whole: taken == names.len() };
            }
        }
        Written::default()
    }
}
