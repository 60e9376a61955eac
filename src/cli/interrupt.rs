//! Ctrl-C: the first ends a batch after what is under way, the second at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::SIGINT;
use signal_hook::flag;

/// The status of a program that Ctrl-C ended: 128 and the signal's number.
const STATUS: u8 = 130;

/// Whether Ctrl-C came.
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Watches for Ctrl-C if `gently`; otherwise it ends the program at once, as in any filter.
    pub(super) fn watch(gently: bool) -> std::io::Result<Self> {
        let came = Arc::new(AtomicBool::new(false));
        // A file that grows past `ulimit -f` is to be an error like a full disk, not the end of the process.
        #[cfg(unix)]
        flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
        if gently {
            // In this order: the first Ctrl-C finds the flag down and raises it, the second finds it up.
            flag::register_conditional_shutdown(SIGINT, i32::from(STATUS), Arc::clone(&came))?;
            flag::register(SIGINT, Arc::clone(&came))?;
        }
        Ok(Self(came))
    }

    /// The flag that is raised.
    pub(super) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// The status that it asks for.
    pub(super) fn status(&self) -> Option<u8> {
        self.0.load(Ordering::Relaxed).then_some(STATUS)
    }
}
