//! Errors that are not resolved: the name of a test that fails, or what a program said.

use super::meaning::means_the_same;
use super::statements::decide_statement;
use super::{Decision, Fate, Wanted};
use crate::verify::fact::Fact;
use crate::verify::languages::LANGUAGES;
use crate::verify::outcomes::{Outcome, outcome_in};
use crate::verify::said::Said;

pub(super) fn decide_error(fact: &Fact, wanted: &Wanted, said: &Said) -> Decision {
    let named = wanted.names.iter().flat_map(|term| said.with(*term)).next_back();
    if let Some(sentence) = named {
        let passed = outcome_in(&sentence.text) == Some(Outcome::Passed) && !LANGUAGES.fail.are_in(&sentence.text);
        let fate = if passed || !means_the_same(fact, &fact.text, sentence) { Fate::Lost } else { Fate::Kept };
        return Decision::by(fate, sentence);
    }
    decide_statement(fact, wanted, said)
}
