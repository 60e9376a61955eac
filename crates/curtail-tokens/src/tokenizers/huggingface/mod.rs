//! Counts with a `tokenizer.json` of Hugging Face. Adds no special tokens, and counts those in a text as text.
//!
//! Byte pair encoding of bytes, or of characters with bytes for those that have no token, is counted by the engine of
//! `curtail`, which is faster; everything else by the library `tokenizers`.

mod added;
mod file;
mod limits;
mod model;
mod native;
mod normalizer;
mod pre_tokenizer;
mod prepared;

use std::{
    fmt,
    io::Read as _,
    panic::resume_unwind,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use serde_json::Value;

use super::{Family, Listed, Tokenizer, UnknownTokenizer, is_file_name};
use crate::panics::catch_panic;
use curtail_core::error::system_message;
use limits::{LARGEST_FILE, check_bounds};
use native::NativeTokenizer;
pub use prepared::keep_prepared_in;

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
        if let Some(head) = self.native.as_ref().ok().and_then(|native| native.head(text, tokens)) {
            return head;
        }
        let spans = self.spans(text);
        if tokens >= spans.len() {
            return text.len();
        }
        (1..=tokens).rev().find_map(|count| boundary(text, &spans, count)).unwrap_or(0)
    }

    fn tail(&self, text: &str, tokens: usize) -> usize {
        if let Some(tail) = self.native.as_ref().ok().and_then(|native| native.tail(text, tokens)) {
            return tail;
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
