//! Cuts, checks and counts texts with a command, which knows the dialect of those before.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::answer::{Answer, Failure};
use super::{Command, CutTexts, Kind, NAME};
use crate::reports::findings::{CheckOutcome, json_of};
use crate::works::copies::{DropRecords, all_seen};
use curtail_core::checks::Finding;
use curtail_core::dialects::{Dialect, Framing, ReadError, rebuilt_around};
use curtail_core::pipeline::Cut;
use curtail_core::places::{INVALID_UTF8, TextPlace};
use curtail_io::batch::{Damage, Opened, Rescued, Unit};
use curtail_io::too_long;

/// The most bytes of the first texts by which the dialect of all is detected.
const HEAD: usize = 512 * 1024;

/// What a command knows of the texts that it has read: all have the dialect of the first one that decides it.
pub struct Reader {
    command: Arc<Command>,
    dialect: OnceLock<&'static dyn Dialect>,
    /// The fingerprints of the transcripts so far.
    seen: Mutex<HashSet<u128>>,
}

impl Reader {
    /// Nothing was read yet.
    #[must_use]
    pub fn new(command: Arc<Command>) -> Self {
        Self { command, dialect: OnceLock::new(), seen: Mutex::default() }
    }

    /// The command.
    #[must_use]
    pub fn command(&self) -> &Command {
        &self.command
    }

    /// Begins to read texts of this framing, of which `heads` are the first.
    ///
    /// # Errors
    /// No dialect has the name that was given.
    pub fn open<'h>(&self, framing: Framing, heads: impl IntoIterator<Item = &'h str>) -> Result<Texts<'_>, Failure> {
        let mut reading = self.command.input.reading(framing)?;
        if reading.dialect.is_none() && framing == Framing::Records {
            let mut left = HEAD;
            for head in heads {
                if self.dialect.get().is_some() || left == 0 {
                    break;
                }
                left = left.saturating_sub(head.len());
                if let Some(dialect) = reading.dialect_of_head(head) {
                    self.dialect.get_or_init(|| dialect);
                }
            }
            reading.dialect = self.dialect.get().copied();
        }
        Ok(Texts { reader: self, opened: Opened::in_memory(NAME, reading) })
    }
}

/// Reads texts of one framing and dialect, on any thread.
pub struct Texts<'r> {
    reader: &'r Reader,
    opened: Opened,
}

