//! The sections of facts as text. A short writer for each section decides what the section contains and what is dropped first; a
//! [`Room`] fits it into a number of tokens.

use super::changed_files::file_list;
use super::quotes::cut;
use super::room::{Room, Written, bullet, labelled, lines};
use super::{Check, Facts, Progress, Quote, Verdict};

/// Labels of the sections, by which they are recognized when they are read back.
pub(super) const GOAL: &str = "Goal";
pub(super) const ASKED: &str = "Asked, newest first";
pub(super) const CHANGED: &str = "Changed";
pub(super) const SCRIPTS: &str = "Written and run";
pub(super) const COMMITS: &str = "Commits, newest first";
pub(super) const CHECK: &str = "Last check";
pub(super) const FAILING: &str = "Failing";
pub(super) const PASSED: &str = "Passed since";
pub(super) const OPEN: &str = "Open";
pub(super) const UNANSWERED: &str = "Unanswered";
pub(super) const EARLIER: &str = "Earlier summary";
pub(super) const SAID: &str = "Said last";

/// Marks an item in progress.
pub(super) const BEGUN: &str = " (in progress)";

/// A section of the text.
pub(super) struct Section {
    pub(super) write: fn(&Facts, Room<'_>) -> Written,
    /// The share of the tokens that it gets before others get more, in percent.
    pub(super) least: usize,
    /// The largest share of the tokens that it may get, in percent.
    pub(super) most: usize,
    /// The order in which sections get more tokens; the section with the highest rank is dropped first.
    pub(super) rank: usize,
}

/// The sections in the order in which they are read.
pub(super) const SECTIONS: &[Section] = &[
    Section { write: |facts, room| room.quote(GOAL, facts.goal.as_ref(), 7), least: 7, most: 14, rank: 5 },
    Section { write: asked, least: 18, most: 44, rank: 3 },
    Section { write: |facts, room| room.quote(EARLIER, facts.earlier.as_ref(), 7), least: 3, most: 12, rank: 7 },
    Section { write: |facts, room| file_list(CHANGED, facts, false, room), least: 28, most: 60, rank: 6 },
    Section { write: |facts, room| file_list(SCRIPTS, facts, true, room), least: 4, most: 40, rank: 8 },
    Section { write: commits, least: 8, most: 20, rank: 1 },
    Section { write: checks, least: 9, most: 20, rank: 0 },
    Section { write: open, least: 10, most: 30, rank: 2 },
    Section { write: last_reply, least: 9, most: 15, rank: 4 },
];

/// The assistant's last text. If it ends with an unanswered question, the question gets a line of its own.
fn last_reply(facts: &Facts, room: Room<'_>) -> Written {
    let question = room.quote(UNANSWERED, facts.question.as_ref(), 7);
    let asked = facts.question.as_ref().map_or("", |question| question.text.as_str());
    let before = facts.said.as_ref().map(|last_reply| Quote {
        text: last_reply.text.strip_suffix(asked).unwrap_or(&last_reply.text).trim_end().to_owned(),
        ..last_reply.clone()
    });
    let last =
        room.without(&question.text).quote(SAID, before.as_ref().filter(|last_reply| !last_reply.text.is_empty()), 4);
    question.and(&last)
}

/// The user's further messages. Corrections get tokens first, then the newest messages; the list is written newest first.
fn asked(facts: &Facts, room: Room<'_>) -> Written {
    let mut order: Vec<&Quote> = facts.asked.iter().rev().collect();
    order.sort_by_key(|quote| !quote.correction);
    let items: Vec<String> = order.iter().map(|quote| bullet(&quote.at, &quote.text)).collect();
    room.list(&format!("{ASKED}:"), &items, |number| std::cmp::Reverse(order[number].at.message))
}

/// The commits. As many hashes as fit are kept, with as much of the subjects as fits beside them.
fn commits(facts: &Facts, room: Room<'_>) -> Written {
    let head = format!("{COMMITS}:");
    let left = room.without(&format!("{head}\n")).tokens;
    let fits = |items: &[String]| items.iter().map(|item| (room.count)(item) + 1).sum::<usize>() <= left;
    let letters = [200, 72, 48, 30].into_iter().find(|&letters| fits(&commit_lines(facts, letters))).unwrap_or(0);
    let mut items = commit_lines(facts, letters);
    while !fits(&items) && items.pop().is_some() {}
    lines(&head, &items, letters == 200)
}

/// A line for each commit, the newest first, with `letters` of its subject.
fn commit_lines(facts: &Facts, letters: usize) -> Vec<String> {
    let lines = facts.commits.iter().rev().map(|commit| {
        let text = match &commit.hash {
            Some(hash) if letters == 0 => hash.clone(),
            Some(hash) => format!("{hash} {}", cut(&commit.subject, letters)),
            None => cut(&commit.subject, letters.max(24)),
        };
        bullet(&commit.at, &text)
    });
    lines.collect()
}

/// The last check, the failing tests, and those that passed since.
fn checks(facts: &Facts, room: Room<'_>) -> Written {
    let names: Vec<&str> = facts.failing.iter().rev().map(|failure| failure.name.as_str()).collect();
    let at = facts.failing.last().map(|failure| failure.at.clone()).unwrap_or_default();
    let failing = Room { tokens: room.tokens * 3 / 5, ..room }.names(&labelled(FAILING, &at), &names);
    let run = facts.check.as_ref().map(|check| {
        let text = format!("{}: {}", check.command, outcome(check));
        Quote { text, at: check.at.clone(), correction: false }
    });
    let written = room.without(&failing.text).quote(CHECK, run.as_ref(), 7).and(&failing);
    let passed: Vec<&str> = facts.passed_since.iter().rev().map(String::as_str).collect();
    let since = room.without(&written.text).names(&format!("{PASSED}:"), &passed);
    written.and(&since)
}

/// The verdict of a check, and why it failed.
pub(super) fn outcome(check: &Check) -> String {
    match &check.error {
        Some(error) if check.verdict == Verdict::Failed => format!("{}: {error}", check.verdict.name()),
        _ => check.verdict.name().to_owned(),
    }
}

/// The open items of the to-do list.
fn open(facts: &Facts, room: Room<'_>) -> Written {
    let Some(newest) = facts.open().max_by_key(|todo| todo.at.message) else { return Written::EMPTY };
    let items = facts.open().map(|todo| {
        let begun = if todo.progress == Progress::InProgress { BEGUN } else { "" };
        format!("- {}{begun}", todo.text)
    });
    let items: Vec<String> = items.collect();
    room.list(&labelled(OPEN, &newest.at), &items, |number| number)
}
