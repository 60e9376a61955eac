//! Checks transcripts: texts in, findings out. Repairs them first if that was requested.

use std::collections::HashMap;
use std::path::Path;

use super::mark::mark_of;
use crate::options::config::ConfigIndex;
use curtail_core::checks::{
    ALL, Examination, Finding, Fix, INVALID_JSON, Inspection, Level, Levels, Verdicts, rule_named,
};
use curtail_core::dialects::{Dialect, ReadError, dialect_named, refuse_to_write};
use curtail_core::diff::hunks;
use curtail_core::pipeline::{Chain, TextCutter};
use curtail_core::processors::{Exempt, Repair, RepairFor};
use curtail_core::transcript::{FaultKind, PairingRules};
use curtail_io::batch::{Unit, Work};
use curtail_io::{ErrorKind, FileError};

/// How texts are checked.
pub(crate) struct Checking {
    /// How a transcript is examined.
    pub(crate) inspection: Inspection,
    /// Which findings are allowed, reported or denied.
    pub(crate) levels: Levels,
    /// Repairs transcripts before they are examined.
    pub(crate) repair: Option<TextRepair>,
    /// Whether to find the member by which the dialect of a file was detected.
    pub(crate) verbose: bool,
}

/// How texts are repaired.
pub(crate) struct TextRepair {
    /// How to repair. Findings that are allowed are not repaired.
    pub(crate) repair: Repair,
    /// The rules of the provider that the transcript must satisfy, if they are not those of its own format.
    pub(crate) profile: Option<PairingRules>,
    /// Whether to mend as well what changes the meaning of a transcript.
    pub(crate) with_unsafe: bool,
    /// Whether to return the repaired texts and not only their differences.
    pub(crate) write: bool,
}

/// The result of checking some texts of a file.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// The findings, in order. Their byte offsets are those after the repairs of earlier texts of the block.
    pub(crate) findings: Vec<Finding>,
    /// Fingerprints of transcripts, each with the finding to report if an earlier transcript has the same one.
    pub(crate) fingerprints: Vec<(u128, Finding)>,
    /// How many transcripts were examined.
    pub(crate) transcripts: usize,
    /// The dialect of the first transcript with messages.
    pub(crate) dialect: Option<&'static str>,
    /// The member by which it was detected, if [`Checking::verbose`].
    pub(crate) mark: Option<String>,
    /// How many findings the repair removed.
    pub(crate) repaired: usize,
    /// The findings in the file as it is, which hold if the repaired texts are not written; only if these were requested.
    pub(crate) as_it_is: Vec<Finding>,
    /// Why transcripts were not repaired.
    pub(crate) unrepaired: Vec<FileError>,
    /// Whether the repair changed anything.
    pub(crate) changed: bool,
    /// The repaired texts, if they were requested.
    pub(crate) text: String,
    /// Whether one of the texts is not UTF-8, so that they cannot be written back.
    pub(crate) is_garbled: bool,
    /// The differences, as the hunks of a unified diff.
    pub(crate) diff: String,
    /// By how many bytes the repair made the texts longer.
    pub(crate) grown: isize,
    /// The levels for the current file, with its number.
    verdicts: Option<(usize, Verdicts)>,
}

/// Checks each file by the configuration that applies to it.
pub(crate) struct CheckingByFile {
    /// What is done by each configuration.
    pub(crate) each: Vec<Checking>,
    /// Which of these applies to each file.
    pub(crate) index: ConfigIndex,
}

impl CheckingByFile {
    /// What is done to the file at `path`, or to standard input.
    pub(crate) fn of(&self, path: Option<&Path>) -> &Checking {
        &self.each[self.index.of(path)]
    }
}

impl Work for CheckingByFile {
    type Out = Checked;

    fn unit(&self, unit: &Unit<'_>, out: &mut Checked) -> Result<(), ReadError> {
        self.of(unit.opened.source.path.as_deref()).unit(unit, out)
    }

    fn garbled(&self, unit: &Unit<'_>, read_error: ReadError, out: &mut Checked) -> Result<(), ReadError> {
        self.of(unit.opened.source.path.as_deref()).garbled(unit, read_error, out)
    }
}

impl Work for Checking {
    type Out = Checked;

