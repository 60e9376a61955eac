//! `curtail completions` and `curtail man`: what is made from the same definitions as the help.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::console;
use anyhow::{Context as _, bail};
use clap_complete::Shell;
use clap_mangen::Man;
use curtail_io::{FileSink, Packing, Replace, Scratch, refuse_file_as_directory};

/// Print a shell's completion script
#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArgs {
    /// Shell that runs the script
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

impl CompletionsArgs {
    /// Prints the script.
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::command(), "curtail", &mut script);
        console::data(&String::from_utf8(script)?)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Print the manual page, or write one page for each command
#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// Write the pages of all commands to DIR instead; existing pages are replaced
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl ManArgs {
    /// Prints the first page, or writes all pages.
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        if let Some(folder) = &self.out {
            refuse_file_as_directory(folder, "name one, or print the main page with `curtail man`")?;
            let mut command = super::command().disable_help_subcommand(true);
            command.build();
            write_pages(&command, folder, &Scratch::default())?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut page = Vec::new();
        Man::new(super::command()).render(&mut page)?;
        console::data(&String::from_utf8(page)?)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes the page of `command` and those of its subcommands.
fn write_pages(command: &clap::Command, folder: &Path, scratch: &Scratch) -> anyhow::Result<()> {
    for command in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        write_pages(command, folder, scratch)?;
    }
    let man = Man::new(command.clone());
    let path = folder.join(man.get_filename());
    if path.is_file() && !is_page(&path)? {
        bail!(
            "{}: exists and is not a manual page of curtail (not overwritten); name another directory",
            path.display()
        );
    }
    let mut sink = FileSink::create(&path, Packing::Plain, None, scratch)?;
    man.render(&mut sink).with_context(|| path.display().to_string())?;
    sink.commit(Replace::Yes, scratch)?;
    Ok(())
}

/// Whether the file at `path` begins as a page of this program does.
fn is_page(path: &Path) -> anyhow::Result<bool> {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(1024).read_to_end(&mut head));
    read.with_context(|| path.display().to_string())?;
    Ok(String::from_utf8_lossy(&head).contains("\n.TH curtail"))
}
