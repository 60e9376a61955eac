//! Compares transcripts before and after a cut: whether what is left is sound, how much of the prefix is unchanged, and which facts
//! were lost.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use curtail_core::checks::{Finding, Inspection, Level, Levels, LineIndex, Table};
use curtail_core::dialects::{Dialect, ReadError, Reading, detect_framing, rebuilt};
use curtail_core::error::TextPlace;
use curtail_core::json::{Document, Text};
use curtail_core::pipeline::{Chain, TextCutter};
use curtail_core::processors::{
    Counting, Plan, Prepend, Processor, ProcessorError, Reason, Traits, View, place_blocks,
};
use curtail_core::transcript::{DraftPart, Message, Pairs, Role, Standing, Transcript, front};
use curtail_facts::verify::{Comparison, Side, compare, digest, used};
use curtail_io::batch::InputOptions;
use curtail_io::{Blocks, Buffer, ErrorKind, FileError, Limits, Source};
use curtail_lab::calibration::{Compaction, Session, sessions};

/// A file that was read as a whole.
#[derive(Debug)]
pub(crate) struct WholeFile {
    pub(crate) name: String,
    text: String,
    /// How its transcripts are read; `None` for a text, such as a summary.
    reading: Option<Reading>,
}

/// Endings of files whose content is JSON.
const JSON_ENDINGS: &[&str] = &["json", "jsonl", "ndjson"];

impl WholeFile {
    /// Reads a file that may be a text.
    pub(crate) fn read(source: &Source, options: &InputOptions) -> Result<Self, FileError> {
        let limits = Limits { max_record: options.max_record, ..Limits::default() };
        let mut buffer = Buffer::default();
        Blocks::open(source, &limits)?.rest(&mut buffer, &|_| None)?;
        let text = String::from_utf8(buffer.to_vec())
            .map_err(|_| FileError::new(ErrorKind::Content, &source.name, "invalid UTF-8"))?;
        Self::of_text(source.name.clone(), source.path.as_deref(), text, options)
    }

    /// A text in memory, called `name`.
    pub(crate) fn in_memory(name: &str, text: String, options: &InputOptions) -> Result<Self, FileError> {
        Self::of_text(name.to_owned(), None, text, options)
    }

    fn of_text(name: String, path: Option<&Path>, text: String, options: &InputOptions) -> Result<Self, FileError> {
        if !is_json(path, &text) {
            return Ok(Self { name, text, reading: None });
        }
        let text = match rebuilt(&text) {
            Some(rebuilt) => rebuilt.map_err(|error| located(&name, &text, &error))?,
            None => text,
        };
        let framing = options.framing.unwrap_or_else(|| detect_framing(&text, options.messages_key.as_deref()));
        let mut reading = options.reading(framing)?;
        reading.dialect = reading.dialect.or_else(|| reading.dialect_of_head(&text));
        Ok(Self { name, text, reading: Some(reading) })
    }

    /// Its text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is a text, and no transcript.
    pub(crate) const fn is_text(&self) -> bool {
        self.reading.is_none()
    }

    /// The transcripts of `document`, which is the text as JSON.
    pub(crate) fn transcripts<'a>(
        &self,
        reading: &Reading,
        document: &'a Document<'a>,
    ) -> Result<Vec<(&'static dyn Dialect, Transcript<'a>)>, FileError> {
        reading.transcripts(document).map_err(|error| located(&self.name, &self.text, &error))
    }

    /// The text as JSON.
    pub(crate) fn parse<'t>(&'t self, reading: &Reading) -> Result<Document<'t>, FileError> {
        reading.parse(&self.text).map_err(|error| located(&self.name, &self.text, &error))
    }

    /// How the file is read as transcripts, which a text is not.
    pub(crate) fn reading(&self) -> Result<&Reading, FileError> {
        let what = "no transcript; BEFORE is JSON or JSON Lines, and only AFTER may be a text";
        self.reading.as_ref().ok_or_else(|| FileError::new(ErrorKind::Content, &self.name, what))
    }
}

/// Adds a message with a text behind the instructions and the last compaction, where a model reads it first.
#[derive(Clone)]
struct GivenBack(String);

impl Processor for GivenBack {
    fn name(&self) -> &'static str {
        "give-back"
    }

    fn traits(&self) -> Traits {
        Traits { writes: true, ..Traits::default() }
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let mut plan = Plan::keep(view.messages.len());
        if !self.0.is_empty() && !view.messages.is_empty() {
            let part = Prepend::Draft(DraftPart::Text(self.0.clone()));
            place_blocks(
                &mut plan,
                view,
                front(view.messages),
                Role::User,
                vec![part],
                Reason::Borrowed("what was lost"),
            );
        }
        Ok(plan)
    }
}

