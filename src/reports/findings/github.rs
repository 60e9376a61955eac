//! Workflow commands of GitHub, which shows them beside the lines of a change.

use std::io::{self, Write};

use super::{CheckOutcome, FileFinding, Format, NOT_CHECKED, answer, in_repository};
use curtail_core::checks::Level;
use curtail_core::numbers::counted;
use curtail_core::visible::one_line;
use curtail_io::FileError;

/// Workflow commands of GitHub.
///
/// Control characters, which a log would obey, are shown by their codes. Escapes follow the toolkit's `core.issueCommand`: `%`, CR
/// and LF everywhere, in properties also `:` and `,`.
pub(super) const GITHUB: Format = Format {
    name: "github",
    summary: "Workflow commands: GitHub shows them beside the lines of a change",
    write: write_rest,
    found: Some(write_commands),
};

/// Writes the commands that are left, and how many findings `--max-findings` held back.
fn write_rest(outcome: &CheckOutcome, out: &mut dyn Write) -> io::Result<()> {
    write_commands(outcome, out)?;
    match outcome.hidden() {
        hidden if hidden > 0 => {
            writeln!(out, "::notice::{} not shown (--max-findings)", counted(hidden, "more finding"))
        }
        _ => Ok(()),
    }
}

fn write_commands(outcome: &CheckOutcome, out: &mut dyn Write) -> io::Result<()> {
    outcome.shown().iter().try_for_each(|finding| write_finding(outcome, finding, out))?;
    outcome.shown_errors().iter().try_for_each(|error| write_error(error, out))
}

fn write_finding(
    outcome: &CheckOutcome,
    FileFinding { file, finding }: &FileFinding,
    out: &mut dyn Write,
) -> io::Result<()> {
    let command = if finding.level == Level::Deny { "error" } else { "warning" };
    let rule = finding.rule;
    let at = &finding.at;
    let answer = answer(finding, "\nThe provider answers: ", "");
    let text = format!("{}{answer}\nHelp: {}", finding.message, finding.help);
    writeln!(
        out,
        "::{command} file={},line={},col={},title={}::{}",
        property(in_repository(outcome.file(*file))),
        at.line,
        at.column,
        property(&format!("{} {}", rule.code, rule.name)),
        data(&text),
    )
}

fn write_error(error: &FileError, out: &mut dyn Write) -> io::Result<()> {
    let file = property(in_repository(&error.name));
    let place = error.place.map_or_else(String::new, |at| format!(",line={},col={}", at.line, at.column));
    writeln!(out, "::error file={file}{place},title={NOT_CHECKED}::{}", data(&error.what))
}

pub(crate) fn data(text: &str) -> String {
    one_line(&text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")).into_owned()
}

pub(crate) fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
