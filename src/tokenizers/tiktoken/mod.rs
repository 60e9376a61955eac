//! The encodings of `OpenAI`, counted with tables prepared when the program was built and equal to tiktoken-rs wherever
//! that answers. A special token in a text is text. Knows no models and no messages.

mod atoms;
mod cache;
mod characters;
mod counter;
mod layout;
mod merge;
mod pattern;
mod small_merge;
mod vocabulary;
mod window;

use std::cell::RefCell;

use counter::{Counter, Reached};
use pattern::{Cl100k, O200k, R50k};
use vocabulary::{CL100K, O200K, P50K, R50K, Vocabulary};

use super::Tokenizer;

/// An encoding by its name in tiktoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiktoken {
    name: &'static str,
    ranks: Ranks,
}

/// The encodings that have ranks of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ranks {
    O200k,
    Cl100k,
    P50k,
    R50k,
}

/// All encodings. `o200k_harmony` differs from `o200k_base`, and `gpt2` from `r50k_base`, in special tokens alone.
pub(super) const ALL: [Tiktoken; 6] = [
    Tiktoken { name: "o200k_base", ranks: Ranks::O200k },
    Tiktoken { name: "o200k_harmony", ranks: Ranks::O200k },
    Tiktoken { name: "cl100k_base", ranks: Ranks::Cl100k },
    Tiktoken { name: "p50k_base", ranks: Ranks::P50k },
    Tiktoken { name: "r50k_base", ranks: Ranks::R50k },
    Tiktoken { name: "gpt2", ranks: Ranks::R50k },
];

thread_local! {
    static COUNTERS: [RefCell<Option<Counter>>; 4] = const { [const { RefCell::new(None) }; 4] };
}

impl Tokenizer for Tiktoken {
    fn name(&self) -> &str {
        self.name
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
        match self.ranks {
            Ranks::O200k => &O200K,
            Ranks::Cl100k => &CL100K,
            Ranks::P50k => &P50K,
            Ranks::R50k => &R50K,
        }
    }

    fn walk(self, text: &str, budget: usize) -> Reached {
        self.counting(|counter| match self.ranks {
            Ranks::O200k => counter.walk::<O200k>(text.as_bytes(), budget),
            Ranks::Cl100k => counter.walk::<Cl100k>(text.as_bytes(), budget),
            Ranks::P50k | Ranks::R50k => counter.walk::<R50k>(text.as_bytes(), budget),
        })
    }

    /// Where the tokens of the piece end that starts at `at`; none at the end of the text.
    fn ends(self, text: &str, at: usize) -> Vec<usize> {
        if at == text.len() {
            return Vec::new();
        }
        self.counting(|counter| match self.ranks {
            Ranks::O200k => counter.ends::<O200k>(text.as_bytes(), at),
            Ranks::Cl100k => counter.ends::<Cl100k>(text.as_bytes(), at),
            Ranks::P50k | Ranks::R50k => counter.ends::<R50k>(text.as_bytes(), at),
        })
    }

    fn counting<T>(self, work: impl FnOnce(&mut Counter) -> T) -> T {
        COUNTERS.with(|counters| {
            let mut counter = counters[self.ranks as usize].borrow_mut();
            work(counter.get_or_insert_with(|| Counter::new(self.vocabulary())))
        })
    }
}
