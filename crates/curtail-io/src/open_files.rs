//! Files that other programs have open for writing. A program that keeps a log open would continue to write into the
//! replaced file, and its lines would be lost.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use crate::metadata::FileId;

/// How long a scan of all programs is reused: in a batch of many files, a scan for each would take longer than the work
/// itself. Programs that open a file in the meantime are detected after it was replaced.
pub(super) const SCAN_LIFETIME: Duration = Duration::from_secs(1);

/// The regular files that other programs of this user have open for writing. Only Linux reports them.
pub(super) fn open_for_writing() -> HashSet<FileId> {
    let this_program = std::process::id().to_string();
    let programs = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let others = programs.filter(|entry| {
        let name = entry.file_name();
        name != this_program.as_str() && name.as_encoded_bytes().iter().all(u8::is_ascii_digit)
    });
    others.flat_map(|program| held_by(&program.path())).collect()
}

/// The regular files that the program with this folder in `/proc` has open for writing.
fn held_by(program: &Path) -> Vec<FileId> {
    let descriptors = std::fs::read_dir(program.join("fd")).into_iter().flatten().flatten();
    let files = descriptors.filter_map(|descriptor| {
        std::fs::metadata(descriptor.path()).ok().filter(std::fs::Metadata::is_file)?;
        let info = std::fs::read_to_string(program.join("fdinfo").join(descriptor.file_name())).ok()?;
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"))?;
        let mode = u32::from_str_radix(flags.trim(), 8).ok()? & 3;
        (mode != 0).then(|| FileId::at_path(&descriptor.path()))
    });
    files.collect()
}
