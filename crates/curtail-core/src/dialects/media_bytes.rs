//! Bytes of media: base64 and what it encodes, the types of images, and the pages of a PDF. Where a transcript has them is not
//! known here.

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use foldhash::{HashMap, HashMapExt};
use memchr::memmem;

/// The longest base64 that is decoded to find the size of an image: cameras write up to 64 KB before it.
pub(super) const HEAD: usize = 1 << 18;

/// Whether `text` is base64, in either alphabet and with or without padding.
pub(super) fn is_base64(text: &str) -> bool {
    let digits = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let count = digits.clone().filter(|byte| *byte != b'=').count();
    digits.clone().all(|byte| byte.is_ascii_alphanumeric() || b"+/-_=".contains(&byte)) && count % 4 != 1
}

/// What the first `most` digits of `base64` encode, in either alphabet; `None` if they are not base64.
pub(super) fn decoded(base64: &str, most: usize) -> Option<Vec<u8>> {
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let lenient = GeneralPurpose::new(&base64::alphabet::STANDARD, config.with_decode_allow_trailing_bits(true));
    let digits = base64.bytes().filter(|byte| !byte.is_ascii_whitespace()).map(|byte| match byte {
        b'-' => b'+',
        b'_' => b'/',
        other => other,
    });
    let clean: Vec<u8> = digits.take(most).collect();
    let whole = clean.len() - clean.len() % 4;
    lenient.decode(&clean[..whole]).ok()
}

/// The number of bytes that `base64` encodes.
pub(super) fn decoded_length(base64: &str) -> u64 {
    let digits = base64.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=').count();
    digits as u64 * 3 / 4
}

/// The type of an image that begins with `head`.
pub(super) fn image_type(head: &[u8]) -> Option<String> {
    imagesize::image_type(head).ok().map(|format| format!("{format:?}").to_lowercase())
}

/// The number of pages of a PDF: as its tree of pages says, or else as many pages as can be seen.
pub(super) fn pdf_pages(bytes: &[u8]) -> Option<usize> {
    const END: &[u8] = b"endobj";
    // A file that was changed contains the objects as they were, too: the last one of a number is the object.
    let mut objects = HashMap::new();
    let mut start = 0;
    while start < bytes.len() {
        let end = memmem::find(&bytes[start..], END).map_or(bytes.len(), |at| start + at);
        let object = &bytes[start..end];
        objects.insert(object_number(object).ok_or(start), object);
        start = end + END.len();
    }
    // Bookmarks have a count, too.
    let trees = objects.values().filter(|object| kinds(object).any(|kind| kind == b"Pages"));
    let counted = trees.filter_map(|tree| count_in(tree)).max();
    let seen = || objects.values().flat_map(|object| kinds(object)).filter(|kind| *kind == b"Page").count();
    counted.filter(|most| *most > 0).or_else(|| Some(seen()).filter(|most| *most > 0))
}

/// The number before the generation of an object: 12 in `12 0 obj`.
fn object_number(object: &[u8]) -> Option<usize> {
    let head = object[..memmem::find(object, b"obj")?].trim_ascii_end();
    let mut words = head.rsplit(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.next()?;
    number_at(words.next()?)
}

/// The kinds of the dictionaries in an object.
fn kinds(object: &[u8]) -> impl Iterator<Item = &[u8]> {
    const TYPE: &[u8] = b"/Type";
    memmem::find_iter(object, TYPE).map(|at| {
        let name = object[at + TYPE.len()..].trim_ascii_start().strip_prefix(b"/").unwrap_or_default();
        &name[..name.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count()]
    })
}

fn count_in(object: &[u8]) -> Option<usize> {
    const COUNT: &[u8] = b"/Count";
    number_at(&object[memmem::find(object, COUNT)? + COUNT.len()..])
}

/// The number at the beginning of `bytes`.
fn number_at(bytes: &[u8]) -> Option<usize> {
    let digits: Vec<u8> =
        bytes.iter().copied().skip_while(u8::is_ascii_whitespace).take_while(u8::is_ascii_digit).collect();
    std::str::from_utf8(&digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{HEAD, decoded, decoded_length, pdf_pages};

    #[test]
    fn bookmarks_are_no_pages() {
        let outline = "1 0 obj\n<</Type /Outlines /Count 250>>\nendobj\n";
        let pages = "2 0 obj <</Count 3/Type/Pages/Kids[3 0 R]>> endobj 3 0 obj <</Type /Page/Parent 2 0 R>> endobj";
        assert_eq!(pdf_pages(format!("{outline}{pages}").as_bytes()), Some(3));
        assert_eq!(pdf_pages(b"<</Type/Page>> <</Type/PageLabel>> <</Type /Page>>"), Some(2));
        assert_eq!(pdf_pages(outline.as_bytes()), None);
    }

    #[test]
    fn a_pdf_that_was_saved_again_has_the_pages_of_its_newest_objects() {
        let page = |number: usize| format!("{number} 0 obj\n<</Type/Page/Parent 1 0 R>>\nendobj\n");
        let tree = |count: usize| format!("1 0 obj\n<</Type/Pages/Count {count}>>\nendobj\n");
        let first = format!("%PDF-1.4\n{}{}{}{}", tree(3), page(2), page(3), page(4));
        let xref = "xref\n0 4\ntrailer\n<</Size 5>>\nstartxref\n9\n%%EOF\n";
        assert_eq!(pdf_pages(format!("{first}{xref}{}{}", page(2), page(3)).as_bytes()), Some(3));
        assert_eq!(pdf_pages(format!("{first}{xref}{}", tree(1)).as_bytes()), Some(1));
        let untold = format!("{}{}{xref}{}", page(2), page(3), page(2));
        assert_eq!(pdf_pages(untold.as_bytes()), Some(2));
    }

    #[test]
    fn base64_is_measured() {
        for (text, bytes) in [("", 0), ("QQ==", 1), ("QUI=", 2), ("QUJD", 3), ("QUJDRA", 4)] {
            assert_eq!(decoded_length(text), bytes, "{text}");
        }
        assert_eq!(decoded("QUJD\nREVG", HEAD).unwrap(), b"ABCDEF");
        assert_eq!(decoded("-_-_", HEAD), decoded("+/+/", HEAD));
        assert_eq!(decoded("QQ=QQ", HEAD), None);
    }
}
