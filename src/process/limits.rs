//! The limits of the system on this process.

#[cfg(unix)]
use std::sync::Arc;

#[cfg(unix)]
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The files that macOS lets a program open if it has no limit. It refuses more.
#[cfg(unix)]
const OPEN_FILES: u64 = 10_240;

/// Raises the number of files that may be open to the highest that the system allows: the parts of a log are all open until
/// the last one is written. If the system refuses, the error names the part that could not be opened.
#[cfg(unix)]
pub(crate) fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    let least = limit.current.map(|current| current.max(OPEN_FILES));
    for current in [limit.maximum, least] {
        if setrlimit(Resource::Nofile, Rlimit { current, ..limit }).is_ok() {
            break;
        }
    }
}

/// Makes a file that exceeds the size that the system allows (`ulimit -f`) an error like a full disk, not the end of the process.
#[cfg(unix)]
pub(crate) fn survive_file_size_limit() {
    // Without the handler, the signal ends the process: nothing else depends on it.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}

/// Maximum memory of a rendering process, in bytes. Only Unix has such a limit.
#[cfg(unix)]
const MEMORY: u64 = 2 << 30;

/// Maximum CPU time to compile a template or to render a transcript, in seconds. Only Unix has such a limit.
#[cfg(unix)]
const SECONDS: u64 = 30;

/// Limits the memory of this process, on systems that can.
#[cfg(unix)]
pub(super) fn limit_memory() {
    lower_limit(Resource::As, MEMORY);
}

/// Limits the CPU time that this process may use from now on.
#[cfg(unix)]
pub(super) fn limit_time() {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    lower_limit(Resource::Cpu, u64::try_from(used.tv_sec).unwrap_or(0).saturating_add(SECONDS));
}

#[cfg(unix)]
fn lower_limit(resource: Resource, most: u64) {
    let maximum = getrlimit(resource).maximum;
    let current = Some(maximum.map_or(most, |maximum| maximum.min(most)));
    // A process that exceeds its limit writes no core file.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    let _ = setrlimit(resource, Rlimit { current, maximum });
}

#[cfg(not(unix))]
pub(super) fn limit_memory() {}

#[cfg(not(unix))]
pub(super) fn limit_time() {}
