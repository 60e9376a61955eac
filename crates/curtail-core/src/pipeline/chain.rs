//! A chain of processors over messages that are read once and written once.
//!
//! It knows no file and no configuration format.

use std::collections::HashSet;
use std::sync::Arc;

use super::pauses::{ReadFrom, conversation, loses_settings, neighbors, sides_note};
use crate::dialects::{Dialect, ReadError};
use crate::figures::StaleFigures;
use crate::processors::{
    Counting, DropSet, KnownFaults, OnSummary, Plan, Processor, ProcessorError, Reason, Split, Thinking, ThoughtModels,
    ThoughtPrefixes, View, apply_plan, drop_standing,
};
use crate::transcript::{Layout, Message, Pairs, Standing, Transcript};

/// Processors in order.
pub type Processors = Vec<Box<dyn Processor>>;

/// A processor and its place in a chain.
#[derive(Clone)]
pub struct Stage {
    /// Where it is configured: `history`, `network support` or `agent greeter`; empty for a single command.
    pub level: String,
    /// The processor.
    pub processor: Arc<dyn Processor>,
}

/// Processors in the order in which they are applied.
///
/// ```
/// use curtail_core::pipeline::Chain;
/// use curtail_core::processors::{HistoryWindow, ToolFilter};
///
/// let chain = Chain::default().then(ToolFilter::default()).then(HistoryWindow { size: 20, ..HistoryWindow::default() });
/// assert_eq!(chain.stages.len(), 2);
/// ```
#[derive(Clone, Default)]
pub struct Chain {
    /// The stages.
    pub stages: Vec<Stage>,
    /// Called after each summary that a stage makes.
    pub on_summary: Option<OnSummary>,
    /// What happens to signed thoughts after a change.
    pub thinking: Thinking,
    /// What happens to figures that the result makes wrong.
    pub figures: StaleFigures,
    /// How the result is split, if it is.
    pub splitting: Option<Splitting>,
}

/// How the result of a chain is split.
#[derive(Clone)]
pub struct Splitting {
    /// The windows.
    pub split: Split,
    /// Whether windows without a target are left out.
    pub drop_untrained: bool,
    /// The member of each record that is set to the numbers of the targets, if any is.
    pub mark: Option<String>,
    /// The member of each record, as keys joined by dots, that gets the number of the window as a suffix.
    pub id_key: Option<String>,
}

impl Splitting {
    /// Windows without marks.
    #[must_use]
    pub fn new(split: Split) -> Self {
        Self { split, drop_untrained: false, mark: None, id_key: None }
    }
}

impl Chain {
    /// The same chain, with an observer of its summaries.
    #[must_use]
    pub fn observed_by(&self, observer: OnSummary) -> Self {
        Self { on_summary: Some(observer), ..self.clone() }
    }

    /// The chain with countings that are calibrated for `transcript`; `None` if none has to be.
    ///
    /// # Errors
    /// The transcript has no usage of the provider.
    pub fn calibrated(&self, dialect: &dyn Dialect, transcript: &Transcript<'_>) -> Result<Option<Self>, ReadError> {
        let split = self.splitting.iter().map(|splitting| &splitting.split.counting);
        let mut countings = self.stages.iter().filter_map(|stage| stage.processor.counting()).chain(split);
        if !countings.any(|counting| counting.by_usage.is_some()) {
            return Ok(None);
        }
        let mut chain = self.clone();
        for stage in &mut chain.stages {
            let counting = stage.processor.counting().filter(|counting| counting.by_usage.is_some());
            let counting = counting.map(|counting| calibrated(counting, dialect, transcript)).transpose()?;
            if let Some(processor) = counting.and_then(|counting| stage.processor.with_counting(counting)) {
                stage.processor = processor;
            }
        }
        if let Some(Splitting { split, .. }) = &mut chain.splitting {
            split.counting = calibrated(&split.counting, dialect, transcript)?;
        }
        Ok(Some(chain))
    }
}

/// `counting` for `transcript`: calibrated if it has to be.
///
/// # Errors
/// The transcript has no usage of the provider.
pub fn calibrated(
    counting: &Counting,
    dialect: &dyn Dialect,
    transcript: &Transcript<'_>,
) -> Result<Counting, ReadError> {
    let Some(calibrate) = counting.by_usage else { return Ok(counting.clone()) };
    let offset = transcript.layout.span.start as usize;
    calibrate(dialect, transcript, counting).map_err(|what| ReadError { offset, what: what.to_owned() })
}

/// The result of a chain.
#[derive(Debug)]
pub struct Run<'a> {
    /// The remaining messages.
    pub messages: Vec<Message<'a>>,
    /// Whether any stage changed the transcript.
    pub changed: bool,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// Index of the stage that comes next; the number of stages if all were applied.
    pub next: usize,
    /// Whether a message begins a turn that began none before the last stage cut it.
    turns_begin: bool,
}

