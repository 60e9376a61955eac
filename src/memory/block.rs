//! The state as a model sees it: `<working_memory>…</working_memory>`, which nothing inside can end, and which
//! never takes more than its budget. It is given a counter and knows no tokenizer.

use std::fmt;

use super::State;

const OPEN: &str = "<working_memory>\n";
const CLOSE: &str = "\n</working_memory>";

/// A state, ready to be put in front of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The whole block, with its tags.
    pub text: String,
    /// Characters of the state that are not in it; 0 where all are.
    pub left_out: usize,
}

/// Not even the tags and the marker fit into the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooSmall {
    /// What was given, in tokens.
    pub budget: usize,
    /// What tags and marker take, in tokens.
    pub least: usize,
}

impl fmt::Display for TooSmall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { budget, least } = self;
        write!(f, "a budget of {budget} tokens holds no working memory; give at least {least}")
    }
}

impl std::error::Error for TooSmall {}

/// The block of `state` within `budget` tokens as `count` counts them, with a visible marker where the end had to
/// go; `None` where the state is empty.
///
/// # Errors
/// [`TooSmall`] where not even an empty block with its marker fits.
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

/// Whether `text` is a block and nothing else.
#[must_use]
pub fn is_block(text: &str) -> bool {
    let text = text.trim();
    let inside = text.strip_prefix(OPEN.trim_end()).and_then(|rest| rest.strip_suffix(CLOSE.trim_start()));
    inside.is_some_and(|inside| !inside.contains(CLOSE.trim_start()))
}

/// The state's text, where the `<` of anything that looks like the closing tag is spelt as an escape: JSON's own
/// in an object, which stays the same object, and XML's in text.
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
        out.push_str(if closes(from) { escape } else { "<" });
        rest = from.get(1..).unwrap_or_default();
    }
    out + rest
}

/// Whether `text` starts with the closing tag, however spaced and in whatever case: a model is no strict parser.
fn closes(text: &str) -> bool {
    let mut signs = text.chars().filter(|sign| !sign.is_whitespace());
    let mut wanted = "</working_memory".chars();
    wanted.all(|wanted| signs.next().is_some_and(|sign| sign.eq_ignore_ascii_case(&wanted)))
}

/// The longest beginning that fits with its marker, back to the last line break if that keeps most of it.
fn shortened(content: &str, budget: usize, count: &dyn Fn(&str) -> usize) -> Result<Block, TooSmall> {
    let tokens = |end: usize| count(&cut(content, end).text);
    let least = tokens(0);
    if least > budget {
        return Err(TooSmall { budget, least });
    }
    // Doubling first, so that a state of a hundred megabytes is not counted seventeen times over.
    let mut window = content.floor_char_boundary(budget);
    while window < content.len() && tokens(window) <= budget {
        window = content.floor_char_boundary(window.saturating_mul(2).max(8));
    }
    let ends: Vec<usize> = content.char_indices().map(|(at, _)| at).take_while(|at| *at <= window).collect();
    let fitting = ends.partition_point(|end| tokens(*end) <= budget);
    // A tokenizer may count less for more text, so what halving found is counted once more.
    let fits = |end: &usize| tokens(*end) <= budget;
    let end = ends.iter().take(fitting).rev().copied().find(fits).unwrap_or(0);
    let line = content.get(..end).and_then(|kept| kept.rfind('\n'));
    let line = line.filter(|line| *line > end / 2).filter(fits);
    Ok(cut(content, line.unwrap_or(end)))
}

/// The block with the first `end` bytes of `content`, and a marker that says how much is missing.
fn cut(content: &str, end: usize) -> Block {
    let (kept, rest) = content.split_at_checked(end).unwrap_or(("", content));
    let left_out = rest.chars().count();
    let text = format!("{OPEN}{kept}\n[shortened: {left_out} characters left out]{CLOSE}");
    Block { text, left_out }
}
