//! One text in, one text out: its transcripts are read, run through a chain and written back. It knows no file.

use super::chain::{Chain, Stage, calibrated};
use super::cut::{Cut, CutError, Decider, ReadTranscript, StageCount, Totals, Writing};
use super::run::{Run, Steps};
use super::separators::separators;
use super::splitting::Splitter;
use super::thoughts::ThoughtStep;
use crate::dialects::{Dialect, Framing, ReadError, Reading, write_repeated};
use crate::edit::{Editor, apply, name_drafts};
use crate::explain::{Explained, explain};
use crate::figures::{FigureEdits, StaleFigures};
use crate::patches::copy_patched;
use crate::processors::{Counting, Plan, View};
use crate::transcript::{Fault, Layout, Message, Pairs, Transcript};

/// Cuts texts with a chain of processors. The default changes nothing.
#[derive(Default)]
pub struct TextCutter {
    /// What is done to every transcript.
    pub chain: Chain,
    /// Whether decisions are explained.
    pub explain: bool,
    /// Counts tokens before and after; `None` to leave them at 0.
    pub counting: Option<Counting>,
}

impl TextCutter {
    /// Cuts every transcript of `text`, which is read as `reading` says, and appends the result to `out`.
    ///
    /// ```
    /// use curtail_core::dialects::{Framing, Reading};
    /// use curtail_core::pipeline::{Chain, TextCutter};
    ///
    /// let cutter = TextCutter { chain: Chain::default(), ..TextCutter::default() };
    /// let (chat, mut out) = ("{\"role\": \"user\", \"content\": \"Hello\"}\n", String::new());
    /// let cut = cutter.cut(&Reading::new(Framing::Lines, None, None)?, chat, &mut out)?;
    /// assert!(!cut.changed && out == chat);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The text is not JSON, not a transcript, or a processor failed. Nothing is appended then.
    pub fn cut(&self, reading: &Reading, text: &str, out: &mut String) -> Result<Cut, CutError> {
        let before = out.len();
        let cut = self.append(reading, text, out);
        if cut.is_err() {
            out.truncate(before);
        }
        cut
    }

    /// Reads the text, applies the chain to its transcripts and writes them. If a stage has to read what the stages before it
    /// wrote, the written text is read again, and the chain goes on with that stage.
    fn append(&self, reading: &Reading, text: &str, out: &mut String) -> Result<Cut, CutError> {
        let document = reading.parse(text)?;
        let transcripts = reading.writable_transcripts(&document)?;
        let calibrated = transcripts.iter().map(|(dialect, transcript)| self.calibrated(*dialect, transcript));
        let calibrated = calibrated.collect::<Result<Vec<_>, _>>()?;
        let mut sessions = Vec::with_capacity(transcripts.len());
        for ((dialect, transcript), calibrated) in transcripts.iter().zip(&calibrated) {
            sessions.push(Session::begin(calibrated.as_ref().unwrap_or(self), *dialect, transcript));
        }
        let mut cut = Cut::begin(&document, &transcripts);
        let start = out.len();
        self.pass(reading, text, transcripts, &mut sessions, &mut cut, out)?;
        while !sessions.iter().all(Session::is_done) {
            let written = out.split_off(start);
            let document = reading.parse(&written)?;
            let dialects: Vec<_> = sessions.iter().map(|session| session.dialect).collect();
            let transcripts = reading.transcripts_as(&document, &dialects)?;
            // What lost all messages may be no transcript any more. Which one is gone is not known, so none is cut further.
            if transcripts.len() < sessions.len() {
                out.push_str(&written);
                break;
            }
            self.pass(reading, &written, transcripts, &mut sessions, &mut cut, out)?;
        }
        for mut session in sessions {
            session.report(&mut cut);
            cut.totals.add(session.totals);
        }
        Ok(cut)
    }

    /// The cutter with countings that are calibrated for `transcript`; `None` if none has to be.
    fn calibrated(&self, dialect: &dyn Dialect, transcript: &Transcript<'_>) -> Result<Option<Self>, ReadError> {
        let Some(chain) = self.chain.calibrated(dialect, transcript)? else { return Ok(None) };
        let counting = self.counting.as_ref().map(|counting| calibrated(counting, dialect, transcript)).transpose()?;
        Ok(Some(Self { chain, explain: self.explain, counting }))
    }

