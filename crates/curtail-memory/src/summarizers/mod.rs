//! Summarizers: utterances in, a short summary out. There is one per file, and one file for the wrappers of others.
//! A summarizer knows neither files nor dialects, nor which messages the utterances come from.

mod api;
mod bounded;
mod cached;
mod command;
mod connections;
mod endpoint;
mod extractive;
mod fallback;
mod halves;
mod http;
mod key;
mod models;
mod overflow;
mod prompt;
mod secrets;
mod wrappers;

pub use api::Api;
pub use bounded::Bounded;
pub use cached::Cached;
pub use command::{Command, stop_flag};
pub use connections::Authorities;
pub use endpoint::{Endpoint, shown_endpoint};
pub use extractive::Extractive;
pub use fallback::Fallback;
pub use http::{Http, RequestLimits};
pub use key::ApiKey;
pub use models::Model;
pub use prompt::Prompt;
pub use wrappers::RememberedSummaries;

use std::borrow::Cow;

use thiserror::Error;
use unicode_segmentation::UnicodeSegmentation;

/// The names that `--summarizer` takes, the default first.
pub const NAMES: [&str; 4] = ["extractive", "openai", "anthropic", "command"];

/// The speaker of an utterance.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Speaker {
    /// Instructions from outside the conversation (roles `system` and `developer`).
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// The model, when it calls the tool of this name; the text is the call's arguments.
    Call(String),
    /// The tool of this name; the text is its result.
    Tool(String),
    /// Facts that were read from the transcript by rule. They are kept in front of the summary, which should not repeat them.
    Facts,
}

impl Speaker {
    /// The label before the colon: `user`, `assistant`, `tool NAME`.
    pub fn label(&self) -> Cow<'_, str> {
        match self {
            Self::System => Cow::Borrowed("system"),
            Self::User => Cow::Borrowed("user"),
            Self::Assistant | Self::Call(_) => Cow::Borrowed("assistant"),
            Self::Tool(name) => Cow::Owned(format!("tool {name}")),
            Self::Facts => Cow::Borrowed("facts"),
        }
    }
}

/// A text and its speaker.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Utterance<'a> {
    /// The speaker.
    pub speaker: Speaker,
    /// The text, unescaped.
    pub text: Cow<'a, str>,
}

impl<'a> Utterance<'a> {
    /// An utterance of `speaker`.
    pub fn new(speaker: Speaker, text: impl Into<Cow<'a, str>>) -> Self {
        Self { speaker, text: text.into() }
    }
}

/// How long a summary may be, and how its length is counted.
#[derive(Clone, Copy)]
pub struct Budget<'a> {
    /// The most tokens that a summary may have.
    pub tokens: usize,
    /// Counts the tokens of a text.
    pub count: &'a (dyn Fn(&str) -> usize + Sync),
}

impl Budget<'_> {
    /// Whether `text` is within the budget.
    pub fn holds(&self, text: &str) -> bool {
        (self.count)(text) <= self.tokens
    }
}

/// The data that leaves this process to make a summary. A dry run shows it, and the cache uses it as its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The address or the program.
    pub to: String,
    /// The request's body, or the program's standard input.
    pub body: String,
}

/// Makes summaries.
pub trait Summarizer: Send + Sync {
    /// The name that `--summarizer` takes.
    fn name(&self) -> &'static str;

    /// The share of a summary's budget that the facts in front of it may take, in percent; 60 by default. A summarizer that
    /// writes its own sentences needs room for them.
    fn facts_share(&self) -> usize {
        60
    }

