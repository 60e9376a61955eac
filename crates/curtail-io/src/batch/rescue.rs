//! What can be read of a damaged log: lines that are JSON, and records among others on one line. What cannot is named, and
//! nothing is guessed.

use std::collections::HashSet;
use std::ops::Range;

use curtail_core::json::Document;
use curtail_core::numbers::number_of;

/// A text without what is damaged in it.
#[derive(Debug, Default)]
pub struct Rescued {
    /// The sound lines, byte for byte, and the sound records of damaged lines.
    pub text: Vec<u8>,
    /// What was lost or changed, in order.
    pub losses: Vec<Loss>,
    /// How many lines are in the text.
    lines: usize,
}

/// What was lost of a line.
#[derive(Debug)]
pub struct Loss {
    /// Its number in the damaged text, from 1.
    pub line: usize,
    /// What happened, in lower case.
    pub reason: String,
    /// The bytes that were left out; none if only the order of the lines is another now.
    pub bytes: Vec<u8>,
}

impl Rescued {
    /// What can be read of `text`; `None` if nothing is damaged.
    pub fn from_text(text: &[u8]) -> Option<Self> {
        let mut rescued = Self::default();
        let converted = utf16(text);
        if converted.is_some() {
            rescued.lose(1, "the file is UTF-16, and was converted".to_owned(), &[]);
        }
        let text = converted.as_deref().unwrap_or(text);
        let records = Records::from_text(text);
        rescued.lines(text, &records);
        (!rescued.losses.is_empty()).then_some(rescued)
    }

    /// What can be read of `line`, one of several that `records` describes; `None` if nothing is damaged.
    pub(super) fn from_line(line: &[u8], records: &Records) -> Option<Self> {
        let mut rescued = Self::default();
        rescued.lines(line, records);
        (!rescued.losses.is_empty()).then_some(rescued)
    }

    fn lines(&mut self, text: &[u8], records: &Records) {
        let mut start = 0;
        let mut number = 0;
        while start < text.len() {
            number += 1;
            let end = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |at| start + at + 1);
            self.line(number, &text[start..end], records, end == text.len());
            start = end;
        }
    }

    /// Whether nothing can be read.
    pub const fn is_empty(&self) -> bool {
        self.lines == 0
    }

    fn lose(&mut self, line: usize, reason: String, bytes: &[u8]) {
        self.losses.push(Loss { line, reason, bytes: bytes.to_vec() });
    }

    fn keep(&mut self, line: &[u8]) {
        self.text.extend_from_slice(line);
        self.lines += 1;
    }

    fn line(&mut self, number: usize, line: &[u8], records: &Records, is_last: bool) {
        let body = line.trim_ascii_end();
        let ending = &line[body.len()..];
        if body.is_empty() {
            self.text.extend_from_slice(line);
            return;
        }
        if is_value(body) && !is_record(body) && records.are_objects() {
            let reason = format!("{} left out: a JSON value that is no record", number_of(body.len(), "byte"));
            return self.lose(number, reason, body);
        }
        if is_value(body) && (number == 1 || !body.starts_with(MARK)) {
            return self.keep(line);
        }
        let nulls = memchr::memchr_iter(0, body).count();
        let mut clean: Vec<u8> = body.iter().copied().filter(|byte| *byte != 0).collect();
        // Files that were put one behind another bring theirs.
        if number > 1 && clean.starts_with(MARK) {
            clean.drain(..MARK.len());
            self.lose(number, "a byte order mark cut".to_owned(), &[]);
        }
        if nulls > 0 {
            self.lose(number, format!("{} cut", number_of(nulls, "NUL byte")), &[]);
        }
        if clean.trim_ascii().is_empty() {
            return;
        }
        if is_value(&clean) {
            self.keep(clean.trim_ascii());
            self.text.extend_from_slice(if ending.is_empty() && !is_last { b"\n" } else { ending });
            return;
        }
        let parts = records.in_line(&clean, !ending.is_empty());
        let sound: Vec<&Part> = parts.iter().filter(|part| part.is_sound).collect();
        for part in &sound {
            self.keep(&clean[part.range.clone()]);
            self.text.push(b'\n');
        }
        for part in parts.iter().filter(|part| !part.is_sound) {
            let lost = clean[part.range.clone()].trim_ascii();
            let is_torn = is_last && ending.is_empty() && part.range.end == clean.len();
            let what = match (is_torn, std::str::from_utf8(lost)) {
                (true, _) => "the last line is torn",
                (_, Err(_)) => "not UTF-8",
                (_, Ok(_)) if sound.is_empty() => "not JSON",
                _ => "not JSON, beside a sound record",
            };
            self.lose(number, format!("{} left out: {what}", number_of(lost.len(), "byte")), lost);
        }
        if sound.len() > 1 && sound.len() == parts.len() {
            self.lose(number, format!("{} on one line parted", number_of(sound.len(), "record")), &[]);
        }
    }
}

