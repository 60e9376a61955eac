//! `curtail memory`: stores what a model notes with the memory tool, and inserts it into later requests.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Termination as _};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::ArgGroup;
use serde_json::json;

use super::input::{CutFlags, Global, Input, explain_format, text_or_json};
use super::options::{Choice, Options, Reads, TRUSTED, TokenizerFlag, Tokens, one_of, read_text, time_span};
use super::store::{StoreFlag, store_path};
use super::table::{self, Columns, trimmed};
use super::{cut, report};
use crate::batch::{Batch, Event, Flow, TextOrJson, Unit, Work};
use crate::console;
use curtail_core::dialects::ReadError;
use curtail_core::pipeline::Processors;
use curtail_core::transcript::Message;
use curtail_core::visible::{self, one_line};
use curtail_io::FileError;
use curtail_io::{Inputs, find_sources};
use curtail_memory::memory::{
    BUDGET, Loaded, MemoryError, NAMES, Outcome, Owner, Replayed, Rules, Schema, Shape, Spawned, State, StateSource,
    Update, WorkingMemory, amend, clear, definition, load, replay, set, spawn, updates,
};
use curtail_memory::store::{Filter, RecordKey, Scope, Shelf, Store, StoreEntry, StoreError};

/// Store what a model notes with the memory tool, and insert it into later requests
#[derive(Debug, clap::Args)]
pub(super) struct MemoryArgs {
    #[command(subcommand)]
    command: MemoryCommand,
}

#[derive(Debug, clap::Subcommand)]
enum MemoryCommand {
    Apply(ApplyArgs),
    Recall(RecallArgs),
    Update(UpdateArgs),
    Show(StateArgs),
    Set(SetArgs),
    Clear(ClearArgs),
    Spawn(SpawnArgs),
    List(ListArgs),
    Prune(PruneArgs),
    ToolSchema(ToolSchemaArgs),
}

impl MemoryArgs {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        Ok(match &self.command {
            MemoryCommand::Apply(args) => args.run()?.report(),
            MemoryCommand::Recall(args) => args.run(global)?.report(),
            MemoryCommand::Update(args) => args.run()?.report(),
            MemoryCommand::Show(args) => args.run()?.report(),
            MemoryCommand::Set(args) => args.run()?.report(),
            MemoryCommand::Clear(args) => args.run()?.report(),
            MemoryCommand::Spawn(args) => args.run()?.report(),
            MemoryCommand::List(args) => args.run()?.report(),
            MemoryCommand::Prune(args) => args.run()?.report(),
            MemoryCommand::ToolSchema(args) => args.run()?.report(),
        })
    }
}

// `curtail memory apply`: applies the updates in transcripts to the state.

/// Apply the memory updates in transcripts and print the state
///
/// With --thread or --resource, the state in the store is updated; updates that were applied before change nothing. Without
/// them, nothing is stored and every transcript has its own state; several states are printed as one line of JSON each.
#[derive(Debug, clap::Args)]
struct ApplyArgs {
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
    fn run(&self) -> anyhow::Result<ExitCode> {
        let rules = self.rules.load()?;
        let start = self.state.as_deref().map(|path| state(path, rules.schema.as_ref())).transpose()?;
        let mut sink = self.sink(&rules, start)?;
        let failures = self.apply_updates(&mut sink)?;
        if sink.last.is_some() || failures.is_empty() {
            self.finish(sink)?;
        }
        for failure in &failures {
            report::error(failure);
        }
        Ok(if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) })
    }

    /// Applies the updates of every readable transcript, and returns the errors of the others.
    fn apply_updates(&self, sink: &mut Sink<'_>) -> anyhow::Result<Vec<FileError>> {
        let Inputs { sources, errors: mut failures, .. } = find_sources(&self.input.wanted(None))?;
        let input_options = self.input.input_options()?;
        let mut done = Ok(());
        Batch { input_options, ..Batch::default() }.run(sources, &UpdateSearch { live: self.input.live }, |event| {
            match event {
                Event::Done { opened, out, .. } => {
                    done = out.drain(..).try_for_each(|found| self.apply_transcript(sink, &opened.source.name, &found));
                    if done.is_ok() { Flow::Continue } else { Flow::Stop }
                }
                Event::Failed(failure) => {
                    failures.push(failure.error.clone());
                    Flow::Continue
                }
                Event::Opened(_) | Event::Closed { .. } | Event::PassedOver(_) => Flow::Continue,
            }
        });
        done.map(|()| failures)
    }

    fn sink<'r>(&self, rules: &'r LoadedRules, start: Option<State>) -> anyhow::Result<Sink<'r>> {
        let start = start.unwrap_or_else(|| rules.rules().initial());
        let store = if self.owner_flags.is_given() {
            self.owner_flags.owner().key()?;
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
            let Replayed { state, outcomes, set_aside } = replay(store, self.owner_flags.owner(), rules, &updates)?;
            set_aside.iter().for_each(|reason| warn_set_aside(reason));
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
            (None, Some(store)) => load(&store, self.owner_flags.owner(), sink.rules.rules())?.state,
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
                    report::warning(&text);
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
            let start = |at: usize| messages.get(at).and_then(Message::value).map(|value| value.span().start);
            let found = updates(messages).into_iter().map(|found| UpdateAt {
                line: places.place(start(found.message).unwrap_or_default() as usize).line,
                call_id: found.call_id.into_owned(),
                arguments: found.arguments.into_owned(),
            });
            out.push(found.collect());
        }
        Ok(())
    }
}

