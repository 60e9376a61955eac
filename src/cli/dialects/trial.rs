//! Tries a description on samples, and says what came of it.

use std::fmt::Write as _;
use std::path::PathBuf;

use curtail_core::dialects::{Description, Dialect, Framing, Reading, detect_framing, register};
use curtail_core::numbers::counted;
use curtail_core::pipeline::{Chain, TextCutter};
use curtail_core::places::TextPlace;
use curtail_core::processors::{Keep, SlidingWindow, WindowUnit};
use curtail_core::transcript::{Pairs, PartRef, Transcript, Unknown};
use curtail_core::visible::{cut_after, one_line};
use curtail_io::FileError;
use curtail_io::batch::InputOptions;

use super::{laws, reading_of};
use crate::options::files::source_of;
use crate::works::whole_file::text_of;

/// What came of a trial.
pub(super) struct Tried {
    /// The report.
    pub(super) text: String,
    /// Whether nothing is left to do.
    pub(super) passed: bool,
    /// What the description names and no sample so far has; `None` before the first one.
    unmatched: Option<Vec<String>>,
}

/// How many unread texts a report shows.
const SHOWN: usize = 5;

/// How many characters of each.
const SHOWN_LETTERS: usize = 60;

/// Tries `description` on its own samples, and on those in `files`; `unwritten` is what is wrong with its `[write]`.
pub(super) fn run(
    description: Description,
    unwritten: Option<&FileError>,
    files: &[PathBuf],
) -> Result<Tried, FileError> {
    register(&[description]);
    let dialect = description.dialect();
    let does = match (dialect.writer(), unwritten) {
        (Some(_), _) => "reads and writes",
        (None, None) => "reads, and writes nothing",
        (None, Some(_)) => "reads; its `[write]` is wrong",
    };
    let mut tried = Tried { text: format!("dialect {}: {does}\n", dialect.name()), passed: true, unmatched: None };
    let mut texts = Vec::new();
    for (nth, sample) in description.samples().iter().enumerate() {
        tried.sample(description, &format!("sample {}", nth + 1), sample);
        texts.push(sample.clone());
    }
    for path in files {
        let source = source_of(path, None);
        let text = text_of(&source, &InputOptions::default())?;
        tried.sample(description, &source.name, &text);
        texts.push(text);
    }
    for unmatched in tried.unmatched.take().unwrap_or_default() {
        tried.says(&format!("? in no sample: {unmatched}"));
    }
    if let Some(wrong) = unwritten {
        tried.fails(&one_line(&wrong.to_string()));
    }
    if texts.is_empty() {
        tried.fails("no sample: name files, or give the description `samples`");
    } else if dialect.writer().is_some() {
        match laws::hold(dialect.name(), &texts) {
            Ok(held) => tried.says(&held),
            Err(broken) => tried.fails(&broken),
        }
    }
    tried.text += if tried.passed { "passed\n" } else { "not passed\n" };
    Ok(tried)
}

impl Tried {
    fn says(&mut self, what: &str) {
        let _ = writeln!(self.text, "  {what}");
    }

    fn fails(&mut self, what: &str) {
        self.passed = false;
        self.says(&format!("! {what}"));
    }

    /// Adds what is read of one sample.
    fn sample(&mut self, description: Description, name: &str, text: &str) {
        let framing = detect_framing(text, None);
        let dialect = description.dialect();
        let _ = writeln!(self.text, "{}: framing {}", one_line(name), framing.name());
        let mut counts = Counts::default();
        let mut first = 1;
        for piece in pieces(text, framing) {
            let outcome = if piece.trim().is_empty() { Ok(()) } else { counts.add(description, framing, piece) };
            if let Err((offset, what)) = outcome {
                let place = TextPlace::locate(piece.as_bytes(), offset, first);
                return self.fails(&format!("{}:{}: {}", place.line, place.column, one_line(&what)));
            }
            first += piece.matches('\n').count();
        }
        keep_common(&mut self.unmatched, counts.unmatched.clone());
        self.says(&counts.read());
        self.texts(&counts);
        if let Some(nothing) = counts.nothing.as_ref().filter(|_| counts.unknown.is_empty()) {
            self.fails(&one_line(nothing));
        }
        for role in &counts.unknown {
            self.fails(&format!("no message: {}", one_line(role)));
        }
        self.says(&format!(
            "{}; {} open, {} without a call",
            counted(counts.pairs, "pair"),
            counted(counts.open, "call"),
            counted(counts.orphans, "result")
        ));
        if let Some(orphan) = &counts.orphan {
            self.fails(&format!(
                "the result {} belongs to no call: see `id` of calls and results, and `results`, where they must be; `curtail show` \
                 prints what is read",
                one_line(orphan)
            ));
        }
        self.detection(&counts, dialect.name());
        if dialect.writer().is_some() && counts.nothing.is_none() {
            match unchanged(dialect, framing, text) {
                Ok(true) => self.says("doing nothing changes nothing"),
                Ok(false) => self.fails("doing nothing changes the text"),
                Err(error) => self.fails(&error),
            }
        }
    }

