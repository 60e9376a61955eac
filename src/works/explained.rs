//! How decisions and failures are written: for people, for programs, and in place of a record.

use crate::options::choices::TextOrJson;
use curtail_core::checks::LineIndex;
use curtail_core::error::TextPlace;
use curtail_core::explain::Explained;
use curtail_core::pipeline::Decider;
use curtail_core::visible::{self, one_line};
use curtail_io::batch::Unit;

/// Writes the decisions about `unit` to `out`.
pub(super) fn write_explained(
    unit: &Unit<'_>,
    format: TextOrJson,
    explained: &[(Decider, Explained)],
    out: &mut String,
) {
    let lines = LineIndex::new(unit.text);
    for (decider, decision) in explained {
        let line = decision.offset.map_or(unit.line, |offset| unit.line - 1 + lines.line(offset));
        match format {
            TextOrJson::Text => write_text(unit, decider, line, decision, out),
            TextOrJson::Json => write_json(unit, decider, line, decision, out),
        }
    }
}

/// `chat.jsonl:41: message 3 (tool result of "search"): dropped: outside the last 40 items | 12 results`
fn write_text(unit: &Unit<'_>, decider: &Decider, line: usize, decision: &Explained, out: &mut String) {
    let name = &unit.opened.source.name;
    let subject = decision.subject();
    let mut text = format!("{name}:{line}: {subject}: {}", decision.outcome());
    if !decider.level.is_empty() {
        text += &format!(" [{} at {}]", decider.processor, decider.level);
    }
    if let Some(begins) = decision.subject.as_ref().map(|subject| &subject.begins).filter(|begins| !begins.is_empty()) {
        text += &format!(" | {begins}");
    }
    out.push_str(&one_line(&text));
    out.push('\n');
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

#[derive(serde::Serialize)]
struct DecisionLine<'t> {
    file: &'t str,
    line: usize,
    #[serde(flatten)]
    decision: &'t Explained,
    #[serde(flatten)]
    decider: &'t Decider,
}

fn write_json(unit: &Unit<'_>, decider: &Decider, line: usize, decision: &Explained, out: &mut String) {
    let described = DecisionLine { file: &unit.opened.source.name, line, decision, decider };
    // Strings and numbers cannot fail to be written as JSON.
    out.push_str(&visible::json(&serde_json::to_string(&described).unwrap_or_default()));
    out.push('\n');
}