impl Texts<'_> {
    /// Cuts a text, and appends the result to `out`.
    ///
    /// # Errors
    /// It is no transcript, or cannot be cut. Nothing is appended then.
    pub fn cut(&self, text: &str, out: &mut String) -> Result<Answer, Failure> {
        let Kind::Cut(cut) = &self.reader.command.kind else { return Err(Failure::new("the command cuts nothing")) };
        self.refuse_long(text)?;
        if self.opened.reading.framing == Framing::Records {
            return match cut.damage {
                Damage::Fail => self.cut_text(cut, &self.opened, text, out),
                _ => Err(Failure::new("--damaged reads around the damage of a log; pass the log to `whole`")),
            };
        }
        let rescued = match cut.damage {
            Damage::Fail => None,
            _ => Rescued::from_text(text.as_bytes()).filter(|rescued| !rescued.is_empty()),
        };
        match rescued {
            Some(rescued) => self.cut_rescued(cut, rescued, out),
            None => self.cut_whole(cut, text, out),
        }
    }

    /// Cuts what is left of a damaged log, and notes its losses.
    fn cut_rescued(&self, cut: &CutTexts, rescued: Rescued, out: &mut String) -> Result<Answer, Failure> {
        let sound = String::from_utf8(rescued.text).map_err(|_| Failure::new(INVALID_UTF8))?;
        let mut answer = match rebuilt_around(&sound) {
            // A log of patches is written as it is.
            Some(chat) => {
                out.push_str(&sound);
                let faults = chat.faults.into_iter();
                let notes = faults.map(|fault| (TextPlace::locate(sound.as_bytes(), fault.offset, 1), fault.what));
                Answer { notes: notes.collect(), ..Answer::default() }
            }
            None => self.cut_whole(cut, &sound, out)?,
        };
        let losses = rescued.losses.into_iter().map(|loss| (TextPlace { line: loss.line, column: 1 }, loss.reason));
        answer.notes.splice(..0, losses);
        answer.changed = true;
        Ok(answer)
    }

    fn cut_whole(&self, cut: &CutTexts, text: &str, out: &mut String) -> Result<Answer, Failure> {
        let rebuilt = self.opened.rebuild(text).map_err(|error| Failure::in_text(text.as_bytes(), error))?;
        match rebuilt {
            Some((opened, document)) => self.cut_text(cut, &opened, &document, out),
            None => self.cut_text(cut, &self.opened, text, out),
        }
    }

    fn cut_text(&self, cut: &CutTexts, opened: &Opened, text: &str, out: &mut String) -> Result<Answer, Failure> {
        let unit = Unit { text, line: 1, offset: 0, opened, row: None, is_one_value: false };
        let before = out.len();
        let done = self.cut_unit(cut, &unit, out).inspect_err(|_| out.truncate(before))?;
        Ok(Answer::new(done, &unit))
    }

    /// Cuts a unit.
    ///
    /// # Errors
    /// It cannot be cut, or it is dropped because of a finding.
    fn cut_unit(&self, cut: &CutTexts, unit: &Unit<'_>, out: &mut String) -> Result<Cut, Failure> {
        let failed = |error: ReadError| match unit.opened.rebuilt {
            true => unit.opened.error_in_made(error).into(),
            false => Failure::in_text(unit.text.as_bytes(), error),
        };
        unit.refuse_export().map_err(failed)?;
        let examined = match &cut.drops {
            Some(drops) => Some((drops, drops.examine(unit, &mut None).map_err(failed)?)),
            None => None,
        };
        if let Some((drops, found)) = &examined
            && let Some(finding) = found.findings.first()
        {
            return Err(dropped(drops, unit, finding));
        }
        let before = out.len();
        let done = cut.cutter.cut(&unit.opened.reading, unit.text, out).map_err(|error| failed(error.into()))?;
        if let Some(checking) = cut.verifies.as_ref().filter(|_| done.changed) {
            checking.verify(unit, &out[before..]).map_err(failed)?;
        }
        if let Some((drops, found)) = &examined
            && let Some((_, finding)) = found.fingerprints.first()
            && self.is_copy(found.fingerprints.iter().map(|(print, _)| *print))
        {
            return Err(dropped(drops, unit, finding));
        }
        Ok(done)
    }

    /// Whether all these fingerprints were there before.
    fn is_copy(&self, prints: impl Iterator<Item = u128>) -> bool {
        all_seen(prints, &mut self.reader.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The findings of `curtail check` in a text, as JSON.
    ///
    /// # Errors
    /// It is no transcript.
    pub fn check(&self, text: &str) -> Result<String, Failure> {
        let Kind::Check(checking) = &self.reader.command.kind else {
            return Err(Failure::new("the command is not `check`"));
        };
        self.refuse_long(text)?;
        let verdicts = checking.levels.for_path("");
        let examined = checking.inspection.examine(&self.opened.reading, &verdicts, text);
        let examined = examined.map_err(|error| Failure::in_text(text.as_bytes(), error))?;
        let mut outcome = CheckOutcome::default();
        outcome.files.push(NAME.to_owned());
        examined.findings.into_iter().for_each(|finding| outcome.add(0, finding));
        for (print, finding) in examined.fingerprints {
            if self.is_copy(std::iter::once(print)) {
                outcome.add(0, finding);
            }
        }
        Ok(json_of(&outcome))
    }

    /// The number of tokens in a text.
    ///
    /// # Errors
    /// It is no transcript.
    pub fn count(&self, text: &str) -> Result<usize, Failure> {
        let Kind::Count(cutter) = &self.reader.command.kind else {
            return Err(Failure::new("the command is not `count`"));
        };
        self.refuse_long(text)?;
        let counted = cutter.cut(&self.opened.reading, text, &mut String::new());
        let counted = counted.map_err(|error| Failure::in_text(text.as_bytes(), error.into()))?;
        Ok(counted.totals.tokens_before)
    }

    fn refuse_long(&self, text: &str) -> Result<(), Failure> {
        match self.reader.command.input.max_record.filter(|&most| text.len() > most) {
            Some(most) => Err(Failure { place: Some(TextPlace { line: 1, column: 1 }), ..too_long(NAME, most).into() }),
            None => Ok(()),
        }
    }
}

/// Why `unit` is dropped.
fn dropped(drops: &DropRecords, unit: &Unit<'_>, finding: &Finding) -> Failure {
    let (record, _) = drops.dropped(unit, finding);
    Failure { place: Some(record.place), reason: record.reason }
}
