//! Estimates of token counts: one for every encoding, with the ratio of characters to tokens that was measured for it.

use std::sync::Arc;

use curtail_core::counting::{Approximate, Tokenizer};

use super::tiktoken::ENCODINGS;
use super::{DEFAULT_ESTIMATE, Family, Listed, models};

/// An estimate for every encoding.
pub(super) static FAMILY: Family = Family {
    members: || ENCODINGS.iter().map(|each| listed(each.estimate)).collect(),
    usage: || String::from("approx[:ENCODING]"),
    open: |name| {
        let name = if name == "approx" { DEFAULT_ESTIMATE } else { name };
        let member = all().find(|member| member.name() == name)?;
        Some(Ok(Arc::new(member)))
    },
};

fn all() -> impl Iterator<Item = Approximate> {
    ENCODINGS.iter().map(|listed| Approximate::new(listed.estimate, listed.encoding.tenths))
}

fn listed(name: &'static str) -> Listed {
    let models = if name == DEFAULT_ESTIMATE { models::approximated() } else { Vec::new() };
    Listed { name, kind: "approximate", models, exact: false }
}
