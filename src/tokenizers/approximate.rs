//! Tokens by length.
use super::Tokenizer;
/// UTF-16 length over 4.2.
pub struct Approximate;
impl Tokenizer for Approximate {
    fn name(&self) -> &'static str {
        "approx:o200k_base"
    }
    fn exact(&self) -> bool {
        false
    }
    fn count(&self, text: &str) -> usize {
        (text.chars().map(char::len_utf16).sum::<usize>() * 10).div_ceil(42)
    }
    fn count_until(&self, text: &str, limit: usize) -> Option<usize> {
        Some(self.count(text)).filter(|&n| n <= limit)
    }
    fn head(&self, text: &str, tokens: usize) -> usize {
        text.floor_char_boundary(tokens * 4)
    }
    fn tail(&self, text: &str, tokens: usize) -> usize {
        text.ceil_char_boundary(text.len().saturating_sub(tokens * 4))
    }
}