    /// Advances each of `transcripts`, those of `text`, by the stages that need no other reading, and appends the text to `out`.
    fn pass(
        &self,
        reading: &Reading,
        text: &str,
        transcripts: Vec<ReadTranscript<'_>>,
        sessions: &mut [Session<'_>],
        cut: &mut Cut,
        out: &mut String,
    ) -> Result<(), CutError> {
        let separators = self.chain.splitting.as_ref().map(|_| separators(reading, text, &transcripts));
        // Windows are rows for training: they are not sent to the model that wrote the thoughts.
        let dataset = reading.framing == Framing::Records || separators.is_some();
        let mut writing = Writing { text, at: 0, separators: separators.as_deref(), cut, out };
        for (nth, ((dialect, transcript), session)) in transcripts.into_iter().zip(sessions).enumerate() {
            let Transcript { layout, messages } = transcript;
            let thoughts = ThoughtStep::new(dialect, &layout, &messages, self.chain.thinking, dataset);
            let run = session.advance(&layout, messages, thoughts.as_ref(), &mut writing.cut.stages)?;
            session.write(&run, nth, &layout, thoughts.as_ref(), &mut writing)?;
            session.notes.extend(run.notes);
            // What is said of the windows of a split is in `cut` already; of other transcripts, all is said in the order of the text.
            if self.chain.splitting.is_some() {
                session.report(writing.cut);
            }
        }
        writing.out.push_str(&text[writing.at..]);
        Ok(())
    }
}

/// A transcript on its way through the chain, which may read it several times.
struct Session<'c> {
    /// The cutter, calibrated for the transcript if it has to be.
    cutter: &'c TextCutter,
    dialect: &'static dyn Dialect,
    /// Where the transcript begins in the text that was read first.
    offset: usize,
    /// Index of the stage that comes next.
    next: usize,
    totals: Totals,
    /// Where each message was read first, once the transcript is read again.
    sources: Option<Vec<ReadPlace>>,
    explained: Vec<(Decider, Explained)>,
    notes: Vec<String>,
}

/// The index of a message, and the offset of its value, as they were read first; `None` if a stage wrote it.
type ReadPlace = Option<(usize, usize)>;

impl<'c> Session<'c> {
    fn begin(cutter: &'c TextCutter, dialect: &'static dyn Dialect, transcript: &Transcript<'_>) -> Self {
        let totals = Totals { transcripts: 1, messages_before: transcript.messages.len(), ..Totals::default() };
        let offset = transcript.layout.span.start as usize;
        let explained = Vec::new();
        let notes = Vec::new();
        Self { cutter, dialect, offset, next: 0, totals, sources: None, explained, notes }
    }

    /// Whether all stages were applied.
    const fn is_done(&self) -> bool {
        self.next >= self.cutter.chain.stages.len()
    }

