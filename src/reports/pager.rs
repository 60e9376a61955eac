//! Long text goes through a pager on a terminal.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::console;

/// How a shell ends that could not start a program.
const NOT_EXECUTABLE: i32 = 126;
const NOT_FOUND: i32 = 127;

/// Prints text with ANSI colors. On a terminal it goes through `$PAGER`, or `less -R`.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let pager = std::env::var("PAGER").unwrap_or_else(|_| String::from("less -R"));
    if console::out_is_terminal() && !pager.trim().is_empty() && paged(&pager, text) {
        return Ok(());
    }
    Ok(console::out(text)?)
}

/// Shows the text in the pager; `false` if it cannot be started.
fn paged(pager: &str, text: &str) -> bool {
    let text = console::paged(text);
    let mut command = Command::new("sh");
    command.args(["-c", pager]).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut stdin) = child.stdin.take() {
        // Quitting a pager early is not an error.
        drop(stdin.write_all(text.as_bytes()));
    }
    // What a pager says at its end is about itself: the text was shown.
    child.wait().is_ok_and(|status| !matches!(status.code(), Some(NOT_EXECUTABLE | NOT_FOUND)))
}
