//! Embeds the commit that a release is built from, for `--version`.

use std::process::Command;
use std::{env, fs};

/// Sets `CURTAIL_COMMIT` for the compiler: to its value in the environment, else to the commit that `cargo package` recorded,
/// else, in release builds, to the head of the repository. Development builds rarely match a commit, so they name none.
fn main() {
    println!("cargo::rerun-if-env-changed=CURTAIL_COMMIT");
    let release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let named = env::var("CURTAIL_COMMIT").ok().filter(|commit| !commit.is_empty());
    if let Some(commit) = named.or_else(packaged).or_else(|| head().filter(|_| release)) {
        println!("cargo::rustc-env=CURTAIL_COMMIT={commit}");
    }
}

/// The commit in the file that `cargo package` adds.
fn packaged() -> Option<String> {
    let text = fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = text.split_once("\"sha1\"")?;
    rest.split('"').nth(1).map(str::to_owned)
}

fn head() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
        String::from_utf8(output.stdout).ok().map(|text| text.trim().to_owned())
    };
    // The crate may be in the repository of another project.
    let tracked = git(&["ls-files", "--error-unmatch", "Cargo.toml"]);
    let commit = tracked.and_then(|_| git(&["rev-parse", "HEAD"]))?;
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| fs::exists(log).unwrap_or(false)) {
        println!("cargo::rerun-if-changed={log}");
    }
    Some(commit)
}
