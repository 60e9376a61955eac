//! `curtail memory recall`: inserts the state into a transcript.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::ValueHint;

use super::{LoadedRules, OwnerFlags, RuleFlags, note_missing, state, warn_set_aside};
use crate::cli::cut;
use crate::cli::input::{CutFlags, Global};
use crate::cli::options::{Options, Reads, Tokens, tokenizer_file};
use crate::cli::store::store_path;
use curtail_core::pipeline::Processors;
use curtail_memory::memory::{BUDGET, Loaded, State, StateSource, WorkingMemory, load, replay};
use curtail_tokens::tokenizers::{DEFAULT, tokenizer_by_name};

/// Insert the state into a transcript, after the leading instructions
///
/// The state comes from the store with --thread or --resource, from a file with --state, and otherwise from the updates in the
/// transcript itself.
#[derive(Debug, clap::Args)]
pub(super) struct RecallArgs {
    #[command(flatten)]
    pub(super) options: RecallOptions,

    #[command(flatten)]
    pub(super) cutting: CutFlags,
}

/// Insert the stored state after the leading instructions
#[derive(Debug, Clone, clap::Args)]
pub(in crate::cli) struct RecallOptions {
    /// File with the state: text or a JSON object
    #[arg(long, value_name = "FILE", conflicts_with_all = ["store", "thread", "resource", "scope"])]
    state: Option<PathBuf>,

    /// Maximum number of tokens of the block; a longer state is cut and marked
    #[arg(long, value_name = "N", default_value_t = Tokens(BUDGET))]
    budget: Tokens,

    /// Tokenizer: an encoding, `approx[:ENCODING]` or the path of a `tokenizer.json`
    ///
    /// `curtail tokenizers` lists the encodings.
    #[arg(long, value_name = "NAME", default_value = DEFAULT, env = "CURTAIL_TOKENIZER", value_hint = ValueHint::FilePath)]
    tokenizer: String,

    #[command(flatten)]
    owner_flags: OwnerFlags,

    #[command(flatten)]
    rules: RuleFlags,
}

impl RecallArgs {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        cut::run_options(&self.cutting, global, &self.options)
    }
}

impl Options for RecallOptions {
    fn processors(&self) -> anyhow::Result<Processors> {
        let rules = self.rules.load()?;
        let source = self.source(&rules)?;
        let memory = WorkingMemory {
            source,
            read_only: rules.read_only,
            schema: rules.schema.map(Arc::new),
            budget: self.budget.0,
            tokenizer: tokenizer_by_name(&self.tokenizer)?,
        };
        Ok(vec![Box::new(memory)])
    }

    fn files(&self) -> Reads {
        let store =
            if self.owner_flags.is_given() { store_path(self.owner_flags.place.store.as_deref()).ok() } else { None };
        let rules = self.rules.files();
        Reads::of_content(self.state.iter().cloned().chain(rules).chain(store).chain(tokenizer_file(&self.tokenizer)))
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
