//! Limits for a `tokenizer.json`. The file is usually downloaded, and the library that reads it trusts its numbers.

use std::fmt;

use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine as _, alphabet};
use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// The largest file, in bytes; the largest of a known model has 35 million.
pub(super) const LARGEST_FILE: u64 = 256 << 20;

/// The highest id of a token; known vocabularies end below 300,000.
pub(super) const HIGHEST_ID: u32 = 1 << 24;

/// The largest number of normalizers and pre-tokenizers, including those in sequences.
const MAX_STEPS: usize = 64;

/// The largest factor by which normalizers may lengthen a text. Replacing a space by `▁` triples it.
const MAX_GROWTH: usize = 256;

/// The longest prefix or suffix that the model puts around each piece, in bytes.
const LONGEST_AFFIX: usize = 64;

/// The longest word that `WordPiece` may split, in characters: its time is quadratic, because it tries each part of a
/// word.
const LONGEST_WORD: u64 = 1000;

/// The members of a file that are checked.
#[derive(Deserialize)]
struct CheckedMembers {
    model: BoundedModel,
    #[serde(default)]
    added_tokens: Vec<AddedId>,
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
}

#[derive(Deserialize)]
struct BoundedModel {
    #[serde(default)]
    vocab: HighestId,
    #[serde(default)]
    continuing_subword_prefix: Option<String>,
    #[serde(default)]
    end_of_word_suffix: Option<String>,
    #[serde(default)]
    max_input_chars_per_word: Option<u64>,
}

#[derive(Deserialize)]
struct AddedId {
    #[serde(default)]
    id: u64,
}

/// The highest id of a vocabulary: that of an object's values, or the length of a list.
#[derive(Default)]
struct HighestId(u64);

impl<'de> Deserialize<'de> for HighestId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(VocabularyVisitor)
    }
}

struct VocabularyVisitor;

impl<'de> Visitor<'de> for VocabularyVisitor {
    type Value = HighestId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a vocabulary")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<HighestId, A::Error> {
        let mut highest = 0;
        while let Some((_, id)) = map.next_entry::<IgnoredAny, u64>()? {
            highest = highest.max(id);
        }
        Ok(HighestId(highest))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<HighestId, A::Error> {
        let mut length = 0;
        while list.next_element::<IgnoredAny>()?.is_some() {
            length += 1;
        }
        Ok(HighestId(length))
    }
}

/// Checks that the file stays within the limits.
///
/// # Errors
/// The limit that it exceeds, or why it is not a `tokenizer.json`.
pub(super) fn check_bounds(bytes: &[u8]) -> Result<(), String> {
    let outline: CheckedMembers = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let added = outline.added_tokens.iter().map(|token| token.id).max().unwrap_or(0);
    let highest = outline.model.vocab.0.max(added);
    if highest > u64::from(HIGHEST_ID) {
        return Err(format!("a token has the id {highest}; {HIGHEST_ID} is the highest allowed"));
    }
    let affixes = [&outline.model.continuing_subword_prefix, &outline.model.end_of_word_suffix];
    if affixes.into_iter().flatten().any(|affix| affix.len() > LONGEST_AFFIX) {
        return Err(format!("the model's prefix or suffix is longer than {LONGEST_AFFIX} bytes"));
    }
    if outline.model.max_input_chars_per_word.is_some_and(|most| most > LONGEST_WORD) {
        return Err(format!("max_input_chars_per_word is above {LONGEST_WORD}"));
    }
    check_steps(&outline.normalizer, &outline.pre_tokenizer)
}

/// Checks that a normalizer and a pre-tokenizer stay within the limits.
///
/// # Errors
/// The limit that they exceed.
pub(super) fn check_steps(normalizer: &Value, pre_tokenizer: &Value) -> Result<(), String> {
    let all: Vec<&Value> = steps(normalizer).chain(steps(pre_tokenizer)).collect();
    let count = all.len();
    if count > MAX_STEPS {
        return Err(format!("it has {count} normalizers and pre-tokenizers; {MAX_STEPS} are allowed"));
    }
    match all.into_iter().map(growth).fold(1, usize::saturating_mul) <= MAX_GROWTH {
        true => Ok(()),
        false => Err(format!("its normalizers can make a text more than {MAX_GROWTH} times longer")),
    }
}

/// A step and, if it is a sequence, the steps in it.
fn steps(step: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    let inner = ["normalizers", "pretokenizers"].into_iter().filter_map(|name| step[name].as_array()).flatten();
    Box::new(step.is_object().then_some(step).into_iter().chain(inner.flat_map(steps)))
}

/// The factor by which a step can lengthen a text, Unicode normalization aside.
fn growth(step: &Value) -> usize {
    let content = step["content"].as_str().map_or(0, str::len);
    match step["type"].as_str() {
        Some("Replace") => match step["pattern"]["String"].as_str().map(str::len) {
            Some(length) => content.div_ceil(length.max(1)).max(1),
            // A regex may match between all characters.
            None => content + 1,
        },
        Some("Prepend") => step["prepend"].as_str().map_or(1, |text| text.len().div_ceil(LONGEST_AFFIX)).max(1),
        Some("Precompiled") => step["precompiled_charsmap"].as_str().map_or(1, longest_replacement),
        _ => 1,
    }
}

/// The longest replacement of a character in a character map of `SentencePiece`, as a multiple of what is usual in
/// Unicode. The map is base64 of the length of a trie (four bytes), the trie, and texts that end with a zero.
fn longest_replacement(map: &str) -> usize {
    /// Bytes.
    const USUAL: usize = 64;
    // The library refuses what is not base64. It accepts text without padding.
    const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let bytes = GeneralPurpose::new(&alphabet::STANDARD, LENIENT).decode(map).unwrap_or_default();
    let length = bytes.first_chunk().map_or(0, |length| u32::from_le_bytes(*length) as usize);
    let texts = bytes.get(length.saturating_add(4)..).unwrap_or_default();
    texts.split(|byte| *byte == 0).map(<[u8]>::len).max().unwrap_or(0).div_ceil(USUAL).max(1)
}
