//! Folders that contain a log with one event per file, as `OpenHands` keeps them: none of these files is a transcript.

use std::collections::{BTreeMap, HashMap};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::Source;
use curtail_core::dialects::{Framing, Reading};
use curtail_core::visible::word;

/// The dialect of the logs that are kept in this way.
const DIALECT: &str = "openhands";

/// The longest event that is read to recognize a folder, in bytes. The first one contains the instructions.
const LONGEST: u64 = 1024 * 1024;

/// The folders of `sources` that contain events, each with what to do about it.
pub(super) fn event_folders(sources: &[Source]) -> BTreeMap<PathBuf, String> {
    let mut first: HashMap<&Path, (&Path, usize)> = HashMap::new();
    for path in sources.iter().filter(|source| source.doubtful).filter_map(|source| source.path.as_deref()) {
        if let Some(folder) = path.parent().filter(|_| number(path).is_some()) {
            first.entry(folder).or_insert((path, 0)).1 += 1;
        }
    }
    let events = first.into_iter().filter(|(_, (path, count))| *count > 1 && is_event(path));
    events.map(|(folder, (path, _))| (folder.to_owned(), advice(folder, path))).collect()
}

/// The number in the name of an event: `event-00007-ID.json` in version 1, `7.json` in version 0.
fn number(path: &Path) -> Option<&str> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".json")?;
    let number = match stem.strip_prefix("event-") {
        Some(rest) => rest.split_once('-').map_or(rest, |(number, _)| number),
        None => stem,
    };
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
}

/// Whether the file at `path` is one event.
fn is_event(path: &Path) -> bool {
    let mut text = String::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
    let Ok(reading) = Reading::new(Framing::Lines, None, None) else { return false };
    let Ok(document) = reading.parse(&text) else { return false };
    let dialects = reading.transcripts_or_none(&document);
    read.is_ok() && dialects.is_ok_and(|read| read.iter().any(|(dialect, _)| dialect.name() == DIALECT))
}

/// What to do about the events in `folder`, of which `first` is one.
fn advice(folder: &Path, first: &Path) -> String {
    let folder = word(&folder.to_string_lossy());
    // The numbers of version 0 have no leading zeros, so the order of names is not that of the numbers.
    let joined = match number(first).is_some_and(|number| number.len() > 4) {
        true => format!("cat {folder}/event-*.json"),
        false => format!("(cd {folder} && cat $(ls -v [0-9]*.json))"),
    };
    format!("one event of OpenHands per file; join them to one log: {joined} | curtail …")
}