impl WholeFile {
    /// The file, with a message that says `text`.
    pub(crate) fn with_message(&self, text: &str) -> Result<String, FileError> {
        let Some(reading) = &self.reading else {
            let what = "a text has no messages; pass --as text, or name a transcript as AFTER";
            return Err(FileError::new(ErrorKind::Usage, &self.name, what));
        };
        let cutter = TextCutter { chain: Chain::default().then(GivenBack(text.to_owned())), ..TextCutter::default() };
        let mut out = String::new();
        cutter
            .cut(reading, &self.text, &mut out)
            .map_err(|error| FileError::new(ErrorKind::Content, &self.name, error.to_string()))?;
        Ok(out)
    }
}

/// Whether a file contains JSON: its name says so, or its first line is a value.
fn is_json(path: Option<&Path>, text: &str) -> bool {
    let ending = path.and_then(Path::extension).map(|ending| ending.to_string_lossy().to_lowercase());
    let begins = text.trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']);
    let is_value =
        || Document::parse_all(begins.lines().next().unwrap_or_default()).is_ok() || Document::parse(begins).is_ok();
    ending.is_some_and(|ending| JSON_ENDINGS.contains(&ending.as_str()) || ending == "gz" || ending == "zst")
        || begins.starts_with(['{', '[']) && is_value()
}

fn located(name: &str, text: &str, error: &ReadError) -> FileError {
    let place = TextPlace::locate(text.as_bytes(), error.offset, 1);
    FileError::new(ErrorKind::Content, name, error.what.clone()).at(place)
}

/// The file below `folder` that belongs to a file of the other folder: with the same name, or that of a text.
pub(crate) fn counterpart(folder: &Path, relative: &Path) -> Option<PathBuf> {
    let same = folder.join(relative);
    let others = ["jsonl", "json", "md", "txt"].iter().map(|ending| same.with_extension(ending));
    std::iter::once(same.clone()).chain(others).find(|path| path.is_file())
}

/// What is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SideInfo {
    pub(crate) file: String,
    /// The dialect; `text` for a text.
    pub(crate) dialect: &'static str,
    pub(crate) tokens: usize,
}

/// A comparison, with what else a reader of the cut transcript meets.
#[derive(Debug)]
pub(crate) struct Verified {
    pub(crate) before: SideInfo,
    pub(crate) after: SideInfo,
    /// The number of the job that compared it.
    pub(crate) job: usize,
    /// The number of the compaction in its log, from 1, if it is one.
    pub(crate) compaction: Option<usize>,
    /// Findings that only the side after the cut has; `None` if it is a text, or a part of a log.
    pub(crate) findings: Option<Vec<Finding>>,
    /// Tokens of the prefix with which both begin.
    pub(crate) unchanged: usize,
    pub(crate) comparison: Comparison,
    /// The line of each message before the cut.
    pub(crate) lines: Vec<usize>,
    /// The transcript in its file, from 0.
    pub(crate) transcript: usize,
    /// The index of each message before the cut in its transcript; `None` for one that only a compaction contains.
    pub(crate) places: Vec<Option<usize>>,
    /// For each fact, whether the work after the cut came back to it; empty if that is not known.
    pub(crate) used: Vec<bool>,
}

/// How transcripts are compared.
pub(crate) struct Verifying {
    pub(crate) counting: Counting,
    /// Whether to find out which facts the replies after a compaction used.
    pub(crate) hindsight: bool,
}

impl Verifying {
    /// Compares the transcripts of two files.
    pub(crate) fn pair(&self, before: &WholeFile, after: &WholeFile) -> Result<Vec<Verified>, FileError> {
        let reading = before.reading()?;
        let document = before.parse(reading)?;
        let all = before.transcripts(reading, &document)?;
        let Some(after_reading) = &after.reading else {
            let [(dialect, transcript)] = all.as_slice() else { return Err(uneven(after, all.len(), 1)) };
            return Ok(vec![self.with_text(&Read { file: before, nth: 0, dialect: *dialect, transcript }, after)]);
        };
        let after_document = after.parse(after_reading)?;
        let others = after.transcripts(after_reading, &after_document)?;
        if all.len() != others.len() {
            return Err(uneven(after, all.len(), others.len()));
        }
        let findings = new_findings(before, reading, after, after_reading)?;
        let pairs =
            all.iter().zip(&others).enumerate().map(|(nth, ((dialect, transcript), (other, after_transcript)))| {
                let one = Read { file: before, nth, dialect: *dialect, transcript };
                self.transcripts(&one, &Read { file: after, nth, dialect: *other, transcript: after_transcript })
            });
        let mut verified: Vec<Verified> = pairs.collect();
        if let Some(first) = verified.first_mut() {
            first.findings = Some(findings);
        }
        Ok(verified)
    }

