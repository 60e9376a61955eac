//! `--dry-run`: what would be summarized, and what would be sent for it.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use super::super::input::Input;
use crate::batch::{Batch, Event, Flow, Trouble, Unit, Wish, Work};
use crate::error::{Error, Kind};
use crate::io::{Wanted, find};
use crate::processors::RollingSummary;
use crate::summarizers::{Budget, Request};
use crate::transcript::Transcript;

/// Writes, for every summary that is due, what would be sent, where to, and how many tokens that is.
pub(super) fn run(input: &Input, summary: &RollingSummary) -> anyhow::Result<ExitCode> {
    write(input, &Requests { summary })
}

struct Requests<'s> {
    summary: &'s RollingSummary,
}

impl Work for Requests<'_> {
    type Out = String;

    fn unit(&self, unit: &Unit<'_>, out: &mut String) -> Result<(), Trouble> {
        let document = unit.read()?;
        for (_, transcript) in unit.transcripts(&document)? {
            let line = unit.place(transcript.span.start as usize).line;
            self.transcript(&format!("{}:{line}", unit.opened.source.name), &transcript, out);
        }
        Ok(())
    }
}

impl Requests<'_> {
    fn transcript(&self, place: &str, transcript: &Transcript<'_>, out: &mut String) {
        let (summary, messages) = (self.summary, &transcript.messages);
        let outlook = summary.outlook(messages, None);
        let count = |text: &str| summary.tokenizer.count(text);
        let budget = Budget { tokens: summary.tokens, count: &count };
        let due = summary.due(&outlook);
        if due.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{place}: nothing to summarize, {} interactions", outlook.seen());
        }
        for span in due {
            let told = summary.told(messages, &outlook, span);
            let (name, words) = (summary.summarizer.name(), told.iter().map(|said| count(&said.text)).sum::<usize>());
            let range = format!("{place}: {name} summarizes {} to {}", span.start, span.end);
            let _ = match summary.summarizer.request(&told, &budget) {
                None => writeln!(out, "{range}, {words} tokens, and sends nothing"),
                Some(Request { to, body }) => {
                    writeln!(out, "{range}, {words} tokens, and sends {} tokens to {to}:\n{body}", count(&body))
                }
            };
        }
    }
}

/// Runs `work` over the input and writes what comes of it, in order.
pub(super) fn write<W: Work<Out = String>>(input: &Input, work: &W) -> anyhow::Result<ExitCode> {
    let wanted = Wanted { paths: &input.paths, stdin_name: input.stdin_filename.as_deref(), except: None };
    let (sources, mut troubles) = find(&wanted)?;
    let mut stdout = std::io::stdout().lock();
    Batch { wish: wish(input), ..Batch::default() }.run(sources, work, |event| {
        match event {
            Event::Done { out, .. } => {
                if let Err(error) = stdout.write_all(out.as_bytes()).and_then(|()| stdout.flush()) {
                    troubles.push(Error::system("stdout", &error));
                    return Flow::Stop;
                }
            }
            Event::Failed(failure) => troubles.push(failure.error.clone()),
            Event::Opened(_) | Event::Closed { .. } => {}
        }
        Flow::Continue
    });
    troubles.retain(|error| error.kind != Kind::BrokenPipe);
    for error in &troubles {
        anstream::eprintln!("curtail: {error}");
    }
    Ok(if troubles.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

/// What the user said about how the input is read.
pub(super) fn wish(input: &Input) -> Wish {
    Wish {
        framing: input.framing.framing(),
        dialect: Some(input.dialect.clone()).filter(|name| name != "auto"),
        messages_key: input.messages_key.clone(),
    }
}
