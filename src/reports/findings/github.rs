//! Workflow commands of GitHub, which shows them beside the lines of a change.

use std::io::{self, Write};

use super::{CheckOutcome, FileFinding, Format, answer};
use curtail_core::checks::Level;
use curtail_core::visible::one_line;
use curtail_io::FileError;

/// Workflow commands of GitHub.
///
/// Control characters, which a log would obey, are shown by their codes. Escapes follow the toolkit's `core.issueCommand`: `%`, CR
/// and LF everywhere, in properties also `:` and `,`.
pub(super) const GITHUB: Format = Format {
    name: "github",
    summary: "Workflow commands: GitHub shows them beside the lines of a change",
    write: |outcome, out| outcome.shown().iter().try_for_each(|finding| write_command(outcome, finding, out)),
    finding: Some(write_command),
};

fn write_command(
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
        property(outcome.file(*file)),
        at.line,
        at.column,
        property(&format!("{} {}", rule.code, rule.name)),
        data(&text),
    )
}

/// The command for an error at a place in a file.
pub(super) fn error_line(error: &FileError) -> Option<String> {
    let place = error.place?;
    let file = property(&error.name);
    Some(format!("::error file={file},line={},col={}::{}\n", place.line, place.column, data(&error.what)))
}

pub(crate) fn data(text: &str) -> String {
    one_line(&text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")).into_owned()
}

pub(crate) fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
