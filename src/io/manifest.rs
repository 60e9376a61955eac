//! What a batch has finished, so that a later run can go on where it stopped. Knows files and one line of options.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

/// Its name in an output directory. It begins with a dot, and no walk takes it for a transcript.
pub const MANIFEST: &str = ".curtail-resume";

/// The record of one set of options. A line is added when an output is complete; a torn last line is not read.
#[derive(Debug)]
pub struct Manifest {
    path: PathBuf,
    file: File,
    done: HashMap<String, u128>,
    /// Whether there was a record of an earlier run.
    resumed: bool,
}

/// The first line.
#[derive(Serialize, Deserialize, PartialEq, Eq)]
struct Head {
    options: String,
}

/// Every other line.
#[derive(Serialize, Deserialize)]
struct ManifestEntry {
    input: String,
    output: String,
    /// When the output was written, in nanoseconds since 1970.
    written: u128,
}

impl Manifest {
    /// Opens the record at `path`, made with `options`. What an earlier run with other options did, or any if not `resume`,
    /// does not count and is forgotten.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(path: &Path, options: &str, resume: bool) -> io::Result<Self> {
        let before = if resume { std::fs::read_to_string(path).unwrap_or_default() } else { String::new() };
        let head = Head { options: options.to_owned() };
        let mut lines = before.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let same =
            lines.next().and_then(|line| serde_json::from_str::<Head>(line).ok()).is_some_and(|first| first == head);
        let entries = lines.filter_map(|line| serde_json::from_str::<ManifestEntry>(line).ok()).filter(|_| same);
        let done = entries.map(|entry| (key(&entry.input, &entry.output), entry.written)).collect();
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let mut file = File::options().create(true).append(true).open(path)?;
        if !same {
            file.set_len(0)?;
            line(&mut file, &head)?;
        } else if !before.ends_with('\n') {
            file.write_all(b"\n")?;
        }
        Ok(Self { path: path.to_owned(), file, done, resumed: !before.is_empty() })
    }

    /// Whether there was a record of an earlier run: then the outputs are ours to overwrite.
    #[must_use]
    pub const fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// Whether `output` was made from `input`, and neither has changed since.
    #[must_use]
    pub fn is_done(&self, input: &Path, output: &Path) -> bool {
        let Some(&recorded) = self.done.get(&key(&name(input), &name(output))) else { return false };
        written(output) == Some(recorded) && written(input).is_some_and(|input| input <= recorded)
    }

    /// Records that `output` was made from `input`.
    ///
    /// # Errors
    /// What the system says.
    pub fn record(&mut self, input: &Path, output: &Path) -> io::Result<()> {
        let written = written(output).unwrap_or_default();
        line(&mut self.file, &ManifestEntry { input: name(input), output: name(output), written })
    }

    /// Takes the record away: all is done, there is nothing to go on with.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove(self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }
}

fn line(file: &mut File, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    file.write_all(&line)
}

/// A path as text that no other path has, bytes that are no UTF-8 escaped.
fn name(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.as_os_str().as_encoded_bytes().escape_ascii().to_string()
}

fn key(input: &str, output: &str) -> String {
    format!("{input} {output}")
}

fn written(path: &Path) -> Option<u128> {
    let modified = std::fs::metadata(path).ok()?.modified().ok()?;
    modified.duration_since(UNIX_EPOCH).ok().map(|since| since.as_nanos())
}
