//! Files that other programs have open for writing. A program that keeps a log open would continue to write into the
//! replaced file, and its lines would be lost.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::identity::FileId;

/// How long a scan of all programs is reused: in a batch of many files, a scan for each would take longer than the work
/// itself. Programs that open a file in the meantime are found after it was replaced.
const FRESH: Duration = Duration::from_secs(1);

/// The files that were open for writing at the last scan.
#[derive(Debug, Default)]
pub(super) struct Holders(Mutex<Option<(Instant, HashSet<FileId>)>>);

impl Holders {
    /// Whether another program has the file at `path` open for writing, as far as the system reports it.
    pub(super) fn hold(&self, path: &Path) -> bool {
        let mut look = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if look.as_ref().is_none_or(|(when, _)| when.elapsed() > FRESH) {
            let open = open_for_writing();
            *look = Some((Instant::now(), open));
        }
        look.as_ref().is_some_and(|(_, open)| open.contains(&FileId::at_path(path)))
    }
}

/// The regular files that other programs of this user have open for writing. Only Linux reports them.
pub(super) fn open_for_writing() -> HashSet<FileId> {
    let own = std::process::id().to_string();
    let programs = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let others = programs.filter(|entry| {
        let name = entry.file_name();
        name != own.as_str() && name.as_encoded_bytes().iter().all(u8::is_ascii_digit)
    });
    others.flat_map(|program| held_by(&program.path())).collect()
}

fn held_by(program: &Path) -> Vec<FileId> {
    let descriptors = std::fs::read_dir(program.join("fd")).into_iter().flatten().flatten();
    let written = descriptors.filter_map(|descriptor| {
        std::fs::metadata(descriptor.path()).ok().filter(std::fs::Metadata::is_file)?;
        let about = std::fs::read_to_string(program.join("fdinfo").join(descriptor.file_name())).ok()?;
        let flags = about.lines().find_map(|line| line.strip_prefix("flags:"))?;
        let mode = u32::from_str_radix(flags.trim(), 8).ok()? & 3;
        (mode != 0).then(|| FileId::at_path(&descriptor.path()))
    });
    written.collect()
}
