//! Counts with a `tokenizer.json` of Hugging Face. Adds no special tokens, and counts those in a text as text.
//!
//! Byte-level BPE is counted by the engine of `curtail`, which is faster; everything else by the library `tokenizers`.

mod model;
mod native;

use std::{
    fmt,
    io::Read as _,
    panic::resume_unwind,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine as _, alphabet};
use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::{Family, Listed, Tokenizer, UnknownTokenizer, is_file_name};
use crate::panics::catch_panic;
use curtail_core::error::system_message;
use native::NativeTokenizer;

/// Why the engine of `curtail` cannot count with a file.
type Unsupported = &'static str;

/// A tokenizer from a file. Its name is the file's path.
struct HuggingFace {
    path: String,
    native: Result<NativeTokenizer, Unsupported>,
    /// The content of the file if the engine counts; empty otherwise. The library may need it later, to cut a text.
    bytes: Vec<u8>,
    /// Read at once if it counts, otherwise when it is first needed.
    library: OnceLock<Library>,
}

/// The file as read by the library `tokenizers`.
struct Library {
    tokenizer: tokenizers::Tokenizer,
    /// The same, but special tokens in a text are tokens; made when a rendered template is first counted.
    special: OnceLock<tokenizers::Tokenizer>,
}

/// A text with letters, digits, marks, white space, and characters that no vocabulary contains.
const PROBE: &str = "Hello, world! 12 the\n\tüber naïve 中文 🙂 aaaa \u{0}\u{e000}";

/// Tokenizers from files.
pub(super) static FAMILY: Family = Family {
    members: || vec![Listed { name: "PATH/tokenizer.json", kind: "huggingface", models: Vec::new(), exact: true }],
    usage: || String::from("the path of a tokenizer.json"),
    open: |name| is_file_name(name).then(|| load_once(&file_of(Path::new(name)))),
};

/// The files that were loaded. A global, because every stage of a chain looks up its tokenizer by name, and loading a
/// file takes up to a second. It affects only speed.
static LOADED: Mutex<Vec<(PathBuf, Arc<HuggingFace>)>> = Mutex::new(Vec::new());

/// `path`, or the `tokenizer.json` in it if it is the folder of a model.
fn file_of(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("tokenizer.json") } else { path.to_owned() }
}

/// The tokenizer in a file, which is read once per process.
fn load_once(path: &Path) -> Result<Arc<dyn Tokenizer>, UnknownTokenizer> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = loaded.iter().find(|(known, _)| known == path) {
        return Ok(Arc::clone(known) as Arc<dyn Tokenizer>);
    }
    let new = Arc::new(HuggingFace::open(path)?);
    loaded.push((path.to_owned(), Arc::clone(&new)));
    Ok(new)
}

impl HuggingFace {
    fn open(path: &Path) -> Result<Self, UnknownTokenizer> {
        let refused = |error: &dyn fmt::Display| {
            UnknownTokenizer(format!("{}: cannot be used as a tokenizer.json: {error}", path.display()))
        };
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path).map_err(|error| refused(&system_message(&error)))?;
        let read = file.take(LARGEST_FILE + 1).read_to_end(&mut bytes);
        if read.map_err(|error| refused(&system_message(&error)))? as u64 > LARGEST_FILE {
            return Err(refused(&format!("it is larger than {} MB", LARGEST_FILE >> 20)));
        }
        let native = NativeTokenizer::read(&bytes);
        let library = OnceLock::new();
        if native.is_err() {
            let read = Library::read(&std::mem::take(&mut bytes)).map_err(|reason| refused(&reason))?;
            let _ = library.set(read);
        }
        Ok(Self { path: path.display().to_string(), native, bytes, library })
    }

    /// The file as read by the library. If it cannot be read, this panics like [`Self::guarded`].
    fn library(&self) -> &Library {
        self.library.get_or_init(|| {
            self.guarded(|| match Library::read(&self.bytes) {
                Ok(library) => library,
                Err(reason) => std::panic::panic_any(reason),
            })
        })
    }

    /// Runs `count`. The library trusts the numbers in the file, and may panic. The program then ends with an error
    /// instead of a backtrace: [`tokenizer_panic`](super::tokenizer_panic) returns it.
    fn guarded<T>(&self, count: impl FnOnce() -> T) -> T {
        catch_panic(count).unwrap_or_else(|panic| {
            let reason = "cannot be used as a tokenizer.json: its numbers contradict each other";
            // Only the first error is kept.
            let _ = super::PANIC.set(format!("{}: {reason}", self.path));
            resume_unwind(panic)
        })
    }

    /// Notes that a text was not encoded; [`unencoded_text`](super::unencoded_text) then says so.
    fn note_unencoded(&self, error: &tokenizers::Error) {
        super::UNENCODED.get_or_init(|| {
            format!("{}: cannot encode every text, and counts its characters instead: {error}", self.path)
        });
    }

    /// The start and end of each token, in bytes of the text. If the tokenizer cannot encode the text (its vocabulary of
    /// words has no token for unknown words), each character is a token.
    fn spans(&self, text: &str) -> Vec<(usize, usize)> {
        let library = self.library();
        match self.guarded(|| library.tokenizer.encode(text, false)) {
            Ok(encoding) => encoding.get_offsets().to_vec(),
            Err(error) => {
                self.note_unencoded(&error);
                text.char_indices().map(|(at, character)| (at, at + character.len_utf8())).collect()
            }
        }
    }

    /// The number of tokens by the library, or of characters if it cannot encode the text.
    fn count_by_library(&self, tokenizer: &tokenizers::Tokenizer, text: &str) -> usize {
        let encoding = self.guarded(|| tokenizer.encode_fast(text, false));
        encoding.map_or_else(
            |error| {
                self.note_unencoded(&error);
                text.chars().count()
            },
            |encoding| encoding.len(),
        )
    }
}

