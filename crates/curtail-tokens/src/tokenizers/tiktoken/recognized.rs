//! The patterns of known models, as their files write them, and the same patterns written by hand.

use super::counter::Walker;
use super::deepseek::DeepSeek;
use super::pattern::{Cased, O200k, Pattern, R50k, Words};

/// A known pattern that is also written by hand.
struct Recognized {
    /// Its regexes, each of which splits the pieces of the previous one.
    patterns: &'static [&'static str],
    walker: &'static Walker,
}

const fn by_hand<P: Pattern>(patterns: &'static [&'static str]) -> Recognized {
    Recognized { patterns, walker: Walker::splitting_by::<P>() }
}

/// The pattern of GPT-2 and of models that took it over, if a file contains it. `ByteLevel` has the same pattern built
/// in.
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

/// The known pattern with these regexes; without any, that of `ByteLevel`. Some files contain literal newlines instead
/// of `\n`.
pub(crate) fn recognize(patterns: &[&str]) -> Option<&'static Walker> {
    let escaped: Vec<_> = patterns.iter().map(|pattern| pattern.replace('\r', r"\r").replace('\n', r"\n")).collect();
    let mut all = [&GPT2].into_iter().chain(RECOGNIZED);
    let known = all.find(|recognized| patterns.is_empty() || recognized.patterns == escaped);
    known.map(|recognized| recognized.walker)
}
