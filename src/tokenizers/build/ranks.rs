//! The tokens of an encoding, in the order of their ranks, as tiktoken-rs carries them.

use tiktoken_rs::CoreBPE;

use crate::Result;

type Load = fn() -> std::result::Result<CoreBPE, anyhow::Error>;

/// The encodings with ranks of their own: `o200k_harmony` shares those of `o200k_base`, and `gpt2` those of `r50k_base`.
pub(crate) const ENCODINGS: &[(&str, Load)] = &[
    ("O200K", tiktoken_rs::o200k_base),
    ("CL100K", tiktoken_rs::cl100k_base),
    ("P50K", tiktoken_rs::p50k_base),
    ("R50K", tiktoken_rs::r50k_base),
];

/// The bytes of each token by its id; empty where an id is not in use or stands for a special token.
pub(crate) struct Ranks {
    pub(crate) tokens: Vec<Vec<u8>>,
}

impl Ranks {
    pub(crate) fn read(load: Load) -> Result<Self> {
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

/// `<|endoftext|>` and its like: in a text they are text.
fn special(token: &[u8]) -> bool {
    token.starts_with(b"<|") && token.ends_with(b"|>") && token.len() > 4
}
