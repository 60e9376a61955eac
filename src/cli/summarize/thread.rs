//! `--thread`: a memory that persists between runs.

use std::collections::HashSet;
use std::io::{ErrorKind, IsTerminal as _, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};

use crate::console;
use crate::options::files::is_standard;
use crate::options::global::{Environment, iso_time};
use crate::options::input::Input;
use crate::options::store::{open_to_change, store_path};
use curtail_core::dialects::{Framing, Reading, detect_framing};
use curtail_core::error::TextPlace;
use curtail_io::{Follow, Growth};
use curtail_memory::rolling::{RollingSummary, Shown, Taken, Thread, ThreadError, append, current};
use curtail_memory::store::Store;

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
    /// Whether the memory grows with the input: a thread of the store is named, or the input is followed.
    pub(super) const fn is_given(&self) -> bool {
        self.thread.is_some() || self.follow
    }

    pub(super) fn run(
        &self,
        input: &Input,
        shown: Shown,
        environment: &Environment,
        summary: &RollingSummary,
    ) -> anyhow::Result<ExitCode> {
        // An unknown dialect or time is an error before anything is read.
        input.input_options()?;
        environment.now()?;
        let mut memory = ThreadMemory::open(self.thread.as_deref(), self.store.as_deref())?;
        let from = self.from.map(usize::try_from).transpose()?;
        if self.follow {
            // A memory of this run alone starts over by itself.
            let rewind = self.rewind || self.thread.is_none();
            let following = Following { from, environment, shown, rewind };
            return follow(input, &mut memory, following, summary);
        }
        let Some((name, text)) = read_input(input)? else {
            let thread = memory.current()?.unwrap_or_default();
            console::transcript(&thread.render(summary, shown, Framing::Lines)?)?;
            return Ok(ExitCode::SUCCESS);
        };
        let reading = reading(input, &text)?;
        let taken =
            Taken { text: &text, reading: &reading, from, now: &iso_time(environment.now()?), rewind: self.rewind };
        let thread = memory.append(summary, taken).map_err(|error| at_input(&name, &text, error))?;
        console::transcript(&thread.render(summary, shown, reading.framing)?)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The only input that is named, and `None` for standard input; `refusal` is the error if several are named.
fn only_path<'i>(input: &'i Input, refusal: &'static str) -> anyhow::Result<Option<&'i Path>> {
    match input.paths.as_slice() {
        [] => Ok(None),
        [path] => Ok(Some(path.as_path()).filter(|path| !is_standard(path))),
        _ => bail!(refusal),
    }
}

/// The name and the text of the input; `None` if no file is named and standard input is a terminal.
fn read_input(input: &Input) -> anyhow::Result<Option<(String, String)>> {
    let path = only_path(input, "--thread reads one transcript at a time; name one file")?;
    if input.paths.is_empty() && std::io::stdin().is_terminal() {
        return Ok(None);
    }
    let (name, source): (String, Box<dyn Read>) = match path {
        Some(path) => {
            let name = path.display().to_string();
            let file = std::fs::File::open(path).with_context(|| name.clone())?;
            (name, Box::new(file))
        }
        None => {
            let name = input.stdin_filename.clone().unwrap_or_else(|| String::from("stdin"));
            let stdin = curtail_io::input().with_context(|| name.clone())?;
            (name, Box::new(stdin))
        }
    };
    let text = String::from_utf8(read_bounded(input, source, &name)?).map_err(|error| {
        let place = TextPlace::locate(error.as_bytes(), error.utf8_error().valid_up_to(), 1);
        anyhow!("{name}:{}:{}: invalid UTF-8", place.line, place.column)
    })?;
    Ok(Some((name, text)))
}

/// Reads a transcript of at most `--max-record` bytes.
fn read_bounded(input: &Input, source: impl Read, name: &str) -> anyhow::Result<Vec<u8>> {
    let limit = input.max_record.limit();
    let mut bytes = Vec::new();
    let bound = limit.map_or(u64::MAX, |limit| limit as u64 + 1);
    source.take(bound).read_to_end(&mut bytes).with_context(|| name.to_owned())?;
    match limit.filter(|&limit| bytes.len() > limit) {
        Some(limit) => Err(curtail_io::too_long(name, limit).into()),
        None => Ok(bytes),
    }
}

// The thread that a run appends to, and how its input is read.

/// A thread in the store, or one that exists only during this run.
enum ThreadMemory {
    Store { store: Store, id: String },
    Run { thread: Box<Thread>, marks: HashSet<String> },
}

impl ThreadMemory {
    /// Opens the thread `id` of the store in `file`; without an id, an empty thread in memory.
    fn open(id: Option<&str>, file: Option<&Path>) -> anyhow::Result<Self> {
        let Some(id) = id else { return Ok(Self::Run { thread: Box::default(), marks: HashSet::new() }) };
        if id.is_empty() {
            bail!("--thread needs a name");
        }
        let store = open_to_change(&store_path(file)?)?;
        Ok(Self::Store { store, id: id.to_owned() })
    }

    /// The thread as it is now; `None` if the store does not contain it.
    fn current(&self) -> Result<Option<Thread>, ThreadError> {
        match self {
            Self::Store { store, id } => current(store, id),
            Self::Run { thread, .. } => Ok(Some((**thread).clone())),
        }
    }

    /// Appends messages and returns the thread after that.
    fn append(&mut self, summary: &RollingSummary, taken: Taken<'_>) -> Result<Thread, ThreadError> {
        match self {
            Self::Store { store, id } => append(store, id, summary, taken),
            Self::Run { thread, marks } => {
                let (after, fresh) =
                    Thread::after(Some((**thread).clone()), summary, taken, &|mark| marks.contains(mark))?;
                marks.extend(fresh);
                **thread = after.clone();
                Ok(after)
            }
        }
    }
}

/// How to read the input: as the flags specify, else as detected from `text`.
fn reading(input: &Input, text: &str) -> anyhow::Result<Reading> {
    let framing = input.framing.0.unwrap_or_else(|| detect_framing(text, input.messages_key.as_deref()));
    Ok(input.input_options()?.reading(framing)?)
}

/// The error with the name of the input, and its place there if it has one.
fn at_input(name: &str, text: &str, error: ThreadError) -> anyhow::Error {
    match error {
        ThreadError::Input(offset, reason) => {
            let TextPlace { line, column } = TextPlace::locate(text.as_bytes(), offset, 1);
            anyhow!("{name}:{line}:{column}: {reason}")
        }
        ThreadError::Store(error) => anyhow!(error),
        error => anyhow!("{name}: {error}"),
    }
}

// `--follow`: reads a log that grows, and writes its memory after each addition.

/// How a log is followed.
#[derive(Debug, Clone, Copy)]
struct Following<'e> {
    /// The number of its first message in the thread.
    from: Option<usize>,
    /// Sets the time of messages without a timestamp.
    environment: &'e Environment,
    /// What is written.
    shown: Shown,
    /// Whether a changed history starts the thread over.
    rewind: bool,
}

