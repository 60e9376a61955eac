//! Decisions with their lines.

use curtail_core::checks::LineIndex;
use curtail_core::explain::Explained;
use curtail_core::pipeline::Decider;
use curtail_io::batch::Unit;

/// A decision about a message.
#[derive(Debug)]
pub(crate) struct DecisionAt {
    /// The line of the input on which the message is, from 1.
    pub(crate) line: usize,
    /// The processor that decided.
    pub(crate) decider: Decider,
    pub(crate) decision: Explained,
}

/// The decisions about `unit`, each with its line.
pub(super) fn with_lines(unit: &Unit<'_>, explained: Vec<(Decider, Explained)>) -> Vec<DecisionAt> {
    if explained.is_empty() {
        return Vec::new();
    }
    let lines = LineIndex::new(unit.text);
    let first = unit.line;
    let decisions = explained.into_iter().map(|(decider, decision)| {
        let line = decision.offset.map_or(first, |offset| first - 1 + lines.line(offset));
        DecisionAt { line, decider, decision }
    });
    decisions.collect()
}
