//! Chat templates are compiled and rendered in a child process of this program, with limits on time and memory: no template can
//! hang the program or fill the memory of the machine.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;

use super::limits::{limit_memory, limit_time};
use crate::console;
use curtail_tokens::templates::{self, ChatTemplate};

/// The first argument of a process that renders. No command has this name.
pub(crate) const RENDER_COMMAND: &str = "__render";

/// The program, if this process is another one that called its functions. A global, because options name templates wherever they
/// are read: on a command line, or in a table of a configuration file.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Names the program. The first name stays.
pub(crate) fn set_program(path: PathBuf) {
    PROGRAM.get_or_init(|| path);
}

/// The template at `path`, which child processes of this program compile and render.
pub(crate) fn open_template(path: &Path) -> anyhow::Result<ChatTemplate> {
    let program = PROGRAM.get().map_or_else(std::env::current_exe, |program| Ok(program.clone()))?;
    Ok(ChatTemplate::open_isolated(path, vec![program.into_os_string(), OsString::from(RENDER_COMMAND)])?)
}

/// Renders the templates that arrive on standard input.
pub(crate) fn serve_templates() -> ExitCode {
    limit_memory();
    match templates::serve(std::io::stdin().lock(), console::transcripts(), limit_time) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
