//! A file that is written beside its place and put there whole, or not at all.

use std::ffi::OsStr;
use std::fs::{File, Metadata, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::Packing;
use super::compression::Packer;
use crate::error::{Error, ErrorKind};

/// An output that nobody sees before [`FileSink::commit`]. Dropped before that, it leaves nothing behind.
pub struct FileSink {
    /// Where it will lie.
    path: PathBuf,
    packer: Packer<SinkPlace>,
    /// The file whose mode and owner it takes.
    like: Option<Metadata>,
}

/// Where the bytes go until then.
enum SinkPlace {
    Beside(NamedTempFile),
    /// What is no regular file (a pipe, a device) cannot be replaced and is written as it is.
    Direct(File),
}

/// How to handle a file that exists at an output's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replace<'r> {
    /// It is an error.
    No,
    /// It is replaced.
    Yes,
    /// It is replaced, with a backup under its name and this suffix.
    Backup(&'r OsStr),
}

impl FileSink {
    /// Begins the file that is to lie at `path`, with the mode of `like`, or of what lies there now.
    ///
    /// # Errors
    /// What the system says.
    pub fn create(path: &Path, packing: Packing, like: Option<&Path>) -> Result<Self, Error> {
        Self::begin(path, packing, like).map_err(|error| Error::system(path.to_string_lossy(), &error))
    }

    fn begin(path: &Path, packing: Packing, like: Option<&Path>) -> io::Result<Self> {
        // A link is not replaced by a file: what it leads to is.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let there = std::fs::metadata(&path).ok();
        let like =
            like.and_then(|like| std::fs::metadata(like).ok()).filter(Metadata::is_file).or_else(|| there.clone());
        let place = match there {
            Some(there) if !there.is_file() => SinkPlace::Direct(File::options().write(true).open(&path)?),
            _ => {
                let beside = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
                std::fs::create_dir_all(beside)?;
                SinkPlace::Beside(tempfile(beside)?)
            }
        };
        Ok(Self { path, packer: packing.pack(place)?, like })
    }

    /// Appends `bytes`.
    ///
    /// # Errors
    /// What the system says: a full disk, for example.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.packer.write_all(bytes).map_err(|error| self.broken(&error))
    }

    /// Puts the file where it belongs, with all that was written safely on the disk.
    ///
    /// # Errors
    /// The system refused, or the path exists; everything is unchanged then.
    pub fn commit(self, replace: Replace<'_>) -> Result<(), Error> {
        let name = self.path.to_string_lossy().into_owned();
        let path = self.path.clone();
        let place = self.packer.finish().map_err(|error| full(&name, &error))?;
        let settled = settle(place, &path, self.like.as_ref(), replace);
        settled.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(&name),
            _ => full(&name, &error),
        })
    }

    fn broken(&self, error: &io::Error) -> Error {
        full(&self.path.to_string_lossy(), error)
    }
}

/// An error for an output that exists.
pub(super) fn exists(name: &str) -> Error {
    Error::new(ErrorKind::Usage, name, "the output exists already; --force overwrites it")
}

/// What the system says about an output that cannot be written on; what lay there before is as it was.
fn full(name: &str, error: &io::Error) -> Error {
    let said = Error::system(name, error);
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::FileTooLarge | io::ErrorKind::QuotaExceeded => {
            Error { what: format!("{}; the file is as it was before", said.what), ..said }
        }
        _ => said,
    }
}

impl Write for SinkPlace {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Beside(file) => file.write(bytes),
            Self::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Its name begins with a dot and ends in `.tmp`, so that no walk of ours takes one that a kill left behind for an input.
fn tempfile(beside: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".curtail-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // As any program would create it: the user's mask decides.
        builder.permissions(Permissions::from_mode(0o666));
    }
    builder.tempfile_in(beside)
}

fn settle(place: SinkPlace, path: &Path, like: Option<&Metadata>, replace: Replace<'_>) -> io::Result<()> {
    let SinkPlace::Beside(file) = place else { return Ok(()) };
    if let Some(like) = like {
        let permissions: Permissions = like.permissions();
        file.as_file().set_permissions(permissions)?;
        keep_owner(file.as_file(), like);
    }
    file.as_file().sync_all()?;
    let put = match replace {
        Replace::No => file.persist_noclobber(path),
        Replace::Yes => file.persist(path),
        Replace::Backup(suffix) => {
            let mut backup = path.as_os_str().to_owned();
            backup.push(suffix);
            back_up(path, Path::new(&backup))?;
            file.persist(path)
        }
    };
    put.map(drop).map_err(|failed| failed.error)?;
    sync_directory(path);
    Ok(())
}

/// Gives a file to the owner of the one it replaces, where we may.
#[cfg(unix)]
fn keep_owner(file: &File, like: &Metadata) {
    use std::os::unix::fs::MetadataExt as _;
    let own = file.metadata().map(|own| (own.uid(), own.gid()));
    if own.ok() != Some((like.uid(), like.gid())) {
        // Only root may; for anybody else a new file of their own is right.
        drop(std::os::unix::fs::fchown(file, Some(like.uid()), Some(like.gid())));
    }
}

#[cfg(not(unix))]
fn keep_owner(_file: &File, _like: &Metadata) {}

/// Leaves what lies at `path` under the name `backup` as well: a second link, or a copy where the file system has none.
fn back_up(path: &Path, backup: &Path) -> io::Result<()> {
    let beside = backup.parent().unwrap_or(Path::new("."));
    let spare = tempfile(beside)?.into_temp_path();
    std::fs::remove_file(&spare)?;
    if std::fs::hard_link(path, &spare).is_err() {
        std::fs::copy(path, &spare)?;
    }
    std::fs::rename(&spare, backup)
}

/// A rename is safe on the disk when its directory is; where directories cannot be synced the file system sees to it.
fn sync_directory(path: &Path) {
    if let Some(directory) = path.parent().and_then(|parent| File::open(parent).ok()) {
        drop(directory.sync_all());
    }
}