// `curtail memory recall`: inserts the state into a transcript.

/// Insert the state into a transcript, after the leading instructions
///
/// The state comes from the store with --thread or --resource, from a file with --state, and otherwise from the updates in the
/// transcript itself.
#[derive(Debug, clap::Args)]
struct RecallArgs {
    #[command(flatten)]
    options: RecallOptions,

    #[command(flatten)]
    cutting: CutFlags,
}

/// Insert the stored state after the leading instructions
#[derive(Debug, Clone, clap::Args)]
pub(super) struct RecallOptions {
    /// File with the state: text or a JSON object
    #[arg(long, value_name = "FILE", conflicts_with_all = ["store", "thread", "resource", "scope"])]
    state: Option<PathBuf>,

    /// Maximum number of tokens of the block; a longer state is cut and marked
    #[arg(long, value_name = "N", default_value_t = Tokens(BUDGET))]
    budget: Tokens,

    #[command(flatten)]
    tokenizer: TokenizerFlag,

    #[command(flatten)]
    owner_flags: OwnerFlags,

    #[command(flatten)]
    rules: RuleFlags,
}

impl RecallArgs {
    fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        cut::run_options(&self.cutting, global, &self.options)
    }
}

impl Options for RecallOptions {
    fn processors(&self, _: bool) -> anyhow::Result<Processors> {
        let rules = self.rules.load()?;
        let source = self.source(&rules)?;
        let memory = WorkingMemory {
            source,
            read_only: rules.read_only,
            schema: rules.schema.map(Arc::new),
            budget: self.budget.0,
            tokenizer: self.tokenizer.load()?,
        };
        Ok(vec![Box::new(memory)])
    }

    fn files(&self) -> Reads {
        let store =
            if self.owner_flags.is_given() { store_path(self.owner_flags.place.store.as_deref()).ok() } else { None };
        let rules = self.rules.files();
        Reads::of_content(self.state.iter().cloned().chain(rules).chain(store).chain(self.tokenizer.file()))
    }
}

impl RecallOptions {
    fn source(&self, rules: &LoadedRules) -> anyhow::Result<StateSource> {
        if let Some(path) = &self.state {
            return Ok(StateSource::Given(state(path, rules.schema.as_ref())?));
        }
        if self.owner_flags.is_given() {
            return self.stored_state(rules).map(StateSource::Given);
        }
        Ok(StateSource::Replayed(rules.rules().initial()))
    }

    /// The state in the store. An unusable one is set aside, unless the rules are read-only.
    fn stored_state(&self, loaded: &LoadedRules) -> anyhow::Result<State> {
        let (rules, owner) = (loaded.rules(), self.owner_flags.owner());
        let (key, store) = (owner.key()?, self.owner_flags.place.open_existing()?);
        note_missing(store.as_ref(), key, false)?;
        let Some(store) = store else { return Ok(rules.initial()) };
        let Loaded { state, corrupt } = load(&store, owner, rules)?;
        let Some(reason) = corrupt else { return Ok(state) };
        warn_set_aside(&reason);
        if rules.read_only {
            return Ok(state);
        }
        drop(store);
        Ok(replay(&mut self.owner_flags.place.open()?, owner, rules, &[])?.state)
    }
}

// `curtail memory list` and `prune`: lists stored states and deletes old ones.

/// List the stored states
#[derive(Debug, clap::Args)]
struct ListArgs {
    #[command(flatten)]
    which: Selection,

