//! What is said to the user, on standard error: errors, warnings, and how inputs are read.

use std::fmt::Display;
use std::io::Write as _;

use anstyle::{AnsiColor, Style};

/// Says what went wrong.
pub(super) fn error(what: &impl Display) {
    say(AnsiColor::Red.on_default().bold(), what);
}

/// Says what the user should know.
pub(super) fn warning(what: &impl Display) {
    say(AnsiColor::Yellow.on_default().bold(), what);
}

/// Says what was asked for.
pub(super) fn note(what: &impl Display) {
    say(Style::new(), what);
}

/// Writes text as it is.
pub(super) fn text(text: &str) {
    // Where standard error is gone nobody can be told so.
    drop(anstream::stderr().lock().write_all(text.as_bytes()));
}

fn say(style: Style, what: &impl Display) {
    text(&format!("{style}curtail:{style:#} {what}\n"));
}
