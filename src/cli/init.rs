//! `curtail init`: writes a starter `curtail.toml`.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;

use anyhow::bail;

use crate::console;
use crate::options::files::written_path;
use crate::options::global::Global;
use curtail_core::visible::word;
use curtail_io::FileError;

/// The text of a new configuration.
const START: &str = include_str!("init.toml");

/// Write a starter `curtail.toml` with commented examples
#[derive(Debug, clap::Args)]
pub(super) struct InitArgs {
    /// File to write; an existing file is not overwritten
    #[arg(value_name = "FILE", default_value = "curtail.toml", value_parser = written_path())]
    file: PathBuf,
}

impl InitArgs {
    /// Writes the file.
    pub(super) fn run(&self, _: &Global) -> anyhow::Result<()> {
        let name = self.file.display();
        let mut file = match OpenOptions::new().write(true).create_new(true).open(&self.file) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                bail!("{name}: already exists (not overwritten); name another file")
            }
            Err(error) => return Err(FileError::system(name.to_string(), &error).into()),
        };
        file.write_all(START.as_bytes()).map_err(|error| FileError::system(name.to_string(), &error))?;
        // A file with another name is not found, and must be passed with -c.
        let found = matches!(self.file.to_str(), Some("curtail.toml" | ".curtail.toml"));
        let flag = if found { String::new() } else { format!(" -c {}", word(&self.file.to_string_lossy())) };
        console::note(&format!("wrote {name}; `curtail run{flag} --print` shows its chain"));
        Ok(())
    }
}