impl<'a> Run<'a> {
    /// Removes notes that repeat one from `first` on.
    fn forget_repeated_notes(&mut self, first: usize) {
        let mut seen = HashSet::new();
        let kept: Vec<String> = self.notes.drain(first..).filter(|note| seen.insert(note.clone())).collect();
        self.notes.extend(kept);
    }

    /// Applies `plan`, and reads again what depends on neighbors.
    fn apply(&mut self, layout: &Layout<'a>, plan: &Plan) {
        self.messages = apply_plan(std::mem::take(&mut self.messages), plan);
        if let Some(reread) = layout.reread {
            let before = automatic(&self.messages);
            reread(&mut self.messages);
            self.turns_begin |= automatic(&self.messages) < before;
        }
    }

    /// The result with `plan` applied to it.
    pub(super) fn after(&self, plan: &Plan) -> Self {
        let messages = apply_plan(self.messages.clone(), plan);
        Self { messages, changed: true, notes: self.notes.clone(), ..*self }
    }

    /// Whether a message is new.
    fn is_written(&self) -> bool {
        self.messages.iter().any(|message| message.source_index().is_none())
    }
}

/// The number of messages that no person is known to have typed.
fn automatic(messages: &[Message<'_>]) -> usize {
    messages.iter().filter(|message| message.automatic).count()
}

impl Chain {
    /// Appends a processor without a level.
    #[must_use]
    pub fn then(mut self, processor: impl Processor + 'static) -> Self {
        self.stages.push(Stage { level: String::new(), processor: Arc::new(processor) });
        self
    }

    /// Appends processors of `level`, in order.
    #[must_use]
    pub fn at(mut self, level: &str, processors: Processors) -> Self {
        for processor in processors {
            self.stages.push(Stage { level: level.to_owned(), processor: Arc::from(processor) });
        }
        self
    }

    /// How many transcripts should be processed at once, because a stage waits for a server or a program; `None` if no stage
    /// waits.
    #[must_use]
    pub fn at_once(&self) -> Option<usize> {
        self.stages.iter().filter_map(|stage| stage.processor.traits().at_once).max()
    }

    /// Applies all stages to `messages`, which are those of `layout`. `watch` receives every plan that changes something or has
    /// a remark, with the messages before it.
    ///
    /// # Errors
    /// The error of the first stage that cannot decide.
    pub fn run<'a>(
        &self,
        layout: &Layout<'a>,
        messages: Vec<Message<'a>>,
        watch: impl FnMut(&Stage, &[Message<'a>], &Plan),
    ) -> Result<Run<'a>, ProcessorError> {
        let steps = Steps { first: 0, pauses: false, thoughts: None };
        self.run_steps(layout, messages, &steps, watch, |_| {}).map_err(|(_, error)| error)
    }

    /// As [`run`](Self::run) for `steps`. `after_stage` receives the messages after each stage, and may name what the stage
    /// wrote. An error comes with the name of its processor.
    pub(super) fn run_steps<'a>(
        &self,
        layout: &Layout<'a>,
        messages: Vec<Message<'a>>,
        steps: &Steps<'_>,
        watch: impl FnMut(&Stage, &[Message<'a>], &Plan),
        mut after_stage: impl FnMut(&mut [Message<'a>]),
    ) -> Result<Run<'a>, (&'static str, ProcessorError)> {
        let read_from = ReadFrom::messages(&messages);
        let sides = layout.context.joins.then(|| neighbors(&messages).collect());
        let run = Run { messages, changed: false, notes: Vec::new(), next: steps.first, turns_begin: false };
        let mut cutting = Cutting { layout, on_summary: self.on_summary.as_ref(), read_from, watch, run };
        for stage in self.stages.iter().skip(steps.first) {
            if steps.pauses && self.is_read_before_next(&cutting.run, layout, read_from) {
                break;
            }
            cutting.run.next += 1;
            let before = conversation(&cutting.run.messages);
            let notes = cutting.run.notes.len();
            let count = cutting.run.messages.len();
            let done = self.run_stage(stage, steps.thoughts, &mut cutting);
            let done = done.and_then(|()| stage.check_left(count, cutting.run.messages.len()));
            done.map_err(|error| (stage.processor.name(), error))?;
            let run = &mut cutting.run;
            run.forget_repeated_notes(notes);
            after_stage(&mut run.messages);
            // A stage that has noted it already needs no second note.
            if before > 0 && conversation(&run.messages) == 0 && run.notes.len() == notes {
                run.notes.push(stage.emptied(before, run.messages.len()));
            }
        }
        let mut run = cutting.run;
        run.notes.extend(sides.and_then(|before| sides_note(&before, &run.messages)));
        Ok(run)
    }

    /// Applies a stage, until neither what was kept for others nor thoughts are left to drop.
    fn run_stage<'a, W: FnMut(&Stage, &[Message<'a>], &Plan)>(
        &self,
        stage: &Stage,
        thoughts: Option<&ThoughtStep<'_>>,
        cutting: &mut Cutting<'_, 'a, W>,
    ) -> Result<(), ProcessorError> {
        loop {
            cutting.run(stage)?;
            // What was kept for them is decided on as a second run would.
            if cutting.drop_strayed(stage) && !cutting.run.is_written() {
                continue;
            }
            let Some(thoughts) = thoughts.filter(|_| cutting.run.changed) else { return Ok(()) };
            let mut plan = thoughts.plan(self.thinking, cutting.layout, &cutting.run.messages);
            cutting.run.notes.append(&mut plan.notes);
            cutting.drop_planned(stage, &plan);
            // A thought can bind the calls of its reply. Without it, the stage may decide otherwise, as a second run would.
            if plan.is_identity() || cutting.run.is_written() {
                return Ok(());
            }
        }
    }
}

/// The stages of a chain that run on a transcript that was read.
pub(super) struct Steps<'s> {
    /// Index of the first one.
    pub(super) first: usize,
    /// Whether they end where the transcript has to be written and read again before the next one.
    pub(super) pauses: bool,
    /// The thoughts that are dropped after each stage if its changes break them.
    pub(super) thoughts: Option<&'s ThoughtStep<'s>>,
}

