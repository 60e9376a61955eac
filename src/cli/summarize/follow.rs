//! `--follow`: reads a log that grows, and writes its memory after each addition.

use std::io::{ErrorKind, Write as _};
use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};

use super::super::input::{Input, is_standard};
use super::clock::Clock;
use super::memory::{ThreadMemory, placed, reading};
use crate::console;
use curtail_core::dialects::{Framing, Reading};
use curtail_memory::rolling::RollingSummary;
use curtail_memory::rolling::{Follow, Growth, Shown, Taken};

/// How a log is followed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Following {
    /// The number of its first message in the thread.
    pub(super) from: Option<usize>,
    /// The time of messages without a timestamp.
    pub(super) clock: Clock,
    /// What is written.
    pub(super) shown: Shown,
    /// Whether a changed history starts the thread over.
    pub(super) rewind: bool,
}

/// Writes the memory as one line whenever new lines arrive, until standard input ends or the program is stopped. Everything
/// read by then is in the store.
pub(super) fn run(
    input: &Input,
    memory: &mut ThreadMemory,
    following: Following,
    summary: &RollingSummary,
) -> anyhow::Result<ExitCode> {
    let Following { mut from, clock, shown, rewind } = following;
    let path = match input.paths.as_slice() {
        [] => None,
        [path] if is_standard(path) => None,
        [path] => Some(path.as_path()),
        _ => bail!("--follow reads one file; name one file"),
    };
    if path.is_none() {
        curtail_io::input().context("stdin")?;
    }
    let name = path.map_or_else(|| String::from("stdin"), |path| path.display().to_string());
    let mut follow = Follow::new(path, input.max_record.limit());
    let mut written = String::new();
    loop {
        let (bytes, ended) = match follow.wait().with_context(|| name.clone())? {
            Growth::Lines(bytes) => (bytes, false),
            Growth::End(bytes) => (bytes, true),
        };
        let text = String::from_utf8(bytes).map_err(|_| anyhow!("{name}: not UTF-8"))?;
        let mut how = reading(input, &text);
        if how.framing == Framing::Document {
            bail!("{name}: --follow reads one message per line, and this file is one JSON document");
        }
        how.framing = Framing::Lines;
        let taken = Taken { text: &text, reading: &how, from, now: &clock.now(), rewind };
        let thread = memory.append(summary, taken).map_err(|error| placed(&name, &text, error))?;
        from = from.map(|from| from + messages(&how, &text));
        let line = thread.render(summary, shown, Framing::Document)?;
        if line != written && !line.is_empty() && !write_line(&line)? || ended {
            return Ok(ExitCode::SUCCESS);
        }
        written = line;
    }
}

/// The number of messages in `text`, which has been read successfully before.
fn messages(how: &Reading, text: &str) -> usize {
    let Ok(document) = how.parse(text) else { return 0 };
    let Ok(transcripts) = how.transcripts_or_none(&document) else { return 0 };
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
