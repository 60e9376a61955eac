//! The notes of a cut. A dataset can have one for every record, so those of one kind are shown once and counted.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::console;
use crate::options::global::Global;
use crate::works::output::CutOutput;
use curtail_core::dialects::Framing;
use curtail_core::numbers::counted;
use curtail_io::batch::Opened;
use curtail_io::{ErrorKind, FileError};

/// Kinds of notes shown without --verbose.
const MAX_NOTES: usize = 10;

/// Notes that say the same, apart from numbers and names: a dataset can have one for every record.
struct NoteKind {
    /// The first of them, with its place.
    first: FileError,
    count: usize,
    /// What each is about: a record, or something in a log.
    unit: &'static str,
}

/// What notes of one kind have in common: their text without numbers and without what is quoted.
pub(super) fn kind_of(note: &str) -> String {
    let mut kind = String::new();
    let mut quote = None;
    for c in note.chars() {
        match quote {
            Some(end) => quote = Some(end).filter(|end| *end != c),
            None if matches!(c, '`' | '"') => quote = Some(c),
            None if !c.is_ascii_digit() && c != ',' => kind.push(c),
            None => {}
        }
    }
    kind
}

/// The notes of a run: the first of each kind is shown, and the others are counted.
#[derive(Default)]
pub(crate) struct Notes {
    of_kind: HashMap<String, NoteKind>,
    /// The kinds in the order in which they appeared.
    kinds: Vec<String>,
}

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
            match self.of_kind.entry(kind_of(text)) {
                Entry::Occupied(mut known) => known.get_mut().count += 1,
                Entry::Vacant(new) => {
                    self.kinds.push(new.key().clone());
                    if self.kinds.len() <= MAX_NOTES && !global.quiet {
                        shown.push(note.clone());
                    }
                    new.insert(NoteKind { first: note, count: 1, unit });
                }
            }
        }
        shown
    }

    /// Reports how often each kind of note was repeated, and how many kinds were not shown.
    pub(crate) fn report_repeated(&self) {
        let kinds = self.kinds.iter().filter_map(|kind| self.of_kind.get(kind));
        for NoteKind { first, count, unit } in kinds.take(MAX_NOTES).filter(|kind| kind.count > 1) {
            let line = first.place.map_or_else(String::new, |place| format!(":{}", place.line));
            let what = counted(*count, unit);
            let file = &first.name;
            console::warning(&format!("{what}, first at {file}{line}: {} (--verbose lists all)", first.what));
        }
        if self.kinds.len() > MAX_NOTES {
            let more = counted(self.kinds.len() - MAX_NOTES, "more kind");
            console::warning(&format!("{more} of notes not shown; pass --verbose to see all"));
        }
    }
}
