//! Cuts at fixed places: of a conversation that grows, the earlier output is a prefix of the later one until the next step.

use curtail_core::dialects::Framing;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{ClearResults, StaleResults};
use proptest::prelude::*;

use super::cases::tokenizer;
use super::check::{cut_with, read_seen};
use super::generated::speller;
use crate::spell::{Turn, sound_script};

/// What a chain makes of a log, after each of its lines.
fn outputs(dialect: &str, items: &[String], chain: fn() -> Chain) -> Result<Vec<String>, TestCaseError> {
    let lines: Vec<String> = items.iter().map(|item| format!("{item}\n")).collect();
    (1..=lines.len()).map(|count| cut_with(chain(), Some(dialect), Framing::Lines, &lines[..count].concat())).collect()
}

/// How often an output is no prefix of the next one.
fn breaks(outputs: &[String]) -> usize {
    outputs.windows(2).filter(|pair| !pair[1].starts_with(&pair[0])).count()
}

/// Whether what is read of each line stays as it is when the next one is there.
fn grows(dialect: &str, items: &[String]) -> bool {
    let read = |count: usize| read_seen(Some(dialect), Framing::Lines, &items[..count].join("\n")).positional.len();
    (1..items.len()).all(|count| read(count + 1) <= read(count) + 1)
}

/// The same without reasoning: signed thoughts behind a change leave when their round ends, which is a break of its own.
fn thoughtless(turn: Turn) -> Turn {
    match turn {
        Turn::Assistant { text, calls, .. } => Turn::Assistant { reasoning: None, text, calls },
        other => other,
    }
}

fn clearing(step: usize) -> Chain {
    let clear = ClearResults::new(StaleResults::AllButLast(3), tokenizer());
    Chain::default().then(ClearResults { step, placeholder: String::from("-"), ..clear })
}

proptest! {
    #![proptest_config(crate::properties::property(96))]

    /// Clearing in steps changes what was sent before once a step, and not with every result.
    #[test]
    fn clearing_in_steps_changes_the_prefix_once_a_step(script in sound_script(), speller in speller()) {
        let script: Vec<Turn> = script.into_iter().map(thoughtless).collect();
        let items = (speller.1)(&script);
        let plain = outputs(speller.0, &items, Chain::default)?;
        // Formats whose later lines change earlier ones, or whose results are told apart by later ones, have no prefix to keep.
        prop_assume!(breaks(&plain) == 0 && grows(speller.0, &items));
        let results = script.iter().filter(|turn| matches!(turn, Turn::Result { .. })).count();
        let outputs = outputs(speller.0, &items, || clearing(3))?;
        let stepped = breaks(&outputs);
        prop_assert!(stepped <= results.saturating_sub(1) / 3, "{}: {stepped} breaks for {results} results\n{}", speller.0, outputs.join("\n\n"));
    }
}
