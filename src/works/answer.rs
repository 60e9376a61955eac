//! Searches transcripts for what a provider's answer means.

use crate::works::check::in_file;
use curtail_core::checks::{Answer, Diagnosis};
use curtail_core::dialects::ReadError;
use curtail_io::batch::{Unit, Work};

/// A search for what `answer` means.
pub(crate) struct Diagnosing {
    /// The answer.
    pub(crate) answer: Answer,
}

impl Work for Diagnosing {
    type Out = Vec<Diagnosis>;

    fn unit(&self, unit: &Unit<'_>, out: &mut Vec<Diagnosis>) -> Result<(), ReadError> {
        // White space contains no transcript.
        if unit.text.trim().is_empty() {
            return Ok(());
        }
        // What is damaged is read around.
        unit.parse()?;
        out.push(match self.answer.diagnose(&unit.opened.reading, unit.text)? {
            Diagnosis::Found { constraint, findings, is_named, profile } => {
                let findings = findings.into_iter().map(|finding| in_file(finding, unit, 0)).collect();
                Diagnosis::Found { constraint, findings, is_named, profile }
            }
            Diagnosis::Named(finding) => Diagnosis::Named(in_file(finding, unit, 0)),
            other => other,
        });
        Ok(())
    }
}
