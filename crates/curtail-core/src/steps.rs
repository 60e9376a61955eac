//! Counts steps of work in debug builds, so that a test can compare how much work two inputs take, whatever the machine does
//! beside it. Release builds count nothing.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

static COUNTS: AtomicBool = AtomicBool::new(false);
static STEPS: AtomicU64 = AtomicU64::new(0);

/// Counts `steps` of work: bytes that are scanned, places that are visited, values that are compared.
#[inline]
pub fn count(steps: usize) {
    if cfg!(debug_assertions) && COUNTS.load(Ordering::Relaxed) {
        STEPS.fetch_add(steps as u64, Ordering::Relaxed);
    }
}

/// Counts from now on.
pub fn count_steps() {
    COUNTS.store(true, Ordering::Relaxed);
}

/// The steps so far.
pub fn steps() -> u64 {
    STEPS.load(Ordering::Relaxed)
}
