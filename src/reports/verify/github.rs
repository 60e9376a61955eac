//! The report of `verify` as workflow commands, which GitHub shows beside the lines of a change.

use std::fmt::Write as _;

use super::{described, reason, shortened};
use crate::options::verify::VerifyOptions;
use crate::reports::findings::{data, property};
use crate::works::verdict::Failing;
use crate::works::verify::Verified;
use curtail_facts::verify::JudgedFact;

/// Losses that are shown beside the lines of a file, at most.
const ANNOTATIONS: usize = 50;

/// Workflow commands: an error for each loss of a comparison that failed, otherwise a warning.
pub(crate) fn workflow_commands(all: &[Verified], options: &VerifyOptions) -> String {
    let mut text = String::new();
    for verified in all {
        let failing = Failing::all(verified, options);
        let losses = verified.comparison.losses();
        for judged in losses.iter().take(ANNOTATIONS) {
            text += &annotation(verified, judged, &failing);
        }
        let file = property(&verified.before.file);
        if let Some(more @ 1..) = losses.len().checked_sub(ANNOTATIONS) {
            let _ =
                writeln!(text, "::notice file={file},title=verify::… and {more} more (--output-format json lists all)");
        }
        for one in &failing {
            let _ = writeln!(text, "::error file={file},title=verify::{}", data(&reason(one)));
        }
    }
    text
}

fn annotation(verified: &Verified, judged: &JudgedFact, failing: &[Failing]) -> String {
    let fails = failing.iter().any(|one| match one {
        Failing::TooFew { .. } => true,
        Failing::Required { kind, .. } => *kind == judged.fact.kind,
        Failing::Unsound(_) => false,
    });
    let level = if fails { "error" } else { "warning" };
    let file = property(&verified.before.file);
    let line = judged.fact.message.and_then(|at| verified.lines.get(at)).copied().unwrap_or(1);
    let title = property(&format!("lost {}", judged.fact.kind.name()));
    let near = judged.near.as_ref().map_or_else(String::new, |near| format!("\nAFTER says: {}", shortened(near)));
    let message = data(&format!("{}{near}", described(judged)));
    format!("::{level} file={file},line={line},title={title}::{message}\n")
}
