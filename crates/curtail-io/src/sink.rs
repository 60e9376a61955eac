//! A file that is written under a temporary name and moved to its path only when it is complete.

use std::fs::File;
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::backup::Backup;
use crate::compression::Packer;
use crate::error::{ErrorKind, FileError};
use crate::metadata::{Stamp, file_as_directory, folder_of};
use crate::refusals::{backup_exists, changed, differs, exists, held, write_error};
use crate::replace::{MoveError, replace_input};
use crate::scratch::Scratch;
use crate::{BLOCK, Packing, permissions};

/// An output that is not visible before [`FileSink::commit`]. If it is dropped before that, no file is left; the
/// folders that were made for it stay.
pub struct FileSink {
    /// The full path of the final file.
    pub(super) path: PathBuf,
    /// The symbolic link that was named, if its target did not exist.
    dangling: Option<PathBuf>,
    packer: Packer<SinkPlace>,
    access: Access,
}

/// Who may read the committed file.
enum Access {
    /// Those who may read this file.
    Like(permissions::Model),
    /// Those who may read any new file in its folder, as far as this mode grants it as well.
    Usual(u32),
    /// Only its user.
    Private,
}

/// Where the bytes are written.
enum SinkPlace {
    /// A temporary file in the same folder.
    Beside(NamedTempFile),
    /// A pipe or a device, which cannot be replaced and is written directly.
    Direct(File),
}

/// How to handle a file that exists at an output's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replace<'r> {
    /// It is an error.
    No,
    /// It is an error, unless it contains the same bytes.
    IfSame,
    /// It is replaced.
    Yes,
    /// It is the input, and is replaced if it still has this stamp, perhaps with a backup.
    Input(Option<&'r Stamp>, Option<Backup<'r>>),
}

/// The outcome of [`FileSink::commit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// The file is new.
    Written,
    /// A file with the same bytes already existed.
    Same,
}

impl FileSink {
    /// Begins the file for `path`, with the permissions of `like`, or of the file at `path` if there is one. Until it
    /// is committed, only its user can read it.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(path: &Path, packing: Packing, like: Option<&Path>, scratch: &Scratch) -> Result<Self, FileError> {
        if let Some(file) = file_as_directory(folder_of(path)) {
            let message = format!("cannot be written, because {} is a file and not a directory", file.display());
            return Err(FileError::new(ErrorKind::Usage, path.to_string_lossy(), message));
        }
        Self::begin(path, packing, like, scratch).map_err(|error| FileError::system(path.to_string_lossy(), &error))
    }

    fn begin(path: &Path, packing: Packing, like: Option<&Path>, scratch: &Scratch) -> io::Result<Self> {
        let named = path;
        let path = full_target(named)?;
        let dangling = (named.is_symlink() && !named.exists()).then(|| named.to_owned());
        let existing = std::fs::metadata(&path).ok();
        let like = like.and_then(permissions::Model::at_path).or_else(|| permissions::Model::at_path(&path));
        let access = like.map_or(Access::Usual(0o777), Access::Like);
        let place = match existing {
            Some(existing) if !existing.is_file() => SinkPlace::Direct(File::options().write(true).open(&path)?),
            _ => {
                let folder = folder_of(&path);
                // A link that was named chooses no new folders.
                if dangling.is_none() {
                    std::fs::create_dir_all(folder)?;
                }
                SinkPlace::Beside(scratch.file_in(folder)?)
            }
        };
        Ok(Self { path, dangling, packer: packing.pack(place)?, access })
    }

    /// Appends `bytes`.
    ///
    /// # Errors
    /// They cannot be written, for example because the disk is full.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.packer.write_all(bytes).map_err(|error| write_error(&self.path.to_string_lossy(), &error))
    }

    /// Moves the file to its path once all its bytes are on the disk.
    ///
    /// # Errors
    /// The file cannot be written or moved, the path exists, or the input changed. Then nothing is changed.
    pub fn commit(self, replace: Replace<'_>, scratch: &Scratch) -> Result<Put, FileError> {
        self.complete(replace, scratch)?.put(replace, scratch)
    }

    /// Writes all bytes to the disk, so that only the move to the path remains.
    ///
    /// # Errors
    /// The file cannot be written, or the path exists with other content and [`Replace::IfSame`].
    pub fn complete(self, replace: Replace<'_>, scratch: &Scratch) -> Result<CompleteFile, FileError> {
        let Self { path, dangling, packer, access } = self;
        // Whoever made the link chose the file, and so it is not written unasked.
        if let Some(link) = dangling.filter(|_| matches!(replace, Replace::No | Replace::IfSame)) {
            return Err(put_error(&link, replace, &io::ErrorKind::AlreadyExists.into()));
        }
        let completed = packer.finish().and_then(|place| completed(place, &path, &access, replace, scratch));
        let (file, put) = completed.map_err(|error| put_error(&path, replace, &error))?;
        Ok(CompleteFile { path, file, put })
    }

    /// Lets nobody read the file who may not read all `inputs`, unless it replaces a file, whose permissions are kept.
    #[must_use]
    pub fn copied_from<'p>(mut self, inputs: impl IntoIterator<Item = &'p Path>) -> Self {
        if let Access::Usual(most) = &mut self.access {
            *most = permissions::mode_of_copy(inputs);
        }
        self
    }

    /// Lets only its user read the file, unless it replaces a file, whose permissions are kept.
    #[must_use]
    pub fn private(mut self) -> Self {
        if let Access::Usual(_) = self.access {
            self.access = Access::Private;
        }
        self
    }
}