    /// Applies the next stages to the messages of the transcript: all of them, or those before one that has to read what they
    /// wrote.
    fn advance<'a>(
        &mut self,
        layout: &Layout<'a>,
        messages: Vec<Message<'a>>,
        thoughts: Option<&ThoughtStep<'_>>,
        counts: &mut Vec<StageCount>,
    ) -> Result<Run<'a>, CutError> {
        let Self { cutter, dialect, offset, next: first, .. } = *self;
        self.begin_reading(layout, &messages);
        let splits = cutter.chain.splitting.is_some();
        let mut stages = vec![StageCount::default(); first];
        let steps = Steps { first, pauses: !splits, thoughts };
        let run = cutter.chain.run_steps(
            layout,
            messages,
            &steps,
            |stage, messages, plan| self.explain(stage, messages, plan),
            |messages| {
                // A split follows, which reads nothing again.
                if splits {
                    name_drafts(layout, dialect, messages);
                }
                if let Some(counting) = &cutter.counting {
                    stages.push(StageCount { messages: messages.len(), tokens: tokens(counting, layout, messages) });
                }
            },
        );
        let run = run.map_err(|(processor, error)| CutError::Stage { offset, processor, error })?;
        self.end_reading(&run);
        if let Some(last) = stages.get(first..).and_then(<[StageCount]>::last) {
            self.totals.tokens_after = last.tokens;
            self.totals.faults_after = faults(layout, &run.messages);
        }
        if cutter.counting.is_some() {
            StageCount::add(counts, &stages);
        }
        let aside =
            layout.holder().filter(|_| run.changed && first == 0).and_then(|record| dialect.log().set_aside(record));
        self.notes.extend(aside);
        Ok(run)
    }

    /// Counts what was read, if it is the first reading. If `messages` are not those that were written, it is not known where
    /// they come from.
    fn begin_reading(&mut self, layout: &Layout<'_>, messages: &[Message<'_>]) {
        if let Some(sources) = self.sources.as_mut().filter(|sources| sources.len() != messages.len()) {
            *sources = vec![None; messages.len()];
        }
        if let Some(counting) = self.cutter.counting.as_ref().filter(|_| self.next == 0) {
            self.totals.tokens_before = tokens(counting, layout, messages);
            self.totals.tokens_after = self.totals.tokens_before;
            self.totals.faults = faults(layout, messages);
            self.totals.faults_after = self.totals.faults;
        }
    }

    /// Explains what `stage` decided about `messages`, if decisions are explained.
    fn explain(&mut self, stage: &Stage, messages: &[Message<'_>], plan: &Plan) {
        if !self.cutter.explain {
            return;
        }
        for mut decision in explain(messages, plan) {
            if let Some(sources) = &self.sources {
                let source = decision.message.and_then(|at| sources.get(at).copied().flatten());
                (decision.message, decision.offset) = source.unzip();
            }
            self.explained.push((Decider::from_stage(stage), decision));
        }
    }

    /// Notes what the stages made of the messages, and where the remaining messages were read first if they are read again.
    fn end_reading(&mut self, run: &Run<'_>) {
        self.next = run.next;
        self.totals.changed |= usize::from(run.changed);
        self.totals.messages_after = run.messages.len();
        if self.is_done() {
            return;
        }
        let sources = run.messages.iter().map(|message| {
            let at = message.source_index()?;
            match &self.sources {
                Some(sources) => sources.get(at).copied().flatten(),
                None => Some((at, message.value()?.span().start as usize)),
            }
        });
        self.sources = Some(sources.collect());
    }

    /// Writes the text up to the end of the transcript, and the transcript as `run` left it, or its windows.
    fn write<'a>(
        &mut self,
        run: &Run<'a>,
        nth: usize,
        layout: &Layout<'a>,
        thoughts: Option<&ThoughtStep<'_>>,
        writing: &mut Writing<'_>,
    ) -> Result<(), CutError> {
        let cutter = self.cutter;
        let dialect = self.dialect;
        if let (Some(splitting), Some(separators)) = (&cutter.chain.splitting, writing.separators) {
            if !layout.answers.branches.is_empty() {
                return Err(unsplit(layout).into());
            }
            self.report(writing.cut);
            let separator = separators[nth].as_deref();
            let TextCutter { chain, explain, counting } = cutter;
            let explain = *explain;
            let counts = counting.is_some();
            // A log without figures is not searched for them in each window.
            let has_figures = FigureEdits::exist_in(layout, dialect);
            let figures = if has_figures { chain.figures } else { StaleFigures::Keep };
            let editor = Editor::new(layout, dialect);
            let splitter =
                Splitter { splitting, explain, counts, figures, dialect, layout, editor, thoughts, separator };
            splitter.append(run, &mut self.totals, writing)?;
        } else if run.changed {
            let figures = FigureEdits::find(layout, dialect, &run.messages, cutter.chain.figures);
            copy_patched(writing.text, writing.at..layout.span.start as usize, &figures.patches, writing.out);
            let from = writing.out.len();
            apply(layout, dialect, &run.messages, &figures, writing.out);
            writing.at = write_repeated(layout, writing.out, from);
            let end = figures.end().max(writing.at);
            copy_patched(writing.text, writing.at..end, &figures.patches, writing.out);
            writing.at = end;
            writing.cut.changed = true;
            self.note_figures(&figures);
        }
        Ok(())
    }

    /// Counts and explains the figures that were corrected.
    fn note_figures(&mut self, figures: &FigureEdits) {
        self.totals.figures_reset += figures.count;
        if self.cutter.explain {
            self.explained.extend(Explained::of_figures(figures.count, self.offset).map(Decider::of_figures));
        }
    }

    /// Hands over the explanations and notes of the transcript.
    fn report(&mut self, cut: &mut Cut) {
        cut.explained.append(&mut self.explained);
        cut.notes.extend(self.notes.drain(..).map(|note| (self.offset, note)));
    }
}

/// Why a row with answers has no windows.
fn unsplit(layout: &Layout<'_>) -> ReadError {
    let reason = "this row has answers to train on, which depend on all messages before them, so it is not split; \
                `curtail limit` shortens it";
    ReadError { offset: layout.record.start as usize, what: reason.to_owned() }
}

/// The number of pairing faults.
fn faults(layout: &Layout<'_>, messages: &[Message<'_>]) -> usize {
    Fault::find_all(messages, &Pairs::from_messages(messages), layout.rules.pairing).len()
}

fn tokens<'a>(counting: &Counting, layout: &Layout<'a>, messages: &[Message<'a>]) -> usize {
    let view = View::of_layout(layout, messages);
    // What a template refuses counts as the sum of its messages; a budget that needs its count is an error.
    counting.total(&view).unwrap_or_else(|_| counting.sum_of_messages(&view))
}
