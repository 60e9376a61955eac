//! The facts, read back from the text of a summary, for a transcript that no longer contains the summarized messages. Facts that
//! the text left out are lost. Pointers stay valid, because the numbers of later messages continue.

use super::changed_files::OUTSIDE;
use super::kinds::is_hash;
use super::room::{BELOW, DELETED, SHORT};
use super::sections::{
    ASKED, BEGUN, CHANGED, CHECK, COMMITS, EARLIER, FAILING, GOAL, OPEN, PASSED, SAID, SCRIPTS, UNANSWERED,
};
use super::text::HEAD;
use super::writers::corrects;
use super::{Change, Check, Commit, Facts, FailedTest, Pointer, Progress, Quote, Todo, Verdict};

impl Facts {
    /// The facts at the beginning of `text`, which [`Facts::text`] wrote; empty if it did not.
    pub fn from_text(text: &str) -> Self {
        let mut facts = Self::default();
        let mut list = None;
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix(HEAD) {
                let digits = rest.split(';').next().unwrap_or_default();
                facts.messages = digits.parse().map_or(0, |last: usize| last + 1);
                facts.calls = 1;
            } else if let Some(item) = line.strip_prefix("- ").filter(|_| list.is_some()) {
                facts.recall_item(list.unwrap_or_default(), item);
            } else if let Some(label) = facts.recall_line(line) {
                facts.calls = facts.calls.max(usize::from(label != GOAL));
                list = Some(label);
            } else {
                break;
            }
        }
        // The oldest come first in the facts, and last in its text.
        facts.asked.reverse();
        facts.commits.reverse();
        facts
    }

    /// Reads a line with a label; `None` if it has none.
    fn recall_line(&mut self, line: &str) -> Option<&'static str> {
        let mut labelled = LABELS.iter().filter_map(|label| Some((*label, line.strip_prefix(label)?)));
        let (label, rest) = labelled.find(|(_, rest)| rest.starts_with([':', ' ']))?;
        let (root, rest) = root_and_rest(rest.trim_start());
        let (at, rest) = pointer(rest);
        let text = rest.strip_prefix(':')?.trim();
        let quote = Quote { text: text.to_owned(), at: at.clone(), correction: false };
        match label {
            GOAL => self.goal = Some(quote),
            EARLIER => self.earlier = Some(quote),
            SAID => self.said = Some(quote),
            UNANSWERED => self.question = Some(quote),
            CHANGED => self.changed.extend(listed_changes(text, root, &at)),
            SCRIPTS => {
                let scripts = listed_changes(text, root, &at);
                let scripts: Vec<_> = scripts.map(|change| Change { whole: true, ran: true, ..change }).collect();
                self.changed.splice(0..0, scripts);
            }
            CHECK => self.check = written_check(text, &at),
            FAILING => {
                let names = oldest_first(text);
                let failing = names.map(|name| FailedTest { name, at: at.clone(), ..FailedTest::default() });
                self.failing = failing.collect();
            }
            PASSED => self.passed_since = oldest_first(text).collect(),
            OPEN => self.todos = vec![Todo { at: at.clone(), ..Todo::default() }],
            _ => {}
        }
        Some(label)
    }

    /// Reads an item of the list under `label`.
    fn recall_item(&mut self, label: &str, item: &str) {
        let (at, text) = pointer(item);
        match label {
            ASKED => {
                self.asked.push(Quote { text: text.to_owned(), at, correction: corrects(text) });
            }
            COMMITS => {
                let hash = text.split(' ').next().filter(|word| is_hash(word));
                let subject = hash.map_or(text, |hash| text[hash.len()..].trim_start());
                self.commits.push(Commit { hash: hash.map(str::to_owned), subject: subject.to_owned(), at });
            }
            OPEN => {
                let listed = self.todos.last().map(|todo| todo.at.clone()).unwrap_or_default();
                self.todos.retain(|todo| !todo.text.is_empty());
                let begun = text.strip_suffix(BEGUN);
                let progress = if begun.is_some() { Progress::InProgress } else { Progress::Pending };
                self.todos.push(Todo { key: None, text: begun.unwrap_or(text).to_owned(), progress, at: listed });
            }
            _ => {}
        }
    }
}

/// Labels of the sections that are read again.
const LABELS: &[&str] =
    &[GOAL, ASKED, CHANGED, SCRIPTS, COMMITS, CHECK, FAILING, PASSED, OPEN, UNANSWERED, EARLIER, SAID];

/// The folder of `below FOLDER [m7]: …`, and the text after it.
fn root_and_rest(text: &str) -> (&str, &str) {
    let Some(after) = text.strip_prefix(BELOW).map(str::trim_start) else { return ("", text) };
    let end = [" [m", ": "].iter().filter_map(|mark| after.find(mark)).min().unwrap_or(after.len());
    (&after[..end], after[end..].trim_start())
}

