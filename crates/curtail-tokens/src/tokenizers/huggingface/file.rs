//! The form of a `tokenizer.json` that the engine of `curtail` supports. Files of any other form are left to the library,
//! which also reports what is wrong with a damaged file.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A supported file.
#[derive(Deserialize)]
pub(super) struct File<'a> {
    pub(super) version: Option<String>,
    #[serde(default)]
    pub(super) truncation: Value,
    #[serde(default)]
    pub(super) padding: Value,
    #[serde(default)]
    pub(super) added_tokens: Vec<AddedToken>,
    #[serde(default)]
    pub(super) normalizer: Value,
    #[serde(default)]
    pub(super) pre_tokenizer: Value,
    #[serde(default)]
    pub(super) post_processor: Value,
    #[serde(default)]
    pub(super) decoder: Value,
    #[serde(borrow)]
    pub(super) model: Model<'a>,
}

/// What a file says beside its model.
#[derive(Deserialize, Serialize)]
pub(super) struct Outline {
    pub(super) added_tokens: Vec<AddedToken>,
    pub(super) normalizer: Value,
    pub(super) pre_tokenizer: Value,
}

/// A model of byte pair encoding. The members that begin with `_` are only checked for their type.
#[derive(Deserialize)]
pub(super) struct Model<'a> {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) dropout: Option<f32>,
    // Without effect, as the next one: in supported models, every byte has a token.
    #[serde(rename = "unk_token")]
    _unknown: Option<String>,
    pub(super) continuing_subword_prefix: Option<String>,
    pub(super) end_of_word_suffix: Option<String>,
    #[serde(rename = "fuse_unk")]
    _fuse: Option<bool>,
    /// Whether the bytes of characters without a token are tokens.
    pub(super) byte_fallback: Option<bool>,
    pub(super) ignore_merges: Option<bool>,
    #[serde(borrow)]
    pub(super) vocab: Entries<'a>,
    /// Pairs of tokens, in the order in which they merge.
    #[serde(borrow)]
    pub(super) merges: Vec<Merge<'a>>,
}

/// A token that is found in a text before the text is split.
#[derive(Deserialize, Serialize)]
pub(super) struct AddedToken {
    #[serde(rename = "id")]
    _id: u32,
    pub(super) content: String,
    pub(super) single_word: bool,
    pub(super) lstrip: bool,
    pub(super) rstrip: bool,
    pub(super) normalized: bool,
    pub(super) special: bool,
}

/// The tokens of a vocabulary with their ids, in the order of the file.
pub(super) struct Entries<'a>(pub(super) Vec<(Cow<'a, str>, u32)>);

/// A string that is borrowed from the file if it contains no escape.
#[derive(Deserialize)]
struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map;
        impl<'de> Visitor<'de> for Map {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a vocabulary")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<'de>, A::Error> {
                let mut entries = Vec::with_capacity(1 << 16);
                while let Some((Borrowed(token), id)) = map.next_entry()? {
                    entries.push((token, id));
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Map)
    }
}

/// A merge: `"a b"` or (`listed`) `["a", "b"]`.
pub(super) struct Merge<'a> {
    pub(super) parts: (Cow<'a, str>, Cow<'a, str>),
    pub(super) listed: bool,
}

/// The two parts of `"a b"`.
fn merge_parts<E: Error>(text: &str) -> Result<(&str, &str), E> {
    let parts = text.split_once(' ').filter(|(_, right)| !right.contains(' ') && !text.starts_with("#version"));
    parts.ok_or_else(|| E::custom("a merge has two parts"))
}

impl<'de: 'a, 'a> Deserialize<'de> for Merge<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Merge<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a merge")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Merge<'de>, E> {
                let (left, right) = merge_parts(text)?;
                Ok(Merge { parts: (left.into(), right.into()), listed: false })
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Merge<'de>, E> {
                let (left, right) = merge_parts(text)?;
                Ok(Merge { parts: (left.to_owned().into(), right.to_owned().into()), listed: false })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Merge<'de>, A::Error> {
                let parts = (list.next_element()?, list.next_element()?, list.next_element::<Borrowed<'de>>()?);
                match parts {
                    (Some(Borrowed(left)), Some(Borrowed(right)), None) => {
                        Ok(Merge { parts: (left, right), listed: true })
                    }
                    _ => Err(A::Error::custom("a merge has two parts")),
                }
            }
        }
        deserializer.deserialize_any(Either)
    }
}
