//! `--map`: a JSON line for each window that was written.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::input::Cutting as Flags;
use crate::batch::{CutOutput, Opened};
use curtail_core::error::{Error, ErrorKind};
use curtail_io::Targets;

/// The file of `--map`.
pub(super) struct SplitMap {
    name: PathBuf,
    file: File,
    /// Whether this run made the file.
    is_new: bool,
    /// Where the lines of the current input begin, if the file can be shortened again.
    begun: Option<u64>,
    /// Lines, or rows of a table, of the current output that were written before the current block.
    lines: usize,
}

/// A line of the map.
#[derive(Serialize)]
struct Entry<'e> {
    /// The file that contains the window; absent for standard output.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    /// The line of the output on which the window begins, from 1.
    output_line: usize,
    source: &'e str,
    line: usize,
    /// The place of the row in a table, whose number is the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    row_group: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<usize>,
    window: usize,
    windows: usize,
    pinned: Vec<[usize; 2]>,
    context: Vec<[usize; 2]>,
    own: Vec<[usize; 2]>,
    targets: &'e [usize],
    messages: usize,
    tokens: usize,
}

impl SplitMap {
    /// Opens the map at `path`.
    ///
    /// # Errors
    /// The file exists and is not empty, or the system refuses.
    pub(super) fn open(path: &Path, flags: &Flags) -> Result<Self, Error> {
        let name = path.to_string_lossy().into_owned();
        let continues = flags.output.resume.is_some();
        let there = path.metadata().is_ok_and(|there| there.is_file() && there.len() > 0);
        if there && !flags.output.force && !continues {
            return Err(Error::new(ErrorKind::Usage, name, "already exists (not overwritten); pass --force"));
        }
        let is_new = !path.exists();
        let opened = File::options().write(true).create(true).truncate(!continues).open(path);
        let mut file = opened.map_err(|error| Error::system(&name, &error))?;
        let begun = file.seek(SeekFrom::End(0)).ok();
        Ok(Self { name: path.to_owned(), file, is_new, begun, lines: 0 })
    }

    /// Begins an input.
    pub(super) fn begin(&mut self) {
        self.begun = self.file.stream_position().ok();
        self.lines = 0;
    }

    /// Writes the lines of a block of `opened`.
    pub(super) fn add(&mut self, opened: &Opened, output: &CutOutput, targets: &Targets) -> Result<(), Error> {
        let mut text = Vec::new();
        for window in &output.windows {
            let part = output.parts.then_some(window.number).filter(|_| !targets.is_in_place());
            let path = targets.path_of_part(&opened.source, part);
            let entry = Entry {
                output: path.map(|path| path.to_string_lossy().into_owned()),
                output_line: if output.parts { 1 } else { self.lines + window.output_line },
                source: &opened.source.name,
                line: window.line,
                row_group: window.row.map(|row| row.group.number()),
                row: window.row.map(|row| row.row),
                window: window.number,
                windows: window.count,
                pinned: pairs(&window.pinned),
                context: pairs(&window.context),
                own: pairs(&window.own),
                targets: &window.targets,
                messages: window.messages,
                tokens: window.tokens,
            };
            // Strings and numbers cannot fail to be written as JSON.
            text.extend(serde_json::to_vec(&entry).unwrap_or_default());
            text.push(b'\n');
        }
        self.lines += match opened.table {
            Some(_) => output.row_count,
            None => memchr::memchr_iter(b'\n', &output.output()).count(),
        };
        self.file.write_all(&text).map_err(|error| self.broken(&error))
    }

    /// Ends an input; without an output, its lines are taken back.
    pub(super) fn end(&mut self, written: bool) -> Result<(), Error> {
        match self.begun.filter(|_| !written) {
            Some(begun) => self.take_back(begun).map_err(|error| self.broken(&error)),
            None => Ok(()),
        }
    }

    /// Ends the run. After a failure, a new map without lines is removed.
    pub(super) fn finish(self, failed: bool) -> Result<(), Error> {
        let is_empty = self.file.metadata().is_ok_and(|there| there.is_file() && there.len() == 0);
        match failed && self.is_new && is_empty {
            true => std::fs::remove_file(&self.name).map_err(|error| self.broken(&error)),
            false => Ok(()),
        }
    }

    fn take_back(&mut self, begun: u64) -> io::Result<()> {
        self.file.set_len(begun)?;
        self.file.seek(SeekFrom::Start(begun)).map(drop)
    }

    fn broken(&self, error: &io::Error) -> Error {
        Error::system(self.name.to_string_lossy(), error)
    }
}

fn pairs(ranges: &[Range<usize>]) -> Vec<[usize; 2]> {
    ranges.iter().map(|range| [range.start, range.end]).collect()
}

/// Refuses to write several parts to standard output.
///
/// # Errors
/// `output` has several parts.
pub(super) fn refuse_parts(opened: &Opened, output: &CutOutput) -> Result<(), Error> {
    if !output.parts {
        return Ok(());
    }
    let count = output.windows.len();
    let what = format!("becomes {count} transcripts, and standard output holds one; pass --output-dir or --output");
    Err(Error::new(ErrorKind::Usage, &opened.source.name, what))
}
