//! Files that are UTF-16: how they are recognized, and how they are read as UTF-8.

use std::io::{self, Read};

use memchr::memmem;

/// Which byte of a unit comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByteOrder {
    /// The low one.
    Little,
    /// The high one.
    Big,
}

impl ByteOrder {
    const ALL: [Self; 2] = [Self::Little, Self::Big];

    /// The order of the bytes of a text that begins with `head`; `None` if it is not UTF-16. JSON is what most of its keys are,
    /// whatever its other characters are, and a damaged file may contain lines of another encoding.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        if is_utf32(head) {
            return None;
        }
        let marked = Self::ALL.into_iter().find(|order| head.starts_with(&order.bytes(MARK)));
        if marked.is_none() {
            memchr::memchr(0, head)?;
        }
        let [little, big] = Self::ALL.map(|order| order.keys_in(head));
        let narrow = memmem::find_iter(head, &END_OF_KEY).count();
        match little.max(big) {
            0 if narrow == 0 => marked.or_else(|| Self::of_ascii(head)),
            wide if wide > narrow => Some(if wide == little { Self::Little } else { Self::Big }),
            _ => None,
        }
    }

    /// The same for a text without keys and without a mark, most of whose characters are ASCII.
    fn of_ascii(head: &[u8]) -> Option<Self> {
        let units = head.chunks_exact(2).filter(|unit| *unit != [0, 0]);
        Self::ALL.into_iter().find(|order| {
            let ascii = units.clone().filter(|unit| order.unit([unit[0], unit[1]]) < 0x80);
            2 * ascii.count() > units.clone().count()
        })
    }

    /// The number of keys in `text`, each with its colon.
    fn keys_in(self, text: &[u8]) -> usize {
        let end: Vec<u8> = END_OF_KEY.iter().flat_map(|byte| self.bytes(u16::from(*byte))).collect();
        memmem::find_iter(text, &end).filter(|at| at % 2 == 0).count()
    }

    const fn bytes(self, unit: u16) -> [u8; 2] {
        match self {
            Self::Little => unit.to_le_bytes(),
            Self::Big => unit.to_be_bytes(),
        }
    }

    const fn unit(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }
}

/// Whether a text that begins with `head` is UTF-32: the keys of JSON show it, as those of UTF-16.
pub(super) fn is_utf32(head: &[u8]) -> bool {
    let ends = [END_OF_KEY.map(|byte| [byte, 0, 0, 0]), END_OF_KEY.map(|byte| [0, 0, 0, byte])];
    memchr::memchr(0, head).is_some() && ends.iter().any(|end| memmem::find(head, end.as_flattened()).is_some())
}

/// How a key of an object ends.
const END_OF_KEY: [u8; 2] = *b"\":";

/// A byte order mark.
const MARK: u16 = 0xFEFF;

/// The text of `bytes` as UTF-8, if they are UTF-16.
pub(super) fn converted(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(bytes.len());
    // Reading from memory cannot fail.
    Utf16Reader::new(bytes, ByteOrder::of(bytes)?).read_to_end(&mut text).ok()?;
    Some(text)
}

/// Reads a stream of UTF-16 as UTF-8, without its mark. Half of a character becomes bytes that are not UTF-8, so that whoever
/// reads the text finds the damage at its place.
pub(super) struct Utf16Reader<R> {
    stream: R,
    order: ByteOrder,
    /// Bytes of the stream that are not decoded yet: the beginning of a character.
    rest: Vec<u8>,
    decoded: Vec<u8>,
    /// How much of `decoded` was returned.
    returned: usize,
    is_begun: bool,
}

impl<R: Read> Utf16Reader<R> {
    pub(super) const fn new(stream: R, order: ByteOrder) -> Self {
        Self { stream, order, rest: Vec::new(), decoded: Vec::new(), returned: 0, is_begun: false }
    }

    /// Decodes the bytes read so far; the beginning of a character only if nothing follows.
    fn decode(&mut self, is_last: bool) {
        self.decoded.clear();
        self.returned = 0;
        let mut units: Vec<u16> = self.rest.chunks_exact(2).map(|unit| self.order.unit([unit[0], unit[1]])).collect();
        if !is_last {
            // A character may go on in the unit after a high surrogate.
            units.pop_if(|last| matches!(last, 0xD800..0xDC00));
        }
        self.rest.drain(..2 * units.len());
        if !units.is_empty() && !std::mem::replace(&mut self.is_begun, true) && units[0] == MARK {
            units.remove(0);
        }
        for character in char::decode_utf16(units) {
            match character {
                Ok(character) => self.decoded.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
                Err(_) => self.decoded.push(NOT_UTF8),
            }
        }
        if is_last && !std::mem::take(&mut self.rest).is_empty() {
            self.decoded.push(NOT_UTF8);
        }
    }
}

