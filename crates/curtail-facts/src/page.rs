//! The facts as a page in Markdown, for the session that continues the work.

use std::fmt::Write as _;

use super::sections::outcome;
use super::{Change, Facts, Progress, Quote};

impl Facts {
    /// The page: a section for each kind of fact, and `notes` at its end. Sections without facts are left out.
    pub fn handoff(&self, notes: &str) -> String {
        let mut page = String::from("# Handoff\n\n");
        let messages = self.messages;
        // Writing to a string cannot fail.
        let _ =
            writeln!(page, "From {messages} messages. `[m7]` is message 7; `curtail show --message 7 FILE` prints it.");
        section(&mut page, "Goal", self.goal.iter().map(quote_line));
        section(&mut page, "Asked since, newest first", self.asked.iter().rev().map(quote_line));
        let newest = self.changed.iter().rev();
        section(&mut page, "Changed files", newest.clone().filter(|change| !change.is_script()).map(change_line));
        section(&mut page, "Scripts written and run", newest.filter(|change| change.is_script()).map(change_line));
        let commits = self.commits.iter().rev().map(|commit| {
            let hash = commit.hash.as_ref().map_or_else(String::new, |hash| format!("`{hash}` "));
            format!("{hash}{} {}", commit.subject, commit.at)
        });
        section(&mut page, "Commits, newest first", commits);
        section(&mut page, "Checks", self.checks());
        let open = self.open().map(|todo| {
            let begun = if todo.progress == Progress::InProgress { "in progress: " } else { "" };
            format!("[ ] {begun}{} {}", todo.text, todo.at)
        });
        let unanswered = self.question.iter().map(|question| format!("unanswered: {}", quote_line(question)));
        section(&mut page, "Open", open.chain(unanswered));
        section(&mut page, "Said last", self.said.iter().map(quote_line));
        section(&mut page, "Earlier summary", self.earlier.iter().map(quote_line));
        if !notes.trim().is_empty() {
            let _ = writeln!(page, "\n## Notes\n\n{}", notes.trim());
        }
        page
    }

    /// The last check, the failing tests, and those that pass again.
    fn checks(&self) -> impl Iterator<Item = String> {
        let last = self.check.iter().map(|check| format!("`{}` {} {}", check.command, outcome(check), check.at));
        let failing = self.failing.iter().rev().map(|failure| format!("fails: {} {}", failure.name, failure.at));
        let passed = self.passed_since.iter().rev().map(|name| format!("passed since: {name}"));
        last.chain(failing).chain(passed)
    }
}

fn quote_line(quote: &Quote) -> String {
    format!("{} {}", quote.text, quote.at).trim_end().to_owned()
}

fn change_line(change: &Change) -> String {
    let deleted = if change.deleted { ", deleted" } else { "" };
    let times = if change.times > 1 { format!(", {} times", change.times) } else { String::new() };
    let committed = if change.committed { ", committed" } else { "" };
    format!("`{}`{deleted}{times}{committed} {}", change.path, change.at).trim_end().to_owned()
}

fn section(page: &mut String, title: &str, items: impl Iterator<Item = String>) {
    let items: Vec<String> = items.map(|item| format!("- {item}\n")).collect();
    if !items.is_empty() {
        let _ = write!(page, "\n## {title}\n\n{}", items.concat());
    }
}
