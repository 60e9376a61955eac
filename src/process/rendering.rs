//! Chat templates are compiled and rendered in a child process of this program, with limits on time and memory: no template can
//! hang the program or fill the memory of the machine.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;

use anyhow::Context as _;

use super::limits::{limit_memory, limit_time};
use crate::console;
use curtail_tokens::templates::{self, ChatTemplate};

/// The first argument of a process that renders. No command has this name.
pub(crate) const RENDER_COMMAND: &str = "__render";

/// The program: this process, or one that another process named, which called the functions of the program and may be an
/// interpreter. A global, because options name templates wherever they are read: on a command line, or in a table of a
/// configuration file.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Names the program. The first name stays.
pub(crate) fn set_program(path: PathBuf) {
    PROGRAM.get_or_init(|| path);
}

/// The template at `path`, which child processes of this program compile and render.
pub(crate) fn open_template(path: &Path) -> anyhow::Result<ChatTemplate> {
    let program = PROGRAM.get().context(
        "a chat template is rendered by the program `curtail`, which was not found; CURTAIL_PROGRAM can name it",
    )?;
    Ok(ChatTemplate::open_isolated(path, vec![program.into(), OsString::from(RENDER_COMMAND)])?)
}

/// Renders the templates that arrive on standard input.
pub(crate) fn serve_templates() -> ExitCode {
    limit_memory();
    match templates::serve(std::io::stdin().lock(), console::transcripts(), limit_time) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