    fn unit(&self, unit: &Unit<'_>, out: &mut Checked) -> Result<(), ReadError> {
        let reading = &unit.opened.reading;
        let verdicts = self.verdicts(unit, &mut out.verdicts);
        let found = self.inspection.examine(reading, &verdicts, unit.text);
        let dialect = found.as_ref().ok().and_then(|found| found.dialect).and_then(dialect_named);
        if let (Some(_), Some(dialect)) = (&self.repair, dialect) {
            refuse_to_write(dialect, 0)?;
        }
        let mut as_it_is = None;
        let (repaired, examined) = match (&self.repair, found) {
            (Some(repair), Ok(before)) => match self.repaired(repair, &verdicts, &before, unit) {
                Ok(Some((text, after))) => {
                    out.repaired += before.findings.len().saturating_sub(after.findings.len());
                    as_it_is = Some(repair.left(before, "the file was not written").findings);
                    out.changed = true;
                    hunks(unit.text, &text, unit.line, &mut out.diff);
                    (Some(text), Ok(after))
                }
                Ok(None) => (None, Ok(before)),
                Err(read_error) => {
                    out.unrepaired.push(not_repaired(unit, &read_error));
                    (None, Ok(repair.left(before, &read_error.what)))
                }
            },
            (_, found) => (None, found),
        };
        let text = repaired.as_deref().unwrap_or(unit.text);
        let grown = out.grown;
        let writes = self.repair.as_ref().is_some_and(|repair| repair.write);
        let done = examined.map(|examined| {
            if writes {
                let as_it_is = as_it_is.unwrap_or_else(|| examined.findings.clone());
                out.as_it_is.extend(as_it_is.into_iter().map(|finding| in_file(finding, unit, 0)));
            }
            out.findings.extend(examined.findings.into_iter().map(|finding| in_file(finding, unit, grown)));
            let fingerprints = examined.fingerprints.into_iter();
            out.fingerprints.extend(fingerprints.map(|(print, finding)| (print, in_file(finding, unit, grown))));
            out.transcripts += examined.transcripts;
            out.dialect = out.dialect.or(examined.dialect);
            if self.verbose && out.mark.is_none() {
                out.mark = mark_of(unit);
            }
        });
        out.grown += text.len().cast_signed() - unit.text.len().cast_signed();
        if writes {
            out.text.push_str(text);
        }
        done
    }

    fn garbled(&self, unit: &Unit<'_>, read_error: ReadError, out: &mut Checked) -> Result<(), ReadError> {
        let level = self.verdicts(unit, &mut out.verdicts).level_of(INVALID_JSON);
        if level == Level::Allow {
            return Err(read_error);
        }
        // A text that is not UTF-8 cannot be written back unchanged.
        out.is_garbled = true;
        let finding = Finding::invalid_json(unit.text, level, &read_error);
        out.as_it_is.push(in_file(finding.clone(), unit, 0));
        out.findings.push(in_file(finding, unit, out.grown));
        Ok(())
    }
}

impl Checking {
    /// Examines `repaired`, what a repair made of the text of `unit`.
    ///
    /// # Errors
    /// A pair is still broken, or the repair made another fault that is denied.
    pub(crate) fn verify(&self, unit: &Unit<'_>, repaired: &str) -> Result<(), ReadError> {
        let reading = &unit.opened.reading;
        let verdicts = self.levels.for_path(&unit.opened.source.name);
        // What is not a transcript at all has no faults that could be compared.
        let Ok(before) = self.inspection.examine(reading, &verdicts, unit.text) else { return Ok(()) };
        let after = self.inspection.examine(reading, &verdicts, repaired)?;
        refuse_new_faults(&before, &after)?;
        let mut denied = after.findings.iter().filter(|finding| finding.level == Level::Deny);
        denied.find(|finding| matches!(finding.rule.fix, Fix::Pairs(_))).map_or(Ok(()), |left| {
            let what = format!("the repair leaves {}: {} ({})", left.rule.code, left.message, left.rule.name);
            Err(ReadError { offset: 0, what })
        })
    }
}

/// Refuses a repair that makes a fault which is denied and was not there.
fn refuse_new_faults(before: &Examination, after: &Examination) -> Result<(), ReadError> {
    let before = denied_by_rule(before);
    let count = denied_by_rule(after);
    let mut denied = after.findings.iter().filter(|finding| finding.level == Level::Deny);
    let made = denied.find(|finding| count.get(finding.rule.code) > before.get(finding.rule.code));
    made.map_or(Ok(()), |made| {
        let what = format!(
            "a repair would make another fault: {} ({}: {}); repair this transcript by hand",
            made.message, made.rule.code, made.rule.name
        );
        Err(ReadError { offset: 0, what })
    })
}

impl TextRepair {
    /// What was found in a transcript that could not be repaired: the findings say why.
    fn left(&self, mut found: Examination, why: &str) -> Examination {
        for finding in &mut found.findings {
            if finding.fix != Fix::No && (finding.fix != Fix::Unsafe || self.with_unsafe) {
                finding.fix = Fix::No;
                finding.help = format!("not repaired: {why}").into();
            }
        }
        found
    }
}

/// Why the transcript of `unit` could not be repaired.
fn not_repaired(unit: &Unit<'_>, read_error: &ReadError) -> FileError {
    let place = unit.locator().place(read_error.offset);
    let what = format!("not repaired: {}", read_error.what);
    FileError::new(ErrorKind::Content, &unit.opened.source.name, what).at(place)
}

