//! The record of what a batch has finished, so that a later run can continue. It knows files and one line of options.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use curtail_core::error::{ErrorKind, FileError};

/// Its name in an output directory. It begins with a dot, so no walk takes it for a transcript.
pub const MANIFEST: &str = ".curtail-resume";

/// The record of finished outputs. A line is added when an output is complete; an incomplete last line is not read. Lines
/// are never removed: a run with other options begins a new part.
#[derive(Debug)]
pub struct Manifest {
    path: PathBuf,
    options: String,
    /// Opened when the first output is complete, so that a run without outputs leaves no record.
    file: Option<File>,
    /// The last entry of each output.
    entries: HashMap<String, (ManifestEntry, bool)>,
    /// The backups that the batch makes, whatever its options.
    backups: HashSet<BackupEntry>,
    /// Whether the last part of the record has the options of this run.
    continues: bool,
    /// Whether the record ends inside a line.
    torn: bool,
}

/// The first line of a part.
#[derive(Serialize, Deserialize, PartialEq, Eq)]
struct Head {
    options: String,
}

/// A backup, with the time and the length of the input that it is one of. It is written before the backup is made.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq, Hash)]
struct BackupEntry {
    backup: String,
    written: u128,
    len: u64,
}

impl BackupEntry {
    /// The entry for `backup`, if it is one of the file at `original`.
    fn new(backup: &Path, original: &Path) -> Self {
        let (written, len) = written(original).unwrap_or_default();
        Self { backup: name(backup), written, len }
    }
}

/// Every other line.
#[derive(Debug, Serialize, Deserialize)]
struct ManifestEntry {
    input: String,
    output: String,
    /// When the output was written, in nanoseconds since 1970.
    written: u128,
    /// Its length in bytes.
    len: u64,
}

impl Manifest {
    /// Reads the record at `path` for a run with `options`; nothing is written yet.
    ///
    /// # Errors
    /// The file cannot be read, or it is neither empty nor a record.
    pub fn load(path: &Path, options: &str) -> Result<Self, FileError> {
        let mut manifest = Self {
            path: path.to_owned(),
            options: options.to_owned(),
            file: None,
            entries: HashMap::new(),
            backups: HashSet::new(),
            continues: false,
            torn: false,
        };
        let before = match std::fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(manifest),
            Err(error) => return Err(FileError::system(path.to_string_lossy(), &error)),
            Ok(there) if !there.is_file() => return Err(foreign(path)),
            Ok(_) => std::fs::read(path).map_err(|error| FileError::system(path.to_string_lossy(), &error))?,
        };
        let text = String::from_utf8(before).map_err(|_| foreign(path))?;
        if !text.is_empty() && !text.starts_with(SIGNATURE) && !is_torn_signature(&text) {
            return Err(foreign(path));
        }
        manifest.torn = !text.is_empty() && !text.ends_with('\n');
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            manifest.line(line);
        }
        Ok(manifest)
    }

    fn line(&mut self, line: &str) {
        if let Ok(head) = serde_json::from_str::<Head>(line) {
            self.continues = head.options == self.options;
        } else if let Ok(entry) = serde_json::from_str::<ManifestEntry>(line) {
            self.entries.insert(entry.output.clone(), (entry, self.continues));
        } else if let Ok(backup) = serde_json::from_str::<BackupEntry>(line) {
            self.backups.insert(backup);
        }
    }

    /// The path of the record.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether an earlier run wrote `output`, and nobody changed it since.
    #[must_use]
    pub fn is_ours(&self, output: &Path) -> bool {
        self.entries.get(&name(output)).is_some_and(|(entry, _)| is_unchanged(entry, output))
    }

    /// Whether an earlier run made `backup`, and nobody changed it since.
    #[must_use]
    pub fn is_backup(&self, backup: &Path) -> bool {
        self.backups.contains(&BackupEntry::new(backup, backup))
    }

    /// Records that `backup` will be one of the file at `original`, so that a later run knows it however this one ends.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn announce_backup(&mut self, backup: &Path, original: &Path) -> io::Result<()> {
        let entry = BackupEntry::new(backup, original);
        if self.backups.insert(entry.clone()) { line(self.file()?, &entry) } else { Ok(()) }
    }

    /// Whether `output` was made from `input` with the same options, and neither has changed since.
    #[must_use]
    pub fn is_done(&self, input: &Path, output: &Path) -> bool {
        let Some((entry, true)) = self.entries.get(&name(output)) else { return false };
        let newer = written(input).is_none_or(|(time, _)| time > entry.written);
        entry.input == name(input) && is_unchanged(entry, output) && !newer
    }

    /// Records that `output` was made from `input`.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn record(&mut self, input: &Path, output: &Path) -> io::Result<()> {
        let (written, len) = written(output).unwrap_or_default();
        line(self.file()?, &ManifestEntry { input: name(input), output: name(output), written, len })
    }

    fn file(&mut self) -> io::Result<&mut File> {
        let file = match self.file.take() {
            Some(file) => file,
            None => self.open()?,
        };
        Ok(self.file.insert(file))
    }

    fn open(&self) -> io::Result<File> {
        if let Some(parent) = self.path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let mut file = File::options().create(true).append(true).open(&self.path)?;
        if self.torn {
            file.write_all(b"\n")?;
        }
        if !self.continues {
            line(&mut file, &Head { options: self.options.clone() })?;
        }
        Ok(file)
    }

    /// Removes the record, because the batch is complete.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove(self) -> io::Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}

/// The beginning of every record.
const SIGNATURE: &str = "{\"options\":\"curtail ";

/// Whether `text` is an incomplete first line, as a killed run leaves it.
fn is_torn_signature(text: &str) -> bool {
    SIGNATURE.starts_with(text)
}

fn foreign(path: &Path) -> FileError {
    let what = "not overwritten: the file is not empty and no record of --resume; name another file";
    FileError::new(ErrorKind::Usage, path.to_string_lossy(), what)
}

fn line(file: &mut File, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    file.write_all(&line)
}

/// A path as unambiguous text, in which bytes that are not UTF-8 are escaped.
fn name(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.as_os_str().as_encoded_bytes().escape_ascii().to_string()
}

fn is_unchanged(entry: &ManifestEntry, output: &Path) -> bool {
    written(output) == Some((entry.written, entry.len))
}

/// When a file was written, and its length.
fn written(path: &Path) -> Option<(u128, u64)> {
    let there = std::fs::metadata(path).ok()?;
    let since = there.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((since.as_nanos(), there.len()))
}
