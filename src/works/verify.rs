//! Compares transcripts before and after a cut: whether what is left is sound, how much of the prefix is unchanged, and which facts
//! were lost.

use std::collections::HashMap;
use std::ops::Range;

use curtail_core::checks::{Finding, Inspection, Level, Levels, LineIndex};
use curtail_core::dialects::{Dialect, Reading};
use curtail_core::processors::{Counting, View};
use curtail_core::transcript::{Layout, Message, Pairs, Standing, Transcript};
use curtail_facts::verify::{Comparison, Side, compare, digest, used};
use curtail_io::{ErrorKind, FileError};
use curtail_lab::{Compaction, Session, sessions};

use crate::works::whole_file::WholeFile;

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
        let reading = before.transcript_reading()?;
        let document = before.parse(reading)?;
        let all = before.transcripts(reading, &document)?;
        let lines = &LineIndex::new(before.text());
        let Some(after_reading) = after.reading() else {
            let [(dialect, transcript)] = all.as_slice() else { return Err(uneven(after, all.len(), 1)) };
            return Ok(vec![
                self.with_text(&Read { file: before, lines, nth: 0, dialect: *dialect, transcript }, after),
            ]);
        };
        let after_document = after.parse(after_reading)?;
        let others = after.transcripts(after_reading, &after_document)?;
        if all.len() != others.len() {
            return Err(uneven(after, all.len(), others.len()));
        }
        let known = denied(before, reading, &all)?;
        let found = denied(after, after_reading, &others)?;
        let mut verified = Vec::new();
        for (nth, ((dialect, transcript), (other, after_transcript))) in all.iter().zip(&others).enumerate() {
            let one = Read { file: before, lines, nth, dialect: *dialect, transcript };
            let messages = live(after_transcript);
            let info = self.info(after, *other, after_transcript, &messages);
            let pairs = Pairs::from_messages(&messages);
            let side = Side { messages: &messages, pairs: &pairs, outside: &outside(after_transcript) };
            verified.push(self.verified(&one, &live(transcript), info, &side, Some(&after_transcript.layout)));
        }
        for (one, (known, found)) in verified.iter_mut().zip(known.into_iter().zip(found)) {
            one.findings = Some(new_findings(&known, found));
        }
        Ok(verified)
    }

    fn with_text(&self, before: &Read<'_, '_>, after: &WholeFile) -> Verified {
        let none = Pairs::from_messages(&[]);
        let text = [after.text().to_owned()];
        let tokens = self.counting.tokenizer.count(after.text());
        let info = SideInfo { file: after.name.clone(), dialect: "text", tokens };
        let side = Side { messages: &[], pairs: &none, outside: &text };
        self.verified(before, &live(before.transcript), info, &side, None)
    }

    /// Compares messages with what is left of them: `side`, with the `layout` of its transcript if it is one.
    fn verified(
        &self,
        read: &Read<'_, '_>,
        before: &[Message<'_>],
        after: SideInfo,
        side: &Side<'_, '_>,
        layout: Option<&Layout<'_>>,
    ) -> Verified {
        let pairs = Pairs::from_messages(before);
        let outside = outside(read.transcript);
        let all = read.transcript.messages.iter().enumerate();
        let places: HashMap<u32, usize> = all.filter_map(|(at, message)| Some((start_of(message)?, at))).collect();
        let starts: Vec<Option<u32>> = before.iter().map(start_of).collect();
        Verified {
            before: self.info(read.file, read.dialect, read.transcript, before),
            after,
            job: 0,
            compaction: None,
            findings: None,
            unchanged: layout.map_or(0, |layout| {
                let before = View::of_layout(&read.transcript.layout, before);
                self.unchanged(&before, &View::of_layout(layout, side.messages))
            }),
            comparison: compare(&Side { messages: before, pairs: &pairs, outside: &outside }, side),
            lines: starts.iter().map(|start| start.map_or(1, |start| read.lines.line(start as usize))).collect(),
            transcript: read.nth,
            places: starts.iter().map(|start| start.and_then(|start| places.get(&start)).copied()).collect(),
            used: Vec::new(),
        }
    }

    fn info(
        &self,
        file: &WholeFile,
        dialect: &dyn Dialect,
        transcript: &Transcript<'_>,
        messages: &[Message<'_>],
    ) -> SideInfo {
        let outside = self.counting.outside(&View::of_layout(&transcript.layout, messages));
        let tokens = messages.iter().map(|message| self.counting.message(message)).sum::<usize>();
        SideInfo { file: file.name.clone(), dialect: dialect.name(), tokens: outside + tokens }
    }

    /// Tokens with which both sides begin: of what is sent before the messages, and of the messages; of everything, if nothing
    /// differs.
    fn unchanged(&self, before: &View<'_, '_>, after: &View<'_, '_>) -> usize {
        if before.preamble != after.preamble {
            return 0;
        }
        let pairs = before.messages.iter().zip(after.messages);
        let same = pairs.take_while(|(one, other)| one.role == other.role && digest(one) == digest(other)).count();
        let is_all = same == before.messages.len() && same == after.messages.len() && before.replies == after.replies;
        let outside = match is_all {
            true => self.counting.outside(before),
            false => before.preamble.iter().map(|text| self.counting.text(text)).sum(),
        };
        outside + before.messages.iter().take(same).map(|message| self.counting.message(message)).sum::<usize>()
    }

    /// Compares what the model read before each compaction of a log with what it read after it.
    pub(crate) fn log(&self, file: &WholeFile) -> Result<Vec<Verified>, FileError> {
        let reading = file.transcript_reading()?;
        let document = file.parse(reading)?;
        let lines = &LineIndex::new(file.text());
        let mut verified = Vec::new();
        for (nth, (dialect, transcript)) in file.transcripts(reading, &document)?.into_iter().enumerate() {
            let read = Read { file, lines, nth, dialect, transcript: &transcript };
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
        let info = self.info(read.file, read.dialect, read.transcript, &after);
        let mut verified = self.verified(read, &before, info, &side, Some(&read.transcript.layout));
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

/// Where a message begins in its file.
fn start_of(message: &Message<'_>) -> Option<u32> {
    message.value().map(|value| value.span().start)
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
        let last = found
            .last_mut()
            .filter(|last| !session.requests.iter().any(|request| request.at > last.at && request.at <= next.at));
        match last {
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
    /// The lines of the file.
    lines: &'r LineIndex<'r>,
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
    transcript.layout.outside().map(|text| text.decode().into_owned()).collect()
}

/// The denied findings of each of the transcripts of a file.
fn denied(
    file: &WholeFile,
    reading: &Reading,
    transcripts: &[(&'static dyn Dialect, Transcript<'_>)],
) -> Result<Vec<Vec<Finding>>, FileError> {
    let inspection = Inspection { live: true, ..Inspection::default() };
    let examined = inspection.examine(reading, &Levels::default().for_path(&file.name), file.text());
    let examined = examined.map_err(|error| file.error(error))?;
    let starts: Vec<usize> =
        transcripts.iter().map(|(_, transcript)| transcript.layout.record.start as usize).collect();
    let mut found = vec![Vec::new(); transcripts.len()];
    for finding in examined.findings.into_iter().filter(|finding| finding.level == Level::Deny) {
        let nth = starts.partition_point(|start| *start <= finding.at.offset).saturating_sub(1);
        found[nth].push(finding);
    }
    Ok(found)
}

/// The findings of a transcript after the cut that it had not before it, whatever numbers were in them.
fn new_findings(known: &[Finding], mut found: Vec<Finding>) -> Vec<Finding> {
    let mut same: HashMap<(&str, String), usize> = HashMap::new();
    for finding in known {
        *same.entry((finding.rule.code, without_numbers(&finding.message))).or_default() += 1;
    }
    found.retain(|finding| match same.get_mut(&(finding.rule.code, without_numbers(&finding.message))) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        _ => true,
    });
    found
}

/// The message of a finding without its numbers, which a cut changes, and without the `s` of their nouns. Names, which are quoted,
/// stay as they are.
fn without_numbers(message: &str) -> String {
    let mut is_name = false;
    let mut out = String::new();
    for c in message.chars() {
        is_name ^= c == '`';
        if is_name || !c.is_ascii_digit() && !matches!(c, ',' | 's') {
            out.push(c);
        }
    }
    out
}
