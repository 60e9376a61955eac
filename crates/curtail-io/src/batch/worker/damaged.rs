//! What can be read of damaged records, logs and documents.

use std::borrow::Cow;
use std::sync::Arc;

use super::unit::{FilePlace, RawUnit};
use super::{Done, Worker};
use crate::batch::heads::valid_prefix;
use crate::batch::rescue::{Loss, Records, Rescued, is_record, is_sound, looks_damaged};
use crate::batch::{Damage, Opened, Work};
use crate::{ErrorKind, FileError};
use curtail_core::places::TextPlace;

impl<W: Work> Worker<'_, W> {
    /// Reports that the file was converted from UTF-16, if it was, with its first units.
    pub(super) fn report_conversion(&self, opened: &Opened, done: &mut Done<W::Out>) {
        if done.first && opened.is_converted {
            self.lose(done, Loss::conversion().error(&opened.source.name), Vec::new());
        }
    }

    fn lose(&self, done: &mut Done<W::Out>, error: FileError, bytes: Vec<u8>) {
        self.work.lost(&mut done.out);
        done.lose(error, bytes);
    }

    /// Works on a record, or on what can be read of a damaged line. Returns whether anything was read.
    pub(super) fn record(&self, unit: RawUnit<'_>, done: &mut Done<W::Out>) -> bool {
        // Of what is in another encoding, whatever looks sound is not.
        let damage = if unit.opened.foreign_encoding.is_some() { Damage::Fail } else { self.batch.damage };
        if damage == Damage::ReadAround && !looks_damaged(unit.bytes) {
            let unit = RawUnit { is_one_value: true, ..unit };
            return self.unit_or(unit, done, |done| self.rescue_record(unit, done));
        }
        let rescued = if damage == Damage::Fail { None } else { self.rescue_record(unit, done) };
        rescued.unwrap_or_else(|| self.unit(unit, done))
    }

    /// Works on what can be read of a line, and reports the rest. Returns whether anything was read; `None` if nothing is damaged.
    fn rescue_record(&self, unit: RawUnit<'_>, done: &mut Done<W::Out>) -> Option<bool> {
        let RawUnit { opened, bytes: line, place: FilePlace { line: number, .. }, .. } = unit;
        if is_record(line) && is_sound(number, line.trim_ascii()) {
            return None;
        }
        let known = self.known.get_or_init(|| Arc::new(Records::from_text(&self.buffer)));
        let rescued = Rescued::from_line(number, line, known)?;
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
        let rescued = if self.batch.damage == Damage::ReadAround {
            Rescued::in_place(&self.buffer)
        } else {
            Rescued::from_text(&self.buffer)
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

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use crate::Source;
    use crate::batch::{Batch, Damage, Event, Flow, Unit, Work};
    use curtail_core::dialects::ReadError;

    struct Nothing;

    impl Work for Nothing {
        type Out = ();

        fn unit(&self, _: &Unit<'_>, (): &mut ()) -> Result<(), ReadError> {
            Ok(())
        }
    }

    /// A caller that keeps what failed gets every loss, even one without bytes.
    #[test]
    fn every_loss_has_a_record() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let one = r#"{"role":"user","content":"a"}"#;
        std::fs::write(file.path(), format!("{one}{one}\n\0\0{one}\n\u{feff}{one}\noops\n{one}\n")).unwrap();
        let batch = Batch { damage: Damage::LeaveOut, ..Batch::default() };
        let mut records = Vec::new();
        batch.run(vec![Source::file(file.path().to_owned(), PathBuf::new())], &Nothing, |event| {
            if let Event::Failed(failure) = event {
                assert!(failure.is_loss, "{}", failure.error);
                records.push(failure.record.clone());
            }
            Flow::Continue
        });
        let nothing = Some(Vec::new());
        assert_eq!(records, [nothing.clone(), nothing.clone(), nothing, Some(b"oops".to_vec())]);
    }
}
