//! What can be read of a damaged log: lines that are JSON, and records among others on one line. What cannot is named, and
//! nothing is guessed.

use curtail_core::error::TextPlace;
use curtail_core::json::Document;
use curtail_core::numbers::number_of;

use super::records::{Part, Records};
use crate::{ErrorKind, FileError};

/// A text without what is damaged in it.
#[derive(Debug, Default)]
pub struct Rescued {
    /// The sound lines, byte for byte, and the sound records of damaged lines.
    pub text: Vec<u8>,
    /// What was lost or changed, in order.
    pub losses: Vec<Loss>,
    /// How many records are in the text.
    records: usize,
    /// Whether records stay at their places, and white space stands for what is left out.
    is_in_place: bool,
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

impl Loss {
    /// What is said of a file in another encoding.
    pub(super) fn conversion() -> Self {
        Self { line: 1, reason: "the file is UTF-16, and was converted".to_owned(), bytes: Vec::new() }
    }

    /// The loss as an error in the file `name`.
    pub fn error(&self, name: &str) -> FileError {
        let place = TextPlace { line: self.line, column: 1 };
        FileError::new(ErrorKind::Content, name, self.reason.clone()).at(place)
    }
}

impl Rescued {
    /// What can be read of `text`, each record on a line; `None` if nothing is damaged.
    pub fn from_text(text: &[u8]) -> Option<Self> {
        Self::default().read(text)
    }

    /// As [`from_text`](Self::from_text), for a reader that names places: each record is at its place in `text`, with white space
    /// for what is left out. Only UTF-16 is shorter as UTF-8; its lines stay.
    pub fn in_place(text: &[u8]) -> Option<Self> {
        Self { is_in_place: true, ..Self::default() }.read(text)
    }

    /// What can be read of the line with this number, one of several that `records` describes; `None` if nothing is damaged.
    pub(super) fn from_line(number: usize, line: &[u8], records: &Records) -> Option<Self> {
        let mut rescued = Self::default();
        rescued.line(number, line, records, &[]);
        (!rescued.losses.is_empty()).then_some(rescued)
    }

    fn read(mut self, text: &[u8]) -> Option<Self> {
        let converted = utf16(text);
        self.losses.extend(converted.as_ref().map(|_| Loss::conversion()));
        let text = converted.as_deref().unwrap_or(text);
        self.lines(text, &Records::from_text(text));
        (!self.losses.is_empty() && !spans_lines(text)).then_some(self)
    }

    fn lines(&mut self, text: &[u8], records: &Records) {
        let mut start = 0;
        let mut number = 0;
        while start < text.len() {
            number += 1;
            let end = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |at| start + at + 1);
            self.line(number, &text[start..end], records, &text[end..]);
            start = end;
        }
    }

    /// Whether nothing can be read.
    pub const fn is_empty(&self) -> bool {
        self.records == 0
    }

    fn lose(&mut self, line: usize, reason: String, bytes: &[u8]) {
        self.losses.push(Loss { line, reason, bytes: bytes.to_vec() });
    }

    /// Reads a line; `rest` is what follows it.
    fn line(&mut self, number: usize, line: &[u8], records: &Records, rest: &[u8]) {
        let body = line.trim_ascii_end();
        let is_other = !body.is_empty() && records.are_known() && !is_record(body);
        if body.is_empty() || !is_other && is_sound(number, body) {
            self.records += usize::from(!body.is_empty());
            return self.text.extend_from_slice(line);
        }
        let ending = &line[body.len()..];
        let sound = match is_other && is_value(body) {
            true => {
                let reason = format!("{} left out: a JSON value that is no record", number_of(body.len(), "byte"));
                self.lose(number, reason, body);
                Vec::new()
            }
            false => {
                let next = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
                // In front of a record, a bracket is no rest of this one.
                let goes_on = matches!(next.trim_ascii_start(), [b',' | b'}' | b']', after @ ..] if !is_value(after));
                let end = match ending.is_empty() {
                    true if rest.is_empty() => LineEnd::Torn,
                    _ if goes_on => LineEnd::Broken,
                    _ => LineEnd::Whole,
                };
                self.sound_parts(number, body, records, end)
            }
        };
        self.records += sound.len();
        if self.is_in_place {
            return self.put_in_place(line, &sound);
        }
        let line_break: &[u8] = if ending.ends_with(b"\n") { ending } else { b"\n" };
        for part in sound {
            self.text.extend(part.bytes);
            self.text.extend_from_slice(line_break);
        }
    }

