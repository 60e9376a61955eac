//! A rule's page in Markdown, generated from the rule.

use std::fmt::Write as _;

use super::Rule;
use crate::dialects::ALL;

impl Rule {
    /// Whether the help says what `--fix` does.
    pub(super) fn names_fix(&self) -> bool {
        self.help.contains("--fix")
    }

    /// The rule's page in Markdown: `docs/rules/` holds it and `curtail rule` prints it.
    #[doc(hidden)]
    #[must_use]
    pub fn page(&self) -> String {
        let mut page = format!("# {} ({})\n\n{}\n\n", self.name, self.code, self.summary);
        // Writing to a string cannot fail.
        let _ =
            writeln!(page, "Level: {} by default. Group: {}.\n\n{}\n", self.level.name(), self.group.name(), self.why);
        let _ = writeln!(page, "Help: {}.\n", self.help);
        if self.names_fix() {
            let only_read = ALL.iter().filter(|dialect| !dialect.is_writable());
            let names: Vec<String> = only_read.map(|dialect| format!("`{}`", dialect.name())).collect();
            let _ = writeln!(page, "`--fix` does not write {}, which are read-only.\n", names.join(" and "));
        }
        if !self.answers.is_empty() {
            page.push_str("## What providers answer\n\n| provider | answer |\n|---|---|\n");
            for (provider, answer) in self.answers {
                let _ = writeln!(page, "| {provider} | {} |", answer.replace('|', "\\|"));
            }
            page.push('\n');
        }
        let flags = if self.flags.is_empty() { String::new() } else { format!(" {}", self.flags) };
        let _ =
            write!(page, "## Bad\n\n`curtail check{flags}` reports this transcript:\n\n```jsonl\n{}```\n\n", self.bad);
        let _ = write!(page, "## Good\n\n```jsonl\n{}```\n", self.good);
        page
    }
}
