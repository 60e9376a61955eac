//! Totals of a conversation: tokens by writer and by tool, and its costliest messages.

use std::collections::BTreeMap;

use super::conversation::Conversation;

/// Tokens under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) name: String,
    /// Messages of a writer, or calls of a tool.
    pub(super) count: usize,
    pub(super) tokens: usize,
    /// Tokens that a policy keeps.
    pub(super) kept: usize,
}

impl Share {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), count: 0, tokens: 0, kept: 0 }
    }

    fn add(&mut self, count: usize, tokens: usize, kept: usize) {
        self.count += count;
        self.tokens += tokens;
        self.kept += kept;
    }
}

/// Tokens by writer, the largest first; instructions outside the messages are `outside`.
pub(super) fn writers(conversation: &Conversation<'_>) -> Vec<Share> {
    let mut shares: BTreeMap<&'static str, Share> = BTreeMap::new();
    for (at, cost) in conversation.costs.iter().enumerate() {
        let kept = conversation.fate(at).map_or(cost.tokens, |fate| fate.tokens);
        let writer = conversation.writer(at);
        shares.entry(writer).or_insert_with(|| Share::new(writer)).add(1, cost.tokens, kept);
    }
    if conversation.outside > 0 {
        let tokens = conversation.outside;
        shares.insert("outside", Share { name: String::from("outside"), count: 0, tokens, kept: tokens });
    }
    sorted(shares.into_values())
}

/// Tokens of calls and results by tool, the largest first.
pub(super) fn tools(conversation: &Conversation<'_>) -> Vec<Share> {
    let mut shares: BTreeMap<String, Share> = BTreeMap::new();
    let pairs = &conversation.pairs;
    for &at in pairs.calls().iter().chain(pairs.results()) {
        let tokens = conversation.costs[at.message].parts[at.part];
        let kept = conversation.fate(at.message).map_or(tokens, |fate| fate.parts[at.part].tokens(tokens));
        let call = conversation.messages[at.message].parts[at.part].content.call().is_some();
        let name = conversation.tool(at);
        shares.entry(name.clone()).or_insert_with(|| Share::new(&name)).add(usize::from(call), tokens, kept);
    }
    sorted(shares.into_values())
}

/// Indexes of the messages with the most tokens, the costliest first.
pub(super) fn costliest(conversation: &Conversation<'_>, most: usize) -> Vec<usize> {
    let tokens = |at: usize| conversation.costs[at].tokens;
    let mut order: Vec<usize> = (0..conversation.costs.len()).filter(|&at| tokens(at) > 0).collect();
    order.sort_by_key(|&at| (std::cmp::Reverse(tokens(at)), at));
    order.truncate(most);
    order
}

fn sorted(shares: impl Iterator<Item = Share>) -> Vec<Share> {
    let mut shares: Vec<Share> = shares.collect();
    shares.sort_by(|one, other| other.tokens.cmp(&one.tokens).then_with(|| one.name.cmp(&other.name)));
    shares
}