    /// List only states unchanged for this long, such as 90s, 45m, 12h, 30d or 8w
    #[arg(long, value_name = "AGE", value_parser = age, allow_hyphen_values = true)]
    older_than: Option<Duration>,

    /// Format of the list
    #[arg(
        long,
        value_parser = text_or_json("A table", "One JSON object per state"),
        value_name = "FORMAT",
        default_value = "text"
    )]
    output_format: TextOrJson,
}

/// Delete and list states that have not changed for a while
#[derive(Debug, clap::Args)]
struct PruneArgs {
    /// Minimum time since the last change, such as 90s, 45m, 12h, 30d or 8w
    #[arg(long, value_name = "AGE", value_parser = age, allow_hyphen_values = true)]
    older_than: Duration,

    /// List the states and delete nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    which: Selection,

    /// Format of the list
    #[arg(
        long,
        value_parser = text_or_json("A table", "One JSON object per state"),
        value_name = "FORMAT",
        default_value = "text"
    )]
    output_format: TextOrJson,
}

#[derive(Debug, Clone, clap::Args)]
struct Selection {
    #[command(flatten)]
    place: StoreFlag,

    /// Select only states of this scope
    #[arg(long, value_parser = one_of(SCOPES), value_name = "SCOPE")]
    scope: Option<Scope>,
}

impl Selection {
    fn filter(&self, older_than: Option<Duration>) -> Filter {
        Filter { shelf: Some(Shelf::Memory), scope: self.scope, older_than }
    }
}

impl ListArgs {
    fn run(&self) -> anyhow::Result<()> {
        if let Some(store) = self.which.place.open_existing()? {
            print(&store.list(self.which.filter(self.older_than))?, self.output_format)?;
        }
        Ok(())
    }
}

impl PruneArgs {
    fn run(&self) -> anyhow::Result<()> {
        let filter = self.which.filter(Some(self.older_than));
        let Some(store) = self.which.place.open_existing()? else { return Ok(()) };
        let entries = if self.dry_run {
            store.list(filter)?
        } else {
            drop(store);
            self.which.place.open()?.prune(filter)?
        };
        print(&entries, self.output_format)?;
        Ok(())
    }
}

fn print(entries: &[StoreEntry], format: TextOrJson) -> anyhow::Result<()> {
    let json = || entries.iter().map(|entry| json_line(entry) + "\n").collect::<String>();
    let printed = if format == TextOrJson::Json { console::out_json(&json()) } else { console::out(&table(entries)) };
    Ok(printed?)
}

fn table(entries: &[StoreEntry]) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let rows = entries.iter().map(|entry| {
        let bytes = entry.bytes.map_or_else(|| String::from("cleared"), |bytes| bytes.to_string());
        let (updates, set_aside) = (entry.applied_ids.to_string(), entry.set_aside.to_string());
        let (scope, id) = (entry.scope.name().to_owned(), shown_id(&entry.id));
        [scope, id, bytes, updates, set_aside, entry.updated.clone()]
    });
    let header = ["scope", "id", "bytes", "updates", "set aside", "changed"];
    trimmed(&table::table(header, rows, Columns::Texts)).join("\n") + "\n"
}

fn json_line(entry: &StoreEntry) -> String {
    let StoreEntry { scope, id, bytes, applied_ids, set_aside, updated, .. } = entry;
    json!({"scope": scope.name(), "id": id, "bytes": bytes, "updates": applied_ids, "set_aside": set_aside,
        "changed": updated})
    .to_string()
}

/// An id on one line, the empty id as `""`.
fn shown_id(id: &str) -> String {
    if id.is_empty() { String::from("\"\"") } else { one_line(id).into_owned() }
}

fn age(text: &str) -> Result<Duration, &'static str> {
    time_span(text, "smhdw").ok_or("expected a number with s, m, h, d or w, such as 30d")
}

// `curtail memory show`: the stored state, and states that were set aside.

/// Print the stored state
#[derive(Debug, clap::Args)]
struct StateArgs {
    #[command(flatten)]
    owner_flags: OwnerFlags,

    #[command(flatten)]
    rules: RuleFlags,

    #[command(flatten)]
    output: StateOutput,

    /// Print states that were set aside as unusable instead, one line of JSON each
    #[arg(long)]
    set_aside: bool,
}