    /// Writes `line` with nothing but its sound parts, each at its place.
    fn put_in_place(&mut self, line: &[u8], sound: &[Sound]) {
        let start = self.text.len();
        let blank = line.iter().map(|byte| if byte.is_ascii_whitespace() { *byte } else { b' ' });
        self.text.extend(blank);
        for part in sound {
            let at = start + part.at;
            self.text[at..at + part.bytes.len()].copy_from_slice(&part.bytes);
        }
    }

    /// The sound records of a damaged line. Everything else of it is lost.
    fn sound_parts(&mut self, number: usize, body: &[u8], records: &Records, end: LineEnd) -> Vec<Sound> {
        // Files that were put one behind another bring theirs.
        let marked = body.strip_prefix(MARK);
        if marked.is_some() {
            self.lose(number, "a byte order mark cut".to_owned(), &[]);
        }
        let cut = Cut::from_bytes(marked.unwrap_or(body), body.len());
        if cut.nulls > 0 {
            self.lose(number, format!("{} cut", number_of(cut.nulls, "NUL byte")), &[]);
        }
        let parts = records.in_line(&cut.clean, &cut.breaks, end == LineEnd::Whole);
        let (sound, lost): (Vec<Part>, Vec<Part>) = parts.into_iter().partition(|part| part.is_sound);
        for part in &lost {
            let bytes = cut.clean[part.range.clone()].trim_ascii();
            let is_torn = end == LineEnd::Torn && part.range.end == cut.clean.len();
            let what = match (is_torn, std::str::from_utf8(bytes)) {
                (true, _) => "the last line is torn",
                (_, Err(_)) => "not UTF-8",
                (_, Ok(_)) if sound.is_empty() => "not JSON",
                _ => "not JSON, beside a sound record",
            };
            self.lose(number, format!("{} left out: {what}", number_of(bytes.len(), "byte")), bytes);
        }
        if sound.len() > 1 && lost.is_empty() {
            self.lose(number, format!("{} on one line parted", number_of(sound.len(), "record")), &[]);
        }
        cut.sound(sound)
    }
}

/// How a damaged line ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineEnd {
    /// With a line break, before a record or the end of the log.
    Whole,
    /// With a line break inside a record, which goes on behind an object.
    Broken,
    /// The log ends in it.
    Torn,
}

/// A sound record of a damaged line.
struct Sound {
    /// Where it begins in the line.
    at: usize,
    bytes: Vec<u8>,
}

/// A line without its NUL bytes.
struct Cut<'l> {
    /// The line with them.
    bytes: &'l [u8],
    /// Where it begins in the damaged line.
    start: usize,
    clean: Vec<u8>,
    nulls: usize,
    /// Where in `clean` they were.
    breaks: Vec<usize>,
}

impl<'l> Cut<'l> {
    /// The end of a damaged line of `length` bytes.
    fn from_bytes(bytes: &'l [u8], length: usize) -> Self {
        let mut clean = Vec::with_capacity(bytes.len());
        let mut breaks = Vec::new();
        for run in bytes.split(|byte| *byte == 0) {
            clean.extend_from_slice(run);
            breaks.push(clean.len());
        }
        breaks.dedup();
        let nulls = bytes.len() - clean.len();
        Self { bytes, start: length - bytes.len(), clean, nulls, breaks }
    }

    /// The records that stand at these parts, which are in order.
    fn sound(&self, parts: Vec<Part>) -> Vec<Sound> {
        let mut kept = (0..self.bytes.len()).filter(|at| self.bytes[*at] != 0);
        let mut passed = 0;
        let mut sound = Vec::new();
        for Part { range, .. } in parts {
            let at = kept.nth(range.start - passed).unwrap_or(0);
            passed = range.start + 1;
            sound.push(Sound { at: self.start + at, bytes: self.clean[range].to_vec() });
        }
        sound
    }
}

/// A byte order mark.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// Whether `body` is one JSON value.
fn is_value(body: &[u8]) -> bool {
    std::str::from_utf8(body).is_ok_and(|text| Document::parse(text).is_ok())
}

