//! The process that renders chat templates for another process of this program: within limits, so that no template can hang
//! or fill the memory of the machine.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::console;
use curtail_tokens::templates::{self, ChatTemplate};

/// The first argument of such a process. No command has this name.
pub(super) const COMMAND: &str = "__render";

/// The most memory of a process that renders. Only Unix has such a limit.
#[cfg(unix)]
const MEMORY: u64 = 2 << 30;

/// The seconds of the processor that one rendering may take. Only Unix has such a limit.
#[cfg(unix)]
const SECONDS: u64 = 30;

/// Has `template` rendered by processes of this program.
pub(super) fn isolate(template: &mut ChatTemplate) -> std::io::Result<()> {
    let program = std::env::current_exe()?;
    template.isolate(vec![program.into_os_string(), OsString::from(COMMAND)]);
    Ok(())
}

/// Renders what standard input contains.
pub(super) fn serve() -> ExitCode {
    limit_memory();
    match templates::serve(std::io::stdin().lock(), console::transcripts(), limit_time) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Limits the memory of this process. A system without that limit goes on without it.
#[cfg(unix)]
fn limit_memory() {
    lower(rustix::process::Resource::As, MEMORY);
}

/// Limits the time of the processor that this process may take from now on.
#[cfg(unix)]
fn limit_time() {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    lower(rustix::process::Resource::Cpu, u64::try_from(used.tv_sec).unwrap_or(0).saturating_add(SECONDS));
}

#[cfg(unix)]
fn lower(resource: rustix::process::Resource, most: u64) {
    let maximum = rustix::process::getrlimit(resource).maximum;
    let current = Some(maximum.map_or(most, |maximum| maximum.min(most)));
    // No core file is written of a process that a template ended.
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
