//! Which output belongs to which input, and whether it may be written.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::file_names::with_suffix;
use super::file_uses::FileUses;
use super::metadata::{FileId, file_as_directory};
use super::refusals::{backup_exists, exists};
use super::{BLOCK, Backup, CompleteFile, FileSink, Manifest, Packing, Put, Replace, Scratch, Source, Stamp};
use crate::error::{ErrorKind, FileError};

/// What to do if the directory for outputs is a file.
pub const DIRECTORY_ADVICE: &str = "name one, or write to one file with --output (-o)";

/// Where outputs are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// Nowhere: the user only asked what would happen.
    Nothing,
    /// All to standard output, one after another.
    Stdout,
    /// The only output is this file.
    File(PathBuf),
    /// Below this directory, each at its input's relative path.
    Directory(PathBuf),
    /// In place of the input. With a suffix, the input is kept under its name with the suffix.
    InPlace(Option<OsString>),
}

/// How to handle outputs that exist.
#[derive(Debug, Clone, Copy)]
pub enum Existing<'m> {
    /// They are an error.
    Refuse,
    /// They are overwritten.
    Overwrite,
    /// Those that the record lists and that have not changed since are overwritten; others must have the right content
    /// already.
    Resume(&'m Manifest),
}

/// The outputs of a batch.
#[derive(Debug)]
pub struct Targets {
    destination: Destination,
    /// Whether outputs that exist are overwritten.
    overwrite: bool,
    /// With `--resume`: the outputs of earlier runs, which may be overwritten, and their stamps.
    ours: Option<HashMap<PathBuf, Stamp>>,
    /// The files of the run. Parts are recorded when they are written.
    uses: Arc<FileUses>,
    scratch: Scratch,
    /// The number of outputs that existed with the right content.
    same: AtomicUsize,
}

impl Targets {
    /// Plans the outputs of `sources`, before any is written, and records them in `uses`.
    ///
    /// # Errors
    /// One for every output that is an input or belongs to two inputs, one for every input that cannot be replaced, and
    /// one for all outputs that exist.
    pub fn plan(
        destination: Destination,
        existing: Existing<'_>,
        sources: &[Source],
        uses: &Arc<FileUses>,
        scratch: Scratch,
    ) -> Result<Self, Vec<FileError>> {
        if let Destination::Directory(path) = &destination {
            refuse_file_as_directory(path, DIRECTORY_ADVICE).map_err(|error| vec![error])?;
        }
        let ours = matches!(existing, Existing::Resume(_)).then(HashMap::new);
        let overwrite = matches!(existing, Existing::Overwrite);
        let uses = Arc::clone(uses);
        let same = AtomicUsize::new(0);
        let mut targets = Self { destination, overwrite, ours, uses, scratch, same };
        let mut errors = Vec::new();
        let mut existing_outputs = Vec::new();
        for source in sources {
            if let Err(error) = targets.check(source, existing) {
                if error.kind == ErrorKind::Exists { existing_outputs.push(error) } else { errors.push(error) }
            }
        }
        let more = existing_outputs.len().saturating_sub(1);
        errors.extend(existing_outputs.into_iter().next().map(|first| match more {
            0 => first,
            1 => FileError { what: format!("{} (so does one other output)", first.what), ..first },
            _ => FileError { what: format!("{} (so do {more} other outputs)", first.what), ..first },
        }));
        if errors.is_empty() { Ok(targets) } else { Err(errors) }
    }

    /// Ends the run: checks replaced inputs, whose errors ([`Scratch::settle`]) it returns, and flushes all outputs to
    /// the disk.
    pub fn finish(&self) -> Vec<FileError> {
        let errors = self.scratch.settle();
        self.scratch.sync_renames();
        errors
    }

