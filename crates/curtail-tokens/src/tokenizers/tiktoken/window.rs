//! Splits 64 bytes of ASCII at once: computes one bit per byte and class, and from these one bit per start of a piece.
//! A window begins with a piece, so nothing before it matters. Starts that depend on bytes after the window are not
//! reported.
//!
//! With `cased`, and a window that ends after two blanks (`_` is a blank, `x` a bit that is set):
//! ```text
//! bytes      I _ c a n ' t _ r e a d _ i t _ _
//! letters    x . x x x . x . x x x x . x x . .
//! blanks     . x . . . . . x . . . . x . . x x
//! by runs    x x . . . x . x . . . . x . . x x    a blank starts the word after it, and a quote starts a piece
//! starts     x x . . . . . x . . . . x . . x .    the contraction joins its word; the blanks may continue
//! ```
//! The pieces are `I`, `_can't`, `_read` and `_it`. The next window begins at the last start.

#![expect(
    clippy::inline_always,
    reason = "functions that are not inlined lose the SIMD features that `dispatch!` enables"
)]

use fearless_simd::prelude::*;
use fearless_simd::u8x64;

/// The number of bytes in a window that are split.
pub(crate) const WIDTH: usize = 64;

/// The rules by which patterns differ in splitting ASCII.
#[derive(Clone, Copy)]
pub(crate) struct SplitRules {
    /// A capital after a lower-case letter starts a word, and a contraction belongs to the word before it. Otherwise
    /// words have any case, and a contraction is a piece.
    pub(crate) cased: bool,
    /// Slashes after punctuation belong to it, as newlines do.
    pub(crate) slash: bool,
    /// Contractions are distinguished from other text.
    pub(crate) contractions: bool,
    /// Each digit is a number; otherwise a number has up to three digits.
    pub(crate) digits: bool,
    /// The text between numbers is split as if it were a whole text, so that white space before a number is one piece.
    /// Controls are left to [`Pattern::end`](super::pattern::Pattern::end).
    pub(crate) apart: bool,
}

/// One bit for each byte of a window.
#[derive(Clone, Copy)]
struct Classes {
    upper: u64,
    lower: u64,
    digit: u64,
    /// The space alone.
    space: u64,
    /// White space including the space, but not newlines.
    blank: u64,
    newline: u64,
    quote: u64,
    slash: u64,
    control: u64,
    foreign: u64,
}

/// The starts of pieces in the first `len` bytes of a window, at most 64: bit n for byte n. Bit 0 is always set. The
/// end of the piece at the last set bit is not known. If the text ends in this window (`last`), that bit may be the end
/// of the text.
#[inline(always)]
pub(crate) fn starts<S: Simd>(simd: S, rules: SplitRules, window: &[u8; WIDTH], len: usize, last: bool) -> u64 {
    let mut classes = Classes::of_window(simd, window);
    if rules.apart {
        classes.foreign |= classes.control;
    }
    let ascii = (!below(len) | classes.foreign).trailing_zeros() as usize;
    classes.keep(below(ascii));
    let other = below(ascii) & !classes.known();
    let mut split = WindowSplit { rules, window, classes, other, len: ascii, limit: ascii, bits: 0 };
    split.close(last && ascii == len);
    split.find_starts();
    split.bits & below(split.limit) | 1
}

/// A mask of the lowest `bits` bits, at most 64.
#[inline(always)]
fn below(bits: usize) -> u64 {
    if bits < 64 { (1 << bits) - 1 } else { u64::MAX }
}

