//! `curtail memory list` and `prune`: lists stored states and deletes old ones.

use std::process::ExitCode;
use std::time::Duration;

use comfy_table::{Table, presets};
use serde_json::json;

use super::{ListFormat, OwnerFlags, RuleFlags, SCOPES, StateOutput, note_missing};
use crate::cli::options::one_of;
use crate::cli::report;
use crate::cli::store::StoreFlag;
use crate::console;
use curtail_core::visible::one_line;
use curtail_memory::memory::{Loaded, load};
use curtail_memory::store::{Filter, RecordKey, Scope, Shelf, Store, StoreEntry};

/// List the stored states
#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    which: ListSelection,

    /// Format of the list
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    output_format: ListFormat,
}

/// Delete and list states that have not changed for a while
#[derive(Debug, clap::Args)]
pub(super) struct Prune {
    /// Minimum time since the last change, such as 90s, 45m, 12h, 30d or 8w
    #[arg(long, value_name = "AGE", value_parser = age, allow_hyphen_values = true)]
    older_than: Duration,

    /// List the states and delete nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    which: Selection,

    /// Format of the list
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    output_format: ListFormat,
}

#[derive(Debug, Clone, clap::Args)]
struct ListSelection {
    #[command(flatten)]
    selection: Selection,

    /// List only states unchanged for this long, such as 90s, 45m, 12h, 30d or 8w
    #[arg(long, value_name = "AGE", value_parser = age, allow_hyphen_values = true)]
    older_than: Option<Duration>,
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
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let ListSelection { selection, older_than } = &self.which;
        if let Some(store) = selection.place.open_existing()? {
            print(&store.list(selection.filter(*older_than))?, self.output_format)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Prune {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let filter = self.which.filter(Some(self.older_than));
        let Some(store) = self.which.place.open_existing()? else { return Ok(ExitCode::SUCCESS) };
        let entries = if self.dry_run {
            store.list(filter)?
        } else {
            drop(store);
            self.which.place.open()?.prune(filter)?
        };
        print(&entries, self.output_format)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn print(entries: &[StoreEntry], format: ListFormat) -> anyhow::Result<()> {
    let json = || entries.iter().map(|entry| json_line(entry) + "\n").collect::<String>();
    let printed = if format == ListFormat::Json { console::out_json(&json()) } else { console::out(&table(entries)) };
    Ok(printed?)
}

fn table(entries: &[StoreEntry]) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["scope", "id", "bytes", "updates", "set aside", "changed"]);
    for entry in entries {
        let bytes = entry.bytes.map_or_else(|| String::from("cleared"), |bytes| bytes.to_string());
        let (updates, set_aside) = (entry.applied_ids.to_string(), entry.set_aside.to_string());
        let id = shown_id(&entry.id);
        table.add_row([entry.scope.name(), &id, &bytes, &updates, &set_aside, &entry.updated]);
    }
    let lines = table.lines().map(|line| line.trim().to_owned() + "\n");
    lines.collect()
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

fn age(text: &str) -> Result<Duration, String> {
    let wrong = || String::from("expected a number with s, m, h, d or w, such as 30d");
    let (at, unit) = text.char_indices().last().ok_or_else(wrong)?;
    let seconds: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return Err(wrong()),
    };
    let number: u64 = text[..at].parse().map_err(|_| wrong())?;
    number.checked_mul(seconds).map(Duration::from_secs).ok_or_else(wrong)
}

// `curtail memory show`: the stored state, and states that were set aside.

/// Print the stored state
#[derive(Debug, clap::Args)]
pub(super) struct StateArgs {
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
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let rules = self.rules.load()?;
        let owner = self.owner_flags.owner();
        let key = owner.key()?;
        let store = self.owner_flags.place.open_existing()?;
        note_missing(store.as_ref(), key)?;
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
        console::data(&self.output.output_format.write(&state))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn print_set_aside(store: Option<&Store>, key: RecordKey<'_>) -> anyhow::Result<ExitCode> {
    let asides = store.map(|store| store.set_aside(key)).transpose()?.unwrap_or_default();
    for aside in asides {
        let line = serde_json::json!({"at": aside.at, "reason": aside.reason, "body": aside.body});
        console::out_json(&format!("{line}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}
