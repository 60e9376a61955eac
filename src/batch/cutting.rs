//! The work of every command that cuts: runs each unit through a [`TextCutter`]. The worker that cut a whole file also writes its
//! output file.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::checking::Checking;
use super::{Opened, Unit, Work};
use crate::tables::TableSink;
use curtail_core::checks::{Examination, Finding, LineIndex, Verdicts};
use curtail_core::dialects::{Framing, ReadError, project};
use curtail_core::error::TextPlace;
use curtail_core::explain::Explained;
use curtail_core::json::{Document, Value};
use curtail_core::pipeline::{Cut, Decider, StageCount, TextCutter, Totals, Window};
use curtail_core::steps;
use curtail_core::visible::{self, one_line};
use curtail_io::{ErrorKind, FileError};
use curtail_io::{FileSink, Packing, RowPlace, RowResult, TableFormat, Targets};

/// Cuts units.
pub struct Cutting {
    /// What is done to each.
    pub cutter: TextCutter,
    /// How decisions are explained, if they are.
    pub explain: Option<TextOrJson>,
    /// Where outputs go.
    pub targets: Targets,
    /// The findings for which records are left out, if any are.
    pub drops: Option<DropRecords>,
    /// Whether to find the folder that the session of a transcript worked in.
    pub finds_project: bool,
    /// Whether the program is to end.
    pub stop: Arc<AtomicBool>,
}

/// The output of a file: text, or a table with new texts.
pub enum OutputSink {
    /// A file of text.
    File(Box<FileSink>),
    /// A table.
    Table(Box<TableSink>),
}

impl OutputSink {
    /// Appends the output of a block.
    ///
    /// # Errors
    /// The system refused to write.
    pub fn write(&mut self, out: &CutOutput) -> Result<(), FileError> {
        match self {
            Self::File(sink) => sink.write(&out.output()),
            Self::Table(sink) => sink.write(out.group, &out.rows, &out.output(), out.changed),
        }
    }
}

/// The format of what programs also read: a list, a report, or how decisions are explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextOrJson {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// The result of a block.
#[derive(Debug, Default)]
pub struct CutOutput {
    /// The text after cutting.
    pub text: String,
    /// Records that are not UTF-8 and were kept unchanged, each with its place in `text`.
    pub garbled: Vec<(usize, Vec<u8>)>,
    /// Whether anything changed.
    pub changed: bool,
    /// The explained decisions.
    pub explained: String,
    /// Notes for the user, each with its place.
    pub notes: Vec<(TextPlace, String)>,
    /// Counts before and after.
    pub totals: Totals,
    /// Messages and tokens after every stage.
    pub stages: Vec<StageCount>,
    /// Bytes of text that were read.
    pub bytes: u64,
    /// The windows of a split.
    pub windows: Vec<WindowPlace>,
    /// Whether there are several windows, each in a file of its own.
    pub parts: bool,
    /// The dialect of the first transcript.
    pub dialect: Option<&'static str>,
    /// The folder that the session worked in, as the first record that says so has it, dropped or not.
    pub project: Option<String>,
    /// The result of the current row; `None` if it is one row of text.
    row: Option<RowResult>,
    /// The number of output rows in `rows`.
    pub row_count: usize,
    /// The result of each row, if the input is a table.
    pub rows: Vec<RowResult>,
    /// The row group of these rows, from 1.
    pub group: usize,
    /// Records that were left out.
    pub dropped: Vec<DroppedRecord>,
    /// What was written for records that may be copies of earlier ones.
    held: Vec<Held>,
    /// The levels of findings for the current file, with its number.
    verdicts: Option<(usize, Verdicts)>,
    /// The result of writing, if the block was a whole file with its own output.
    pub written: Option<Result<(), FileError>>,
}

/// A window of a split, and where it is.
#[derive(Debug)]
pub struct WindowPlace {
    /// The window; its byte ranges are relative to its block.
    pub window: Window,
    /// The line of the input on which its record begins, from 1.
    pub line: usize,
    /// The line of the output of its block on which it begins, from 1; in a table, the row.
    pub output_line: usize,
    /// The row of the input, if it is a table.
    pub row: Option<RowPlace>,
}

impl std::ops::Deref for WindowPlace {
    type Target = Window;

    fn deref(&self) -> &Window {
        &self.window
    }
}

