//! Checks transcripts: texts in, findings out. Repairs them first if that was requested.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::{Unit, Work};
use curtail_core::checks::{
    DUPLICATE_TRANSCRIPT, Detection, Finding, Group, INVALID_JSON, Inspection, Level, Levels, LineIndex, TokenCounts,
    Verdicts, rule_named,
};
use curtail_core::counting::REFUSED;
use curtail_core::dialects::{Dialect, Framing, ReadError, Reading, along_branches, dialect_named, refuse_to_write};
use curtail_core::explain::hunks;
use curtail_core::json::Document;
use curtail_core::pipeline::{Chain, TextCutter, calibrated};
use curtail_core::processors::{Counting, Exempt, Repair, RepairFor, View};
use curtail_core::transcript::{FaultKind, Message, PairingRules, ProviderRules, Transcript};

/// How texts are checked.
pub struct Checking {
    /// How a transcript is examined.
    pub inspection: Inspection,
    /// Whether only what the model still reads is examined.
    pub live: bool,
    /// Which findings are allowed, reported or denied.
    pub levels: Levels,
    /// Counts tokens, if there is a limit on them.
    pub counting: Option<Counting>,
    /// Repairs transcripts before they are examined.
    pub repair: Option<TextRepair>,
}

/// How texts are repaired.
pub struct TextRepair {
    /// How to repair. Findings that are allowed are not repaired.
    pub repair: Repair,
    /// The rules of the provider that the transcript must satisfy, if they are not those of its own format.
    pub profile: Option<PairingRules>,
    /// Whether to return the repaired texts and not only their differences.
    pub write: bool,
}

/// The result of checking some texts of a file.
#[derive(Debug, Default)]
pub struct Checked {
    /// The findings, in order. Byte offsets ignore repairs in earlier texts.
    pub findings: Vec<Finding>,
    /// Fingerprints of transcripts, each with the finding to report if an earlier transcript has the same one.
    pub fingerprints: Vec<(u128, Finding)>,
    /// How many transcripts were examined.
    pub transcripts: usize,
    /// The dialect of the first transcript with messages.
    pub dialect: Option<&'static str>,
    /// How many findings the repair removed.
    pub repaired: usize,
    /// Whether the repair changed anything.
    pub changed: bool,
    /// The repaired texts, if they were requested.
    pub text: String,
    /// Whether one of the texts is not UTF-8, so that they cannot be written back.
    pub is_garbled: bool,
    /// The differences, as the hunks of a unified diff.
    pub diff: String,
    /// By how many bytes the repair made the texts longer.
    pub grown: isize,
    /// The levels for the current file, with its number.
    verdicts: Option<(usize, Verdicts)>,
}

impl Work for Checking {
    type Out = Checked;

    fn unit(&self, unit: &Unit<'_>, out: &mut Checked) -> Result<(), ReadError> {
        let reading = &unit.opened.reading;
        let verdicts = self.verdicts(unit, &mut out.verdicts);
        let found = self.examine(reading, &verdicts, unit.text);
        let dialect = found.as_ref().ok().and_then(|found| found.dialect).and_then(dialect_named);
        if let (Some(_), Some(dialect)) = (&self.repair, dialect) {
            refuse_to_write(dialect, 0)?;
        }
        let repaired = match (&self.repair, &found) {
            (Some(repair), Ok(found)) => self.repaired(repair, &verdicts, found, unit),
            _ => None,
        };
        let text = repaired.as_deref().unwrap_or(unit.text);
        let examined = match (&repaired, found) {
            (Some(text), Ok(before)) => self.examine(reading, &verdicts, text).inspect(|after| {
                out.repaired += before.findings.len().saturating_sub(after.findings.len());
                out.changed = true;
                hunks(unit.text, text, unit.line, &mut out.diff);
            }),
            (_, found) => found,
        };
        let grown = out.grown;
        let moved = |finding: Finding| in_file(finding, unit, grown);
        let done = examined.map(|examined| {
            out.findings.extend(examined.findings.into_iter().map(moved));
            out.fingerprints.extend(examined.fingerprints.into_iter().map(|(print, finding)| (print, moved(finding))));
            out.transcripts += examined.transcripts;
            out.dialect = out.dialect.or(examined.dialect);
        });
        out.grown += text.len().cast_signed() - unit.text.len().cast_signed();
        if self.repair.as_ref().is_some_and(|repair| repair.write) {
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
        out.findings.push(in_file(invalid_json(unit.text, level, &read_error), unit, out.grown));
        Ok(())
    }
}

/// A finding in the text of `unit` with its place in the file, whose earlier texts became `grown` bytes longer.
fn in_file(finding: Finding, unit: &Unit<'_>, grown: isize) -> Finding {
    match unit.row {
        Some(row) => finding.in_row(unit.line, unit.text, &row.to_string()),
        None if unit.opened.rebuilt => finding.in_row(unit.line, "", "in the chat that the patches make"),
        None => finding.moved(unit.line - 1, unit.offset.cast_signed() + grown),
    }
}

/// What was found in one text.
#[derive(Default)]
pub(super) struct Examined {
    pub(super) findings: Vec<Finding>,
    pub(super) fingerprints: Vec<(u128, Finding)>,
    transcripts: usize,
    dialect: Option<&'static str>,
}

impl Checking {
    /// The levels for the file of `unit`. `last` are those of the last unit, with the number of its file.
    pub(super) fn verdicts(&self, unit: &Unit<'_>, last: &mut Option<(usize, Verdicts)>) -> Verdicts {
        let number = unit.opened.number;
        if last.as_ref().is_none_or(|(file, _)| *file != number) {
            *last = None;
        }
        last.get_or_insert_with(|| (number, self.levels.for_path(&unit.opened.source.name))).1.clone()
    }