/// How the stages of a chain treat signed thoughts after their changes.
pub struct ThoughtStep<'s> {
    /// The messages before each thought, as they were read.
    pub prefixes: ThoughtPrefixes,
    /// Whether the model of each message checks thoughts, by the index of the message; `None` if no model is named.
    pub checks: &'s dyn Fn(&Layout<'_>) -> Vec<Option<bool>>,
    /// Whether the transcript belongs to a dataset.
    pub dataset: bool,
}

impl ThoughtStep<'_> {
    /// The plan that drops the thoughts of `messages` which a change broke.
    pub(super) fn plan(&self, thinking: Thinking, layout: &Layout<'_>, messages: &[Message<'_>]) -> Plan {
        let broken = self.prefixes.broken(messages);
        if broken.is_empty() {
            return Plan::keep(messages.len());
        }
        let checks = (self.checks)(layout);
        let checks = |index: usize| checks.get(index).copied().flatten();
        thinking.plan(messages, &broken, ThoughtModels { checks: &checks, dataset: self.dataset })
    }
}

/// A transcript on its way through the stages.
struct Cutting<'c, 'a, W> {
    layout: &'c Layout<'a>,
    on_summary: Option<&'c OnSummary>,
    /// What the transcript was read from.
    read_from: ReadFrom,
    /// Receives every plan that changes something or has a remark.
    watch: W,
    run: Run<'a>,
}

impl<'a, W: FnMut(&Stage, &[Message<'a>], &Plan)> Cutting<'_, 'a, W> {
    /// Applies the processor, and drops the calls and results that the cut separated. After each such drop, the processor
    /// decides again, so that applying it to its own result changes nothing. Every round drops a call or a result, and no
    /// processor but repair writes one, so the rounds end.
    fn run(&mut self, stage: &Stage) -> Result<(), ProcessorError> {
        self.drop_first(stage)?;
        let mut known = None;
        let notes = self.run.notes.len();
        loop {
            let changed = self.apply(stage, notes, &mut known)?;
            let Some(known) = known.as_ref().filter(|_| changed) else { return Ok(()) };
            let separated = self.drop_separated(stage, known);
            if !(std::mem::take(&mut self.run.turns_begin) || separated) {
                return Ok(());
            }
        }
    }

    /// Applies the passes of the processor; returns whether they changed anything. `known` becomes the pairing faults before the
    /// first change, unless the processor repairs pairs itself. Notes from `notes` on are not repeated.
    fn apply(&mut self, stage: &Stage, notes: usize, known: &mut Option<KnownFaults>) -> Result<bool, ProcessorError> {
        let Self { layout, on_summary, watch, run, .. } = self;
        let traits = stage.processor.traits();
        let mut added = usize::MAX;
        let mut changed = false;
        for _ in 0..traits.passes {
            let view = View::of_layout(layout, &run.messages).observed_by(*on_summary);
            let mut plan = stage.processor.decide(&view)?;
            plan.notes.retain(|note| !run.notes[notes..].contains(note));
            run.notes.append(&mut plan.notes);
            let identity = plan.is_identity();
            if !identity || !plan.remarks.is_empty() {
                watch(stage, &run.messages, &plan);
            }
            // Stop when a pass inserts as much as the previous one: repair is not converging, and the next stage drops the rest.
            if identity || plan.added() > 0 && plan.added() >= added {
                break;
            }
            if plan.added() > 0 {
                added = plan.added();
            }
            if !traits.repairs_pairs {
                known.get_or_insert_with(|| KnownFaults::from_view(&view));
            }
            changed = true;
            run.changed = true;
            run.apply(layout, &plan);
        }
        Ok(changed)
    }

