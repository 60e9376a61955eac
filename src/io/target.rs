//! Which output belongs to which input, and whether it may be written.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::sink::exists;
use super::{BLOCK, FileSink, Packing, Replace, Source};
use crate::error::{Error, ErrorKind};

/// Where outputs go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// Nowhere: it was only asked what would happen.
    Nothing,
    /// All to standard output, one after another.
    Stdout,
    /// The one output is this file.
    File(PathBuf),
    /// Below this directory, each at its input's relative path.
    Directory(PathBuf),
    /// To the place of the input; the input stays under its name with the suffix, if there is one.
    InPlace(Option<OsString>),
}

/// The outputs of a batch.
#[derive(Debug)]
pub struct Targets {
    destination: Destination,
    /// Whether outputs that exist are overwritten.
    overwrite: bool,
}

impl Targets {
    /// Plans the outputs of `sources`, before any is written.
    ///
    /// # Errors
    /// Every output that exists (unless `overwrite`), is an input, or belongs to two inputs; an input that cannot be
    /// replaced.
    pub fn plan(destination: Destination, overwrite: bool, sources: &[Source]) -> Result<Self, Vec<Error>> {
        let targets = Self { destination, overwrite };
        let mut owners: HashMap<PathBuf, &Source> = HashMap::new();
        let mut errors = Vec::new();
        for source in sources {
            errors.extend(targets.refuse(source));
            if let Some(path) = targets.path(source)
                && let Some(other) = owners.insert(path, source)
            {
                let what = format!("this output belongs to both {} and {}", other.name, source.name);
                errors.push(Error::new(ErrorKind::Usage, targets.name(source), what));
            }
        }
        if errors.is_empty() { Ok(targets) } else { Err(errors) }
    }

    /// The path of the output of `source`, if it is a file of its own.
    #[must_use]
    pub fn path(&self, source: &Source) -> Option<PathBuf> {
        match &self.destination {
            Destination::Nothing | Destination::Stdout => None,
            Destination::File(path) => Some(path.clone()),
            Destination::Directory(directory) => Some(directory.join(&source.relative)),
            Destination::InPlace(_) => source.path.clone(),
        }
    }

    /// Whether all outputs go to standard output.
    #[must_use]
    pub fn is_stdout(&self) -> bool {
        self.destination == Destination::Stdout
    }

    /// Whether outputs are files.
    #[must_use]
    pub const fn are_files(&self) -> bool {
        !matches!(self.destination, Destination::Nothing | Destination::Stdout)
    }

    /// Whether outputs replace their inputs, so that an unchanged one need not be written.
    #[must_use]
    pub const fn is_in_place(&self) -> bool {
        matches!(self.destination, Destination::InPlace(_))
    }

    /// Begins the output of `source`, which was packed with `packing`; `None` if it is no file of its own.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(&self, source: &Source, packing: Packing) -> Result<Option<FileSink>, Error> {
        let Some(path) = self.path(source) else { return Ok(None) };
        let packing = if self.is_in_place() { packing } else { Packing::of_name(&path) };
        let like = if let Destination::File(_) = self.destination { None } else { source.path.as_deref() };
        FileSink::create(&path, packing, like).map(Some)
    }

    /// Begins the output of `source` as a copy of it, byte for byte as it is packed; `None` if its output is packed otherwise.
    ///
    /// # Errors
    /// What the system says.
    pub fn copy(&self, source: &Source, packing: Packing) -> Result<Option<FileSink>, Error> {
        let (Some(path), Some(input)) = (self.path(source), &source.path) else { return Ok(None) };
        if packing == Packing::Plain || Packing::of_name(&path) != packing {
            return Ok(None);
        }
        let mut sink = FileSink::create(&path, Packing::Plain, Some(input))?;
        let mut original = File::open(input).map_err(|error| Error::system(&source.name, &error))?;
        let mut block = vec![0; BLOCK];
        loop {
            match original.read(&mut block).map_err(|error| Error::system(&source.name, &error))? {
                0 => return Ok(Some(sink)),
                got => sink.write(&block[..got])?,
            }
        }
    }

    /// Puts a finished output in its place.
    ///
    /// # Errors
    /// As [`FileSink::commit`].
    pub fn commit(&self, sink: FileSink) -> Result<(), Error> {
        sink.commit(match &self.destination {
            Destination::InPlace(Some(suffix)) => Replace::Backup(suffix),
            Destination::InPlace(None) => Replace::Yes,
            _ if self.overwrite => Replace::Yes,
            _ => Replace::No,
        })
    }

    fn name(&self, source: &Source) -> String {
        self.path(source).map_or_else(String::new, |path| path.to_string_lossy().into_owned())
    }

    /// Why the output of `source` may not be written.
    fn refuse(&self, source: &Source) -> Option<Error> {
        let path = self.path(source);
        match (&self.destination, &source.path) {
            (Destination::Nothing | Destination::Stdout, _) => None,
            (Destination::InPlace(_), None) => Some(Error::new(
                ErrorKind::Usage,
                "",
                "standard input cannot be replaced; name the files with --in-place",
            )),
            (Destination::InPlace(suffix), Some(path)) => self.refuse_backup(path, suffix.as_deref()?),
            _ => {
                let path = path?;
                let special = std::fs::metadata(&path).ok().is_some_and(|there| !there.is_file() && !there.is_dir());
                if special {
                    return None;
                }
                let name = self.name(source);
                if path.is_dir() {
                    return Some(Error::new(
                        ErrorKind::Usage,
                        name,
                        "the output is a directory; --output-dir writes into one",
                    ));
                }
                if source.path.as_ref().is_some_and(|input| is_same(input, &path)) {
                    return Some(Error::new(
                        ErrorKind::Usage,
                        name,
                        "the output is the input; --in-place replaces inputs",
                    ));
                }
                (path.exists() && !self.overwrite).then(|| exists(&name))
            }
        }
    }

    fn refuse_backup(&self, path: &Path, suffix: &OsStr) -> Option<Error> {
        let mut backup = path.as_os_str().to_owned();
        backup.push(suffix);
        let backup = PathBuf::from(backup);
        // After a kill between backing up and replacing both names lead to one file.
        let blocked = backup.exists() && !self.overwrite && !is_same(path, &backup);
        blocked.then(|| {
            Error::new(ErrorKind::Usage, backup.to_string_lossy(), "the backup exists already; --force overwrites it")
        })
    }
}

/// Whether two names lead to one file.
#[cfg(unix)]
fn is_same(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let id = |path: &Path| std::fs::metadata(path).map(|there| (there.dev(), there.ino())).ok();
    id(one).is_some_and(|one| Some(one) == id(other))
}

#[cfg(not(unix))]
fn is_same(one: &Path, other: &Path) -> bool {
    one.canonicalize().ok().is_some_and(|one| other.canonicalize().ok() == Some(one))
}
