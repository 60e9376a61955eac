//! How long a text is in tokens: text in, a number out. Knows no messages and no files but a `tokenizer.json`.

mod approximate;
#[cfg(feature = "hf")]
mod huggingface;
mod models;
mod tiktoken;

use std::{fmt, path::Path, sync::Arc};

use crate::suggest::closest;

pub use approximate::Approximate;
#[cfg(feature = "hf")]
pub use huggingface::HuggingFace;
pub use models::{Picked, for_model};
pub use tiktoken::Tiktoken;

/// What counts when nothing else is asked for.
pub const DEFAULT: &str = "o200k_base";

/// Counts the tokens of texts. Special tokens such as `<|endoftext|>` in a text are text.
pub trait Tokenizer: Send + Sync {
    /// The name that [`find`] finds it by.
    fn name(&self) -> &str;

    /// Whether counts are those of the model's own tokenizer; otherwise they are an estimate.
    fn exact(&self) -> bool;

    /// Whether no text has more tokens than bytes. A tokenizer that rewrites a text before it splits it cannot promise that.
    fn at_most_bytes(&self) -> bool {
        false
    }

    /// Tokens of the text.
    fn count(&self, text: &str) -> usize;

    /// Tokens of the text if they are at most `limit`. Stops inside the text as soon as they are known to be more.
    fn count_until(&self, text: &str, limit: usize) -> Option<usize>;

    /// Bytes of the longest start of the text that holds at most its first `tokens` tokens and ends where one of them does
    /// and a character too.
    fn head(&self, text: &str, tokens: usize) -> usize;

    /// Where the longest end of the text starts, in bytes, that holds at most its last `tokens` tokens and starts where one
    /// of them does and a character too.
    fn tail(&self, text: &str, tokens: usize) -> usize;
}

/// A tokenizer as `curtail tokenizers` lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name that [`find`] finds it by.
    pub name: &'static str,
    /// `tiktoken`, `approximate` or `huggingface`.
    pub kind: &'static str,
    /// Starts of the names of the models that it is for.
    pub models: Vec<&'static str>,
    /// Whether its counts are those of the models' own tokenizer.
    pub exact: bool,
}

/// All tokenizers, the default first.
#[must_use]
pub fn all() -> Vec<Listed> {
    let exact = tiktoken::ALL.iter().map(|member| (member.name(), "tiktoken", models::of(member.name()), true));
    let approximate = approximate::ALL.iter().map(|member| (member.name(), "approximate", Vec::new(), false));
    let mut listed: Vec<_> = exact.chain(approximate).map(listed).collect();
    for member in listed.iter_mut().filter(|member| member.name == "approx:o200k_base") {
        member.models = models::approximated();
    }
    if cfg!(feature = "hf") {
        listed.push(self::listed(("PATH/tokenizer.json", "huggingface", Vec::new(), true)));
    }
    listed
}

/// The tokenizer of a name: an encoding, `approx` or `approx:ENCODING`, or the path of a `tokenizer.json`, which has a `/`
/// or ends in `.json`.
///
/// # Errors
///
/// When there is none of that name (the message names the nearest), or the file cannot be used.
pub fn find(name: &str) -> Result<Arc<dyn Tokenizer>, Unknown> {
    if name.contains('/') || Path::new(name).extension().is_some_and(|extension| extension == "json") {
        return read(Path::new(name));
    }
    if let Some(member) = tiktoken::ALL.iter().find(|member| member.name() == name) {
        return Ok(Arc::new(*member));
    }
    let approximate = if name == "approx" { "approx:o200k_base" } else { name };
    match approximate::ALL.iter().find(|member| member.name() == approximate) {
        Some(member) => Ok(Arc::new(*member)),
        None => Err(Unknown::new(format!("unknown tokenizer {name:?}{}; there are {}", nearest(name), named()))),
    }
}

/// No tokenizer has that name, or serves that model; with words that say what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    message: String,
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Unknown {}

impl Unknown {
    fn new(message: String) -> Self {
        Self { message }
    }
}

#[cfg(feature = "hf")]
use huggingface::read;

#[cfg(not(feature = "hf"))]
fn read(path: &Path) -> Result<Arc<dyn Tokenizer>, Unknown> {
    let path = path.display();
    Err(Unknown::new(format!("{path}: this curtail was built without the feature `hf`, which reads a tokenizer.json")))
}

fn listed((name, kind, models, exact): (&'static str, &'static str, Vec<&'static str>, bool)) -> Listed {
    Listed { name, kind, models, exact }
}

/// The names in one line.
fn named() -> String {
    let encodings: Vec<_> = tiktoken::ALL.iter().map(Tokenizer::name).collect();
    format!("{}, approx[:ENCODING] and the path of a tokenizer.json", encodings.join(", "))
}

fn nearest(name: &str) -> String {
    let approximate = approximate::ALL.iter().map(Tokenizer::name);
    suggestion(name, tiktoken::ALL.iter().map(Tokenizer::name).chain(approximate).chain(["approx"]))
}

/// Words that name the nearest of some names, if one is near.
fn suggestion<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    closest(name, names).map_or_else(String::new, |name| format!(", did you mean {name:?}?"))
}
