//! What is written in place of a record that failed.

use curtail_core::places::TextPlace;

/// The line that is written in place of a record that failed, for whoever reads the output: it begins with `!`, which no record does.
pub(super) fn report(place: Option<TextPlace>, reason: &str) -> String {
    let (line, column) = place.map(|place| (place.line, place.column)).unzip();
    // Strings and numbers cannot fail to be written as JSON.
    format!("!{}\n", serde_json::to_string(&Reported { line, column, reason }).unwrap_or_default())
}

/// The JSON of such a line.
#[derive(serde::Serialize)]
struct Reported<'e> {
    line: Option<usize>,
    column: Option<usize>,
    reason: &'e str,
}
