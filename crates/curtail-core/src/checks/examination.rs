//! The examination of a text: its transcripts and the lines that are not JSON. There is no other way to check, neither for the
//! library nor for a program.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::whole_answers::WholeAnswers;
use super::{DUPLICATE_TRANSCRIPT, Detection, Finding, INVALID_JSON, Inspection, Level, LineIndex, Verdicts};
use crate::dialects::{Dialect, Framing, ReadError, Reading, along_branches, rebuilt};
use crate::json::{Document, Span, Text, Value};
use crate::transcript::{Message, ProviderRules, Transcript};

/// What was found in a text.
#[derive(Debug, Clone, Default)]
pub struct Examination {
    /// The findings, in the order of the text.
    pub findings: Vec<Finding>,
    /// A fingerprint of each transcript, with the finding to report if an earlier transcript has the same one; none if that
    /// finding is allowed.
    pub fingerprints: Vec<(u128, Finding)>,
    /// How many transcripts were examined.
    pub transcripts: usize,
    /// The dialect of the first transcript with messages.
    pub dialect: Option<&'static str>,
}

impl Inspection {
    /// Examines every transcript of `text`, which is one unit: a record, or a whole file in the other framings. Lines that are
    /// not JSON become findings; the other lines are read without them.
    ///
    /// # Errors
    /// Something is not a transcript, or its tokens cannot be counted. Invalid JSON is an error if that finding is allowed.
    pub fn examine(&self, reading: &Reading, verdicts: &Verdicts, text: &str) -> Result<Examination, ReadError> {
        let mut examination = Examination::default();
        let mut is_torn = false;
        let read_error = match reading.parse(text) {
            Ok(document) => match document.incomplete_end() {
                None => {
                    examination.findings.extend(joined_records(reading, verdicts, &document, text));
                    self.document(reading, verdicts, &document, text, &mut examination)?;
                    examination.findings.sort_by_key(|finding| finding.at.offset);
                    return Ok(examination);
                }
                Some(fault) => {
                    is_torn = reading.transcripts_or_none(&document).is_ok();
                    ReadError::from(*fault)
                }
            },
            Err(read_error) => read_error,
        };
        let level = verdicts.level_of(INVALID_JSON);
        if level == Level::Allow {
            return Err(read_error);
        }
        let (read_errors, rest) = salvage(reading, text, read_error);
        let lines = LineIndex::new(text);
        let unreadable = read_errors.iter().map(|read_error| Finding::unreadable(&lines, level, read_error));
        examination.findings.extend(unreadable);
        if let Some(rest) = &rest
            && let Ok(document) = reading.parse(rest)
        {
            examination.findings.extend(joined_records(reading, verdicts, &document, text));
            let read = examination.findings.len();
            self.document(reading, verdicts, &document, text, &mut examination)?;
            // Nothing is written of a text that cannot be read, unless it is a log whose last line is incomplete.
            if !is_torn {
                let found = examination.findings.split_off(read);
                examination.findings.extend(found.into_iter().map(Finding::beside_invalid_json));
            }
        }
        examination.findings.sort_by_key(|finding| finding.at.offset);
        Ok(examination)
    }

    fn document(
        &self,
        reading: &Reading,
        verdicts: &Verdicts,
        document: &Document<'_>,
        text: &str,
        examination: &mut Examination,
    ) -> Result<(), ReadError> {
        // White space contains no transcript.
        if document.roots().len() == 0 {
            return Ok(());
        }
        // Lines are indexed only for a text that has findings.
        let lines = LazyCell::new(|| LineIndex::new(text));
        for (dialect, transcript) in reading.transcripts_or_none(document)? {
            let start = transcript.layout.span.start;
            let answers = WholeAnswers::of(&transcript.layout);
            let mut branches = along_branches(dialect, transcript);
            let mut findings = Vec::new();
            for transcript in &mut branches {
                for detection in self.detections(dialect, transcript, verdicts)? {
                    let is_mended = answers.allow(&detection);
                    let finding = detection.locate(&lines, start).in_dialect(dialect);
                    let whole = format_args!(", but leaves the answers of a row whole");
                    findings.push(if is_mended { finding } else { finding.left_by_fix(whole) });
                }
            }
            if branches.len() > 1 {
                remove_repeated(&mut findings);
            }
            examination.findings.append(&mut findings);
            examination.transcripts += 1;
            if branches.iter().any(|transcript| !transcript.messages.is_empty()) {
                examination.dialect.get_or_insert(dialect.name());
                let level = verdicts.level_of(DUPLICATE_TRANSCRIPT);
                if level > Level::Allow {
                    examination.fingerprints.push((fingerprint(dialect, &branches), copied(level, &lines, start)));
                }
            }
        }
        Ok(())
    }

