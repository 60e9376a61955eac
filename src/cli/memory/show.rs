//! `curtail memory show`: the stored state, and states that were set aside.

use std::process::ExitCode;

use super::flags::{Output, RuleFlags, Whose, note_misspelled};
use crate::cli::report;
use crate::console;
use curtail_memory::memory::{Loaded, load};
use curtail_memory::store::{RecordKey, Store};

/// Print the stored state
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    whose: Whose,

    #[command(flatten)]
    rules: RuleFlags,

    #[command(flatten)]
    output: Output,

    /// Print states that were set aside as unusable instead, one line of JSON each
    #[arg(long)]
    set_aside: bool,
}

impl Args {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let rules = self.rules.load()?;
        let owner = self.whose.owner();
        let key = owner.key()?;
        let store = self.whose.place.open_existing()?;
        note_misspelled(store.as_ref(), key)?;
        if self.set_aside {
            return aside(store.as_ref(), key);
        }
        let Loaded { state, corrupt } = match &store {
            Some(store) => load(store, owner, rules.rules())?,
            None => Loaded { state: rules.rules().initial(), corrupt: None },
        };
        if let Some(reason) = corrupt {
            report::warning(&format!("the stored state is unusable and is treated as empty: {reason}"));
        }
        console::data(&self.output.output_format.write(&state))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn aside(store: Option<&Store>, key: RecordKey<'_>) -> anyhow::Result<ExitCode> {
    let asides = store.map(|store| store.set_aside(key)).transpose()?.unwrap_or_default();
    for aside in asides {
        let line = serde_json::json!({"at": aside.at, "reason": aside.reason, "body": aside.body});
        console::out_json(&format!("{line}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}
