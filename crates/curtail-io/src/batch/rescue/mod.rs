//! What can be read of a damaged log: lines that are JSON, and records among others on one line. What cannot is named.
//! Where a damaged line can be read in several ways, a record is guessed by its keys, compared with those of sound records and of
//! the objects inside of them: the last part of a torn record that is unlike all of these is taken for a record.

mod damaged_line;
mod known;
mod parting;
mod soundness;

use crate::{ErrorKind, FileError, utf16};
use curtail_core::places::TextPlace;
use damaged_line::{DamagedLine, LineEnd, SoundRecord};
pub(super) use known::Records;
use soundness::spans_lines;
pub(super) use soundness::{hides_damage, is_record, is_sound, looks_damaged};

/// A text without what is damaged in it.
#[derive(Debug, Default)]
pub struct Rescued {
    /// The sound lines, byte for byte, and the sound records of damaged lines.
    pub text: Vec<u8>,
    /// What was lost or changed, in order.
    pub losses: Vec<Loss>,
    /// How many records are in the text.
    count: usize,
    /// Whether records stay at their places, and white space stands for what is left out.
    is_in_place: bool,
}

impl Rescued {
    /// What can be read of `text`, each record on a line; `None` if nothing is damaged, a value is printed over several lines, or
    /// the text is UTF-32.
    pub fn from_text(text: &[u8]) -> Option<Self> {
        Self::default().read(text)
    }

    /// As [`from_text`](Self::from_text), for a reader that names places: each record is at its place in `text`, with white space
    /// for what is left out. Only UTF-16 is shorter as UTF-8; its lines stay. A record that is rid of NUL bytes begins at its
    /// place, and has white space behind it.
    pub fn in_place(text: &[u8]) -> Option<Self> {
        Self { is_in_place: true, ..Self::default() }.read(text)
    }

    /// What can be read of the line with this number, one of several whose sound records are `known`; `None` if nothing is damaged.
    /// A line without a line break is the last one, which may be torn.
    pub(super) fn from_line(number: usize, line: &[u8], known: &Records) -> Option<Self> {
        let mut rescued = Self::default();
        rescued.add_line(number, line, known, &[]);
        (!rescued.losses.is_empty()).then_some(rescued)
    }

    /// Whether nothing can be read.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn read(mut self, text: &[u8]) -> Option<Self> {
        // Without its NUL bytes, it would be read as other characters.
        if utf16::is_utf32(text) {
            return None;
        }
        let converted = utf16::converted(text);
        self.losses.extend(converted.as_ref().map(|_| Loss::conversion()));
        let text = converted.as_deref().unwrap_or(text);
        self.add_lines(text, &Records::from_text(text));
        (!self.losses.is_empty() && !spans_lines(text)).then_some(self)
    }

    fn add_lines(&mut self, text: &[u8], known: &Records) {
        let mut start = 0;
        let mut number = 0;
        while start < text.len() {
            number += 1;
            let end = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |at| start + at + 1);
            self.add_line(number, &text[start..end], known, &text[end..]);
            start = end;
        }
    }

    /// Adds what can be read of a line; `rest` is what follows it.
    fn add_line(&mut self, number: usize, line: &[u8], known: &Records, rest: &[u8]) {
        let body = line.trim_ascii_end();
        let is_like_others = is_record(body) || !known.are_known();
        if body.is_empty() || is_like_others && is_sound(number, body) {
            self.count += usize::from(!body.is_empty());
            return self.text.extend_from_slice(line);
        }
        let ending = &line[body.len()..];
        let damaged = DamagedLine { number, body, end: LineEnd::new(ending, rest) };
        let sound = damaged.sound_records(known, &mut self.losses);
        self.count += sound.len();
        if self.is_in_place {
            return self.put_in_place(line, &sound);
        }
        let line_break: &[u8] = if ending.ends_with(b"\n") { ending } else { b"\n" };
        for record in sound {
            self.text.extend(record.bytes);
            self.text.extend_from_slice(line_break);
        }
    }

    /// Writes `line` with nothing but its sound records, each at its place.
    fn put_in_place(&mut self, line: &[u8], sound: &[SoundRecord]) {
        let start = self.text.len();
        let blank = line.iter().map(|byte| if byte.is_ascii_whitespace() { *byte } else { b' ' });
        self.text.extend(blank);
        for record in sound {
            let at = start + record.at;
            self.text[at..at + record.bytes.len()].copy_from_slice(&record.bytes);
        }
    }
}

/// The text of a file that is UTF-16, and what is said of it; `None` if it is not.
pub fn converted(bytes: &[u8]) -> Option<(String, Loss)> {
    Some((String::from_utf8(utf16::converted(bytes)?).ok()?, Loss::conversion()))
}

/// What was lost of a line.
#[derive(Debug)]
pub struct Loss {
    /// Its number in the damaged text, from 1.
    pub line: usize,
    /// What happened, in lower case.
    pub reason: String,
    /// The bytes that were left out; none if NUL bytes or a byte order mark were cut, records parted, or the text converted.
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

#[cfg(test)]
mod tests {
    use super::*;
    use curtail_core::json::Document;

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

    /// A place behind cut bytes is judged once, however many heads are before it.
    #[test]
    fn a_long_torn_line_is_parted_in_one_pass() {
        let torn = format!("{}\0{{\"type\":[{}", "{\"type\":!".repeat(20_000), "1,".repeat(100_000));
        let (text, losses) = rescued(&format!("{ONE}\n{torn}\n{SIX}\n"));
        assert_eq!((text, losses.len()), (format!("{ONE}\n{SIX}\n"), 2));
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
        let calls: String = (0..3).map(|n| format!("{{\"type\":\"call\",\"input\":{{\"key{n}\":1}}}}\n")).collect();
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
            assert!(text.match_indices(record).eq(damaged.match_indices(record)), "{record}");
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
