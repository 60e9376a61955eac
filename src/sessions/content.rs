//! What is read of a session: its beginning for its project and first prompt, or all of it for its numbers of messages and
//! tokens.

use std::fs::File;
use std::io::Read as _;

use crate::sessions::found::KeptSession;
use curtail_core::dialects::{Framing, Reading, project};
use curtail_core::json::Document;
use curtail_core::processors::{Counting, View};
use curtail_core::transcript::{Content, Message};
use curtail_facts::{as_typed, is_typed};
use curtail_io::FileError;
use curtail_io::batch::Rescued;
use curtail_lab::counted_requests;

/// How many bytes to read of a log: each next number applies if no prompt was found.
const HEADS: [u64; 4] = [8 * 1024, 128 * 1024, 1024 * 1024, 8 * 1024 * 1024];
/// The same of a document.
const DOCUMENT_HEADS: [u64; 2] = [4 * 1024 * 1024, 64 * 1024 * 1024];

/// The project and the first prompt of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SessionHead {
    pub(crate) project: Option<String>,
    /// The first words of a person, on one line.
    pub(crate) prompt: Option<String>,
}

/// The sums of a session, without what it repeats of older ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionSums {
    pub(crate) messages: usize,
    pub(crate) tokens: usize,
    /// The number of requests that an older session contains as well.
    pub(crate) shared: usize,
    /// The requests that the provider counted.
    pub(crate) requests: Vec<SummedRequest>,
    /// What could not be read of a damaged log.
    pub(crate) losses: Vec<FileError>,
}

/// A request, and the sums up to the end of its reply.
#[derive(Debug, Clone)]
pub(crate) struct SummedRequest {
    pub(crate) keys: Vec<u64>,
    pub(crate) messages: usize,
    pub(crate) tokens: usize,
}

impl SessionHead {
    /// Reads the beginning of `session`, and more of it while no prompt was found.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn read(session: &KeptSession) -> std::io::Result<Self> {
        if let Some(stored) = &session.stored {
            let project = Some(stored.project.clone()).filter(|project| !project.is_empty());
            return Ok(Self { project, prompt: None });
        }
        let mut head = Self::default();
        let Some(reading) = reading(session) else { return Ok(head) };
        let mut beginning = Beginning::open(session)?;
        if reading.framing == Framing::Document {
            head.read_document(&reading, &mut beginning)?;
        } else {
            head.read_log(&reading, &mut beginning)?;
        }
        Ok(head)
    }

    fn read_document(&mut self, reading: &Reading, beginning: &mut Beginning) -> std::io::Result<()> {
        for limit in DOCUMENT_HEADS {
            beginning.read(limit)?;
            let text = String::from_utf8_lossy(&beginning.bytes);
            self.add(reading, &if beginning.is_all { text } else { closed(&text).into() });
            if self.prompt.is_some() || beginning.is_all {
                break;
            }
        }
        Ok(())
    }

    fn read_log(&mut self, reading: &Reading, beginning: &mut Beginning) -> std::io::Result<()> {
        let mut done = 0;
        for limit in HEADS {
            beginning.read(limit)?;
            let fresh = &beginning.bytes[done..];
            // The last line may be incomplete.
            let whole =
                if beginning.is_all { fresh.len() } else { memchr::memrchr(b'\n', fresh).map_or(0, |at| at + 1) };
            self.add_lines(reading, &String::from_utf8_lossy(&fresh[..whole]));
            done += whole;
            if self.prompt.is_some() || beginning.is_all {
                break;
            }
        }
        Ok(())
    }

    /// Adds lines, up to the first prompt.
    fn add_lines(&mut self, reading: &Reading, text: &str) {
        for line in text.lines().filter(|line| line.contains('{')) {
            let rescued = Document::parse_all(line).is_err().then(|| Rescued::in_place(line.as_bytes())).flatten();
            let sound = rescued.and_then(|rescued| String::from_utf8(rescued.text).ok());
            self.add(reading, sound.as_deref().unwrap_or(line));
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

/// The beginning `text` of a document as a document of its own: up to its last comma, where everything that is open is closed.
fn closed(text: &str) -> String {
    let kept = scan(text).last_comma.map_or("", |comma| &text[..comma]);
    let brackets: String = scan(kept).open.into_iter().rev().collect();
    format!("{kept}{brackets}")
}

/// What is outside the strings of the beginning of a document.
#[derive(Default)]
struct Outside {
    last_comma: Option<usize>,
    /// The brackets that close what is open at its end, the outermost first.
    open: Vec<char>,
}

fn scan(text: &str) -> Outside {
    let mut outside = Outside::default();
    let mut in_string = false;
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' => outside.open.push('}'),
            b'[' => outside.open.push(']'),
            b'}' | b']' => {
                outside.open.pop();
            }
            b',' => outside.last_comma = Some(at),
            _ => {}
        }
    }
    outside
}

/// A file that is read only as far as needed.
struct Beginning {
    file: File,
    bytes: Vec<u8>,
    /// Whether `bytes` is all of it.
    is_all: bool,
    size: u64,
}

