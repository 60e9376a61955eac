//! Parts a damaged line: its sound records, and what is between them.

use std::collections::HashSet;
use std::ops::Range;

use super::known::{Records, are_alike, keys_and_types, keys_of};
use curtail_core::json::Document;

/// A part of a damaged line.
pub(super) struct Part {
    pub(super) range: Range<usize>,
    pub(super) is_sound: bool,
}

/// A damaged line that is parted.
pub(super) struct Parting<'l> {
    known: &'l Records,
    line: &'l [u8],
    /// The line as a text of the same length: bytes that are not UTF-8 become such as no JSON contains.
    text: String,
    /// The places where bytes were cut, in order.
    breaks: &'l [usize],
    /// Whether a line break follows.
    is_ended: bool,
}

/// Why a record is looked for at a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clue {
    /// The line begins here, or a record ended: nothing but a record can follow.
    Start,
    /// What was written before cannot go on here. It fails at this place, which the record contains.
    Fault(usize),
    /// Bytes that were cut stood before it, or bytes that are in no record.
    Break,
    /// The bytes are those with which other records begin.
    Head,
}

/// A place of the line where a record may begin.
#[derive(Clone, Copy)]
struct Beginning {
    at: usize,
    clue: Clue,
    /// Where to look on if none does.
    resume: usize,
}

/// The most keys of a block of a message.
const BLOCK_KEYS: usize = 4;

impl<'l> Parting<'l> {
    pub(super) fn new(known: &'l Records, line: &'l [u8], breaks: &'l [usize], is_ended: bool) -> Self {
        let mut text = String::with_capacity(line.len());
        for chunk in line.utf8_chunks() {
            text.push_str(chunk.valid());
            text.extend(chunk.invalid().iter().map(|_| '\u{1}'));
        }
        Self { known, line, text, breaks, is_ended }
    }

    /// The parts of the line.
    pub(super) fn parts(&self) -> Vec<Part> {
        let behind_breaks = self.behind_breaks();
        let mut parts: Vec<Part> = Vec::new();
        let mut lost = self.skip_space(0);
        // A place behind a break is judged once, however many heads before it fail.
        let mut judged = 0;
        let mut next = Some(self.first_beginning(lost));
        while let Some(beginning) = next.filter(|beginning| beginning.at < self.line.len()) {
            let at = beginning.at;
            let first = (self.line[at] == self.known.opener).then(|| Document::parse_first(&self.text[at..]));
            let found = first.as_ref().and_then(|first| first.as_ref().ok());
            if let Some(end) = found.and_then(|found| self.end_of_record(beginning, found)) {
                self.add_lost(lost..at, &mut parts);
                parts.push(Part { range: at..end, is_sound: true });
                // Some programs end a line with a carriage return alone.
                lost = self.skip_space(end);
                next = Some(Beginning { at: lost, clue: Clue::Start, resume: lost + 1 });
                continue;
            }
            let fault = first.and_then(Result::err).map(|fault| at + fault.offset);
            let after_fault = fault.and_then(|fault| self.after_fault(beginning, fault));
            if beginning.clue == Clue::Break {
                judged = judged.max(at);
            }
            let after_break = behind_breaks.get(behind_breaks.partition_point(|place| *place <= at.max(judged)));
            let after_break = after_break.map(|at| Beginning { at: *at, clue: Clue::Break, ..beginning });
            let certain = after_break.into_iter().chain(after_fault).min_by_key(|next| next.at);
            next = certain.or_else(|| {
                let at = self.known.next_head(self.line, beginning.resume)?;
                Some(Beginning { at, clue: Clue::Head, resume: at + 1 })
            });
        }
        if let Some(last) = self.last_record(lost) {
            self.add_lost(lost..last.start, &mut parts);
            lost = last.end;
            parts.push(Part { range: last, is_sound: true });
        }
        self.add_lost(lost..self.line.len(), &mut parts);
        parts
    }

    /// Where records may begin behind bytes that were cut, in order.
    fn behind_breaks(&self) -> Vec<usize> {
        let mut behind = 0;
        let places = self.breaks.iter().map(|at| {
            if *at >= behind {
                behind = self.skip_space(*at);
            }
            behind
        });
        let mut places: Vec<usize> = places.filter(|at| self.line.get(*at) == Some(&self.known.opener)).collect();
        places.dedup();
        places
    }

    /// Where the first record of the line may begin, which has no white space before `at`. A text without quotes in front of it is
    /// no beginning of a record, but what a program wrote elsewhere. The rest of a torn record begins so as well, and closes
    /// more than it opens.
    fn first_beginning(&self, at: usize) -> Beginning {
        let first = self.line.iter().position(|byte| *byte == b'"' || *byte == self.known.opener);
        let (at, clue) = match first.filter(|first| *first > at && self.line[*first] == self.known.opener) {
            Some(first) if self.is_ended => (first, Clue::Break),
            Some(first) => (first, Clue::Head),
            None => (at, Clue::Start),
        };
        Beginning { at, clue, resume: at + 1 }
    }

