//! Findings for people: what is wrong, an excerpt of the line, and what to do.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::{CheckOutcome, Count, FileFinding, Format};
use crate::reports::screen::{COUNT, NAME, Screen, columns};
use curtail_core::checks::{Finding, Level};
use curtail_core::numbers::{counted, figure};
use curtail_core::visible::{one_line, printed};

pub(super) const TEXT: Format =
    Format { name: "text", summary: "For people", write: write_text, found: Some(write_findings) };

/// The styles of a report.
#[derive(Default)]
struct Styles {
    error: Style,
    warning: Style,
    frame: Style,
    message: Style,
    name: Style,
    count: Style,
}

impl Styles {
    fn new(colors: bool) -> Self {
        if !colors {
            return Self::default();
        }
        let [error, warning, frame] =
            [AnsiColor::Red, AnsiColor::Yellow, AnsiColor::Blue].map(|color| color.on_default().bold());
        Self { error, warning, frame, message: Style::new().bold(), name: NAME, count: COUNT }
    }

    /// The style of a finding of this level.
    const fn of_level(&self, level: Level) -> Style {
        match level {
            Level::Deny => self.error,
            Level::Warn | Level::Allow => self.warning,
        }
    }
}

fn write_text(outcome: &CheckOutcome, out: &mut dyn Write) -> io::Result<()> {
    write_findings(outcome, out)?;
    if outcome.is_quiet {
        return Ok(());
    }
    let hidden = outcome.hidden();
    if hidden > 0 && !outcome.only_counts {
        let more = format!("… and {} more, not shown (--max-findings)", figure(hidden));
        writeln!(out, "{}\n", outcome.screen.wrapped(&more, 2))?;
    }
    if outcome.only_counts || outcome.found() > 0 {
        write_counts(&outcome.by_rule(), &Styles::new(outcome.colors), outcome.screen, out)?;
    }
    for file in &outcome.changed {
        writeln!(out, "changed: {}", one_line(file))?;
    }
    writeln!(out, "{}", outcome.screen.wrapped(&summary(outcome), 2))
}

/// Writes the findings; errors are on standard error, where people read them.
fn write_findings(outcome: &CheckOutcome, out: &mut dyn Write) -> io::Result<()> {
    outcome.shown().iter().try_for_each(|FileFinding { file, finding }| {
        let text = text_of(&one_line(outcome.file(*file)), finding, outcome.colors, outcome.screen);
        out.write_all(printed(&text).as_bytes())
    })
}

/// A finding as people read it.
pub(in crate::reports) fn text_of(file: &str, finding: &Finding, colors: bool, screen: Screen) -> String {
    let styles = &Styles::new(colors);
    let style = styles.of_level(finding.level);
    let frame = &styles.frame;
    let number = finding.at.line.to_string();
    let gutter = " ".repeat(number.len());
    let mut out = screen.wrapped(&head(finding, styles), 2);
    out += &format!("{gutter}{frame}-->{frame:#} {}\n", place(file, finding));
    let (line, marks) = excerpt(finding, number.len() + 3, screen);
    out += &format!("{gutter} {frame}|{frame:#}\n{frame}{number} |{frame:#} {line}\n");
    out += &format!("{gutter} {frame}|{frame:#} {}{style}{}{style:#}\n", marks.pad, marks.carets);
    for note in notes(file, finding) {
        out += &screen.wrapped(&format!("{gutter} {frame}={frame:#} {note}\n"), 2);
    }
    out + "\n"
}

/// The level, the rule, and what is wrong.
fn head(finding: &Finding, styles: &Styles) -> String {
    let style = styles.of_level(finding.level);
    let bold = &styles.message;
    let label = match finding.level {
        Level::Deny => "error",
        Level::Warn | Level::Allow => "warning",
    };
    let rule = finding.rule;
    let message = one_line(&finding.message);
    format!("{style}{label}[{}]{style:#}{bold}: {message}{bold:#} ({})\n", rule.code, rule.name)
}

