//! The work of every command that cuts: runs each unit through a [`TextCutter`]. The worker that cut a whole file also writes its
//! output file.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::options::choices::TextOrJson;
use crate::works::check::Checking;
use crate::works::copies::{DropRecords, Held};
use crate::works::explained::with_lines;
use crate::works::failed_record::report;
use crate::works::mark::mark_of;
use crate::works::output::{CutOutput, OutputSink};
use crate::works::rows::RowText;
use crate::works::windows::WindowPlace;
use curtail_core::dialects::{ReadError, project};
use curtail_core::pipeline::{Cut, StageCount, TextCutter};
use curtail_io::batch::{Opened, Unit, Work};
use curtail_io::{ErrorKind, FileError, Packing, RowPlace, RowResult, TableFormat, Targets};

/// Cuts units.
pub(crate) struct Cutting {
    /// What is done to each.
    pub(crate) cutter: TextCutter,
    /// How decisions are explained, if they are.
    pub(crate) explain: Option<TextOrJson>,
    /// Where outputs go.
    pub(crate) targets: Targets,
    /// The findings for which records are left out, if any are.
    pub(crate) drops: Option<DropRecords>,
    /// The check of a repair: the rules by which its result is examined.
    pub(crate) verifies: Option<Checking>,
    /// Whether to find the folder that the session of a transcript worked in.
    pub(crate) finds_project: bool,
    /// Whether to find the member by which the dialect of a file was detected.
    pub(crate) verbose: bool,
    /// Whether the program is to end.
    pub(crate) stop: Arc<AtomicBool>,
}

impl Work for Cutting {
    type Out = CutOutput;

    fn unit(&self, unit: &Unit<'_>, out: &mut CutOutput) -> Result<(), ReadError> {
        unit.refuse_export()?;
        let examined = match &self.drops {
            Some(drops) => Some((drops, drops.examine(unit, &mut out.drops.verdicts)?)),
            None => None,
        };
        if let Some((drops, found)) = &examined
            && let Some(finding) = found.findings.first()
        {
            out.drop_record(drops, unit, finding);
            return Ok(());
        }
        let before = out.lengths();
        let mut cut = self.cutter.cut(&unit.opened.reading, unit.text, &mut out.text.valid)?;
        if let Some(checking) = self.verifies.as_ref().filter(|_| cut.changed)
            && let Err(error) = checking.verify(unit, &out.text.valid[before.text..])
        {
            out.text.valid.truncate(before.text);
            return Err(error);
        }
        self.place(unit, before.text, &mut cut, out)?;
        if self.finds_project {
            let document = unit.parse()?;
            out.project = document.roots().find_map(project).map(|text| text.decode().into_owned());
        }
        out.changed |= cut.changed;
        out.bytes += unit.text.len() as u64;
        let after = out.lengths();
        let held =
            examined.as_ref().and_then(|(drops, examined)| Held::new(drops, unit, examined, &mut cut, (before, after)));
        out.totals.add(cut.totals);
        StageCount::add(&mut out.stages, &cut.stages);
        out.dialect = out.dialect.or(cut.dialect);
        if self.verbose && out.mark.is_none() {
            out.mark = mark_of(unit);
        }
        let mut places = unit.locator();
        let notes = cut.notes.into_iter().map(|(offset, note)| (places.place(offset), note));
        let explained = if self.explain.is_some() { with_lines(unit, cut.explained) } else { Vec::new() };
        match held {
            // What is said of a copy is dropped with it.
            Some(mut held) => {
                held.notes = notes.collect();
                held.explained = explained;
                out.drops.held.push(held);
            }
            None => {
                out.notes.extend(notes);
                out.explained.extend(explained);
            }
        }
        Ok(())
    }

    fn keep(&self, record: &[u8], out: &mut CutOutput) {
        out.text.keep(record);
    }

    fn report(&self, error: &FileError, out: &mut CutOutput) {
        out.text.valid.push_str(&report(error.place, &error.what));
    }

    fn lost(&self, out: &mut CutOutput) {
        out.changed = true;
    }

    fn row(&self, place: RowPlace, result: RowResult, out: &mut CutOutput) {
        out.rows.end(place, result, &mut out.text);
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
    /// Puts the text behind `before`, which a unit became, in its place: a row, or windows of text.
    fn place(&self, unit: &Unit<'_>, before: usize, cut: &mut Cut, out: &mut CutOutput) -> Result<(), ReadError> {
        match unit.row {
            Some(_) if self.cutter.chain.splitting.is_some() && cut.windows.is_empty() => {
                out.text.valid.truncate(before);
                out.rows.drop_current();
            }
            Some(row) => {
                let shape = unit.opened.table.as_deref().and_then(curtail_io::Table::shape);
                let text = RowText { old: unit.text, before, cut };
                out.rows.cut_current(shape, &text, &mut out.text)?;
                out.windows.add(unit, Some(out.rows.current_place(row)), std::mem::take(&mut cut.windows));
            }
            None => {
                out.windows.are_parts |= cut.parts && cut.windows.len() > 1;
                out.windows.add(unit, None, std::mem::take(&mut cut.windows));
            }
        }
        Ok(())
    }

    fn write(&self, opened: &Opened, out: &CutOutput) -> Result<(), FileError> {
        if !out.changed && self.targets.is_in_place() {
            return Ok(());
        }
        if out.windows.are_parts {
            return self.write_parts(opened, out);
        }
        if let Some(mut sink) = self.begin(opened)? {
            sink.write(out)?;
            self.commit(opened, sink, out.changed)?;
        }
        Ok(())
    }

    /// Writes every window to a file of its own. The files get their names after all are complete: if one cannot be written, or the
    /// program is interrupted before, none is left.
    fn write_parts(&self, opened: &Opened, out: &CutOutput) -> Result<(), FileError> {
        if self.targets.is_in_place() {
            let reason = format!(
                "becomes {} transcripts, and --in-place writes one; pass --output-dir",
                out.windows.places.len()
            );
            return Err(FileError::new(ErrorKind::Usage, &opened.source.name, reason));
        }
        self.refuse_table_name(opened)?;
        let mut files = Vec::with_capacity(out.windows.places.len());
        for WindowPlace { window, .. } in &out.windows.places {
            if self.stop.load(Ordering::Relaxed) {
                let reason = "interrupted before all of its parts were written; none of them is left";
                return Err(FileError::new(ErrorKind::System, &opened.source.name, reason));
            }
            if let Some(mut sink) = self.targets.open_part(&opened.source, window.number)? {
                sink.write(&out.text.valid.as_bytes()[window.written.clone()])?;
                files.push(self.targets.complete(sink, None)?);
            }
        }
        files.into_iter().try_for_each(|file| self.targets.put(file, None))
    }

    /// Begins the output of a file, if it has one of its own.
    ///
    /// # Errors
    /// The system refused to create the file.
    pub(crate) fn begin(&self, opened: &Opened) -> Result<Option<OutputSink>, FileError> {
        let Some(table) = &opened.table else {
            self.refuse_table_name(opened)?;
            return Ok(self.targets.open(&opened.source, opened.packing)?.map(|sink| OutputSink::File(Box::new(sink))));
        };
        if let Some(path) = self.targets.path(&opened.source).filter(|_| !self.targets.is_in_place()) {
            refuse_name(&path, table.format())?;
        }
        let sink = self.targets.open(&opened.source, opened.packing)?;
        Ok(sink.map(|sink| Arc::clone(table).sink(sink)).transpose()?.map(OutputSink::Table))
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
    pub(crate) fn commit(&self, opened: &Opened, sink: OutputSink, changed: bool) -> Result<(), FileError> {
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