/// A byte order mark.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// Whether `body` is one JSON value.
pub(super) fn is_value(body: &[u8]) -> bool {
    let text = std::str::from_utf8(body).ok();
    let text = text.map(|text| text.strip_prefix('\u{feff}').unwrap_or(text));
    text.is_some_and(|text| Document::parse_all(text).is_ok_and(|document| document.roots().len() == 1))
}

/// Whether `line` begins as a record does, an object or a list.
fn is_record(line: &[u8]) -> bool {
    let line = line.strip_prefix(MARK).unwrap_or(line).trim_ascii_start();
    line.starts_with(b"{") || line.starts_with(b"[")
}

/// Whether something in `text` is read as if nothing were wrong, and is no record: a line that is a text or a number, or the torn
/// one at the end. Only the beginnings of the other lines are looked at.
pub(super) fn hides_damage(text: &[u8]) -> bool {
    let is_other = |line: &[u8]| !line.trim_ascii().is_empty() && !is_record(line);
    let mut lines = text.split(|byte| *byte == b'\n');
    let last = lines.next_back().unwrap_or_default().trim_ascii();
    is_other(last) || !last.is_empty() && !is_value(last) || lines.any(is_other)
}

/// The text of UTF-16 with a byte order mark, as UTF-8.
fn utf16(text: &[u8]) -> Option<Vec<u8>> {
    let unit: fn([u8; 2]) -> u16 = match text {
        [0xFF, 0xFE, ..] => u16::from_le_bytes,
        [0xFE, 0xFF, ..] => u16::from_be_bytes,
        _ => return None,
    };
    let units = text[2..].chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    let decoded: Result<String, _> = char::decode_utf16(units).collect();
    decoded.ok().map(String::into_bytes)
}

/// What sound records of a text have in common, by which others are recognized among the bytes of a damaged line.
pub(super) struct Records {
    /// How they begin, up to the first colon.
    heads: HashSet<Vec<u8>>,
    /// The keys of some of them.
    keys: Vec<HashSet<String>>,
}

/// A part of a damaged line.
struct Part {
    range: Range<usize>,
    is_sound: bool,
}

/// So many sound lines are looked at.
const SAMPLE: usize = 256;

impl Records {
    pub(super) fn from_text(text: &[u8]) -> Self {
        let mut heads = HashSet::new();
        let mut keys: Vec<HashSet<String>> = Vec::new();
        let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| line.starts_with(b"{"));
        for line in lines.take(SAMPLE) {
            let Some(own) = keys_of(line) else { continue };
            heads.extend(head_of(line).map(<[u8]>::to_vec));
            if !keys.contains(&own) {
                keys.push(own);
            }
        }
        Self { heads, keys }
    }

    /// Whether the records are objects: a line that is a text or a number is none of them.
    const fn are_objects(&self) -> bool {
        !self.keys.is_empty()
    }

    /// The parts of a line: its sound records, and what is between them. `is_ended` says whether a line break follows.
    fn in_line(&self, line: &[u8], is_ended: bool) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        let mut at = 0;
        let mut lost = 0;
        while at < line.len() {
            // What follows a record directly can be nothing else, and neither can the beginning of a line.
            match self.record_at(line, at, at == lost, is_ended) {
                Some(end) => {
                    add_lost(line, lost..at, &mut parts);
                    parts.push(Part { range: at..end, is_sound: true });
                    // Some programs end a line with a carriage return alone.
                    at = end + line[end..].len() - line[end..].trim_ascii_start().len();
                    lost = at;
                }
                None => at = self.next_head(line, at + 1),
            }
        }
        add_lost(line, lost..line.len(), &mut parts);
        parts
    }

    /// Where the record ends that begins at `at`, if one does.
    fn record_at(&self, line: &[u8], at: usize, is_certain: bool, is_ended: bool) -> Option<usize> {
        let end = at + length_of_object(&line[at..])?;
        let own = keys_of(&line[at..end])?;
        // A record of a kind of its own ends the line, begins as others do, and has more than a part of one.
        let is_last = is_ended && end == line.len() && own.len() > PART;
        (is_certain || is_last || self.keys.iter().any(|keys| are_alike(keys, &own))).then_some(end)
    }

    /// Where a record may begin, from `at` on.
    fn next_head(&self, line: &[u8], at: usize) -> usize {
        let rest = line.get(at..).unwrap_or_default();
        let found = self.heads.iter().filter_map(|head| memchr::memmem::find(rest, head)).min();
        found.map_or(line.len(), |found| at + found)
    }
}

