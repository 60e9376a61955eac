//! Folders that contain a log with one event per file.

use super::OpenHands;
use crate::dialects::{Dialect as _, Fit};
use crate::json::Document;
use crate::visible::word;

/// The number in the name of the file of an event: `event-00007-ID.json` in version 1, `7.json` in version 0.
#[must_use]
pub fn event_number(name: &str) -> Option<&str> {
    let stem = name.strip_suffix(".json")?;
    let number = match stem.strip_prefix("event-") {
        Some(rest) => rest.split_once('-').map_or(rest, |(number, _)| number),
        None => stem,
    };
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
}

/// If `text`, a file in `folder` with this `name`, is an event: what to do about the files of the folder.
#[must_use]
pub fn event_advice(folder: &str, name: &str, text: &str) -> Option<String> {
    let document = Document::parse_all(text).ok()?;
    if document.roots().all(|event| OpenHands.fit(event) == Fit::No) {
        return None;
    }
    let folder = word(folder);
    // The numbers of version 0 have no leading zeros, so the order of names is not that of the numbers.
    let joined = match name.starts_with("event-") {
        true => format!("cat {folder}/event-*.json"),
        false => format!("(cd {folder} && cat $(ls [0-9]*.json | sort -n))"),
    };
    Some(format!("one event of OpenHands per file; join them to one log: {joined} | curtail …"))
}
