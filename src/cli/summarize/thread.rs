//! `--thread`: a memory that persists between runs.

use std::io::{IsTerminal as _, Read as _};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};

use super::super::input::{Input, is_standard};
use super::clock::Clock;
use super::follow::Following;
use super::memory::{ThreadMemory, placed, reading};
use super::{Args, Emit};
use crate::console;
use curtail_core::dialects::Framing;
use curtail_core::error::TextPlace;
use curtail_memory::rolling::RollingSummary;
use curtail_memory::rolling::{Shown, Taken};

#[derive(Debug, Clone, clap::Args)]
pub(super) struct ThreadFlags {
    /// Store file [default: `CURTAIL_STORE`, or curtail/state.db in `XDG_STATE_HOME` or ~/.local/state]
    #[arg(long, value_name = "FILE", requires = "thread", help_heading = "Rolling memory")]
    store: Option<PathBuf>,

    /// Append the input to this thread of the store and summarize only new messages
    #[arg(long, value_name = "ID", help_heading = "Rolling memory")]
    pub(super) thread: Option<String>,

    /// Number of the thread's message that the input begins with; known messages are skipped
    #[arg(long, value_name = "N", requires = "thread", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Rolling memory")]
    from: Option<u64>,

    /// Start the thread over with the input if it differs from what the thread took before
    #[arg(long, requires = "thread", help_heading = "Rolling memory")]
    rewind: bool,

    /// Keep reading as the file grows and write the memory on one line after every turn
    #[arg(long, help_heading = "Rolling memory")]
    pub(super) follow: bool,
}

impl ThreadFlags {
    /// Whether a thread of the store is named.
    pub(super) const fn is_given(&self) -> bool {
        self.thread.is_some()
    }

    pub(super) fn run(&self, args: &Args, clock: Clock, summary: &RollingSummary) -> anyhow::Result<ExitCode> {
        // An unknown dialect is an error before anything is read.
        args.cutting.input.input_options()?;
        let mut memory = ThreadMemory::open(self.thread.as_deref(), self.store.as_deref())?;
        let shown =
            if args.emit == Emit::State { Shown::State } else { Shown::Context { thinking: args.cutting.thinking } };
        let from = self.from.map(usize::try_from).transpose()?;
        if self.follow {
            return super::follow::run(
                &args.cutting.input,
                &mut memory,
                Following { from, clock, shown, rewind: self.rewind },
                summary,
            );
        }
        let input = &args.cutting.input;
        let Some((name, text)) = read_input(input)? else {
            let thread = memory.current()?.unwrap_or_default();
            console::transcript(&thread.render(summary, shown, Framing::Lines)?)?;
            return Ok(ExitCode::SUCCESS);
        };
        let reading = reading(input, &text);
        let taken = Taken { text: &text, reading: &reading, from, now: &clock.now(), rewind: self.rewind };
        let thread = memory.append(summary, taken).map_err(|error| placed(&name, &text, error))?;
        console::transcript(&thread.render(summary, shown, reading.framing)?)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The name and the text of the input; `None` if no file is named and standard input is a terminal.
fn read_input(input: &Input) -> anyhow::Result<Option<(String, String)>> {
    let stdin = || input.stdin_filename.clone().unwrap_or_else(|| String::from("stdin"));
    let (name, bytes) = match input.paths.as_slice() {
        [] if std::io::stdin().is_terminal() => return Ok(None),
        [] => (stdin(), read_bounded(input, curtail_io::input().with_context(stdin)?, &stdin())?),
        [path] if is_standard(path) => {
            (stdin(), read_bounded(input, curtail_io::input().with_context(stdin)?, &stdin())?)
        }
        [path] => {
            let name = path.display().to_string();
            let file = std::fs::File::open(path).with_context(|| name.clone())?;
            let bytes = read_bounded(input, file, &name)?;
            (name, bytes)
        }
        _ => bail!("--thread reads one transcript at a time; name one file"),
    };
    let text = String::from_utf8(bytes).map_err(|error| {
        let place = TextPlace::locate(error.as_bytes(), error.utf8_error().valid_up_to(), 1);
        anyhow!("{name}:{}:{}: not UTF-8", place.line, place.column)
    })?;
    Ok(Some((name, text)))
}

/// Reads a transcript of at most `--max-record` bytes.
fn read_bounded(input: &Input, source: impl std::io::Read, name: &str) -> anyhow::Result<Vec<u8>> {
    let limit = input.max_record.limit();
    let mut bytes = Vec::new();
    let most = limit.map_or(u64::MAX, |limit| limit as u64 + 1);
    source.take(most).read_to_end(&mut bytes).with_context(|| name.to_owned())?;
    match limit.filter(|&limit| bytes.len() > limit) {
        Some(limit) => Err(curtail_io::too_long(name, limit).into()),
        None => Ok(bytes),
    }
}