impl CutOutput {
    /// How long [`CutOutput::output`] is.
    fn output_len(&self) -> usize {
        self.text.len() + self.garbled.iter().map(|(_, bytes)| bytes.len()).sum::<usize>()
    }

    /// Adds the windows of `unit`.
    fn add_windows(&mut self, unit: &Unit<'_>, windows: Vec<Window>) {
        let last = self.windows.last().map(|last| (last.written.start, last.output_line));
        let (mut at, mut output_line) = last.unwrap_or((0, 1));
        let mut places = unit.locator();
        for window in windows {
            let start = window.written.start;
            let garbled = self.garbled.partition_point(|(place, _)| *place <= at)
                ..self.garbled.partition_point(|(place, _)| *place <= start);
            let garbled_lines = self.garbled[garbled].iter().map(|(_, bytes)| lines(bytes)).sum::<usize>();
            output_line += lines(&self.text.as_bytes()[at..start]) + garbled_lines;
            at = start;
            self.windows.push(WindowPlace { line: places.place(window.offset).line, output_line, row: None, window });
        }
    }

    /// Adds the windows of `unit`, a row.
    fn add_rows(&mut self, unit: &Unit<'_>, row: RowPlace, windows: Vec<Window>) {
        let several = matches!(self.row, Some(RowResult::Rows(_)));
        let output_line = |nth: usize| self.row_count + 1 + if several { nth } else { 0 };
        let places = windows.into_iter().enumerate();
        let places = places.map(|(nth, window)| WindowPlace {
            line: unit.line,
            output_line: output_line(nth),
            row: Some(row),
            window,
        });
        self.windows.extend(places);
    }

    /// The bytes to write.
    #[must_use]
    pub fn output(&self) -> Cow<'_, [u8]> {
        if self.garbled.is_empty() {
            return Cow::Borrowed(self.text.as_bytes());
        }
        let mut output = Vec::with_capacity(self.text.len());
        let mut at = 0;
        for (place, bytes) in &self.garbled {
            output.extend_from_slice(&self.text.as_bytes()[at..*place]);
            output.extend_from_slice(bytes);
            at = *place;
        }
        output.extend_from_slice(&self.text.as_bytes()[at..]);
        Cow::Owned(output)
    }
}

fn lines(text: &[u8]) -> usize {
    steps::count(text.len());
    memchr::memchr_iter(b'\n', text).count()
}

impl Work for Cutting {
    type Out = CutOutput;

    fn unit(&self, unit: &Unit<'_>, out: &mut CutOutput) -> Result<(), ReadError> {
        let examined =
            self.drops.as_ref().map(|drops| drops.examine(unit, out).map(|found| (drops, found))).transpose()?;
        if let Some((drops, found)) = &examined
            && let Some(finding) = found.findings.first()
        {
            out.drop_record(drops, unit, finding);
            return Ok(());
        }
        let before = LengthsBefore { text: out.text.len(), output: out.output_len() };
        let mut cut = self.cutter.cut(&unit.opened.reading, unit.text, &mut out.text)?;
        match unit.row {
            Some(_) if self.cutter.chain.splitting.is_some() && cut.windows.is_empty() => {
                out.text.truncate(before.text);
                out.row = Some(RowResult::Dropped);
            }
            Some(row) => {
                out.note_row(row, unit.text, before.text, &cut)?;
                out.add_rows(unit, row, std::mem::take(&mut cut.windows));
            }
            None => {
                out.parts |= cut.parts && cut.windows.len() > 1;
                out.add_windows(unit, std::mem::take(&mut cut.windows));
            }
        }
        if self.finds_project {
            let document = unit.parse()?;
            out.project = document.roots().find_map(project).map(|text| text.decode().into_owned());
        }
        out.changed |= cut.changed;
        out.bytes += unit.text.len() as u64;
        if let Some((drops, examined)) = &examined {
            let held = Held::new(drops, unit, examined, &mut cut, before, out);
            out.held.extend(held);
        }
        out.totals.add(cut.totals);
        StageCount::add(&mut out.stages, &cut.stages);
        out.dialect = out.dialect.or(cut.dialect);
        let mut places = unit.locator();
        out.notes.extend(cut.notes.into_iter().map(|(offset, note)| (places.place(offset), note)));
        self.write_explained(unit, &cut.explained, &mut out.explained);
        Ok(())
    }

