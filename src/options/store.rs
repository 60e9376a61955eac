//! The file in which `memory` and `summarize` keep their states.

use std::env;
use std::path::{Path, PathBuf};

use crate::options::files::written_path;
use curtail_io::sweep;
use curtail_memory::store::{Store, StoreError, StoreLocation};

/// The file of the store.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct StoreFlag {
    /// Store file [default: `CURTAIL_STORE`, or curtail/state.db in `XDG_STATE_HOME` or ~/.local/state]
    #[arg(long, value_name = "FILE", value_parser = written_path(), hide_short_help = true, help_heading = "Store")]
    pub(crate) store: Option<PathBuf>,
}

impl StoreFlag {
    /// The store's file: the flag's, else the environment's.
    pub(crate) fn path(&self) -> Result<PathBuf, StoreError> {
        let flag = self.store.clone();
        let variable = env::var_os("CURTAIL_STORE");
        let state_home = env::var_os("XDG_STATE_HOME");
        StoreLocation { flag, variable, state_home, home: env::home_dir() }.path()
    }

    /// The store, created if it does not exist. What a killed run left beside it is removed.
    pub(crate) fn open(&self) -> anyhow::Result<Store> {
        let path = self.path()?;
        sweep(path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")));
        Ok(Store::open(&path)?)
    }

    /// The store, if it exists.
    pub(crate) fn open_existing(&self) -> anyhow::Result<Option<Store>> {
        Ok(Store::open_existing(&self.path()?)?)
    }
}
