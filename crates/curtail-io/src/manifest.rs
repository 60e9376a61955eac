//! The record of the outputs that a batch has finished, so that a later run can continue. It knows files and one line
//! of options.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Stamp;
use crate::error::{ErrorKind, FileError};

/// Its name in an output directory. It has no extension, so no walk takes it for a transcript.
pub const MANIFEST: &str = ".curtail-resume";

/// The record of finished outputs, as JSON lines. A line is added before a backup is made and when an output is
/// complete; an incomplete last line is removed. No whole line is removed before all of the record is: a run with other options
/// begins a new part.
#[derive(Debug)]
pub struct Manifest {
    path: PathBuf,
    options: String,
    /// Opened when the first output is complete, so that a run without outputs leaves no record.
    file: Option<File>,
    /// The last entry of each output, and whether it was made with the options of this run.
    entries: HashMap<String, (ManifestEntry, bool)>,
    /// When each output was last written by the batch itself, and its length then.
    written: HashMap<String, (u128, u64)>,
    /// The backups that were made, with any options.
    backups: HashSet<BackupEntry>,
    /// Whether the last part of the record has the options of this run.
    continues: bool,
    /// Where the last line of the record begins, if it is incomplete.
    torn_at: Option<u64>,
}

/// The first line of a part.
#[derive(Serialize, Deserialize, PartialEq, Eq)]
struct Head {
    options: String,
}

/// The line of a backup, which is written before the backup is made.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq, Hash)]
struct BackupEntry {
    backup: String,
    /// When the original was written, in nanoseconds since 1970.
    written: u128,
    /// The length of the original in bytes.
    len: u64,
}

impl BackupEntry {
    /// The entry for `backup` as a backup of the file at `original`.
    fn new(backup: &Path, original: &Path) -> Self {
        let (written, len) = time_and_len(original).unwrap_or_default();
        Self { backup: escaped(backup), written, len }
    }
}

