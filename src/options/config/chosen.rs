//! Which configuration applies to a run, and which to each of its files.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, bail};

use super::{Config, ConfigChoice};
use crate::options::variables::Variables;

/// The flags that choose a configuration.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Configuration")]
pub(crate) struct ConfigFlags {
    /// Configuration file; by default the closest `curtail.toml` is used
    ///
    /// The working directory is searched, then the folders above it up to the root of its repository, and then
    /// `~/.config/curtail`.
    #[arg(short, long, value_name = "FILE", env = "CURTAIL_CONFIG")]
    config: Option<PathBuf>,

    /// Use no configuration file
    #[arg(long, hide_short_help = true)]
    no_config: bool,
}

/// Where no configuration was found.
pub(crate) const NOT_FOUND: &str =
    "no `curtail.toml` in the working directory, above it in its repository, or in `~/.config/curtail`";

impl ConfigFlags {
    /// The configuration, if there is one.
    pub(crate) fn load(&self) -> anyhow::Result<Option<Config>> {
        let variables = Variables::of_process();
        let found = match &self.config {
            _ if self.no_config => None,
            Some(path) => Some((path.clone(), ConfigChoice::Named)),
            None => match closest()? {
                Some(path) => Some((path, ConfigChoice::Found)),
                None => Config::of_user(&variables).map(|path| (path, ConfigChoice::OfUser)),
            },
        };
        let Some((path, choice)) = found else { return Ok(None) };
        Ok(Some(Config::load(&path, choice, &variables)?))
    }

    /// The configurations that apply to `files`: for each, the closest one in its folder or above it, up to the root of its
    /// repository, and `fallback` where there is none. A configuration that was named applies to all.
    pub(crate) fn for_files<'p>(
        &self,
        fallback: Option<Config>,
        files: impl Iterator<Item = &'p Path>,
    ) -> anyhow::Result<FileConfigs> {
        let mut configs = FileConfigs { each: vec![fallback], index: ConfigIndex::default() };
        if self.no_config || self.config.is_some() {
            return Ok(configs);
        }
        let here = std::env::current_dir().context("the working directory")?;
        let variables = Variables::of_process();
        for folder in files.map(folder_of) {
            if !configs.index.of_folder.contains_key(folder) {
                let nth = configs.closest(&without_parents(&here.join(folder)), &here, &variables)?;
                configs.index.of_folder.insert(folder.to_owned(), nth);
            }
        }
        Ok(configs)
    }

    /// The configuration; an error if there is none.
    pub(crate) fn required(&self) -> anyhow::Result<Config> {
        if self.no_config {
            bail!("--no-config leaves no chain to run: the configuration file contains it");
        }
        let advice = "name one with -c, or write one with `curtail init`";
        self.load()?.with_context(|| format!("{NOT_FOUND}; {advice}"))
    }
}

/// The configurations of a run, and which of them applies to each file.
pub(crate) struct FileConfigs {
    /// The configurations. The first applies to what has no closer one.
    pub(crate) each: Vec<Option<Config>>,
    /// Which of them applies to which file.
    pub(crate) index: ConfigIndex,
}

/// Which of several configurations applies to each file.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConfigIndex {
    /// The index of the configuration of the files in each folder.
    of_folder: HashMap<PathBuf, usize>,
}

impl ConfigIndex {
    /// The index of the configuration of the file at `path`, or of standard input.
    pub(crate) fn of(&self, path: Option<&Path>) -> usize {
        path.and_then(|path| self.of_folder.get(folder_of(path)).copied()).unwrap_or_default()
    }
}

impl FileConfigs {
    /// The index of the configuration that applies to `folder`, which is read if it is new.
    fn closest(&mut self, folder: &Path, here: &Path, variables: &Variables) -> anyhow::Result<usize> {
        let Some(path) = Config::discover(folder) else { return Ok(0) };
        let path = path.strip_prefix(here).unwrap_or(&path).to_owned();
        let name = path.display().to_string();
        let known = self.each.iter().position(|config| config.as_ref().is_some_and(|config| config.file == name));
        if let Some(known) = known {
            return Ok(known);
        }
        self.each.push(Some(Config::load(&path, ConfigChoice::Found, variables)?));
        Ok(self.each.len() - 1)
    }
}

/// The same path without `..`, as it is written: behind a link, `..` leads back to the folder of the link.
fn without_parents(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        if component == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(component);
        }
    }
    plain
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// The closest configuration, by its path relative to the working directory if it is inside.
fn closest() -> anyhow::Result<Option<PathBuf>> {
    let here = std::env::current_dir().context("the working directory")?;
    Ok(Config::discover(&here).map(|path| path.strip_prefix(&here).unwrap_or(&path).to_owned()))
}
