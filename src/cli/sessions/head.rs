//! What the beginning of a session says: the project and the first prompt; and its sums, for which all of it is read.

use std::fs::File;
use std::io::Read as _;

use super::machine::Session;
use curtail_core::dialects::{Framing, Reading, project};
use curtail_core::processors::{Counting, View};
use curtail_core::transcript::{Content, Message};
use curtail_memory::ledger::{is_typed, without_tag};

/// Bytes that are read at first, and at most.
const HEADS: [u64; 3] = [8 * 1024, 128 * 1024, 1024 * 1024];
/// The largest document that is read whole.
const DOCUMENT: u64 = 4 * 1024 * 1024;

/// What the beginning of a session says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) project: Option<String>,
    /// The first words of a person, on one line.
    pub(super) prompt: Option<String>,
}

/// The sums of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SessionSums {
    pub(super) messages: usize,
    pub(super) tokens: usize,
}

impl Head {
    /// Reads the beginning of `session`, further where no prompt is in it.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn read(session: &Session) -> std::io::Result<Self> {
        if let Some(kept) = &session.kept {
            let project = Some(kept.project.clone()).filter(|project| !project.is_empty());
            return Ok(Self { project, prompt: None });
        }
        let is_document = session.path.extension().is_some_and(|end| end == "json");
        let framing = if is_document { Framing::Document } else { Framing::Lines };
        let mut head = Self::default();
        let Ok(reading) = Reading::new(framing, Some(session.agent.dialect), None) else { return Ok(head) };
        let mut beginning = Beginning::open(session)?;
        if is_document {
            beginning.read(DOCUMENT)?;
            head.add(&reading, &String::from_utf8_lossy(&beginning.bytes));
            return Ok(head);
        }
        let mut done = 0;
        for most in HEADS {
            beginning.read(most)?;
            let fresh = &beginning.bytes[done..];
            // The last line may go on behind what was read.
            let whole =
                if beginning.is_all { fresh.len() } else { memchr::memrchr(b'\n', fresh).map_or(0, |at| at + 1) };
            head.add_lines(&reading, &String::from_utf8_lossy(&fresh[..whole]));
            done += whole;
            if head.prompt.is_some() || beginning.is_all {
                break;
            }
        }
        Ok(head)
    }

    /// Adds what lines say, up to the first prompt.
    fn add_lines(&mut self, reading: &Reading, text: &str) {
        for line in text.lines().filter(|line| line.starts_with('{')) {
            self.add(reading, line);
            if self.prompt.is_some() {
                break;
            }
        }
    }

    fn add(&mut self, reading: &Reading, text: &str) {
        let Ok(document) = reading.parse(text) else { return };
        if self.project.is_none() {
            self.project = document.roots().find_map(project).map(|text| text.decode().into_owned());
        }
        let transcripts = reading.transcripts_or_none(&document).unwrap_or_default();
        self.prompt = transcripts.iter().flat_map(|(_, transcript)| &transcript.messages).find_map(prompt);
    }
}

/// A file of which as much is read as is needed.
struct Beginning {
    file: File,
    bytes: Vec<u8>,
    /// Whether `bytes` is all of it.
    is_all: bool,
    size: u64,
}

impl Beginning {
    fn open(session: &Session) -> std::io::Result<Self> {
        let size = session.size.unwrap_or(u64::MAX);
        Ok(Self { file: File::open(&session.path)?, bytes: Vec::new(), is_all: false, size })
    }

    /// Reads on, up to `most` bytes of the file, with one call where the file is as long as it was.
    fn read(&mut self, most: u64) -> std::io::Result<()> {
        let left = most.saturating_sub(self.bytes.len() as u64);
        let room = most.min(self.size.saturating_add(1)).saturating_sub(self.bytes.len() as u64);
        self.bytes.reserve_exact(usize::try_from(room).unwrap_or(0));
        let read = (&mut self.file).take(left).read_to_end(&mut self.bytes)?;
        self.is_all = (read as u64) < left;
        Ok(())
    }
}

impl SessionSums {
    /// Counts all of `session`; `None` if it cannot be read as its agent writes it.
    pub(super) fn count(session: &Session, counting: &Counting) -> Option<Self> {
        let kept = session.kept.as_ref();
        let text = match kept {
            Some(kept) => kept.text(&session.path)?,
            None => std::fs::read_to_string(&session.path).ok()?,
        };
        let is_document = kept.is_some() || session.path.extension().is_some_and(|end| end == "json");
        let framing = if is_document { Framing::Document } else { Framing::Lines };
        let reading = Reading::new(framing, Some(session.agent.dialect), None).ok()?;
        let document = reading.parse(&text).ok()?;
        let mut sums = Self { messages: 0, tokens: 0 };
        for (_, transcript) in reading.transcripts_or_none(&document).ok()? {
            let view = View::new(&transcript.messages, &transcript.layout.preamble, transcript.layout.pairing_rules);
            sums.messages += transcript.messages.len();
            sums.tokens += counting.outside(&view);
            sums.tokens += transcript.messages.iter().map(|message| counting.message(message)).sum::<usize>();
        }
        Some(sums)
    }
}

/// What a person said in a message, on one line.
fn prompt(message: &Message<'_>) -> Option<String> {
    if !message.begins_turn() {
        return None;
    }
    let texts = message.parts.iter().filter(|part| !part.instructs()).filter_map(|part| match &part.content {
        Content::Text(text) => Some(text.decode()),
        _ => None,
    });
    let typed = texts.into_iter().find(|text| is_typed(text))?;
    let head: String = without_tag(&typed).chars().take(2_000).collect();
    Some(head.split_whitespace().collect::<Vec<_>>().join(" "))
}
