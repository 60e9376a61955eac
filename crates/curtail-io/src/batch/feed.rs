//! Hands out the next task: a block of a large file, or a whole small file.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::heads::valid_prefix;
use super::opening::{FirstBlock, Unopened};
use super::reader::{ReadBlock, Reader, Start};
use super::{InputOptions, Opened};
use crate::{BLOCK, Blocks, Buffer, FileError, Limits, Source};
use curtail_core::dialects::Framing;

/// Files up to this length are one task each.
const SMALL: u64 = 1024 * 1024;

/// A task for a worker.
pub(super) struct Task {
    /// Its number in the batch, from 0.
    pub(super) number: usize,
    pub(super) kind: TaskKind,
}

/// The input of a task.
pub(super) enum TaskKind {
    /// A file that one worker opens, reads and processes alone.
    File(Source, usize),
    /// An opened file of one transcript or document; the worker's buffer contains its first block.
    Whole(Arc<Opened>, Box<Blocks>),
    /// Whole records or rows of a file.
    Block(Block),
    /// A file that could not be opened or read to its end.
    Broken(Option<Arc<Opened>>, FileError),
}

/// Whole records or rows of a file, which the worker's buffer contains.
pub(super) struct Block {
    pub(super) opened: Arc<Opened>,
    /// The number of its first line.
    pub(super) line: LineNumber,
    /// The number of the first line of the next block, which the worker finds.
    pub(super) next_line: LineNumber,
    /// The place of its first byte in the file.
    pub(super) offset: usize,
    /// Whether it is the first block of the file.
    pub(super) first: bool,
    /// Whether it is the last one.
    pub(super) last: bool,
    /// Bytes of the file, before decompression, that were read for it.
    pub(super) taken: u64,
    /// Its rows, and the bytes that the worker must still read.
    pub(super) read: ReadBlock,
}

/// The number of a line, which is known as soon as the lines before it were counted.
#[derive(Debug, Clone, Default)]
pub(super) struct LineNumber(Arc<OnceLock<usize>>);

impl LineNumber {
    /// Waits until it is known. The block before this one is with another worker, which counts its lines before all other
    /// work.
    pub(super) fn wait(&self) -> usize {
        *self.0.wait()
    }

    /// Makes it known.
    pub(super) fn set(&self, line: usize) {
        self.0.get_or_init(|| line);
    }
}

/// Hands out the tasks of a batch, one at a time.
pub(super) struct Feed<'w> {
    input_options: &'w InputOptions,
    limits: Limits,
    sources: VecDeque<Source>,
    tasks: usize,
    files: usize,
    /// The `records` file, or table, that is being handed out in blocks.
    current: Option<Current>,
    /// Whether records are handed out one by one.
    pub(super) one_by_one: bool,
}

struct Current {
    opened: Arc<Opened>,
    reader: Reader,
    /// The number of the next line.
    line: LineNumber,
    /// The place of the next byte.
    offset: usize,
    taken: u64,
    /// The block whose records are handed out one by one.
    split: SplitBlock,
}

/// A block whose records are handed out one by one.
#[derive(Default)]
struct SplitBlock {
    text: Buffer,
    /// The place of the next record.
    next: usize,
}

impl SplitBlock {
    fn is_done(&self) -> bool {
        self.next == self.text.len()
    }

    /// Takes the first block, which is in `buffer`.
    fn take(&mut self, buffer: &mut Buffer) {
        std::mem::swap(&mut self.text, buffer);
    }

    /// Puts the next record into `buffer`.
    fn hand_out(&mut self, buffer: &mut Buffer) -> io::Result<()> {
        let rest = &self.text[self.next..];
        let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |newline| newline + 1);
        buffer.clear();
        buffer.append(&rest[..end])?;
        self.next += end;
        Ok(())
    }
}

impl Current {
    fn is_done(&self) -> bool {
        self.split.is_done() && self.reader.is_done()
    }

