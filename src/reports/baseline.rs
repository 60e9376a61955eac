//! A baseline: the findings that a repository has already, so that only new ones fail its check.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::console;
use crate::reports::findings::{Known, identity};
use curtail_core::checks::Finding;
use curtail_core::digest::fnv1a_128;
use curtail_core::numbers::counted;
use curtail_core::visible::word;
use curtail_io::{ErrorKind, FileError, FileSink, Packing, Replace, Scratch};

/// Raised when a member is removed or changes its meaning.
const VERSION: u32 = 1;

/// The name of what is checked on standard input.
const STANDARD_INPUT: &str = "stdin";

/// Stale entries that are named.
const SHOWN: usize = 3;

/// The content of the file.
#[derive(Debug, Serialize, Deserialize)]
struct Document {
    version: u32,
    findings: Vec<Entry>,
}

/// Equal findings of a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Entry {
    /// The path of the file from the folder of the baseline.
    file: String,
    rule: String,
    message: String,
    fingerprint: String,
    count: usize,
}

/// What identifies a finding: its file, and its fingerprint, which contains no line, so that lines can move.
type Identity = (String, String);

/// The findings that are not reported: those of a baseline that is read, or all, for one that is written.
pub(crate) struct KnownFindings {
    path: PathBuf,
    /// The folder of the baseline.
    folder: PathBuf,
    /// What the baseline lists.
    entries: BTreeMap<Identity, Entry>,
    /// What is written in its place, if it is written.
    new: Option<BTreeMap<Identity, Entry>>,
    /// How many of each entry were found.
    found: HashMap<Identity, usize>,
    /// The names of the files that were checked, as they are in the baseline.
    names: HashMap<String, String>,
}

impl KnownFindings {
    /// Reads the baseline at `read`, or begins the one to write at `write`; `None` without either.
    ///
    /// # Errors
    /// There is no such file, or it is not a baseline.
    pub(crate) fn open(read: Option<&Path>, write: Option<&Path>) -> Result<Option<Self>, FileError> {
        let Some(path) = read.or(write) else { return Ok(None) };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = folder.canonicalize().map_err(|error| FileError::system(path.to_string_lossy(), &error))?;
        let new = read.is_none().then(BTreeMap::new);
        let known = if new.is_some() && !path.exists() { Vec::new() } else { entries_in(path)? };
        let known = known.into_iter().map(|entry| ((entry.file.clone(), entry.fingerprint.clone()), entry));
        let entries = known.collect();
        Ok(Some(Self { path: path.to_owned(), folder, entries, new, found: HashMap::new(), names: HashMap::new() }))
    }

    /// Notes that the file called `name` is checked.
    pub(crate) fn begin(&mut self, name: &str) {
        let real = Path::new(name).canonicalize().ok();
        let below = real.map(|path| path.strip_prefix(&self.folder).map_or(path.clone(), Path::to_owned));
        let shown = below.map_or_else(|| name.to_owned(), |path| path.to_string_lossy().into_owned());
        // Elsewhere, a name may contain one.
        let shown = if cfg!(windows) { shown.replace('\\', "/") } else { shown };
        self.names.insert(name.to_owned(), shown);
    }

    /// Whether a finding in the file called `name` is known, or becomes so.
    pub(crate) fn knows(&mut self, name: &str, finding: &Finding) -> bool {
        let file = self.names.get(name).cloned().unwrap_or_else(|| name.to_owned());
        let fingerprint = fingerprint(finding);
        let identity = (file.clone(), fingerprint.clone());
        let found = self.found.entry(identity.clone()).or_default();
        if let Some(new) = &mut self.new {
            let rule = finding.rule.name.to_owned();
            let entry = Entry { file, rule, message: finding.message.clone(), fingerprint, count: 0 };
            new.entry(identity).or_insert(entry).count += 1;
        } else if self.entries.get(&identity).is_none_or(|entry| entry.count <= *found) {
            return false;
        }
        *found += 1;
        true
    }

