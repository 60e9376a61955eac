//! `--follow`: reads a log that grows, and writes its memory after each addition.

use std::io::{ErrorKind, Write as _};
use std::process::ExitCode;

use anyhow::{Context as _, bail};

use super::input_text::InputText;
use super::thread_memory::ThreadMemory;
use crate::console;
use crate::options::global::{Environment, iso_time};
use curtail_core::dialects::{Framing, Reading};
use curtail_io::batch::InputOptions;
use curtail_io::{Follow, Growth, Packing, Source};
use curtail_memory::rolling::{RollingSummary, Shown, Taken, Thread, ThreadError};

/// A log, and how it is followed.
#[derive(Clone, Copy)]
pub(super) struct FollowedLog<'e> {
    pub(super) source: &'e Source,
    pub(super) options: &'e InputOptions,
    /// Sets the time of messages without a timestamp.
    pub(super) environment: &'e Environment,
    pub(super) summary: &'e RollingSummary,
    /// What is written.
    pub(super) shown: Shown,
    /// Whether a changed history starts the thread over.
    pub(super) rewind: bool,
}

impl FollowedLog<'_> {
    /// Writes the memory as one line whenever new lines arrive, until standard input ends or the program is stopped. Everything
    /// read by then is in the store. `from` is the number of the first message in the thread.
    pub(super) fn follow(&self, memory: ThreadMemory, from: Option<usize>) -> anyhow::Result<ExitCode> {
        let Source { name, path, .. } = self.source;
        match path {
            None => {
                curtail_io::input().with_context(|| name.clone())?;
            }
            Some(path) if Packing::of_name(path) != Packing::Plain => {
                bail!(
                    "{name}: --follow reads a file that grows, and this one is compressed; summarize it without --follow"
                )
            }
            Some(_) => {}
        }
        let mut follow = Follow::new(path.as_deref(), self.options.max_record);
        let count = memory.current()?.map_or(0, |thread| thread.taken());
        let mut growing = GrowingThread { log: *self, memory, read: None, from, next: from, count };
        let mut first_line = 1;
        let mut written = String::new();
        loop {
            let (bytes, ended) = match follow.wait().with_context(|| name.clone())? {
                Growth::Lines(bytes) => (bytes, false),
                Growth::End(bytes) => (bytes, true),
            };
            let addition = InputText::from_bytes(name, bytes, first_line)?;
            first_line = addition.next_line();
            let line = growing.append(&addition)?.render(self.summary, self.shown, Framing::Document)?;
            if line != written && !line.is_empty() {
                let mut out = console::transcripts();
                match out.write_all(line.as_bytes()).and_then(|()| out.flush()) {
                    // Nobody reads what would follow.
                    Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
                    done => console::closed_is_fine(done)?,
                }
                written = line;
            }
            if ended {
                return Ok(ExitCode::SUCCESS);
            }
        }
    }

    /// How to read an addition.
    fn reading(&self, addition: &InputText) -> anyhow::Result<Reading> {
        let reading = addition.reading(self.options)?;
        if reading.framing == Framing::Document {
            bail!(
                "{}: --follow reads one message per line, and this file is one JSON document; summarize it without --follow",
                self.source.name
            );
        }
        Ok(Reading { framing: Framing::Lines, ..reading })
    }
}

/// The thread of a followed log.
struct GrowingThread<'e> {
    log: FollowedLog<'e>,
    memory: ThreadMemory,
    /// Everything that was read, if the thread may start over: only all of the log can show that it has another history.
    read: Option<InputText>,
    /// The number of the log's first message in the thread.
    from: Option<usize>,
    /// The number of the next message of the log in the thread.
    next: Option<usize>,
    /// Number of messages that the thread has.
    count: usize,
}

impl GrowingThread<'_> {
    fn append(&mut self, addition: &InputText) -> anyhow::Result<Thread> {
        let reading = &self.log.reading(addition)?;
        let now = &iso_time(self.log.environment.now()?);
        let is_first = self.read.is_none();
        let rewind = self.log.rewind;
        let taken = Taken { text: &addition.text, reading, from: self.next, now, rewind: rewind && is_first };
        let appended = self.take(taken);
        if rewind {
            self.remember(addition);
        }
        match (appended, &self.read) {
            (Err(ThreadError::Changed(_) | ThreadError::RolledBack), Some(whole)) if !is_first => {
                let whole = whole.clone();
                let taken = Taken { text: &whole.text, from: self.from, rewind, ..taken };
                self.take(taken).map_err(|error| whole.at_place(error))
            }
            (appended, _) => appended.map_err(|error| addition.at_place(error)),
        }
    }

    fn take(&mut self, taken: Taken<'_>) -> Result<Thread, ThreadError> {
        let thread = self.memory.append(self.log.summary, taken)?;
        let count = thread.taken();
        // Only if the thread has not grown, the log may still be inside of it, and its messages are counted.
        let has_grown = taken.rewind || count > self.count;
        let inside = taken.from.filter(|_| !has_grown).map(|from| from + messages(taken.reading, taken.text));
        let inside = inside.filter(|next| *next <= self.count);
        // A line may change what the lines before it are, so the end of the log is where the thread ends.
        self.next = taken.from.map(|_| inside.unwrap_or(count + 1));
        self.count = count;
        Ok(thread)
    }

    fn remember(&mut self, addition: &InputText) {
        match &mut self.read {
            Some(read) => read.push(addition),
            None => self.read = Some(addition.clone()),
        }
    }
}

/// The number of messages in `text`, which has been read successfully before.
fn messages(reading: &Reading, text: &str) -> usize {
    let Ok(document) = reading.parse(text) else { return 0 };
    let Ok(transcripts) = reading.transcripts_or_none(&document) else { return 0 };
    transcripts.iter().map(|(_, transcript)| transcript.messages.len()).sum()
}
