//! The commands that print what this build knows: rules, tokenizers, the JSON Schemas of its outputs, completion
//! scripts and manual pages.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap_complete::Shell;
use clap_mangen::Man;
use serde_json::{Value, json};

use crate::console;
use crate::options::choices::{TextOrJson, text_or_json};
use crate::options::configuration_schema;
use crate::options::files::written_path;
use crate::options::global::Global;
use crate::reports::screen::{NAME, Screen, painted};
use crate::reports::table::{Kind, Table};
use curtail_core::checks::{self, Rule, rule_named};
use curtail_core::suggest::unknown;
use curtail_io::{FileSink, Packing, Replace, Scratch, refuse_file_as_directory};
use curtail_tokens::tokenizers::{self, BY_USAGE};

/// Show a rule's documentation, or list all rules
#[derive(Debug, clap::Args)]
pub(super) struct RuleArgs {
    /// Code or name of the rule; without it, all rules are listed
    #[arg(value_name = "RULE")]
    rule: Option<String>,
}

impl RuleArgs {
    /// Prints the page of the rule: what it detects, and why that matters. Without a rule, prints the list.
    pub(super) fn run(&self, _: &Global) -> anyhow::Result<()> {
        console::out(&match &self.rule {
            // Whoever pastes what a provider answered looks for its cause.
            Some(text) if text.contains(' ') => {
                bail!("not the name of a rule; `curtail check --error TEXT` finds what an answer of a provider means")
            }
            Some(key) => on_screen(&rule_named(key)?.page(), Screen::of_stdout()),
            None => rule_list(checks::ALL).text(Screen::of_stdout()),
        })?;
        Ok(())
    }
}

/// A page in Markdown with the headings in a style of their own. Lines are continued, except those of code.
fn on_screen(page: &str, screen: Screen) -> String {
    let mut is_code = false;
    let lines = page.lines().map(|line| {
        is_code ^= line.starts_with("```");
        let text =
            if is_code { line.to_owned() } else { screen.wrapped(line, if line.starts_with('|') { 2 } else { 0 }) };
        (if line.starts_with('#') && !is_code { painted(NAME, &text) } else { text }) + "\n"
    });
    lines.collect()
}

fn rule_list(rules: &[&Rule]) -> Table {
    let columns = [("", Kind::Name), ("", Kind::Name), ("", Kind::Text), ("", Kind::Prose)];
    Table::new(columns).with(rules.iter().map(|rule| [rule.code, rule.name, rule.level.name(), rule.summary]))
}

/// List the tokenizers and their models
#[derive(Debug, clap::Args)]
pub(super) struct TokenizersArgs {
    /// Format of the list
    #[arg(
        long,
        value_parser = text_or_json("A table", "One JSON array"),
        value_name = "FORMAT",
        default_value = "text"
    )]
    output_format: TextOrJson,
}

impl TokenizersArgs {
    /// Lists every tokenizer, and the calibration with the provider's usage.
    pub(super) fn run(&self, _: &Global) -> anyhow::Result<()> {
        let text = match self.output_format {
            TextOrJson::Text => tokenizer_table().text(Screen::of_stdout()),
            TextOrJson::Json => format!("{}\n", tokenizer_array()),
        };
        Ok(console::out(&text)?)
    }
}

fn tokenizer_table() -> Table {
    let rows = tokenizers::all().into_iter().map(|listed| {
        let counts = if listed.exact { "exactly" } else { "an estimate" };
        [listed.name, counts, &listed.models.join(", ")].map(String::from)
    });
    let by_usage = ["usage[:NAME]", "an estimate", "those whose logs contain the provider's usage"].map(String::from);
    let columns = [("name", Kind::Name), ("counts", Kind::Text), ("models", Kind::Prose)];
    Table::new(columns).with(rows.chain([by_usage]))
}

fn tokenizer_array() -> Value {
    let rows = tokenizers::all().into_iter().map(
        |listed| json!({"name": listed.name, "kind": listed.kind, "exact": listed.exact, "models": listed.models}),
    );
    let by_usage = json!({"name": BY_USAGE, "kind": "usage", "models": [], "exact": false});
    rows.chain([by_usage]).collect()
}

/// The outputs by name, each with its schema, which is also published with the documentation.
macro_rules! schemas {
    ($($name:literal,)*) => {
        const SCHEMAS: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../docs/schemas/", $name, ".json"))),)*];
    };
}

