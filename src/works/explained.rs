//! Decisions with their lines, and what is written in place of a record that failed.

use curtail_core::checks::LineIndex;
use curtail_core::error::TextPlace;
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

/// The line that is written in place of a record that failed.
pub(super) fn report(place: Option<TextPlace>, reason: &str) -> String {
    let (line, column) = place.map(|place| (place.line, place.column)).unzip();
    // Strings and numbers cannot fail to be written as JSON.
    format!("!{}\n", serde_json::to_string(&Reported { line, column, reason }).unwrap_or_default())
}

/// The JSON of a line in place of a record that failed. The line begins with `!`, which no record does.
#[derive(serde::Serialize)]
struct Reported<'e> {
    line: Option<usize>,
    column: Option<usize>,
    reason: &'e str,
}
