//! The state as a model reads it: `<working_memory>…</working_memory>`, within a budget. Nothing in the state can close the
//! tag. It takes a function that counts tokens and knows no tokenizer.

use std::fmt;

use super::State;
use curtail_core::visible::reads_as;

const OPEN: &str = "<working_memory>\n";
const CLOSE: &str = "\n</working_memory>";

/// A state as text for a model's context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The whole block, with its tags.
    pub text: String,
    /// Characters of the state that were dropped.
    pub left_out: usize,
}

/// The budget is too small for the tags and the marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooSmall {
    /// The budget, in tokens.
    pub budget: usize,
    /// What the tags and the marker need, in tokens.
    pub least: usize,
}

impl fmt::Display for TooSmall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { budget, least } = self;
        write!(f, "a budget of {budget} tokens is too small for the working memory; it needs at least {least}")
    }
}

impl std::error::Error for TooSmall {}

/// The block of `state` within `budget` tokens, counted by `count`. If the end of the state is dropped, a marker says so.
/// `None` if the state is empty.
///
/// # Errors
/// [`TooSmall`] if not even an empty block with its marker fits.
pub fn fit(state: &State, budget: usize, count: &dyn Fn(&str) -> usize) -> Result<Option<Block>, TooSmall> {
    if state.is_empty() {
        return Ok(None);
    }
    let content = escaped(state);
    let whole = format!("{OPEN}{content}{CLOSE}");
    if count(&whole) <= budget {
        let (text, left_out) = (whole, 0);
        return Ok(Some(Block { text, left_out }));
    }
    shortened(&content, budget, count).map(Some)
}

/// Whether `text` is exactly one block.
#[must_use]
pub fn is_block(text: &str) -> bool {
    let text = text.trim();
    let inside = text.strip_prefix(OPEN.trim_end()).and_then(|rest| rest.strip_suffix(CLOSE.trim_start()));
    inside.is_some_and(|inside| !inside.contains(CLOSE.trim_start()))
}

/// The state's text, in which the `<` of anything that reads as the closing tag is escaped: as JSON does in an object, which stays
/// the same object, and as XML does in text.
fn escaped(state: &State) -> String {
    let (text, escape) = match state {
        State::Object(_) => (state.to_text(), "\\u003c"),
        State::Text(text) => (text.clone(), "&lt;"),
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        out.push_str(if reads_as(from, "</working_memory") { escape } else { "<" });
        rest = from.get(1..).unwrap_or_default();
    }
    out + rest
}

/// The longest beginning that fits with its marker. Ends at the last line break if that keeps more than half of it.
fn shortened(content: &str, budget: usize, count: &dyn Fn(&str) -> usize) -> Result<Block, TooSmall> {
    let tokens = |end: usize| count(&cut(content, end).text);
    let least = tokens(0);
    if least > budget {
        return Err(TooSmall { budget, least });
    }
    // Doubling first avoids counting a state of a hundred megabytes seventeen times.
    let mut window = content.floor_char_boundary(budget);
    while window < content.len() && tokens(window) <= budget {
        window = content.floor_char_boundary(window.saturating_mul(2).max(8));
    }
    let ends: Vec<usize> = content.char_indices().map(|(at, _)| at).take_while(|at| *at <= window).collect();
    let fitting = ends.partition_point(|end| tokens(*end) <= budget);
    // A longer text may have fewer tokens, so the result of the binary search is checked.
    let fits = |end: &usize| tokens(*end) <= budget;
    let end = ends.iter().take(fitting).rev().copied().find(fits).unwrap_or(0);
    let line = content.get(..end).and_then(|kept| kept.rfind('\n'));
    let line = line.filter(|line| *line > end / 2).filter(fits);
    Ok(cut(content, line.unwrap_or(end)))
}

/// The block with the first `end` bytes of `content` and a marker with the number of dropped characters.
fn cut(content: &str, end: usize) -> Block {
    let (kept, rest) = content.split_at_checked(end).unwrap_or(("", content));
    let left_out = rest.chars().count();
    let text = format!("{OPEN}{kept}\n[shortened: {left_out} characters left out]{CLOSE}");
    Block { text, left_out }
}
