//! The state as a model reads it: `<working_memory>…</working_memory>`, within a budget. No text in the state can close the tag.

use thiserror::Error;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a budget of {budget} tokens is too small for the working memory; it needs at least {least}")]
pub struct TooSmall {
    /// The budget, in tokens.
    pub budget: usize,
    /// What the tags and the marker need, in tokens.
    pub least: usize,
}

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
        return Ok(Some(Block { text: whole, left_out: 0 }));
    }
    shortened(&content, budget, count).map(Some)
}

/// Whether `text` is exactly one block.
pub fn is_block(text: &str) -> bool {
    let text = text.trim();
    let inside = text.strip_prefix(OPEN.trim_end()).and_then(|rest| rest.strip_suffix(CLOSE.trim_start()));
    inside.is_some_and(|inside| !inside.contains(CLOSE.trim_start()))
}

/// The state's text, with the `<` of anything that reads as the closing tag escaped: as in JSON if the state is an object,
/// which does not change its value, and as in XML if it is text.
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

/// The block with the longest beginning of `content` that fits with the marker. It ends at the last line break if that keeps
/// more than half of the beginning.
fn shortened(content: &str, budget: usize, count: &dyn Fn(&str) -> usize) -> Result<Block, TooSmall> {
    let tokens = |end: usize| count(&cut(content, end).text);
    let least = tokens(0);
    if least > budget {
        return Err(TooSmall { budget, least });
    }
    // Doubling a window first avoids counting a huge state once for each step of the binary search.
    let mut window = content.floor_char_boundary(budget);
    while window < content.len() && tokens(window) <= budget {
        window = content.floor_char_boundary(window.saturating_mul(2).max(8));
    }
    let ends: Vec<usize> = content.char_indices().map(|(at, _)| at).take_while(|at| *at <= window).collect();
    let fitting = ends.partition_point(|end| tokens(*end) <= budget);
    // A longer text may have fewer tokens, so the result of the binary search is checked.
    let end = ends.into_iter().take(fitting).rfind(|end| tokens(*end) <= budget).unwrap_or(0);
    let line = content.get(..end).and_then(|kept| kept.rfind('\n'));
    let line = line.filter(|line| *line > end / 2 && tokens(*line) <= budget);
    Ok(cut(content, line.unwrap_or(end)))
}

/// The block with the first `end` bytes of `content` and a marker with the number of dropped characters.
fn cut(content: &str, end: usize) -> Block {
    let (kept, rest) = content.split_at_checked(end).unwrap_or(("", content));
    let left_out = rest.chars().count();
    let text = format!("{OPEN}{kept}\n[shortened: {left_out} characters left out]{CLOSE}");
    Block { text, left_out }
}
