//! Output other than transcripts: the text of each transcript on standard output, in input order.

use std::borrow::Cow;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use crate::console;
use crate::options::cut::CutFlags;
use crate::options::global::Global;
use crate::process::end_summarizers_first;
use crate::reports::progress::{Progress, Show};
use crate::reports::remarks;
use curtail_core::dialects::{Dialect, ReadError};
use curtail_core::processors::OnSummary;
use curtail_core::transcript::Transcript;
use curtail_core::visible::{one_line, printed};
use curtail_io::batch::{Batch, Event, Flow, OnError, Unit, Work};
use curtail_io::{ErrorKind, FileError};

/// How texts are made and written.
pub(crate) struct TextOutput {
    /// Minimum number of records in progress, as in [`Batch::at_once`].
    pub(crate) at_once: Option<usize>,
    /// Whether people read the texts, so that control characters must be made visible.
    pub(crate) for_people: bool,
    /// Whether a transcript that fails drops the texts of those before it in its record.
    pub(crate) whole_records: bool,
}

/// A transcript of the input.
pub(crate) struct TranscriptAt<'u, 't> {
    pub(crate) dialect: &'u dyn Dialect,
    pub(crate) transcript: &'u Transcript<'t>,
    /// Its file and line, for people.
    pub(crate) place: String,
    /// Is told of every summary.
    pub(crate) on_summary: &'u OnSummary,
}

struct Texts<T> {
    text: T,
    whole_records: bool,
    /// Whether only what the model still reads is shown to `text`.
    live: bool,
    on_summary: OnSummary,
}

impl<T: Fn(&TranscriptAt<'_, '_>) -> Result<String, String> + Sync> Work for Texts<T> {
    type Out = String;

    fn unit(&self, unit: &Unit<'_>, out: &mut String) -> Result<(), ReadError> {
        let document = unit.parse()?;
        let mut places = unit.locator();
        let before = out.len();
        for (dialect, mut transcript) in unit.writable_transcripts(&document)? {
            if self.live {
                transcript.keep_live();
            }
            let offset = transcript.layout.span.start as usize;
            let place = format!("{}:{}", one_line(&unit.opened.source.name), places.place(offset).line);
            let transcript = &transcript;
            let on_summary = &self.on_summary;
            match (self.text)(&TranscriptAt { dialect, transcript, place, on_summary }) {
                Ok(text) => out.push_str(&text),
                Err(reason) => {
                    out.truncate(if self.whole_records { before } else { out.len() });
                    return Err(ReadError { offset, what: reason });
                }
            }
        }
        Ok(())
    }
}

/// Makes the `text` of every transcript and writes it.
pub(crate) fn write_texts(
    flags: &CutFlags,
    global: &Global,
    TextOutput { at_once, for_people, whole_records }: TextOutput,
    text: impl Fn(&TranscriptAt<'_, '_>) -> Result<String, String> + Sync,
) -> anyhow::Result<ExitCode> {
    end_summarizers_first()?;
    let (sources, missing) = flags.input.sources(None)?;
    let progress = Arc::new(Progress::new(Show::chosen(global, true), &sources));
    let mut failures = remarks::Failures::of_inputs(&sources, &missing, global).beside(&progress);
    let summaries = Arc::clone(&progress);
    let on_summary = OnSummary::new(move |_| summaries.summary());
    let work = Texts { text, whole_records, live: flags.input.live, on_summary };
    let mut stdout = console::transcripts();
    let on_error = flags.output.on_error;
    let batch =
        Batch { at_once, on_error, progress: Some(Arc::<Progress>::clone(&progress)), ..flags.input.batch(global)? };
    batch.run(sources, &work, |event| {
        match &event {
            Event::Failed(failure) if on_error == OnError::Skip && failure.record.is_some() && !failure.is_loss => {
                failures.note_dropped(&failure.error);
            }
            event => failures.note(event),
        }
        let Event::Done { out, .. } = event else { return Flow::Continue };
        let Err(error) = progress.aside(|| write_all(&mut stdout, out, for_people)) else { return Flow::Continue };
        if error.kind != ErrorKind::BrokenPipe {
            progress.aside(|| console::error(&error));
            failures.status = ExitCode::from(2);
        }
        Flow::Stop
    });
    progress.finish();
    Ok(failures.status)
}

fn write_all(out: &mut impl Write, text: &str, for_people: bool) -> Result<(), FileError> {
    let text = if for_people { printed(text) } else { Cow::Borrowed(text) };
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| FileError::system("standard output", &error))
}