/// An output whose bytes are all on the disk, and which is not at its path yet. If it is dropped, no file is left.
pub struct CompleteFile {
    /// The full path of the final file.
    pub(super) path: PathBuf,
    /// The temporary file; `None` if nothing is to be moved.
    file: Option<NamedTempFile>,
    put: Put,
}

impl CompleteFile {
    /// Moves the file to its path.
    ///
    /// # Errors
    /// The file cannot be moved, the path exists, or the input changed. Then nothing is changed.
    pub fn put(self, replace: Replace<'_>, scratch: &Scratch) -> Result<Put, FileError> {
        let Some(file) = self.file else { return Ok(self.put) };
        let name = self.path.to_string_lossy();
        match put_in_place(file, &self.path, replace, scratch) {
            Ok(()) => Ok(self.put),
            Err(MoveError::Changed) => Err(changed(&name)),
            Err(MoveError::Held) => Err(held(&name)),
            Err(MoveError::System(error)) => Err(put_error(&self.path, replace, &error)),
        }
    }
}

/// The error for a file that cannot be written or moved to `path`.
fn put_error(path: &Path, replace: Replace<'_>, error: &io::Error) -> FileError {
    let name = path.to_string_lossy();
    match error.kind() {
        io::ErrorKind::AlreadyExists if replace == Replace::IfSame => differs(&name),
        io::ErrorKind::AlreadyExists if matches!(replace, Replace::Input(..)) => backup_exists(&name),
        io::ErrorKind::AlreadyExists => exists(&name),
        _ => write_error(&name, error),
    }
}

impl Write for FileSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.packer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.packer.flush()
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

/// The file that is to be moved to `path`, if one is, and the outcome.
fn completed(
    place: SinkPlace,
    path: &Path,
    access: &Access,
    replace: Replace<'_>,
    scratch: &Scratch,
) -> io::Result<(Option<NamedTempFile>, Put)> {
    let SinkPlace::Beside(file) = place else { return Ok((None, Put::Written)) };
    if replace == Replace::IfSame && path.exists() {
        let is_same = same_bytes(file.path(), path)?;
        return if is_same { Ok((None, Put::Same)) } else { Err(io::ErrorKind::AlreadyExists.into()) };
    }
    match access {
        Access::Like(model) => permissions::take_over(file.as_file(), model, matches!(replace, Replace::Input(..)))?,
        Access::Usual(most) => permissions::open_up(file.as_file(), scratch.usual_mode(folder_of(path))? & most)?,
        Access::Private => {}
    }
    scratch.sync(file.as_file())?;
    Ok((Some(file), Put::Written))
}

