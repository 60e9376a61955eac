//! The signals that end the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::SIGINT;
#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGTERM};
use signal_hook::flag;

use curtail_memory::summarizers::{stop_flag, stop_programs};

/// Beside Ctrl-C: `kill`, and the end of the terminal.
#[cfg(unix)]
const SIGNALS: &[i32] = &[SIGTERM, SIGHUP];
#[cfg(not(unix))]
const SIGNALS: &[i32] = &[];

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
        if graceful {
            // A shell lets what a script starts in the background ignore Ctrl-C, but whoever stops the script means the batch, too.
            interrupt.register(SIGINT)?;
            // A program that `nohup` started must outlive its terminal.
            let ignored = ignored_signals();
            for signal in SIGNALS.iter().filter(|&signal| ignored >> (signal - 1) & 1 == 0) {
                interrupt.register(*signal)?;
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

/// Lets a signal end the programs that make summaries before it ends this one, as it does at once in any filter: they run in
/// process groups of their own, so that a terminal does not send it to them.
#[cfg(unix)]
pub(crate) fn end_summarizers_first() -> std::io::Result<()> {
    let ignored = ignored_signals();
    let heard = SIGNALS.iter().chain(&[SIGINT]).filter(|&signal| ignored >> (signal - 1) & 1 == 0);
    let mut signals = signal_hook::iterator::Signals::new(heard)?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            stop_programs();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
    Ok(())
}

/// A terminal of Windows sends Ctrl-C to every program in it.
#[cfg(not(unix))]
pub(crate) const fn end_summarizers_first() -> std::io::Result<()> {
    Ok(())
}

/// The signals that the parent process set to be ignored: bit 0 is signal 1. Only Linux has the file that says so; elsewhere, a
/// signal ends the program although `nohup` started it.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}
