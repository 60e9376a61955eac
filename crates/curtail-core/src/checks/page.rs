//! The page of a rule, in Markdown.

use std::fmt::Write as _;

use super::constraints::Constraint;
use super::rule::{Fix, Rule};
use crate::dialects;

impl Rule {
    /// The rule's page in Markdown: `docs/rules/` contains it and `curtail rule` prints it.
    #[must_use]
    pub fn page(&self) -> String {
        let mut page = format!("# {} ({})\n\n{}\n\n", self.name, self.code, self.summary);
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "Level: {} by default. Group: {}. Fixed by {}.\n\n{}\n",
            self.level.name(),
            self.group().name(),
            self.fixed_by(),
            self.why
        );
        let _ = writeln!(page, "Help: {}.\n", self.help);
        if self.is_fixed() {
            let only_read = dialects::ALL.iter().filter(|dialect| dialect.writer().is_none());
            let names: Vec<String> = only_read.map(|dialect| format!("`{}`", dialect.name())).collect();
            if let Some((last, others)) = names.split_last() {
                let others = others.join(", ");
                let _ = writeln!(page, "`--fix` does not write {others} and {last}, which are read-only.\n");
            }
        }
        let answers = self.answers();
        if !answers.is_empty() {
            let _ =
                writeln!(page, "## What providers answer\n\n| provider | answer |\n|---|---|\n{}", answers.concat());
        }
        let flags = if self.flags.is_empty() { String::new() } else { format!(" {}", self.flags) };
        let _ =
            write!(page, "## Bad\n\n`curtail check{flags}` reports this transcript:\n\n```jsonl\n{}```\n\n", self.bad);
        let _ = write!(page, "## Good\n\n```jsonl\n{}```\n", self.good);
        page
    }

    /// The rows of a table of what providers answer, each once. What no provider was seen to answer is called inferred.
    fn answers(&self) -> Vec<String> {
        let mut rows = Vec::new();
        for Constraint { provider, words, how, .. } in self.constraints() {
            let inferred = if *how == "inferred" { " (inferred)" } else { "" };
            let row = format!("| {provider}{inferred} | {} |\n", words.replace('|', "\\|").replace('<', "&lt;"));
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
        rows
    }

    /// What fixes it, as its page says.
    const fn fixed_by(&self) -> &'static str {
        match self.fix {
            Fix::No => "hand",
            Fix::Pairs(_) | Fix::Part => "`check --fix`",
            Fix::Unsafe => "`check --fix --unsafe-fixes`",
        }
    }
}
