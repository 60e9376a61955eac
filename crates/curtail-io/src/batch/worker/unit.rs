//! One unit: it is passed to the command's work, and what fails is handled as the batch says.

use super::{Done, Worker};
use crate::batch::heads::{reason_of, valid_prefix};
use crate::batch::{Failure, OnError, Opened, Unit, Work};
use crate::{ErrorKind, FileError, RowPlace, too_long};
use curtail_core::dialects::ReadError;
use curtail_core::places::{Locator, TextPlace};

/// A place in a file.
#[derive(Clone, Copy)]
pub(super) struct FilePlace {
    /// The number of the line, from 1.
    pub(super) line: usize,
    /// In bytes.
    pub(super) offset: usize,
}

impl FilePlace {
    pub(super) const START: Self = Self { line: 1, offset: 0 };
}

/// The bytes of a unit, before it is known whether they are a text.
#[derive(Clone, Copy)]
pub(super) struct RawUnit<'u> {
    pub(super) opened: &'u Opened,
    pub(super) bytes: &'u [u8],
    pub(super) place: FilePlace,
    /// Its place in a table, if it is a row.
    pub(super) row: Option<RowPlace>,
    /// Whether it is damaged if several values are in it.
    pub(super) is_one_value: bool,
}

impl<'u> RawUnit<'u> {
    /// A whole file, or a record of it.
    pub(super) const fn new(opened: &'u Opened, bytes: &'u [u8], place: FilePlace) -> Self {
        Self { opened, bytes, place, row: None, is_one_value: false }
    }

    const fn with_text(&self, text: &'u str) -> Unit<'u> {
        let FilePlace { line, offset } = self.place;
        Unit { text, line, offset, opened: self.opened, row: self.row, is_one_value: self.is_one_value }
    }
}

impl<W: Work> Worker<'_, W> {
    /// Works on a unit, and returns whether that succeeded.
    pub(super) fn unit(&self, unit: RawUnit<'_>, done: &mut Done<W::Out>) -> bool {
        self.unit_or(unit, done, |_| None)
    }

    /// Works on a unit. If that fails and `rescue` finds damage in it, what was wrong is only what `rescue` says. Returns whether
    /// anything was read.
    pub(super) fn unit_or(
        &self,
        unit: RawUnit<'_>,
        done: &mut Done<W::Out>,
        rescue: impl FnOnce(&mut Done<W::Out>) -> Option<bool>,
    ) -> bool {
        let Err(error) = self.try_unit(unit, &mut done.out) else {
            if unit.opened.foreign_encoding.is_some() {
                // One finding says what is wrong with all of the file.
                done.rest_unread = true;
                unit.opened.skip_rest();
            }
            return true;
        };
        rescue(done).unwrap_or_else(|| {
            self.fail(unit, error, done);
            false
        })
    }

    fn try_unit(&self, unit: RawUnit<'_>, out: &mut W::Out) -> Result<(), FileError> {
        let RawUnit { opened, bytes, place: FilePlace { line, .. }, row, .. } = unit;
        let name = &opened.source.name;
        if let Some(most) = self.batch.input_options.max_record.filter(|&most| bytes.len() > most) {
            return Err(too_long(name, most).at(TextPlace { line, column: 1 }));
        }
        let result = if let Some(reason) = opened.foreign_encoding {
            let error = ReadError { offset: 0, what: String::from(reason) };
            self.work.garbled(&unit.with_text(valid_prefix(bytes)), error, out)
        } else if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
            self.work.unit(&unit.with_text(text), out)
        } else {
            let text = valid_prefix(bytes);
            self.work.garbled(&unit.with_text(text), ReadError::invalid_utf8(text), out)
        };
        result.map_err(|read_error| {
            if opened.rebuilt {
                return opened.error_in_made(read_error);
            }
            let offset = read_error.offset;
            let (mut locator, reason) = match row {
                Some(row) => (Locator::for_row(bytes, line), format!("{} ({row})", read_error.what)),
                None => (Locator::new(bytes, line), reason_of(read_error, bytes, line)),
            };
            FileError::new(ErrorKind::Content, name, reason).at(locator.place(offset))
        })
    }

    fn fail(&self, unit: RawUnit<'_>, error: FileError, done: &mut Done<W::Out>) {
        let RawUnit { opened, bytes, .. } = unit;
        match self.batch.on_error {
            OnError::Fail => {
                done.rest_unread = true;
                opened.skip_rest();
            }
            OnError::Skip => {}
            // A table has no place for a reason.
            OnError::Report if opened.table.is_some() => {}
            OnError::Keep => self.work.keep(bytes, &mut done.out),
            OnError::Report => self.work.report(&error, &mut done.out),
        }
        done.failures.push(Failure { error, record: Some(bytes.to_vec()), is_loss: false });
    }
}