impl Library {
    /// Reads the content of a file.
    ///
    /// # Errors
    /// What is wrong with the file.
    fn read(bytes: &[u8]) -> Result<Self, String> {
        check_bounds(bytes)?;
        let text = str::from_utf8(bytes).map_err(|error| {
            // With the line and column of the invalid text.
            serde_json::from_slice::<Value>(bytes).map_or_else(|error| error.to_string(), |_| error.to_string())
        })?;
        let loaded = catch_panic(|| {
            // Unlike `from_bytes`, this is compiled with the library, and not again with this crate.
            let mut tokenizer: tokenizers::Tokenizer = text.parse()?;
            tokenizer.with_truncation(None)?;
            tokenizer.with_padding(None).set_encode_special_tokens(true);
            // Errors in a model often appear only when it is first used.
            let _ = tokenizer.encode(PROBE, false);
            Ok::<_, tokenizers::Error>(tokenizer)
        });
        let damaged = |_| String::from("its numbers contradict each other");
        let tokenizer = loaded.map_err(damaged)?.map_err(|error| error.to_string())?;
        Ok(Self { tokenizer, special: OnceLock::new() })
    }

    fn special(&self) -> &tokenizers::Tokenizer {
        self.special.get_or_init(|| {
            let mut special = self.tokenizer.clone();
            special.set_encode_special_tokens(false);
            special
        })
    }
}

impl Tokenizer for HuggingFace {
    fn name(&self) -> &str {
        &self.path
    }

    fn exact(&self) -> bool {
        true
    }

    fn at_most_bytes(&self) -> bool {
        self.native.as_ref().is_ok_and(NativeTokenizer::at_most_bytes)
    }

    fn remark(&self) -> Option<String> {
        let reason = self.native.as_ref().err()?;
        Some(format!("{}: counted by the library tokenizers, which is slower: {reason}", self.path))
    }

    fn count(&self, text: &str) -> usize {
        match &self.native {
            Ok(native) => native.count(text, false, usize::MAX).unwrap_or(usize::MAX),
            Err(_) => self.count_by_library(&self.library().tokenizer, text),
        }
    }

    fn count_rendered(&self, text: &str) -> usize {
        match &self.native {
            Ok(native) => native.count(text, true, usize::MAX).unwrap_or(usize::MAX),
            Err(_) => self.count_by_library(self.library().special(), text),
        }
    }

    fn count_until(&self, text: &str, limit: usize) -> Option<usize> {
        match &self.native {
            Ok(native) => native.count(text, false, limit),
            Err(_) => Some(self.count(text)).filter(|count| *count <= limit),
        }
    }

    fn head(&self, text: &str, tokens: usize) -> usize {
        if let Some(engine) = self.native.as_ref().ok().and_then(|native| native.engine_if_unchanged(text)) {
            return engine.head(text, tokens);
        }
        let spans = self.spans(text);
        if tokens >= spans.len() {
            return text.len();
        }
        (1..=tokens).rev().find_map(|count| boundary(text, &spans, count)).unwrap_or(0)
    }

    fn tail(&self, text: &str, tokens: usize) -> usize {
        if let Some(engine) = self.native.as_ref().ok().and_then(|native| native.engine_if_unchanged(text)) {
            return engine.tail(text, tokens);
        }
        let spans = self.spans(text);
        let before = spans.len().saturating_sub(tokens);
        if before == 0 {
            return 0;
        }
        (before..spans.len()).find_map(|count| boundary(text, &spans, count)).unwrap_or(text.len())
    }
}

/// The start of the token after the first `count`, if no character is in the tokens on both sides.
fn boundary(text: &str, spans: &[(usize, usize)], count: usize) -> Option<usize> {
    let at = spans[count].0;
    (at >= spans[count - 1].1 && text.is_char_boundary(at)).then_some(at)
}

// Limits for a `tokenizer.json`. The file is usually downloaded, and the library that reads it trusts its numbers.

/// The largest file, in bytes; the largest of a known model has 35 million.
const LARGEST_FILE: u64 = 256 << 20;

/// The highest id of a token; known vocabularies end below 300,000.
const HIGHEST_ID: u32 = 1 << 24;

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
fn check_bounds(bytes: &[u8]) -> Result<(), String> {
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
    let steps = steps(&outline.normalizer).count() + steps(&outline.pre_tokenizer).count();
    if steps > MAX_STEPS {
        return Err(format!("it has {steps} normalizers and pre-tokenizers; {MAX_STEPS} are allowed"));
    }
    let steps = self::steps(&outline.normalizer).chain(self::steps(&outline.pre_tokenizer));
    match steps.map(growth).fold(1, usize::saturating_mul) <= MAX_GROWTH {
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
