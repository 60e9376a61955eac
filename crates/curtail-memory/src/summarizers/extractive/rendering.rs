//! Writes the chosen units as text: a line for each speaker's turn, in the order of the transcript.

use super::excerpts::{Excerpt, one_line};
use super::ranks::Ranked;
use super::units::SummaryUnit;

/// Separates two units of one utterance that are not neighbors.
const GAP: &str = " … ";

/// The chosen units, which are in order, each utterance after its speaker's label. Neighbors are separated by a space or
/// a line break, as in the transcript.
pub(super) fn render(excerpts: &[Excerpt<'_>], units: &[Ranked], chosen: &[usize]) -> String {
    let mut text = String::new();
    let mut before: Option<&SummaryUnit> = None;
    for unit in chosen.iter().map(|&index| &units[index].unit) {
        let source = &excerpts[unit.utterance];
        if let Some(before) = before.filter(|before| before.utterance == unit.utterance) {
            text.push_str(separator(&source.text, before, unit));
        } else {
            text.push_str(if before.is_some() { "\n" } else { "" });
            text.push_str(&source.speaker.label());
            text.push_str(if unit.fenced { ":\n" } else { ": " });
        }
        push_unit(&mut text, &source.text[unit.range.clone()], unit.fenced);
        before = Some(unit);
    }
    text
}

/// The separator between two units of one utterance.
fn separator<'t>(text: &str, before: &SummaryUnit, after: &SummaryUnit) -> &'t str {
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

/// Writes a unit: fenced code unchanged, any other unit on one line.
fn push_unit(text: &mut String, unit: &str, fenced: bool) {
    if fenced {
        text.push_str(unit.trim_end());
    } else {
        text.push_str(&one_line(unit));
    }
}
