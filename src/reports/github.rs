//! Findings as workflow commands: GitHub shows them beside the lines of a change.
//!
//! Control characters, which a log would obey, are shown by their codes. Escapes follow the toolkit's `core.issueCommand`: `%`, CR
//! and LF everywhere, in properties also `:` and `,`.

use std::io::{self, Write};

use super::{FileFinding, Format, Outcome};
use curtail_core::checks::Level;
use curtail_core::visible::one_line;

pub(super) const FORMAT: Format = Format {
    name: "github",
    summary: "Workflow commands: GitHub shows them beside the lines of a change",
    write,
    finding: Some(write_finding),
};

fn write(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    outcome.shown().iter().try_for_each(|finding| write_finding(outcome, finding, out))
}

fn write_finding(
    outcome: &Outcome,
    FileFinding { file, finding }: &FileFinding,
    out: &mut dyn Write,
) -> io::Result<()> {
    let command = if finding.level == Level::Deny { "error" } else { "warning" };
    let (rule, at) = (finding.rule, &finding.at);
    let answer = finding.answer.map_or_else(String::new, |answer| format!("\nThe provider answers: {answer}"));
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

fn data(text: &str) -> String {
    one_line(&text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")).into_owned()
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