fn put_in_place(file: NamedTempFile, path: &Path, replace: Replace<'_>, scratch: &Scratch) -> Result<(), MoveError> {
    match replace {
        Replace::No | Replace::IfSame => drop(file.persist_noclobber(path).map_err(|failed| failed.error)?),
        Replace::Yes => drop(file.persist(path).map_err(|failed| failed.error)?),
        Replace::Input(stamp, backup) => {
            let replaced = replace_input(file, path, stamp, backup, scratch)?;
            scratch.replaced(replaced);
        }
    }
    scratch.renamed(path);
    Ok(())
}

/// The most symbolic links that lead from one to the next, as Linux allows.
const MOST_LINKS: usize = 40;

/// The path of the file that is written for `path`: of a symbolic link its target, even if that does not exist yet.
fn full_target(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Ok(full) = path.canonicalize() {
            return Ok(full);
        }
        let Ok(target) = path.read_link() else { return Ok(path) };
        path = folder_of(&path).join(target);
    }
    // Links in a circle: the system's error says so.
    path.canonicalize()
}

fn same_bytes(one: &Path, other: &Path) -> io::Result<bool> {
    let mut one = File::open(one)?;
    let mut other = File::open(other)?;
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let mut left = vec![0; BLOCK];
    let mut right = vec![0; BLOCK];
    loop {
        let got = one.read(&mut left)?;
        if got == 0 {
            return Ok(true);
        }
        match other.read_exact(&mut right[..got]) {
            Ok(()) if left[..got] == right[..got] => {}
            _ => return Ok(false),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::error::Error;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::{FileSink, Put, Replace};
    use crate::{Packing, Scratch};

    fn write(path: &Path, replace: Replace<'_>) -> Result<Put, Box<dyn Error>> {
        let scratch = Scratch::new(false);
        let mut sink = FileSink::create(path, Packing::Plain, None, &scratch)?;
        sink.write(b"new\n")?;
        Ok(sink.commit(replace, &scratch)?)
    }

    #[test]
    fn the_target_of_a_link_is_written_and_not_the_link() -> Result<(), Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let at = |name: &str| folder.path().join(name);
        symlink("data/new.jsonl", at("inner.jsonl"))?;
        symlink("inner.jsonl", at("link.jsonl"))?;
        assert!(write(&at("link.jsonl"), Replace::Yes).is_err() && !at("data").exists());
        std::fs::create_dir(at("data"))?;
        for refused in [Replace::No, Replace::IfSame] {
            assert!(write(&at("link.jsonl"), refused).is_err());
            assert!(!at("data/new.jsonl").exists());
        }
        assert_eq!(write(&at("link.jsonl"), Replace::Yes)?, Put::Written);
        assert_eq!(std::fs::read_to_string(at("data/new.jsonl"))?, "new\n");
        assert!(at("link.jsonl").is_symlink() && at("inner.jsonl").is_symlink());
        Ok(())
    }

    #[test]
    fn an_existing_target_of_a_link_is_replaced_only_on_demand() -> Result<(), Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let (link, old) = (folder.path().join("link.jsonl"), folder.path().join("old.jsonl"));
        std::fs::write(&old, "old\n")?;
        symlink("old.jsonl", &link)?;
        assert!(write(&link, Replace::No).is_err());
        assert_eq!(std::fs::read_to_string(&old)?, "old\n");
        write(&link, Replace::Yes)?;
        assert_eq!(std::fs::read_to_string(&old)?, "new\n");
        assert!(link.is_symlink());
        Ok(())
    }

    #[test]
    fn links_in_a_circle_are_refused() -> Result<(), Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let (one, other) = (folder.path().join("one.jsonl"), folder.path().join("other.jsonl"));
        symlink("other.jsonl", &one)?;
        symlink("one.jsonl", &other)?;
        assert!(write(&one, Replace::Yes).is_err());
        assert!(one.is_symlink() && other.is_symlink());
        Ok(())
    }
}
