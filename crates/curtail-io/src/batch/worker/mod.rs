//! What one thread does with a task: reads the units of its file or block, and passes each to the command's work.

mod damaged;
mod records;
mod unit;
mod whole;

use std::cell::OnceCell;
use std::sync::Arc;

use super::feed::{Block, Task, TaskKind};
use super::opening::{FirstBlock, Unopened};
use super::reader::{Reader, Start};
use super::rescue::Records;
use super::{Batch, Failure, Opened, Work};
use crate::{Buffer, FileError, RowBlock, Source};
use curtail_core::dialects::Framing;
use unit::FilePlace;

/// A thread of the batch, and the text that it works on.
pub(super) struct Worker<'b, W> {
    pub(super) batch: &'b Batch,
    pub(super) work: &'b W,
    /// The block or file of the task.
    pub(super) buffer: Buffer,
    /// Where the lines of the buffer end.
    pub(super) ends: Vec<usize>,
    /// What the records of the block have in common, by which those on damaged lines are recognized. The first such line needs it.
    pub(super) known: OnceCell<Arc<Records>>,
}

/// The result of a task: what the command made of its units, and what failed.
#[derive(Default)]
pub(super) struct Done<Out> {
    /// The number of the task in the batch, from 0.
    pub(super) number: usize,
    /// The file; `None` if it could not be opened.
    pub(super) opened: Option<Arc<Opened>>,
    /// Whether the task has the beginning of the file.
    pub(super) first: bool,
    /// Whether it has the end of the file.
    pub(super) last: bool,
    pub(super) out: Out,
    pub(super) failures: Vec<Failure>,
    /// Whether the rest of the file is not read.
    pub(super) rest_unread: bool,
    /// Whether anything of a log or of its records could be read.
    pub(super) is_read: bool,
    /// Whether the file is that of another program.
    pub(super) unrelated: bool,
}

impl<Out> Done<Out> {
    /// Ends the file with an error of the file itself.
    fn end(&mut self, error: FileError) {
        self.rest_unread = true;
        self.failures.push(Failure { error, record: None, is_loss: false });
    }

    /// Reports what is lost of a damaged file, and the bytes that are left out; none if something is only changed.
    fn lose(&mut self, error: FileError, bytes: Vec<u8>) {
        self.failures.push(Failure { error, record: Some(bytes), is_loss: true });
    }
}

impl<W: Work> Worker<'_, W> {
    /// Works on a task. `out` is where the command's work adds its results.
    pub(super) fn run(&mut self, task: Task, out: W::Out) -> Done<W::Out> {
        let mut done = Done { number: task.number, first: true, last: true, out, ..Done::default() };
        done.opened = match task.kind {
            TaskKind::Block(block) => Some(self.block(block, &mut done)),
            TaskKind::Whole(mut opened, mut blocks) => {
                self.whole_file(&mut opened, &mut blocks, &mut done);
                Some(opened)
            }
            TaskKind::File(source, number) => self.file(&source, number, &mut done),
            TaskKind::Broken(opened, error) => {
                done.first = false;
                done.end(error);
                opened
            }
        };
        let is_whole = done.first && done.last && !done.rest_unread && !done.unrelated;
        if let Some(opened) = done.opened.as_ref().filter(|opened| is_whole && opened.table.is_none()) {
            self.work.whole(opened, &mut done.out);
        }
        done
    }

    /// Works on a block of records, and returns its file.
    fn block(&mut self, block: Block, done: &mut Done<W::Out>) -> Arc<Opened> {
        let opened = block.opened;
        (done.first, done.last) = (block.first, block.last);
        if let Some(Err(error)) = block.read.unread.map(|unread| unread.read(&mut self.buffer, &opened.source.name)) {
            self.buffer.clear();
            opened.skip_rest();
            done.end(error);
        }
        let lines = self.find_units(block.read.rows.as_ref());
        self.known = block.known.map_or_else(OnceCell::new, OnceCell::from);
        // Whoever has the next block may wait for it.
        block.next_line.set(block.line.wait() + lines);
        if done.first {
            self.begin(&opened);
            done.unrelated = opened.is_unrelated(&self.buffer);
        }
        self.report_conversion(&opened, done);
        let place = FilePlace { line: block.line.wait(), offset: block.offset };
        let units = self.units(&opened, place, block.read.rows.as_ref(), done);
        self.advance(opened.number, block.taken, units);
        opened
    }

    /// Opens a file and works on all of it. Returns `None` if it cannot be opened.
    fn file(&mut self, source: &Source, number: usize, done: &mut Done<W::Out>) -> Option<Arc<Opened>> {
        let input_options = &self.batch.input_options;
        let unopened = Unopened { input_options, damage: self.batch.damage, source, number };
        let first = unopened.open(&input_options.limits(&self.batch.stop), &mut self.buffer);
        let FirstBlock { mut opened, mut reader, mut rows } = first.map_err(|error| done.end(error)).ok()?;
        if let Reader::Lines(blocks) = &mut reader
            && opened.reading.framing != Framing::Records
        {
            self.whole_file(&mut opened, blocks, done);
            return Some(opened);
        }
        self.begin(&opened);
        done.unrelated = opened.is_unrelated(&self.buffer);
        self.report_conversion(&opened, done);
        let mut place = FilePlace::START;
        loop {
            self.find_units(rows.as_ref());
            self.known.take();
            place.line += self.units(&opened, place, rows.as_ref(), done);
            place.offset += self.buffer.len();
            if reader.is_done() || done.rest_unread || done.unrelated {
                break;
            }
            match reader.next(&mut self.buffer, Start { name: &source.name, line: &|| place.line }, false) {
                Ok(next) => rows = next,
                Err(error) => break done.end(error),
            }
        }
        self.advance(number, reader.taken(), place.line - 1);
        Some(opened)
    }

    /// The number of rows or lines in the buffer. Finds where lines end.
    fn find_units(&mut self, rows: Option<&RowBlock>) -> usize {
        if let Some(rows) = rows {
            return rows.texts.len();
        }
        self.ends.clear();
        self.ends.extend(memchr::memchr_iter(b'\n', &self.buffer).map(|newline| newline + 1));
        if self.ends.last().copied().unwrap_or(0) < self.buffer.len() {
            self.ends.push(self.buffer.len());
        }
        self.ends.len()
    }

    fn begin(&self, opened: &Opened) {
        if let Some(progress) = &self.batch.progress {
            progress.begin(opened.number, &opened.source);
        }
    }

    fn advance(&self, number: usize, bytes: u64, units: usize) {
        if let Some(progress) = &self.batch.progress {
            progress.advance(number, bytes, units);
        }
    }
}
