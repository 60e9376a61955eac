//! Counts with a `tokenizer.json` of Hugging Face. Adds no special tokens, and counts those in a text as text.

mod bounds;
mod file;
mod model;
mod own;
mod split;

use std::{
    io::Read as _,
    panic::resume_unwind,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use super::{Family, Listed, Tokenizer, UnknownTokenizer, is_file_name};
use curtail_core::error::{catch_panic, system_message};
use own::Own;

/// Why the own engine does not count with a file.
type Foreign = &'static str;

/// A tokenizer from a file. Its name is the file's path. Byte-level BPE is counted by the own engine, and everything else by
/// the library `tokenizers`.
pub struct HuggingFace {
    path: String,
    own: Result<Own, Foreign>,
    /// The file, where the engine counts: the library may be needed later.
    bytes: Vec<u8>,
    library: OnceLock<Library>,
}

/// What the library `tokenizers` makes of a file.
struct Library {
    tokenizer: tokenizers::Tokenizer,
    /// The same, but special tokens in a text are tokens; made when a template is first counted.
    special: OnceLock<tokenizers::Tokenizer>,
}

/// A text with letters, digits, marks, white space and what no vocabulary contains.
const PROBE: &str = "Hello, world! 12 the\n\tüber naïve 中文 🙂 aaaa \u{0}\u{e000}";

/// Tokenizers from files.
pub(super) static FAMILY: Family = Family {
    members: || vec![Listed { name: "PATH/tokenizer.json", kind: "huggingface", models: Vec::new(), exact: true }],
    usage: || String::from("the path of a tokenizer.json"),
    open: |name| is_file_name(name).then(|| load_once(&file_of(Path::new(name)))),
};

/// The files that were loaded. A global, because every stage of a chain names its tokenizer by itself, and loading a file
/// takes up to a second. A file never changes the tokenizer of another.
static LOADED: Mutex<Vec<(PathBuf, Arc<HuggingFace>)>> = Mutex::new(Vec::new());

/// The file, or the `tokenizer.json` in the folder of a model.
fn file_of(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("tokenizer.json") } else { path.to_owned() }
}

/// The tokenizer in a file, which is read once in the life of the process.
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
        let refused = |error: &dyn std::fmt::Display| {
            UnknownTokenizer::new(format!("{}: cannot be used as a tokenizer.json: {error}", path.display()))
        };
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path).map_err(|error| refused(&system_message(&error)))?;
        let read = file.take(bounds::LARGEST_FILE + 1).read_to_end(&mut bytes);
        if read.map_err(|error| refused(&system_message(&error)))? as u64 > bounds::LARGEST_FILE {
            return Err(refused(&format!("it is larger than {} MB", bounds::LARGEST_FILE >> 20)));
        }
        let (own, library) = (Own::read(&bytes), OnceLock::new());
        if own.is_err() {
            let read = Library::read(&std::mem::take(&mut bytes)).map_err(|why| refused(&why))?;
            let _ = library.set(read);
        }
        Ok(Self { path: path.display().to_string(), own, bytes, library })
    }

    /// What the library makes of the file; read when it is first needed, if the engine counts.
    fn library(&self) -> &Library {
        self.library.get_or_init(|| {
            self.guarded(|| match Library::read(&self.bytes) {
                Ok(library) => library,
                Err(why) => std::panic::panic_any(why),
            })
        })
    }

    /// Runs `count`. A panic of the library, which trusts the numbers in the file, ends the program with an error and not with
    /// a trace: [`tokenizer_panic`](super::tokenizer_panic) then tells which file it was.
    fn guarded<T>(&self, count: impl FnOnce() -> T) -> T {
        catch_panic(count).unwrap_or_else(|panic| {
            let what = "cannot be used as a tokenizer.json: its numbers contradict each other";
            // The first file that fails is named.
            let _ = super::PANIC.set(format!("{}: {what}", self.path));
            resume_unwind(panic)
        })
    }

    /// The start and end of each token, in bytes of the text. If the tokenizer cannot encode the text (its vocabulary of
    /// words has no token for unknown words), each character is a token.
    fn spans(&self, text: &str) -> Vec<(usize, usize)> {
        let library = self.library();
        match self.guarded(|| library.tokenizer.encode(text, false)) {
            Ok(encoding) => encoding.get_offsets().to_vec(),
            Err(_) => text.char_indices().map(|(at, character)| (at, at + character.len_utf8())).collect(),
        }
    }

    /// Tokens of a text by the library.
    fn by_library(&self, tokenizer: &tokenizers::Tokenizer, text: &str) -> usize {
        let encoding = self.guarded(|| tokenizer.encode_fast(text, false));
        encoding.map_or_else(|_| text.chars().count(), |encoding| encoding.len())
    }
}

impl Library {
    /// # Errors
    /// What is wrong with the file.
    fn read(bytes: &[u8]) -> Result<Self, String> {
        bounds::check(bytes)?;
        let loaded = catch_panic(|| {
            let mut tokenizer = tokenizers::Tokenizer::from_bytes(bytes)?;
            tokenizer.with_truncation(None)?;
            tokenizer.with_padding(None).set_encode_special_tokens(true);
            // What is wrong with a model often shows when it is first used.
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
        self.own.as_ref().is_ok_and(Own::at_most_bytes)
    }

    fn remark(&self) -> Option<String> {
        let why = self.own.as_ref().err()?;
        Some(format!("{}: counted by the library tokenizers, which is slower: {why}", self.path))
    }

    fn count(&self, text: &str) -> usize {
        match &self.own {
            Ok(own) => own.count(text, false, usize::MAX).unwrap_or(usize::MAX),
            Err(_) => self.by_library(&self.library().tokenizer, text),
        }
    }

    fn count_rendered(&self, text: &str) -> usize {
        match &self.own {
            Ok(own) => own.count(text, true, usize::MAX).unwrap_or(usize::MAX),
            Err(_) => self.by_library(self.library().special(), text),
        }
    }

    fn count_until(&self, text: &str, limit: usize) -> Option<usize> {
        match &self.own {
            Ok(own) => own.count(text, false, limit),
            Err(_) => Some(self.count(text)).filter(|count| *count <= limit),
        }
    }

    fn head(&self, text: &str, tokens: usize) -> usize {
        if let Some(engine) = self.own.as_ref().ok().and_then(|own| own.as_it_is(text)) {
            return engine.head(text, tokens);
        }
        let spans = self.spans(text);
        if tokens >= spans.len() {
            return text.len();
        }
        (1..=tokens).rev().find_map(|count| boundary(text, &spans, count)).unwrap_or(0)
    }

    fn tail(&self, text: &str, tokens: usize) -> usize {
        if let Some(engine) = self.own.as_ref().ok().and_then(|own| own.as_it_is(text)) {
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
