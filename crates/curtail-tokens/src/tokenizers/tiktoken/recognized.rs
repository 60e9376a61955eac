//! The patterns of known models, as their files write them, and the same patterns written by hand.

use super::counter::Walker;
use super::deepseek::DeepSeek;
use super::encodings::{Cased, O200k, R50k, Words};
use super::pattern::Pattern;

/// A pattern that is written by hand.
pub(crate) struct Recognized {
    /// As regexes, each of which splits what the one before it left.
    patterns: &'static [&'static str],
    /// Splits and counts.
    pub(crate) walker: Walker,
    /// Finds the end of a piece.
    pub(crate) end: fn(&[u8], usize) -> usize,
}

const fn by_hand<P: Pattern>(patterns: &'static [&'static str]) -> Recognized {
    Recognized { patterns, walker: Walker::splitting_by::<P>(), end: P::end }
}

/// GPT-2 and those that took its pattern over, where the file writes it. `ByteLevel` has the same built in.
static GPT2: Recognized =
    by_hand::<R50k>(&[r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"]);

static RECOGNIZED: &[Recognized] = &[
    // Llama 3, GLM 4 and GPT-4.
    by_hand::<Words<3, false>>(&[
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ]),
    // Qwen 2 and 3.
    by_hand::<Words<1, false>>(&[
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ]),
    // GPT-4o and gpt-oss.
    by_hand::<O200k>(&[
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ]),
    // Mistral's tekken.
    by_hand::<Cased<1, false>>(&[
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ]),
    // DeepSeek V3 and later.
    by_hand::<DeepSeek>(&[
        r"\p{N}{1,3}",
        "[一-龥぀-ゟ゠-ヿ]+",
        r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"##,
    ]),
];

/// The patterns of a file; without one, that of `ByteLevel`. Some files write newlines in a pattern as they are.
pub(crate) fn recognize(patterns: &[&str]) -> Option<&'static Recognized> {
    let written: Vec<_> = patterns.iter().map(|pattern| pattern.replace('\r', r"\r").replace('\n', r"\n")).collect();
    let known = |recognized: &&Recognized| recognized.patterns == written;
    if patterns.is_empty() { Some(&GPT2) } else { [&GPT2].into_iter().chain(RECOGNIZED).find(known) }
}
