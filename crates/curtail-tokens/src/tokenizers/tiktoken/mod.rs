//! Counts with the encodings of `OpenAI`, from tables that were made when the program was built or, for older models,
//! at first use. Counts equal those of tiktoken-rs wherever it returns one. A special token in a text is counted as
//! text.
//!
//! The [`Engine`] also counts with the vocabularies of `tokenizer.json` files. It knows no messages.

mod characters;
mod counter;
mod deepseek;
mod engine;
mod merge;
mod pattern;
mod recognized;
mod tables;
mod vocabulary;
mod window;

use std::sync::Arc;

use curtail_core::counting::Approximate;

use pattern::{Cl100k, O200k, R50k};
use vocabulary::listed;

pub(super) use counter::Walker;
pub(super) use engine::{Engine, Keep, SplitStep};
pub(super) use recognized::recognize;
pub(super) use tables::{BYTES, MergeTable, NO_PAIR, Tokens};
pub(super) use vocabulary::{Vocabulary, read_section, write_section};

use super::{DEFAULT_ESTIMATE, Family, Listed, Tokenizer, approximated};

/// What distinguishes an encoding from the others.
pub(super) struct Encoding {
    pub(super) name: &'static str,
    /// The models that use it. `NAME` includes all names that continue with `-`, `:` or `@`, and `NAME*` all that begin
    /// with `NAME`.
    pub(super) models: &'static [&'static str],
    /// Its estimate, from the UTF-16 units per token that were measured for it, in tenths.
    estimate: Approximate,
    /// How it splits a text.
    splits: [SplitStep; 1],
    /// Its tables. The build script makes them.
    vocabulary: fn() -> &'static Vocabulary,
}

/// All encodings, the default first. Two with the same pattern and vocabulary count every text alike, and differ in their models
/// and estimates.
pub(super) static ENCODINGS: &[Encoding] = &[
    // GPT-4o and later, and the reasoning models.
    Encoding {
        name: "o200k_base",
        models: &["gpt-5*", "gpt-4.5", "gpt-4.1", "gpt-4o", "chatgpt-4o", "o1", "o3", "o4", "codex-mini"],
        estimate: Approximate::new(DEFAULT_ESTIMATE, 42),
        splits: [SplitStep::Known(Walker::splitting_by::<O200k>())],
        vocabulary: listed::o200k_base,
    },
    // The open-weight gpt-oss models.
    Encoding {
        name: "o200k_harmony",
        models: &["gpt-oss"],
        estimate: Approximate::new("approx:o200k_harmony", 42),
        splits: [SplitStep::Known(Walker::splitting_by::<O200k>())],
        vocabulary: listed::o200k_base,
    },
    // GPT-4, GPT-3.5 and the embedding models.
    Encoding {
        name: "cl100k_base",
        models: &[
            "gpt-4", "gpt-3.5", "gpt-35-turbo", "davinci-002", "babbage-002", "text-embedding-ada-002",
            "text-embedding-3-small", "text-embedding-3-large",
        ],
        estimate: Approximate::new("approx:cl100k_base", 40),
        splits: [SplitStep::Known(Walker::splitting_by::<Cl100k>())],
        vocabulary: listed::cl100k_base,
    },
    // Codex and the text-davinci models 2 and 3.
    Encoding {
        name: "p50k_base",
        models: &[
            "text-davinci-003", "text-davinci-002", "text-davinci-edit-001", "code-davinci-edit-001",
            "code-davinci-002", "code-davinci-001", "code-cushman-002", "code-cushman-001", "davinci-codex",
            "cushman-codex",
        ],
        estimate: Approximate::new("approx:p50k_base", 38),
        splits: [SplitStep::Known(Walker::splitting_by::<R50k>())],
        vocabulary: listed::p50k_base,
    },
    // The first GPT-3 models.
    Encoding {
        name: "r50k_base",
        models: &[
            "text-davinci-001", "text-curie-001", "text-babbage-001", "text-ada-001", "text-similarity*",
            "text-search*", "code-search*", "davinci", "curie", "babbage", "ada",
        ],
        estimate: Approximate::new("approx:r50k_base", 35),
        splits: [SplitStep::Known(Walker::splitting_by::<R50k>())],
        vocabulary: listed::r50k_base,
    },
    // GPT-2.
    Encoding {
        name: "gpt2",
        models: &["gpt2", "gpt-2"],
        estimate: Approximate::new("approx:gpt2", 32),
        splits: [SplitStep::Known(Walker::splitting_by::<R50k>())],
        vocabulary: listed::r50k_base,
    },
];

/// The encodings by their names in tiktoken.
pub(super) static FAMILY: Family = Family {
    members: || {
        let listed = ENCODINGS.iter().map(|encoding| {
            let models = encoding.models.to_vec();
            Listed { name: encoding.name, kind: "tiktoken", models, exact: true }
        });
        listed.collect()
    },
    usage: || ENCODINGS.iter().map(|encoding| encoding.name).collect::<Vec<_>>().join(", "),
    open: |name| {
        let encoding = ENCODINGS.iter().find(|encoding| encoding.name == name)?;
        Some(Ok(Arc::new(encoding)))
    },
};

/// An estimate for every encoding.
pub(super) static ESTIMATES: Family = Family {
    members: || {
        let listed = ENCODINGS.iter().map(|encoding| {
            let name = encoding.estimate.name();
            let models = approximated().filter(|_| name == DEFAULT_ESTIMATE).map(|(family, _)| family).collect();
            Listed { name, kind: "approximate", models, exact: false }
        });
        listed.collect()
    },
    usage: || String::from("approx[:ENCODING]"),
    open: |name| {
        let name = if name == "approx" { DEFAULT_ESTIMATE } else { name };
        let encoding = ENCODINGS.iter().find(|encoding| encoding.estimate.name() == name)?;
        Some(Ok(Arc::new(encoding.estimate.clone())))
    },
};

impl Tokenizer for &'static Encoding {
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

impl Encoding {
    fn engine(&'static self) -> Engine<'static> {
        Engine { vocabulary: (self.vocabulary)(), splits: &self.splits }
    }
}
