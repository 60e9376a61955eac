//! Ctrl-C: the first ends a batch after the current units, the second at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::SIGINT;
use signal_hook::flag;

/// The exit status after Ctrl-C: 128 plus the signal's number.
const STATUS: u8 = 130;

/// Whether Ctrl-C was pressed.
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Watches for Ctrl-C if `gently`; otherwise it ends the program at once, as in any filter.
    pub(super) fn watch(gently: bool) -> std::io::Result<Self> {
        let came = Arc::new(AtomicBool::new(false));
        // A file that exceeds `ulimit -f` is an error like a full disk, not the end of the process.
        #[cfg(unix)]
        flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
        if gently {
            // In this order: the first Ctrl-C finds the flag unset and sets it, the second finds it set.
            flag::register_conditional_shutdown(SIGINT, i32::from(STATUS), Arc::clone(&came))?;
            flag::register(SIGINT, Arc::clone(&came))?;
        }
        Ok(Self(came))
    }

    /// The flag that Ctrl-C sets.
    pub(super) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// The exit status after Ctrl-C; `None` without it.
    pub(super) fn status(&self) -> Option<u8> {
        self.0.load(Ordering::Relaxed).then_some(STATUS)
    }
}
