//! No fork while a record is cut: a lock that another thread holds at that moment would stay locked in the child forever.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pyo3::prelude::*;

/// How many threads cut records, without the lock of the interpreter.
static WORKING: AtomicUsize = AtomicUsize::new(0);

/// Whether the process is about to fork.
static FORKING: AtomicBool = AtomicBool::new(false);

const PAUSE: Duration = Duration::from_micros(200);

/// Runs `work` without the lock of the interpreter, at a time at which no fork happens.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    while FORKING.load(Ordering::Acquire) {
        py.detach(|| std::thread::sleep(PAUSE));
    }
    // The thread that forks has the lock of the interpreter when it looks at this number.
    WORKING.fetch_add(1, Ordering::AcqRel);
    py.detach(|| {
        let _leave = Leave;
        work()
    })
}

struct Leave;

impl Drop for Leave {
    fn drop(&mut self) {
        WORKING.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Waits until no thread cuts records. `os.register_at_fork` calls it before each fork.
#[pyfunction]
pub(crate) fn before_fork() {
    FORKING.store(true, Ordering::Release);
    while WORKING.load(Ordering::Acquire) > 0 {
        std::thread::sleep(PAUSE);
    }
}

/// Lets threads cut records again, after the fork, in both processes.
#[pyfunction]
pub(crate) fn after_fork() {
    FORKING.store(false, Ordering::Release);
}
