//! Taking an input into a thread: the lines of it that are new are stored.

use super::stored_text::{StoredTranscript, document};
use super::{Taken, Thread, ThreadError};
use crate::rolling::intake::{Fresh, Had, InputLine, Intake};
use crate::rolling::lines::{StoredLine, is_list, line_break, line_kinds, line_values, spaces};
use curtail_core::dialects::{self, Dialect, Framing, Reading};
use curtail_core::json::Document;
use curtail_core::transcript::Transcript;

impl Thread {
    /// Appends the new lines and returns the marks of their messages.
    pub(super) fn take(&mut self, taken: Taken<'_>, known: &dyn Fn(&str) -> bool) -> Result<Vec<String>, ThreadError> {
        let input = taken.reading.parse(taken.text).map_err(|fault| ThreadError::Input(fault.offset, fault.what))?;
        let own = self.log_reading(taken.reading);
        let (reading, mut transcripts) = match (self.transcripts(taken.reading, &input), &own) {
            (Err(error), Some(own)) => {
                let metadata = self.transcripts(own, &input).ok().filter(|read| read.iter().all(is_known_metadata));
                (own, metadata.ok_or(error)?)
            }
            (read, _) => (taken.reading, read?),
        };
        let taken = Taken { reading, ..taken };
        if let [(dialect, _)] = transcripts.as_slice()
            && let Some(shared) = self.shared_dialect(taken.reading, *dialect, &input)
        {
            self.dialect = Some(shared.name().to_owned());
            let reading = Reading { dialect: Some(shared), named: true, ..taken.reading.clone() };
            transcripts = self.transcripts(&reading, &input)?;
        }
        let [(dialect, transcript)] = transcripts.as_slice() else {
            let count = transcripts.len();
            return if count == 0 { Ok(Vec::new()) } else { Err(ThreadError::SeveralTranscripts(count)) };
        };
        self.check_dialect(*dialect, transcript)?;
        let values = line_values(&input);
        let kinds = line_kinds(&values, &transcript.layout);
        let lines: Vec<_> = values
            .iter()
            .zip(kinds)
            .map(|(&value, kind)| InputLine { value, kind, messages: &transcript.messages[kind.messages()] })
            .collect();
        let skip = self.skip(taken, transcript.messages.len())?;
        let mut intake = Intake::new(known, self.had(), skip, &lines);
        let is_log = taken.reading.framing == Framing::Lines && !is_list(&input);
        let (leads, rest) = if is_log { spaces(taken.text, &values) } else { (vec!["\n"; values.len()], "\n") };
        let mut open = None;
        let mut new_lines = Vec::new();
        for (nth, line) in lines.into_iter().enumerate() {
            if intake.take(line)? {
                let lead = if nth == 0 { self.separator_before(leads[0]) } else { leads[nth].to_owned() };
                open = open.or((nth == 0 && is_log).then_some(leads[0]));
                let ts = dialect.time(line.value).unwrap_or_else(|| taken.now.to_owned());
                new_lines.push(StoredLine::from_value(line.value, lead, ts));
            }
        }
        let Fresh { mut marks, taken, trailing, is_at_end } = intake.finish();
        (self.taken, self.trailing) = (taken, trailing);
        if is_at_end && !values.is_empty() {
            self.close = if rest.contains('\n') { rest.to_owned() } else { line_break() };
        }
        if let Some(open) = open.filter(|_| self.items.is_empty() && self.dropped == 0) {
            open.clone_into(&mut self.open);
        }
        if !new_lines.is_empty() {
            self.items.append(&mut new_lines);
            // A document with its messages inside is stored as one line, which is not read as lines are.
            if is_log || is_list(&input) {
                self.number(known, &mut marks)?;
            }
        }
        Ok(marks)
    }

    /// How to read an input that is only metadata of the thread's log, and so shows no dialect; `None` if the caller names one.
    fn log_reading(&self, reading: &Reading) -> Option<Reading> {
        let dialect = self.dialect.as_deref().and_then(dialects::dialect_named);
        let dialect = dialect.filter(|dialect| dialect.is_log() && reading.dialect.is_none());
        dialect.map(|dialect| Reading {
            framing: Framing::Lines,
            dialect: Some(dialect),
            named: true,
            ..reading.clone()
        })
    }

