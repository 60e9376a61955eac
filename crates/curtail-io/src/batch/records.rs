//! Records among the other bytes of a damaged line.

use std::collections::HashSet;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use curtail_core::json::Document;

/// What sound records of a text have in common, by which others are recognized among the bytes of a damaged line.
pub(super) struct Records {
    /// How they begin, up to the first colon; `None` if there are none.
    heads: Option<AhoCorasick>,
    /// The keys of some of them.
    keys: Vec<HashSet<String>>,
    /// The byte with which they begin.
    opener: u8,
}

/// A part of a damaged line.
pub(super) struct Part {
    pub(super) range: Range<usize>,
    pub(super) is_sound: bool,
}

/// So many sound lines are looked at.
const SAMPLE: usize = 256;

/// So many keys a block of a message may have.
const PART: usize = 4;

/// Why a record is looked for at a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clue {
    /// The line begins here, or a record ended: nothing but a record can follow.
    Start,
    /// What was written before cannot go on here. It fails at this place, which the record contains.
    Fault(usize),
    /// The bytes are those with which other records begin.
    Head,
}

/// A place of a damaged line where a record may begin.
#[derive(Clone, Copy)]
struct Beginning {
    at: usize,
    clue: Clue,
    /// Where to look on if none does.
    resume: usize,
}

impl Beginning {
    const fn start(at: usize) -> Self {
        Self { at, clue: Clue::Start, resume: at + 1 }
    }
}

impl Records {
    pub(super) fn from_text(text: &[u8]) -> Self {
        let mut records = Self { heads: None, keys: Vec::new(), opener: b'{' };
        let mut heads: HashSet<&[u8]> = HashSet::new();
        let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let mut lists = false;
        for line in lines.filter(|line| line.starts_with(b"{") || line.starts_with(b"[")).take(SAMPLE) {
            let Some(document) = std::str::from_utf8(line).ok().and_then(|line| Document::parse(line).ok()) else {
                continue;
            };
            let Some(own) = keys_of(&document) else {
                lists = true;
                continue;
            };
            heads.extend(head_of(line));
            if !records.keys.contains(&own) {
                records.keys.push(own);
            }
        }
        if lists && records.keys.is_empty() {
            records.opener = b'[';
        }
        if !heads.is_empty() {
            records.heads = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(heads).ok();
        }
        records
    }

    /// Whether the records are objects: a line that is a text or a number is none of them.
    pub(super) const fn are_objects(&self) -> bool {
        !self.keys.is_empty()
    }

    /// The parts of a line: its sound records, and what is between them. `is_ended` says whether a line break follows.
    pub(super) fn in_line(&self, line: &[u8], is_ended: bool) -> Vec<Part> {
        let text = readable(line);
        let mut parts: Vec<Part> = Vec::new();
        let mut lost = skip_space(line, 0);
        let mut next = Some(Beginning::start(lost));
        while let Some(beginning) = next.filter(|beginning| beginning.at < line.len()) {
            let at = beginning.at;
            let first = (line[at] == self.opener).then(|| Document::parse_first(&text[at..]));
            let found = first.as_ref().and_then(|first| first.as_ref().ok());
            if let Some(end) = found.and_then(|found| self.end_of_record(&text, beginning, found, is_ended)) {
                add_lost(line, lost..at, &mut parts);
                parts.push(Part { range: at..end, is_sound: true });
                // Some programs end a line with a carriage return alone.
                lost = skip_space(line, end);
                next = Some(Beginning::start(lost));
                continue;
            }
            let fault = first.and_then(Result::err).map(|fault| at + fault.offset);
            let after = fault.and_then(|fault| self.after_fault(line, beginning, fault));
            next = after.or_else(|| self.next_head(line, beginning.resume));
        }
        add_lost(line, lost..line.len(), &mut parts);
        parts
    }

    /// Where the record ends that begins here, if the value that was `found` is one.
    fn end_of_record(
        &self,
        line: &str,
        Beginning { at, clue, .. }: Beginning,
        found: &Document<'_>,
        is_ended: bool,
    ) -> Option<usize> {
        let end = at + found.roots().next()?.span().end as usize;
        let rest = line[end..].trim_ascii_start();
        let is_followed = rest.is_empty() || rest.as_bytes().first() == Some(&self.opener);
        let is_certain = match clue {
            Clue::Start => true,
            Clue::Fault(fault) => is_followed && end > fault,
            Clue::Head => false,
        };
        let is_likely = || {
            let own = keys_of(found)?;
            // A record of a kind of its own ends the line, begins as others do, and has more than a part of one.
            let is_last = is_ended && rest.is_empty() && own.len() > PART;
            (is_last || self.keys.iter().any(|keys| are_alike(keys, &own))).then_some(())
        };
        (is_certain || is_followed && is_likely().is_some()).then_some(end)
    }

    /// Where a record begins that was written behind a torn one. The torn one has its beginning at `torn`, and cannot be read on at
    /// `fault`: there the record begins, perhaps behind half a literal or an escape, or it began a few bytes before, inside a
    /// string that its first quote ended.
    fn after_fault(&self, line: &[u8], torn: Beginning, fault: usize) -> Option<Beginning> {
        if torn.clue == Clue::Head || fault >= line.len() {
            return None;
        }
        let is_structure = |byte: &u8| b"{}[],:\"".contains(byte);
        let behind = line[fault..].iter().position(is_structure).map(|at| fault + at);
        let behind = behind.filter(|at| line[*at] == self.opener);
        let before = || line[..fault].iter().rposition(|byte| *byte == self.opener);
        let at = behind.or_else(before).filter(|at| *at > torn.at)?;
        Some(Beginning { at, clue: Clue::Fault(fault), resume: torn.resume })
    }

    /// Where a record may begin, from `at` on.
    fn next_head(&self, line: &[u8], at: usize) -> Option<Beginning> {
        let found = at + self.heads.as_ref()?.find(line.get(at..)?)?.start();
        Some(Beginning { at: found, clue: Clue::Head, resume: found + 1 })
    }
}

/// The line as a text of the same length: bytes that are no UTF-8 become such as no JSON contains.
fn readable(line: &[u8]) -> String {
    let mut text = String::with_capacity(line.len());
    for chunk in line.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '\u{1}'));
    }
    text
}

fn skip_space(line: &[u8], at: usize) -> usize {
    at + line[at..].len() - line[at..].trim_ascii_start().len()
}

/// Adds what was lost, unless it is white space.
fn add_lost(line: &[u8], range: Range<usize>, parts: &mut Vec<Part>) {
    if !line[range.clone()].trim_ascii().is_empty() {
        parts.push(Part { range, is_sound: false });
    }
}

/// Whether most keys of two objects are the same: a record is like others, and a part of one is not.
fn are_alike(one: &HashSet<String>, other: &HashSet<String>) -> bool {
    let common = one.intersection(other).count();
    let all = one.len() + other.len() - common;
    5 * common >= 3 * all
}

/// The keys of an object; `None` if the first value is none.
fn keys_of(document: &Document<'_>) -> Option<HashSet<String>> {
    let object = document.roots().next().filter(|root| root.is_object())?;
    Some(object.members().map(|member| member.key.decode().into_owned()).collect())
}

/// The beginning of an object up to its first colon.
fn head_of(line: &[u8]) -> Option<&[u8]> {
    memchr::memchr(b':', line).map(|at| &line[..=at])
}
