//! `curtail run`: the chain, its levels, its file, and what the file may say.

mod equality;
mod files;
mod keys;
mod presets;
mod support;
#[cfg(unix)]
mod trust;
mod wrong;

use std::path::Path;
use std::process::Output;

use crate::program::{command as curtail, root};

fn output(folder: &Path, args: &[&str]) -> Output {
    curtail(folder, args).output().expect("curtail runs")
}

fn stdout(folder: &Path, args: &[&str]) -> String {
    let output = output(folder, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn stderr(folder: &Path, args: &[&str]) -> String {
    String::from_utf8(output(folder, args).stderr).expect("UTF-8")
}

/// A folder with a `curtail.toml`; in memory where there is such a place, for every output is flushed to the disk.
fn folder(toml: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
    std::fs::write(folder.path().join("curtail.toml"), toml).expect("a file");
    folder
}
