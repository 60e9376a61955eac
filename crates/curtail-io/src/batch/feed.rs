//! Hands out the next task: a block of a large file, or a whole small file.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use super::heads::valid_prefix;
use super::opening::{FirstBlock, Unopened};
use super::reader::{ReadBlock, Reader, Start};
use super::rescue::Records;
use super::{Batch, Damage, Opened};
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
    /// What the records of a larger block have in common, of which this is only one.
    pub(super) known: Option<Arc<Records>>,
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
    batch: &'w Batch,
    limits: Limits,
    sources: VecDeque<Source>,
    tasks: usize,
    files: usize,
    /// The `records` file, or table, that is being handed out in blocks.
    current: Option<Current>,
    /// Whether records are handed out one by one.
    pub(super) one_by_one: bool,
}

/// A file that is being handed out.
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
    /// What its records have in common, if damaged lines are rescued by that.
    known: Option<Arc<Records>>,
}

impl SplitBlock {
    fn is_done(&self) -> bool {
        self.next == self.text.len()
    }

    /// Begins to hand out `text`.
    fn begin(&mut self, damage: Damage) {
        self.next = 0;
        self.known = (damage != Damage::Fail).then(|| Arc::new(Records::from_text(&self.text)));
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

    /// Reads the next block. `first` is the first one, which is already in the buffer.
    fn read_block(&mut self, buffer: &mut Buffer, first: Option<ReadBlock>) -> Result<ReadBlock, FileError> {
        match first {
            Some(first) => Ok(first),
            None => self.reader.claim(buffer, Start { name: &self.opened.source.name, line: &|| self.line.wait() }),
        }
    }

    /// As [`read_block`](Self::read_block), for a single record or row.
    fn read_record(
        &mut self,
        buffer: &mut Buffer,
        first: Option<ReadBlock>,
        damage: Damage,
    ) -> Result<ReadBlock, FileError> {
        let start = Start { name: &self.opened.source.name, line: &|| self.line.wait() };
        match (&self.reader, first) {
            (Reader::Rows(_), Some(first)) => return Ok(first),
            (Reader::Rows(_), None) => {
                return Ok(ReadBlock { rows: self.reader.next(buffer, start, true)?, unread: None });
            }
            (Reader::Lines(_), Some(_)) => {
                std::mem::swap(&mut self.split.text, buffer);
                self.split.begin(damage);
            }
            (Reader::Lines(_), None) if self.split.is_done() => {
                self.reader.next(&mut self.split.text, start, false)?;
                self.split.begin(damage);
            }
            (Reader::Lines(_), None) => {}
        }
        let handed_out = self.split.hand_out(buffer);
        handed_out.map(|()| ReadBlock::default()).map_err(|error| FileError::system(start.name, &error))
    }
}

impl<'w> Feed<'w> {
    /// Hands out `sources` until the batch is stopped.
    pub(super) fn new(batch: &'w Batch, sources: Vec<Source>) -> Self {
        let limits = batch.input_options.limits(&batch.stop);
        let one_by_one = batch.at_once.is_some_and(|at_once| at_once > 1);
        Self { batch, limits, sources: sources.into(), tasks: 0, files: 0, current: None, one_by_one }
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
        let Batch { input_options, damage, .. } = self.batch;
        let unopened = Unopened { input_options, damage: *damage, source: &source, number };
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
        let read = match self.one_by_one {
            true => current.read_record(buffer, first, self.batch.damage),
            false => current.read_block(buffer, first),
        };
        let read = match read {
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
        let known = current.split.known.clone();
        let last = current.is_done();
        self.current = (!last).then_some(current);
        TaskKind::Block(Block { opened, line, next_line, offset, first: is_first, last, taken, read, known })
    }
}
