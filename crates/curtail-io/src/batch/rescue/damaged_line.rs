//! A damaged line: the records in it that are sound, and what is lost of it.

use super::Loss;
use super::known::Records;
use super::parting::{Part, Parting};
use super::soundness::{MARK, is_record, is_value};
use curtail_core::numbers::number_of;

/// A damaged line of a log.
pub(super) struct DamagedLine<'l> {
    /// Its number, from 1.
    pub(super) number: usize,
    /// The line without the white space at its end.
    pub(super) body: &'l [u8],
    pub(super) end: LineEnd,
}

/// How a damaged line ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEnd {
    /// With a line break, before a record or the end of the log.
    Whole,
    /// With a line break inside a record, which goes on behind an object.
    Broken,
    /// The log ends in it.
    Torn,
}

impl LineEnd {
    /// The end of a line, of which `space` is the white space at its end, and `rest` is what follows it.
    pub(super) fn new(space: &[u8], rest: &[u8]) -> Self {
        if space.is_empty() && rest.is_empty() {
            return Self::Torn;
        }
        let next = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        // In front of a record, a bracket is no rest of this one.
        let goes_on = matches!(next.trim_ascii_start(), [b',' | b'}' | b']', after @ ..] if !is_value(after));
        if goes_on { Self::Broken } else { Self::Whole }
    }
}

/// A sound record of a damaged line.
pub(super) struct SoundRecord {
    /// Where it begins in the line.
    pub(super) at: usize,
    /// What it is without the NUL bytes in it.
    pub(super) bytes: Vec<u8>,
}

impl DamagedLine<'_> {
    /// The sound records of the line, recognized by those that are `known`. What is lost of the line is added to `losses`.
    pub(super) fn sound_records(&self, known: &Records, losses: &mut Vec<Loss>) -> Vec<SoundRecord> {
        if known.are_known() && !is_record(self.body) && is_value(self.body) {
            losses.push(self.left_out(self.body, "a JSON value that is no record"));
            return Vec::new();
        }
        // Files that were put one behind another bring theirs.
        let start = if self.body.starts_with(MARK) { MARK.len() } else { 0 };
        if start > 0 {
            losses.push(self.changed("a byte order mark cut".to_owned()));
        }
        let WithoutNulls { text, nulls } = WithoutNulls::new(&self.body[start..]);
        if !nulls.is_empty() {
            losses.push(self.changed(format!("{} cut", number_of(nulls.len(), "NUL byte"))));
        }
        let parts = Parting::new(known, &text, &nulls, self.end == LineEnd::Whole).parts();
        let (sound, lost): (Vec<Part>, Vec<Part>) = parts.into_iter().partition(|part| part.is_sound);
        for part in &lost {
            let bytes = text[part.range.clone()].trim_ascii();
            let is_torn = self.end == LineEnd::Torn && part.range.end == text.len();
            let what = match std::str::from_utf8(bytes) {
                _ if is_torn => "the last line is torn",
                Err(_) => "not UTF-8",
                Ok(_) if sound.is_empty() => "not JSON",
                Ok(_) => "not JSON, beside a sound record",
            };
            losses.push(self.left_out(bytes, what));
        }
        if sound.len() > 1 && lost.is_empty() {
            losses.push(self.changed(format!("{} on one line parted", number_of(sound.len(), "record"))));
        }
        let records = sound.into_iter().map(|Part { range, .. }| {
            let nulls_before = nulls.partition_point(|null| *null <= range.start);
            SoundRecord { at: start + range.start + nulls_before, bytes: text[range].to_vec() }
        });
        records.collect()
    }

    fn left_out(&self, bytes: &[u8], what: &str) -> Loss {
        let reason = format!("{} left out: {what}", number_of(bytes.len(), "byte"));
        Loss { line: self.number, reason, bytes: bytes.to_vec() }
    }

    const fn changed(&self, reason: String) -> Loss {
        Loss { line: self.number, reason, bytes: Vec::new() }
    }
}

/// Bytes from which the NUL bytes were cut.
struct WithoutNulls {
    text: Vec<u8>,
    /// For each NUL byte, how much of `text` was before it.
    nulls: Vec<usize>,
}

impl WithoutNulls {
    fn new(bytes: &[u8]) -> Self {
        let mut text = Vec::with_capacity(bytes.len());
        let mut nulls = Vec::new();
        for run in bytes.split(|byte| *byte == 0) {
            text.extend_from_slice(run);
            nulls.push(text.len());
        }
        // No NUL byte is behind the last run.
        nulls.pop();
        Self { text, nulls }
    }
}
