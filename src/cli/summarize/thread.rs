//! `--thread`: a memory that persists between runs.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;

use super::follow::FollowedLog;
use super::input_text::InputSource;
use super::thread_memory::ThreadMemory;
use crate::console;
use crate::options::global::{Environment, iso_time};
use crate::options::input::Input;
use curtail_core::dialects::Framing;
use curtail_io::batch::InputOptions;
use curtail_memory::rolling::{RollingSummary, Shown, Taken};

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Rolling memory")]
pub(super) struct ThreadFlags {
    /// Store file [default: `CURTAIL_STORE`, or curtail/state.db in `XDG_STATE_HOME` or ~/.local/state]
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    store: Option<PathBuf>,

    /// Append the input to this thread of the store and summarize only new messages
    #[arg(long, value_name = "ID")]
    thread: Option<String>,

    /// Number of the thread's message that the input begins with; known messages are skipped
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..),
        hide_short_help = true
    )]
    from: Option<u64>,

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

    pub(super) fn run(
        &self,
        input: &Input,
        shown: Shown,
        environment: &Environment,
        summary: &RollingSummary,
    ) -> anyhow::Result<ExitCode> {
        // An unknown dialect or time is an error before anything is read.
        let options = input.prepare()?;
        environment.now()?;
        let memory = ThreadMemory::open(self.thread.as_deref(), self.store.as_deref())?;
        let from = self.from.map(usize::try_from).transpose()?;
        if self.follow {
            let source = InputSource::of(input, "--follow reads one file; name one file")?;
            // A memory of this run alone begins with the log, and starts over by itself.
            let is_stored = self.thread.is_some();
            let from = if is_stored { from } else { from.or(Some(1)) };
            let rewind = self.rewind || !is_stored;
            let log = FollowedLog { source, options: &options, environment, summary, shown, rewind };
            return log.follow(memory, from);
        }
        self.append(input, &options, memory, Asked { from, shown, environment, summary })
    }

    /// Appends one input, or none, and writes the memory.
    fn append(
        &self,
        input: &Input,
        options: &InputOptions,
        mut memory: ThreadMemory,
        asked: Asked<'_>,
    ) -> anyhow::Result<ExitCode> {
        let Asked { from, shown, environment, summary } = asked;
        let source = InputSource::of(input, "--thread reads one transcript at a time; name one file")?;
        if input.paths.is_empty() && std::io::stdin().is_terminal() {
            let thread = memory.current()?.unwrap_or_default();
            console::transcript(&thread.render(summary, shown, Framing::Lines)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        let read = source.read(options.max_record)?;
        let reading = read.reading(options)?;
        let now = &iso_time(environment.now()?);
        let taken = Taken { text: &read.text, reading: &reading, from, now, rewind: self.rewind };
        let thread = memory.append(summary, taken).map_err(|error| read.at_place(error))?;
        console::transcript(&thread.render(summary, shown, reading.framing)?)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// What is done with an input.
#[derive(Clone, Copy)]
struct Asked<'e> {
    /// The number of its first message in the thread.
    from: Option<usize>,
    /// What is written.
    shown: Shown,
    /// Sets the time of messages without a timestamp.
    environment: &'e Environment,
    summary: &'e RollingSummary,
}
