//! Counts with the encodings of `OpenAI`, from tables that were made when the program was built or, for older models,
//! at first use. Counts equal those of tiktoken-rs wherever it returns one. A special token in a text is counted as
//! text.
//!
//! The [`Engine`] also counts with the vocabularies of `tokenizer.json` files. It knows no messages.

mod counter;
mod deepseek;
mod encodings;
mod engine;
mod layout;
mod merge;
mod pattern;
mod tables;
mod vocabulary;
mod window;

use std::fmt;
use std::sync::Arc;

use encodings::ListedEncoding;

pub(super) use encodings::ALL as ENCODINGS;
pub(super) use engine::{Engine, Keep, Splitter, Step};
pub(super) use pattern::{Recognized, recognize};
pub(super) use tables::{MergeTable, NO_PAIR, Tokens};
pub(super) use vocabulary::Vocabulary;

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
        self.engine().count(text)
    }

    fn count_until(&self, text: &str, limit: usize) -> Option<usize> {
        self.engine().count_until(text, limit)
    }

    fn head(&self, text: &str, tokens: usize) -> usize {
        self.engine().head(text, tokens)
    }

    fn tail(&self, text: &str, tokens: usize) -> usize {
        self.engine().tail(text, tokens)
    }
}

impl Tiktoken {
    fn engine(self) -> Engine<'static> {
        Engine { vocabulary: (self.0.vocabulary)(), splitter: Splitter::Pattern(&self.0.encoding.walker) }
    }
}