/// The pointer at the beginning of a text, and the text after it.
fn pointer(text: &str) -> (Pointer, &str) {
    let found = text.strip_prefix("[m").and_then(|rest| rest.split_once(']'));
    match found.and_then(|(number, rest)| Some((number.parse::<usize>().ok()?, rest))) {
        Some((number, rest)) => (Pointer::from(number), rest.trim_start()),
        None => (Pointer::default(), text),
    }
}

/// The names in a list, which begins with the newest.
fn oldest_first(list: &str) -> impl Iterator<Item = String> {
    entries(list).into_iter().rev().map(|entry| name_in(entry).to_owned())
}

/// The entries of a list, without the number of those left out: `3 more`.
fn entries(list: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = list;
    while !rest.is_empty() {
        // A name with a comma stands between backticks.
        let name = rest.strip_prefix('`').and_then(|name| name.find('`')).map_or(0, |length| length + 2);
        let end = rest[name..].find(", ").map_or(rest.len(), |length| name + length);
        found.push(&rest[..end]);
        rest = rest.get(end + 2..).unwrap_or_default();
    }
    found.retain(|entry| entry.strip_suffix(" more").is_none_or(|count| count.parse::<usize>().is_err()));
    found
}

/// The name that [`as_entry`](super::room::as_entry) wrote.
fn name_in(entry: &str) -> &str {
    let inside = entry.strip_prefix('`').and_then(|entry| entry.strip_suffix('`'));
    inside.filter(|name| name.contains(", ")).unwrap_or(entry)
}

/// The changed files in a list, whose last change is at `at`.
fn listed_changes(list: &str, root: &str, at: &Pointer) -> impl Iterator<Item = Change> {
    entries(list).into_iter().map(move |entry| listed_change(entry, root, at))
}

/// The changed file in an entry such as `a.rs (deleted) ×2 [m7]`.
fn listed_change(entry: &str, root: &str, at: &Pointer) -> Change {
    let (entry, own_pointer) = entry
        .rfind(" [m")
        .map_or((entry, Pointer::default()), |found| (&entry[..found], pointer(&entry[found + 1..]).0));
    let at = if own_pointer.message.is_none() { at.clone() } else { own_pointer };
    let (entry, times) =
        entry.split_once(" ×").map_or((entry, 1), |(entry, times)| (entry, times.parse().unwrap_or(1)));
    let path = entry.strip_suffix(DELETED);
    let deleted = path.is_some();
    let path = name_in(path.unwrap_or(entry));
    let not_below_root = path.strip_prefix(SHORT).or_else(|| path.strip_prefix(OUTSIDE));
    let path = not_below_root.map_or_else(|| format!("{root}{path}"), str::to_owned);
    Change { path, times, at, deleted, ..Change::default() }
}

/// The check in a text such as `cargo test: failed: error`.
fn written_check(text: &str, at: &Pointer) -> Option<Check> {
    let verdicts = [Verdict::Passed, Verdict::Failed, Verdict::Unknown].into_iter();
    let checks = verdicts.filter_map(|verdict| {
        let mark = format!(": {}", verdict.name());
        let (command, rest) = text.split_once(&mark)?;
        let error = rest.strip_prefix(": ").map(str::to_owned);
        Some(Check { command: command.to_owned(), verdict, error, at: at.clone() })
    });
    // What stands behind a verdict may be another one.
    checks.min_by_key(|check| check.command.len())
}

#[cfg(test)]
mod tests {
    use super::{Pointer, Verdict, entries, name_in, written_check};
    use crate::room::as_entry;

    #[test]
    fn names_with_commas_are_whole() {
        let names = ["a::b", "testAdds with data set #0 (1, 2)", "`c` works", "d, e.rs"];
        let list: Vec<_> = names.iter().map(|name| as_entry(name)).collect();
        let list = list.join(", ") + ", 3 more";
        assert_eq!(entries(&list).into_iter().map(name_in).collect::<Vec<_>>(), names, "{list}");
        assert_eq!(entries("`d, e.rs` (deleted) ×2 [m7], f.rs"), ["`d, e.rs` (deleted) ×2 [m7]", "f.rs"]);
    }

    #[test]
    fn the_first_verdict_is_that_of_the_check() {
        let text = "make check: failed: lint: passed; types: 3 missing annotations";
        let check = written_check(text, &Pointer::default()).unwrap();
        assert_eq!((check.command.as_str(), check.verdict), ("make check", Verdict::Failed));
        assert_eq!(check.error.as_deref(), Some("lint: passed; types: 3 missing annotations"));
    }
}
