//! The notes of a cut, of which the first of each kind is shown.

use crate::console;
use crate::options::global::Global;
use crate::reports::repeats::{Repeated, Repeats, kind_of};
use crate::works::output::CutOutput;
use curtail_core::dialects::Framing;
use curtail_core::numbers::counted;
use curtail_io::batch::Opened;
use curtail_io::{ErrorKind, FileError};

/// Kinds of notes shown without --verbose.
const MAX_NOTES: usize = 10;

/// The notes of a run.
#[derive(Default)]
pub(crate) struct Notes(Repeats);

impl Notes {
    /// Counts the notes of a block, and returns those to show: the first of each kind, or with --verbose all.
    pub(crate) fn fresh(&mut self, opened: &Opened, output: &CutOutput, global: &Global) -> Vec<FileError> {
        let unit = if opened.reading.framing == Framing::Records { "record" } else { "note" };
        let mut shown = Vec::new();
        for (place, text) in &output.notes {
            let note = FileError::new(ErrorKind::Content, &opened.source.name, text.as_str()).at(*place);
            if global.verbose {
                shown.push(note);
                continue;
            }
            let is_first = self.0.count(kind_of(text), Some(unit), &note, usize::MAX) == Some(0);
            if is_first && self.0.kinds.len() <= MAX_NOTES && !global.quiet {
                shown.push(note);
            }
        }
        shown
    }

    /// Reports how often each kind of note was repeated, and how many kinds were not shown.
    pub(crate) fn report_repeated(&self) {
        let kinds = &self.0.kinds;
        for Repeated { first, count, label, .. } in kinds.iter().take(MAX_NOTES).filter(|kind| kind.count > 1) {
            let line = first.place.map_or_else(String::new, |place| format!(":{}", place.line));
            let what = counted(*count, label.unwrap_or_default());
            let file = &first.name;
            console::warning(&format!("{what}, first at {file}{line}: {} (--verbose lists all)", first.what));
        }
        if kinds.len() > MAX_NOTES {
            let more = counted(kinds.len() - MAX_NOTES, "more kind");
            console::warning(&format!("{more} of notes not shown; pass --verbose to see all"));
        }
    }
}
