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
    listing: Listing,

    /// List only states unchanged for this long, such as 90s, 45m, 12h, 30d or 8w
    #[arg(long, value_name = "AGE", value_parser = age, allow_hyphen_values = true)]
    older_than: Option<Duration>,
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
    listing: Listing,
}

/// Which states are listed, and how.
#[derive(Debug, clap::Args)]
struct Listing {
    #[command(flatten)]
    place: StoreFlag,

    /// Select only states of this scope
    #[arg(long, value_parser = one_of(SCOPES), value_name = "SCOPE")]
    scope: Option<Scope>,

    /// Format of the list
    #[arg(
        long,
        value_parser = text_or_json("A table", "One JSON object per state"),
        value_name = "FORMAT",
        default_value = "text"
    )]
    output_format: TextOrJson,
}

impl ListArgs {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let Some(store) = self.listing.place.open_existing()? else { return Ok(()) };
        self.listing.print(&store.list(self.listing.filter(self.older_than))?)
    }
}

impl PruneArgs {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let filter = self.listing.filter(Some(self.older_than));
        let Some(store) = self.listing.place.open_existing()? else { return Ok(()) };
        if self.dry_run {
            return self.listing.print(&store.list(filter)?);
        }
        drop(store);
        self.listing.print(&self.listing.place.open()?.prune(filter)?)
    }
}

impl Listing {
    fn filter(&self, older_than: Option<Duration>) -> Filter {
        Filter { shelf: Some(Shelf::Memory), scope: self.scope, older_than }
    }

    fn print(&self, entries: &[StoreEntry]) -> anyhow::Result<()> {
        Ok(match self.output_format {
            TextOrJson::Text => console::out(&table(entries)),
            TextOrJson::Json => console::out_json(&entries.iter().map(json_line).collect::<String>()),
        }?)
    }
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
    let line = json!({"scope": scope.name(), "id": id, "bytes": bytes, "updates": applied_ids, "set_aside": set_aside,
        "changed": updated});
    format!("{line}\n")
}

/// An id on one line, the empty id as `""`.
fn shown_id(id: &str) -> String {
    if id.is_empty() { String::from("\"\"") } else { one_line(id).into_owned() }
}

fn age(text: &str) -> Result<Duration, &'static str> {
    time_span(text, "smhdw").ok_or("expected a number with s, m, h, d or w, such as 30d")
}