/// A byte that no UTF-8 contains.
const NOT_UTF8: u8 = 0xFF;

impl<R: Read> Read for Utf16Reader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.returned == self.decoded.len() {
            let mut chunk = [0; 16 * 1024];
            let got = self.stream.read(&mut chunk)?;
            self.rest.extend_from_slice(&chunk[..got]);
            if got == 0 && self.rest.is_empty() {
                return Ok(0);
            }
            self.decode(got == 0);
        }
        let left = &self.decoded[self.returned..];
        let len = left.len().min(into.len());
        into[..len].copy_from_slice(&left[..len]);
        self.returned += len;
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::{ByteOrder, converted, is_utf32};

    const RECORD: &str = "{\"role\":\"user\",\"content\":\"上海 ── 🙂 \u{7b22}\"}\n";

    fn encoded(text: &str, order: ByteOrder) -> Vec<u8> {
        text.encode_utf16().flat_map(|unit| order.bytes(unit)).collect()
    }

    #[test]
    fn json_is_recognized_whatever_characters_it_contains() {
        let drawing = RECORD.replace("──", &"─".repeat(500));
        let chinese = RECORD.replace("上海", &"上海".repeat(500));
        let padded = format!("{}{RECORD}", "\0".repeat(512));
        for text in [RECORD, &drawing, &chinese, &padded, "{\"a\":1}"] {
            for order in [ByteOrder::Little, ByteOrder::Big] {
                assert_eq!(converted(&encoded(text, order)).as_deref(), Some(text.as_bytes()));
                let marked = format!("\u{feff}{text}");
                assert_eq!(converted(&encoded(&marked, order)).as_deref(), Some(text.as_bytes()));
            }
        }
    }

    #[test]
    fn a_text_is_recognized_by_its_mark_or_by_ascii() {
        for text in ["\u{feff}上海", "a summary, “quoted”\n"] {
            for order in [ByteOrder::Little, ByteOrder::Big] {
                let expected = text.trim_start_matches('\u{feff}');
                assert_eq!(converted(&encoded(text, order)).as_deref(), Some(expected.as_bytes()));
            }
        }
    }

    #[test]
    fn utf8_with_nul_bytes_or_with_lines_of_utf16_is_none() {
        let line = encoded(RECORD, ByteOrder::Little);
        for text in [
            [RECORD.as_bytes(), RECORD.as_bytes(), &line].concat(),
            [&line, RECORD.as_bytes(), RECORD.as_bytes(), RECORD.as_bytes()].concat(),
            [b"\0\0\0", RECORD.as_bytes()].concat(),
            RECORD.replace('\n', "\0\0\n").into_bytes(),
            RECORD.as_bytes().to_vec(),
        ] {
            assert!(converted(&text).is_none(), "{}", String::from_utf8_lossy(&text));
        }
    }

    #[test]
    fn utf32_is_none() {
        for text in [RECORD.to_owned(), format!("\u{feff}{RECORD}")] {
            for order in [u32::to_le_bytes, u32::to_be_bytes] {
                let encoded: Vec<u8> = text.chars().map(u32::from).flat_map(order).collect();
                assert!(is_utf32(&encoded) && converted(&encoded).is_none());
            }
        }
        assert!(!is_utf32(&encoded(RECORD, ByteOrder::Big)) && !is_utf32(RECORD.as_bytes()));
    }

    #[test]
    fn half_a_character_is_not_utf8() {
        let mut text = encoded("{\"a\":\"🙂\"}", ByteOrder::Little);
        text.drain(12..14);
        assert_eq!(converted(&text).as_deref(), Some(&b"{\"a\":\"\xFF\"}"[..]));
        let torn = &encoded(RECORD, ByteOrder::Big)[..RECORD.encode_utf16().count() * 2 - 1];
        assert!(converted(torn).is_some_and(|text| text.ends_with(b"}\xFF")));
    }
}
