//! Counts with a `tokenizer.json` of Hugging Face. Adds no special tokens, and counts those in a text as text.
//!
//! Byte pair encoding of bytes, or of characters with bytes for those that have no token, is counted by the engine of
//! `curtail`, which is faster; everything else by the library `tokenizers`.

mod added;
mod file;
mod library;
mod limits;
mod model;
mod native;
mod normalizer;
mod pre_tokenizer;
mod prepared;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{Family, Listed, Tokenizer, UnknownTokenizer, is_file_name};
use curtail_core::small::read_small;
use curtail_core::system_error::system_message;
use library::Library;
use limits::LARGEST_FILE;
use native::NativeTokenizer;
pub use prepared::keep_prepared_in;

/// Why the engine of `curtail` cannot count with a file.
type Unsupported = &'static str;

/// Tokenizers from files.
pub(super) static FAMILY: Family = Family {
    members: || vec![Listed { name: "PATH/tokenizer.json", kind: "huggingface", models: Vec::new(), exact: true }],
    usage: || String::from("the path of a tokenizer.json"),
    open: |name| is_file_name(name).then(|| load_once(&file_of(Path::new(name)))),
};

/// `path`, or the `tokenizer.json` in it if it is the folder of a model.
fn file_of(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("tokenizer.json") } else { path.to_owned() }
}

/// The files that were loaded. A global, because every stage of a chain looks up its tokenizer by name, and loading a
/// file takes up to a second. It affects only speed.
static LOADED: Mutex<Vec<(PathBuf, Arc<HuggingFace>)>> = Mutex::new(Vec::new());

/// The tokenizer in a file, which is read once per process.
fn load_once(path: &Path) -> Result<Arc<dyn Tokenizer>, UnknownTokenizer> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = loaded.iter().find(|(known, _)| known == path) {
        return Ok(Arc::clone(known) as Arc<dyn Tokenizer>);
    }
    let name = path.display().to_string();
    let read = File::open(path).and_then(|file| read_small(file, LARGEST_FILE));
    let new = read.map_err(|error| system_message(&error)).and_then(|bytes| HuggingFace::new(name, bytes));
    let new = new.map_err(|reason| {
        UnknownTokenizer(format!("{}: cannot be used as a tokenizer.json: {reason}", path.display()))
    });
    let new = Arc::new(new?);
    loaded.push((path.to_owned(), Arc::clone(&new)));
    Ok(new)
}

/// A tokenizer from a file.
struct HuggingFace {
    /// The path of the file, which is its name.
    path: String,
    counter: Counter,
}

/// What counts.
enum Counter {
    Native {
        tokenizer: Box<NativeTokenizer>,
        /// The content of the file, from which the library is made if a text must be cut that the engine cannot cut.
        bytes: Vec<u8>,
        library: OnceLock<Box<Library>>,
    },
    Library {
        library: Box<Library>,
        /// Why the engine does not count.
        reason: Unsupported,
    },
}

impl HuggingFace {
    /// The tokenizer in a file with this content.
    ///
    /// # Errors
    /// What is wrong with the file.
    fn new(path: String, bytes: Vec<u8>) -> Result<Self, String> {
        let counter = match NativeTokenizer::read(&bytes) {
            Ok(tokenizer) => Counter::Native { tokenizer: Box::new(tokenizer), bytes, library: OnceLock::new() },
            Err(reason) => Counter::Library { library: Box::new(Library::read(&path, &bytes)?), reason },
        };
        Ok(Self { path, counter })
    }

    /// The engine, if it counts.
    fn native(&self) -> Option<&NativeTokenizer> {
        match &self.counter {
            Counter::Native { tokenizer, .. } => Some(tokenizer),
            Counter::Library { .. } => None,
        }
    }

    fn library(&self) -> &Library {
        match &self.counter {
            Counter::Native { bytes, library, .. } => {
                library.get_or_init(|| Box::new(Library::read_later(&self.path, bytes)))
            }
            Counter::Library { library, .. } => library,
        }
    }

    /// The number of tokens, unless it exceeds `limit`. Special tokens are text unless `special`.
    fn counted(&self, text: &str, special: bool, limit: usize) -> Option<usize> {
        match self.native() {
            Some(native) => native.count(text, special, limit),
            None => Some(self.library().count(text, special)).filter(|count| *count <= limit),
        }
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
        self.native().is_some_and(NativeTokenizer::at_most_bytes)
    }

    fn remark(&self) -> Option<String> {
        let Counter::Library { reason, .. } = &self.counter else { return None };
        Some(format!("{}: counted by the library tokenizers, which is slower: {reason}", self.path))
    }

    fn count(&self, text: &str) -> usize {
        self.counted(text, false, usize::MAX).unwrap_or(usize::MAX)
    }

    fn count_rendered(&self, text: &str) -> usize {
        self.counted(text, true, usize::MAX).unwrap_or(usize::MAX)
    }

    fn count_until(&self, text: &str, limit: usize) -> Option<usize> {
        self.counted(text, false, limit)
    }

    fn head(&self, text: &str, tokens: usize) -> usize {
        let by_engine = self.native().and_then(|native| native.head(text, tokens));
        by_engine.unwrap_or_else(|| self.library().head(text, tokens))
    }

    fn tail(&self, text: &str, tokens: usize) -> usize {
        let by_engine = self.native().and_then(|native| native.tail(text, tokens));
        by_engine.unwrap_or_else(|| self.library().tail(text, tokens))
    }
}
