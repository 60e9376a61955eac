//! Messages on standard error: errors, warnings and notes.

use std::fmt::Display;

use anstyle::{AnsiColor, Style};

use super::input::Global;
use crate::batch::Opened;
use crate::console;

/// Prints an error.
pub(super) fn error(what: &impl Display) {
    console::message(AnsiColor::Red.on_default().bold(), what);
}

/// Prints a warning.
pub(super) fn warning(what: &impl Display) {
    console::message(AnsiColor::Yellow.on_default().bold(), what);
}

/// Prints a note.
pub(super) fn note(what: &impl Display) {
    console::message(Style::new(), what);
}

/// Warns that there is nothing to read: a directory without transcripts is no error, but seldom what was meant.
pub(super) fn warn_empty(is_empty: bool, global: &Global) {
    if is_empty && !global.quiet {
        warning(&"no transcripts found (*.jsonl, *.ndjson, *.json, or one of these with .gz or .zst)");
    }
}

/// How an input was read: its framing and dialect.
pub(super) fn reading(opened: &Opened, dialect: Option<&str>) -> String {
    format!("{}: {}, {}", opened.source.name, opened.reading.framing.name(), dialect.unwrap_or("no message"))
}

/// With `--verbose`, reports that a file in a directory was passed over.
pub(super) fn passed_over(opened: &Opened, global: &Global) {
    if global.verbose {
        note(&format!("{}: shows no messages; passed over", opened.source.name));
    }
}
