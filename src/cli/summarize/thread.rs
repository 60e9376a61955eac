//! `--thread`: a memory that persists between runs.

use std::io::IsTerminal as _;
use std::num::NonZeroUsize;
use std::process::ExitCode;

use super::follow::FollowedLog;
use super::input_text::{InputText, only_source};
use super::thread_memory::ThreadMemory;
use crate::console;
use crate::options::global::{Environment, iso_time};
use crate::options::input::Input;
use crate::options::numbers::at_least_one;
use crate::options::store::StoreFlag;
use crate::process::end_summarizers_first;
use curtail_core::dialects::Framing;
use curtail_memory::rolling::{RollingSummary, Shown, Taken};

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Rolling memory")]
pub(super) struct ThreadFlags {
    #[command(flatten)]
    place: StoreFlag,

    /// Append the input to this thread of the store and summarize only new messages
    #[arg(long, value_name = "ID")]
    thread: Option<String>,

    /// Number of the thread's message that the input begins with; known messages are skipped
    #[arg(long, value_name = "N", value_parser = at_least_one, hide_short_help = true)]
    from: Option<NonZeroUsize>,

    /// Start the thread over with the input if it differs from what the thread took before
    #[arg(long, hide_short_help = true)]
    rewind: bool,

    /// Keep reading as the file grows and write the memory on one line after every turn
    #[arg(long, hide_short_help = true)]
    follow: bool,
}

impl ThreadFlags {
    /// The flag by which the memory grows with the input, if there is one: the input is followed, or a thread of the store is named.
    pub(super) const fn given(&self) -> Option<&'static str> {
        match (self.follow, &self.thread) {
            (true, _) => Some("--follow"),
            (false, Some(_)) => Some("--thread"),
            (false, None) => None,
        }
    }

    /// Appends one input to the thread, follows it, or reads none, and writes the memory.
    pub(super) fn run(
        &self,
        input: &Input,
        shown: Shown,
        environment: &Environment,
        summary: &RollingSummary,
    ) -> anyhow::Result<ExitCode> {
        end_summarizers_first()?;
        // An unknown dialect or time is an error before anything is read.
        let options = input.prepare()?;
        environment.now()?;
        let mut memory = ThreadMemory::open(self.thread.as_deref(), &self.place)?;
        let from = self.from.map(NonZeroUsize::get);
        if self.follow {
            let source = &only_source(input, "--follow reads one file; name one file")?;
            // A memory of this run alone begins with the log, and starts over by itself.
            let is_stored = self.thread.is_some();
            let from = if is_stored { from } else { from.or(Some(1)) };
            let rewind = self.rewind || !is_stored;
            let log = FollowedLog { source, options: &options, environment, summary, shown, rewind };
            return log.follow(memory, from);
        }
        if input.paths.is_empty() && std::io::stdin().is_terminal() {
            let thread = memory.current()?.unwrap_or_default();
            console::transcript(&thread.render(summary, shown, Framing::Lines)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        let source = only_source(input, "--thread reads one transcript at a time; name one file")?;
        let read = InputText::read(&source, &options)?;
        let reading = read.reading(&options)?;
        let now = &iso_time(environment.now()?);
        let taken = Taken { text: &read.text, reading: &reading, from, now, rewind: self.rewind };
        let thread = memory.append(summary, taken).map_err(|error| read.at_place(error))?;
        console::transcript(&thread.render(summary, shown, reading.framing)?)?;
        Ok(ExitCode::SUCCESS)
    }
}
