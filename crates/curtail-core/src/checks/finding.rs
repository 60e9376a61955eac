//! A finding: what a rule detected, where it is in the file, and the line to show.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::{Excerpt, FindingPlace, Fix, INVALID_JSON, Level, LineIndex, Rule};
use crate::dialects::{Dialect, ReadError};
use crate::json::{Span, Value};
use crate::places::{MadePart, TextPlace};
use crate::transcript::FaultKind;

/// What is wrong, where, and what the provider would answer.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// The level that applies to it.
    pub level: Level,
    /// What is wrong, in lower case and without a full stop.
    pub message: String,
    /// What to do.
    pub help: Cow<'static, str>,
    /// What the provider would answer, where it is known.
    pub answer: Option<&'static str>,
    /// Where the fault is.
    pub at: FindingPlace,
    /// Where the counterpart of the call or result, or the message in conflict, is.
    pub other: Option<FindingPlace>,
    /// The line to show.
    pub excerpt: Excerpt,
    /// Which of the rule's constraints is violated, if it has several.
    pub what: &'static str,
    /// Whether and how `--fix` mends it: some faults of a rule can be mended by themselves, and others not.
    pub fix: Fix,
    /// Whether it is a fault only because a provider has refused the transcript.
    pub only_refused: bool,
    /// The command that mends it where `--fix` does not, with `FILE` for the file; empty if there is none.
    pub command: &'static str,
}

impl Finding {
    /// A finding in a text that was not read as a transcript: `message` at byte `offset`.
    #[must_use]
    pub fn in_text(rule: &'static Rule, level: Level, lines: &LineIndex<'_>, offset: u32, message: String) -> Self {
        Self::at_place(rule, level, lines, lines.place(Span::new(offset, offset), None, None), message)
    }

    /// A denied finding at `value`, in the text that `lines` indexes.
    #[must_use]
    pub fn at_value(rule: &'static Rule, lines: &LineIndex<'_>, value: Value<'_>, message: String) -> Self {
        Self::at_place(rule, Level::Deny, lines, lines.place_of(value, None), message).not_fixed()
    }

    /// A finding about a place, without an answer of a provider.
    fn at_place(rule: &'static Rule, level: Level, lines: &LineIndex<'_>, at: FindingPlace, message: String) -> Self {
        let excerpt = lines.excerpt(&at);
        let help = rule.help.into();
        Self {
            rule,
            level,
            message,
            help,
            answer: None,
            at,
            other: None,
            excerpt,
            what: "",
            fix: Fix::No,
            only_refused: false,
            command: rule.command,
        }
    }

    /// Whether it or its counterpart is in one of `spans`, or is the message around one.
    pub(super) fn is_within(&self, spans: &[Range<usize>]) -> bool {
        std::iter::once(&self.at).chain(&self.other).any(|place| {
            let end = place.offset + place.length;
            spans.iter().any(|span| span.contains(&place.offset) || place.offset <= span.start && span.end <= end)
        })
    }

    /// The finding that `text` is not JSON, or not a transcript.
    #[must_use]
    pub fn invalid_json(text: &str, level: Level, error: &ReadError) -> Self {
        Self::unreadable(&LineIndex::new(text), level, error)
    }

    /// The same of a text that is indexed: one with noise on every line has a finding for each.
    pub(super) fn unreadable(lines: &LineIndex<'_>, level: Level, error: &ReadError) -> Self {
        let offset = u32::try_from(error.offset).unwrap_or(u32::MAX);
        Self::in_text(INVALID_JSON, level, lines, offset, error.what.clone())
    }

    /// The same finding when the examined text is the row of a table: `line` is its number in the file, `row` its place in
    /// words.
    #[must_use]
    pub fn in_row(mut self, line: usize, text: &str, row: &str) -> Self {
        for place in self.places_mut() {
            // The row is one line, whatever its text contains.
            place.line = line;
            let before = text.floor_char_boundary(place.offset);
            place.column = text[..before].chars().count() + 1;
        }
        self.message = format!("{} ({row})", self.message);
        self
    }

    /// The same finding when the examined text, with these parts, was made from the file and stands nowhere in it: its place is that of
    /// what its part was made from, and `made` says so in words.
    #[must_use]
    pub fn in_made_text(mut self, parts: &[MadePart], made: &str) -> Self {
        for place in self.places_mut() {
            let TextPlace { line, column } = MadePart::place_of(parts, place.offset);
            place.line = line;
            place.column = column;
        }
        self.message = format!("{} ({made})", self.message);
        self
    }

    /// The command that mends it, with `FILE` for the file; `None` if a person has to.
    #[must_use]
    pub fn mended_by(&self) -> Option<String> {
        let turned_on = if self.rule.level == Level::Allow { format!(" -D {}", self.rule.name) } else { String::new() };
        let refused = if self.only_refused { " --refused" } else { "" };
        let how = match self.fix {
            Fix::No => return Some(self.command.to_owned()).filter(|command| !command.is_empty()),
            Fix::Pairs(Some(FaultKind::PendingCall)) => " --repair-pending",
            Fix::Pairs(_) | Fix::Part => "",
            Fix::Unsafe => " --unsafe-fixes",
        };
        Some(format!("curtail check{turned_on}{refused} --fix{how} FILE"))
    }

    /// The same finding in a transcript of `dialect`: what is only read cannot be fixed.
    #[must_use]
    pub fn in_dialect(mut self, dialect: &dyn Dialect) -> Self {
        if dialect.writer().is_some() {
            return self;
        }
        self.command = "";
        self.left_by_fix(format_args!(", which does not write `{}`", dialect.name()))
    }

    /// The same finding in a file with lines that are not JSON: it is not written before they are left out.
    pub(super) fn beside_invalid_json(mut self) -> Self {
        self.command = "";
        self.left_by_fix(format_args!("; before that, leave out what is not JSON: `curtail repair --damaged`"))
    }

    /// The same finding where `--fix` leaves it, although it mends others of its rule: `exception` says so after the help, unless
    /// another does already.
    pub(super) fn left_by_fix(mut self, exception: fmt::Arguments<'_>) -> Self {
        if self.rule.is_fixed() && matches!(self.help, Cow::Borrowed(_)) {
            self.help = format!("{}{exception}", self.rule.help).into();
            self.fix = Fix::No;
            self.command = "";
        }
        self
    }

    /// The same finding where nothing that `--fix` does mends it: what `--fix` does of others is left out of the help.
    pub(super) fn not_fixed(mut self) -> Self {
        self.fix = Fix::No;
        if self.command.is_empty() && self.rule.is_fixed() && matches!(self.help, Cow::Borrowed(_)) {
            let what = self.rule.help.split(": `--fix`").next().unwrap_or_default();
            self.help = format!("{what}; `--fix` leaves this one to a person").into();
        }
        self
    }

    /// The same finding when the examined text begins `lines` lines and `bytes` bytes into its file.
    #[must_use]
    pub fn moved(mut self, lines: usize, bytes: isize) -> Self {
        for place in self.places_mut() {
            place.line += lines;
            place.offset = place.offset.saturating_add_signed(bytes);
        }
        self
    }

    fn places_mut(&mut self) -> impl Iterator<Item = &mut FindingPlace> {
        std::iter::once(&mut self.at).chain(&mut self.other)
    }
}
