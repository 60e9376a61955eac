//! Runs the stages of a chain on the messages of a transcript: what each decides is applied before the next decides, and what a cut
//! separated is dropped with it.

use std::collections::HashSet;

use super::chain::{Chain, Stage};
use super::pauses::ReadFrom;
use super::sides::{neighbors, sides_note};
use super::thoughts::ThoughtStep;
use crate::numbers::number_of;
use crate::processors::{
    DropSet, KnownFaults, OnSummary, Plan, ProcessorError, Reason, View, apply_plan, drop_standing,
};
use crate::transcript::{Layout, Message, Pairs, Standing, main_thread};

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

impl Chain {
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
        let sides = layout.rules.context.joins.then(|| neighbors(&messages).collect());
        let run = Run { messages, changed: false, notes: Vec::new(), next: steps.first, turns_begin: false };
        let mut cutting = Cutting { layout, on_summary: self.on_summary.as_ref(), read_from, watch, run };
        for stage in self.stages.iter().skip(steps.first) {
            let Run { changed, next, messages, .. } = &cutting.run;
            if steps.pauses && *changed && self.is_read_before_next(*next, layout, messages, read_from) {
                break;
            }
            cutting.run.next += 1;
            let before = conversation_len(&cutting.run.messages);
            let notes = cutting.run.notes.len();
            let count = cutting.run.messages.len();
            let done = cutting.run_stage(stage, steps.thoughts);
            let done = done.and_then(|()| stage.check_left(count, cutting.run.messages.len()));
            done.map_err(|error| (stage.processor.name(), error))?;
            let run = &mut cutting.run;
            run.forget_repeated_notes(notes);
            after_stage(&mut run.messages);
            // A stage that has noted it already needs no second note.
            if before > 0 && conversation_len(&run.messages) == 0 && run.notes.len() == notes {
                run.notes.push(stage.emptied(before, run.messages.len()));
            }
        }
        let mut run = cutting.run;
        run.notes.extend(sides.and_then(|before| sides_note(&before, &run.messages)));
        Ok(run)
    }
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
        if let Some(reread) = layout.rules.reread {
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

/// The stages of a chain that run on a transcript that was read.
pub(super) struct Steps<'s> {
    /// Index of the first one.
    pub(super) first: usize,
    /// Whether they end where the transcript has to be written and read again before the next one.
    pub(super) pauses: bool,
    /// The thoughts that are dropped after each stage if its changes break them.
    pub(super) thoughts: Option<&'s ThoughtStep<'s>>,
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
    /// Applies a stage, until neither what was kept for others nor thoughts are left to drop. What then is left is decided on as a
    /// second run would, unless the stage decides once.
    fn run_stage(&mut self, stage: &Stage, thoughts: Option<&ThoughtStep<'_>>) -> Result<(), ProcessorError> {
        let once = stage.processor.traits().decides_once;
        loop {
            self.run(stage)?;
            if self.drop_strayed(stage) && !once && !self.run.is_written() {
                continue;
            }
            // A thought can bind the calls of its reply. Without it, the stage may decide otherwise.
            if !self.drop_broken(stage, thoughts) || once || self.run.is_written() {
                return Ok(());
            }
        }
    }

    /// Applies the processor, and drops the calls and results that the cut separated. After each such drop, the processor
    /// decides again, so that applying it to its own result changes nothing, unless it decides once. Every round drops a call or a
    /// result, and no processor but repair writes one, so the rounds end.
    fn run(&mut self, stage: &Stage) -> Result<(), ProcessorError> {
        self.drop_first(stage)?;
        let mut known = None;
        let notes = self.run.notes.len();
        loop {
            let changed = self.apply(stage, notes, &mut known)?;
            let Some(known) = known.as_ref().filter(|_| changed) else { return Ok(()) };
            let separated = self.drop_separated(stage, known);
            let is_other = std::mem::take(&mut self.run.turns_begin) || separated;
            if !is_other || stage.processor.traits().decides_once {
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

    /// Drops the thoughts that the changes so far broke; returns whether there were any.
    fn drop_broken(&mut self, stage: &Stage, thoughts: Option<&ThoughtStep<'_>>) -> bool {
        let Some(thoughts) = thoughts.filter(|_| self.run.changed) else { return false };
        let mut plan = thoughts.plan(&self.run.messages);
        self.run.notes.append(&mut plan.notes);
        self.drop_planned(stage, &plan);
        !plan.is_identity()
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
        let main = main_thread(view.messages);
        let newest =
            view.messages.iter().rposition(|message| message.thread == main && message.standing != Standing::Abandoned);
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
    /// # Errors
    /// All of `before` messages were dropped, and no option of the processor names them.
    fn check_left(&self, before: usize, left: usize) -> Result<(), ProcessorError> {
        match before > 0 && left == 0 && !self.processor.traits().may_empty {
            true => Err(ProcessorError::Emptied { stage: self.label(), count: before }),
            false => Ok(()),
        }
    }

    fn emptied(&self, before: usize, remaining: usize) -> String {
        let kept = if remaining == 0 { "" } else { "; only system messages are kept" };
        format!("{} drops all of {}{kept}", self.label(), number_of(before, "message"))
    }
}

/// The number of messages that no person is known to have typed.
fn automatic(messages: &[Message<'_>]) -> usize {
    messages.iter().filter(|message| message.automatic).count()
}

/// The number of messages besides system and developer messages.
fn conversation_len(messages: &[Message<'_>]) -> usize {
    messages.iter().filter(|message| !message.role.instructs()).count()
}
