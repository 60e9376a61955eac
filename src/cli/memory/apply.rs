//! `curtail memory apply`: applies the updates in transcripts to the state.

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;

use super::state_text;
use crate::console;
use crate::options::choices::{TextOrJson, explain_format};
use crate::options::global::Global;
use crate::options::input::Input;
use crate::options::memory::{LoadedRules, OwnerFlags, RuleFlags, StateOutput, read_state, warn_unusable};
use crate::reports::remarks::Failures;
use curtail_core::dialects::ReadError;
use curtail_core::transcript::Message;
use curtail_core::visible::{self, one_line};
use curtail_io::batch::{Batch, Damage, Event, Flow, Unit, Work};
use curtail_memory::memory::{Loaded, Outcome, Replayed, State, Update, load, replay, updates};
use curtail_memory::store::Store;

/// Apply the memory updates in transcripts and print the state
///
/// With --thread or --resource, the state in the store is updated; updates that were applied before change nothing. Without
/// them, nothing is stored and every transcript has its own state; several states are printed as one line of JSON each.
#[derive(Debug, clap::Args)]
pub(super) struct ApplyArgs {
    /// File with the initial state: text or a JSON object
    #[arg(long, value_name = "FILE", conflicts_with_all = ["store", "thread", "resource", "scope"])]
    state: Option<PathBuf>,

    #[command(flatten)]
    owner_flags: OwnerFlags,

    #[command(flatten)]
    rules: RuleFlags,

    #[command(flatten)]
    output: StateOutput,

    /// Report the outcome of every update on standard error
    #[arg(
        long,
        value_parser = explain_format(),
        value_name = "FORMAT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "text"
    )]
    explain: Option<TextOrJson>,

    #[command(flatten)]
    input: Input,
}

impl ApplyArgs {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        let rules = self.rules.load()?;
        let start = self.state.as_deref().map(|path| read_state(path, rules.schema.as_ref())).transpose()?;
        let mut sink = self.sink(&rules, start)?;
        let status = self.apply_updates(&mut sink, global)?;
        if sink.last.is_some() || status == ExitCode::SUCCESS {
            self.finish(sink)?;
        }
        Ok(status)
    }

    /// Applies the updates of every readable transcript, and reports the errors of the others.
    fn apply_updates(&self, sink: &mut Sink<'_>, global: &Global) -> anyhow::Result<ExitCode> {
        let (sources, missing) = self.input.sources(None)?;
        let mut failures = Failures::of_inputs(&sources, &missing, global);
        let mut done = Ok(());
        // What is stored comes of whole transcripts.
        let batch = Batch { damage: Damage::Fail, ..self.input.batch(global)? };
        batch.run(sources, &UpdateSearch { live: self.input.live }, |event| {
            failures.note(&event);
            if let Event::Done { opened, out, .. } = event {
                done = out.drain(..).try_for_each(|found| self.apply_transcript(sink, &opened.source.name, &found));
            }
            if done.is_ok() { Flow::Continue } else { Flow::Stop }
        });
        done.map(|()| failures.status)
    }

    fn sink<'r>(&self, rules: &'r LoadedRules, start: Option<State>) -> anyhow::Result<Sink<'r>> {
        let start = start.unwrap_or_else(|| rules.rules().initial());
        let store = if self.owner_flags.is_given() {
            self.owner_flags.owner()?;
            Some(self.owner_flags.place.open()?)
        } else {
            None
        };
        Ok(Sink { rules, start, store, last: None, several: false })
    }

    /// Applies the updates of one transcript.
    fn apply_transcript(&self, sink: &mut Sink<'_>, name: &str, found: &[UpdateAt]) -> anyhow::Result<()> {
        let updates: Vec<Update<'_>> = found.iter().map(UpdateAt::update).collect();
        let rules = sink.rules.rules();
        let (state, outcomes) = if let Some(store) = &mut sink.store {
            let Replayed { state, outcomes, unusable } = replay(store, self.owner_flags.owner()?, rules, &updates)?;
            warn_unusable(unusable.as_ref());
            (state, outcomes)
        } else {
            let mut scratchpad = rules.scratchpad(sink.start.clone());
            let outcomes = updates.iter().map(|update| scratchpad.apply(*update)).collect();
            (scratchpad.into_state(), outcomes)
        };
        self.report(name, found, &outcomes);
        let before = sink.last.replace(state);
        if let (Some(before), None) = (before, &sink.store) {
            sink.several = true;
            console::data(&state_text(TextOrJson::Json, &before))?;
        }
        Ok(())
    }

    fn finish(&self, sink: Sink<'_>) -> anyhow::Result<()> {
        let format = if sink.several { TextOrJson::Json } else { self.output.output_format };
        let state = match (sink.last, sink.store) {
            (Some(state), _) => state,
            (None, None) => sink.start,
            (None, Some(store)) => {
                let Loaded { state, unusable } = load(&store, self.owner_flags.owner()?, sink.rules.rules())?;
                warn_unusable(unusable.as_ref());
                state
            }
        };
        Ok(console::data(&state_text(format, &state))?)
    }

    fn report(&self, name: &str, found: &[UpdateAt], outcomes: &[Outcome]) {
        for (UpdateAt { line, call_id, .. }, outcome) in found.iter().zip(outcomes) {
            let (action, reason) = outcome.described();
            let because = reason.map_or_else(String::new, |reason| format!(": {reason}"));
            match self.explain {
                Some(TextOrJson::Text) => {
                    let text = format!("{name}:{line}: call {call_id:?}: {action}{because}");
                    console::err(&(one_line(&text).into_owned() + "\n"));
                }
                Some(TextOrJson::Json) => {
                    let call = call_id;
                    let entry = json!({"file": name, "line": line, "call": call, "action": action, "reason": reason});
                    console::err(&format!("{}\n", visible::json(&entry.to_string())));
                }
                None if outcome.is_fault() => {
                    let text = format!("{name}:{line}: call {call_id:?}: the update is {action}{because}");
                    console::warning(&text);
                }
                None => {}
            }
        }
    }
}

/// Where updates are applied: to a state in the store, or to one state per transcript.
struct Sink<'r> {
    rules: &'r LoadedRules,
    /// The initial state of each transcript without a store.
    start: State,
    store: Option<Store>,
    /// The state after the last transcript.
    last: Option<State>,
    /// Whether states of earlier transcripts were written.
    several: bool,
}

/// An update and its line.
struct UpdateAt {
    line: usize,
    call_id: String,
    arguments: String,
}

impl UpdateAt {
    fn update(&self) -> Update<'_> {
        Update { call_id: &self.call_id, arguments: &self.arguments }
    }
}

/// Finds the updates of every transcript.
struct UpdateSearch {
    /// Whether only what the model still reads is searched.
    live: bool,
}

impl Work for UpdateSearch {
    type Out = Vec<Vec<UpdateAt>>;

    fn unit(&self, unit: &Unit<'_>, out: &mut Self::Out) -> Result<(), ReadError> {
        let document = unit.parse()?;
        let mut places = unit.locator();
        for (_, mut transcript) in unit.writable_transcripts(&document)? {
            if self.live {
                transcript.keep_live();
            }
            let messages = &transcript.messages;
            let found = updates(messages).into_iter().map(|found| {
                let value = messages.get(found.message).and_then(Message::value);
                UpdateAt {
                    line: places.place(value.map_or(0, |value| value.span().start as usize)).line,
                    call_id: found.call_id.into_owned(),
                    arguments: found.arguments.into_owned(),
                }
            });
            out.push(found.collect());
        }
        Ok(())
    }
}