impl Classes {
    #[inline(always)]
    fn of_window<S: Simd>(simd: S, window: &[u8; WIDTH]) -> Self {
        let bytes = u8x64::from_slice(simd, window);
        let folded = bytes | u8x64::splat(simd, 0x20);
        let letter = (folded.simd_ge(b'a') & folded.simd_le(b'z')).to_bitmask();
        let small = bytes.simd_ge(b'a').to_bitmask();
        let space = bytes.simd_eq(b' ').to_bitmask();
        let newline = (bytes.simd_eq(b'\n') | bytes.simd_eq(b'\r')).to_bitmask();
        let white = (bytes.simd_ge(b'\t') & bytes.simd_le(b'\r')).to_bitmask();
        Self {
            upper: letter & !small,
            lower: letter & small,
            digit: (bytes.simd_ge(b'0') & bytes.simd_le(b'9')).to_bitmask(),
            space,
            blank: (space | white) & !newline,
            newline,
            quote: bytes.simd_eq(b'\'').to_bitmask(),
            slash: bytes.simd_eq(b'/').to_bitmask(),
            control: bytes.simd_lt(b' ').to_bitmask() & !white | bytes.simd_eq(0x7F).to_bitmask(),
            foreign: bytes.simd_ge(0x80).to_bitmask(),
        }
    }

    /// Clears all bits outside `mask`.
    #[inline(always)]
    fn keep(&mut self, mask: u64) {
        for class in [&mut self.upper, &mut self.lower, &mut self.digit, &mut self.space] {
            *class &= mask;
        }
        for class in [&mut self.blank, &mut self.newline, &mut self.quote, &mut self.slash] {
            *class &= mask;
        }
    }

    #[inline(always)]
    fn known(&self) -> u64 {
        self.upper | self.lower | self.digit | self.blank | self.newline
    }
}

/// A window whose starts are being computed.
struct WindowSplit<'a> {
    rules: SplitRules,
    window: &'a [u8; WIDTH],
    classes: Classes,
    /// Punctuation, controls and other bytes of no class.
    other: u64,
    len: usize,
    /// Starts below this are final.
    limit: usize,
    /// The starts found so far.
    bits: u64,
}

