//! A file that is one unit: a log or a document.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::unit::{FilePlace, RawUnit};
use super::{Done, Worker};
use crate::batch::heads::{readable_head, valid_prefix};
use crate::batch::reader::{read_whole, rebuild};
use crate::batch::rescue::hides_damage;
use crate::batch::{Damage, Opened, Work};
use crate::{Blocks, FileError};
use curtail_core::dialects::{Framing, Reading, detect_framing, is_patch_log};

impl<W: Work> Worker<'_, W> {
    /// Reads the rest of a file and works on it. `opened` becomes what it turns out to be.
    pub(super) fn whole_file(&mut self, opened: &mut Arc<Opened>, blocks: &mut Blocks, done: &mut Done<W::Out>) {
        self.begin(opened);
        match read_whole(blocks, opened, &mut self.buffer) {
            Ok(()) => {
                self.report_conversion(opened, done);
                self.look_again(opened);
                self.file_in_buffer(opened, done);
            }
            Err(_) if self.batch.stop.load(Ordering::Relaxed) => done.rest_unread = true,
            Err(error) => done.end(error),
        }
        self.advance(opened.number, blocks.taken(), 1);
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
    fn file_in_buffer(&mut self, opened: &mut Arc<Opened>, done: &mut Done<W::Out>) {
        match self.rebuild(opened) {
            Ok(()) if self.buffer.is_empty() => {}
            Ok(()) if opened.is_unrelated(&self.buffer) => done.unrelated = true,
            Ok(()) => self.log_or_document(opened, done),
            Err(_) if self.batch.damage == Damage::ReadAround && self.rescue_file(opened, done) => {}
            Err(error) => done.end(error),
        }
    }

    /// Replaces a log of patches, or an export, by the document that comes of it. Whoever leaves out what is damaged writes the
    /// log, and whoever reads around it sees the damage.
    fn rebuild(&mut self, opened: &mut Arc<Opened>) -> Result<(), FileError> {
        let is_kept = self.batch.damage != Damage::Fail
            && opened.reading.framing == Framing::Lines
            && is_patch_log(valid_prefix(&self.buffer))
            && (self.batch.damage == Damage::LeaveOut || hides_damage(&self.buffer));
        if is_kept { Ok(()) } else { rebuild(opened, &mut self.buffer) }
    }

    /// Works on the buffer, which is not rebuilt any more. Of a damaged log, what can be read is read if the batch says so.
    fn log_or_document(&self, opened: &mut Arc<Opened>, done: &mut Done<W::Out>) {
        let is_lines = opened.reading.framing == Framing::Lines && !opened.rebuilt;
        let damage = if is_lines { self.batch.damage } else { Damage::Fail };
        let leaves_out = damage == Damage::LeaveOut || damage == Damage::ReadAround && hides_damage(&self.buffer);
        if leaves_out && self.rescue_file(opened, done) {
            return;
        }
        let as_read = Arc::clone(opened);
        done.is_read |= self.unit_or(RawUnit::new(&as_read, &self.buffer, FilePlace::START), done, |done| {
            (damage == Damage::ReadAround && self.rescue_file(opened, done)).then_some(true)
        });
    }
}
