//! `--map`: a JSON line for each window that was written.

use std::ops::Range;
use std::path::Path;

use serde::Serialize;

use crate::options::cut::CutFlags;
use crate::reports::lines::LineFile;
use crate::works::output::CutOutput;
use curtail_io::batch::Opened;
use curtail_io::{FileError, Source, Targets};

/// The file of `--map`.
pub(crate) struct SplitMap {
    pub(crate) file: LineFile,
    /// Lines, or rows of a table, of the current output that were written before the current block.
    lines: usize,
}

/// A line of the map.
#[derive(Serialize)]
struct MapLine<'e> {
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
    /// As [`LineFile::open`].
    pub(crate) fn open(path: &Path, flags: &CutFlags, sources: &[Source]) -> Result<Self, FileError> {
        LineFile::open(path, flags, sources).map(|file| Self { file, lines: 0 })
    }

    /// Begins an input.
    pub(crate) fn begin(&mut self) {
        self.file.begin();
        self.lines = 0;
    }

    /// Writes the lines of a block of `opened`.
    pub(crate) fn add(&mut self, opened: &Opened, output: &CutOutput, targets: &Targets) -> Result<(), FileError> {
        let output_lines = output.windows.output_lines(&output.text, &output.rows);
        let are_parts = output.windows.are_parts;
        let lines_before = self.lines;
        let entries = output.windows.places.iter().zip(output_lines).map(|(place, output_line)| {
            let window = &place.window;
            let part = are_parts.then_some(window.number).filter(|_| !targets.is_in_place());
            let path = targets.path_of_part(&opened.source, part);
            MapLine {
                output: path.map(|path| path.to_string_lossy().into_owned()),
                output_line: if are_parts { 1 } else { lines_before + output_line },
                source: &opened.source.name,
                line: place.line,
                row_group: place.row.map(|row| row.input.group.number()),
                row: place.row.map(|row| row.input.row),
                window: window.number,
                windows: window.count,
                pinned: bounds(&window.pinned),
                context: bounds(&window.context),
                own: bounds(&window.own),
                targets: &window.targets,
                messages: window.messages,
                tokens: window.tokens,
            }
        });
        self.lines += match opened.table {
            Some(_) => output.rows.count(),
            None => output.text.lines().all(),
        };
        self.file.add(entries)
    }
}

fn bounds(ranges: &[Range<usize>]) -> Vec<[usize; 2]> {
    ranges.iter().map(|range| [range.start, range.end]).collect()
}