impl WindowSplit<'_> {
    /// Sets the limit. White space at the end may continue after the window, and a quote there may belong to what
    /// follows: only the starts before them, and the start of the white space, are final.
    #[inline(always)]
    fn close(&mut self, last: bool) {
        let white = self.classes.blank | self.classes.newline;
        let before = 64 - (below(self.len) & !white).leading_zeros() as usize;
        if before < self.len {
            self.limit = before + 1;
        } else if self.classes.quote << (64 - self.len.max(1)) >> 63 == 1 {
            self.limit = self.len - 1;
        } else if last {
            self.bits |= 1 << self.len;
            self.limit = self.len + 1;
        }
    }

    #[inline(always)]
    fn find_starts(&mut self) {
        let Classes { upper, lower, digit, space, blank, newline, .. } = self.classes;
        let letter = upper | lower;
        let other = self.other;
        let punctuation = run_starts(other) & !(space << 1);
        let prefix = punctuation & letter >> 1;
        self.bits |= run_starts(letter) & !(blank << 1) & !(prefix << 1) | punctuation;
        if self.rules.cased {
            self.bits |= upper & (lower << 1);
        }
        self.bits |= run_starts(newline) & !((blank | other) << 1);
        let joined = blank | newline | if self.rules.apart { digit } else { 0 };
        self.bits |= run_starts(blank) | blank & !(joined >> 1);
        if self.rules.digits {
            self.bits |= digit;
        } else {
            self.number(run_starts(digit));
        }
        self.lines(run_starts(newline) & (other << 1));
        if self.rules.contractions {
            self.contractions(self.classes.quote & (letter >> 1));
        }
    }

    /// Splits numbers into three digits each. `starts` are those of numbers.
    #[inline(always)]
    fn number(&mut self, mut starts: u64) {
        let digit = self.classes.digit;
        let fourth = digit & digit << 1 & digit << 2 & digit << 3;
        while starts != 0 {
            self.bits |= starts;
            starts = starts << 3 & fourth;
        }
    }

    /// Newlines that start at `owned` belong to the punctuation before them. Blanks between two newlines are not a piece of
    /// their own, unless the newlines before them are owned.
    #[inline(always)]
    fn lines(&mut self, owned: u64) {
        let Classes { blank, newline, slash, .. } = self.classes;
        let after = newline.wrapping_add(owned) & !newline;
        if self.rules.slash && after & slash != 0 {
            self.limit = self.limit.min((after & slash).trailing_zeros() as usize);
        }
        let between = blank & !(blank << 1) & newline << 1 & !after;
        let mut closed = blank.wrapping_add(between) & !blank & newline;
        while closed != 0 {
            let end = closed.trailing_zeros();
            let start = 64 - (!blank & ((1 << end) - 1)).leading_zeros();
            self.bits &= !(u64::MAX << start & ((1 << end) - 1));
            closed &= closed - 1;
        }
    }

    /// Joins or separates the contractions at `quotes`, the quotes before letters, from left to right.
    #[inline(always)]
    fn contractions(&mut self, mut quotes: u64) {
        let mut free = 0;
        while quotes != 0 {
            let at = quotes.trailing_zeros() as usize;
            quotes &= quotes - 1;
            if at >= free && self.may_contract(at, free) {
                if at + 3 > self.len {
                    self.limit = self.limit.min(at);
                    return;
                }
                free = self.contract(at).unwrap_or(free);
            }
        }
    }

    /// Whether a contraction may start at a quote: if `cased`, after a letter that does not end a contraction,
    /// otherwise at the start of a piece. `free` is the end of the last contraction.
    #[inline(always)]
    fn may_contract(&self, at: usize, free: usize) -> bool {
        let letter = self.classes.upper | self.classes.lower;
        if self.rules.cased { at > free && letter >> (at - 1) & 1 == 1 } else { self.bits >> at & 1 == 1 }
    }

    /// Joins or separates a contraction and the pieces around it, and returns its end.
    #[inline(always)]
    fn contract(&mut self, at: usize) -> Option<usize> {
        let width = match [self.window[at + 1] | 0x20, self.window[at + 2] | 0x20] {
            [b's' | b't' | b'm' | b'd', _] => 2,
            [b'r' | b'v', b'e'] | [b'l', b'l'] => 3,
            _ => return None,
        };
        let end = at + width;
        let inside = ((1 << width) - 1) << at;
        let letter = self.classes.upper | self.classes.lower;
        self.bits &= !inside;
        self.bits |= u64::from(!self.rules.cased) << at;
        if end < WIDTH {
            self.bits |= letter & 1 << end;
        }
        Some(end)
    }
}

/// The first byte of each run of a class.
#[inline(always)]
const fn run_starts(class: u64) -> u64 {
    class & !(class << 1)
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};

    use super::{Classes, WIDTH};

    #[test]
    fn bits_are_the_classes_of_each_byte_on_every_processor() {
        for first in 0..=u8::MAX {
            let window: [u8; WIDTH] = std::array::from_fn(|at| first.wrapping_add(u8::try_from(at * 7).unwrap_or(0)));
            let bits = |is: fn(&u8) -> bool| (0..WIDTH).map(|at| u64::from(is(&window[at])) << at).sum::<u64>();
            for level in [Level::baseline(), Level::new()] {
                let classes = dispatch!(level, simd => Classes::of_window(simd, &window));
                assert_eq!(classes.upper, bits(u8::is_ascii_uppercase));
                assert_eq!(classes.lower, bits(u8::is_ascii_lowercase));
                assert_eq!(classes.digit, bits(u8::is_ascii_digit));
                assert_eq!(classes.space, bits(|byte| *byte == b' '));
                assert_eq!(classes.blank, bits(|byte| b" \t\x0b\x0c".contains(byte)));
                assert_eq!(classes.newline, bits(|byte| b"\r\n".contains(byte)));
                assert_eq!(classes.quote, bits(|byte| *byte == b'\''));
                assert_eq!(classes.slash, bits(|byte| *byte == b'/'));
                assert_eq!(classes.control, bits(|byte| byte.is_ascii_control() && !(9..14).contains(byte)));
                assert_eq!(classes.foreign, bits(|byte| !byte.is_ascii()));
            }
        }
    }
}
