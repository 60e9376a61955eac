//! Compiles and renders chat templates in a child process of this program, with limits on time and memory: no template can
//! hang the program or fill the memory of the machine.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use crate::console;
use curtail_tokens::templates::{self, ChatTemplate};

/// The first argument of such a process. No command has this name.
pub(super) const COMMAND: &str = "__render";

/// Maximum memory of a rendering process, in bytes. Only Unix has such a limit.
#[cfg(unix)]
const MEMORY: u64 = 2 << 30;

/// Maximum CPU time to compile a template or to render a transcript, in seconds. Only Unix has such a limit.
#[cfg(unix)]
const SECONDS: u64 = 30;

/// The template at `path`, which child processes of this program compile and render.
pub(super) fn open_template(path: &Path) -> anyhow::Result<ChatTemplate> {
    let program = std::env::current_exe()?;
    Ok(ChatTemplate::open_isolated(path, vec![program.into_os_string(), OsString::from(COMMAND)])?)
}

/// Renders the templates that arrive on standard input.
pub(super) fn serve() -> ExitCode {
    limit_memory();
    match templates::serve(std::io::stdin().lock(), console::transcripts(), limit_time) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Limits the memory of this process, on systems that can.
#[cfg(unix)]
fn limit_memory() {
    lower_limit(rustix::process::Resource::As, MEMORY);
}

/// Limits the CPU time that this process may use from now on.
#[cfg(unix)]
fn limit_time() {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    lower_limit(rustix::process::Resource::Cpu, u64::try_from(used.tv_sec).unwrap_or(0).saturating_add(SECONDS));
}

#[cfg(unix)]
fn lower_limit(resource: rustix::process::Resource, most: u64) {
    let maximum = rustix::process::getrlimit(resource).maximum;
    let current = Some(maximum.map_or(most, |maximum| maximum.min(most)));
    // A process that exceeds its limit writes no core file.
    let _ = rustix::process::setrlimit(
        rustix::process::Resource::Core,
        rustix::process::Rlimit { current: Some(0), maximum: Some(0) },
    );
    let _ = rustix::process::setrlimit(resource, rustix::process::Rlimit { current, maximum });
}

#[cfg(not(unix))]
fn limit_memory() {}

#[cfg(not(unix))]
fn limit_time() {}