impl StateArgs {
    fn run(&self) -> anyhow::Result<()> {
        let rules = self.rules.load()?;
        let owner = self.owner_flags.owner();
        let key = owner.key()?;
        let store = self.owner_flags.place.open_existing()?;
        note_missing(store.as_ref(), key, true)?;
        if self.set_aside {
            return print_set_aside(store.as_ref(), key);
        }
        let Loaded { state, corrupt } = match &store {
            Some(store) => load(store, owner, rules.rules())?,
            None => Loaded { state: rules.rules().initial(), corrupt: None },
        };
        if let Some(reason) = corrupt {
            report::warning(&format!("the stored state is unusable and is treated as empty: {reason}"));
        }
        Ok(console::data(&state_text(self.output.output_format, &state))?)
    }
}

fn print_set_aside(store: Option<&Store>, key: RecordKey<'_>) -> anyhow::Result<()> {
    let asides = store.map(|store| store.set_aside(key)).transpose()?.unwrap_or_default();
    for aside in asides {
        let line = json!({"at": aside.at, "reason": aside.reason, "body": aside.body});
        console::out_json(&format!("{line}\n"))?;
    }
    Ok(())
}

// `curtail memory update`, `set`, `clear` and `spawn`: manual changes.

/// Merge an object into the state and print the state
#[derive(Debug, clap::Args)]
struct UpdateArgs {
    /// JSON object to merge; `-` reads it from standard input
    #[arg(value_name = "JSON")]
    object: String,

    /// Id of the tool call; an id that was applied before changes nothing
    #[arg(long, value_name = "ID")]
    call_id: Option<String>,

    #[command(flatten)]
    owner_flags: OwnerFlags,

    #[command(flatten)]
    rules: RuleFlags,

    #[command(flatten)]
    output: StateOutput,
}

impl UpdateArgs {
    fn run(&self) -> anyhow::Result<ExitCode> {
        let rules = self.rules.load()?;
        let owner = self.owner_flags.owner();
        owner.key()?;
        let object = argument(&self.object)?;
        let mut store = self.owner_flags.place.open()?;
        let Replayed { state, outcomes, set_aside } = match self.call_id.as_deref() {
            Some(call_id) => replay(&mut store, owner, rules.rules(), &[Update { call_id, arguments: &object }])?,
            None => amend(&mut store, owner, rules.rules(), &object)?,
        };
        set_aside.iter().for_each(|reason| warn_set_aside(reason));
        for outcome in outcomes {
            match outcome {
                Outcome::Applied => {}
                Outcome::AlreadyKnown => report::note(&"this call was applied before; nothing changed"),
                Outcome::Ignored => report::note(&"the memory is read-only; nothing changed"),
                Outcome::Malformed(reason) => bail!("{reason}"),
                Outcome::Refused(reason) => return Ok(refused(&reason)),
            }
        }
        console::data(&state_text(self.output.output_format, &state))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Reports that the schema rejects the change; the state is unchanged.
fn refused(reason: &str) -> ExitCode {
    report::error(&format!("the state does not match the schema: {reason}"));
    ExitCode::from(1)
}

fn argument(text: &str) -> anyhow::Result<String> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let mut read = String::new();
    let input = curtail_io::input().and_then(|mut input| input.read_to_string(&mut read));
    input.map_err(|error| FileError::system("stdin", &error))?;
    Ok(read)
}

/// Replace the stored state
#[derive(Debug, clap::Args)]
struct SetArgs {
    /// New state: text or a JSON object; `-` reads it from standard input
    #[arg(value_name = "STATE")]
    state: String,

    #[command(flatten)]
    owner_flags: OwnerFlags,

    #[command(flatten)]
    rules: RuleFlags,
}

impl SetArgs {
    fn run(&self) -> anyhow::Result<ExitCode> {
        let rules = self.rules.load()?;
        self.owner_flags.owner().key()?;
        let state = State::given(&argument(&self.state)?);
        match set(&mut self.owner_flags.place.open()?, self.owner_flags.owner(), rules.rules(), &state) {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(MemoryError::Refused(reason)) => Ok(refused(&reason)),
            Err(error) => Err(error.into()),
        }
    }
}

/// Delete the state, but remember which updates were applied
#[derive(Debug, clap::Args)]
struct ClearArgs {
    /// Also forget the applied updates and the states that were set aside
    #[arg(long)]
    forget: bool,

