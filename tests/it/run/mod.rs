//! `curtail run`: the chain, its levels, its file, and what the file may say.

mod equality;
mod files;
mod keys;
mod support;
#[cfg(unix)]
mod trust;
mod wrong;

use std::path::Path;
use std::process::{Command, Output};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// `curtail` in `folder`, with nothing of the user's around it.
fn curtail(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_curtail"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CURTAIL_")) {
        command.env_remove(name);
    }
    command.args(args).current_dir(folder).env("HOME", folder).env_remove("XDG_CONFIG_HOME");
    command.stdin(std::process::Stdio::null());
    command
}

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
