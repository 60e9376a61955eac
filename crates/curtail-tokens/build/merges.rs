//! Learns from the ranks which pair makes each token.

use crate::{
    Result,
    ranks::Ranks,
    tables::{MergeTable, NO_PAIR, Tokens},
};

/// Finds the pair that makes each token, in the order of the ranks, by merging its bytes with the pairs found before.
pub(crate) fn learn(ranks: &Ranks) -> Result<Tokens> {
    let bytes: Vec<u8> = ranks.tokens[..256].iter().flatten().copied().collect();
    if bytes.len() != 256 || ranks.tokens[..256].iter().any(|token| token.len() != 1) {
        return Err("the first 256 tokens are not the bytes".into());
    }
    let mut ids = [0; 256];
    for (&byte, id) in bytes.iter().zip(0..) {
        ids[usize::from(byte)] = id;
    }
    let count = ranks.tokens.iter().rposition(|token| !token.is_empty()).map_or(0, |last| last + 1);
    let mut known = MergeTable::new(count, &ids);
    let mut pairs = vec![NO_PAIR; count];
    for (id, token) in ranks.iter().filter(|(_, token)| token.len() > 1) {
        let pair = only_pair(&known, id, token)?;
        known.insert(pair, id);
        pairs[id as usize] = pair;
    }
    Ok(Tokens::from_pairs(&bytes, pairs))
}

fn only_pair(known: &MergeTable, id: u32, token: &[u8]) -> Result<[u32; 2]> {
    let parts = known.merge(token);
    match parts[..] {
        [left, right] if left < id && right < id => Ok([left, right]),
        _ => Err(format!("token {id} ({token:?}) is not one merge of lower tokens: {parts:?}").into()),
    }
}