    /// Reads the next block, or its next record if records are handed out `one_by_one`. `first` is the first block, which is
    /// already in the buffer.
    fn read_block(
        &mut self,
        buffer: &mut Buffer,
        first: Option<ReadBlock>,
        one_by_one: bool,
    ) -> Result<ReadBlock, FileError> {
        if one_by_one && matches!(self.reader, Reader::Lines(_)) {
            match first {
                Some(_) => self.split.take(buffer),
                None => self.refill()?,
            }
            let handed_out = self.split.hand_out(buffer).map(|()| ReadBlock::default());
            return handed_out.map_err(|error| FileError::system(&self.opened.source.name, &error));
        }
        if let Some(first) = first {
            return Ok(first);
        }
        let start = Start { name: &self.opened.source.name, line: &|| self.line.wait() };
        match one_by_one {
            true => Ok(ReadBlock { rows: self.reader.next(buffer, start, true)?, unread: None }),
            false => self.reader.claim(buffer, start),
        }
    }

    /// Reads the next block if all records of the one before were handed out.
    fn refill(&mut self) -> Result<(), FileError> {
        if self.split.is_done() {
            let start = Start { name: &self.opened.source.name, line: &|| self.line.wait() };
            self.reader.next(&mut self.split.text, start, true)?;
            self.split.next = 0;
        }
        Ok(())
    }
}

impl<'w> Feed<'w> {
    /// Hands out `sources` until `stop` is set.
    pub(super) fn new(input_options: &'w InputOptions, sources: Vec<Source>, stop: &Arc<AtomicBool>) -> Self {
        let limits = input_options.limits(stop);
        Self { input_options, limits, sources: sources.into(), tasks: 0, files: 0, current: None, one_by_one: false }
    }

    /// Whether nothing is left to hand out.
    pub(super) fn is_done(&self) -> bool {
        self.current.is_none() && self.sources.is_empty()
    }

    /// The next task. If it is a block, `buffer` contains its text.
    pub(super) fn next(&mut self, buffer: &mut Buffer) -> Option<Task> {
        if self.current.as_ref().is_some_and(|current| current.opened.rest_skipped.load(Ordering::Relaxed)) {
            self.current = None;
        }
        let kind = match self.current.take() {
            Some(current) => self.block(current, None, buffer),
            None => self.open(buffer)?,
        };
        // An input that stalled when the user ended the batch has not failed.
        if matches!(kind, TaskKind::Broken(..)) && self.limits.stop.load(Ordering::Relaxed) {
            return None;
        }
        self.tasks += 1;
        Some(Task { number: self.tasks - 1, kind })
    }

    fn open(&mut self, buffer: &mut Buffer) -> Option<TaskKind> {
        let source = self.sources.pop_front()?;
        let number = self.files;
        self.files += 1;
        let small = if self.limits.block < BLOCK { self.limits.block as u64 } else { SMALL };
        if !self.one_by_one && !self.sources.is_empty() && source.len_hint().is_some_and(|len| len <= small) {
            return Some(TaskKind::File(source, number));
        }
        let unopened = Unopened { input_options: self.input_options, source: &source, number };
        Some(match unopened.open(&self.limits, buffer) {
            Err(error) => TaskKind::Broken(None, error),
            Ok(FirstBlock { opened, reader: Reader::Lines(blocks), .. })
                if opened.reading.framing != Framing::Records =>
            {
                TaskKind::Whole(opened, blocks)
            }
            Ok(FirstBlock { opened, reader, rows }) => {
                let line = LineNumber::default();
                let split = SplitBlock::default();
                line.set(1);
                let read = ReadBlock { rows, unread: None };
                self.block(Current { opened, reader, line, offset: 0, taken: 0, split }, Some(read), buffer)
            }
        })
    }

    /// Hands out the next block, and keeps the rest of the file for later. `first` is the first one, which is in the buffer.
    fn block(&mut self, mut current: Current, first: Option<ReadBlock>, buffer: &mut Buffer) -> TaskKind {
        let offset = current.offset;
        let is_first = first.is_some();
        let read = match current.read_block(buffer, first, self.one_by_one) {
            Ok(read) => read,
            Err(error) => return TaskKind::Broken(Some(current.opened), error),
        };
        current.offset += buffer.len();
        let line = std::mem::take(&mut current.line);
        let next_line = current.line.clone();
        let taken = current.reader.taken() - current.taken;
        current.taken += taken;
        if !is_first && current.reader.is_live() && current.opened.reading.dialect.is_none() {
            current.opened = Arc::new(current.opened.sniffed(valid_prefix(buffer)));
        }
        let opened = Arc::clone(&current.opened);
        let last = current.is_done();
        self.current = (!last).then_some(current);
        TaskKind::Block(Block { opened, line, next_line, offset, first: is_first, last, taken, read })
    }
}
