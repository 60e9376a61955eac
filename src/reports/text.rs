//! Findings for people: what is wrong, an excerpt of the line, and what to do.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::{Count, FileFinding, Format, Outcome};
use curtail_core::checks::{Finding, Level};
use curtail_core::visible::{one_line, printed};

pub(super) const FORMAT: Format = Format { name: "text", summary: "For people", write, finding: Some(write_finding) };

/// The styles of a report.
#[derive(Default)]
struct Styles {
    error: Style,
    warning: Style,
    frame: Style,
    message: Style,
}

impl Styles {
    fn new(colors: bool) -> Self {
        let bold = |color: AnsiColor| color.on_default().bold();
        let (error, warning, frame) = (bold(AnsiColor::Red), bold(AnsiColor::Yellow), bold(AnsiColor::Blue));
        if colors { Self { error, warning, frame, message: Style::new().bold() } } else { Self::default() }
    }
}

fn write(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    outcome.shown().iter().try_for_each(|finding| write_finding(outcome, finding, out))?;
    let hidden = outcome.hidden();
    if hidden > 0 && !outcome.only_counts {
        writeln!(out, "… and {hidden} more, not shown (--max-findings)\n")?;
    }
    if outcome.only_counts || outcome.found() > 0 {
        write_counts(&outcome.by_rule(), out)?;
    }
    for file in &outcome.changed {
        writeln!(out, "changed: {}", one_line(file))?;
    }
    writeln!(out, "{}", summary(outcome))
}

fn write_finding(
    outcome: &Outcome,
    FileFinding { file, finding }: &FileFinding,
    out: &mut dyn Write,
) -> io::Result<()> {
    let text = finding_text(&one_line(outcome.file(*file)), finding, &Styles::new(outcome.colors));
    out.write_all(printed(&text).as_bytes())
}

fn finding_text(file: &str, finding: &Finding, styles: &Styles) -> String {
    let Styles { error, warning, frame, message: bold } = styles;
    let (label, style) = match finding.level {
        Level::Deny => ("error", error),
        Level::Warn | Level::Allow => ("warning", warning),
    };
    let (rule, at, message) = (finding.rule, &finding.at, one_line(&finding.message));
    let mut out = format!("{style}{label}[{}]{style:#}{bold}: {message}{bold:#} ({})\n", rule.code, rule.name);
    let number = at.line.to_string();
    let gutter = " ".repeat(number.len());
    let path = at.pointer.as_deref().filter(|pointer| !pointer.is_empty());
    let path = path.map_or_else(String::new, |pointer| format!(" {}", one_line(pointer)));
    let message = at.message.map_or_else(String::new, |message| format!(" (message {message})"));
    out += &format!("{gutter}{frame}-->{frame:#} {file}:{}:{}{message}{path}\n", at.line, at.column);
    let excerpt = &finding.excerpt;
    out += &format!("{gutter} {frame}|{frame:#}\n{frame}{number} |{frame:#} {}\n", one_line(&excerpt.text));
    let (pad, carets) = (" ".repeat(excerpt.before), "^".repeat(excerpt.width));
    out += &format!("{gutter} {frame}|{frame:#} {pad}{style}{carets}{style:#}\n");
    if let Some(other) = &finding.other {
        out += &format!("{gutter} {frame}={frame:#} its counterpart: {file}:{}:{}\n", other.line, other.column);
    }
    if let Some(answer) = finding.answer {
        out += &format!("{gutter} {frame}={frame:#} the provider answers: {answer}\n");
    }
    out + &format!("{gutter} {frame}={frame:#} help: {}\n\n", finding.help)
}

fn write_counts(counts: &[Count], out: &mut dyn Write) -> io::Result<()> {
    let width = counts.iter().map(|count| count.rule.name.len()).max().unwrap_or_default();
    for Count { rule, denied, warned } in counts {
        let levels = [(*denied, "denied"), (*warned, "warned")];
        let levels = levels.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count:>6} {word}"));
        writeln!(out, "{} {:width$} {}", rule.code, rule.name, levels.collect::<Vec<_>>().join(", "))?;
    }
    Ok(())
}

/// The result of the check in one line.
fn summary(outcome: &Outcome) -> String {
    let counted = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    let found = match (outcome.denied(), outcome.warned()) {
        (0, 0) => String::from("no findings"),
        (denied, 0) => counted(denied, "error"),
        (0, warned) => counted(warned, "warning"),
        (denied, warned) => format!("{}, {}", counted(denied, "error"), counted(warned, "warning")),
    };
    let total = outcome.files.len() + outcome.missing;
    let (files, transcripts) = (counted(total, "file"), counted(outcome.transcripts, "transcript"));
    let checked = format!("checked {} of {files}: {}", total - outcome.failed, counted(outcome.errors, "error"));
    let mut line = match (outcome.transcripts, outcome.found(), outcome.errors) {
        (0, 0, 0) => format!("nothing was checked: no transcript in {files}"),
        (0, 0, _) => checked,
        (0, _, 0) => format!("{found} in {files}"),
        (0, _, _) => format!("{found}; {checked}"),
        (_, _, 0) => format!("{found} in {transcripts} of {files}"),
        (_, _, _) => format!("{found} in {transcripts}; {checked}"),
    };
    if outcome.repaired > 0 {
        line += &format!("; {} repaired", outcome.repaired);
    }
    if let Some(silenced) = &outcome.silenced {
        line += &format!("; {}", one_line(&silenced.to_string()));
    }
    line
}