    /// Applies a plan that is not the processor's, and drops the calls and results that it separated.
    fn drop_planned(&mut self, stage: &Stage, plan: &Plan) {
        if plan.is_identity() {
            return;
        }
        let known = KnownFaults::from_view(&View::of_layout(self.layout, &self.run.messages));
        (self.watch)(stage, &self.run.messages, plan);
        self.run.changed = true;
        self.run.apply(self.layout, plan);
        self.drop_separated(stage, &known);
    }

    /// Drops what the cut separated from its counterpart; returns whether anything was dropped.
    fn drop_separated(&mut self, stage: &Stage, known: &KnownFaults) -> bool {
        let mut dropped = false;
        while let Some(plan) = known.drop_separated(&View::of_layout(self.layout, &self.run.messages)) {
            (self.watch)(stage, &self.run.messages, &plan);
            self.run.apply(self.layout, &plan);
            dropped = true;
        }
        dropped
    }

    /// If the processor drops messages, first drops those that the model no longer reads.
    fn drop_first(&mut self, stage: &Stage) -> Result<(), ProcessorError> {
        let first = stage.processor.traits().drops_first;
        let view = View::of_layout(self.layout, &self.run.messages);
        if view.messages.iter().any(|message| first.contains(&message.standing))
            && stage.processor.would_change(&view)?
        {
            let plan = drop_standing(&view, first);
            self.drop_planned(stage, &plan);
        }
        Ok(())
    }

    /// Drops the turns that were rolled back and are newer than every other message that is left: the program would continue from
    /// them. Returns whether there were any.
    fn drop_strayed(&mut self, stage: &Stage) -> bool {
        let view = View::of_layout(self.layout, &self.run.messages);
        if !self.read_from.is_newest_lost_in(view.messages) {
            return false;
        }
        let newest =
            view.messages.iter().rposition(|message| message.thread == 0 && message.standing != Standing::Abandoned);
        let Some(newest) = newest else { return false };
        let pairs = Pairs::from_messages(view.messages);
        let mut drops = DropSet::none(&view, &pairs);
        for (at, message) in view.messages.iter().enumerate().skip(newest + 1) {
            if message.standing == Standing::Abandoned {
                drops.drop_message(at, Reason::Borrowed("rolled back, and the conversation would continue from it"));
            }
        }
        let plan = drops.into_plan();
        self.drop_planned(stage, &plan);
        !plan.is_identity()
    }
}

impl Stage {
    /// The name that notes use: `filter at history`, or `filter` for a single command.
    #[must_use]
    pub fn label(&self) -> String {
        let name = self.processor.name();
        if self.level.is_empty() { name.to_owned() } else { format!("{name} at {}", self.level) }
    }

    /// # Errors
    /// All of `before` messages were dropped, and no option of the processor names them.
    fn check_left(&self, before: usize, left: usize) -> Result<(), ProcessorError> {
        match before > 0 && left == 0 && !self.processor.traits().may_empty {
            true => Err(ProcessorError::Emptied { stage: self.label(), count: before }),
            false => Ok(()),
        }
    }

    fn emptied(&self, before: usize, remaining: usize) -> String {
        let messages = if before == 1 { "message" } else { "messages" };
        let kept = if remaining == 0 { "" } else { "; only system messages are kept" };
        format!("{} drops all of {before} {messages}{kept}", self.label())
    }
}

impl Chain {
    /// Whether `run`, whose messages are those of `layout`, has to be written and read again before its next stage.
    fn is_read_before_next(&self, run: &Run<'_>, layout: &Layout<'_>, read_from: ReadFrom) -> bool {
        if !run.changed {
            return false;
        }
        // Text that a stage wrote can be read otherwise than it was meant, and a stage that writes can depend on what was written.
        self.writes(run.next)
            || run.next.checked_sub(1).is_some_and(|last| self.writes(last))
            || read_from.is_lost_in(&run.messages)
            || run.messages.iter().any(Message::is_read_otherwise)
            || loses_settings(layout, &run.messages)
    }

    fn writes(&self, stage: usize) -> bool {
        self.stages.get(stage).is_some_and(|stage| stage.processor.traits().writes)
    }
}