    fn keep(&self, record: &[u8], out: &mut CutOutput) {
        match std::str::from_utf8(record) {
            Ok(text) => out.text.push_str(text),
            Err(_) => out.garbled.push((out.text.len(), record.to_vec())),
        }
    }

    fn report(&self, error: &FileError, out: &mut CutOutput) {
        out.text.push_str(&report(error.place, &error.what));
    }

    fn row(&self, place: RowPlace, result: RowResult, out: &mut CutOutput) {
        out.group = place.group.number();
        out.rows.push(match result {
            RowResult::Text(_) => out.row.take().unwrap_or_else(|| match place.structs {
                true => RowResult::Unchanged,
                false => RowResult::Text(out.output_len()),
            }),
            other => other,
        });
        out.row_count += out.rows.last().map_or(0, RowResult::count);
    }

    fn whole(&self, opened: &Opened, out: &mut CutOutput) {
        // Whether a record is a copy of an earlier one is known only once the results are in order.
        if self.targets.are_files() && self.drops.is_none() {
            out.written = Some(self.write(opened, out));
        }
    }

    fn reset(&self, out: &mut CutOutput) {
        let mut text = std::mem::take(&mut out.text);
        text.clear();
        *out = CutOutput { text, ..CutOutput::default() };
    }
}

impl Cutting {
    fn write(&self, opened: &Opened, out: &CutOutput) -> Result<(), FileError> {
        if !out.changed && self.targets.is_in_place() {
            return Ok(());
        }
        if out.parts {
            return self.write_parts(opened, out);
        }
        if let Some(mut sink) = self.begin(opened)? {
            sink.write(out)?;
            self.commit(opened, sink, out.changed)?;
        }
        Ok(())
    }

    /// Writes every window to a file of its own; none if one cannot be written, or if the program is to end before all are.
    fn write_parts(&self, opened: &Opened, out: &CutOutput) -> Result<(), FileError> {
        if self.targets.is_in_place() {
            let reason =
                format!("becomes {} transcripts, and --in-place writes one; pass --output-dir", out.windows.len());
            return Err(FileError::new(ErrorKind::Usage, &opened.source.name, reason));
        }
        self.refuse_table_name(opened)?;
        let mut files = Vec::with_capacity(out.windows.len());
        for window in &out.windows {
            if self.stop.load(Ordering::Relaxed) {
                let reason = "interrupted before all of its parts were written; none of them is left";
                return Err(FileError::new(ErrorKind::System, &opened.source.name, reason));
            }
            if let Some(mut sink) = self.targets.open_part(&opened.source, window.number)? {
                sink.write(&out.text.as_bytes()[window.written.clone()])?;
                files.push(self.targets.complete(sink, None)?);
            }
        }
        files.into_iter().try_for_each(|file| self.targets.put(file, None))
    }

    /// Begins the output of a file, if it has one of its own.
    ///
    /// # Errors
    /// The system refused to create the file.
    pub fn begin(&self, opened: &Opened) -> Result<Option<OutputSink>, FileError> {
        let Some(table) = &opened.table else {
            self.refuse_table_name(opened)?;
            return Ok(self.targets.open(&opened.source, opened.packing)?.map(|sink| OutputSink::File(Box::new(sink))));
        };
        if let Some(path) = self.targets.path(&opened.source).filter(|_| !self.targets.is_in_place()) {
            refuse_name(&path, table.format())?;
        }
        let sink = self.targets.open(&opened.source, opened.packing)?;
        Ok(sink.map(|sink| TableSink::new(table, sink)).transpose()?.map(|sink| OutputSink::Table(Box::new(sink))))
    }

    /// Refuses the name of a table for text, unless the input has such a name.
    fn refuse_table_name(&self, opened: &Opened) -> Result<(), FileError> {
        let Some(path) = self.targets.path(&opened.source) else { return Ok(()) };
        let extension = lower_extension(&path);
        let is_inputs = opened.source.path.as_deref().is_some_and(|input| lower_extension(input) == extension);
        if is_inputs || !TableFormat::is_extension(&extension) {
            return Ok(());
        }
        let reason = "the output has the format of the input, JSON; name it accordingly";
        Err(FileError::new(ErrorKind::Usage, path.to_string_lossy(), reason))
    }

