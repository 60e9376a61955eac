//! One tokenizer per file: text in, a number out.

mod approximate;
pub use approximate::Approximate;

/// Counts tokens.
pub trait Tokenizer: Send + Sync {
    /// Its name.
    fn name(&self) -> &str;
    /// Whether it counts exactly.
    fn exact(&self) -> bool;
    /// Tokens of `text`.
    fn count(&self, text: &str) -> usize;
    /// Tokens of `text` if at most `limit`.
    fn count_until(&self, text: &str, limit: usize) -> Option<usize>;
    /// Length of the longest prefix of at most `tokens` tokens.
    fn head(&self, text: &str, tokens: usize) -> usize;
    /// Where the last `tokens` tokens begin.
    fn tail(&self, text: &str, tokens: usize) -> usize;
}