    fn with_text(&self, before: &Read<'_, '_>, after: &WholeFile) -> Verified {
        let none = Pairs::from_messages(&[]);
        let text = [after.text.clone()];
        let tokens = self.counting.tokenizer.count(&after.text);
        let info = SideInfo { file: after.name.clone(), dialect: "text", tokens };
        self.verified(before, &live(before.transcript), info, &Side { messages: &[], pairs: &none, outside: &text })
    }

    fn transcripts(&self, before: &Read<'_, '_>, after: &Read<'_, '_>) -> Verified {
        let messages = live(after.transcript);
        let pairs = Pairs::from_messages(&messages);
        let outside = outside(after.transcript);
        let side = Side { messages: &messages, pairs: &pairs, outside: &outside };
        self.verified(before, &live(before.transcript), self.info(after, &messages), &side)
    }

    fn verified(&self, read: &Read<'_, '_>, before: &[Message<'_>], after: SideInfo, side: &Side<'_, '_>) -> Verified {
        let pairs = Pairs::from_messages(before);
        let outside = outside(read.transcript);
        let lines = LineIndex::new(&read.file.text);
        let start = |message: &Message<'_>| message.value().map(|value| value.span().start);
        let all = read.transcript.messages.iter().enumerate();
        let places: HashMap<u32, usize> = all.filter_map(|(at, message)| Some((start(message)?, at))).collect();
        let line = |message: &Message<'_>| message.value().map_or(1, |value| lines.line(value.span().start as usize));
        Verified {
            before: self.info(read, before),
            after,
            job: 0,
            compaction: None,
            findings: None,
            unchanged: self.unchanged(before, side.messages),
            comparison: compare(&Side { messages: before, pairs: &pairs, outside: &outside }, side),
            lines: before.iter().map(line).collect(),
            transcript: read.nth,
            places: before.iter().map(|message| start(message).and_then(|start| places.get(&start)).copied()).collect(),
            used: Vec::new(),
        }
    }

    fn info(&self, read: &Read<'_, '_>, messages: &[Message<'_>]) -> SideInfo {
        let outside = self.counting.outside(&View::of_layout(&read.transcript.layout, messages));
        let tokens = messages.iter().map(|message| self.counting.message(message)).sum::<usize>();
        SideInfo { file: read.file.name.clone(), dialect: read.dialect.name(), tokens: outside + tokens }
    }

    /// Tokens of the messages with which both sides begin.
    fn unchanged(&self, before: &[Message<'_>], after: &[Message<'_>]) -> usize {
        let same =
            before.iter().zip(after).take_while(|(one, other)| one.role == other.role && digest(one) == digest(other));
        same.map(|(one, _)| self.counting.message(one)).sum()
    }

    /// Compares what the model read before each compaction of a log with what it read after it.
    pub(crate) fn log(&self, file: &WholeFile) -> Result<Vec<Verified>, FileError> {
        let reading = file.reading()?;
        let document = file.parse(reading)?;
        let mut verified = Vec::new();
        for (nth, (dialect, transcript)) in file.transcripts(reading, &document)?.into_iter().enumerate() {
            let read = Read { file, nth, dialect, transcript: &transcript };
            for session in sessions(dialect, &transcript).iter().filter(|session| session.thread == 0) {
                let found = replacements(session).into_iter().filter_map(|one| self.compaction(&read, session, &one));
                verified.extend((1..).zip(found).map(|(nth, one)| Verified { compaction: Some(nth), ..one }));
            }
        }
        Ok(verified)
    }

    /// Compares what the model read before a compaction with what it read after it; `None` if that is the same.
    fn compaction(&self, read: &Read<'_, '_>, session: &Session, compaction: &Compaction) -> Option<Verified> {
        let before = read.messages_at(session, &compaction.before);
        let mut after = read.messages_at(session, &compaction.after);
        if after.is_empty() {
            after = read.replacement(compaction);
        }
        if before.is_empty() || digests(&before) == digests(&after) {
            return None;
        }
        let pairs = Pairs::from_messages(&after);
        let outside = outside(read.transcript);
        let side = Side { messages: &after, pairs: &pairs, outside: &outside };
        let mut verified = self.verified(read, &before, self.info(read, &after), &side);
        if self.hindsight {
            let later = read.work_after(session, compaction);
            let sides = [&before, &later].map(|messages| (messages, Pairs::from_messages(messages)));
            let [before, later] =
                sides.each_ref().map(|(messages, pairs)| Side { messages, pairs, outside: &outside[..0] });
            verified.used = used(&Side { outside: &outside, ..before }, &later);
        }
        Some(verified)
    }
}

/// The digests of messages, in their order as numbers: a history that is written again may move a result.
fn digests(messages: &[Message<'_>]) -> Vec<u64> {
    let mut digests: Vec<u64> = messages.iter().map(digest).collect();
    digests.sort_unstable();
    digests
}

/// The compactions of a session; those between which the model was not asked are one.
fn replacements(session: &Session) -> Vec<Compaction> {
    let mut found: Vec<Compaction> = Vec::new();
    for next in &session.compactions {
        let is_asked = |last: &Compaction| session.requests.iter().any(|one| one.at > last.at && one.at <= next.at);
        match found.last_mut().filter(|last| !is_asked(last)) {
            Some(last) => *last = Compaction { before: last.before.clone(), ..next.clone() },
            None => found.push(next.clone()),
        }
    }
    found
}

/// The requests after a compaction that show what was needed.
const HINDSIGHT: usize = 20;

fn uneven(after: &WholeFile, before: usize, count: usize) -> FileError {
    let what = format!("contains {count} of {before} transcripts; a comparison needs one for each of BEFORE");
    FileError::new(ErrorKind::Content, &after.name, what)
}

/// A transcript, and where it was read.
struct Read<'r, 'a> {
    file: &'r WholeFile,
    /// Its number in the file.
    nth: usize,
    dialect: &'static dyn Dialect,
    transcript: &'r Transcript<'a>,
}

impl<'a> Read<'_, 'a> {
    /// The messages at these positions of a session, as a model read them when they were new.
    fn messages_at(&self, session: &Session, runs: &[Range<usize>]) -> Vec<Message<'a>> {
        let indices = runs.iter().cloned().flatten().filter_map(|position| session.messages.get(position));
        let mut messages = Vec::new();
        for message in indices.filter_map(|&at| self.transcript.messages.get(at)) {
            // The list of a compaction that a later one superseded is read in its place.
            let replaced: Vec<Message<'a>> =
                message.value().into_iter().flat_map(|item| self.dialect.log().replacement(item)).collect();
            if replaced.is_empty() {
                messages.push(Message { standing: Standing::Live, ..message.clone() });
            }
            messages.extend(replaced);
        }
        messages
    }

    /// What was said and done from the next reply to the last one of the requests that show what was needed.
    fn work_after(&self, session: &Session, compaction: &Compaction) -> Vec<Message<'a>> {
        let next = session.requests.iter().filter(|request| request.at >= compaction.at).take(HINDSIGHT);
        let replies: Vec<usize> = next.flat_map(|request| request.reply.iter().copied()).collect();
        let Some((&first, &last)) = replies.first().zip(replies.last()) else { return Vec::new() };
        let messages = session.messages.get(first..=last).into_iter().flatten();
        let messages = messages.filter_map(|&at| self.transcript.messages.get(at));
        messages.map(|message| Message { standing: Standing::Live, ..message.clone() }).collect()
    }

