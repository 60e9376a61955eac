//! Unicode's composed form (NFC), which some tokenizers give a text.

use std::borrow::Cow;

use unicode_normalization_alignments::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// The text, composed if `normalizes`.
pub(super) fn composed(text: &str, normalizes: bool) -> Cow<'_, str> {
    if !normalizes
        || text.is_ascii()
        || is_nfc_quick(text.chars().filter(|each| may_change(*each))) == IsNormalized::Yes
    {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfc().map(|(character, _)| character).collect())
}

/// Whether a character may change or be reordered: most letters do not, and combine with nothing before them.
const fn may_change(character: char) -> bool {
    !matches!(character, '\0'..'\u{300}' | '\u{3400}'..'\u{a000}' | '\u{ac00}'..'\u{d7a4}')
}
