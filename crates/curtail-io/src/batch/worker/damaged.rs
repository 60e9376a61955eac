//! What can be read of damaged records, logs and documents.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;

use super::unit::{FilePlace, RawUnit};
use super::{Done, Worker};
use crate::batch::heads::valid_prefix;
use crate::batch::records::Records;
use crate::batch::rescue::{Loss, Rescued, is_record, is_sound, looks_damaged, utf16};
use crate::batch::{Damage, Opened, Work};
use crate::{ErrorKind, FileError};
use curtail_core::error::TextPlace;

impl<W: Work> Worker<'_, W> {
    /// Replaces the buffer, all records of a file, by the same in UTF-8 if it is UTF-16 and the batch reads damaged files.
    pub(super) fn convert(&mut self, opened: &Opened, done: &mut Done<W::Out>) {
        if self.batch.damage == Damage::Fail || opened.table.is_some() {
            return;
        }
        let Some(text) = utf16(&self.buffer) else { return };
        self.buffer.clear();
        if let Err(error) = self.buffer.append(&text) {
            return done.end(FileError::system(&opened.source.name, &error));
        }
        self.find_units(None);
        self.lose(done, Loss::conversion().error(&opened.source.name), Vec::new());
    }

    fn lose(&self, done: &mut Done<W::Out>, error: FileError, bytes: Vec<u8>) {
        self.work.lost(&mut done.out);
        done.lose(error, bytes);
    }

    /// Works on a record, or on what can be read of a damaged line. Returns whether anything was read. The first damaged line fills
    /// `known`, by which the records on such lines are recognized.
    pub(super) fn record(&self, unit: RawUnit<'_>, known: &OnceCell<Records>, done: &mut Done<W::Out>) -> bool {
        let damage = self.batch.damage;
        if damage == Damage::ReadAround && !looks_damaged(unit.bytes) {
            let unit = RawUnit { is_one_value: true, ..unit };
            return self.unit_or(unit, done, |done| self.rescue_record(unit, known, done));
        }
        let rescued = if damage == Damage::Fail { None } else { self.rescue_record(unit, known, done) };
        rescued.unwrap_or_else(|| self.unit(unit, done))
    }

    /// Works on what can be read of a line, and reports the rest. Returns whether anything was read; `None` if nothing is damaged.
    fn rescue_record(&self, unit: RawUnit<'_>, known: &OnceCell<Records>, done: &mut Done<W::Out>) -> Option<bool> {
        let RawUnit { opened, bytes: line, place: FilePlace { line: number, .. }, .. } = unit;
        if is_record(line) && is_sound(number, line.trim_ascii()) {
            return None;
        }
        let rescued = Rescued::from_line(number, line, known.get_or_init(|| Records::from_text(&self.buffer)))?;
        for loss in rescued.losses {
            self.lose(done, loss.error(&opened.source.name), loss.bytes);
        }
        let mut is_read = false;
        for record in rescued.text.split_inclusive(|byte| *byte == b'\n') {
            is_read |= self.unit(RawUnit { bytes: record, is_one_value: false, ..unit }, done);
        }
        Some(is_read)
    }

    /// Works on what can be read of the buffer, a log or an export, and reports the rest. Returns false if nothing is damaged, or
    /// nothing can be read.
    pub(super) fn rescue_file(&self, opened: &mut Arc<Opened>, done: &mut Done<W::Out>) -> bool {
        let rescued = match self.batch.damage {
            Damage::ReadAround => Rescued::in_place(&self.buffer),
            Damage::LeaveOut | Damage::Fail => Rescued::from_text(&self.buffer),
        };
        let (text, losses) = match rescued.filter(|rescued| !rescued.is_empty()) {
            Some(rescued) => (Cow::Owned(rescued.text), rescued.losses),
            None => (Cow::Borrowed(&*self.buffer), Vec::new()),
        };
        let made = opened.rebuild_around(valid_prefix(&text));
        if losses.is_empty() && made.is_none() {
            return false;
        }
        done.is_read = true;
        for loss in losses {
            self.lose(done, loss.error(&opened.source.name), loss.bytes);
        }
        let Some((made_of, made)) = made else {
            self.unit(RawUnit::new(opened, &text, FilePlace::START), done);
            return true;
        };
        for fault in made.faults {
            let place = TextPlace::locate(&text, fault.offset, 1);
            let error = FileError::new(ErrorKind::Content, &opened.source.name, fault.what).at(place);
            self.lose(done, error, Vec::new());
        }
        if self.batch.damage == Damage::LeaveOut && made_of.export.is_none() {
            self.work.keep(&text, &mut done.out);
            return true;
        }
        *opened = Arc::new(made_of);
        self.unit(RawUnit::new(opened, made.text.as_bytes(), FilePlace::START), done);
        true
    }
}
