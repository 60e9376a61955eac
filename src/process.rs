//! This process as the system sees it: the signals that end it, the limits on it, and the child processes that render chat
//! templates.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

#[cfg(unix)]
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::SIGINT;
#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGTERM};
use signal_hook::flag;

use crate::console;
use curtail_memory::summarizers::stop_flag;
use curtail_tokens::templates::{self, ChatTemplate};

/// Ctrl-C, `kill`, and the end of the terminal.
#[cfg(unix)]
const SIGNALS: &[i32] = &[SIGINT, SIGTERM, SIGHUP];
#[cfg(not(unix))]
const SIGNALS: &[i32] = &[SIGINT];

/// A received signal that ends the program: the first one ends a batch after the current units, the second one at once.
pub(crate) struct Interrupt {
    received: Arc<AtomicBool>,
    /// Its number.
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Handles signals if `graceful`; otherwise they end the program at once, as in any filter.
    pub(crate) fn watch(graceful: bool) -> std::io::Result<Self> {
        let interrupt = Self { received: Arc::default(), signal: Arc::default() };
        // A file that exceeds `ulimit -f` is an error like a full disk, not the end of the process.
        #[cfg(unix)]
        flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
        // A program that `nohup` started must outlive its terminal.
        let ignored = if graceful { ignored_signals() } else { 0 };
        for &signal in SIGNALS.iter().filter(|_| graceful) {
            if SIGNALS[0] == signal || ignored >> (signal - 1) & 1 == 0 {
                interrupt.register(signal)?;
            }
        }
        Ok(interrupt)
    }

    fn register(&self, signal: i32) -> std::io::Result<()> {
        // In this order: the first signal finds the flag unset and sets it, the second finds it set.
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&self.received))?;
        flag::register_usize(signal, Arc::clone(&self.signal), usize::try_from(signal).unwrap_or_default())?;
        flag::register(signal, Arc::clone(&self.received))?;
        flag::register(signal, Arc::clone(stop_flag()))?;
        Ok(())
    }

    /// The flag that a signal sets.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.received)
    }

    /// The exit status after a signal, 128 plus its number; `None` without one.
    pub(crate) fn status(&self) -> Option<u8> {
        let signal = u8::try_from(self.signal.load(Ordering::Relaxed)).unwrap_or_default();
        self.received.load(Ordering::Relaxed).then_some(128 + signal)
    }
}

/// The signals that the parent process set to be ignored: bit 0 is signal 1.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

/// Raises the number of files that may be open to the highest that the system allows: the parts of a log are all open until
/// the last one is written. If the system refuses, the error names the part that could not be opened.
#[cfg(unix)]
pub(crate) fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

// Chat templates are compiled and rendered in a child process of this program, with limits on time and memory: no template
// can hang the program or fill the memory of the machine.

/// The first argument of such a process. No command has this name.
pub(crate) const RENDER_COMMAND: &str = "__render";

/// Maximum memory of a rendering process, in bytes. Only Unix has such a limit.
#[cfg(unix)]
const MEMORY: u64 = 2 << 30;

/// Maximum CPU time to compile a template or to render a transcript, in seconds. Only Unix has such a limit.
#[cfg(unix)]
const SECONDS: u64 = 30;

/// The program, if this process is another one that called its functions.
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

/// Limits the memory of this process, on systems that can.
#[cfg(unix)]
fn limit_memory() {
    lower_limit(Resource::As, MEMORY);
}

/// Limits the CPU time that this process may use from now on.
#[cfg(unix)]
fn limit_time() {
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
fn limit_memory() {}

#[cfg(not(unix))]
fn limit_time() {}