    /// Examines every transcript of `text`. Lines that are not JSON become findings; the other lines are read without them.
    pub(super) fn examine(&self, reading: &Reading, verdicts: &Verdicts, text: &str) -> Result<Examined, ReadError> {
        let mut examined = Examined::default();
        let read_error = match reading.parse(text) {
            Ok(document) => match document.torn() {
                None => {
                    self.document(reading, verdicts, &document, text, &mut examined)?;
                    return Ok(examined);
                }
                Some(fault) => ReadError::from(*fault),
            },
            Err(read_error) => read_error,
        };
        let level = verdicts.level_of(INVALID_JSON);
        if level == Level::Allow {
            return Err(read_error);
        }
        let (read_errors, rest) = salvage(reading, text, read_error);
        examined.findings.extend(read_errors.iter().map(|read_error| invalid_json(text, level, read_error)));
        if let Some(rest) = &rest
            && let Ok(document) = reading.parse(rest)
        {
            self.document(reading, verdicts, &document, text, &mut examined)?;
        }
        examined.findings.sort_by_key(|finding| finding.at.offset);
        Ok(examined)
    }

    fn document(
        &self,
        reading: &Reading,
        verdicts: &Verdicts,
        document: &Document<'_>,
        text: &str,
        examined: &mut Examined,
    ) -> Result<(), ReadError> {
        let mut lines = None;
        // White space contains no transcript.
        if document.roots().len() == 0 {
            return Ok(());
        }
        for (dialect, transcript) in reading.transcripts_or_none(document)? {
            let start = transcript.layout.span.start;
            let first = examined.findings.len();
            let mut branches = along_branches(dialect, transcript);
            for transcript in &mut branches {
                let detections = self.detections(dialect, transcript, verdicts)?;
                let named = (!transcript.messages.is_empty()).then(|| dialect.name());
                examined.dialect = examined.dialect.or(named);
                // Lines are indexed only for a text that has findings.
                for detection in detections {
                    let lines = lines.get_or_insert_with(|| LineIndex::new(text));
                    examined.findings.push(detection.locate(lines, start).in_dialect(dialect));
                }
            }
            if branches.len() > 1 {
                remove_repeated(&mut examined.findings, first);
            }
            let level = verdicts.level_of(DUPLICATE_TRANSCRIPT);
            if level > Level::Allow && branches.iter().any(|transcript| !transcript.messages.is_empty()) {
                let lines = lines.get_or_insert_with(|| LineIndex::new(text));
                let message = String::from("the transcript has the same messages as an earlier one");
                let finding = Finding::in_text(DUPLICATE_TRANSCRIPT, level, lines, start, message);
                examined.fingerprints.push((fingerprint(dialect, &branches), finding));
            }
            examined.transcripts += 1;
        }
        Ok(())
    }

    fn detections<'a>(
        &self,
        dialect: &dyn Dialect,
        transcript: &mut Transcript<'a>,
        verdicts: &Verdicts,
    ) -> Result<Vec<Detection<'a>>, ReadError> {
        let counting = self.counting.as_ref().map(|counting| calibrated(counting, dialect, transcript)).transpose()?;
        if self.live {
            transcript.keep_live();
        }
        let counts =
            counting.as_ref().map(|counting| token_counts(counting, transcript)).transpose()?.unwrap_or_default();
        Ok(self.inspection.examine(transcript, rules_of_source(dialect), verdicts, || counts))
    }
}

/// The rules of the provider, with those for a log if the dialect is that of one.
pub(crate) fn rules_of_source(dialect: &dyn Dialect) -> ProviderRules {
    let rules = dialect.provider_rules();
    ProviderRules { log: dialect.is_log() || rules.log, ..rules }
}

/// Removes findings from the index `first` on that an earlier branch of the same transcript has as well.
fn remove_repeated(findings: &mut Vec<Finding>, first: usize) {
    let mut seen = Vec::new();
    let of_branches = findings.split_off(first);
    findings.extend(of_branches.into_iter().filter(|finding| {
        let place = (finding.rule.code, finding.at.offset);
        let new = !seen.contains(&place);
        seen.push(place);
        new
    }));
}

