//! The chain: processors in order, the output of one the input of the next, in one pass over the bytes.

pub mod config;

use crate::processors::{Plan, Processor, View, fold};
use crate::transcript::{Message, Transcript};

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

    /// Runs all stages over the messages of `transcript`, which it takes; `watch` sees every plan that changes something
    /// or has a remark, with the messages that it was made for.
    ///
    /// # Errors
    /// The words of the first stage that cannot do its work.
    pub fn run<'a>(
        &self,
        transcript: &mut Transcript<'a>,
        mut watch: impl FnMut(&Stage, &[Message<'a>], &Plan),
    ) -> Result<Run<'a>, String> {
        let mut run = Run { messages: std::mem::take(&mut transcript.messages), changed: false, notes: Vec::new() };
        for stage in &self.stages {
            for _ in 0..stage.processor.passes() {
                let view =
                    View { messages: &run.messages, preamble: &transcript.preamble, manners: transcript.manners };
                let mut plan = stage.processor.decide(&view)?;
                run.notes.append(&mut plan.notes);
                let identity = plan.is_identity();
                if !identity || !plan.remarks.is_empty() {
                    watch(stage, &run.messages, &plan);
                }
                if identity {
                    break;
                }
                run.changed = true;
                run.messages = fold(run.messages, &plan);
            }
        }
        Ok(run)
    }
}
