//! Records among the other bytes of a damaged line.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use curtail_core::json::{Document, Value};

/// What sound records of a text have in common, by which others are recognized among the bytes of a damaged line.
pub(super) struct Records {
    /// How they begin, up to the first colon; `None` if there are none.
    heads: Option<AhoCorasick>,
    /// The keys of some of them.
    keys: Vec<HashSet<String>>,
    /// The keys of objects inside of them, by the keys that lead to these.
    inner: HashMap<String, Vec<HashSet<String>>>,
    /// The byte with which they begin.
    opener: u8,
}

/// A part of a damaged line.
pub(super) struct Part {
    pub(super) range: Range<usize>,
    pub(super) is_sound: bool,
}

/// How many lines of a text are looked at.
const SAMPLE: usize = 256;

/// The most keys of a block of a message.
const PART: usize = 4;

/// How many kinds of objects are remembered for a place.
const MOST_KINDS: usize = 16;

/// The longest path of an object whose members are looked at, in bytes.
const LONGEST_PATH: usize = 256;

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

    /// The next one behind bytes that were cut, of those at `places`, after a torn one.
    fn after_break(torn: Self, places: &[usize]) -> Option<Self> {
        let at = *places.get(places.partition_point(|at| *at <= torn.at))?;
        Some(Self { at, clue: Clue::Break, ..torn })
    }
}

impl Records {
    pub(super) fn from_text(text: &[u8]) -> Self {
        let mut records = Self { heads: None, keys: Vec::new(), inner: HashMap::new(), opener: b'{' };
        let mut heads: HashSet<&[u8]> = HashSet::new();
        let lines = || text.split(|byte| *byte == b'\n').map(without_nulls);
        let is_record = |line: &&[u8]| line.starts_with(b"{") || line.starts_with(b"[");
        for line in lines().filter(is_record).take(SAMPLE) {
            // The first record of a line is sound, whatever follows it, unless that is the rest of another.
            let Some(document) = std::str::from_utf8(line).ok().and_then(|line| Document::parse_first(line).ok())
            else {
                continue;
            };
            let end = document.roots().next().map_or(0, |root| root.span().end as usize);
            if matches!(line[end..].trim_ascii_start(), [b'}' | b']' | b',', ..]) {
                continue;
            }
            heads.extend(head_of(line));
            let Some(own) = keys_of(&document) else { continue };
            document.roots().for_each(|root| records.add_inner(root));
            if !records.keys.contains(&own) {
                records.keys.push(own);
            }
        }
        if records.keys.is_empty() && lines().find(is_record).is_some_and(|line| line.starts_with(b"[")) {
            records.opener = b'[';
        }
        if !heads.is_empty() {
            records.heads = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(heads).ok();
        }
        records
    }

    /// Whether there are any: a line that is a text or a number is none of them.
    pub(super) const fn are_known(&self) -> bool {
        self.heads.is_some()
    }

    /// Notes the objects inside of a record.
    fn add_inner(&mut self, record: Value<'_>) {
        let mut open = vec![(record, String::new())];
        while let Some((value, path)) = open.pop() {
            let elements = value.items().map(|item| (String::new(), item));
            let members = value.members().map(|member| (member.key.decode().into_owned(), member.value));
            for (key, inner) in elements.chain(members).filter(|(_, inner)| inner.is_object() || inner.is_array()) {
                let path = format!("{path}/{key}");
                if inner.is_object() {
                    self.add_kind(&path, keys_and_types(inner));
                }
                if path.len() < LONGEST_PATH {
                    open.push((inner, path));
                }
            }
        }
    }

    fn add_kind(&mut self, path: &str, keys: HashSet<String>) {
        let kinds = self.inner.entry(path.to_owned()).or_default();
        if kinds.len() < MOST_KINDS && !kinds.contains(&keys) {
            kinds.push(keys);
        }
    }

