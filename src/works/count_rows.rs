//! Numbers of tokens, messages and calls, and sums of them by name.

use std::collections::HashMap;

/// Numbers of transcripts, messages, calls and tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CountRow {
    pub(crate) transcripts: usize,
    /// Turns of a person, each from a user message with text to the next.
    pub(crate) turns: usize,
    pub(crate) messages: usize,
    pub(crate) calls: usize,
    pub(crate) tokens: usize,
    /// Tokens among these that are estimated, because their content has an unknown type.
    pub(crate) estimated: usize,
    /// Tokens of the messages that the model still reads.
    pub(crate) live: usize,
}

impl CountRow {
    pub(crate) fn add(&mut self, other: Self) {
        self.transcripts += other.transcripts;
        self.turns += other.turns;
        self.messages += other.messages;
        self.calls += other.calls;
        self.tokens += other.tokens;
        self.estimated += other.estimated;
        self.live += other.live;
    }
}

/// Sums that grow until all is read, by name, in the order in which the names appeared.
#[derive(Default)]
pub(crate) struct SumsByName {
    pub(crate) sums: Vec<(String, CountRow)>,
    /// The index of each name's sum.
    indexes: HashMap<String, usize>,
}

impl SumsByName {
    /// Adds `counts` to the sum of `name`, which begins with nothing.
    pub(crate) fn add(&mut self, name: &str, counts: CountRow) {
        let at = if let Some(&at) = self.indexes.get(name) {
            at
        } else {
            self.indexes.insert(name.to_owned(), self.sums.len());
            self.sums.push((name.to_owned(), CountRow::default()));
            self.sums.len() - 1
        };
        self.sums[at].1.add(counts);
    }
}
