//! `--follow`: reads a growing log and writes its memory after every turn.

use std::io::{ErrorKind, Write as _};
use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};

use super::super::input::Input;
use super::thread::{Kept, placed, reading};
use crate::dialects::{Framing, Reading};
use crate::processors::RollingSummary;
use crate::rolling::{Follow, Growth, Shown, Taken, now};

/// Writes the memory on one line whenever new lines arrive, until standard input ends or the program is stopped. Every line
/// read is stored before the memory is written.
pub(super) fn run(
    input: &Input,
    memory: &mut Kept,
    mut from: Option<usize>,
    summary: &RollingSummary,
    shown: Shown,
) -> anyhow::Result<ExitCode> {
    let path = match input.paths.as_slice() {
        [] => None,
        [path] if path.as_os_str() == "-" => None,
        [path] => Some(path.as_path()),
        _ => bail!("--follow reads one file; name one file"),
    };
    let name = path.map_or_else(|| String::from("stdin"), |path| path.display().to_string());
    let mut follow = Follow::new(path);
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
        let taken = Taken { text: &text, reading: &how, from, now: &now() };
        let thread = memory.append(summary, taken).map_err(|error| placed(&name, &text, error))?;
        from = from.map(|from| from + messages(&how, &text));
        let line = thread.show(summary, shown, Framing::Document)?;
        if line != written && !line.is_empty() && !put(&line)? || ended {
            return Ok(ExitCode::SUCCESS);
        }
        written = line;
    }
}

/// How many messages `text` holds, which was read before.
fn messages(how: &Reading, text: &str) -> usize {
    let Ok(document) = how.document(text) else { return 0 };
    let Ok(transcripts) = how.transcripts(&document) else { return 0 };
    transcripts.iter().map(|(_, transcript)| transcript.messages.len()).sum()
}

/// Writes a line; `false` if the reader closed the pipe.
fn put(line: &str) -> anyhow::Result<bool> {
    let mut out = std::io::stdout().lock();
    match out.write_all(line.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        done => Ok(done.map(|()| true)?),
    }
}
