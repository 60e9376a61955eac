//! What the program trusts, and what it sends where: keys, servers, certificates, proxies, other people's texts.

mod alternation;
mod blocks;
mod concurrency;
#[cfg(unix)]
mod hostile;
mod keys;
mod limits;
mod tls;

use std::path::Path;
use std::process::{Command, Output};

use crate::program::{command, text};

/// The program in a folder of its own.
fn curtail(folder: &Path) -> Command {
    command(folder, &[])
}

/// Runs `summarize` on a chat of three messages with a window of two, which asks for one summary.
fn ask(folder: &Path, environment: &[(&str, &str)], arguments: &[&str]) -> Output {
    let lines: Vec<String> = (1..=3).map(|n| format!("{{\"role\":\"user\",\"content\":\"Message {n}.\"}}\n")).collect();
    std::fs::write(folder.join("chat.jsonl"), lines.concat()).expect("it can be written");
    let mut command = curtail(folder);
    command.envs(environment.iter().copied());
    command.args(["summarize", "-n", "2", "--summary-model", "m", "--retries", "0"]);
    command.args(arguments).arg("chat.jsonl").output().expect("the binary runs")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}