    /// Adds whether the dialect called `name` is detected, or why not.
    fn detection(&mut self, counts: &Counts, name: &str) {
        match counts.detected.as_slice() {
            [one] if *one == name && counts.refused.is_none() => self.says("it is detected"),
            [one] if *one == name => {
                self.fails(&format!("it is not detected in all records{}", counts.undetected()));
            }
            [] => self.fails(&format!("it is not detected{}", counts.undetected())),
            others => self.fails(&format!("it is detected as {}{}", others.join(", "), counts.undetected())),
        }
    }

    /// Adds the texts that no message and no key has.
    fn texts(&mut self, counts: &Counts) {
        for (label, value) in counts.unread.iter().take(SHOWN) {
            self.fails(&format!("not read: {label}: {}", one_line(value)));
        }
        if counts.unread.len() > SHOWN {
            self.fails(&format!("and {} more", counts.unread.len() - SHOWN));
        }
        if counts.unread.is_empty() && counts.messages > 0 {
            self.says("every text of 40 characters in a message is in a part or under a known key");
        }
        for (path, value) in counts.beside.iter().take(SHOWN) {
            self.says(&format!("? beside the messages: {path}: {}", one_line(value)));
        }
        if counts.beside.len() > SHOWN {
            self.says(&format!("? and {} more beside the messages", counts.beside.len() - SHOWN));
        }
    }
}

/// Keeps of `known` what `here` has as well; `None` is all that there could be.
fn keep_common(known: &mut Option<Vec<String>>, here: Option<Vec<String>>) {
    match (known.as_mut(), here) {
        (Some(known), Some(here)) => known.retain(|one| here.contains(one)),
        (None, here) => *known = here,
        (Some(_), None) => {}
    }
}

/// The pieces of a text that each hold one transcript or more, and blank lines.
fn pieces(text: &str, framing: Framing) -> Vec<&str> {
    match framing {
        Framing::Records => text.split_inclusive('\n').collect(),
        Framing::Lines | Framing::Document => vec![text],
    }
}

/// What was read of a sample.
#[derive(Default)]
struct Counts {
    transcripts: usize,
    messages: usize,
    kinds: Vec<(&'static str, usize)>,
    pairs: usize,
    open: usize,
    orphans: usize,
    /// The first result that lacks its call, in a format that records all calls: where, and what.
    orphan: Option<String>,
    /// What the description names that is in no text so far; `None` before the first one.
    unmatched: Option<Vec<String>>,
    /// Texts that are in no part: where, and what.
    unread: Vec<(String, String)>,
    /// Texts of records that are in no message: where, and what of the first.
    beside: Vec<(String, String)>,
    /// What is wrong with the first transcript without a message.
    nothing: Option<String>,
    /// Items that are no message although nothing says so.
    unknown: Vec<String>,
    detected: Vec<&'static str>,
    /// Whether an item has what `fits` says.
    is_marked: bool,
    /// Why nothing was detected of a text.
    refused: Option<String>,
}

impl Counts {
    /// Adds what is read of one text.
    fn add(&mut self, description: Description, framing: Framing, text: &str) -> Result<(), (usize, String)> {
        let reading = reading_of(description.dialect().name(), framing);
        let document = reading.parse(text).map_err(|error| (error.offset, error.what))?;
        let transcripts = reading.transcripts_or_none(&document).map_err(|error| (error.offset, error.what))?;
        if transcripts.iter().any(|(_, transcript)| transcript.messages.is_empty()) {
            self.nothing = self.nothing.take().or(reading.transcripts(&document).err().map(|error| error.what));
        }
        for (_, transcript) in &transcripts {
            self.transcript(description, transcript);
        }
        let detecting = Reading { framing, dialect: None, named: false, messages_key: None };
        match detecting.transcripts(&document) {
            Ok(transcripts) => {
                for (dialect, _) in transcripts {
                    if !self.detected.contains(&dialect.name()) {
                        self.detected.push(dialect.name());
                    }
                }
            }
            Err(error) => self.refused = self.refused.take().or(Some(error.what)),
        }
        Ok(())
    }

