//! What the library shows: cutting, policies, reading and checking, with types of its own over the crate's machinery, so that
//! the machinery can change.

mod cutter;
mod error;
mod policy;
mod reading;

use crate::checks::{Finding, INVALID_JSON, Inspection, Level, Levels, LineIndex, TokenCounts};
use crate::dialects::{Framing, ReadError, Reading, along_branches, detect_framing};

pub use cutter::{Cutter, CutterBuilder, Explanation, Report};
pub use error::{Error, Place};
pub use policy::{Action, LimitPolicy, Policy, ToolPolicy, WindowPolicy};
pub use reading::{MessageView, PartKind, PartView, Source, TranscriptView};

/// What is wrong with the transcripts of `text`, in the order of the text, by the requirements of their own format and with the
/// default levels of the rules. A text that cannot be read has one finding, which says so.
///
/// ```
/// use curtail_core::{Level, check};
///
/// let chat = concat!(
///     "{\"role\":\"user\",\"content\":\"When does it leave?\"}\n",
///     "{\"role\":\"tool\",\"tool_call_id\":\"call-1\",\"content\":\"05:12\"}\n",
///     "{\"role\":\"assistant\",\"content\":\"At 05:12.\"}\n",
/// );
/// let findings = check(chat);
/// let orphan = &findings[0];
/// assert_eq!((orphan.rule.name, orphan.rule.code), ("orphan-result", "P001"));
/// assert_eq!((orphan.at.line, orphan.at.message, orphan.level), (2, Some(1), Level::Deny));
/// assert_eq!(orphan.at.pointer.as_deref(), Some(""));
/// assert_eq!(check("[")[0].rule.name, "invalid-json");
/// ```
#[must_use]
pub fn check(text: &str) -> Vec<Finding> {
    let framing = detect_framing(text, None);
    let mut reading = Reading { framing, dialect: None, named: false, messages_key: None };
    reading.dialect = reading.dialect_of_head(text);
    let lines = LineIndex::new(text);
    findings(&reading, text, &lines).unwrap_or_else(|ReadError { offset, what }| {
        let offset = u32::try_from(offset).unwrap_or(u32::MAX);
        vec![Finding::in_text(INVALID_JSON, Level::Deny, &lines, offset, what)]
    })
}

fn findings(reading: &Reading, text: &str, lines: &LineIndex<'_>) -> Result<Vec<Finding>, ReadError> {
    let document = reading.parse(text)?;
    let verdicts = Levels::default().for_path("");
    let mut findings = Vec::new();
    for (dialect, transcript) in reading.transcripts(&document)? {
        let rules = dialect.provider_rules();
        // A finding without a value is at the transcript, or in a record at the record.
        let start = match reading.framing {
            Framing::Records => transcript.layout.record.start,
            Framing::Lines | Framing::Document => transcript.layout.span.start,
        };
        for transcript in along_branches(dialect, transcript) {
            let found = Inspection::default().examine(&transcript, rules, &verdicts, TokenCounts::default);
            let found = found.into_iter().map(|found| found.locate(lines, start).in_dialect(dialect));
            let known = |finding: &Finding| {
                findings
                    .iter()
                    .any(|old: &Finding| (old.rule.code, old.at.offset) == (finding.rule.code, finding.at.offset))
            };
            let new: Vec<Finding> = found.filter(|finding| !known(finding)).collect();
            findings.extend(new);
        }
    }
    Ok(findings)
}
