//! Counts with the encodings of `OpenAI`, from tables made when the program was built or, for older models, at first use. Counts equal those of tiktoken-rs
//! wherever it answers. A special token in a text is text. It knows no messages.

mod cache;
mod characters;
mod counter;
mod encodings;
mod layout;
mod merge;
mod pattern;
mod small_merge;
mod tables;
mod units;
mod vocabulary;
mod window;

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use counter::{Counter, Reached};
pub(super) use encodings::ALL as ENCODINGS;
use encodings::ListedEncoding;
use vocabulary::Vocabulary;

use super::{Family, Listed, Tokenizer};

/// An encoding of `OpenAI`.
#[derive(Clone, Copy)]
pub struct Tiktoken(&'static ListedEncoding);

/// The encodings by their names in tiktoken.
pub(super) static FAMILY: Family = Family {
    members: || ENCODINGS.iter().map(listed).collect(),
    usage: || ENCODINGS.iter().map(|encoding| encoding.name).collect::<Vec<_>>().join(", "),
    open: |name| {
        let encoding = ENCODINGS.iter().find(|encoding| encoding.name == name)?;
        Some(Ok(Arc::new(Tiktoken(encoding))))
    },
};

fn listed(listed: &ListedEncoding) -> Listed {
    let models = listed.encoding.models.to_vec();
    Listed { name: listed.name, kind: "tiktoken", models, exact: true }
}

thread_local! {
    // One counter per thread and vocabulary. A tokenizer is shared between threads, and the counter's cache of pieces must
    // outlive one text without a lock around each count. The cache never changes a count.
    static COUNTERS: RefCell<Vec<Counter>> = const { RefCell::new(Vec::new()) };
}

impl fmt::Debug for Tiktoken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tiktoken").field(&self.0.name).finish()
    }
}

impl Tokenizer for Tiktoken {
    fn name(&self) -> &str {
        self.0.name
    }

    fn exact(&self) -> bool {
        true
    }

    fn at_most_bytes(&self) -> bool {
        true
    }

    fn count(&self, text: &str) -> usize {
        self.walk(text, usize::MAX).tokens
    }

    fn count_until(&self, text: &str, limit: usize) -> Option<usize> {
        // A token is at most 128 bytes, so many texts need no counting to be known as too long.
        if text.len() / self.vocabulary().longest > limit {
            return None;
        }
        let reached = self.walk(text, limit);
        (reached.at == text.len()).then_some(reached.tokens)
    }

    fn head(&self, text: &str, tokens: usize) -> usize {
        let reached = self.walk(text, tokens);
        let ends = self.ends(text, reached.at);
        let held = ends.into_iter().take(tokens - reached.tokens);
        held.rev().find(|end| text.is_char_boundary(*end)).unwrap_or(reached.at)
    }

    fn tail(&self, text: &str, tokens: usize) -> usize {
        let Some(before) = self.count(text).checked_sub(tokens).filter(|before| *before > 0) else {
            return 0;
        };
        let reached = self.walk(text, before);
        if reached.tokens == before {
            return reached.at;
        }
        let ends = self.ends(text, reached.at).into_iter().skip(before - reached.tokens - 1);
        ends.into_iter().find(|end| text.is_char_boundary(*end)).unwrap_or(text.len())
    }
}

impl Tiktoken {
    fn vocabulary(self) -> &'static Vocabulary {
        (self.0.vocabulary)()
    }

    fn walk(self, text: &str, budget: usize) -> Reached {
        self.counting(|counter| (self.0.encoding.walker.walk)(counter, text.as_bytes(), budget))
    }

    /// The ends of the tokens of the piece that starts at `at`; none at the end of the text.
    fn ends(self, text: &str, at: usize) -> Vec<usize> {
        if at == text.len() {
            return Vec::new();
        }
        self.counting(|counter| (self.0.encoding.walker.ends)(counter, text.as_bytes(), at))
    }

    /// Runs `work` with this thread's counter for the vocabulary.
    fn counting<T>(self, work: impl FnOnce(&mut Counter) -> T) -> T {
        COUNTERS.with_borrow_mut(|counters| {
            let known = counters.iter().position(|counter| counter.counts_with(self.vocabulary()));
            let at = known.unwrap_or_else(|| {
                counters.push(Counter::new(self.vocabulary()));
                counters.len() - 1
            });
            work(&mut counters[at])
        })
    }
}