    /// Completes the output of a file. A file that did not change is not replaced in place, and is copied elsewhere.
    ///
    /// # Errors
    /// The system refused to write; an earlier output is unchanged.
    pub fn commit(&self, opened: &Opened, sink: OutputSink, changed: bool) -> Result<(), FileError> {
        let sink = match sink {
            OutputSink::File(sink) => *sink,
            OutputSink::Table(sink) => sink.finish()?,
        };
        if !changed && self.targets.is_in_place() {
            return Ok(());
        }
        let copy = if changed { None } else { self.targets.copy(&opened.source, opened.packing)? };
        self.targets.commit(copy.unwrap_or(sink), opened.stamp.as_ref())
    }

    fn write_explained(&self, unit: &Unit<'_>, explained: &[(Decider, Explained)], out: &mut String) {
        let Some(format) = self.explain.filter(|_| !explained.is_empty()) else { return };
        let lines = LineIndex::new(unit.text);
        for (decider, decision) in explained {
            let line = decision.offset.map_or(unit.line, |offset| unit.line - 1 + lines.line(offset));
            match format {
                TextOrJson::Text => write_text(unit, decider, line, decision, out),
                TextOrJson::Json => write_json(unit, decider, line, decision, out),
            }
        }
    }
}

/// `chat.jsonl:41: message 3 (tool result of "search"): dropped: outside the last 40 items | 12 results`
fn write_text(unit: &Unit<'_>, decider: &Decider, line: usize, decision: &Explained, out: &mut String) {
    let (name, subject) = (&unit.opened.source.name, decision.subject());
    let mut text = format!("{name}:{line}: {subject}: {}", decision.outcome());
    if !decider.level.is_empty() {
        text += &format!(" [{} at {}]", decider.processor, decider.level);
    }
    if let Some(begins) = decision.subject.as_ref().map(|subject| &subject.begins).filter(|begins| !begins.is_empty()) {
        text += &format!(" | {begins}");
    }
    out.push_str(&one_line(&text));
    out.push('\n');
}

/// The line that is written in place of a record that failed.
fn report(place: Option<TextPlace>, reason: &str) -> String {
    let (line, column) = place.map(|place| (place.line, place.column)).unzip();
    // Strings and numbers cannot fail to be written as JSON.
    format!("!{}\n", serde_json::to_string(&Reported { line, column, reason }).unwrap_or_default())
}

/// The JSON of a line in place of a record that failed. The line begins with `!`, which no record does.
#[derive(serde::Serialize)]
struct Reported<'e> {
    line: Option<usize>,
    column: Option<usize>,
    reason: &'e str,
}

#[derive(serde::Serialize)]
struct DecisionLine<'t> {
    file: &'t str,
    line: usize,
    #[serde(flatten)]
    decision: &'t Explained,
    #[serde(flatten)]
    decider: &'t Decider,
}

fn write_json(unit: &Unit<'_>, decider: &Decider, line: usize, decision: &Explained, out: &mut String) {
    let described = DecisionLine { file: &unit.opened.source.name, line, decision, decider };
    // Strings and numbers cannot fail to be written as JSON.
    out.push_str(&visible::json(&serde_json::to_string(&described).unwrap_or_default()));
    out.push('\n');
}

// The result of a row of a table: a new text, elements of its list, or several rows.

impl CutOutput {
    /// Records the result of the row at `place`, whose text was `old` and is now the text from `before` on. The windows of one
    /// transcript become separate rows, whose texts follow each other.
    ///
    /// # Errors
    /// A list of structs changed in a way that is not dropping elements.
    fn note_row(&mut self, place: RowPlace, old: &str, before: usize, cut: &Cut) -> Result<(), ReadError> {
        let windows = windows_of_one(&cut.windows);
        if !place.structs && windows.is_empty() {
            return Ok(());
        }
        let new = self.text.split_off(before);
        let texts = windows.iter().map(|window| &new[window.start - before..window.end - before]);
        if place.structs {
            self.row = Some(match windows.is_empty() {
                true => kept_elements(old, &new, cut.changed)?,
                false => RowResult::Rows(texts.map(|text| kept_elements(old, text, true)).collect::<Result<_, _>>()?),
            });
            return Ok(());
        }
        let mut rows = Vec::with_capacity(windows.len());
        for text in texts {
            self.text.push_str(text);
            rows.push(RowResult::Text(self.output_len()));
        }
        self.row = Some(RowResult::Rows(rows));
        Ok(())
    }
}

