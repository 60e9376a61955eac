//! The tokens of the encodings in the order of their ranks, from tiktoken-rs.

use std::collections::BTreeMap;

use tiktoken_rs::CoreBPE;

use crate::Result;

/// The ranks whose tables are in the program. The others belong to models of before 2023.
pub(crate) const IN_PLACE: &[&str] = &["o200k_base", "cl100k_base"];

pub(crate) type Load = fn() -> std::result::Result<CoreBPE, anyhow::Error>;

macro_rules! encodings {
    ($($name:ident: $ranks:ident,)*) => {
        /// The ranks of every encoding, by name.
        const LISTED: &[(&str, Load)] = &[$((stringify!($ranks), tiktoken_rs::$ranks),)*];
    };
}

include!("../src/tokenizers/tiktoken/encodings/list.inc");

/// The ranks that encodings use, each once: some encodings share them.
pub(crate) fn all() -> BTreeMap<&'static str, Load> {
    LISTED.iter().copied().collect()
}

/// The bytes of each token by its id; empty if the id is unused or a special token.
pub(crate) struct Ranks {
    pub(crate) tokens: Vec<Vec<u8>>,
}

impl Ranks {
    pub(crate) fn load(load: Load) -> Result<Self> {
        let encoding = load()?;
        let tokens = (0..1 << crate::layout::ID_BITS)
            .map(|id| encoding.decode_bytes(&[id]).unwrap_or_default())
            .map(|token| if special(&token) { Vec::new() } else { token });
        Ok(Self { tokens: tokens.collect() })
    }

    /// Ids and bytes of all tokens in use, lowest rank first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &[u8])> {
        (0..).zip(&self.tokens).filter(|(_, token)| !token.is_empty()).map(|(id, token)| (id, token.as_slice()))
    }
}

/// Whether a token is special, such as `<|endoftext|>`. In a text it is text.
fn special(token: &[u8]) -> bool {
    token.starts_with(b"<|") && token.ends_with(b"|>") && token.len() > 4
}
