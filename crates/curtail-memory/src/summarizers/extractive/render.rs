//! Writes the chosen units as text: a line for each speaker's turn, in the order of the transcript.

use super::units::SummaryUnit;
use super::{Budget, Excerpt};
use crate::summarizers::clip;

/// Separates two parts of one sentence that are not neighbors.
const GAP: &str = " … ";

/// The chosen units, which are in order, each utterance after its speaker's label. Neighbors are separated by a space or
/// a line break, as in the transcript.
pub(super) fn text(excerpts: &[Excerpt<'_>], units: &[SummaryUnit], chosen: &[usize]) -> String {
    let mut text = String::new();
    let mut before: Option<&SummaryUnit> = None;
    for unit in chosen.iter().map(|&index| &units[index]) {
        let source = &excerpts[unit.utterance];
        if let Some(before) = before.filter(|before| before.utterance == unit.utterance) {
            text.push_str(joint(&source.text, before, unit));
        } else {
            text.push_str(if before.is_some() { "\n" } else { "" });
            text.push_str(&source.speaker.label());
            text.push_str(if unit.fenced { ":\n" } else { ": " });
        }
        push(&mut text, &source.text[unit.range.clone()], unit.fenced);
        before = Some(unit);
    }
    text
}

/// The beginning of the best unit, if no unit fits as a whole; nothing if it is fenced code.
pub(super) fn beginning(excerpts: &[Excerpt<'_>], units: &[SummaryUnit], unit: usize, budget: &Budget<'_>) -> String {
    if units[unit].fenced {
        return String::new();
    }
    clip(&text(excerpts, units, &[unit]), budget)
}

/// The separator between two units of one utterance.
fn joint<'t>(text: &str, before: &SummaryUnit, after: &SummaryUnit) -> &'t str {
    let between = text.get(before.range.end..after.range.start);
    let neighbors = between.is_some_and(|between| between.trim().is_empty());
    let lines = between.is_some_and(|between| between.contains('\n'));
    if before.fenced || after.fenced {
        "\n"
    } else if neighbors && lines {
        "\n  "
    } else if neighbors {
        " "
    } else {
        GAP
    }
}

/// Fenced code unchanged; any other unit on one line.
fn push(text: &mut String, unit: &str, fenced: bool) {
    if fenced {
        text.push_str(unit.trim_end());
        return;
    }
    for (index, word) in unit.split_whitespace().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        text.push_str(word);
    }
}
