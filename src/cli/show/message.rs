//! `curtail show --message`: one message as it is in the file, such as the one that a summary points to.

use std::process::ExitCode;

use super::super::input::{Global, Input};
use super::super::report;
use crate::batch::{Batch, Event, Flow, OnError, Unit, Work};
use crate::console;
use curtail_core::dialects::ReadError;
use curtail_core::transcript::Message;

/// Prints the messages with these numbers or ids, in this order.
pub(super) fn run(wanted: &[String], input: &Input, global: &Global) -> anyhow::Result<ExitCode> {
    let (sources, missing) = input.sources(None)?;
    missing.iter().for_each(report::error);
    let mut status = if missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) };
    let batch =
        Batch { jobs: global.jobs, input_options: input.input_options()?, on_error: OnError::Skip, ..Batch::default() };
    let mut wrote = Ok(());
    batch.run(sources, &Finder { wanted }, |event| match event {
        Event::Done { opened, out, .. } => {
            for absent in &out.absent {
                report::error(&format!("{}: {absent}", opened.source.name));
                status = ExitCode::from(2);
            }
            wrote = console::transcript(&out.text);
            if wrote.is_ok() { Flow::Continue } else { Flow::Stop }
        }
        Event::Failed(failure) => {
            report::error(&failure.error);
            status = ExitCode::from(2);
            Flow::Continue
        }
        Event::PassedOver(opened) => {
            report::passed_over(opened, global);
            Flow::Continue
        }
        Event::Opened(_) | Event::Closed { .. } => Flow::Continue,
    });
    wrote?;
    Ok(status)
}

/// Finds messages by number or id.
struct Finder<'f> {
    wanted: &'f [String],
}

/// What was found, and what was not.
#[derive(Default)]
struct Found {
    text: String,
    absent: Vec<String>,
}

impl Work for Finder<'_> {
    type Out = Found;

    fn unit(&self, unit: &Unit<'_>, out: &mut Found) -> Result<(), ReadError> {
        let document = unit.parse()?;
        for (_, transcript) in unit.transcripts(&document)? {
            let messages = &transcript.messages;
            for wanted in self.wanted {
                match find_message(messages, wanted).and_then(Message::value) {
                    Some(value) => {
                        out.text.push_str(value.raw());
                        out.text.push('\n');
                    }
                    None => out.absent.push(absent(wanted, messages.len())),
                }
            }
        }
        Ok(())
    }
}

fn find_message<'m, 'a>(messages: &'m [Message<'a>], wanted: &str) -> Option<&'m Message<'a>> {
    let by_number = wanted.parse().ok().and_then(|number: usize| messages.get(number));
    by_number.or_else(|| messages.iter().find(|message| message.id.as_ref().is_some_and(|id| id.is(wanted))))
}

fn absent(wanted: &str, count: usize) -> String {
    let last = count.saturating_sub(1);
    format!(
        "no message {wanted} found; messages are numbered 0 to {last}, and `curtail show` lists them with their ids"
    )
}