/// Writes the memory as one line whenever new lines arrive, until standard input ends or the program is stopped. Everything
/// read by then is in the store.
fn follow(
    input: &Input,
    memory: &mut ThreadMemory,
    following: Following<'_>,
    summary: &RollingSummary,
) -> anyhow::Result<ExitCode> {
    let Following { mut from, environment, shown, rewind } = following;
    let path = only_path(input, "--follow reads one file; name one file")?;
    if path.is_none() {
        curtail_io::input().context("stdin")?;
    }
    let name = path.map_or_else(|| String::from("stdin"), |path| path.display().to_string());
    let mut follow = Follow::new(path, input.max_record.limit());
    let mut written = String::new();
    let mut rewound = Rewound { whole: String::new(), from };
    loop {
        let (bytes, ended) = match follow.wait().with_context(|| name.clone())? {
            Growth::Lines(bytes) => (bytes, false),
            Growth::End(bytes) => (bytes, true),
        };
        let text = String::from_utf8(bytes).map_err(|_| anyhow!("{name}: invalid UTF-8"))?;
        let mut reading = reading(input, &text)?;
        if reading.framing == Framing::Document {
            bail!("{name}: --follow reads one message per line, and this file is one JSON document");
        }
        reading.framing = Framing::Lines;
        let taken = Taken { text: &text, reading: &reading, from, now: &iso_time(environment.now()?), rewind };
        let appended = if rewind { rewound.append(memory, summary, taken) } else { memory.append(summary, taken) };
        let thread = appended.map_err(|error| at_input(&name, &text, error))?;
        from = from.map(|from| from + messages(&reading, &text));
        let line = thread.render(summary, shown, Framing::Document)?;
        if line != written && !line.is_empty() && !write_line(&line)? || ended {
            return Ok(ExitCode::SUCCESS);
        }
        written = line;
    }
}

/// A log that is followed by a thread which may start over.
struct Rewound {
    /// Everything that was read.
    whole: String,
    /// The number of its first message in the thread.
    from: Option<usize>,
}

impl Rewound {
    /// Appends what was read last. Only all of the log can show that the thread has another history.
    fn append(
        &mut self,
        memory: &mut ThreadMemory,
        summary: &RollingSummary,
        taken: Taken<'_>,
    ) -> Result<Thread, ThreadError> {
        let rewind = self.whole.is_empty();
        self.whole.push_str(taken.text);
        match memory.append(summary, Taken { rewind, ..taken }) {
            Err(ThreadError::Changed(_) | ThreadError::RolledBack) if !rewind => {
                memory.append(summary, Taken { text: &self.whole, from: self.from, rewind: true, ..taken })
            }
            appended => appended,
        }
    }
}

/// The number of messages in `text`, which has been read successfully before.
fn messages(reading: &Reading, text: &str) -> usize {
    let Ok(document) = reading.parse(text) else { return 0 };
    let Ok(transcripts) = reading.transcripts_or_none(&document) else { return 0 };
    transcripts.iter().map(|(_, transcript)| transcript.messages.len()).sum()
}

/// Writes a line; `false` if the reader has closed the pipe.
fn write_line(line: &str) -> anyhow::Result<bool> {
    let mut out = console::transcripts();
    match out.write_all(line.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        done => Ok(done.map(|()| true)?),
    }
}