    /// The parts of a line: its sound records, and what is between them. `breaks` are the places where bytes were cut, and
    /// `is_ended` says whether a line break follows.
    pub(super) fn in_line(&self, line: &[u8], breaks: &[usize], is_ended: bool) -> Vec<Part> {
        let text = readable(line);
        let behind_breaks = self.behind_breaks(line, breaks);
        let mut parts: Vec<Part> = Vec::new();
        let mut lost = skip_space(line, 0);
        let mut next = Some(self.first_beginning(line, lost, is_ended));
        while let Some(beginning) = next.filter(|beginning| beginning.at < line.len()) {
            let at = beginning.at;
            let first = (line[at] == self.opener).then(|| Document::parse_first(&text[at..]));
            let found = first.as_ref().and_then(|first| first.as_ref().ok());
            if let Some(end) = found.and_then(|found| self.end_of_record(&text, beginning, found, breaks, is_ended)) {
                add_lost(line, lost..at, &mut parts);
                parts.push(Part { range: at..end, is_sound: true });
                // Some programs end a line with a carriage return alone.
                lost = skip_space(line, end);
                next = Some(Beginning::start(lost));
                continue;
            }
            let fault = first.and_then(Result::err).map(|fault| at + fault.offset);
            let after = fault.and_then(|fault| self.after_fault(line, beginning, fault));
            let after_break = Beginning::after_break(beginning, &behind_breaks);
            let certain = after_break.into_iter().chain(after).min_by_key(|next| next.at);
            next = certain.or_else(|| self.next_head(line, beginning.resume));
        }
        let last = is_ended.then(|| self.last_record(&text[lost..])).flatten().map(|at| lost + at);
        // Of what bytes were cut from, the rest is a part at most.
        let end = text.trim_ascii_end().len();
        let last = last.filter(|at| !breaks.iter().any(|cut| at < cut && *cut < end));
        if let Some(at) = last {
            add_lost(line, lost..at, &mut parts);
            lost = at + line[at..].trim_ascii_end().len();
            parts.push(Part { range: at..lost, is_sound: true });
        }
        add_lost(line, lost..line.len(), &mut parts);
        parts
    }

    /// Where the record begins that ends the line, and stands where the torn one before it may have an object: it is unlike all
    /// that was seen inside of records; if no record was seen, it is like the torn one.
    fn last_record(&self, torn: &str) -> Option<usize> {
        let LastObject { at, around } = LastObject::of(torn)?;
        let document = Document::parse(torn[at..].trim_end()).ok()?;
        let own = keys_and_types(document.roots().next()?);
        let is_record = if self.are_known() { !self.is_inner(&own) } else { are_alike(&around, &keys_of(&document)?) };
        is_record.then_some(at)
    }

    /// Where the record ends that begins here, if the value that was `found` is one.
    fn end_of_record(
        &self,
        line: &str,
        Beginning { at, clue, .. }: Beginning,
        found: &Document<'_>,
        breaks: &[usize],
        is_ended: bool,
    ) -> Option<usize> {
        let end = at + found.roots().next()?.span().end as usize;
        let rest = line[end..].trim_ascii_start();
        let is_followed = rest.is_empty() || rest.as_bytes().first() == Some(&self.opener);
        let is_certain = match clue {
            Clue::Start => !self.is_part(found, rest, breaks.iter().any(|cut| at < *cut && *cut < end)),
            Clue::Fault(fault) => is_followed && end > fault,
            Clue::Break => is_followed,
            Clue::Head => false,
        };
        let is_last = is_ended && rest.is_empty();
        // A record of a kind of its own ends the line, begins as others do, and has more than a part of one.
        let is_likely = || match keys_of(found) {
            Some(own) => is_last && own.len() > PART || self.keys.iter().any(|keys| are_alike(keys, &own)),
            None => is_last,
        };
        (is_certain || is_followed && is_likely()).then_some(end)
    }

    /// Whether the object that was `found` at the beginning of a line is a part of a torn record, of which `rest` is the rest:
    /// bytes were cut from the object, the rest closes more than that, or the object is like those inside of records.
    fn is_part(&self, found: &Document<'_>, rest: &str, is_cut: bool) -> bool {
        let (Some(own), Some(object)) = (keys_of(found), found.roots().next()) else { return false };
        let closers = rest.bytes().take_while(|byte| b"}]".contains(byte)).count();
        let goes_on = closers > 0 || rest.starts_with(',');
        let is_record = || self.keys.iter().any(|keys| are_alike(keys, &own));
        goes_on && (is_cut || !is_record() && (closers > 1 || self.is_inner(&keys_and_types(object))))
    }

