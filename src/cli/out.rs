//! Output of commands that write no transcripts.

use std::io::{ErrorKind, Write as _};

/// Prints `text` to standard output; a closed pipe is not an error.
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => Ok(done?),
    }
}