/// So many keys a block of a message may have.
const PART: usize = 4;

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

/// The keys of an object; `None` if `json` is no object.
fn keys_of(json: &[u8]) -> Option<HashSet<String>> {
    let document = Document::parse_all(std::str::from_utf8(json).ok()?).ok()?;
    let mut roots = document.roots();
    let object = roots.next().filter(|root| root.is_object() && roots.next().is_none())?;
    Some(object.members().map(|member| member.key.decode().into_owned()).collect())
}

/// The beginning of an object up to its first colon.
fn head_of(line: &[u8]) -> Option<&[u8]> {
    memchr::memchr(b':', line).map(|at| &line[..=at])
}

/// The length of the object at the beginning of `text`, by its braces and strings.
fn length_of_object(text: &[u8]) -> Option<usize> {
    if text.first() != Some(&b'{') {
        return None;
    }
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut is_escaped = false;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = r#"{"type":"user","uuid":"1","message":{"content":[{"type":"text","text":"a {\"b\"} c"}]}}"#;
    const TWO: &str = r#"{"type":"assistant","uuid":"2","message":{"content":[{"type":"text","text":"d"}]}}"#;
    const SIX: &str = r#"{"type":"user","uuid":"6","message":{"content":"e"}}"#;

    /// A record unlike all others.
    const ALONE: &str = r#"{"type":"snapshot","a":1,"b":2,"c":{"d":3},"e":[]}"#;

    fn rescued(text: &str) -> (String, Vec<(usize, String)>) {
        let found = Rescued::from_text(text.as_bytes()).unwrap_or_default();
        let losses = found.losses.into_iter().map(|loss| (loss.line, loss.reason)).collect();
        (String::from_utf8(found.text).unwrap(), losses)
    }

    #[test]
    fn sound_text_is_left_alone() {
        assert!(Rescued::from_text(format!("{ONE}\n\n{TWO}\r\n{SIX}").as_bytes()).is_none());
    }

    #[test]
    fn every_kind_of_damage_is_named_and_everything_sound_is_kept() {
        let torn = &TWO[..TWO.len() - 9];
        let cases = [
            (format!("{ONE}\n\0\0\0{TWO}\n{SIX}\n"), format!("{ONE}\n{TWO}\n{SIX}\n"), 1),
            (format!("{ONE}\n{TWO}\n\0\0\0\0"), format!("{ONE}\n{TWO}\n"), 1),
            (format!("{ONE}\n{TWO}{SIX}\n"), format!("{ONE}\n{TWO}\n{SIX}\n"), 1),
            (format!("{ONE}\n{SIX}\n{torn}"), format!("{ONE}\n{SIX}\n"), 1),
            (format!("{ONE}\n{torn}{SIX}\n{TWO}\n"), format!("{ONE}\n{SIX}\n{TWO}\n"), 1),
            (format!("{ONE}\nsegfault\n{SIX}\n"), format!("{ONE}\n{SIX}\n"), 1),
            (format!("{ONE}\n{SIX}oops\n{TWO}\n"), format!("{ONE}\n{SIX}\n{TWO}\n"), 1),
            (format!("{ONE}\n\u{feff}{SIX}\n"), format!("{ONE}\n{SIX}\n"), 1),
            (format!("{ONE}\n{torn}{ALONE}\n{SIX}\n"), format!("{ONE}\n{ALONE}\n{SIX}\n"), 1),
            (format!("{ONE}\r{TWO}\r{SIX}\r"), format!("{ONE}\n{TWO}\n{SIX}\n"), 1),
            (format!("{ONE}\n42\n{SIX}\n\"text\"\n"), format!("{ONE}\n{SIX}\n"), 2),
            (format!("{ONE}\nnull\n{SIX}\ntrue"), format!("{ONE}\n{SIX}\n"), 2),
        ];
        for (damaged, expected, losses) in cases {
            let (text, found) = rescued(&damaged);
            assert_eq!((text.as_str(), found.len()), (expected.as_str(), losses), "{damaged:?}: {found:?}");
        }
    }

    /// The last block of a torn record is an object, and no record.
    #[test]
    fn a_part_of_a_record_is_none() {
        let torn = &TWO[..TWO.find("]}}").unwrap()];
        let (text, losses) = rescued(&format!("{ONE}\n{SIX}\n{torn}"));
        assert_eq!(text, format!("{ONE}\n{SIX}\n"));
        assert_eq!(losses[0].0, 3);
    }

    #[test]
    fn utf16_is_converted() {
        let units: Vec<u8> = std::iter::once(0xFEFF).chain(ONE.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        let found = Rescued::from_text(&units).unwrap();
        assert_eq!(found.text, ONE.as_bytes());
    }
}
