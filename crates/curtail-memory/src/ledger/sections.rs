//! The sections of a ledger as text, each within a number of tokens: what is dropped or cut first, and how a list is shortened.

use super::changes::{changed, scripts};
use super::facts::{Pointer, Progress, Quote};
use super::quotes::{cut, cut_at};
use super::{Ledger, Verdict};

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

/// A section within its tokens.
#[derive(Debug, Clone, Default)]
pub(super) struct Written {
    /// Its lines; empty if nothing fits.
    pub(super) text: String,
    /// Whether nothing was left out.
    pub(super) whole: bool,
}

impl Written {
    pub(super) const fn whole(text: String) -> Self {
        Self { text, whole: true }
    }
}

/// A section: its writer, the least percentage of the tokens that it gets before others take more, and the most.
pub(super) struct Section {
    pub(super) write: fn(&Ledger, usize, Count<'_>) -> Written,
    pub(super) least: usize,
    pub(super) most: usize,
    /// The order in which sections take more tokens. The last one is dropped first.
    pub(super) rank: usize,
}

/// The sections in the order in which they are read.
pub(super) const SECTIONS: &[Section] = &[
    Section { write: goal, least: 7, most: 14, rank: 5 },
    Section { write: asked, least: 18, most: 44, rank: 3 },
    Section { write: earlier, least: 3, most: 12, rank: 7 },
    Section { write: changed, least: 28, most: 60, rank: 6 },
    Section { write: scripts, least: 4, most: 40, rank: 8 },
    Section { write: commits, least: 8, most: 20, rank: 1 },
    Section { write: checks, least: 9, most: 20, rank: 0 },
    Section { write: open, least: 10, most: 30, rank: 2 },
    Section { write: said, least: 9, most: 15, rank: 4 },
];

fn goal(ledger: &Ledger, cap: usize, count: Count<'_>) -> Written {
    quoted(GOAL, ledger.goal.as_ref(), cap, count)
}

fn earlier(ledger: &Ledger, cap: usize, count: Count<'_>) -> Written {
    quoted(EARLIER, ledger.earlier.as_ref(), cap, count)
}

/// The last words. A question among them that nobody answered has a line of its own.
fn said(ledger: &Ledger, cap: usize, count: Count<'_>) -> Written {
    let question = quoted(UNANSWERED, ledger.question.as_ref(), cap, count);
    let left = cap.saturating_sub(count(&question.text));
    let asked = ledger.question.as_ref().map_or("", |question| question.text.as_str());
    let before = ledger.said.as_ref().map(|said| Quote {
        text: said.text.strip_suffix(asked).unwrap_or(&said.text).trim_end().to_owned(),
        ..said.clone()
    });
    let words = quoted_at(SAID, before.as_ref().filter(|said| !said.text.is_empty()), 4, left, count);
    Written { whole: question.whole && words.whole, text: question.text + &words.text }
}

/// A line with one quote.
fn quoted(label: &str, quote: Option<&Quote>, cap: usize, count: Count<'_>) -> Written {
    quoted_at(label, quote, 7, cap, count)
}

/// The same, with `tenths` of a cut quote at its beginning.
fn quoted_at(label: &str, quote: Option<&Quote>, tenths: usize, cap: usize, count: Count<'_>) -> Written {
    let Some(quote) = quote else { return Written::whole(String::new()) };
    let head = labelled(label, &quote.at);
    let Some((text, whole)) = fitted(&quote.text, tenths, cap.saturating_sub(count(&head) + 1), count) else {
        return Written::default();
    };
    Written { text: format!("{head} {text}\n"), whole }
}

pub(super) fn labelled(label: &str, at: &Pointer) -> String {
    if at.message.is_none() { format!("{label}:") } else { format!("{label} {at}:") }
}

/// `text`, cut in the middle to `cap` tokens, and whether it is whole; `None` if too little would be left.
fn fitted(text: &str, tenths: usize, cap: usize, count: Count<'_>) -> Option<(String, bool)> {
    let letters = text.chars().count();
    let most = cap * LONGEST_TOKEN;
    if letters <= most && count(text) <= cap {
        return Some((text.to_owned(), true));
    }
    if cap < LEAST {
        return None;
    }
    let (mut low, mut high) = (0, letters.min(most));
    while low + 1 < high {
        let letters = usize::midpoint(low, high);
        if count(&cut_at(text, letters, tenths)) <= cap { low = letters } else { high = letters }
    }
    (low > 0).then(|| (cut_at(text, low, tenths), false))
}

/// Items of a list within `cap` tokens: those of which at least the beginning fits, the long ones cut to one length. Gives the
/// number and the text of each. Of three items with 10, 100 and 100 tokens, 60 tokens hold the first one whole and 25 of each
/// long one.
fn levelled(items: &[String], cap: usize, count: Count<'_>) -> Vec<(usize, String)> {
    let mut taken: Vec<(usize, usize, usize)> = Vec::new();
    let mut room = cap;
    for (at, item) in items.iter().enumerate() {
        let size = count(item) + 1;
        let least = if size <= LEAST + 6 { size } else { count(&cut_at(item, TELLING, 10)).max(LEAST + 5) + 1 };
        let least = least.min(size);
        if least <= room {
            room -= least;
            taken.push((at, size, least));
        }
        if room < LEAST {
            break;
        }
    }
    let tokens = |&(_, size, least): &(usize, usize, usize), level: usize| size.min(level.max(least));
    let fits = |level: usize| taken.iter().map(|item| tokens(item, level)).sum::<usize>() <= cap;
    let level = (0..=cap).rev().find(|&level| fits(level)).unwrap_or(0);
    let fit = |item: &(usize, usize, usize)| {
        let tokens = tokens(item, level);
        let (text, _) = fitted(&items[item.0], if tokens < ROOMY { 10 } else { 7 }, tokens.saturating_sub(1), count)?;
        Some((item.0, text))
    };
    taken.iter().filter_map(fit).collect()
}

/// Corrections first, then the newest; written newest first.
fn asked(ledger: &Ledger, cap: usize, count: Count<'_>) -> Written {
    if ledger.asked.is_empty() {
        return Written::whole(String::new());
    }
    let mut order: Vec<&Quote> = ledger.asked.iter().rev().collect();
    order.sort_by_key(|quote| !quote.correction);
    let items: Vec<String> = order.iter().map(|quote| bullet(&quote.at, &quote.text)).collect();
    let head = format!("{ASKED}:\n");
    let mut chosen = levelled(&items, cap.saturating_sub(count(&head)), count);
    let whole = chosen.len() == items.len() && chosen.iter().all(|(at, text)| items[*at] == *text);
    chosen.sort_by_key(|(at, _)| std::cmp::Reverse(order[*at].at.message));
    listed(head, chosen.into_iter().map(|(_, text)| text), whole)
}

fn bullet(at: &Pointer, text: &str) -> String {
    if at.message.is_none() { format!("- {text}") } else { format!("- {at} {text}") }
}

fn listed(head: String, items: impl Iterator<Item = String>, whole: bool) -> Written {
    let lines: String = items.flat_map(|item| [item, String::from("\n")]).collect();
    if lines.is_empty() { Written::default() } else { Written { text: head + &lines, whole } }
}

/// Every hash is kept as long as it fits, and as much of the subjects as fits with them.
fn commits(ledger: &Ledger, cap: usize, count: Count<'_>) -> Written {
    if ledger.commits.is_empty() {
        return Written::whole(String::new());
    }
    let head = format!("{COMMITS}:\n");
    let line = |letters: usize, commit: &super::Commit| {
        let subject = cut(&commit.subject, letters);
        let text = match &commit.hash {
            Some(hash) if letters == 0 => hash.clone(),
            Some(hash) => format!("{hash} {subject}"),
            None => cut(&commit.subject, letters.max(24)),
        };
        bullet(&commit.at, &text)
    };
    let list = |letters: usize| ledger.commits.iter().rev().map(|commit| line(letters, commit)).collect::<Vec<_>>();
    let room = cap.saturating_sub(count(&head));
    let size = |items: &[String]| items.iter().map(|item| count(item) + 1).sum::<usize>();
    for letters in [200, 72, 48, 30, 0] {
        let items = list(letters);
        if size(&items) <= room {
            return listed(head, items.into_iter(), letters == 200);
        }
    }
    let mut items = list(0);
    while size(&items) > room && items.pop().is_some() {}
    listed(head, items.into_iter(), false)
}

/// The last run, the failing tests, and those that failed earlier and pass now.
fn checks(ledger: &Ledger, cap: usize, count: Count<'_>) -> Written {
    let failing: Vec<String> = ledger.failing.iter().rev().map(|failure| failure.name.clone()).collect();
    let passed: Vec<String> = ledger.passed_since.iter().rev().cloned().collect();
    let at = ledger.failing.last().map(|failure| failure.at.clone()).unwrap_or_default();
    let mut written = names(&labelled(FAILING, &at), &failing, cap * 3 / 5, count);
    if let Some(check) = &ledger.check {
        let error = check.error.as_ref().filter(|_| check.verdict == Verdict::Failed);
        let error = error.map_or_else(String::new, |error| format!(": {error}"));
        let text = format!("{}: {}{error}", check.command, check.verdict.name());
        let run = Quote { text, at: check.at.clone(), correction: false };
        let line = quoted(CHECK, Some(&run), cap.saturating_sub(count(&written.text)), count);
        written = Written { text: line.text + &written.text, whole: line.whole && written.whole };
    }
    let since = names(&format!("{PASSED}:"), &passed, cap.saturating_sub(count(&written.text)), count);
    Written { text: written.text + &since.text, whole: written.whole && since.whole }
}

/// Names behind a label, as many as fit, and the number of the others.
fn names(label: &str, names: &[String], cap: usize, count: Count<'_>) -> Written {
    if names.is_empty() {
        return Written::whole(String::new());
    }
    // Counted one by one, names take at least as much, but for a few tokens.
    let mut sum = 0;
    let fits = |name: &&String| {
        sum += count(name);
        sum <= cap + 16
    };
    let most = names.iter().take(60).take_while(fits).count();
    for taken in (1..=most.max(1)).rev() {
        let more = if taken < names.len() { format!(", {} more", names.len() - taken) } else { String::new() };
        let text = format!("{label} {}{more}\n", names[..taken].join(", "));
        if count(&text) <= cap {
            return Written { text, whole: taken == names.len() };
        }
    }
    Written::default()
}

fn open(ledger: &Ledger, cap: usize, count: Count<'_>) -> Written {
    let Some(newest) = ledger.open().max_by_key(|todo| todo.at.message) else { return Written::whole(String::new()) };
    let text = |todo: &super::Todo| {
        let begun = if todo.progress == Progress::InProgress { BEGUN } else { "" };
        format!("- {}{begun}", todo.text)
    };
    let items: Vec<String> = ledger.open().map(text).collect();
    let head = labelled(OPEN, &newest.at) + "\n";
    let chosen = levelled(&items, cap.saturating_sub(count(&head)), count);
    let whole = chosen.len() == items.len() && chosen.iter().all(|(at, text)| items[*at] == *text);
    listed(head, chosen.into_iter().map(|(_, text)| text), whole)
}
