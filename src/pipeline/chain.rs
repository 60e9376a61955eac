//! Processors one after another, over messages that are read once and written once.
//!
//! A chain knows no file and no configuration.

use crate::processors::{OnSummary, Plan, Processor, View, apply_plan};
use crate::transcript::{Message, Transcript};

/// Processors in order.
pub type Processors = Vec<Box<dyn Processor>>;

/// A processor at its place in a chain.
pub struct Stage {
    /// Where it was configured: `history`, `network support`, `agent greeter`, or nothing for a command of its own.
    pub level: String,
    /// What it does.
    pub processor: Box<dyn Processor>,
}

/// Processors in the order in which they are applied.
#[derive(Default)]
pub struct Chain {
    /// The stages.
    pub stages: Vec<Stage>,
    /// What the stages were told in a configuration, so that runs can be compared; empty where flags say it all.
    pub told: String,
}

/// What a chain left of a transcript.
#[derive(Debug)]
pub struct Run<'a> {
    /// The messages that are left.
    pub messages: Vec<Message<'a>>,
    /// Whether any stage changed anything.
    pub changed: bool,
    /// What the user should know.
    pub notes: Vec<String>,
}

impl Chain {
    /// Adds a processor that stands at no level.
    #[must_use]
    pub fn then(mut self, processor: impl Processor + 'static) -> Self {
        self.stages.push(Stage { level: String::new(), processor: Box::new(processor) });
        self
    }

    /// Adds processors that stand at `level`, in order.
    #[must_use]
    pub fn at(mut self, level: &str, processors: Processors) -> Self {
        let stage = |processor| Stage { level: level.to_owned(), processor };
        self.stages.extend(processors.into_iter().map(stage));
        self
    }

    /// Calls `hear` from now on for every summary that a stage made.
    pub fn on_summary(&self, on_summary: &OnSummary) {
        for stage in &self.stages {
            stage.processor.on_summary(on_summary);
        }
    }

    /// Runs all stages over the messages of `transcript`, which it takes; `watch` sees every plan that changes something
    /// or has a remark, with the messages that it was made for.
    ///
    /// # Errors
    /// The words of the first stage that cannot do its work.
    pub fn run<'a>(
        &self,
        transcript: &mut Transcript<'a>,
        watch: impl FnMut(&Stage, &[Message<'a>], &Plan),
    ) -> Result<Run<'a>, String> {
        self.run_counted(transcript, watch, |_, _, _| {})
    }

    /// The same; `left` sees the messages after every stage, by its number from 0.
    ///
    /// # Errors
    /// The words of the first stage that cannot do its work.
    pub fn run_counted<'a>(
        &self,
        transcript: &mut Transcript<'a>,
        mut watch: impl FnMut(&Stage, &[Message<'a>], &Plan),
        mut left: impl FnMut(usize, &Transcript<'a>, &[Message<'a>]),
    ) -> Result<Run<'a>, String> {
        let mut run = Run { messages: std::mem::take(&mut transcript.messages), changed: false, notes: Vec::new() };
        for (nth, stage) in self.stages.iter().enumerate() {
            let (before, noted) = (said(&run.messages), run.notes.len());
            stage.run(transcript, &mut run, &mut watch)?;
            left(nth, transcript, &run.messages);
            // Whoever has said so in words of its own needs no others.
            if before > 0 && said(&run.messages) == 0 && run.notes.len() == noted {
                run.notes.push(stage.emptied(before, run.messages.len()));
            }
        }
        Ok(run)
    }
}

impl Stage {
    fn run<'a>(
        &self,
        transcript: &Transcript<'a>,
        run: &mut Run<'a>,
        watch: &mut impl FnMut(&Stage, &[Message<'a>], &Plan),
    ) -> Result<(), String> {
        let mut added = usize::MAX;
        for _ in 0..self.processor.passes() {
            let view = View {
                messages: &run.messages,
                preamble: &transcript.preamble,
                pairing_rules: transcript.pairing_rules,
            };
            let mut plan = self.processor.decide(&view)?;
            run.notes.append(&mut plan.notes);
            let identity = plan.is_identity();
            if !identity || !plan.remarks.is_empty() {
                watch(self, &run.messages, &plan);
            }
            // A pass that puts in no less than the one before mends nothing: what is left is for another stage.
            if identity || plan.added() > 0 && plan.added() >= added {
                break;
            }
            if plan.added() > 0 {
                added = plan.added();
            }
            run.changed = true;
            run.messages = apply_plan(std::mem::take(&mut run.messages), &plan);
        }
        Ok(())
    }

    /// What it is called where decisions are told: `filter at history`, or `filter` for a command of its own.
    #[must_use]
    pub fn label(&self) -> String {
        let name = self.processor.name();
        if self.level.is_empty() { name.to_owned() } else { format!("{name} at {}", self.level) }
    }

    fn emptied(&self, before: usize, left: usize) -> String {
        let messages = if before == 1 { "message" } else { "messages" };
        let but = if left == 0 { "" } else { "; only instructions stay" };
        format!("{} leaves nothing of {before} {messages}{but}", self.label())
    }
}

/// How many messages are more than instructions.
fn said(messages: &[Message<'_>]) -> usize {
    messages.iter().filter(|message| !message.role.instructs()).count()
}
