//! Sums over a conversation: tokens by role and by tool, and its costliest messages.

use std::collections::BTreeMap;

use super::conversation::Conversation;
use curtail_core::transcript::PartRef;

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

/// Tokens by writer, the largest first; instructions outside the messages are `outside`.
pub(super) fn writers(conversation: &Conversation<'_>) -> Vec<Share> {
    let mut shares: BTreeMap<&'static str, (usize, usize, usize)> = BTreeMap::new();
    for (at, cost) in conversation.costs.iter().enumerate() {
        let share = shares.entry(conversation.writer(at)).or_default();
        let kept = conversation.effect.as_ref().map_or(cost.tokens, |effect| effect.fates[at].tokens);
        *share = (share.0 + 1, share.1 + cost.tokens, share.2 + kept);
    }
    if conversation.outside > 0 {
        shares.insert("outside", (0, conversation.outside, conversation.outside));
    }
    sorted(shares.into_iter().map(|(name, sums)| (name.to_owned(), sums)))
}

/// Tokens of calls and results by tool, the largest first.
pub(super) fn tools(conversation: &Conversation<'_>) -> Vec<Share> {
    let mut shares: BTreeMap<String, (usize, usize, usize)> = BTreeMap::new();
    let pairs = &conversation.pairs;
    for &at in pairs.calls().iter().chain(pairs.results()) {
        let tokens = conversation.costs[at.message].parts[at.part];
        let is_dropped = conversation
            .effect
            .as_ref()
            .is_some_and(|effect| matches!(effect.fates[at.message].parts[at.part], super::effect::PartFate::Dropped));
        let call = conversation.messages[at.message].parts[at.part].content.call().is_some();
        let share = shares.entry(tool(conversation, at)).or_default();
        let kept = if is_dropped { 0 } else { tokens };
        *share = (share.0 + usize::from(call), share.1 + tokens, share.2 + kept);
    }
    sorted(shares.into_iter())
}

/// The name of the tool that a call or result belongs to; `?` if nothing names it.
pub(super) fn tool(conversation: &Conversation<'_>, at: PartRef) -> String {
    let content = |at: PartRef| &conversation.messages[at.message].parts[at.part].content;
    let other = || conversation.pairs.other_half(at).and_then(|other| content(other).call());
    let own = content(at).result().and_then(|result| result.name.as_ref());
    let name = content(at).call().or_else(other).map(|call| &call.name).or(own);
    name.map_or_else(|| String::from("?"), |name| name.decode().into_owned())
}

/// Indexes of the messages with the most tokens, the costliest first.
pub(super) fn costliest(conversation: &Conversation<'_>, most: usize) -> Vec<usize> {
    let tokens = |at: usize| conversation.costs[at].tokens;
    let mut order: Vec<usize> = (0..conversation.costs.len()).filter(|&at| tokens(at) > 0).collect();
    order.sort_by_key(|&at| (std::cmp::Reverse(tokens(at)), at));
    order.truncate(most);
    order
}

fn sorted(shares: impl Iterator<Item = (String, (usize, usize, usize))>) -> Vec<Share> {
    let share = |(name, (count, tokens, kept))| Share { name, count, tokens, kept };
    let mut shares: Vec<Share> = shares.map(share).collect();
    shares.sort_by(|one, other| other.tokens.cmp(&one.tokens).then_with(|| one.name.cmp(&other.name)));
    shares
}
