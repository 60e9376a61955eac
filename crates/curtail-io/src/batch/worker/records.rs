//! The records or rows in the buffer, each of which is a unit.

use std::sync::atomic::Ordering;

use super::unit::{FilePlace, RawUnit};
use super::{Done, Worker};
use crate::batch::{OnError, Opened, Work};
use crate::{RowBlock, RowPlace, RowResult};

impl<W: Work> Worker<'_, W> {
    /// Works on the records or rows of the buffer, which begins at `place`, up to the first that fails. Returns how many there were.
    pub(super) fn units(
        &self,
        opened: &Opened,
        place: FilePlace,
        rows: Option<&RowBlock>,
        done: &mut Done<W::Out>,
    ) -> usize {
        match rows {
            _ if done.unrelated => 0,
            Some(rows) => self.rows(opened, rows, done),
            None => self.records(opened, place, done),
        }
    }

    fn rows(&self, opened: &Opened, block: &RowBlock, done: &mut Done<W::Out>) -> usize {
        for (index, text) in block.texts.iter().enumerate() {
            self.heed_stop(done);
            if done.rest_unread {
                return index;
            }
            let row = RowPlace { row: block.first.row + index, ..block.first };
            let result = match text {
                Err(level) => RowResult::Null(*level),
                Ok(range) => {
                    let place = FilePlace { line: block.line + index, offset: 0 };
                    let unit = RawUnit::new(opened, &self.buffer[range.clone()], place);
                    let is_done = self.unit(RawUnit { row: Some(row), ..unit }, done);
                    if is_done || self.batch.on_error == OnError::Keep {
                        RowResult::Text(0)
                    } else {
                        RowResult::Dropped
                    }
                }
            };
            self.work.row(row, result, &mut done.out);
        }
        block.texts.len()
    }

    fn records(&self, opened: &Opened, block: FilePlace, done: &mut Done<W::Out>) -> usize {
        let mut start = 0;
        for (nth, &end) in self.ends.iter().enumerate() {
            self.heed_stop(done);
            if done.rest_unread {
                return nth;
            }
            let place = FilePlace { line: block.line + nth, offset: block.offset + start };
            let unit = RawUnit::new(opened, &self.buffer[start..end], place);
            done.is_read |= self.record(unit, done);
            start = end;
        }
        self.ends.len()
    }

    /// Breaks the file off if the batch is stopped: where every record asks a model, a block may take minutes.
    fn heed_stop(&self, done: &mut Done<W::Out>) {
        done.rest_unread |= self.batch.stop.load(Ordering::Relaxed);
    }
}