/// The line of a finished output.
#[derive(Debug, Serialize, Deserialize)]
struct ManifestEntry {
    input: String,
    output: String,
    /// When the output was written, in nanoseconds since 1970.
    written: u128,
    /// Its length in bytes.
    len: u64,
    /// When the input was last written before it was read, in nanoseconds since 1970.
    #[serde(default)]
    read: Option<u128>,
    /// Its length then. A copy of another file may have the same time.
    #[serde(default)]
    read_len: Option<u64>,
    /// Whether the output is an input that was left as it was, because the cut does not change it.
    #[serde(default)]
    kept: bool,
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
            written: HashMap::new(),
            backups: HashSet::new(),
            continues: false,
            torn_at: None,
        };
        let bytes = match std::fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(manifest),
            Err(error) => return Err(FileError::system(path.to_string_lossy(), &error)),
            Ok(metadata) if !metadata.is_file() => return Err(not_a_record(path)),
            Ok(_) => std::fs::read(path).map_err(|error| FileError::system(path.to_string_lossy(), &error))?,
        };
        let text = String::from_utf8(bytes).map_err(|_| not_a_record(path))?;
        // A killed run may leave an incomplete first line.
        if !text.starts_with(SIGNATURE) && !SIGNATURE.starts_with(&text) {
            return Err(not_a_record(path));
        }
        for line in text.split_inclusive('\n') {
            if line.ends_with('\n') {
                manifest.read_line(line);
            } else {
                manifest.torn_at = Some((text.len() - line.len()) as u64);
            }
        }
        Ok(manifest)
    }

    /// Whether `path` is a record, or is missing and has no name of a transcript. A pipe is not opened: what is read of it would
    /// be lost.
    pub fn is_like_record(path: &Path) -> bool {
        if !path.is_file() {
            return crate::source::is_missing_name(path);
        }
        let mut start = Vec::new();
        let read = File::open(path).and_then(|file| file.take(SIGNATURE.len() as u64).read_to_end(&mut start));
        read.is_ok() && start == SIGNATURE.as_bytes()
    }

    fn read_line(&mut self, line: &str) {
        if let Ok(head) = serde_json::from_str::<Head>(line) {
            self.continues = head.options == self.options;
        } else if let Ok(entry) = serde_json::from_str::<ManifestEntry>(line) {
            if !entry.kept {
                self.written.insert(entry.output.clone(), (entry.written, entry.len));
            }
            self.entries.insert(entry.output.clone(), (entry, self.continues));
        } else if let Ok(backup) = serde_json::from_str::<BackupEntry>(line) {
            self.backups.insert(backup);
        }
    }

    /// The path of the record.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether an earlier run wrote `output`, and it has not changed since.
    pub(super) fn is_ours(&self, output: &Path) -> bool {
        self.written.get(&escaped(output)).is_some_and(|&written| time_and_len(output) == Some(written))
    }

    /// Whether an earlier run made `backup`, and it has not changed since.
    pub fn is_backup(&self, backup: &Path) -> bool {
        self.backups.contains(&BackupEntry::new(backup, backup))
    }

    /// Records that `backup` is about to be made of the file at `original`, so that a later run recognizes it even if
    /// this one is killed.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn announce_backup(&mut self, backup: &Path, original: &Path) -> io::Result<()> {
        let entry = BackupEntry::new(backup, original);
        if self.backups.insert(entry.clone()) { write_line(self.file()?, &entry) } else { Ok(()) }
    }

    /// Whether `output` was made from `input` with the same options, and neither has changed since.
    pub fn is_done(&self, input: &Path, output: &Path) -> bool {
        let Some((entry, true)) = self.entries.get(&escaped(output)) else { return false };
        let is_replaced = entry.input == entry.output;
        entry.input == escaped(input)
            && time_and_len(output) == Some((entry.written, entry.len))
            && (is_replaced || time_and_len(input).is_some_and(|now| entry.read.zip(entry.read_len) == Some(now)))
    }

    /// Records that `output` was made from `input`, which had the stamp `read` when it was opened. `kept`: it is the input, and
    /// was left as it was.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn record(&mut self, input: &Path, read: Option<&Stamp>, output: &Path, kept: bool) -> io::Result<()> {
        let read = read.and_then(Stamp::time_and_len);
        let now = if kept { read } else { time_and_len(output) };
        let (written, len) = now.unwrap_or_default();
        let input = escaped(input);
        let output = escaped(output);
        let (read, read_len) = read.unzip();
        write_line(self.file()?, &ManifestEntry { input, output, written, len, read, read_len, kept })
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
        if let Some(end) = self.torn_at {
            // A file that is open for appending alone cannot be shortened on Windows.
            File::options().write(true).open(&self.path)?.set_len(end)?;
        }
        let mut file = File::options().create(true).append(true).open(&self.path)?;
        if !self.continues {
            write_line(&mut file, &Head { options: self.options.clone() })?;
        }
        Ok(file)
    }

    /// Removes the record, because the batch is complete.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn remove(self) -> io::Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}

/// The beginning of every record.
const SIGNATURE: &str = "{\"options\":\"curtail ";

fn not_a_record(path: &Path) -> FileError {
    let message = "not overwritten: the file is not empty and no record of --resume; name another file";
    FileError::new(ErrorKind::Usage, path.to_string_lossy(), message)
}

fn write_line(file: &mut File, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    file.write_all(&line)
}

/// The full path as unambiguous text, in which all but printable ASCII is escaped.
fn escaped(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.as_os_str().as_encoded_bytes().escape_ascii().to_string()
}

/// When a file was written, in nanoseconds since 1970, and its length in bytes.
fn time_and_len(path: &Path) -> Option<(u128, u64)> {
    Stamp::at_path(path)?.time_and_len()
}

#[cfg(test)]
mod tests {
    use super::Manifest;

    #[test]
    fn a_record_is_read_after_runs_that_were_killed_in_its_first_line() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("record");
        std::fs::write(&path, "{\"options\":\"cur")?;
        for _ in 0..2 {
            let mut manifest = Manifest::load(&path, "curtail 1")?;
            manifest.announce_backup(&folder.path().join("a.bak"), &path)?;
            std::fs::write(&path, std::fs::read_to_string(&path)? + "{\"backup\":")?;
        }
        let text = std::fs::read_to_string(&path)?;
        assert_eq!((text.matches("options").count(), text.lines().count()), (1, 4), "{text}");
        Ok(())
    }
}