fn token_counts(counting: &Counting, transcript: &Transcript<'_>) -> Result<TokenCounts, ReadError> {
    let view = View::of_layout(&transcript.layout, &transcript.messages);
    let messages = view.messages.iter().map(|message| counting.message(message)).collect();
    let offset = transcript.layout.span.start as usize;
    let total = counting.total(&view).map_err(|error| ReadError { offset, what: format!("{REFUSED}: {error}") })?;
    Ok(TokenCounts { outside: counting.outside(&view), messages, total })
}

fn invalid_json(text: &str, level: Level, read_error: &ReadError) -> Finding {
    let offset = u32::try_from(read_error.offset).unwrap_or(u32::MAX);
    Finding::in_text(INVALID_JSON, level, &LineIndex::new(text), offset, read_error.what.clone())
}

/// The lines that are not JSON, and the text with spaces in their place. If every line is JSON by itself, the text's own
/// error is the only one and there is no text to read.
fn salvage(reading: &Reading, text: &str, read_error: ReadError) -> (Vec<ReadError>, Option<String>) {
    if reading.framing != Framing::Lines {
        return (vec![read_error], None);
    }
    let (mut read_errors, mut rest, mut at) = (Vec::new(), String::with_capacity(text.len()), 0);
    for line in text.split_inclusive('\n') {
        match Document::parse_all(line) {
            Ok(_) => rest.push_str(line),
            Err(fault) => {
                let body = line.trim_end_matches(['\n', '\r']).len();
                rest.extend(std::iter::repeat_n(' ', body));
                rest.push_str(&line[body..]);
                read_errors.push(ReadError { offset: at + fault.offset.min(body), what: fault.kind.to_string() });
            }
        }
        at += line.len();
    }
    if read_errors.is_empty() { (vec![read_error], None) } else { (read_errors, Some(rest)) }
}

/// A fingerprint of the messages of a transcript, as values. Among a billion different
/// transcripts, two have the same fingerprint with a probability below 10^-20.
fn fingerprint(dialect: &dyn Dialect, transcripts: &[Transcript<'_>]) -> u128 {
    let messages = || transcripts.iter().flat_map(|transcript| &transcript.messages);
    let salted = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, dialect.name()).hash(&mut hasher);
        for value in messages().filter_map(Message::value) {
            value.content_hash(salt).hash(&mut hasher);
        }
        hasher.finish()
    };
    u128::from(salted(0)) << 64 | u128::from(salted(1))
}

// Repairs.

/// The rules whose findings a repair removes, each with the kind of fault that it reports. `missing-id` and `result-not-first`
/// report faults of several kinds, so they are not in this list.
const REPAIRED: [(&str, FaultKind); 8] = [
    ("P001", FaultKind::OrphanResult),
    ("P002", FaultKind::UnansweredCall),
    ("P003", FaultKind::PendingCall),
    ("P004", FaultKind::DuplicateCallId),
    ("P005", FaultKind::DuplicateResult),
    ("P006", FaultKind::ResultBeforeCall),
    ("P007", FaultKind::DetachedResult),
    ("P008", FaultKind::FamilyMismatch),
];

impl Checking {
    /// The repaired text; `None` if nothing that was found can be repaired.
    fn repaired(&self, repair: &TextRepair, verdicts: &Verdicts, found: &Examined, unit: &Unit<'_>) -> Option<String> {
        let is_pair =
            |finding: &Finding| finding.rule.group() == Group::Pairing || ["S012", "S013"].contains(&finding.rule.code);
        if !found.findings.iter().any(is_pair) {
            return None;
        }
        let exempt = self.exempt(verdicts, found);
        let stages = repair.repair.with_drop().into_iter();
        let chain = stages.fold(Chain::default(), |chain, stage| {
            chain.then(RepairFor { repair: stage, profile: repair.profile, exempt })
        });
        let mut text = String::new();
        let cutter = TextCutter { chain, ..TextCutter::default() };
        let cut = cutter.cut(&unit.opened.reading, unit.text, &mut text).ok()?;
        cut.changed.then_some(text)
    }

    /// The faults to leave unrepaired, because no finding is reported for them.
    fn exempt(&self, verdicts: &Verdicts, found: &Examined) -> Exempt {
        let allows = |code| rule_named(code).is_ok_and(|rule| verdicts.level_of(rule) == Level::Allow);
        let kinds = REPAIRED.iter().filter(|(code, _)| allows(code)).map(|(_, kind)| *kind);
        let profile = self.inspection.profile.map(|profile| profile.provider_rules);
        let of_dialect = || found.dialect.and_then(dialect_named).map(<dyn Dialect>::provider_rules);
        let is_stored = self.inspection.stateful && profile.or_else(of_dialect).is_some_and(|rules| rules.server_state);
        let kinds = kinds.chain(is_stored.then_some(FaultKind::OrphanResult));
        let mut exempt = kinds.fold(Exempt::default(), Exempt::and);
        (exempt.missing_ids, exempt.not_first, exempt.unread) = (allows("P009"), allows("S012"), self.live);
        exempt
    }
}