    /// A summary of `utterances` within `budget`.
    ///
    /// # Errors
    /// [`Failure`] if the summary could not be made.
    fn summarize(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure>;

    /// The first request that [`summarize`](Self::summarize) would send; `None` if no data leaves this process.
    fn request(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Option<Request>;

    /// How many summaries may be made at once by a summarizer that mostly waits, as for a server; `None` for one that computes.
    fn concurrency(&self) -> Option<usize> {
        None
    }
}

/// Why a summary could not be made, as far as callers act on it.
#[derive(Debug, Error)]
pub enum Failure {
    /// The request exceeds the model's context; a shorter one may fit.
    #[error("{0}")]
    Overflow(String),
    /// The request could not be made, no answer came, the server or program failed, or the answer contains no summary.
    #[error("{0}")]
    Other(String),
}

/// The first 500 characters of an answer, safe to print on a terminal.
fn quote(answer: &[u8]) -> String {
    const SHOWN: usize = 500;
    let text = String::from_utf8_lossy(answer);
    let mut shown: String = text.trim().chars().take(SHOWN).map(visible).collect();
    if text.trim().chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    if shown.is_empty() {
        shown.push_str("(nothing)");
    }
    shown
}

/// Replaces control characters, which could move the cursor or hide text, with a space.
fn visible(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

// Shortens a text to a budget and keeps its beginning. It knows lines and words; a code fence is kept whole or dropped.

/// Marks the end of a text whose rest was dropped.
const MARK: &str = " …";

/// More bytes than the longest token of a public vocabulary has.
const LONGEST_TOKEN: usize = 512;

/// `text` if it is within the budget; else as many of its first lines as fit, then as many words of the next line.
/// If a fenced block does not fit, the text ends before it.
pub fn clip(text: &str, budget: &Budget<'_>) -> String {
    let whole = text.trim();
    let text = within_bytes(whole, budget);
    if text.len() == whole.len() && budget.holds(text) {
        return text.to_owned();
    }
    let (whole, next) = leading_blocks(text, budget);
    let rest = text.get(whole..next).unwrap_or_default();
    let cut = if is_fence(rest) { whole } else { whole + leading_words(text, whole, rest, budget) };
    marked(text.get(..cut).unwrap_or_default(), budget)
}

/// The beginning of `text` that is counted at all: a server can answer with megabytes, and counting them takes many times
/// longer than receiving them. No text within the budget is longer, unless the tokenizer treats every word as one token.
fn within_bytes<'t>(text: &'t str, budget: &Budget<'_>) -> &'t str {
    let most = budget.tokens.saturating_mul(LONGEST_TOKEN).saturating_add(LONGEST_TOKEN);
    text.get(..text.floor_char_boundary(most)).unwrap_or(text)
}

/// `text`, which a server cut short, with the mark and within the budget.
fn cut_short(text: &str, budget: &Budget<'_>) -> String {
    let clipped = clip(text, budget);
    if clipped.ends_with(MARK) { clipped } else { marked(&clipped, budget) }
}

/// The end of the last block that fits with the mark, and the end of the one after it.
fn leading_blocks(text: &str, budget: &Budget<'_>) -> (usize, usize) {
    let ends = block_ends(text);
    let fits = |end: &usize| budget.holds(&with_mark(text.get(..*end).unwrap_or_default()));
    let count = ends.partition_point(fits);
    let whole = count.checked_sub(1).map_or(0, |last| ends[last]);
    (whole, ends.get(count).copied().unwrap_or(text.len()))
}

/// The end of each line or fenced block.
fn block_ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut at = 0;
    let mut fenced = false;
    for line in text.split_inclusive('\n') {
        at += line.len();
        fenced ^= is_fence(line);
        if !fenced {
            ends.push(at);
        }
    }
    ends
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

/// How many bytes of `rest`, which starts at `start`, fit as whole words. If not even the first word fits at the start of the
/// text, as whole characters.
fn leading_words(text: &str, start: usize, rest: &str, budget: &Budget<'_>) -> usize {
    let fits = |end: &usize| budget.holds(&with_mark(text.get(..start + *end).unwrap_or_default()));
    let words: Vec<usize> = rest.split_word_bound_indices().map(|(at, word)| at + word.len()).collect();
    let count = words.partition_point(fits);
    if count > 0 || start > 0 {
        return count.checked_sub(1).map_or(0, |last| words[last]);
    }
    let letters: Vec<usize> = rest.grapheme_indices(true).map(|(at, _)| at).collect();
    let count = letters.partition_point(fits);
    count.checked_sub(1).map_or(0, |last| letters[last])
}

fn with_mark(text: &str) -> String {
    format!("{}{MARK}", text.trim_end())
}

/// Adds the mark. A longer text may have fewer tokens, so the result is counted once more and shortened until it fits.
fn marked(text: &str, budget: &Budget<'_>) -> String {
    let mut kept = text.trim_end();
    loop {
        let shown = if kept.is_empty() { String::new() } else { with_mark(kept) };
        if shown.is_empty() || budget.holds(&shown) {
            return shown;
        }
        kept = kept.rsplit_once(char::is_whitespace).map_or("", |(head, _)| head.trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, clip, quote};

    #[test]
    fn quotes_are_short_and_harmless() {
        assert_eq!(quote(b"  no\x1b[2Jway\n"), "no [2Jway");
        assert_eq!(quote(b""), "(nothing)");
        assert_eq!(quote("é".repeat(600).as_bytes()).chars().count(), 501);
        assert_eq!(quote(&[0xff]), "\u{fffd}");
    }

    fn clipped(text: &str, tokens: usize) -> String {
        let count = |text: &str| text.split_whitespace().count();
        clip(text, &Budget { tokens, count: &count })
    }

    #[test]
    fn cuts_at_lines_then_words() {
        for (text, tokens, expected) in [
            (" one two ", 2, "one two"),
            ("one two\nthree four", 3, "one two …"),
            ("one two\nthree four five", 4, "one two\nthree …"),
            ("one two three", 1, ""),
            ("one two three", 0, ""),
            ("a\n```\nb c\n```\nd", 3, "a …"),
            ("a\n```\nb c\n```\nd e", 6, "a\n```\nb c\n``` …"),
            ("", 0, ""),
        ] {
            assert_eq!(clipped(text, tokens), expected, "{text:?} to {tokens}");
        }
    }

    /// However long an answer is, only the part of it that could fit is counted.
    #[test]
    fn a_long_answer_is_counted_only_as_far_as_it_could_fit() {
        let counted = std::sync::atomic::AtomicUsize::new(0);
        let count = |text: &str| {
            counted.fetch_add(text.len(), std::sync::atomic::Ordering::Relaxed);
            text.len().div_ceil(4)
        };
        for text in ["a".repeat(4 << 20), "a b ".repeat(1 << 20), "a\n".repeat(2 << 20), "é".repeat(2 << 20)] {
            counted.store(0, std::sync::atomic::Ordering::Relaxed);
            let clipped = clip(&text, &Budget { tokens: 20, count: &count });
            assert!(clipped.ends_with(" …") && clipped.len() <= 80, "{clipped}");
            let bytes = counted.load(std::sync::atomic::Ordering::Relaxed);
            assert!(bytes < 500_000, "{bytes} bytes were counted of {}", text.len());
        }
    }

    #[test]
    fn a_word_longer_than_the_budget_is_cut_at_a_character() {
        let count = |text: &str| text.chars().count();
        let budget = Budget { tokens: 5, count: &count };
        assert_eq!(clip("ありがとうございます", &budget), "ありが …");
    }
}
