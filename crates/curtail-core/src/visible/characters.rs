//! Characters that a terminal would obey, that have no glyph, or that reorder the text around them.

/// The character at byte `at` of `text`, if a terminal obeys it, it has no glyph or it changes how the text around it is
/// shown. Line breaks and tabs are not included, nor are a joiner, a variation selector and a mark between words where a script or
/// an emoji needs them.
#[must_use]
pub fn obeyed_at(text: &str, at: usize) -> Option<char> {
    let (before, rest) = text.split_at_checked(at)?;
    let mut rest = rest.chars();
    let c = rest.next()?;
    let is_lost = has_no_glyph(c) && !is_needed(before.chars().next_back(), c, rest.next());
    (is_lost || is_obeyed(c)).then_some(c)
}

/// Whether a terminal obeys `c` or it reorders the text around it.
const fn is_obeyed(c: char) -> bool {
    matches!(
        c,
        '\0'..='\u{8}'
            | '\u{b}'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// Whether `c` is one of the characters that Unicode lets a program show as nothing (`Default_Ignorable_Code_Point`).
const fn has_no_glyph(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{2065}'
            | '\u{206a}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0080}'..='\u{e0fff}'
    )
}

/// Whether `c` is part of how the characters around it are written: the selector of an emoji or of a form of a Chinese character,
/// the joiner between two emoji, a joiner or non-joiner between letters of a script that joins them, and the space of no width
/// between words of a script without spaces.
fn is_needed(before: Option<char>, c: char, after: Option<char>) -> bool {
    let (Some(before), after) = (before, after.unwrap_or('\0')) else { return false };
    match c {
        '\u{fe0e}' | '\u{fe0f}' => is_pictograph(before) || after == '\u{20e3}' && is_key(before),
        '\u{200d}' if is_pictograph(after) => is_pictograph(before) || before == '\u{fe0f}',
        '\u{200c}' | '\u{200d}' => is_joined(before) && is_joined(after),
        '\u{e0100}'..='\u{e01ef}' => {
            matches!(before, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
        }
        '\u{200b}' => is_unspaced(before) && is_unspaced(after),
        '\u{180b}'..='\u{180d}' | '\u{180f}' => matches!(before, '\u{1820}'..='\u{18aa}'),
        _ => false,
    }
}

const fn is_key(c: char) -> bool {
    matches!(c, '0'..='9' | '#' | '*')
}

/// Whether `c` may be shown as an emoji: the blocks that contain the characters with `Emoji=Yes`, keys left out.
const fn is_pictograph(c: char) -> bool {
    matches!(
        c,
        '©' | '®'
            | '\u{203c}'
            | '\u{2049}'
            | '\u{2122}'
            | '\u{2139}'
            | '\u{2190}'..='\u{21ff}'
            | '\u{2300}'..='\u{27bf}'
            | '\u{2900}'..='\u{297f}'
            | '\u{2b00}'..='\u{2bff}'
            | '\u{3030}'
            | '\u{303d}'
            | '\u{3297}'
            | '\u{3299}'
            | '\u{1f000}'..='\u{1faff}'
    )
}

/// Whether `c` is a letter or a mark of a script whose letters join: Arabic and its kin, those of India and Southeast Asia,
/// and Mongolian.
const fn is_joined(c: char) -> bool {
    matches!(c, '\u{620}'..='\u{109f}' | '\u{1780}'..='\u{17b3}' | '\u{17b6}'..='\u{17dd}' | '\u{1820}'..='\u{18aa}')
}

/// Whether `c` is a letter or a mark of Thai, Lao, Burmese or Khmer.
const fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e01}'..='\u{edf}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17b3}' | '\u{17b6}'..='\u{17dd}')
}

/// Whether [`obeyed_at`] may name a character that begins with `byte`.
#[must_use]
pub const fn is_suspect(byte: u8) -> bool {
    byte < b' ' || matches!(byte, 0x7f | 0xc2 | 0xcd | 0xd8 | 0xe1..=0xe3 | 0xef | 0xf0 | 0xf3)
}

/// Whether `text` reads as if it began with `wanted`: a model is not a strict parser, so case, white space and characters
/// without a glyph make no difference.
#[must_use]
pub fn reads_as(text: &str, wanted: &str) -> bool {
    let mut seen = text.chars().filter(|&c| !c.is_whitespace() && !is_obeyed(c) && !has_no_glyph(c));
    wanted.chars().all(|wanted| seen.next().is_some_and(|c| c.eq_ignore_ascii_case(&wanted)))
}

#[cfg(test)]
mod tests {
    use super::{has_no_glyph, is_obeyed, is_suspect, reads_as};

    #[test]
    fn a_suspect_byte_begins_whatever_is_escaped() {
        for c in ('\0'..=char::MAX).filter(|&c| is_obeyed(c) || has_no_glyph(c)) {
            assert!(is_suspect(c.encode_utf8(&mut [0; 4]).as_bytes()[0]), "{:x}", u32::from(c));
        }
    }

    #[test]
    fn a_tag_is_read_whatever_is_hidden_in_it() {
        for text in ["</TAG>", "< / tag", "<\u{200b}/t\u{fe0f}a\u{ad}g", "</t\u{e0101}ag", "</t\u{0}ag"] {
            assert!(reads_as(text, "</tag"), "{text:?}");
        }
        assert!(!reads_as("</ta", "</tag") && !reads_as("<tag", "</tag"));
    }
}
