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
use std::process::{Command, Output, Stdio};

/// Variables of the user's environment that decide where requests go.
const HEEDED: [&str; 16] = [
    "CURTAIL_STORE", "CURTAIL_ENDPOINT", "CURTAIL_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL", "HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy",
    "NO_PROXY", "no_proxy", "SSL_CERT_FILE",
];

/// The program in a folder of its own, without the variables of the user's environment that it reads.
fn curtail(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_curtail"));
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for variable in HEEDED {
        command.env_remove(variable);
    }
    command
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

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