    #[command(flatten)]
    owner_flags: OwnerFlags,
}

impl ClearArgs {
    fn run(&self) -> anyhow::Result<()> {
        let owner = self.owner_flags.owner();
        let key = owner.key()?;
        let existing = self.owner_flags.place.open_existing()?;
        note_missing(existing.as_ref(), key, false)?;
        if existing.is_none() {
            return Ok(());
        }
        drop(existing);
        let mut store = self.owner_flags.place.open()?;
        if self.forget {
            store.remove(key)?;
        } else {
            clear(&mut store, owner)?;
        }
        Ok(())
    }
}

/// Copy a resource's state to a child thread; a thread's state is not inherited
#[derive(Debug, clap::Args)]
struct SpawnArgs {
    /// Thread of the child
    #[arg(long, value_name = "THREAD")]
    to: String,

    /// Replace an existing state of the child
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    owner_flags: OwnerFlags,
}

impl SpawnArgs {
    fn run(&self) -> anyhow::Result<()> {
        let parent = self.owner_flags.owner_else(Scope::Resource);
        parent.key()?;
        let spawned = spawn(&mut self.owner_flags.place.open()?, parent, &self.to, self.force)?;
        match spawned {
            Spawned::Copied(_) => {}
            Spawned::Nothing => report::note(&"the resource has no state; nothing was copied"),
            Spawned::NotInherited => {
                report::note(&"a thread's state is not inherited; pass --resource ID to copy a shared state");
            }
        }
        Ok(())
    }
}

// `curtail memory tool-schema`: the definition of the memory tool.

/// The values of `--dialect`.
const SHAPES: &[Choice<Shape>] = &[
    Choice::new("openai", Shape::OpenAi, "`OpenAI` chat completions"),
    Choice::new("responses", Shape::Responses, "`OpenAI` Responses").with_alias("codex"),
    Choice::new("anthropic", Shape::Anthropic, "Anthropic Messages").with_alias("claude-code"),
    Choice::new("gemini", Shape::Gemini, "Gemini"),
    Choice::new("bedrock", Shape::Bedrock, "Amazon Bedrock Converse"),
];

/// Print the definition of the tool with which a model updates the memory
#[derive(Debug, clap::Args)]
struct ToolSchemaArgs {
    /// API whose tool format to use
    #[arg(long, value_parser = one_of(SHAPES), default_value = "openai")]
    dialect: Shape,

    /// Print only this name of the tool; most providers allow no `/` [default: both names]
    #[arg(long, value_name = "NAME", value_parser = NAMES)]
    name: Option<String>,

    /// JSON Schema file that every state must satisfy
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
}

impl ToolSchemaArgs {
    fn run(&self) -> anyhow::Result<()> {
        let schema = self.schema.as_deref().map(schema).transpose()?;
        let names = NAMES.iter().filter(|name| self.name.as_deref().is_none_or(|only| only == **name));
        let tools: Vec<_> = names.map(|name| definition(self.dialect, name, schema.as_ref())).collect();
        Ok(console::out_json(&format!("{:#}\n", serde_json::Value::from(tools)))?)
    }
}

// The flags that the memory commands share: owner, rules and output format.

/// The values of `--scope`.
const SCOPES: &[Choice<Scope>] = &[
    Choice::new(Scope::Thread.name(), Scope::Thread, "The state of one thread"),
    Choice::new(Scope::Resource.name(), Scope::Resource, "The state of a resource, shared by its threads"),
];

/// The owner of the state.
#[derive(Debug, Clone, clap::Args)]
#[command(group = ArgGroup::new(TRUSTED).multiple(true))]
struct OwnerFlags {
    #[command(flatten)]
    place: StoreFlag,

    /// Thread (conversation) that the state belongs to
    #[arg(long, value_name = "ID", group = TRUSTED, help_heading = "Store")]
    thread: Option<String>,

    /// Resource that several threads share, such as a user or a project
    #[arg(long, value_name = "ID", group = TRUSTED, help_heading = "Store")]
    resource: Option<String>,

    /// Scope of the state [default: thread, or resource if only --resource is given]
    #[arg(
        long,
        value_parser = one_of(SCOPES),
        value_name = "SCOPE",
        group = TRUSTED,
        hide_short_help = true,
        help_heading = "Store"
    )]
    scope: Option<Scope>,
}

impl OwnerFlags {
    fn owner(&self) -> Owner<'_> {
        self.owner_else(Scope::Thread)
    }

    /// The owner, whose scope is `default` if neither a flag nor the only id that is given tells it.
    fn owner_else(&self, default: Scope) -> Owner<'_> {
        let (thread, resource) = (self.thread.as_deref(), self.resource.as_deref());
        let implied = match (thread, resource) {
            (Some(_), None) => Scope::Thread,
            (None, Some(_)) => Scope::Resource,
            _ => default,
        };
        Owner { scope: self.scope.unwrap_or(implied), thread, resource }
    }

    /// Whether any flag names a stored state.
    const fn is_given(&self) -> bool {
        self.place.store.is_some() || self.thread.is_some() || self.resource.is_some() || self.scope.is_some()
    }
}

