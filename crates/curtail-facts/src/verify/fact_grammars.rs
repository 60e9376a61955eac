//! In which languages facts are stated: what is too short to tell is taken to be in those of the statements around it.

use super::fact::{Fact, Kind};
use super::grammar::Grammar;

/// Bytes of statements by which their language is recognized.
const SAMPLE: usize = 8000;

/// Finds the languages of facts.
pub(super) fn find_grammars<const N: usize>(lists: [&mut [Fact]; N]) {
    let around = grammar_around(lists.iter().flat_map(|facts| facts.iter()));
    for fact in lists.into_iter().flatten() {
        fact.grammar = Grammar::of(&fact.text, around);
    }
}

/// The languages in which most of the statements among `facts` are.
fn grammar_around<'f>(facts: impl Iterator<Item = &'f Fact>) -> Grammar {
    let mut sample = String::new();
    for fact in facts.filter(|fact| is_statement(fact.kind)) {
        if sample.len() >= SAMPLE {
            break;
        }
        sample.push_str(&fact.text[..fact.text.floor_char_boundary(SAMPLE)]);
        sample.push('\n');
    }
    Grammar::of(&sample, Grammar::default())
}

const fn is_statement(kind: Kind) -> bool {
    matches!(kind, Kind::Rule | Kind::Decision | Kind::Todo | Kind::Task | Kind::Instruction)
}