    /// What the model reads in place of a compaction whose item is no message.
    fn replacement(&self, compaction: &Compaction) -> Vec<Message<'a>> {
        let item = self.transcript.layout.elements.get(compaction.element);
        item.map(|item| self.dialect.log().replacement(*item)).unwrap_or_default()
    }
}

/// The messages that a model still reads.
fn live<'a>(transcript: &Transcript<'a>) -> Vec<Message<'a>> {
    transcript.messages.iter().filter(|message| message.standing.is_read()).cloned().collect()
}

/// The texts outside of the messages.
fn outside(transcript: &Transcript<'_>) -> Vec<String> {
    transcript.layout.preamble.iter().map(Text::decode).map(std::borrow::Cow::into_owned).collect()
}

/// The denied findings that the file after the cut has and the one before it has not.
fn new_findings(
    before: &WholeFile,
    before_reading: &Reading,
    after: &WholeFile,
    after_reading: &Reading,
) -> Result<Vec<Finding>, FileError> {
    let levels = Levels::new(&Table::default(), &Table::default()).unwrap_or_default();
    let examine = |file: &WholeFile, reading: &Reading| {
        let inspection = Inspection { live: true, ..Inspection::default() };
        let found = inspection.examine(reading, &levels.for_path(&file.name), &file.text);
        let found = found.map_err(|error| located(&file.name, &file.text, &error))?;
        Ok(found.findings.into_iter().filter(|finding| finding.level == Level::Deny).collect::<Vec<_>>())
    };
    let mut known: Vec<(&str, String)> =
        examine(before, before_reading)?.into_iter().map(|finding| (finding.rule.code, finding.message)).collect();
    let mut is_new = |finding: &Finding| {
        let same = known.iter().position(|(code, message)| *code == finding.rule.code && *message == finding.message);
        let place = same.or_else(|| known.iter().position(|(code, _)| *code == finding.rule.code));
        place.map(|at| known.swap_remove(at)).is_none()
    };
    let mut found = examine(after, after_reading)?;
    found.retain(|finding| is_new(finding));
    Ok(found)
}
