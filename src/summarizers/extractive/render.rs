//! Chosen units as text: a line for each speaker's turn, in the order of the transcript.
//! Knows layout and length, not why a unit was chosen.

use super::units::SummaryUnit;
use super::{Budget, Excerpt};
use crate::summarizers::clip;

/// Separates two parts of one sentence that are not neighbours.
const GAP: &str = " … ";

/// The chosen units, which are in order, each utterance behind its speaker's label. What stood between two neighbours stands
/// between them still, as a space or a line break.
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

/// Where no unit fits whole: the beginning of the best one. Of fenced code nothing.
pub(super) fn beginning(excerpts: &[Excerpt<'_>], units: &[SummaryUnit], unit: usize, budget: &Budget<'_>) -> String {
    if units[unit].fenced {
        return String::new();
    }
    clip(&text(excerpts, units, &[unit]), budget)
}

/// What stands between two units of one utterance.
fn joint<'t>(text: &str, before: &SummaryUnit, after: &SummaryUnit) -> &'t str {
    let between = text.get(before.range.end..after.range.start);
    let neighbours = between.is_some_and(|between| between.trim().is_empty());
    let lines = between.is_some_and(|between| between.contains('\n'));
    if before.fenced || after.fenced {
        "\n"
    } else if neighbours && lines {
        "\n  "
    } else if neighbours {
        " "
    } else {
        GAP
    }
}

/// Fenced code as it stands; anything else on one line.
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