/// Reports that the store has no state for `key`, with the stored id that is probably meant. Ids that differ only in digits are
/// not similar: new threads are often numbered. Without a similar id, only a resource is reported, and only if the state
/// `must_exist`: a thread may be new.
fn note_missing(store: Option<&Store>, key: RecordKey<'_>, must_exist: bool) -> Result<(), StoreError> {
    let filter = Filter { shelf: Some(Shelf::Memory), scope: Some(key.scope), older_than: None };
    let entries = store.map(|store| store.list(filter)).transpose()?.unwrap_or_default();
    if entries.iter().any(|entry| entry.id == key.id) {
        return Ok(());
    }
    let name = |id: &str| id.replace(|letter: char| letter.is_ascii_digit(), "");
    let is_similar = |id: &str| {
        let most = if id.len() < 4 { 1 } else { 2 };
        id.len() >= 3 && name(id) != name(key.id) && strsim::osa_distance(id, key.id) <= most
    };
    let missing = format!("nothing is stored for {} {:?}", key.scope.name(), key.id);
    match entries.iter().find(|entry| is_similar(&entry.id)) {
        Some(similar) => report::note(&format!("{missing}; did you mean {:?}?", similar.id)),
        None if must_exist && key.scope == Scope::Resource => {
            report::note(&format!("{missing}; `curtail memory list` lists the stored states"));
        }
        None => {}
    }
    Ok(())
}

/// Warns about an unusable state.
fn warn_set_aside(reason: &str) {
    report::warning(&format!(
        "the stored state is unusable and was set aside (see `memory show --set-aside`): {reason}"
    ));
}

/// The rules of a state.
#[derive(Debug, Clone, clap::Args)]
struct RuleFlags {
    /// JSON Schema file that every state must satisfy
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,

    /// File with the state to use while none is stored: text or a JSON object
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    template: Option<PathBuf>,

    /// Ignore all updates
    #[arg(long, hide_short_help = true)]
    read_only: bool,
}

/// The rules with their files read.
#[derive(Debug)]
struct LoadedRules {
    schema: Option<Schema>,
    template: Option<State>,
    read_only: bool,
}

impl RuleFlags {
    /// The files that the flags name.
    fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.schema.iter().chain(&self.template).cloned()
    }

    /// Reads the files; an invalid schema is an error before anything else happens.
    fn load(&self) -> anyhow::Result<LoadedRules> {
        let schema = self.schema.as_deref().map(schema).transpose()?;
        let template = self.template.as_deref().map(|path| state(path, schema.as_ref())).transpose()?;
        Ok(LoadedRules { schema, template, read_only: self.read_only })
    }
}

impl LoadedRules {
    fn rules(&self) -> Rules<'_> {
        Rules { schema: self.schema.as_ref(), template: self.template.as_ref(), read_only: self.read_only }
    }
}

/// Reads a schema.
fn schema(path: &Path) -> anyhow::Result<Schema> {
    Schema::parse(&read_text(path)?).with_context(|| path.display().to_string())
}

/// Reads a state, which must satisfy the schema.
fn state(path: &Path, schema: Option<&Schema>) -> anyhow::Result<State> {
    let state = State::given(&read_text(path)?);
    if let Some(Err(reason)) = schema.map(|schema| schema.check(&state)) {
        bail!("{}: the state does not match the schema: {reason}", path.display());
    }
    Ok(state)
}

/// How a state is written.
#[derive(Debug, Clone, clap::Args)]
struct StateOutput {
    /// Format of the state
    #[arg(
        long,
        value_parser = text_or_json("Text unchanged, an object as indented JSON", "JSON on one line"),
        value_name = "FORMAT",
        default_value = "text"
    )]
    output_format: TextOrJson,
}

/// The state and a newline; nothing for an empty text.
fn state_text(format: TextOrJson, state: &State) -> String {
    match (format, state) {
        (TextOrJson::Json, _) => state.to_json() + "\n",
        (TextOrJson::Text, State::Text(text)) if text.is_empty() || text.ends_with('\n') => text.clone(),
        (TextOrJson::Text, _) => state.to_text() + "\n",
    }
}
