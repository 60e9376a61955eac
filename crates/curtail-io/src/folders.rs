//! Folders that contain one conversation of `OpenHands` as one event per file: no file of them is a transcript.

use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::Source;
use curtail_core::visible::word;

/// How much of an event is read to recognize it.
const HEAD: u64 = 4096;

/// The folders of `sources` that contain events, each with the command that joins its events.
pub(super) fn event_folders(sources: &[Source]) -> Vec<(PathBuf, String)> {
    let mut first: HashMap<&Path, (&Path, usize)> = HashMap::new();
    for path in sources.iter().filter(|source| source.doubtful).filter_map(|source| source.path.as_deref()) {
        if let Some(folder) = path.parent().filter(|_| number(path).is_some()) {
            first.entry(folder).or_insert((path, 0)).1 += 1;
        }
    }
    let events = first.into_iter().filter(|(_, (path, count))| *count > 1 && is_event(path));
    let mut folders: Vec<(PathBuf, String)> =
        events.map(|(folder, (path, _))| (folder.to_owned(), joined(folder, path))).collect();
    folders.sort();
    folders
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

fn is_event(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    let head = String::from_utf8_lossy(&head);
    let has = |key: &str| head.contains(&format!("\"{key}\""));
    read.is_ok() && head.starts_with('{') && has("source") && has("timestamp") && has("id")
}

fn joined(folder: &Path, first: &Path) -> String {
    let folder = word(&folder.to_string_lossy());
    // Numbers without leading zeros are not in the order of their names.
    match number(first).is_some_and(|number| number.len() > 4) {
        true => format!("cat {folder}/event-*.json"),
        false => format!("(cd {folder} && cat $(ls -v [0-9]*.json))"),
    }
}
