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
    let whole = format!("{OPEN}{}{CLOSE}", content.text);
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

/// The text of a state, in which nothing reads as the closing tag.
struct Escaped {
    text: String,
    /// Where each character of the state begins in it.
    starts: Vec<usize>,
}

/// The state's text, with the `<` of anything that reads as the closing tag escaped: as in JSON if the state is an object,
/// which does not change its value, and as in XML if it is text.
fn escaped(state: &State) -> Escaped {
    let (text, escape) = match state {
        State::Object(_) => (state.to_text(), "\\u003c"),
        State::Text(text) => (text.clone(), "&lt;"),
    };
    let mut escaped = Escaped { text: String::with_capacity(text.len()), starts: Vec::with_capacity(text.len()) };
    for (at, c) in text.char_indices() {
        escaped.starts.push(escaped.text.len());
        if c == '<' && reads_as(&text[at..], "</working_memory") {
            escaped.text.push_str(escape);
        } else {
            escaped.text.push(c);
        }
    }
    escaped
}

/// The block with the longest beginning of `content` that fits with the marker. It ends at the last line break if that keeps
/// more than half of the beginning.
fn shortened(content: &Escaped, budget: usize, count: &dyn Fn(&str) -> usize) -> Result<Block, TooSmall> {
    let tokens = |end: usize| count(&cut(content, end).text);
    let least = tokens(0);
    if least > budget {
        return Err(TooSmall { budget, least });
    }
    // Doubling a window first avoids counting a huge state once for each step of the binary search.
    let mut window = content.text.floor_char_boundary(budget);
    while window < content.text.len() && tokens(window) <= budget {
        window = content.text.floor_char_boundary(window.saturating_mul(2).max(8));
    }
    let ends = &content.starts[..content.starts.partition_point(|at| *at <= window)];
    let fitting = ends.partition_point(|end| tokens(*end) <= budget);
    // A longer text may have fewer tokens, so the result of the binary search is checked.
    let end = ends[..fitting].iter().copied().rfind(|end| tokens(*end) <= budget).unwrap_or(0);
    let line = content.text.get(..end).and_then(|kept| kept.rfind('\n'));
    let line = line.filter(|line| *line > end / 2 && tokens(*line) <= budget);
    Ok(cut(content, line.unwrap_or(end)))
}

/// The block with the first `end` bytes of `content` and a marker with the number of dropped characters.
fn cut(content: &Escaped, end: usize) -> Block {
    let kept = content.text.get(..end).unwrap_or_default();
    let left_out = content.starts.len() - content.starts.partition_point(|start| *start < end);
    let text = format!("{OPEN}{kept}\n[shortened: {left_out} characters left out]{CLOSE}");
    Block { text, left_out }
}