    /// Writes the baseline if it is new, with what it lists of files that this run did not check, and says which entries are stale.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn finish(&self) -> Result<Known, FileError> {
        let checked: HashSet<&str> = self.names.values().map(String::as_str).collect();
        let (examined, others): (Vec<_>, Vec<_>) =
            self.entries.iter().partition(|(_, entry)| self.is_examined(&entry.file, &checked));
        if let Some(new) = &self.new {
            self.write(new.values().chain(others.into_iter().map(|(_, entry)| entry)))?;
        }
        let stale: Vec<(&Entry, usize)> = if self.new.is_some() {
            Vec::new()
        } else {
            examined.into_iter().filter_map(|entry| self.missing(entry)).collect()
        };
        let known = Known {
            baseline: self.path.to_string_lossy().into_owned(),
            findings: self.found.values().sum(),
            stale: stale.iter().map(|(_, missing)| missing).sum(),
        };
        if !stale.is_empty() {
            let shown = stale.iter().take(SHOWN).map(|(entry, _)| format!("{} in {}", entry.rule, entry.file));
            let more = if stale.len() > SHOWN { ", …" } else { "" };
            let shown = shown.collect::<Vec<_>>().join(", ");
            let count = counted(known.stale, "finding");
            let name = &known.baseline;
            console::note(&format!(
                "{name}: {count} gone: {shown}{more}; --write-baseline {} leaves them out",
                word(name)
            ));
        }
        Ok(known)
    }

    /// Whether a run finds all that there is in a file: it was `checked`, or does not exist.
    fn is_examined(&self, file: &str, checked: &HashSet<&str>) -> bool {
        checked.contains(file) || file != STANDARD_INPUT && !self.folder.join(file).exists()
    }

    /// How many findings of an entry are gone, if some are.
    fn missing<'e>(&self, (identity, entry): (&Identity, &'e Entry)) -> Option<(&'e Entry, usize)> {
        let missing = entry.count.checked_sub(self.found.get(identity).copied().unwrap_or_default())?;
        (missing > 0).then_some((entry, missing))
    }

    /// Writes these entries in order of their files.
    fn write<'e>(&self, entries: impl Iterator<Item = &'e Entry>) -> Result<(), FileError> {
        let mut findings: Vec<Entry> = entries.cloned().collect();
        findings.sort_by(|a, b| (&a.file, &a.fingerprint).cmp(&(&b.file, &b.fingerprint)));
        let document = Document { version: VERSION, findings };
        // Strings and numbers cannot fail to be written as JSON.
        let text = serde_json::to_string_pretty(&document).unwrap_or_default() + "\n";
        let scratch = Scratch::default();
        let mut sink = FileSink::create(&self.path, Packing::Plain, None, &scratch)?;
        sink.write_all(text.as_bytes()).map_err(|error| FileError::system(self.path.to_string_lossy(), &error))?;
        sink.commit(Replace::Yes, &scratch).map(drop)
    }
}

/// A digest of what stays the same when a file gets other lines.
fn fingerprint(finding: &Finding) -> String {
    format!("{:032x}", fnv1a_128(identity(finding).bytes()))
}

fn entries_in(path: &Path) -> Result<Vec<Entry>, FileError> {
    let name = path.to_string_lossy();
    let text = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let reason = format!("no such file; `curtail check --write-baseline {}` writes it", word(&name));
            return Err(FileError::new(ErrorKind::System, name, reason));
        }
        read => read.map_err(|error| FileError::system(name.as_ref(), &error))?,
    };
    let document = serde_json::from_str::<Document>(&text).ok().filter(|document| document.version == VERSION);
    let reason = "is not a baseline of this version of curtail; name another file";
    document.map(|document| document.findings).ok_or_else(|| FileError::new(ErrorKind::Content, name, reason))
}
