//! `curtail memory list` and `prune`: lists stored states and deletes old ones.

use std::time::Duration;

use serde_json::json;

use crate::console;
use crate::options::choices::{TextOrJson, one_of, text_or_json};
use crate::options::memory::SCOPES;
use crate::options::numbers::time_span;
use crate::options::store::StoreFlag;
use crate::reports::screen::Screen;
use crate::reports::table::{Kind, Table};
use curtail_core::visible::one_line;
use curtail_memory::store::{Filter, Scope, Shelf, StoreEntry};

/// List the stored states
#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
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
pub(super) struct PruneArgs {
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
    pub(super) fn run(&self) -> anyhow::Result<()> {
        if let Some(store) = self.which.place.open_existing()? {
            print(&store.list(self.which.filter(self.older_than))?, self.output_format)?;
        }
        Ok(())
    }
}

impl PruneArgs {
    pub(super) fn run(&self) -> anyhow::Result<()> {
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
    let screen = Screen::of_stdout();
    let rows = entries.iter().map(|entry| {
        let bytes = entry.bytes.map_or_else(|| String::from("cleared"), |bytes| screen.number(bytes));
        let updates = screen.number(entry.applied_ids);
        let set_aside = screen.number(entry.set_aside);
        let scope = entry.scope.name().to_owned();
        let id = shown_id(&entry.id);
        [scope, id, bytes, updates, set_aside, entry.updated.clone()]
    });
    let numbers = ["bytes", "updates", "set aside"].map(|title| (title, Kind::Count));
    let columns =
        [("scope", Kind::Text), ("id", Kind::Name)].into_iter().chain(numbers).chain([("changed", Kind::Text)]);
    Table::new(columns).with(rows).text(screen)
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
