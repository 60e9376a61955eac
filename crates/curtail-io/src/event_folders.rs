//! Folders that contain a log with one event per file: none of these files is a transcript.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::Source;
use curtail_core::dialects::{event_advice, event_number};

/// The longest event that is read to recognize a folder, in bytes. The first one contains the instructions.
const LONGEST: u64 = 1024 * 1024;

/// The folders of `sources` that contain events, each with what to do about it.
pub(super) fn event_folders(sources: &[Source]) -> BTreeMap<PathBuf, String> {
    let mut first: HashMap<&Path, (&Path, usize)> = HashMap::new();
    for path in sources.iter().filter(|source| source.doubtful).filter_map(|source| source.path.as_deref()) {
        if let Some(folder) = path.parent().filter(|_| event_name(path).is_some()) {
            first.entry(folder).or_insert((path, 0)).1 += 1;
        }
    }
    let several = first.into_iter().filter(|(_, (_, count))| *count > 1);
    several.filter_map(|(folder, (path, _))| Some((folder.to_owned(), advice(folder, path)?))).collect()
}

/// The name of a file that is called as one of an event.
fn event_name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str().filter(|name| event_number(name).is_some())
}

/// What to do about the files in `folder`, of which `first` is one, if they are events.
fn advice(folder: &Path, first: &Path) -> Option<String> {
    let mut text = String::new();
    File::open(first).and_then(|file| file.take(LONGEST).read_to_string(&mut text)).ok()?;
    event_advice(&folder.to_string_lossy(), event_name(first)?, &text)
}
