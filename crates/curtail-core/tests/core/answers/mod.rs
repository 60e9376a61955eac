//! Answers of providers, as people quote them: each known one, wrapped and damaged, leads to its rule and to the line of its
//! fault.

mod places;
mod providers;
mod sentences;

use curtail_core::checks::{Answer, Diagnosis, Finding};

use crate::checked::detected;

/// The findings of an answer in `text`.
fn found(answer: &str, text: &str) -> Vec<Finding> {
    let reading = detected(text);
    match Answer::read(answer).diagnose(&reading, text) {
        Ok(Diagnosis::Found { findings, .. }) => findings,
        Ok(Diagnosis::Named(finding)) => vec![finding],
        _ => Vec::new(),
    }
}