    /// What the rules detect in one transcript, in the order of its text. Its own format is that of `dialect`.
    ///
    /// # Errors
    /// There is a budget, and its tokens cannot be counted.
    pub fn detections<'a>(
        &self,
        dialect: &dyn Dialect,
        transcript: &mut Transcript<'a>,
        verdicts: &Verdicts,
    ) -> Result<Vec<Detection<'a>>, ReadError> {
        // The usage by which a counting is calibrated may be in messages that are no longer live.
        let budget = self.budget.as_ref().map(|budget| budget.calibrated(dialect, transcript)).transpose()?;
        if self.live {
            transcript.keep_live();
        }
        let counts = budget.as_ref().map(|budget| budget.counts(transcript)).transpose()?;
        let limit = self.budget.as_ref().map(|budget| budget.max_tokens);
        let provider_rules = of_log(dialect, transcript);
        // What the provider has of a conversation is not in the request that continues it.
        let holder = transcript.layout.holder();
        let stateful = self.stateful || holder.is_some_and(|record| dialect.log().set_aside(record).is_some());
        Ok(self.detect(transcript, provider_rules, stateful, verdicts, counts.as_ref().zip(limit)))
    }

    /// Examines every transcript of `text`, a whole file, as [`examine`](Self::examine) examines each unit of it. What cannot be
    /// read is a finding.
    #[must_use]
    pub fn examine_all(&self, reading: &Reading, verdicts: &Verdicts, text: &str) -> Vec<Finding> {
        let chat = if reading.framing == Framing::Lines { rebuilt(text) } else { None };
        match chat {
            Some(Ok(chat)) => return self.examine_rebuilt(reading, verdicts, &chat),
            // Its place is in the log, whose patches make no chat.
            Some(Err(read_error)) => return or_unreadable(Err(read_error), verdicts, text).findings,
            None => {}
        }
        let units = match reading.framing {
            Framing::Records => text.split_inclusive('\n').collect(),
            Framing::Lines | Framing::Document => vec![text],
        };
        let mut findings = Vec::new();
        let mut prints = HashSet::new();
        let mut offset = 0;
        for (line, unit) in units.into_iter().enumerate() {
            let Examination { findings: mut found, fingerprints, .. } =
                or_unreadable(self.examine(reading, verdicts, unit), verdicts, unit);
            let copies = fingerprints.into_iter().filter(|(print, _)| !prints.insert(*print));
            found.extend(copies.map(|(_, finding)| finding));
            findings.extend(found.into_iter().map(|finding| finding.moved(line, offset)));
            offset += unit.len().cast_signed();
        }
        findings
    }

    /// Examines the chat that a log of patches makes. The log does not contain it, so its findings are in the first line.
    fn examine_rebuilt(&self, reading: &Reading, verdicts: &Verdicts, chat: &str) -> Vec<Finding> {
        let document = Reading { framing: Framing::Document, ..reading.clone() };
        let found = or_unreadable(self.examine(&document, verdicts, chat), verdicts, chat).findings;
        found.into_iter().map(|finding| finding.in_made_text(&[], REBUILT)).collect()
    }
}

/// The rules of a format, with the provider that the log names last: that is where it will be sent.
fn of_log(dialect: &dyn Dialect, transcript: &Transcript<'_>) -> ProviderRules {
    let rules = dialect.provider_rules();
    if !rules.provider.is_empty() {
        return rules;
    }
    let named = transcript.layout.elements.iter().rev().find_map(|&item| dialect.log().provider(item));
    ProviderRules { provider: named.unwrap_or(""), converts: true, ..rules }
}

/// Where a finding is in a log of patches, which does not contain its chat.
pub const REBUILT: &str = "in the chat that the patches make";

/// The examination, or that `text` cannot be read.
fn or_unreadable(examined: Result<Examination, ReadError>, verdicts: &Verdicts, text: &str) -> Examination {
    examined.unwrap_or_else(|read_error| {
        let level = verdicts.level_of(INVALID_JSON).max(Level::Warn);
        Examination { findings: vec![Finding::invalid_json(text, level, &read_error)], ..Examination::default() }
    })
}