/// Where the windows of a transcript were written, if there are several and it is the only transcript of its row.
fn windows_of_one(windows: &[Window]) -> Vec<Range<usize>> {
    match windows {
        [first, _, ..] if first.count == windows.len() => windows.iter().map(|window| window.written.clone()).collect(),
        _ => Vec::new(),
    }
}

/// Which elements of the list `before` are kept in `after`.
///
/// # Errors
/// A message was changed or added, which a column of structs cannot hold.
fn kept_elements(before: &str, after: &str, changed: bool) -> Result<RowResult, ReadError> {
    if !changed {
        return Ok(RowResult::Unchanged);
    }
    let refuse = || ReadError {
        offset: 0,
        what: String::from(
            "this cut changes or adds messages, and a column of structs can only lose some; convert the column to JSON text first",
        ),
    };
    let (old, new) = (Document::parse_all(before)?, Document::parse_all(after)?);
    let (old, new) = (old.roots().flat_map(Value::items), new.roots().flat_map(Value::items));
    let mut wanted = new.map(Value::raw).peekable();
    let kept = old.map(|element| wanted.next_if(|next| *next == element.raw()).is_some()).collect();
    match wanted.next() {
        None => Ok(RowResult::Elements(kept)),
        Some(_) => Err(refuse()),
    }
}

/// Refuses an output name whose extension does not fit a table of this format.
fn refuse_name(path: &Path, format: TableFormat) -> Result<(), FileError> {
    let name = format.name();
    let reason = if Packing::of_name(path) != Packing::Plain {
        format!("this format ({name}) is compressed inside; name the output without this ending")
    } else if format.fits(&lower_extension(path)) {
        return Ok(());
    } else {
        format!("the output has the format of the input, {name}; name it accordingly")
    };
    Err(FileError::new(ErrorKind::Usage, path.to_string_lossy(), reason))
}

/// The extension of a file's name, in lower case; empty without one.
fn lower_extension(path: &Path) -> String {
    path.extension().and_then(OsStr::to_str).unwrap_or_default().to_ascii_lowercase()
}

// Records that are dropped because of findings. Most rules need only the record itself; copies are found once the results are
// in order.

/// Which findings drop a record, and what happens to it.
pub struct DropRecords {
    /// The check whose findings drop a record.
    pub checking: Checking,
    /// Whether dropped records are written elsewhere.
    pub keeps_records: bool,
    /// Whether the reason is written in place of each, for a program that awaits an answer.
    pub reports: bool,
}

/// A record that was dropped.
#[derive(Debug)]
pub struct DroppedRecord {
    /// Where it begins.
    pub place: TextPlace,
    /// The finding.
    pub reason: String,
    /// Its text, if it is written elsewhere.
    pub record: Option<String>,
}

/// A record that may be a copy of an earlier one, and where its output is.
#[derive(Debug)]
struct Held {
    fingerprints: Vec<u128>,
    dropped: DroppedRecord,
    /// The text to write in its place if it is a copy.
    report: String,
    /// Its bytes in the text.
    text: Range<usize>,
    /// Its bytes in the output, which also has records that are not UTF-8.
    output: Range<usize>,
    /// Its row, in a table.
    row: Option<usize>,
    totals: Totals,
    stages: Vec<StageCount>,
}

impl DropRecords {
    /// Examines `unit`.
    ///
    /// # Errors
    /// It is not a record, or not a transcript.
    fn examine(&self, unit: &Unit<'_>, out: &mut CutOutput) -> Result<Examination, ReadError> {
        if unit.row.is_none() && unit.opened.reading.framing != Framing::Records {
            let framing = unit.opened.reading.framing.name();
            let reason =
                format!("--drop-records-with takes records, one per line, and this file has the framing `{framing}`");
            return Err(ReadError { offset: 0, what: reason });
        }
        let verdicts = self.checking.verdicts(unit, &mut out.verdicts);
        self.checking.inspection.examine(&unit.opened.reading, &verdicts, unit.text)
    }