/// Whether `body` is one JSON value, and has a byte order mark only where the file begins.
pub(super) fn is_sound(number: usize, body: &[u8]) -> bool {
    (number == 1 || !body.starts_with(MARK)) && is_value(body)
}

/// Whether `line` begins as a record does, an object or a list.
pub(super) fn is_record(line: &[u8]) -> bool {
    let line = line.strip_prefix(MARK).unwrap_or(line).trim_ascii_start();
    line.starts_with(b"{") || line.starts_with(b"[")
}

/// Whether a value of `text` is printed over several lines: what is on one of them is no record.
fn spans_lines(text: &[u8]) -> bool {
    let Some(document) = std::str::from_utf8(text).ok().and_then(|text| Document::parse_all(text).ok()) else {
        return false;
    };
    document.roots().any(|root| document.slice(root.span()).contains('\n'))
}

/// Whether something in `text` may be read as if nothing were wrong, although its program reads lines: one that is a text or a
/// number, several records on one, or the torn one at the end. Only the lines that look so are read.
pub(super) fn hides_damage(text: &[u8]) -> bool {
    let is_whole =
        |line: &[u8]| line.trim_ascii().is_empty() || !may_hide_damage(line) || is_record(line) && is_value(line);
    let last = text.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    !last.is_empty() && !is_value(last) || !text.split(|byte| *byte == b'\n').all(is_whole)
}

/// The same for a line, by its first byte, its last one and what stands between records alone.
pub(super) fn may_hide_damage(line: &[u8]) -> bool {
    let end = line.trim_ascii_end().last();
    !is_record(line) || line.starts_with(MARK) || !matches!(end, Some(b'}' | b']')) || joins(line)
}

/// Whether a record seems to follow another one in `line`.
fn joins(line: &[u8]) -> bool {
    memchr::memchr2_iter(b'}', b']', line).any(|end| {
        let rest = &line[end + 1..];
        let next = rest.strip_prefix(b" ").unwrap_or(rest).first();
        next == Some(if line[end] == b'}' { &b'{' } else { &b'[' })
    })
}

/// The text of UTF-16, as UTF-8.
pub(super) fn utf16(text: &[u8]) -> Option<Vec<u8>> {
    let text = [[0xFF, 0xFE], [0xFE, 0xFF]].iter().find_map(|mark| text.strip_prefix(mark)).unwrap_or(text);
    let unit = if is_little_utf16(text)? { u16::from_le_bytes } else { u16::from_be_bytes };
    let units = text.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    let decoded = char::decode_utf16(units).collect::<Result<String, _>>().ok()?;
    // Where it is none, its first bytes are one character of another script.
    let is_begun = decoded.trim_start_matches('\0').starts_with(|first: char| first.is_ascii());
    is_begun.then(|| decoded.into_bytes())
}

