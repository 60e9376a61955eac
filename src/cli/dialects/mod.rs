//! `curtail dialects`: lists the dialects, prints the description of one, and tries a description on samples.

mod laws;
mod trial;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use serde_json::json;

use crate::console;
use crate::options::choices::{TextOrJson, text_or_json};
use crate::options::global::Global;
use crate::options::input::description_to_try;
use crate::reports::screen::Screen;
use crate::reports::table::{Kind, Table};
use curtail_core::dialects::{self, Framing, Reading, description_of, dialect_named, known_dialect};

/// List the dialects, print one, or try one on samples
///
/// A description says in a short file how a format is read and written, and --dialect-file reads one. The page
/// docs/dialects/own.md explains the language.
#[derive(Debug, clap::Args)]
pub(super) struct DialectsArgs {
    /// Dialect whose description is printed; with --test, files to read
    #[arg(value_name = "NAME")]
    operands: Vec<PathBuf>,

    /// Try the description in FILE on samples: what is read of them, what is not, and whether cuts keep the laws
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,

    /// Format of the list
    #[arg(
        long,
        value_parser = text_or_json("A table", "One JSON object per dialect"),
        value_name = "FORMAT",
        default_value = "text",
        conflicts_with_all = ["operands", "test"]
    )]
    output_format: TextOrJson,
}

impl DialectsArgs {
    /// Lists every dialect, prints one, or tries a description.
    pub(super) fn run(&self, _: &Global) -> anyhow::Result<ExitCode> {
        match (&self.test, self.operands.as_slice()) {
            (Some(file), samples) => {
                let (description, unwritten) = description_to_try(file)?;
                let tried = trial::run(description, unwritten.as_ref(), samples)?;
                console::out(&tried.text)?;
                return Ok(if tried.passed { ExitCode::SUCCESS } else { ExitCode::from(1) });
            }
            (None, []) if self.output_format == TextOrJson::Json => console::out(&json_list())?,
            (None, []) => console::out(&text_list().text(Screen::of_stdout()))?,
            (None, [name]) => console::out(&described(&name.to_string_lossy())?)?,
            (None, [_, second, ..]) => bail!("{}: name one dialect; --test takes samples", second.display()),
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn text_list() -> Table {
    let rows = dialects::ALL.iter().map(|dialect| {
        let suffix = if dialect.writer().is_none() { " (read-only)" } else { "" };
        [dialect.name().to_owned(), format!("{}{suffix}", dialect.signature())]
    });
    Table::new([("", Kind::Name), ("", Kind::Prose)]).with(rows)
}

fn json_list() -> String {
    let lines = dialects::ALL.iter().map(|dialect| {
        let mut listed = json!({"name": dialect.name(), "signature": dialect.signature()});
        if dialect.writer().is_none() {
            listed["only_read"] = json!(true);
        }
        format!("{listed}\n")
    });
    lines.collect()
}

/// The description of the dialect called `name`, or what is known of one that is code.
fn described(name: &str) -> anyhow::Result<String> {
    if let Some(text) = description_of(name) {
        return Ok(text.to_owned());
    }
    Ok(format!(
        "# `{name}` is code, not a description. It is recognized by {}.\n# A description extends it, for messages in an \
         envelope or under another key:\n#\n#   extends = \"{name}\"\n#   message = \"where.the.message.is\"\n",
        known_dialect(name)?.signature()
    ))
}

/// The reading of a text in the dialect called `name`, which is known.
fn reading_of(name: &str, framing: Framing) -> Reading {
    Reading { framing, dialect: dialect_named(name), named: true, messages_key: None }
}