    /// The record `unit`, dropped because of `finding`, and the text to write in its place.
    fn dropped(&self, unit: &Unit<'_>, finding: &Finding) -> (DroppedRecord, String) {
        let place = TextPlace { line: unit.line, column: 1 };
        let reason = format!("{} {}: {}", finding.rule.code, finding.rule.name, finding.message);
        let report = if self.reports { report(Some(place), &reason) } else { String::new() };
        (DroppedRecord { place, reason, record: self.keeps_records.then(|| unit.text.to_owned()) }, report)
    }
}

/// The lengths of the text and of the output of a block before a record was added.
#[derive(Clone, Copy)]
struct LengthsBefore {
    text: usize,
    output: usize,
}

impl Held {
    /// The record `unit` with its result `cut`, which was written after the lengths `before`; `None` without a fingerprint.
    fn new(
        drops: &DropRecords,
        unit: &Unit<'_>,
        examined: &Examination,
        cut: &mut Cut,
        before: LengthsBefore,
        out: &CutOutput,
    ) -> Option<Self> {
        let (_, first) = examined.fingerprints.first()?;
        let (dropped, report) = drops.dropped(unit, first);
        Some(Self {
            fingerprints: examined.fingerprints.iter().map(|(print, _)| *print).collect(),
            dropped,
            report,
            text: before.text..out.text.len(),
            output: before.output..out.output_len(),
            row: unit.row.map(|_| out.rows.len()),
            totals: std::mem::take(&mut cut.totals),
            stages: std::mem::take(&mut cut.stages),
        })
    }
}

impl CutOutput {
    /// Drops the record `unit` because of `finding`.
    fn drop_record(&mut self, drops: &DropRecords, unit: &Unit<'_>, finding: &Finding) {
        let (dropped, report) = drops.dropped(unit, finding);
        self.dropped.push(dropped);
        self.text.push_str(&report);
        self.row = unit.row.map(|_| RowResult::Dropped);
        self.changed = true;
        self.bytes += unit.text.len() as u64;
    }

    /// Drops the records whose fingerprints are all in `seen`, and adds the fingerprints of the others to it.
    pub fn drop_copies(&mut self, seen: &mut HashSet<u128>) {
        let (mut in_text, mut in_output) = (Replacements::default(), Replacements::default());
        for held in std::mem::take(&mut self.held) {
            let mut is_new = false;
            held.fingerprints.iter().for_each(|print| is_new |= seen.insert(*print));
            if is_new {
                self.totals.add(held.totals);
                StageCount::add(&mut self.stages, &held.stages);
                continue;
            }
            self.changed = true;
            self.dropped.push(held.dropped);
            in_text.add(held.text, held.report.clone());
            in_output.add(held.output, held.report);
            if let Some(row) = held.row.and_then(|row| self.rows.get_mut(row)) {
                self.row_count -= row.count();
                *row = RowResult::Dropped;
            }
        }
        if in_text.ranges.is_empty() {
            return;
        }
        self.dropped.sort_by_key(|dropped| dropped.place.line);
        self.text = in_text.apply(&self.text);
        self.garbled.iter_mut().for_each(|(place, _)| *place = in_text.moved(*place));
        for row in &mut self.rows {
            if let RowResult::Text(end) = row {
                *end = in_output.moved(*end);
            }
        }
    }
}

/// Ascending ranges of a text, each with what is written in its place.
#[derive(Default)]
struct Replacements {
    ranges: Vec<(Range<usize>, String)>,
    /// By how many bytes the replacements up to each make the text longer.
    sums: Vec<isize>,
}

impl Replacements {
    fn add(&mut self, range: Range<usize>, text: String) {
        let grown = text.len().cast_signed() - range.len().cast_signed();
        self.sums.push(self.sums.last().unwrap_or(&0) + grown);
        self.ranges.push((range, text));
    }

    /// Where the offset `at` is after the replacements.
    fn moved(&self, at: usize) -> usize {
        let count = self.ranges.partition_point(|(range, _)| range.end <= at);
        at.saturating_add_signed(count.checked_sub(1).map_or(0, |last| self.sums[last]))
    }

    fn apply(&self, text: &str) -> String {
        let mut result = String::with_capacity(text.len());
        let mut at = 0;
        for (range, replacement) in &self.ranges {
            result.push_str(&text[at..range.start]);
            result.push_str(replacement);
            at = range.end;
        }
        result.push_str(&text[at..]);
        result
    }
}