/// Removes the findings of a transcript that an earlier branch of it has as well.
fn remove_repeated(findings: &mut Vec<Finding>) {
    let mut seen = HashSet::new();
    findings.retain(|found| seen.insert((found.rule.code, found.at.offset, found.message.clone())));
}

/// `text`, or what of it is JSON: with spaces in place of the lines that are not.
pub(super) fn readable<'t>(reading: &Reading, text: &'t str) -> Option<Cow<'t, str>> {
    let is_whole = reading.parse(text).is_ok_and(|document| document.incomplete_end().is_none());
    if is_whole {
        return Some(Cow::Borrowed(text));
    }
    let unread = ReadError { offset: 0, what: String::new() };
    salvage(reading, text, unread).1.map(Cow::Owned)
}

/// The lines that are not JSON, and the text with spaces in their place. If every line is JSON by itself, the text's own
/// error is the only one and there is no text to read.
fn salvage(reading: &Reading, text: &str, read_error: ReadError) -> (Vec<ReadError>, Option<String>) {
    if reading.framing != Framing::Lines {
        return (vec![read_error], None);
    }
    let mut read_errors = Vec::new();
    let mut rest = String::with_capacity(text.len());
    let mut at = 0;
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

/// The lines of a log on which a record follows another one. Some programs read them, and others stop there: it is a warning.
fn joined_records(reading: &Reading, verdicts: &Verdicts, document: &Document<'_>, text: &str) -> Vec<Finding> {
    let level = verdicts.of_warning(verdicts.level_of(INVALID_JSON));
    if reading.framing != Framing::Lines || level == Level::Allow {
        return Vec::new();
    }
    let spans: Vec<Span> = document.roots().map(Value::span).collect();
    // A value that is printed over several lines is no line of a log.
    let pairs =
        spans.windows(2).filter(|pair| !text[pair[0].start as usize..pair[1].start as usize].contains(['\n', '\r']));
    let mut findings: Vec<Finding> = Vec::new();
    let mut lines = None;
    for second in pairs.map(|pair| pair[1]) {
        let lines = lines.get_or_insert_with(|| LineIndex::new(text));
        let what = String::from("a second record begins on this line, where programs that read lines may stop");
        let finding = Finding::in_text(INVALID_JSON, level, lines, second.start, what);
        if findings.last().is_none_or(|last| last.at.line < finding.at.line) {
            findings.push(finding);
        }
    }
    findings
}

/// What to report of the transcript at `start` if an earlier one has the same messages.
fn copied(level: Level, lines: &LineIndex<'_>, start: u32) -> Finding {
    let message = String::from("the transcript has the same messages as an earlier one");
    Finding::in_text(DUPLICATE_TRANSCRIPT, level, lines, start, message)
}

/// A fingerprint of a transcript: its messages and what is read beside them, as values. Among a billion different
/// transcripts, two have the same fingerprint with a probability below 10^-20.
fn fingerprint(dialect: &dyn Dialect, branches: &[Transcript<'_>]) -> u128 {
    u128::from(salted_hash(0, dialect, branches)) << 64 | u128::from(salted_hash(1, dialect, branches))
}

fn salted_hash(salt: u8, dialect: &dyn Dialect, branches: &[Transcript<'_>]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (salt, dialect.name()).hash(&mut hasher);
    for Transcript { layout, messages } in branches {
        for value in messages.iter().filter_map(Message::value) {
            value.content_hash(salt).hash(&mut hasher);
        }
        for text in layout.outside() {
            text_hash(salt, text).hash(&mut hasher);
        }
        for answer in &layout.answers.branches {
            let values: Vec<u64> = answer.iter().map(|value| value.content_hash(salt)).collect();
            values.hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// A hash of a text; of JSON in it, such as the definition of a tool, as a value.
fn text_hash(salt: u8, text: &Text<'_>) -> u64 {
    if let Text::Json(json) = text
        && let Ok(document) = Document::parse(json)
        && let Some(value) = document.roots().next()
    {
        return value.content_hash(salt);
    }
    let mut hasher = DefaultHasher::new();
    (salt, text.decode()).hash(&mut hasher);
    hasher.finish()
}