    /// Where the record ends that begins here, if the value that was `found` is one.
    fn end_of_record(&self, Beginning { at, clue, .. }: Beginning, found: &Document<'_>) -> Option<usize> {
        let end = at + found.roots().next()?.span().end as usize;
        let rest = self.text[end..].trim_ascii_start();
        let is_followed = rest.is_empty() || rest.as_bytes().first() == Some(&self.known.opener);
        let is_certain = match clue {
            Clue::Start => !self.is_part(found, rest, self.is_cut_in(at..end)),
            Clue::Fault(fault) => is_followed && end > fault,
            Clue::Break => is_followed,
            Clue::Head => false,
        };
        let is_last = self.is_ended && rest.is_empty();
        if is_certain {
            return Some(end);
        }
        if !is_followed {
            return None;
        }
        // A record of a kind of its own ends the line, begins as others do, and has more than a part of one.
        let is_likely = match keys_of(found) {
            Some(own) => is_last && own.len() > BLOCK_KEYS || self.known.is_like_record(&own),
            None => is_last,
        };
        is_likely.then_some(end)
    }

    /// Whether the object that was `found` at the beginning of a line is a part of a torn record, of which `rest` is the rest:
    /// bytes were cut from the object, the rest closes more than that, or the object is like those inside of records.
    fn is_part(&self, found: &Document<'_>, rest: &str, is_cut: bool) -> bool {
        let (Some(own), Some(object)) = (keys_of(found), found.roots().next()) else { return false };
        let closers = rest.bytes().take_while(|byte| b"}]".contains(byte)).count();
        if closers == 0 && !rest.starts_with(',') {
            return false;
        }
        is_cut || !self.known.is_like_record(&own) && (closers > 1 || self.known.is_like_inner(&keys_and_types(object)))
    }

    /// Where a record begins that was written behind a torn one. The torn one has its beginning at `torn`, and cannot be read on at
    /// `fault`: there the record begins, perhaps behind half a literal or an escape, or it began a few bytes before, inside a
    /// string that its first quote ended.
    fn after_fault(&self, torn: Beginning, fault: usize) -> Option<Beginning> {
        let is_end = self.line.get(fault..).is_none_or(|rest| rest.trim_ascii().is_empty());
        if torn.clue == Clue::Head || is_end {
            return None;
        }
        let (before, behind) = self.line.split_at(fault);
        let behind = behind.iter().position(|byte| b"{}[],:\"".contains(byte)).map(|at| fault + at);
        let at = behind
            .filter(|at| self.line[*at] == self.known.opener)
            .or_else(|| before.iter().rposition(|byte| *byte == self.known.opener))
            .filter(|at| *at > torn.at)?;
        Some(Beginning { at, clue: Clue::Fault(fault), resume: torn.resume })
    }

    /// The record that ends the line, and stands where the torn one that is `lost` before it may have an object: it is unlike all
    /// that was seen inside of records; if no record was seen, it is like the torn one. Of what bytes were cut from, the rest is a
    /// part at most.
    fn last_record(&self, lost: usize) -> Option<Range<usize>> {
        let torn = self.text[lost..].trim_end();
        let LastObject { at, around } = LastObject::of(torn).filter(|_| self.is_ended)?;
        let document = Document::parse(&torn[at..]).ok()?;
        let own = keys_and_types(document.roots().next()?);
        let is_record = match self.known.are_known() {
            true => !self.known.is_like_inner(&own),
            false => are_alike(&around, &keys_of(&document)?),
        };
        let range = lost + at..lost + torn.len();
        (is_record && !self.is_cut_in(range.clone())).then_some(range)
    }

    /// Whether bytes were cut inside of this range.
    fn is_cut_in(&self, range: Range<usize>) -> bool {
        let next = self.breaks.get(self.breaks.partition_point(|cut| *cut <= range.start));
        next.is_some_and(|cut| *cut < range.end)
    }

    fn skip_space(&self, at: usize) -> usize {
        self.line.len() - self.line[at..].trim_ascii_start().len()
    }

    /// Adds what was lost, unless it is white space.
    fn add_lost(&self, range: Range<usize>, parts: &mut Vec<Part>) {
        if !self.line[range.clone()].trim_ascii().is_empty() {
            parts.push(Part { range, is_sound: false });
        }
    }
}

/// The object at the end of a torn record.
struct LastObject {
    at: usize,
    /// The keys of the torn record.
    around: HashSet<String>,
}

impl LastObject {
    fn of(torn: &str) -> Option<Self> {
        let mut open = Vec::new();
        let mut around = HashSet::new();
        let mut string = "";
        let mut rest = 0;
        while let Some(at) = torn[rest..].find(['"', '{', '[', '}', ']', ':']).map(|at| rest + at) {
            rest = at + 1;
            match torn.as_bytes()[at] {
                b'"' => {
                    let length = length_of_string(&torn[rest..])?;
                    string = &torn[rest..rest + length];
                    rest += length + 1;
                }
                b':' if open.len() == 1 => {
                    around.insert(string.to_owned());
                }
                b':' => {}
                b'{' | b'[' => open.push(at),
                closer => {
                    let start = open.pop()?;
                    if rest == torn.len() {
                        return (closer == b'}' && *open.first()? == 0).then_some(Self { at: start, around });
                    }
                }
            }
        }
        None
    }
}

/// The length of the string that `text` begins with, up to its quote.
fn length_of_string(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })
}
