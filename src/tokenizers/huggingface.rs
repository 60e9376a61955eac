//! Counting with a `tokenizer.json` of Hugging Face. Adds no special tokens, and reads those in a text as text.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use super::{Tokenizer, Unknown};

/// A tokenizer from a file, named by its path.
pub struct HuggingFace {
    path: String,
    tokenizer: tokenizers::Tokenizer,
}

/// Files that were read: reading one takes up to a second, so each is read once.
static READ: Mutex<Vec<(PathBuf, Arc<HuggingFace>)>> = Mutex::new(Vec::new());

/// The tokenizer in a file. A file is read once in the life of the process.
///
/// # Errors
///
/// When the file cannot be read or is no `tokenizer.json`.
pub(super) fn read(path: &Path) -> Result<Arc<dyn Tokenizer>, Unknown> {
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = read.iter().find(|(known, _)| known == path) {
        return Ok(Arc::clone(known) as Arc<dyn Tokenizer>);
    }
    let new = Arc::new(HuggingFace::open(path)?);
    read.push((path.to_owned(), Arc::clone(&new)));
    Ok(new)
}

impl HuggingFace {
    fn open(path: &Path) -> Result<Self, Unknown> {
        let refused = |error: &dyn std::fmt::Display| {
            Unknown::new(format!("{}: cannot be used as a tokenizer.json: {error}", path.display()))
        };
        let bytes = std::fs::read(path).map_err(|error| refused(&error))?;
        let mut tokenizer = tokenizers::Tokenizer::from_bytes(bytes).map_err(|error| refused(&error))?;
        tokenizer.with_truncation(None).map_err(|error| refused(&error))?;
        tokenizer.with_padding(None).set_encode_special_tokens(true);
        Ok(Self { path: path.display().to_string(), tokenizer })
    }

    /// Where each token starts and ends, in bytes of the text. A text that the tokenizer has no tokens for (a vocabulary of
    /// words without one for unknown words) counts as its characters.
    fn spans(&self, text: &str) -> Vec<(usize, usize)> {
        match self.tokenizer.encode(text, false) {
            Ok(encoding) => encoding.get_offsets().to_vec(),
            Err(_) => text.char_indices().map(|(at, character)| (at, at + character.len_utf8())).collect(),
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

    fn count(&self, text: &str) -> usize {
        self.tokenizer.encode_fast(text, false).map_or_else(|_| text.chars().count(), |encoding| encoding.len())
    }

    fn count_until(&self, text: &str, limit: usize) -> Option<usize> {
        Some(self.count(text)).filter(|count| *count <= limit)
    }

    fn head(&self, text: &str, tokens: usize) -> usize {
        let spans = self.spans(text);
        if tokens >= spans.len() {
            return text.len();
        }
        (1..=tokens).rev().find_map(|count| seam(text, &spans, count)).unwrap_or(0)
    }

    fn tail(&self, text: &str, tokens: usize) -> usize {
        let spans = self.spans(text);
        let before = spans.len().saturating_sub(tokens);
        if before == 0 {
            return 0;
        }
        (before..spans.len()).find_map(|count| seam(text, &spans, count)).unwrap_or(text.len())
    }
}

/// Where the token after the first `count` starts, if no character belongs to tokens on both sides.
fn seam(text: &str, spans: &[(usize, usize)], count: usize) -> Option<usize> {
    let at = spans[count].0;
    (at >= spans[count - 1].1 && text.is_char_boundary(at)).then_some(at)
}