    /// The transcripts of an input. If it is appended, it may consist of metadata only.
    fn transcripts<'a>(
        &self,
        reading: &Reading,
        input: &'a Document<'a>,
    ) -> Result<Vec<(&'static dyn Dialect, Transcript<'a>)>, ThreadError> {
        let read = match self.taken {
            0 => reading.writable_transcripts(input),
            _ => reading.transcripts_or_none(input),
        };
        read.map_err(|fault| ThreadError::Input(fault.offset, fault.what))
    }

    /// The dialect of the thread and an input that are each of another one: that of both together, because a message without calls
    /// may be of many. `None` if the caller names the dialect, or if nothing reads both.
    fn shared_dialect(
        &self,
        reading: &Reading,
        of_input: &dyn Dialect,
        input: &Document<'_>,
    ) -> Option<&'static dyn Dialect> {
        let own = self.dialect.as_deref().filter(|own| *own != of_input.name() && reading.dialect.is_none())?;
        let values = line_values(input);
        let lines = values.iter().map(|value| value.raw());
        let text = std::iter::once(&*self.lines()).chain(lines).collect::<Vec<_>>().join("\n");
        let document = Document::parse_all(&text).ok()?;
        let reading = Reading { framing: Framing::Lines, ..reading.clone() };
        let [(shared, _)] = reading.transcripts_or_none(&document).ok()?[..] else { return None };
        [own, of_input.name()].contains(&shared.name()).then_some(shared)
    }

    /// Counts the messages as all lines together are read, and adds their marks: in some logs, a line changes what the lines
    /// before it are.
    fn number(&mut self, known: &dyn Fn(&str) -> bool, marks: &mut Vec<String>) -> Result<(), ThreadError> {
        if self.dialect.is_none() {
            return Ok(());
        }
        let text = self.lines();
        let document = document(&text)?;
        let StoredTranscript { messages, values, kinds, .. } = self.read(&document)?;
        if messages.is_empty() {
            return Ok(());
        }
        for (stored, (value, kind)) in self.items.iter().zip(values.into_iter().zip(kinds)) {
            // What stands in front of the window has the number that it had before the messages after it were dropped.
            if !stored.outlived {
                let line = InputLine { value, kind, messages: &messages[kind.messages()] };
                let first = self.dropped + kind.messages().start + 1;
                marks.extend(line.number_marks(first, self.epoch).filter(|mark| !known(mark)));
            }
        }
        marks.sort_unstable();
        marks.dedup();
        self.taken = self.dropped + messages.len();
        Ok(())
    }

    fn had(&self) -> Had<'_> {
        Had { lines: &self.items, taken: self.taken, trailing: self.trailing, epoch: self.epoch }
    }

    /// The separator between the last line and the first line of an input, before which the input has `lead`.
    fn separator_before(&self, lead: &str) -> String {
        format!("{}{}", self.close, lead.trim_start_matches('\u{feff}'))
    }

    /// Remembers the dialect of the first messages, and checks that later messages have the same one.
    fn check_dialect(&mut self, dialect: &'static dyn Dialect, transcript: &Transcript<'_>) -> Result<(), ThreadError> {
        if transcript.messages.is_empty() {
            return Ok(());
        }
        let kept = self.dialect.get_or_insert_with(|| dialect.name().to_owned());
        if kept == dialect.name() {
            return Ok(());
        }
        Err(ThreadError::Dialect { kept: kept.clone(), new: dialect.name() })
    }

    /// The number of leading messages that the thread already contains, of `count`, if the number of the first one is known.
    /// The whole conversation has all of them.
    fn skip(&self, taken: Taken<'_>, count: usize) -> Result<Option<usize>, ThreadError> {
        let next = self.taken + 1;
        match taken.from {
            None => Ok(None),
            Some(from) if from <= next && taken.rewind && count < next - from => Err(ThreadError::Changed(count + 1)),
            Some(from) if from <= next => Ok(Some(next - from)),
            Some(from) => Err(ThreadError::Gap { taken: self.taken, from }),
        }
    }
}

/// Whether a transcript consists of metadata that its dialect knows: it reads any other line as an unknown one.
fn is_known_metadata((_, transcript): &(&dyn Dialect, Transcript<'_>)) -> bool {
    transcript.messages.is_empty() && transcript.layout.non_messages.iter().all(|line| line.unknown.is_none())
}
