//! Counts steps of work in debug builds, so that a test can compare how much work two inputs take, whatever the machine does
//! beside it. Release builds count nothing.

#[cfg(debug_assertions)]
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[cfg(debug_assertions)]
static COUNTS: AtomicBool = AtomicBool::new(false);
#[cfg(debug_assertions)]
static STEPS: AtomicU64 = AtomicU64::new(0);

/// Counts `steps` of work: bytes that are scanned, places that are visited, values that are compared.
#[cfg(debug_assertions)]
#[inline]
pub fn count(steps: usize) {
    if COUNTS.load(Ordering::Relaxed) {
        STEPS.fetch_add(steps as u64, Ordering::Relaxed);
    }
}

/// Counts nothing.
#[cfg(not(debug_assertions))]
#[inline]
pub const fn count(_steps: usize) {}

/// Counts from now on.
#[cfg(debug_assertions)]
#[doc(hidden)]
pub fn count_steps() {
    COUNTS.store(true, Ordering::Relaxed);
}

/// The steps so far.
#[cfg(debug_assertions)]
#[doc(hidden)]
pub fn steps() -> u64 {
    STEPS.load(Ordering::Relaxed)
}
