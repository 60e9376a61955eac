//! Totals of a conversation: tokens by writer and by tool, and its costliest messages.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::conversation::Conversation;

/// Tokens under a name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) name: String,
    /// Messages of a writer, or calls of a tool.
    pub(super) count: usize,
    pub(super) tokens: usize,
    /// Tokens that a policy keeps.
    pub(super) kept: usize,
}

/// Tokens by writer, the largest first; instructions, tool definitions and replies outside the messages are `outside`.
pub(super) fn writers(conversation: &Conversation<'_>) -> Vec<Share> {
    let messages = conversation.costs.iter().enumerate().map(|(at, cost)| {
        let kept = conversation.fate(at).map_or(cost.tokens, |fate| fate.tokens);
        Share { name: conversation.writer(at).to_owned(), count: 1, tokens: cost.tokens, kept }
    });
    let tokens = conversation.outside.tokens;
    let outside = Share { name: String::from("outside"), count: 0, tokens, kept: tokens };
    summed(messages.chain(Some(outside).filter(|_| tokens > 0)))
}

/// Tokens of calls and results by tool, the largest first.
pub(super) fn tools(conversation: &Conversation<'_>) -> Vec<Share> {
    let pairs = &conversation.pairs;
    summed(pairs.calls().iter().chain(pairs.results()).map(|&at| {
        let tokens = conversation.costs[at.message].parts[at.part];
        let kept = conversation.fate(at.message).map_or(tokens, |fate| fate.parts[at.part].tokens(tokens));
        let count = usize::from(conversation.part(at).content.call().is_some());
        Share { name: conversation.tool(at), count, tokens, kept }
    }))
}

/// Indexes of the messages with the most tokens, the costliest first.
pub(super) fn costliest(conversation: &Conversation<'_>, most: usize) -> Vec<usize> {
    let costs = &conversation.costs;
    let mut order: Vec<usize> = (0..costs.len()).filter(|&at| costs[at].tokens > 0).collect();
    order.sort_by_key(|&at| Reverse(costs[at].tokens));
    order.truncate(most);
    order
}

/// The sum of the shares of each name, the largest first.
fn summed(shares: impl Iterator<Item = Share>) -> Vec<Share> {
    let mut sums: BTreeMap<String, Share> = BTreeMap::new();
    for share in shares {
        let sum = sums.entry(share.name.clone()).or_insert_with(|| Share { name: share.name, ..Share::default() });
        sum.count += share.count;
        sum.tokens += share.tokens;
        sum.kept += share.kept;
    }
    let mut sums: Vec<Share> = sums.into_values().collect();
    sums.sort_by_key(|share| Reverse(share.tokens));
    sums
}