/// Where a finding is in `file`, with the number of its message and the path in the record.
fn place(file: &str, finding: &Finding) -> String {
    let at = &finding.at;
    let path = at.pointer.as_deref().filter(|pointer| !pointer.is_empty());
    let path = path.map_or_else(String::new, |pointer| format!(" {}", one_line(pointer)));
    let message = at.message.map_or_else(String::new, |message| format!(" (message {message})"));
    format!("{file}:{}:{}{message}{path}", at.line, at.column)
}

/// What is below an excerpt.
struct Marks {
    /// The blanks before the carets.
    pad: String,
    carets: String,
}

/// The excerpt of the line, which begins after `before` columns, and the marks below it.
fn excerpt(finding: &Finding, before: usize, screen: Screen) -> (String, Marks) {
    let excerpt = &finding.excerpt;
    let (head, rest) = split_after(&excerpt.text, excerpt.before);
    let (marked, tail) = split_after(rest, excerpt.width);
    let [head, marked, tail] = [head, marked, tail].map(one_line);
    let line = screen.cut(&format!("{head}{marked}{tail}"), before).into_owned();
    let pad = " ".repeat(columns(&head));
    let most = screen.width.map_or(usize::MAX, |width| width.saturating_sub(before + pad.len()));
    let carets = "^".repeat(columns(&marked).min(most).max(1));
    (line, Marks { pad, carets })
}

/// What else there is to know, and what to do.
fn notes(file: &str, finding: &Finding) -> impl Iterator<Item = String> {
    let other = finding.other.as_ref().map(|other| format!("its counterpart: {file}:{}:{}", other.line, other.column));
    let answer = finding.answer.map(|answer| format!("the provider answers: {answer}"));
    other.into_iter().chain(answer).chain([format!("help: {}", finding.help)])
}

/// `text` in two, the first with this number of characters.
fn split_after(text: &str, characters: usize) -> (&str, &str) {
    text.split_at(text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at))
}

fn write_counts(
    counts: &[Count],
    Styles { name, count: figures, .. }: &Styles,
    screen: Screen,
    out: &mut dyn Write,
) -> io::Result<()> {
    let width = counts.iter().map(|count| count.rule.name.len()).max().unwrap_or_default();
    for Count { rule, denied, warned } in counts {
        let levels = [(*denied, "denied"), (*warned, "warned")];
        let levels = levels
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{figures}{:>6}{figures:#} {word}", screen.number(*count)));
        let levels = levels.collect::<Vec<_>>().join(", ");
        writeln!(out, "{} {name}{:width$}{name:#} {levels}", rule.code, rule.name)?;
    }
    Ok(())
}

/// The result of the check in one line.
fn summary(outcome: &CheckOutcome) -> String {
    let found = match (outcome.denied(), outcome.warned()) {
        (0, 0) => String::from("no findings"),
        (denied, 0) => counted(denied, "error"),
        (0, warned) => counted(warned, "warning"),
        (denied, warned) => format!("{}, {}", counted(denied, "error"), counted(warned, "warning")),
    };
    let total = outcome.files.len() + outcome.missing;
    let files = counted(total, "file");
    let transcripts = counted(outcome.transcripts, "transcript");
    let checked =
        format!("checked {} of {files}: {}", figure(total - outcome.failed), counted(outcome.errors, "error"));
    let mut line = match (outcome.transcripts, outcome.found(), outcome.errors) {
        (0, 0, 0) => format!("nothing was checked: no transcript in {files}"),
        (0, 0, _) => checked,
        (0, _, 0) => format!("{found} in {files}"),
        (0, _, _) => format!("{found}; {checked}"),
        (_, _, 0) => format!("{found} in {transcripts} of {files}"),
        (_, _, _) => format!("{found} in {transcripts}; {checked}"),
    };
    if outcome.repaired > 0 {
        line += &format!("; {} repaired", figure(outcome.repaired));
    }
    if let Some(silenced) = &outcome.silenced {
        line += &format!("; {}", one_line(&silenced.to_string()));
    }
    if let Some(known) = &outcome.known {
        line += &format!("; {}", one_line(&known.to_string()));
    }
    line
}
