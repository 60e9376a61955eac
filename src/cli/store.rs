//! `curtail store`: exports and imports the file in which `memory` and `summarize` keep their states.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Cursor, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};

use crate::console;
use crate::options::choices::{Choice, one_of};
use crate::options::files::is_standard;
use crate::options::global::Global;
use crate::options::store::StoreFlag;
use curtail_core::numbers::counted;
use curtail_io::{ErrorKind, FileError, FileSink, Packing, Replace, Scratch};
use curtail_memory::store::{Clash, Export, Store, StoreError};

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

        /// File to read, compressed or not; standard input if omitted or `-`
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
}

impl StoreArgs {
    pub(super) fn run(&self, _: &Global) -> anyhow::Result<()> {
        match &self.command {
            StoreCommand::Export { place, file } => export(place, file.as_deref().filter(|file| !is_standard(file))),
            StoreCommand::Import { place, on_clash, file } => import(place, *on_clash, file.as_deref()),
        }
    }
}

fn export(place: &StoreFlag, file: Option<&Path>) -> anyhow::Result<()> {
    let path = place.path()?;
    let store = Store::open_existing(&path)?.with_context(|| format!("{}: no such store", path.display()))?;
    let Some(file) = file else {
        return match store.export(&mut BufWriter::new(console::transcripts())) {
            Err(StoreError::Export(error)) => Ok(console::closed_is_fine(Err(error))?),
            done => Ok(done.map(drop)?),
        };
    };
    if file.is_file() {
        return Err(already_exists(file));
    }
    if Packing::of_name(file) != Packing::Plain {
        bail!("{}: an export is not compressed; name a file without this ending", file.display());
    }
    let scratch = Scratch::default();
    let mut out = BufWriter::new(FileSink::create(file, Packing::Plain, None, &scratch)?.private());
    store.export(&mut out).map_err(|error| match error {
        StoreError::Export(error) => FileError::system(file.to_string_lossy(), &error).into(),
        error => anyhow!(error),
    })?;
    let sink = out.into_inner().map_err(|failed| FileError::system(file.to_string_lossy(), failed.error()))?;
    sink.commit(Replace::No, &scratch).map_err(|error| match error.kind {
        ErrorKind::Exists => already_exists(file),
        _ => error.into(),
    })?;
    Ok(())
}

fn already_exists(file: &Path) -> anyhow::Error {
    anyhow!("{}: already exists (not overwritten); name another file", file.display())
}

/// A stream without its compression. A pipe may give its first bytes one by one.
fn unpacked(mut stream: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let mut head = Vec::new();
    stream.by_ref().take(8).read_to_end(&mut head)?;
    Packing::of_head(&head).unpack(BufReader::new(Cursor::new(head).chain(stream)))
}

fn import(place: &StoreFlag, on_clash: Clash, file: Option<&Path>) -> anyhow::Result<()> {
    let file = file.filter(|file| !is_standard(file));
    let name = file.map_or_else(|| String::from("stdin"), |file| file.display().to_string());
    let stream: Box<dyn Read + Send> = match file {
        Some(file) => Box::new(File::open(file).map_err(|error| FileError::system(name.as_str(), &error))?),
        None => Box::new(curtail_io::input().with_context(|| name.clone())?),
    };
    let unpacked = unpacked(stream).map_err(|error| FileError::system(name.as_str(), &error))?;
    let export = Export::read(&mut BufReader::new(unpacked)).map_err(|error| not_imported(&name, error))?;
    let imported = place.open()?.import(&export, on_clash).map_err(|error| not_imported(&name, error))?;
    console::note(&format!("imported {}", counted(imported, "state")));
    Ok(())
}

fn not_imported(name: &str, error: StoreError) -> anyhow::Error {
    match error {
        StoreError::Import { line: 0, reason } => anyhow!("{name}: {reason}"),
        StoreError::Import { line, reason } => anyhow!("{name}:{line}: {reason}; nothing was imported"),
        error => error.into(),
    }
}
