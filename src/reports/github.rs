//! Findings as workflow commands, which GitHub shows beside the lines of a change.
//!
//! The escapes are those of the toolkit's `core.issueCommand`: `%`, CR and LF everywhere, `:` and `,` in properties too.

use std::io::{self, Write};

use super::Outcome;
use crate::checks::Level;

pub(super) fn write(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    for (file, finding) in outcome.told() {
        let command = if finding.level == Level::Deny { "error" } else { "warning" };
        let (rule, at) = (finding.rule, &finding.at);
        let answer = finding.answer.map_or_else(String::new, |answer| format!("\nThe provider answers: {answer}"));
        let words = format!("{}{answer}\nHelp: {}", finding.words, rule.help);
        writeln!(
            out,
            "::{command} file={},line={},col={},title={}::{}",
            property(outcome.file(*file)),
            at.line,
            at.column,
            property(&format!("{} {}", rule.code, rule.name)),
            data(&words),
        )?;
    }
    Ok(())
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