    /// Whether an object with these keys and types is like those inside of records.
    fn is_inner(&self, own: &HashSet<String>) -> bool {
        BLOCKS.iter().any(|kind| own.contains(*kind)) || self.inner.values().flatten().any(|keys| are_alike(keys, own))
    }

    /// Where a record begins that was written behind a torn one. The torn one has its beginning at `torn`, and cannot be read on at
    /// `fault`: there the record begins, perhaps behind half a literal or an escape, or it began a few bytes before, inside a
    /// string that its first quote ended.
    fn after_fault(&self, line: &[u8], torn: Beginning, fault: usize) -> Option<Beginning> {
        let is_end = line.get(fault..).is_none_or(|rest| rest.trim_ascii().is_empty());
        if torn.clue == Clue::Head || is_end {
            return None;
        }
        let is_structure = |byte: &u8| b"{}[],:\"".contains(byte);
        let behind = line[fault..].iter().position(is_structure).map(|at| fault + at);
        let behind = behind.filter(|at| line[*at] == self.opener);
        let before = || line[..fault].iter().rposition(|byte| *byte == self.opener);
        let at = behind.or_else(before).filter(|at| *at > torn.at)?;
        Some(Beginning { at, clue: Clue::Fault(fault), resume: torn.resume })
    }

    /// Where records may begin behind bytes that were cut, in order.
    fn behind_breaks(&self, line: &[u8], breaks: &[usize]) -> Vec<usize> {
        let mut behind = 0;
        let places = breaks.iter().map(|at| {
            if *at >= behind {
                behind = skip_space(line, *at);
            }
            behind
        });
        let mut places: Vec<usize> = places.filter(|at| line.get(*at) == Some(&self.opener)).collect();
        places.dedup();
        places
    }

    /// Where the first record of a line may begin, which has no white space before `at`. A text without quotes in front of it is
    /// no beginning of a record, but what a program wrote elsewhere. The rest of a torn record begins so as well, and closes
    /// more than it opens.
    fn first_beginning(&self, line: &[u8], at: usize, is_ended: bool) -> Beginning {
        let first = line.iter().position(|byte| *byte == b'"' || *byte == self.opener);
        match first.filter(|first| *first > at && line[*first] == self.opener) {
            Some(at) => Beginning { at, clue: if is_ended { Clue::Break } else { Clue::Head }, resume: at + 1 },
            None => Beginning::start(at),
        }
    }

    /// Where a record may begin, from `at` on.
    fn next_head(&self, line: &[u8], at: usize) -> Option<Beginning> {
        let found = at + self.heads.as_ref()?.find(line.get(at..)?)?.start();
        Some(Beginning { at: found, clue: Clue::Head, resume: found + 1 })
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
        let torn = torn.trim_end();
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

/// The line as a text of the same length: bytes that are no UTF-8 become such as no JSON contains.
fn readable(line: &[u8]) -> String {
    let mut text = String::with_capacity(line.len());
    for chunk in line.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '\u{1}'));
    }
    text
}

/// `line` without the white space around it and the NUL bytes before it.
fn without_nulls(line: &[u8]) -> &[u8] {
    let start = line.iter().position(|byte| *byte != 0).unwrap_or(line.len());
    line[start..].trim_ascii()
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

/// Types of blocks, which stand inside of messages in most formats.
const BLOCKS: [&str; 8] = [
    "type=text", "type=image", "type=image_url", "type=thinking", "type=tool_use", "type=tool_result",
    "type=input_text", "type=output_text",
];

/// Members by which objects with the same keys are told apart.
const TYPES: [&str; 3] = ["type", "kind", "role"];

/// The keys of an object, and the types that it names.
fn keys_and_types(object: Value<'_>) -> HashSet<String> {
    let keys = object.members().map(|member| member.key.decode().into_owned());
    let types = TYPES.iter().filter_map(|key| Some(format!("{key}={}", object.get_text(key)?.decode())));
    keys.chain(types).collect()
}

/// The beginning of an object up to its first colon.
fn head_of(line: &[u8]) -> Option<&[u8]> {
    memchr::memchr(b':', line).map(|at| &line[..=at])
}
