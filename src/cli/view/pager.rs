//! Long text: through a pager on a terminal, and as it is elsewhere.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::console;

/// Prints text with ANSI colors. On a terminal it goes through `$PAGER`, or `less -R`.
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    let pager = std::env::var("PAGER").unwrap_or_else(|_| String::from("less -R"));
    if console::out_is_terminal() && !pager.trim().is_empty() && paged(&pager, text) {
        return Ok(());
    }
    Ok(console::out(text)?)
}

/// Whether the pager took the text.
fn paged(pager: &str, text: &str) -> bool {
    let text = console::paged(text);
    let mut command = Command::new("sh");
    command.args(["-c", pager]).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut stdin) = child.stdin.take() {
        // A pager that is quit early has read what its user wanted.
        drop(stdin.write_all(text.as_bytes()));
    }
    child.wait().is_ok_and(|status| status.success())
}