    /// The path of the backup of each of `sources`, with the path of the source; empty without backups.
    pub fn backups<'s>(&'s self, sources: &'s [Source]) -> impl Iterator<Item = (PathBuf, &'s Path)> + 's {
        let suffix = match &self.destination {
            Destination::InPlace(Some(suffix)) => Some(suffix),
            _ => None,
        };
        let inputs = sources.iter().filter_map(|source| source.path.as_deref());
        inputs.filter_map(move |path| Some((with_suffix(&canonical(path), suffix?), path)))
    }

    /// The number of outputs that existed with the right content.
    pub fn same(&self) -> usize {
        self.same.load(Ordering::Relaxed)
    }

    /// The path of the output of `source`, if outputs are files.
    pub fn path(&self, source: &Source) -> Option<PathBuf> {
        match &self.destination {
            Destination::Nothing | Destination::Stdout => None,
            Destination::File(path) => Some(path.clone()),
            Destination::Directory(directory) => Some(directory.join(&source.relative)),
            Destination::InPlace(_) => source.path.clone(),
        }
    }

    /// The path of part `number` (from 1) of the output of `source`; without a number, or on a device, the path of the
    /// output.
    pub fn path_of_part(&self, source: &Source, number: Option<usize>) -> Option<PathBuf> {
        let path = self.path(source)?;
        Some(match number {
            Some(number) if !is_device(&path) => part_of(&path, number),
            _ => path,
        })
    }

    /// Whether all outputs go to standard output.
    pub fn is_stdout(&self) -> bool {
        self.destination == Destination::Stdout
    }

    /// Whether outputs are files.
    pub const fn are_files(&self) -> bool {
        !matches!(self.destination, Destination::Nothing | Destination::Stdout)
    }

    /// Whether outputs replace their inputs, so that an unchanged one need not be written.
    pub const fn is_in_place(&self) -> bool {
        matches!(self.destination, Destination::InPlace(_))
    }

    /// Begins the output of `source`, which was compressed with `packing`; `None` if outputs are not files.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn open(&self, source: &Source, packing: Packing) -> Result<Option<FileSink>, FileError> {
        let Some(path) = self.path(source) else { return Ok(None) };
        let packing = if self.is_in_place() { packing } else { Packing::of_name(&path) };
        self.create(&path, packing, source).map(Some)
    }

    fn create(&self, path: &Path, packing: Packing, source: &Source) -> Result<FileSink, FileError> {
        let input = source.path.as_deref();
        let like = if let Destination::File(_) = self.destination { None } else { input };
        Ok(FileSink::create(path, packing, like, &self.scratch)?.copied_from(input))
    }

    /// Begins part `number` (from 1) of the output of `source`; `None` if outputs are not files.
    ///
    /// # Errors
    /// The part exists and may not be overwritten, the run uses it for something else, or it cannot be created.
    pub fn open_part(&self, source: &Source, number: usize) -> Result<Option<FileSink>, FileError> {
        let Some(path) = self.path_of_part(source, Some(number)) else { return Ok(None) };
        self.uses.output(&path, source)?;
        // What discards all that is written to it accepts any number of transcripts.
        if is_device(&path) && canonical(&path) != Path::new("/dev/null") {
            let message =
                "is a pipe or a device, which holds one transcript, and this one becomes several; name a file";
            return Err(FileError::new(ErrorKind::Usage, path.to_string_lossy(), message));
        }
        if !self.overwrite && self.ours.is_none() && path.exists() && !is_device(&path) {
            return Err(exists(&path.to_string_lossy()));
        }
        self.create(&path, Packing::of_name(&path), source).map(Some)
    }

    /// Begins the output of `source` as a copy of its compressed bytes; `None` if the source is not compressed, or not
    /// like its output.
    ///
    /// # Errors
    /// The source cannot be read, or the output cannot be written.
    pub fn copy(&self, source: &Source, packing: Packing) -> Result<Option<FileSink>, FileError> {
        let (Some(path), Some(input)) = (self.path(source), &source.path) else { return Ok(None) };
        if packing == Packing::Plain || Packing::of_name(&path) != packing {
            return Ok(None);
        }
        let mut sink = self.create(&path, Packing::Plain, source)?;
        let mut original = File::open(input).map_err(|error| FileError::system(&source.name, &error))?;
        let mut block = vec![0; BLOCK];
        loop {
            match original.read(&mut block).map_err(|error| FileError::system(&source.name, &error))? {
                0 => return Ok(Some(sink)),
                got => sink.write(&block[..got])?,
            }
        }
    }

    /// Moves a finished output to its path. An input is replaced only if it still has its `stamp`.
    ///
    /// # Errors
    /// As [`FileSink::commit`].
    pub fn commit(&self, sink: FileSink, stamp: Option<&Stamp>) -> Result<(), FileError> {
        self.put(self.complete(sink, stamp)?, stamp)
    }

    /// Writes all bytes of an output to the disk. An input is replaced only if it still has its `stamp`.
    ///
    /// # Errors
    /// As [`FileSink::complete`].
    pub fn complete(&self, sink: FileSink, stamp: Option<&Stamp>) -> Result<CompleteFile, FileError> {
        let replace = self.replace(&sink.path, stamp)?;
        sink.complete(replace, &self.scratch)
    }

    /// Moves a complete output to its path.
    ///
    /// # Errors
    /// As [`CompleteFile::put`].
    pub fn put(&self, file: CompleteFile, stamp: Option<&Stamp>) -> Result<(), FileError> {
        let replace = self.replace(&file.path, stamp)?;
        let put = file.put(replace, &self.scratch)?;
        self.same.fetch_add(usize::from(put == Put::Same), Ordering::Relaxed);
        Ok(())
    }

    /// How to handle a file at the full `path` of an output.
    fn replace<'r>(&'r self, path: &Path, stamp: Option<&'r Stamp>) -> Result<Replace<'r>, FileError> {
        let ours = self.ours.as_ref().map(|ours| ours.contains_key(path));
        Ok(match (&self.destination, ours) {
            (Destination::InPlace(suffix), _) => {
                let backup = suffix.as_deref().map(|suffix| self.backup(path, stamp, suffix)).transpose()?;
                Replace::Input(stamp, backup)
            }
            (_, Some(true)) => Replace::Yes,
            (_, Some(false)) => Replace::IfSame,
            _ if self.overwrite => Replace::Yes,
            _ => Replace::No,
        })
    }

    /// How the backup of the input at `path` is kept. With `--resume`, an existing one is enough only if the input is what the
    /// batch made of it; otherwise the replacement would lose what was written since.
    fn backup<'s>(&self, path: &Path, stamp: Option<&Stamp>, suffix: &'s OsStr) -> Result<Backup<'s>, FileError> {
        let backup = with_suffix(path, suffix);
        let is_changed = self.ours.as_ref().is_some_and(|ours| stamp.is_none() || ours.get(path) != stamp);
        if is_changed && backup.exists() && FileId::at_path(path) != FileId::at_path(&backup) {
            let message = format!(
                "changed since its backup {} was made, which does not contain what is new; left as it was; move the backup \
                 away, or choose another suffix",
                backup.display()
            );
            return Err(FileError::new(ErrorKind::System, path.to_string_lossy(), message));
        }
        // Other existing backups were checked when the outputs were planned.
        Ok(Backup { suffix, may_exist: self.overwrite || self.ours.is_some() })
    }

    /// Remembers that the output at `path` is of an earlier run, if it has not changed since.
    fn remember(&mut self, path: &Path, manifest: &Manifest) {
        let stamp = Stamp::at_path(path);
        if let (Some(ours), Some(stamp), Ok(path)) = (&mut self.ours, stamp, path.canonicalize())
            && manifest.is_ours(&path)
        {
            ours.insert(path, stamp);
        }
    }

    /// Checks that the output of `source` may be written, and records it.
    fn check(&mut self, source: &Source, existing: Existing<'_>) -> Result<(), FileError> {
        let Some(path) = self.path(source) else {
            let message = "standard input cannot be replaced; name the files with --in-place";
            return if self.is_in_place() { Err(FileError::new(ErrorKind::Usage, "", message)) } else { Ok(()) };
        };
        let metadata = std::fs::metadata(&path).ok();
        if let Destination::InPlace(suffix) = &self.destination {
            if metadata.is_some_and(|metadata| !metadata.is_file()) {
                let message = "is not a regular file and cannot be replaced";
                return Err(FileError::new(ErrorKind::Usage, path.to_string_lossy(), message));
            }
            suffix.as_deref().map_or(Ok(()), |suffix| self.check_backup(source, &path, suffix, existing))?;
            if let Existing::Resume(manifest) = existing {
                self.remember(&path, manifest);
            }
            return Ok(());
        }
        let Some(metadata) = metadata else { return self.uses.output(&path, source) };
        refuse_directory_as_file(&path)?;
        if !metadata.is_file() {
            return Ok(());
        }
        self.uses.output(&path, source)?;
        match existing {
            Existing::Overwrite => Ok(()),
            Existing::Refuse => Err(exists(&path.to_string_lossy())),
            Existing::Resume(manifest) => {
                self.remember(&path, manifest);
                Ok(())
            }
        }
    }

    /// Checks that the backup of the file at `path` may be made, and records it.
    fn check_backup(
        &self,
        source: &Source,
        path: &Path,
        suffix: &OsStr,
        existing: Existing<'_>,
    ) -> Result<(), FileError> {
        let backup = with_suffix(&canonical(path), suffix);
        // If a run was killed after the backup and before the replacement, both are the same file.
        if FileId::at_path(path) == FileId::at_path(&backup) {
            return Ok(());
        }
        self.uses.output(&backup, source)?;
        let shown = if path.is_symlink() { backup.clone() } else { with_suffix(path, suffix) };
        let name = shown.to_string_lossy();
        match existing {
            _ if !backup.exists() => Ok(()),
            Existing::Overwrite => Ok(()),
            Existing::Refuse => Err(backup_exists(&name)),
            Existing::Resume(manifest) if manifest.is_backup(&backup) || manifest.is_done(path, path) => Ok(()),
            Existing::Resume(_) => {
                let message = "the backup exists already, and the record of --resume does not show that it belongs to this \
                            batch; choose another suffix, or pass --force to make none";
                Err(FileError::new(ErrorKind::Exists, name, message))
            }
        }
    }
}

