//! Writes a ledger as a page in Markdown, for the session that continues the work.

use std::fmt::Write as _;

use super::{Change, Check, Ledger, Progress, Quote, Verdict};

impl Ledger {
    /// The page: a section for each kind of fact, and `notes` at its end. Sections without facts are left out.
    #[must_use]
    pub fn handoff(&self, notes: &str) -> String {
        let mut page = String::from("# Handoff\n\n");
        let messages = self.messages;
        // Writing to a string cannot fail.
        let _ =
            writeln!(page, "From {messages} messages. `[m7]` is message 7; `curtail show --message 7 FILE` prints it.");
        let quote = |quote: &Option<Quote>| quote.iter().map(quote_line).collect::<Vec<_>>();
        section(&mut page, "Goal", &quote(&self.goal));
        section(&mut page, "Asked since, newest first", &self.asked.iter().rev().map(quote_line).collect::<Vec<_>>());
        let (scripts, files): (Vec<&Change>, Vec<&Change>) =
            self.changed.iter().rev().partition(|change| change.is_script());
        section(&mut page, "Changed files", &files.into_iter().map(change_line).collect::<Vec<_>>());
        section(&mut page, "Scripts written and run", &scripts.into_iter().map(change_line).collect::<Vec<_>>());
        let commits = self.commits.iter().rev().map(|commit| {
            let hash = commit.hash.as_ref().map_or_else(String::new, |hash| format!("`{hash}` "));
            format!("{hash}{} {}", commit.subject, commit.at)
        });
        section(&mut page, "Commits, newest first", &commits.collect::<Vec<_>>());
        section(&mut page, "Checks", &self.checks());
        let open = self.open().map(|todo| {
            let begun = if todo.progress == Progress::InProgress { "in progress: " } else { "" };
            format!("[ ] {begun}{} {}", todo.text, todo.at)
        });
        let mut open: Vec<String> = open.collect();
        open.extend(self.question.iter().map(|question| format!("unanswered: {}", quote_line(question))));
        section(&mut page, "Open", &open);
        section(&mut page, "Said last", &quote(&self.said));
        section(&mut page, "Earlier summary", &quote(&self.earlier));
        if !notes.trim().is_empty() {
            let _ = writeln!(page, "\n## Notes\n\n{}", notes.trim());
        }
        page
    }

    /// The last check, the failing tests, and those that pass again.
    fn checks(&self) -> Vec<String> {
        let last = self.check.iter().map(|Check { command, verdict, error, at }| {
            let error = error.as_ref().filter(|_| *verdict == Verdict::Failed);
            let error = error.map_or_else(String::new, |error| format!(": {error}"));
            format!("`{command}` {}{error} {at}", verdict.name())
        });
        let failing = self.failing.iter().rev().map(|failure| format!("fails: {} {}", failure.name, failure.at));
        let passed = self.passed_since.iter().rev().map(|name| format!("passed since: {name}"));
        last.chain(failing).chain(passed).collect()
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

fn section(page: &mut String, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    page.push_str("\n## ");
    page.push_str(title);
    page.push_str("\n\n");
    for item in items {
        page.push_str("- ");
        page.push_str(item);
        page.push('\n');
    }
}
