//! A `tokenizer.json` as the library `tokenizers` reads it. The library trusts the numbers in a file, and may panic.

use std::panic::resume_unwind;
use std::sync::OnceLock;

use serde_json::Value;
use tokenizers::Tokenizer;

use super::limits::check_bounds;
use crate::panics::catch_panic;
use crate::tokenizers::{PANIC, UNENCODED};

/// A file as read by the library.
pub(super) struct Library {
    /// The path of the file.
    path: String,
    tokenizer: Tokenizer,
    /// The same, but special tokens in a text are tokens; made when a rendered template is first counted.
    special: OnceLock<Tokenizer>,
}

/// What is wrong with a file whose numbers made the library panic.
const DAMAGED: &str = "its numbers contradict each other";

/// A text with letters, digits, marks, white space, and characters that no vocabulary contains.
const PROBE: &str = "Hello, world! 12 the\n\tüber naïve 中文 🙂 aaaa \u{0}\u{e000}";

impl Library {
    /// Reads the content of the file at `path`.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub(super) fn read(path: &str, bytes: &[u8]) -> Result<Self, String> {
        check_bounds(bytes)?;
        let text = str::from_utf8(bytes).map_err(|error| {
            // With the line and column of the invalid text.
            serde_json::from_slice::<Value>(bytes).map_or_else(|error| error.to_string(), |_| error.to_string())
        })?;
        let loaded = catch_panic(|| {
            // Unlike `from_bytes`, this is compiled with the library, and not again with this crate.
            let mut tokenizer: Tokenizer = text.parse()?;
            tokenizer.with_truncation(None)?;
            tokenizer.with_padding(None).set_encode_special_tokens(true);
            // Errors in a model often appear only when it is first used.
            let _ = tokenizer.encode(PROBE, false);
            Ok::<_, tokenizers::Error>(tokenizer)
        });
        let tokenizer = loaded.map_err(|_| DAMAGED.to_owned())?.map_err(|error| error.to_string())?;
        Ok(Self { path: path.to_owned(), tokenizer, special: OnceLock::new() })
    }

    /// Reads the content of a file that only the engine has read. Where that fails, this panics, and
    /// [`tokenizer_panic`](crate::tokenizers::tokenizer_panic) returns why.
    pub(super) fn read_later(path: &str, bytes: &[u8]) -> Self {
        Self::read(path, bytes).unwrap_or_else(|reason| give_up(path, &reason))
    }

    /// The number of tokens of a text. Special tokens in it are text unless `special`.
    ///
    /// If the tokenizer cannot encode a text (its vocabulary of words has no token for unknown words), each character is a token.
    pub(super) fn count(&self, text: &str, special: bool) -> usize {
        let tokenizer = if special { self.special() } else { &self.tokenizer };
        match guarded(&self.path, || tokenizer.encode_fast(text, false)) {
            Ok(encoding) => encoding.len(),
            Err(error) => {
                self.note_unencoded(&error);
                text.chars().count()
            }
        }
    }

    fn special(&self) -> &Tokenizer {
        self.special.get_or_init(|| {
            let mut special = self.tokenizer.clone();
            special.set_encode_special_tokens(false);
            special
        })
    }

    /// As [`curtail_core::counting::Tokenizer::head`].
    pub(super) fn head(&self, text: &str, tokens: usize) -> usize {
        let spans = self.spans(text);
        if tokens >= spans.len() {
            return text.len();
        }
        (1..=tokens).rev().find_map(|count| boundary(text, &spans, count)).unwrap_or(0)
    }

    /// As [`curtail_core::counting::Tokenizer::tail`].
    pub(super) fn tail(&self, text: &str, tokens: usize) -> usize {
        let spans = self.spans(text);
        let before = spans.len().saturating_sub(tokens);
        if before == 0 {
            return 0;
        }
        (before..spans.len()).find_map(|count| boundary(text, &spans, count)).unwrap_or(text.len())
    }

    /// The start and end of each token, in bytes of the text.
    fn spans(&self, text: &str) -> Vec<(usize, usize)> {
        match guarded(&self.path, || self.tokenizer.encode(text, false)) {
            Ok(encoding) => encoding.get_offsets().to_vec(),
            Err(error) => {
                self.note_unencoded(&error);
                text.char_indices().map(|(at, character)| (at, at + character.len_utf8())).collect()
            }
        }
    }

    /// Notes that a text was not encoded; [`unencoded_text`](crate::tokenizers::unencoded_text) then says so.
    fn note_unencoded(&self, error: &tokenizers::Error) {
        UNENCODED.get_or_init(|| {
            format!("{}: cannot encode every text, and counts its characters instead: {error}", self.path)
        });
    }
}

/// Runs code of the library. If it panics, the program gives up the file.
fn guarded<T>(path: &str, run: impl FnOnce() -> T) -> T {
    catch_panic(run).unwrap_or_else(|_| give_up(path, DAMAGED))
}

/// Ends the program with an error instead of a backtrace: [`tokenizer_panic`](crate::tokenizers::tokenizer_panic) returns what is
/// wrong with the file at `path`.
fn give_up(path: &str, reason: &str) -> ! {
    let message = format!("{path}: cannot be used as a tokenizer.json: {reason}");
    // Only the first error is kept.
    let _ = PANIC.set(message.clone());
    resume_unwind(Box::new(message))
}

/// The start of the token after the first `count`, if no character is in the tokens on both sides.
fn boundary(text: &str, spans: &[(usize, usize)], count: usize) -> Option<usize> {
    let at = spans[count].0;
    (at >= spans[count - 1].1 && text.is_char_boundary(at)).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::{DAMAGED, Library};
    use crate::panics::catch_panic;
    use crate::tokenizers::tokenizer_panic;

    #[test]
    fn a_file_that_is_read_late_fails_with_its_reason() {
        let reason = Library::read("a.json", b"{").err().unwrap();
        assert_ne!(reason, DAMAGED);
        assert!(catch_panic(|| Library::read_later("a.json", b"{")).is_err());
        assert!(tokenizer_panic().is_some_and(|message| message.ends_with(&reason)), "{:?}", tokenizer_panic());
    }
}
