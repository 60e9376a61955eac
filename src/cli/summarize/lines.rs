//! Output of a batch on standard output that is no transcripts, such as the state of every transcript.

use std::borrow::Cow;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use super::super::input::{Cutting, Global};
use super::super::report;
use crate::batch::{Batch, Event, Flow, Work};
use crate::console;
use crate::progress::Progress;
use curtail_core::error::{Error, ErrorKind};
use curtail_core::processors::OnSummary;
use curtail_core::visible::printed;

/// Processes every input and writes the results in input order, at least `at_once` records at a time; text for people is made
/// visible. `make` receives the observer that advances the progress display.
pub(super) fn write<W: Work<Out = String>>(
    flags: &Cutting,
    global: &Global,
    (at_once, for_people): (Option<usize>, bool),
    make: impl FnOnce(OnSummary) -> W,
) -> anyhow::Result<ExitCode> {
    let (sources, missing) = flags.input.sources(None)?;
    missing.iter().for_each(report::error);
    let mut status = if missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) };
    let (input_options, on_error) = (flags.input.input_options()?, flags.output.on_error);
    let progress = Arc::new(Progress::new(global.progress_display(true), &sources));
    let counted = Arc::clone(&progress);
    let work = make(OnSummary::new(move |_| counted.summary()));
    let mut stdout = console::transcripts();
    let batch = Batch {
        jobs: global.jobs,
        at_once,
        input_options,
        on_error,
        progress: Arc::clone(&progress),
        ..Batch::default()
    };
    batch.run(sources, &work, |event| {
        let error = match event {
            Event::Done { out, .. } => progress.aside(|| write_all(&mut stdout, out, for_people)).err(),
            Event::Failed(failure) => Some(failure.error.clone()),
            Event::PassedOver(opened) => {
                progress.aside(|| report::passed_over(opened, global));
                None
            }
            Event::Opened(_) | Event::Closed { .. } => None,
        };
        match error {
            None => Flow::Continue,
            Some(error) if error.kind == ErrorKind::BrokenPipe => Flow::Stop,
            Some(error) => {
                progress.aside(|| report::error(&error));
                status = ExitCode::from(2);
                Flow::Continue
            }
        }
    });
    progress.finish();
    Ok(status)
}

fn write_all(out: &mut impl Write, text: &str, for_people: bool) -> Result<(), Error> {
    let text = if for_people { printed(text) } else { Cow::Borrowed(text) };
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| Error::system("stdout", &error))
}