/// How many denied findings there are of each rule.
fn denied_by_rule(examined: &Examination) -> HashMap<&'static str, usize> {
    let mut counts = HashMap::new();
    for finding in examined.findings.iter().filter(|finding| finding.level == Level::Deny) {
        *counts.entry(finding.rule.code).or_default() += 1;
    }
    counts
}

/// A finding in the text of `unit` with its place in the file, whose earlier texts became `grown` bytes longer.
pub(super) fn in_file(finding: Finding, unit: &Unit<'_>, grown: isize) -> Finding {
    match unit.row {
        Some(row) => finding.in_row(unit.line, unit.text, &row.to_string()),
        None => match unit.opened.made() {
            Some(made) => finding.in_made_text(&unit.opened.parts, made),
            None => finding.moved(unit.line - 1, unit.offset.cast_signed() + grown),
        },
    }
}

impl Checking {
    /// The levels for the file of `unit`. `last` are those of the last unit, with the number of its file.
    pub(crate) fn verdicts(&self, unit: &Unit<'_>, last: &mut Option<(usize, Verdicts)>) -> Verdicts {
        let number = unit.opened.number;
        if last.as_ref().is_none_or(|(file, _)| *file != number) {
            *last = None;
        }
        last.get_or_insert_with(|| (number, self.levels.for_path(&unit.opened.source.name))).1.clone()
    }
}

// Repairs.

impl Checking {
    /// The repaired text, and what is found in it; `None` if nothing that was found can be repaired.
    ///
    /// # Errors
    /// The transcript cannot be cut safely, or a repair would make another fault.
    fn repaired(
        &self,
        repair: &TextRepair,
        verdicts: &Verdicts,
        found: &Examination,
        unit: &Unit<'_>,
    ) -> Result<Option<(String, Examination)>, ReadError> {
        let reading = &unit.opened.reading;
        let paired = self.paired(repair, verdicts, found, unit)?;
        let text = paired.as_deref().unwrap_or(unit.text);
        let mends_part = found.findings.iter().any(|finding| matches!(finding.fix, Fix::Part | Fix::Unsafe));
        // Without its pairs, a transcript can have other faults.
        if paired.is_none() && !mends_part {
            return Ok(None);
        }
        let mended = self.inspection.mend(reading, verdicts, text, repair.with_unsafe)?;
        let Some(text) = mended.or(paired) else { return Ok(None) };
        let after = self.inspection.examine(reading, verdicts, &text)?;
        refuse_new_faults(found, &after)?;
        Ok(Some((text, after)))
    }

    /// The text with whole pairs; `None` if no pair is broken.
    fn paired(
        &self,
        repair: &TextRepair,
        verdicts: &Verdicts,
        found: &Examination,
        unit: &Unit<'_>,
    ) -> Result<Option<String>, ReadError> {
        if !found.findings.iter().any(|finding| matches!(finding.fix, Fix::Pairs(_))) {
            return Ok(None);
        }
        let exempt = self.exempt(verdicts, found);
        let stages = repair.repair.with_drop().into_iter();
        let chain = stages.fold(Chain::default(), |chain, stage| {
            chain.then(RepairFor { repair: stage, profile: repair.profile, exempt })
        });
        let mut text = String::new();
        let cutter = TextCutter { chain, ..TextCutter::default() };
        let cut = cutter.cut(&unit.opened.reading, unit.text, &mut text)?;
        Ok(cut.changed.then_some(text))
    }

    /// The faults of pairs to leave unrepaired, because no finding is reported for them.
    fn exempt(&self, verdicts: &Verdicts, found: &Examination) -> Exempt {
        let kinds =
            ALL.iter().filter(|rule| verdicts.level_of(rule) == Level::Allow).filter_map(|rule| match rule.fix {
                Fix::Pairs(kind) => kind,
                _ => None,
            });
        let profile = self.inspection.profile.map(|profile| profile.provider_rules);
        let rules = profile.or_else(|| found.dialect.and_then(dialect_named).map(<dyn Dialect>::provider_rules));
        let is_stored = self.inspection.stateful && rules.is_some_and(|rules| rules.server_state);
        let kinds = kinds.chain(is_stored.then_some(FaultKind::OrphanResult));
        let mut exempt = kinds.fold(Exempt::default(), Exempt::and);
        exempt.missing_ids = allows(verdicts, "P009");
        exempt.not_first = allows(verdicts, "S012");
        exempt.unread = self.inspection.live;
        exempt
    }
}

fn allows(verdicts: &Verdicts, code: &str) -> bool {
    rule_named(code).is_ok_and(|rule| verdicts.level_of(rule) == Level::Allow)
}
