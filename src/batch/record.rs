//! One text through the rooms: bytes in, transcripts read, cut and written.

use super::Reading;
use crate::edit::{Explained, apply, explain};
use crate::json::Fault as JsonFault;
use crate::pipeline::{Chain, Run};
use crate::processors::{Counting, View};
use crate::transcript::{Fault, Message, Pairs, Transcript};

/// What is wrong with a text, and where in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// Byte offset in the text.
    pub offset: usize,
    /// What is wrong and what would be right.
    pub what: String,
}

impl From<JsonFault> for Trouble {
    fn from(fault: JsonFault) -> Self {
        Self { offset: fault.offset, what: fault.what.to_owned() }
    }
}

/// Cuts texts with a chain of processors.
pub struct Cutter {
    /// What is done to every transcript.
    pub chain: Chain,
    /// Whether decisions are put into words.
    pub explain: bool,
    /// What counts tokens before and after, if sums are wanted.
    pub counting: Option<Counting>,
}

/// What became of a text.
#[derive(Debug, Default)]
pub struct Cut {
    /// Whether it is not as it was.
    pub changed: bool,
    /// The decisions in words, with the level of the stage that made each.
    pub explained: Vec<(String, Explained)>,
    /// What the user should know, with the offset of the transcript that it is about.
    pub notes: Vec<(usize, String)>,
    /// What was in it and what is left.
    pub tally: Tally,
    /// The dialect of the first transcript.
    pub dialect: Option<&'static str>,
}

/// How much there was, and how much is left. Tokens and faults are counted only where sums are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Tally {
    /// Transcripts.
    pub transcripts: usize,
    /// Transcripts that are not as they were.
    pub changed: usize,
    /// Messages before.
    pub messages_before: usize,
    /// Messages after.
    pub messages_after: usize,
    /// Tokens before, preambles included.
    pub tokens_before: usize,
    /// Tokens after.
    pub tokens_after: usize,
    /// Pairing faults that were found before.
    pub faults: usize,
}

impl Tally {
    /// Adds what `other` counted.
    pub fn add(&mut self, other: Self) {
        self.transcripts += other.transcripts;
        self.changed += other.changed;
        self.messages_before += other.messages_before;
        self.messages_after += other.messages_after;
        self.tokens_before += other.tokens_before;
        self.tokens_after += other.tokens_after;
        self.faults += other.faults;
    }
}

impl Cutter {
    /// Cuts every transcript of `text`, which is read as `reading` says, and appends what is left to `out`.
    ///
    /// # Errors
    /// What is no JSON, no transcript, or cannot be done, with its place; then nothing is appended.
    pub fn cut(&self, reading: &Reading, text: &str, out: &mut String) -> Result<Cut, Trouble> {
        let before = out.len();
        let cut = self.append(reading, text, out);
        if cut.is_err() {
            out.truncate(before);
        }
        cut
    }

    fn append(&self, reading: &Reading, text: &str, out: &mut String) -> Result<Cut, Trouble> {
        let document = reading.document(text)?;
        let mut cut = Cut::default();
        if let Some(torn) = document.torn() {
            let note = "the last line is torn; it stays as it is and counts for nothing";
            cut.notes.push((torn.offset, note.to_owned()));
        }
        let mut at = 0;
        for (dialect, mut transcript) in reading.transcripts(&document)? {
            cut.dialect = cut.dialect.or(Some(dialect.name()));
            let run = self.run(&mut transcript, &mut cut)?;
            if run.changed {
                out.push_str(&text[at..transcript.span.start as usize]);
                apply(&transcript, dialect, &run.messages, out);
                at = transcript.span.end as usize;
                cut.changed = true;
            }
            cut.notes.extend(run.notes.into_iter().map(|note| (transcript.span.start as usize, note)));
        }
        out.push_str(&text[at..]);
        Ok(cut)
    }

    fn run<'a>(&self, transcript: &mut Transcript<'a>, cut: &mut Cut) -> Result<Run<'a>, Trouble> {
        let mut tally = Tally { transcripts: 1, messages_before: transcript.messages.len(), ..Tally::default() };
        if let Some(counting) = &self.counting {
            tally.tokens_before = tokens(counting, transcript, &transcript.messages);
            let pairs = Pairs::find(&transcript.messages);
            tally.faults = Fault::find(&transcript.messages, &pairs, transcript.manners).len();
        }
        let run = self.chain.run(transcript, |stage, messages, plan| {
            if self.explain {
                let words = explain(messages, plan);
                cut.explained.extend(words.into_iter().map(|word| (stage.level.clone(), word)));
            }
        });
        let run = run.map_err(|what| Trouble { offset: transcript.span.start as usize, what })?;
        tally.changed = usize::from(run.changed);
        tally.messages_after = run.messages.len();
        if let Some(counting) = &self.counting {
            tally.tokens_after = tokens(counting, transcript, &run.messages);
        }
        cut.tally.add(tally);
        Ok(run)
    }
}

fn tokens<'a>(counting: &Counting, transcript: &Transcript<'a>, messages: &[Message<'a>]) -> usize {
    let view = View { messages, preamble: &transcript.preamble, manners: transcript.manners };
    counting.outside(&view) + messages.iter().map(|message| counting.message(message)).sum::<usize>()
}