/// The path of the file that is replaced: of a symbolic link, its target.
fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Refuses a file where outputs need a directory: at `path`, or above it. `advice` is what else the user can do.
///
/// # Errors
/// There is a file, which the error names.
pub fn refuse_file_as_directory(path: &Path, advice: &str) -> Result<(), FileError> {
    let Some(file) = file_as_directory(path) else { return Ok(()) };
    let message = format!("is a file, and outputs need a directory; {advice}");
    Err(FileError::new(ErrorKind::Usage, file.to_string_lossy(), message))
}

/// Refuses a directory where the output is a file.
///
/// # Errors
/// `path` is a directory.
pub fn refuse_directory_as_file(path: &Path) -> Result<(), FileError> {
    let message = "the output is a directory; --output-dir writes into one";
    if path.is_dir() { Err(FileError::new(ErrorKind::Usage, path.to_string_lossy(), message)) } else { Ok(()) }
}

/// Whether `path` is a pipe or a device, which has no parts.
fn is_device(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir())
}

/// The path of a part: of `chat.jsonl.gz`, part 2 is `chat.part-002.jsonl.gz`.
fn part_of(path: &Path, number: usize) -> PathBuf {
    let bare = Path::new(Packing::bare_name(path).unwrap_or_default());
    let kind = bare
        .extension()
        .filter(|kind| ["jsonl", "ndjson", "json"].iter().any(|known| kind.eq_ignore_ascii_case(known)));
    let packing = path.extension().filter(|_| Packing::of_name(path) != Packing::Plain);
    let mut name = if kind.is_some() { bare.file_stem().unwrap_or_default() } else { bare.as_os_str() }.to_owned();
    name.push(format!(".part-{number:03}"));
    for ending in kind.into_iter().chain(packing) {
        name.push(".");
        name.push(ending);
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::part_of;

    #[test]
    fn parts_keep_the_endings_of_their_output() {
        for (name, part) in [
            ("a/chat.jsonl.gz", "a/chat.part-002.jsonl.gz"),
            ("chat.JSONL.GZ", "chat.part-002.JSONL.GZ"),
            ("chat.Json", "chat.part-002.Json"),
            ("chat.v1.zst", "chat.v1.part-002.zst"),
            ("chat", "chat.part-002"),
        ] {
            assert_eq!(part_of(Path::new(name), 2), Path::new(part));
        }
    }
}