schemas! {
    "check", "count", "dialects", "explain", "rejects", "replay", "sessions", "show", "split-map", "stats", "tokenizers",
    "verify",
}

/// Print the JSON Schema of an output, or list the outputs
#[derive(Debug, clap::Args)]
pub(super) struct SchemaArgs {
    /// Name of the output; without it, all outputs are listed
    #[arg(value_name = "OUTPUT")]
    output: Option<String>,
}

impl SchemaArgs {
    /// Prints the schema or the list.
    pub(super) fn run(&self, _: &Global) -> anyhow::Result<()> {
        match self.output.as_deref() {
            None => console::out(&schema_list()?)?,
            Some("configuration") => console::out_json(&configuration_schema())?,
            Some(name) => match SCHEMAS.iter().find(|(known, _)| *known == name) {
                Some((_, schema)) => console::out_json(schema)?,
                None => {
                    let names: Vec<&str> = SCHEMAS.iter().map(|(name, _)| *name).chain(["configuration"]).collect();
                    bail!(unknown("there is no output", name, &names));
                }
            },
        }
        Ok(())
    }
}

/// The outputs, each with the description in its schema.
fn schema_list() -> anyhow::Result<String> {
    let mut list = Table::new([("", Kind::Name), ("", Kind::Prose)]);
    list.add(["configuration", "A `curtail.toml`."]);
    for (name, schema) in SCHEMAS {
        let schema: Value = serde_json::from_str(schema)?;
        list.add([*name, schema["description"].as_str().unwrap_or_default()]);
    }
    Ok(list.text(Screen::of_stdout()))
}

// `curtail completions` and `curtail man`: what is made from the same definitions as the help.

/// Print a shell's completion script
#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArgs {
    /// Shell that runs the script
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

impl CompletionsArgs {
    /// Prints the script.
    pub(super) fn run(&self, _: &Global) -> anyhow::Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::command(), "curtail", &mut script);
        Ok(console::data(&String::from_utf8(script)?)?)
    }
}

/// Print the manual page, or write one page for each command
#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// Write the pages of all commands to DIR instead; existing pages are replaced
    #[arg(long, value_name = "DIR", value_parser = written_path())]
    out: Option<PathBuf>,
}

impl ManArgs {
    /// Prints the first page, or writes all pages.
    pub(super) fn run(&self, _: &Global) -> anyhow::Result<()> {
        if let Some(folder) = &self.out {
            refuse_file_as_directory(folder, "name one, or print the main page with `curtail man`")?;
            let mut command = with_long_pages(super::command()).disable_help_subcommand(true);
            command.build();
            let mut pages = Vec::new();
            add_pages(&command, folder, &mut pages);
            return write_pages(&pages);
        }
        let mut page = Vec::new();
        Man::new(with_long_pages(super::command())).render(&mut page)?;
        Ok(console::data(&String::from_utf8(page)?)?)
    }
}

/// `command` with a description of each flag on its page, also of those that only the long help lists.
fn with_long_pages(command: clap::Command) -> clap::Command {
    command.mut_args(|flag| flag.hide_short_help(false)).mut_subcommands(with_long_pages)
}

/// Adds the pages of the subcommands of `command`, and its own.
fn add_pages(command: &clap::Command, folder: &Path, pages: &mut Vec<(PathBuf, Man)>) {
    for command in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        add_pages(command, folder, pages);
    }
    let man = Man::new(command.clone());
    pages.push((folder.join(man.get_filename()), man));
}

/// Writes all pages, or none if one of the files is of somebody else.
fn write_pages(pages: &[(PathBuf, Man)]) -> anyhow::Result<()> {
    for (path, _) in pages {
        if path.is_file() && !is_page(path)? {
            bail!(
                "{}: exists and is not a manual page of curtail (not overwritten); name another directory",
                path.display()
            );
        }
    }
    let scratch = Scratch::default();
    for (path, man) in pages {
        let mut sink = FileSink::create(path, Packing::Plain, None, &scratch)?;
        man.render(&mut sink).with_context(|| path.display().to_string())?;
        sink.commit(Replace::Yes, &scratch)?;
    }
    Ok(())
}

/// Whether the file at `path` begins as a page of this program does.
fn is_page(path: &Path) -> anyhow::Result<bool> {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(1024).read_to_end(&mut head));
    read.with_context(|| path.display().to_string())?;
    Ok(String::from_utf8_lossy(&head).contains("\n.TH curtail"))
}