impl Beginning {
    fn open(session: &KeptSession) -> std::io::Result<Self> {
        let size = session.size.unwrap_or(u64::MAX);
        Ok(Self { file: File::open(&session.path)?, bytes: Vec::new(), is_all: false, size })
    }

    /// Reads on, up to `limit` bytes of the file, with one call if the file has not grown since it was listed.
    fn read(&mut self, limit: u64) -> std::io::Result<()> {
        let rest = limit.saturating_sub(self.bytes.len() as u64);
        let capacity = limit.min(self.size.saturating_add(1)).saturating_sub(self.bytes.len() as u64);
        self.bytes.reserve_exact(usize::try_from(capacity).unwrap_or(0));
        let read = (&mut self.file).take(rest).read_to_end(&mut self.bytes)?;
        self.is_all = (read as u64) < rest;
        Ok(())
    }
}

impl SessionSums {
    /// Counts all of `session`; `None` if it cannot be read in the dialect of its agent.
    pub(crate) fn count(session: &KeptSession, counting: &Counting) -> Option<Self> {
        let bytes = match &session.stored {
            Some(stored) => stored.text(&session.path)?.into_bytes(),
            None => std::fs::read(&session.path).ok()?,
        };
        let reading = reading(session)?;
        let rescued = (reading.framing == Framing::Lines).then(|| Rescued::in_place(&bytes)).flatten();
        let name = session.path.display().to_string();
        let losses = rescued.iter().flat_map(|rescued| &rescued.losses).map(|loss| loss.error(&name)).collect();
        let text = String::from_utf8(rescued.map_or(bytes, |rescued| rescued.text)).ok()?;
        let document = reading.parse(&text).ok()?;
        let mut sums = Self { losses, ..Self::default() };
        for (dialect, transcript) in reading.transcripts_or_none(&document).ok()? {
            let view = View::of_layout(&transcript.layout, &transcript.messages);
            let mut before = vec![sums.tokens];
            for message in &transcript.messages {
                before.push(before[before.len() - 1] + counting.message(message));
            }
            sums.requests.extend(counted_requests(dialect, &transcript).into_iter().map(|request| SummedRequest {
                keys: request.keys,
                messages: sums.messages + request.end,
                tokens: before[request.end],
            }));
            sums.messages += transcript.messages.len();
            sums.tokens = before[before.len() - 1] + counting.outside(&view);
        }
        Some(sums)
    }
}

/// How `session` is read.
fn reading(session: &KeptSession) -> Option<Reading> {
    let is_document = session.stored.is_some() || session.path.extension().is_some_and(|end| end == "json");
    let framing = if is_document { Framing::Document } else { Framing::Lines };
    Reading::new(framing, Some(session.agent.dialect), None).ok()
}

/// What a person typed in a message, on one line.
fn prompt(message: &Message<'_>) -> Option<String> {
    if !message.begins_turn() || message.standing.is_rolled_back() {
        return None;
    }
    let texts = message.parts.iter().filter(|part| !part.instructs()).filter_map(|part| match &part.content {
        Content::Text(text) => Some(text.decode()),
        _ => None,
    });
    let typed = texts.into_iter().find(|text| is_typed(text))?;
    let head: String = as_typed(&typed).chars().take(2_000).collect();
    Some(head.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::{SessionHead, closed};
    use crate::sessions::found::KeptSession;
    use curtail_core::dialects::agent_named;
    use std::time::SystemTime;

    #[test]
    fn a_prompt_beside_a_large_picture_is_found() -> std::io::Result<()> {
        let picture = "A".repeat(2_000_000);
        let source = format!(r#"{{"type":"base64","media_type":"image/png","data":"{picture}"}}"#);
        let content = format!(r#"[{{"type":"image","source":{source}}},{{"type":"text","text":"what is this?"}}]"#);
        let line = format!(
            r#"{{"type":"user","uuid":"1","parentUuid":null,"sessionId":"s","cwd":"/w","message":{{"role":"user","content":{content}}}}}"#
        );
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, line + "\n")?;
        let agent = agent_named("claude").expect("an agent");
        let session = KeptSession { agent, path, modified: SystemTime::now(), size: None, stored: None };
        let head = SessionHead::read(&session)?;
        assert_eq!((head.project.as_deref(), head.prompt.as_deref()), (Some("/w"), Some("what is this?")));
        Ok(())
    }

    #[test]
    fn a_beginning_is_closed_at_its_last_comma() {
        for (text, expected) in [
            (r#"{"a":1,"m":[{"t":"user","c":"x, y"},{"t":"mod"#, r#"{"a":1,"m":[{"t":"user","c":"x, y"}]}"#),
            (r#"{"a":1,"m":[{"t":"user","c":"x \", y"#, r#"{"a":1,"m":[{"t":"user"}]}"#),
            ("[1,[2,3]]", "[1,[2]]"),
            (r#"{"a":"#, ""),
        ] {
            assert_eq!(closed(text), expected, "{text}");
        }
    }
}
