//! `curtail store`: exports and imports the file in which `memory` and `summarize` keep their states.

use std::env;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};

use super::input::{Global, is_standard};
use super::options::{Choice, one_of};
use crate::cli::report;
use crate::console;
use curtail_core::visible::number_of;
use curtail_io::{ErrorKind, FileError};
use curtail_io::{FileSink, Packing, Replace, Scratch, sweep};
use curtail_memory::store::{Clash, Store, StoreError, StoreLocation};

/// The values of `--on-clash`.
const CLASHES: &[Choice<Clash>] = &[
    Choice::new("refuse", Clash::Refuse, "Import nothing and name the state"),
    Choice::new("keep", Clash::Keep, "Keep the existing state"),
    Choice::new("replace", Clash::Replace, "Replace the existing state"),
];

/// Export and import the store of `memory` and `summarize`
#[derive(Debug, clap::Args)]
pub(super) struct StoreArgs {
    #[command(subcommand)]
    command: StoreCommand,
}

#[derive(Debug, clap::Subcommand)]
enum StoreCommand {
    /// Write every stored state as one line of JSON
    Export {
        #[command(flatten)]
        place: StoreFlag,

        /// File to write; standard output if omitted or `-`
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Read states that `export` wrote, all of them or none
    Import {
        #[command(flatten)]
        place: StoreFlag,

        /// What to do with a state that already exists
        #[arg(long, value_parser = one_of(CLASHES), default_value = "refuse")]
        on_clash: Clash,

        /// File to read; standard input if omitted or `-`
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
}

/// The file of the store.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct StoreFlag {
    /// Store file [default: `CURTAIL_STORE`, or curtail/state.db in `XDG_STATE_HOME` or ~/.local/state]
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = "Store")]
    pub(super) store: Option<PathBuf>,
}

impl StoreFlag {
    /// The store's file: the flag's, else the environment's.
    fn path(&self) -> Result<PathBuf, StoreError> {
        store_path(self.store.as_deref())
    }

    /// The store, created if it does not exist.
    pub(super) fn open(&self) -> anyhow::Result<Store> {
        open_to_change(&self.path()?)
    }

    /// The store, if it exists.
    pub(super) fn open_existing(&self) -> anyhow::Result<Option<Store>> {
        Ok(Store::open_existing(&self.path()?)?)
    }
}

/// The file that `flag` names, else the one that the environment names.
pub(super) fn store_path(flag: Option<&Path>) -> Result<PathBuf, StoreError> {
    let flag = flag.map(Path::to_owned);
    let (variable, state_home) = (env::var_os("CURTAIL_STORE"), env::var_os("XDG_STATE_HOME"));
    StoreLocation { flag, variable, state_home, home: env::home_dir() }.path()
}

impl StoreArgs {
    pub(super) fn run(&self, _: &Global) -> anyhow::Result<()> {
        match &self.command {
            StoreCommand::Export { place, file } => export(place, named_file(file.as_deref()))?,
            StoreCommand::Import { place, on_clash, file } => import(place, *on_clash, named_file(file.as_deref()))?,
        }
        Ok(())
    }
}

/// The store at `path`, created if it does not exist. What a killed run left beside it is removed.
///
/// # Errors
/// As [`Store::open`].
pub(super) fn open_to_change(path: &Path) -> anyhow::Result<Store> {
    sweep(path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")));
    Ok(Store::open(path)?)
}

/// The file, unless it is a standard stream.
fn named_file(file: Option<&Path>) -> Option<&Path> {
    file.filter(|file| !is_standard(file))
}

fn export(place: &StoreFlag, file: Option<&Path>) -> anyhow::Result<()> {
    let path = place.path()?;
    let store = Store::open_existing(&path)?.with_context(|| format!("{}: no such store", path.display()))?;
    let Some(file) = file else {
        store.export(&mut BufWriter::new(console::transcripts()))?;
        return Ok(());
    };
    let exists = || anyhow!("{}: already exists (not overwritten); name another file", file.display());
    if file.is_file() {
        return Err(exists());
    }
    let scratch = Scratch::default();
    let mut out = BufWriter::new(FileSink::create(file, Packing::Plain, None, &scratch)?.private());
    store.export(&mut out)?;
    let sink = out.into_inner().map_err(|failed| FileError::system(file.to_string_lossy(), failed.error()))?;
    sink.commit(Replace::No, &scratch).map_err(|error| match error.kind {
        ErrorKind::Exists => exists(),
        _ => error.into(),
    })?;
    Ok(())
}

fn import(place: &StoreFlag, on_clash: Clash, file: Option<&Path>) -> anyhow::Result<()> {
    let name = file.map_or_else(|| String::from("stdin"), |file| file.display().to_string());
    let mut input: Box<dyn BufRead> = match file {
        Some(file) => {
            Box::new(BufReader::new(File::open(file).map_err(|error| FileError::system(name.as_str(), &error))?))
        }
        None => Box::new(curtail_io::input().with_context(|| name.clone())?.lock()),
    };
    let imported = place.open()?.import(&mut input, on_clash).map_err(|error| match error {
        StoreError::Import { line: 0, reason } => anyhow!("{name}: {reason}"),
        StoreError::Import { line, reason } => anyhow!("{name}:{line}: {reason}; nothing was imported"),
        error => error.into(),
    })?;
    report::note(&format!("imported {}", number_of(imported, "state")));
    Ok(())
}
