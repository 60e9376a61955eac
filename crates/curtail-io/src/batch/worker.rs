//! What one thread does with a task: reads the units of its file or block, and passes each to the command's work.

use std::cell::OnceCell;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::feed::{
    FirstBlock, LineNumber, ReadBlock, Reader, Start, Task, TaskKind, Unopened, described, read_whole, readable_head,
    rebuild, valid_prefix,
};
use super::records::Records;
use super::rescue::{Loss, Rescued, hides_damage, is_record, is_sound, may_hide_damage, utf16};
use super::{Batch, Damage, Failure, OnError, Opened, Unit, Work};
use crate::{Blocks, Buffer, RowBlock, RowPlace, RowResult, Source, too_long};
use crate::{ErrorKind, FileError};
use curtail_core::dialects::{Framing, ReadError, Reading, detect_framing, is_patch_log};
use curtail_core::error::{Locator, TextPlace};

/// A place in a file.
#[derive(Clone, Copy)]
struct FilePlace {
    /// The number of the line, from 1.
    line: usize,
    /// In bytes.
    offset: usize,
}

impl FilePlace {
    const START: Self = Self { line: 1, offset: 0 };
}

/// The result of a task.
pub(super) struct Done<Out> {
    pub(super) number: usize,
    pub(super) opened: Option<Arc<Opened>>,
    pub(super) first: bool,
    pub(super) last: bool,
    pub(super) out: Out,
    pub(super) failures: Vec<Failure>,
    /// Whether the rest of the file is not read.
    pub(super) broken: bool,
    /// Whether anything of a log or of its records could be read.
    pub(super) is_read: bool,
    /// Whether the file is that of another program.
    pub(super) unrelated: bool,
}

impl<Out> Done<Out> {
    /// Ends the file with an error of the file itself.
    fn end(&mut self, error: FileError) {
        self.broken = true;
        self.failures.push(Failure { error, record: None, is_loss: false });
    }

    /// Reports what is lost of a damaged log, and its bytes if there are any.
    fn lose(&mut self, error: FileError, bytes: Option<&[u8]>) {
        let record = bytes.filter(|bytes| !bytes.is_empty()).map(<[u8]>::to_vec);
        self.failures.push(Failure { error, record, is_loss: true });
    }
}

/// The buffer of a thread, and its work on a task.
pub(super) struct Worker<'b, W> {
    pub(super) batch: &'b Batch,
    pub(super) work: &'b W,
    pub(super) buffer: Buffer,
    /// Where the lines of the buffer end.
    pub(super) ends: Vec<usize>,
}

