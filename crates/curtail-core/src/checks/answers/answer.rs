//! An answer, as it was quoted.

use super::diagnosis::Diagnosis;
use super::naming::Naming;
use super::quoted::Quoted;
use super::search::Search;
use super::wording::{nearest, rows};
use crate::checks::Constraint;
use crate::dialects::{ReadError, Reading};

/// The answer of a provider, as it was quoted.
///
/// ```
/// use curtail_core::checks::{Answer, Diagnosis};
/// use curtail_core::dialects::{Framing, Reading};
///
/// let answer = Answer::read("400 {\"error\":{\"message\":\"No tool call found for function call output with call_id call_7.\"}}");
/// let input = concat!(
///     "{\"type\":\"message\",\"role\":\"user\",\"content\":\"When does it leave?\"}\n",
///     "{\"type\":\"function_call_output\",\"call_id\":\"call_7\",\"output\":\"05:12\"}\n",
/// );
/// let diagnosis = answer.diagnose(&Reading::new(Framing::Lines, None, None)?, input)?;
/// let Diagnosis::Found { findings, .. } = diagnosis else { unreachable!() };
/// assert_eq!((findings[0].rule.name, findings[0].at.line), ("orphan-result", 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Answer {
    quoted: Quoted,
    /// The rows of the table whose words it contains.
    rows: Vec<&'static Constraint>,
    naming: Naming,
}

impl Answer {
    /// Reads what somebody quoted: a sentence, an error of a program, or the JSON of an answer, however often it is wrapped.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let quoted = Quoted::new(text);
        let (rows, place) = rows(&quoted);
        let naming = Naming::of(&quoted, rows.first().map_or("", |row| row.words), place);
        Self { quoted, rows, naming }
    }

    /// Why no file is needed, if the answer is not about a transcript.
    #[must_use]
    pub fn unrelated(&self) -> Option<Diagnosis> {
        match self.rows.first() {
            Some(row) if self.rows.iter().all(|row| row.rule.is_none()) => Some(Diagnosis::Unrelated(row)),
            None if !self.naming.names_a_place() => Some(Diagnosis::Unknown(nearest(&self.quoted, 3))),
            _ => None,
        }
    }

    /// Finds what it means in `text`, a transcript or a log. Of an answer that nobody has described, the place that it names
    /// says what it means, if a rule finds a fault there.
    ///
    /// # Errors
    /// Something is not a transcript.
    pub fn diagnose(&self, reading: &Reading, text: &str) -> Result<Diagnosis, ReadError> {
        if let Some(diagnosis) = self.unrelated() {
            return Ok(diagnosis);
        }
        let found = Search::new(&self.rows, &self.naming, reading, text).run()?;
        Ok(found.unwrap_or_else(|| Diagnosis::Unknown(nearest(&self.quoted, 3))))
    }
}