/// Whether text is UTF-16 with the low byte first, or with the high byte first; `None` if it is neither, whatever its mark says.
/// One half of an ASCII character is NUL, and so it is of line breaks, unless only some lines of the file are UTF-16.
fn is_little_utf16(text: &[u8]) -> Option<bool> {
    memchr::memchr(0, text)?;
    let units = || text.chunks_exact(2);
    let ascii = |null: usize| units().filter(|unit| unit[null] == 0 && unit[1 - null] != 0).count();
    let [big, little] = [ascii(0), ascii(1)];
    let is_little = little > big;
    let is_whole = |unit: &[u8]| unit[usize::from(is_little)] == 0;
    let (whole, halved): (Vec<_>, Vec<_>) =
        units().filter(|unit| unit.contains(&b'\n')).partition(|unit| is_whole(unit));
    let written = units().filter(|unit| *unit != [0, 0]).count();
    let is_mostly = 4 * little.max(big) > written && 8 * little.min(big) < little.max(big);
    (is_mostly && halved.len() <= whole.len()).then_some(is_little)
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
    fn records_on_one_line_keep_their_places_whatever_is_between_them() {
        let text = format!("{ONE}\0{TWO}\0\0{SIX}\n");
        let found = Rescued::in_place(text.as_bytes()).unwrap_or_default();
        assert_eq!(String::from_utf8(found.text).unwrap(), text.replace('\0', " "));
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
        // Nor is one with the keys of a record.
        let damaged = r#"{"kind":"a","data":"say oops","of":{"kind":"b","data":"c"}}"#.replace("oops", "\u{1}");
        let sound = r#"{"kind":"a","data":"b"}"#;
        assert_eq!(rescued(&format!("{sound}\n{damaged}\n")).0, format!("{sound}\n"));
    }

    /// A write can be torn anywhere, and the program may go on with a record of any kind.
    #[test]
    fn a_record_behind_a_torn_one_is_kept_whatever_its_keys() {
        let torn =
            r#"{"type":"user","n":-12.5e3,"is":true,"id":null,"text":"a \u00e9 b \\ {","list":[1,"two"],"end":"é"}"#;
        let others =
            [r#"{"x":1}"#, r#"{"type":"summary","summary":"{x","leafUuid":"1"}"#, r#"{ "zzz": [{"a":{"b":"c"}}] }"#];
        for other in others {
            for at in (2..torn.len()).filter(|at| torn.is_char_boundary(*at)) {
                let before = &torn[..at];
                let (text, losses) = rescued(&format!("{ONE}\n{before}{other}\n{SIX}\n"));
                let expected = format!("{ONE}\n{other}\n{SIX}\n");
                assert_eq!((text, losses.len()), (expected, 1), "{before}{other}: {losses:?}");
            }
        }
    }

    /// Where an object may stand, one that is like those seen in records is a part, and so is one where anything may stand.
    #[test]
    fn an_object_at_the_end_of_a_torn_record_is_judged_by_what_is_seen_there() {
        let part = r#"{"type":"user","uuid":"3","message":{"content":[{"type":"text","text":"f"}"#;
        assert_eq!(rescued(&format!("{ONE}\n{part}\n{SIX}\n")).0, format!("{ONE}\n{SIX}\n"));
        let other = r#"{"type":"mark","text":"f"}"#;
        let torn = r#"{"type":"user","uuid":"3","message":{"content":["#;
        assert_eq!(rescued(&format!("{ONE}\n{torn}{other}\n{SIX}\n")).0, format!("{ONE}\n{other}\n{SIX}\n"));
        // A line break inside a record: it goes on.
        assert_eq!(rescued(&format!("{ONE}\n{torn}{other}\n,oops]}}}}\n{SIX}\n")).0, format!("{ONE}\n{SIX}\n"));
        // Where anything may stand, a write that ends exactly there is rarer than a record behind a torn one.
        let torn = r#"{"type":"call","input":"#;
        let calls: String = (0..3).map(|n| format!("{torn}{{\"key{n}\":1}}}}\n")).collect();
        let (text, losses) = rescued(&format!("{calls}{torn}{other}\n{SIX}\n"));
        assert_eq!((text, losses.len()), (format!("{calls}{other}\n{SIX}\n"), 1));
    }

    /// Where every line is damaged, a record at the end of one is like what is left of the torn one.
    #[test]
    fn records_are_found_where_none_is_sound() {
        let torn = r#"{"role":"user","content":"#;
        assert_eq!(rescued(&format!("{torn}\"a\n{torn}{torn}\"b\"}}\n")).0, format!("{torn}\"b\"}}\n"));
    }

    #[test]
    fn a_record_is_kept_whatever_was_written_before_it_on_its_line() {
        let other = r#"{"x":1}"#;
        for before in ["data: ", "]", "}", ",", "oops", "killed ["] {
            let (text, losses) = rescued(&format!("{ONE}\n{before}{other}\n{SIX}\n"));
            assert_eq!((text, losses.len()), (format!("{ONE}\n{other}\n{SIX}\n"), 1), "{before}: {losses:?}");
        }
        // Nor does the bracket before it make the line before it one that goes on.
        let torn = r#"{"type":"user","uuid":"#;
        let (text, _) = rescued(&format!("{ONE}\n{torn}{other}\n,{SIX}\n"));
        assert_eq!(text, format!("{ONE}\n{other}\n{SIX}\n"));
    }

    /// The rest of a record begins with a part of it, and closes more than that.
    #[test]
    fn the_rest_of_a_record_is_none() {
        let cut = r#"{"type":"us\0\0er","text":"b"},{"type":"text","text":"c"}]}}"#.replace("\\0", "\0");
        for rest in
            [r#"{"text":"b"}}}"#, r#"{"type":"text","text":"b"}]}}"#, r#"{"type":"text","text":"b"},{}]}}"#, &cut]
        {
            let (text, losses) = rescued(&format!("{ONE}\n{rest}\n{SIX}\n"));
            assert_eq!(text, format!("{ONE}\n{SIX}\n"), "{rest}: {losses:?}");
        }
    }

    /// Bytes that were cut say where a record begins.
    #[test]
    fn a_record_behind_nul_bytes_is_kept_whatever_stands_before_them() {
        let call = |input: &str| format!("{{\"type\":\"call\",\"input\":{input}}}");
        let calls: String = (0..3).map(|n| call(&format!("{{\"key{n}\":1}}")) + "\n").collect();
        let (text, losses) = rescued(&format!("{calls}{{\"type\":\"call\",\"input\":\0\0{{\"x\":1}}\n"));
        assert_eq!((text, losses.len()), (format!("{calls}{{\"x\":1}}\n"), 2));
    }

    #[test]
    fn records_that_are_lists_are_parted_too() {
        let one = r#"[{"role":"user","content":"a"}]"#;
        let two = r#"[{"role":"user","content":"b"},{"role":"assistant","content":"c"}]"#;
        let torn = &two[..two.len() - 9];
        for damaged in [format!("{one}\n{one}{two}\n"), format!("{one}\n{one}\n{torn}{two}\n")] {
            let (text, losses) = rescued(&damaged);
            assert!(text.ends_with(&format!("{one}\n{two}\n")), "{damaged}: {text} {losses:?}");
        }
    }

    #[test]
    fn values_that_are_printed_over_lines_are_no_damage() {
        let printed = "{\n  \"role\": \"user\",\n  \"content\": [\n    {\"type\":\"text\",\"text\":\"a\"}\n  ]\n}\n";
        assert!(Rescued::from_text(format!("{printed}{printed}").as_bytes()).is_none());
    }

    /// Whoever reads around damage names places of the file.
    #[test]
    fn records_stay_at_their_places() {
        let torn = &TWO[..20];
        let damaged = format!("{ONE}\r\n\0\0\n{torn}{SIX}\nkilled\n\u{feff}{ALONE}\0{ONE}\n\0{SIX}\n{torn}");
        let found = Rescued::in_place(damaged.as_bytes()).unwrap();
        let text = String::from_utf8(found.text).unwrap();
        assert_eq!((text.len(), text.matches('\n').count()), (damaged.len(), damaged.matches('\n').count()));
        for record in [ONE, SIX, ALONE] {
            let places = |text: &str| text.match_indices(record).map(|(at, _)| at).collect::<Vec<_>>();
            assert_eq!(places(&text), places(&damaged), "{record}");
        }
        assert_eq!(Document::parse_all(&text).unwrap().roots().len(), 5);
    }

    #[test]
    fn what_is_read_without_complaint_may_be_damaged() {
        for damaged in [
            format!("{ONE}{TWO}\n{SIX}\n"),
            format!("{ONE}\n{TWO} {SIX}\n"),
            format!("{ONE}\n{TWO}null\n"),
            format!("{ONE}\n42\n"),
            format!("{ONE}\n{}\n\n", &TWO[..9]),
        ] {
            assert!(hides_damage(damaged.as_bytes()), "{damaged}");
        }
        for sound in [format!("{ONE}\n\n{TWO}\r\n"), ALONE.replace("[]", r#""a}{b""#)] {
            assert!(!hides_damage(sound.as_bytes()), "{sound}");
        }
    }

    #[test]
    fn utf16_is_converted() {
        let units: Vec<u8> = std::iter::once(0xFEFF).chain(ONE.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        assert_eq!(Rescued::from_text(&units).unwrap().text, ONE.as_bytes());
        assert_eq!(Rescued::from_text(&units[2..]).unwrap().text, ONE.as_bytes());
        // However many NUL bytes are in it.
        let nulls = [&[0; 4096], &units[2..]].concat();
        assert_eq!(Rescued::from_text(&nulls).unwrap().text.trim_ascii_end(), ONE.as_bytes());
        // One line of several.
        let damaged = [ONE.as_bytes(), b"\n", &units[2..], b"\n", TWO.as_bytes(), b"\n"].concat();
        assert_eq!(Rescued::from_text(&damaged).unwrap().text, format!("{ONE}\n{ONE}\n{TWO}\n").as_bytes());
    }
}
