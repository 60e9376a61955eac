//! `curtail show`: shows how a transcript is read, to find out why a cut is not as expected.

use std::process::ExitCode;

use crate::console;
use crate::options::choices::{TextOrJson, text_or_json};
use crate::options::global::Global;
use crate::options::input::Input;
use crate::reports::outline::print_outlines;
use crate::reports::remarks;
use crate::works::outline::{Finder, Outliner};
use curtail_core::visible::one_line;
use curtail_io::batch::{Event, Flow};

/// Show how a transcript is read: dialect, messages, parts, pairs
///
/// Use it to find the reason for a cut, byte by byte. `curtail view` shows the conversation itself.
#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    /// Format of the outline
    #[arg(
        long,
        value_parser = text_or_json("A table for each transcript", "One JSON object per transcript"),
        value_name = "FORMAT",
        default_value = "text"
    )]
    output_format: TextOrJson,

    /// Print this message, by its number, or those with this id, byte for byte
    ///
    /// Numbers are those of the table, of `--explain` and of the pointers in summaries: [m57] is message 57.
    #[arg(long, value_name = "N", conflicts_with = "output_format")]
    message: Vec<String>,

    #[command(flatten)]
    input: Input,
}

impl ShowArgs {
    /// Shows every transcript of the input.
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        if !self.message.is_empty() {
            return run_message(&self.message, &self.input, global);
        }
        let (sources, missing) = self.input.sources(None)?;
        let mut failures = remarks::Failures::of_inputs(&sources, &missing, global);
        // `seen` tells whether anything was reported about the current file.
        let mut wrote = Ok(());
        let mut seen = false;
        self.input.batch(global)?.run(sources, &Outliner { live: self.input.live }, |event| {
            failures.note(&event);
            match event {
                Event::Opened(_) => seen = false,
                Event::Failed(_) => seen = true,
                Event::Done { opened, out, .. } => {
                    seen |= !out.is_empty();
                    wrote = print_outlines(self.output_format, opened, std::mem::take(out));
                }
                Event::Closed { opened, complete } if complete && !seen && self.output_format == TextOrJson::Text => {
                    wrote = console::try_out(&format!("{}: contains no transcript\n", one_line(&opened.source.name)));
                }
                Event::PassedOver(_) | Event::Closed { .. } => {}
            }
            if wrote.is_ok() { Flow::Continue } else { Flow::Stop }
        });
        console::closed_is_fine(wrote)?;
        Ok(failures.status)
    }
}

// `curtail show --message`: one message as it is in the file, such as the one that a summary points to.

/// Prints the messages with these numbers or ids, in this order.
fn run_message(wanted: &[String], input: &Input, global: &Global) -> anyhow::Result<ExitCode> {
    let (sources, missing) = input.sources(None)?;
    let mut failures = remarks::Failures::of_inputs(&sources, &missing, global);
    if sources.is_empty() {
        failures.status = ExitCode::from(2);
    }
    let mut wrote = Ok(());
    let mut found = vec![false; wanted.len()];
    let mut longest = None;
    input.batch(global)?.run(sources, &Finder { wanted }, |event| {
        failures.note(&event);
        match event {
            Event::Opened(_) => {
                found.fill(false);
                longest = None;
            }
            Event::Done { out, .. } => {
                for nth in &out.found {
                    found[*nth] = true;
                }
                longest = longest.max(out.longest);
                wrote = console::transcript(&out.text);
            }
            Event::Closed { opened, complete: true } => {
                for (wanted, _) in wanted.iter().zip(&found).filter(|(_, is_found)| !**is_found) {
                    console::error(&format!("{}: {}", opened.source.name, absent(wanted, longest)));
                    failures.status = ExitCode::from(2);
                }
            }
            Event::Closed { .. } | Event::Failed(_) | Event::PassedOver(_) => {}
        }
        if wrote.is_ok() { Flow::Continue } else { Flow::Stop }
    });
    wrote?;
    Ok(failures.status)
}

/// The error of a message that is in no transcript of a file, the longest of which has `longest` messages.
fn absent(wanted: &str, longest: Option<usize>) -> String {
    let Some(last) = longest.and_then(|count| count.checked_sub(1)) else {
        return format!("no message {wanted} found, and no other");
    };
    format!(
        "no message {wanted} found; messages are numbered 0 to {last}, and `curtail show --output-format json` has their ids"
    )
}
