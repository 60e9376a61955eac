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
pub(super) struct Sums {
    pub(super) messages: usize,
    pub(super) tokens: usize,
}

impl Head {
    /// Reads the beginning of `session`, further where no prompt is in it.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn read(session: &Session) -> std::io::Result<Self> {
        if session.path.extension().is_some_and(|end| end == "json") {
            let text = beginning(session, DOCUMENT)?;
            return Ok(Self::of_text(session, &text, Framing::Document));
        }
        let mut head = Self::default();
        for most in HEADS {
            let text = beginning(session, most)?;
            let whole = if session.size <= most { text.len() } else { text.rfind('\n').map_or(0, |at| at + 1) };
            head = Self::of_lines(session, &text[..whole]);
            if head.prompt.is_some() || session.size <= most {
                break;
            }
        }
        Ok(head)
    }

    /// Reads line by line, up to the first prompt.
    fn of_lines(session: &Session, text: &str) -> Self {
        let mut head = Self::default();
        for line in text.lines().filter(|line| line.starts_with('{')) {
            let own = Self::of_text(session, line, Framing::Lines);
            head.project = head.project.or(own.project);
            head.prompt = own.prompt;
            if head.prompt.is_some() {
                break;
            }
        }
        head
    }

    fn of_text(session: &Session, text: &str, framing: Framing) -> Self {
        let Ok(reading) = Reading::new(framing, Some(session.agent.dialect), None) else { return Self::default() };
        let Ok(document) = reading.parse(text) else { return Self::default() };
        let project = document.roots().find_map(project).map(|text| text.decode().into_owned());
        let transcripts = reading.transcripts_or_none(&document).unwrap_or_default();
        let prompt = transcripts.iter().flat_map(|(_, transcript)| &transcript.messages).find_map(prompt);
        Self { project, prompt }
    }
}

impl Sums {
    /// Counts all of `session`; `None` if it cannot be read as its agent writes it.
    pub(super) fn count(session: &Session, counting: &Counting) -> Option<Self> {
        let text = std::fs::read_to_string(&session.path).ok()?;
        let is_document = session.path.extension().is_some_and(|end| end == "json");
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

fn beginning(session: &Session, most: u64) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    File::open(&session.path)?.take(most).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
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