    fn transcript(&mut self, description: Description, transcript: &Transcript<'_>) {
        self.transcripts += 1;
        self.messages += transcript.messages.len();
        for part in transcript.messages.iter().flat_map(|message| &message.parts) {
            let kind = part.content.kind();
            match self.kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, count)) => *count += 1,
                None => self.kinds.push((kind, 1)),
            }
        }
        let pairs = Pairs::from_messages(&transcript.messages);
        let orphans = alone(&pairs, pairs.results());
        self.pairs += pairs.pairs().count();
        self.open += alone(&pairs, pairs.calls()).len();
        self.orphans += orphans.len();
        let mut wrong = orphans.iter().filter(|orphan| !transcript.messages[orphan.message].call_rules.unasked);
        if let Some(orphan) = wrong.next() {
            let message = &transcript.messages[orphan.message];
            let place = message.parts[orphan.part].place().map(|place| place.element);
            let shown =
                place.map(|value| format!("of message {}, {}", orphan.message, cut_after(value.raw(), SHOWN_LETTERS)));
            self.orphan = self.orphan.take().or(shown);
        }
        self.is_marked |= description.marks(transcript);
        for (path, value) in description.beside(transcript) {
            if !self.beside.iter().any(|(known, _)| *known == path) {
                self.beside.push((path, cut_after(value.raw(), SHOWN_LETTERS).into_owned()));
            }
        }
        keep_common(&mut self.unmatched, Some(description.unmatched(transcript)));
        for item in &transcript.layout.elements {
            let unread = description.unaccounted(*item);
            self.unread.extend(
                unread.iter().map(|value| (value.pointer(), cut_after(value.raw(), SHOWN_LETTERS).into_owned())),
            );
        }
        let unknown = transcript.layout.non_messages.iter().filter_map(|item| item.unknown.as_ref());
        for unknown in unknown.map(advised) {
            if !self.unknown.contains(&unknown) {
                self.unknown.push(unknown);
            }
        }
    }

    /// Why the dialect is not detected, as the end of a sentence.
    fn undetected(&self) -> String {
        match &self.refused {
            _ if self.messages == 0 => String::from(", because no message was read"),
            _ if !self.is_marked => String::from("; `fits` names what only this format has"),
            _ if !self.unknown.is_empty() => String::from(", because of the items that are no message"),
            Some(refused) => format!(": {}", one_line(refused)),
            None => String::from("; `fits` names what only this format has"),
        }
    }

    /// One line about all of it.
    fn read(&self) -> String {
        let kinds: String = self.kinds.iter().map(|(kind, count)| format!(", {count} {kind}")).collect();
        format!("{}, {}{kinds}", counted(self.transcripts, "transcript"), counted(self.messages, "message"))
    }
}

/// The calls or results in `parts` without a counterpart.
fn alone(pairs: &Pairs, parts: &[PartRef]) -> Vec<PartRef> {
    parts.iter().copied().filter(|at| pairs.counterpart(*at).is_none()).collect()
}

/// Why an item is no message, and what to do.
fn advised(unknown: &Unknown) -> String {
    match unknown {
        Unknown::NoRole => format!("{unknown}; see `at` of `[role]`, and `list` and `message`, where messages are"),
        _ => format!("{unknown}; give its role a name, or list it under `metadata`"),
    }
}

/// Whether a window that is larger than the text writes it as it was.
fn unchanged(dialect: &dyn Dialect, framing: Framing, text: &str) -> Result<bool, String> {
    let window = SlidingWindow { size: usize::MAX, unit: WindowUnit::Items, keep: Keep::default(), step: 1 };
    for piece in pieces(text, framing).into_iter().filter(|piece| !piece.trim().is_empty()) {
        let mut out = String::new();
        let cutter = TextCutter { chain: Chain::default().then(window), ..TextCutter::default() };
        cutter.cut(&reading_of(dialect.name(), framing), piece, &mut out).map_err(|error| error.to_string())?;
        if out != piece {
            return Ok(false);
        }
    }
    Ok(true)
}