impl<W: Work> Worker<'_, W> {
    pub(super) fn run(&mut self, task: Task, out: W::Out) -> Done<W::Out> {
        let mut done = Done {
            number: task.number,
            opened: None,
            first: true,
            last: true,
            out,
            failures: Vec::new(),
            broken: false,
            is_read: false,
            unrelated: false,
        };
        match task.kind {
            TaskKind::Block { opened, line, next_line, offset, first, last, taken, read } => {
                (done.first, done.last) = (first, last);
                let rows = self.complete(&opened, read, &line, &next_line, &mut done);
                if first {
                    self.begin(&opened);
                    done.unrelated = opened.is_unrelated(&self.buffer);
                }
                if first && last {
                    self.convert(&opened, &mut done);
                }
                let units = self.block(&opened, FilePlace { line: line.wait(), offset }, rows.as_ref(), &mut done);
                self.advance(opened.number, taken, units);
                done.opened = Some(opened);
            }
            TaskKind::Whole(opened, mut blocks) => self.whole(opened, &mut blocks, &mut done),
            TaskKind::File(source, number) => self.file(&source, number, &mut done),
            TaskKind::Broken(opened, error) => {
                done.first = false;
                done.opened = opened;
                done.end(error);
            }
        }
        let whole = done.first && done.last && !done.broken && !done.unrelated;
        if let Some(opened) = done.opened.as_ref().filter(|opened| whole && opened.table.is_none()) {
            self.work.whole(opened, &mut done.out);
        }
        done
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

    /// Completes the buffer, finds its lines, and publishes the number of the line after them. Returns its rows.
    fn complete(
        &mut self,
        opened: &Opened,
        read: ReadBlock,
        line: &LineNumber,
        next: &LineNumber,
        done: &mut Done<W::Out>,
    ) -> Option<RowBlock> {
        if let Some(Err(error)) = read.unread.map(|unread| unread.read(&mut self.buffer, &opened.source.name)) {
            self.buffer.clear();
            opened.skip_rest();
            done.end(error);
        }
        let lines = match &read.rows {
            Some(rows) => rows.texts.len(),
            None => self.find_lines(),
        };
        next.set(line.wait() + lines);
        read.rows
    }

    /// Finds where the lines of the buffer end, and returns their number.
    fn find_lines(&mut self) -> usize {
        self.ends.clear();
        self.ends.extend(memchr::memchr_iter(b'\n', &self.buffer).map(|newline| newline + 1));
        if self.ends.last().copied().unwrap_or(0) < self.buffer.len() {
            self.ends.push(self.buffer.len());
        }
        self.ends.len()
    }

    /// Replaces the buffer, all records of a file, by the same in UTF-8 if it is UTF-16 and the batch reads damaged files.
    fn convert(&mut self, opened: &Opened, done: &mut Done<W::Out>) {
        if self.batch.damage == Damage::Fail || opened.table.is_some() {
            return;
        }
        let Some(text) = utf16(&self.buffer) else { return };
        self.buffer.clear();
        if let Err(error) = self.buffer.append(&text) {
            return done.end(FileError::system(&opened.source.name, &error));
        }
        self.find_lines();
        done.lose(Loss::conversion().error(&opened.source.name), None);
    }

    fn file(&mut self, source: &Source, number: usize, done: &mut Done<W::Out>) {
        let input_options = &self.batch.input_options;
        let limits = input_options.limits(&self.batch.stop);
        let unopened = Unopened { input_options, source, number };
        let (opened, mut reader, rows) = match unopened.open(&limits, &mut self.buffer) {
            Ok(FirstBlock { opened, reader: Reader::Lines(mut blocks), .. })
                if opened.reading.framing != Framing::Records =>
            {
                return self.whole(opened, &mut blocks, done);
            }
            Ok(FirstBlock { opened, reader, rows }) => (opened, reader, rows),
            Err(error) => return done.failures.push(Failure { error, record: None, is_loss: false }),
        };
        done.unrelated = opened.is_unrelated(&self.buffer);
        self.find_lines();
        if reader.is_done() {
            self.convert(&opened, done);
        }
        let mut offset = 0;
        let mut units = self.block(&opened, FilePlace::START, rows.as_ref(), done);
        while !reader.is_done() && !done.broken && !done.unrelated {
            let line = units + 1;
            offset += self.buffer.len();
            match reader.next(&mut self.buffer, Start { name: &source.name, line: &|| line }, false) {
                Ok(rows) => {
                    self.find_lines();
                    units += self.block(&opened, FilePlace { line, offset }, rows.as_ref(), done);
                }
                Err(error) => done.end(error),
            }
        }
        self.advance(number, reader.taken(), units);
        done.opened = Some(opened);
    }

    fn whole(&mut self, mut opened: Arc<Opened>, blocks: &mut Blocks, done: &mut Done<W::Out>) {
        self.begin(&opened);
        let read = read_whole(blocks, &opened, &mut self.buffer);
        match read {
            Ok(()) => {
                self.look_again(&mut opened);
                self.read_file(&mut opened, done);
            }
            Err(_) if self.batch.stop.load(Ordering::Relaxed) => done.broken = true,
            Err(error) => done.end(error),
        }
        self.advance(opened.number, blocks.taken(), 1);
        done.opened = Some(opened);
    }

    /// Takes a document for the log that it is: its first block was a single torn line, which a document begins with as well.
    fn look_again(&self, opened: &mut Arc<Opened>) {
        let options = &self.batch.input_options;
        let is_decided = options.framing.is_some() || self.batch.damage == Damage::Fail;
        let second = self.buffer.split(|byte| *byte == b'\n').nth(1);
        let may_be_log = second.is_some_and(|line| matches!(line, [b'{' | b'[' | 0, ..]));
        if is_decided || opened.reading.framing != Framing::Document || !may_be_log {
            return;
        }
        let head = readable_head(&self.buffer);
        if detect_framing(&head, options.messages_key.as_deref()) == Framing::Lines {
            let mut reading = Reading { framing: Framing::Lines, ..opened.reading.clone() };
            reading.dialect = reading.dialect.or_else(|| reading.dialect_of_head(&head));
            *opened = Arc::new(Opened { reading, ..Opened::clone(opened) });
        }
    }

    /// Works on the buffer, all of a file.
    fn read_file(&mut self, opened: &mut Arc<Opened>, done: &mut Done<W::Out>) {
        match self.rebuild(opened) {
            Ok(()) if self.buffer.is_empty() => {}
            Ok(()) if opened.is_unrelated(&self.buffer) => done.unrelated = true,
            Ok(()) => self.log(opened, done),
            Err(_) if self.batch.damage == Damage::ReadAround && self.rescued(opened, done) => {}
            Err(error) => done.end(error),
        }
    }

    /// Replaces a log of patches, or an export, by the document that comes of it. Whoever leaves out what is damaged writes the
    /// log, and whoever reads around it sees the damage.
    fn rebuild(&mut self, opened: &mut Arc<Opened>) -> Result<(), FileError> {
        let is_log = || opened.reading.framing == Framing::Lines && is_patch_log(valid_prefix(&self.buffer));
        let is_kept = match self.batch.damage {
            Damage::Fail => false,
            Damage::LeaveOut => is_log(),
            Damage::ReadAround => is_log() && hides_damage(&self.buffer),
        };
        if is_kept { Ok(()) } else { rebuild(opened, &mut self.buffer) }
    }

    /// Works on the buffer, a whole log or document. Of a damaged log, what can be read is read if the batch says so.
    fn log(&self, opened: &mut Arc<Opened>, done: &mut Done<W::Out>) {
        let is_lines = opened.reading.framing == Framing::Lines && !opened.rebuilt;
        let damage = if is_lines { self.batch.damage } else { Damage::Fail };
        let leaves_out = damage == Damage::LeaveOut || damage == Damage::ReadAround && hides_damage(&self.buffer);
        if leaves_out && self.rescued(opened, done) {
            return;
        }
        match damage {
            Damage::ReadAround => {
                let whole = Arc::clone(opened);
                let rescue = |done: &mut Done<W::Out>| self.rescued(opened, done).then_some(true);
                self.unit_or(&whole, &self.buffer, FilePlace::START, done, rescue);
            }
            Damage::Fail | Damage::LeaveOut => {
                self.unit(opened, &self.buffer, FilePlace::START, None, done);
            }
        }
    }

    /// Works on a unit. If that fails and `rescue` finds damage in it, what was wrong is only what `rescue` says. Returns whether
    /// anything was read.
    fn unit_or(
        &self,
        opened: &Opened,
        text: &[u8],
        place: FilePlace,
        done: &mut Done<W::Out>,
        rescue: impl FnOnce(&mut Done<W::Out>) -> Option<bool>,
    ) -> bool {
        let failures = done.failures.len();
        let was_broken = done.broken;
        if self.unit(opened, text, place, None, done) {
            return true;
        }
        let failed = done.failures.split_off(failures);
        let is_broken = std::mem::replace(&mut done.broken, was_broken);
        rescue(done).unwrap_or_else(|| {
            done.failures.extend(failed);
            done.broken = is_broken;
            false
        })
    }

    /// Works on what can be read of the buffer, and reports the rest. Returns false if nothing is damaged, or nothing can be read.
    fn rescued(&self, opened: &mut Arc<Opened>, done: &mut Done<W::Out>) -> bool {
        let rescued = match self.batch.damage {
            Damage::ReadAround => Rescued::in_place(&self.buffer),
            Damage::LeaveOut | Damage::Fail => Rescued::from_text(&self.buffer),
        };
        let rescued = rescued.filter(|rescued| !rescued.is_empty());
        let text = rescued.as_ref().map_or(&*self.buffer, |rescued| &rescued.text);
        let made = opened.rebuild_around(valid_prefix(text));
        if rescued.is_none() && made.is_none() {
            return false;
        }
        done.is_read = true;
        for loss in rescued.iter().flat_map(|rescued| &rescued.losses) {
            done.lose(loss.error(&opened.source.name), Some(&loss.bytes));
        }
        let Some((made_of, made)) = made else {
            self.unit(opened, text, FilePlace::START, None, done);
            return true;
        };
        for fault in made.faults {
            let place = TextPlace::locate(text, fault.offset, 1);
            done.lose(FileError::new(ErrorKind::Content, &opened.source.name, fault.what).at(place), None);
        }
        if self.batch.damage == Damage::LeaveOut && made_of.export.is_none() {
            self.work.keep(text, &mut done.out);
            return true;
        }
        *opened = Arc::new(made_of);
        self.unit(opened, made.text.as_bytes(), FilePlace::START, None, done);
        true
    }

    /// Works on all records or rows of the buffer, and returns how many there were.
    fn block(&self, opened: &Opened, place: FilePlace, rows: Option<&RowBlock>, done: &mut Done<W::Out>) -> usize {
        match rows {
            _ if done.unrelated => 0,
            Some(rows) => self.rows(opened, rows, done),
            None => self.records(opened, place, done),
        }
    }

    /// Works on the rows of the buffer up to the first that fails.
    fn rows(&self, opened: &Opened, block: &RowBlock, done: &mut Done<W::Out>) -> usize {
        for (index, text) in block.texts.iter().enumerate() {
            if self.batch.stop.load(Ordering::Relaxed) {
                done.broken = true;
            }
            if done.broken {
                return index;
            }
            let place = RowPlace { row: block.first.row + index, ..block.first };
            let result = match text {
                Err(level) => RowResult::Null(*level),
                Ok(range) => {
                    let record = &self.buffer[range.clone()];
                    match self.unit(
                        opened,
                        record,
                        FilePlace { line: block.line + index, offset: 0 },
                        Some(place),
                        done,
                    ) {
                        false if self.batch.on_error != OnError::Keep => RowResult::Dropped,
                        _ => RowResult::Text(0),
                    }
                }
            };
            self.work.row(place, result, &mut done.out);
        }
        block.texts.len()
    }

    /// Works on the records of the buffer, which begins at `block`, and returns how many lines that was. Ends early at the first
    /// that fails and when the batch is stopped: where every record asks a model, a block may take minutes.
    fn records(&self, opened: &Opened, block: FilePlace, done: &mut Done<W::Out>) -> usize {
        // By these, records on damaged lines are recognized.
        let sound = OnceCell::new();
        let mut start = 0;
        for (nth, &end) in self.ends.iter().enumerate() {
            if self.batch.stop.load(Ordering::Relaxed) {
                done.broken = true;
            }
            if done.broken {
                return nth;
            }
            let place = FilePlace { line: block.line + nth, offset: block.offset + start };
            done.is_read |= self.record(opened, &self.buffer[start..end], place, &sound, done);
            start = end;
        }
        self.ends.len()
    }

    /// Works on a record, or on what can be read of a damaged line. Returns whether anything was read.
    fn record(
        &self,
        opened: &Opened,
        line: &[u8],
        place: FilePlace,
        records: &OnceCell<Records>,
        done: &mut Done<W::Out>,
    ) -> bool {
        match self.batch.damage {
            Damage::ReadAround if !may_hide_damage(line) => {
                self.unit_or(opened, line, place, done, |done| self.parts(opened, line, place, records, done))
            }
            Damage::ReadAround | Damage::LeaveOut
                if let Some(is_read) = self.parts(opened, line, place, records, done) =>
            {
                is_read
            }
            _ => self.unit(opened, line, place, None, done),
        }
    }

    /// Works on what can be read of a line, and reports the rest. Returns whether anything was read; `None` if nothing is damaged.
    fn parts(
        &self,
        opened: &Opened,
        line: &[u8],
        place: FilePlace,
        records: &OnceCell<Records>,
        done: &mut Done<W::Out>,
    ) -> Option<bool> {
        if is_record(line) && is_sound(place.line, line.trim_ascii()) {
            return None;
        }
        let rescued = Rescued::from_line(place.line, line, records.get_or_init(|| Records::from_text(&self.buffer)))?;
        for loss in rescued.losses {
            done.lose(loss.error(&opened.source.name), Some(&loss.bytes));
        }
        let mut is_read = false;
        for record in rescued.text.split_inclusive(|byte| *byte == b'\n') {
            is_read |= self.unit(opened, record, place, None, done);
        }
        Some(is_read)
    }

    /// Works on one unit, and returns whether that succeeded.
    fn unit(
        &self,
        opened: &Opened,
        record: &[u8],
        FilePlace { line, offset }: FilePlace,
        row: Option<RowPlace>,
        done: &mut Done<W::Out>,
    ) -> bool {
        let unit = |text| Unit { text, line, offset, opened, row };
        if let Some(most) = self.batch.input_options.max_record.filter(|&most| record.len() > most) {
            let error = too_long(&opened.source.name, most).at(TextPlace { line, column: 1 });
            self.fail(opened, record, error, done);
            return false;
        }
        let result = if let Ok(text) = simdutf8::basic::from_utf8(record) {
            self.work.unit(&unit(text), &mut done.out)
        } else {
            let text = valid_prefix(record);
            self.work.garbled(&unit(text), ReadError::invalid_utf8(text), &mut done.out)
        };
        let Err(read_error) = result else { return true };
        let offset = read_error.offset;
        let (mut locator, reason) = match row {
            Some(row) => (Locator::for_row(record, line), format!("{} ({row})", read_error.what)),
            None => (Locator::new(record, line), described(read_error, record, line)),
        };
        let error = FileError::new(ErrorKind::Content, &opened.source.name, reason).at(locator.place(offset));
        self.fail(opened, record, error, done);
        false
    }

    fn fail(&self, opened: &Opened, record: &[u8], error: FileError, done: &mut Done<W::Out>) {
        match self.batch.on_error {
            OnError::Fail => {
                done.broken = true;
                opened.skip_rest();
            }
            OnError::Skip => {}
            // A table has no place for a reason.
            OnError::Report if opened.table.is_some() => {}
            OnError::Keep => self.work.keep(record, &mut done.out),
            OnError::Report => self.work.report(&error, &mut done.out),
        }
        done.failures.push(Failure { error, record: Some(record.to_vec()), is_loss: false });
    }
}
