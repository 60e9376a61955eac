//! Reads an open input: block by block, or to its end.

use std::sync::Arc;

use super::Opened;
use super::heads::{fault_of_head, placed_at};
use crate::{Blocks, Buffer, Doubt, ErrorKind, FileError, RowBlock, Rows, Unread};
use curtail_core::dialects::Framing;
use curtail_core::places::TextPlace;

/// Where a block begins.
#[derive(Clone, Copy)]
pub(super) struct Start<'p> {
    /// The name of the input.
    pub(super) name: &'p str,
    /// Returns the number of its first line. Waits for the lines before it to be counted, so only an error asks for it.
    pub(super) line: &'p dyn Fn() -> usize,
}

impl Start<'_> {
    /// Calls `read` with a check of the beginning of a long line, and places its error here.
    pub(super) fn read<T>(self, read: impl FnOnce(Doubt<'_>) -> Result<T, FileError>) -> Result<T, FileError> {
        read(&|head| fault_of_head(head, self.name, (self.line)())).map_err(|error| placed_at(error, self.line))
    }
}

/// Reads an open input, block by block.
pub(super) enum Reader {
    Lines(Box<Blocks>),
    Rows(Box<dyn Rows>),
}

impl Reader {
    /// Whether everything was handed out.
    pub(super) fn is_done(&self) -> bool {
        match self {
            Self::Lines(blocks) => blocks.is_done(),
            Self::Rows(rows) => rows.is_done(),
        }
    }

    /// Bytes taken from the file so far.
    pub(super) fn taken(&self) -> u64 {
        match self {
            Self::Lines(blocks) => blocks.taken(),
            Self::Rows(rows) => rows.taken(),
        }
    }

    pub(super) fn is_live(&self) -> bool {
        matches!(self, Self::Lines(blocks) if blocks.is_live())
    }

    /// Fills `buffer` with the next whole lines or rows; with `one_row`, with a single row.
    pub(super) fn next(
        &mut self,
        buffer: &mut Buffer,
        start: Start<'_>,
        one_row: bool,
    ) -> Result<Option<RowBlock>, FileError> {
        if let Self::Rows(rows) = self {
            return rows.next_block(buffer, one_row).map(Some);
        }
        // What is rescued of a damaged line depends on the others of its block, which are the same for every worker.
        if let Some(unread) = self.claim(buffer, start)?.unread {
            unread.read(buffer, start.name)?;
        }
        Ok(None)
    }

    /// As [`Reader::next`], but the worker may have to read the first bytes.
    pub(super) fn claim(&mut self, buffer: &mut Buffer, start: Start<'_>) -> Result<ReadBlock, FileError> {
        match self {
            Self::Lines(blocks) => {
                let unread = start.read(|doubt| blocks.claim_lines(buffer, doubt))?;
                Ok(ReadBlock { unread, rows: None })
            }
            Self::Rows(rows) => rows.next_block(buffer, false).map(|rows| ReadBlock { rows: Some(rows), unread: None }),
        }
    }
}

/// The parts of a block that are not in the buffer.
#[derive(Debug, Default)]
pub(super) struct ReadBlock {
    /// Where its rows are, if the file is a table.
    pub(super) rows: Option<RowBlock>,
    /// Its first bytes, if the worker must still read them.
    pub(super) unread: Option<Unread>,
}

/// Reads the rest of a file that is one unit.
pub(super) fn read_whole(blocks: &mut Blocks, opened: &Opened, buffer: &mut Buffer) -> Result<(), FileError> {
    let name = opened.source.name.as_str();
    let framing = opened.reading.framing;
    if blocks.is_done() {
        return Ok(());
    }
    // A broken line of a log may be a finding, so reading continues.
    let read = blocks.rest(buffer, &|head| match framing {
        Framing::Document => fault_of_head(head, name, 1),
        _ => None,
    });
    read.map_err(|error| placed_at(error, &|| 1))
}

/// If the text of `opened`, which is in `buffer`, is a log of patches or an export that has to be unfolded, replaces it by the
/// document that comes of it.
pub(super) fn rebuild(opened: &mut Arc<Opened>, buffer: &mut Buffer) -> Result<(), FileError> {
    let name = opened.source.name.as_str();
    let Ok(text) = simdutf8::basic::from_utf8(buffer) else { return Ok(()) };
    let other = opened.rebuild(text).map_err(|error| {
        let place = TextPlace::locate(text.as_bytes(), error.offset, 1);
        FileError::new(ErrorKind::Content, name, error.what).at(place)
    })?;
    let Some((other, text)) = other else { return Ok(()) };
    buffer.clear();
    buffer.append(text.as_bytes()).map_err(|error| FileError::system(name, &error))?;
    *opened = Arc::new(other);
    Ok(())
}
