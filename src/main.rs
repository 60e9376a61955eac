//! `curtail`: arguments in, exit status out.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(unix)]
    {
        use std::sync::atomic::Ordering::Relaxed;
        curtail::note_closed_streams(start::INPUT_CLOSED.load(Relaxed), start::CLOSED.load(Relaxed));
    }
    keep_caught_panics_quiet();
    #[cfg(debug_assertions)]
    return work::measured(curtail::run_program);
    #[cfg(not(debug_assertions))]
    curtail::run_program()
}

/// Prints nothing about a panic that becomes an error, such as that of a library that reads a damaged file.
fn keep_caught_panics_quiet() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !curtail_tokens::panics::catches_panics() {
            print(panic);
        }
    }));
}

/// Finds out which streams were closed. That is visible only before Rust's runtime starts, which replaces them by `/dev/null`.
#[cfg(unix)]
mod start {
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Whether standard output was closed.
    pub(crate) static CLOSED: AtomicBool = AtomicBool::new(false);

    /// Whether standard input was closed.
    pub(crate) static INPUT_CLOSED: AtomicBool = AtomicBool::new(false);

    // This runs before `main`, so it uses only system calls, not the standard library.
    #[ctor::ctor(unsafe)]
    fn record_closed_streams() {
        let closed = rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err();
        CLOSED.store(closed, Ordering::Relaxed);
        let closed = rustix::io::fcntl_getfd(rustix::stdio::stdin()).is_err();
        INPUT_CLOSED.store(closed, Ordering::Relaxed);
    }
}

/// Measures the work of a run, in debug builds. It is written to the file that `CURTAIL_WORK` names. Tests compare it for inputs
/// of different sizes, because unlike time it does not depend on what else the machine does.
#[cfg(debug_assertions)]
mod work {
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::path::PathBuf;
    use std::process::ExitCode;
    use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

    static COUNTS: AtomicBool = AtomicBool::new(false);
    static ALLOCATED: AtomicU64 = AtomicU64::new(0);
    static HELD: AtomicI64 = AtomicI64::new(0);
    static PEAK: AtomicI64 = AtomicI64::new(0);

    /// The system's allocator, with its bytes counted.
    struct Counting;

    #[global_allocator]
    static ALLOCATOR: Counting = Counting;

    fn add(size: usize) {
        if COUNTS.load(Ordering::Relaxed) {
            ALLOCATED.fetch_add(size as u64, Ordering::Relaxed);
            let size = size.cast_signed() as i64;
            PEAK.fetch_max(HELD.fetch_add(size, Ordering::Relaxed) + size, Ordering::Relaxed);
        }
    }

    fn remove(size: usize) {
        if COUNTS.load(Ordering::Relaxed) {
            HELD.fetch_sub(size.cast_signed() as i64, Ordering::Relaxed);
        }
    }

    #[expect(unsafe_code, reason = "an allocator is; it passes on what it is asked for")]
    // SAFETY: each call is passed on to the allocator of the system, unchanged.
    unsafe impl GlobalAlloc for Counting {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            add(layout.size());
            unsafe { System.alloc(layout) }
        }

        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            add(layout.size());
            unsafe { System.alloc_zeroed(layout) }
        }

        unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
            remove(layout.size());
            unsafe { System.dealloc(at, layout) }
        }

        unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            remove(layout.size());
            add(size);
            unsafe { System.realloc(at, layout, size) }
        }
    }

    /// Runs `program`, and writes its work if `CURTAIL_WORK` is set.
    pub(crate) fn measured(program: impl FnOnce() -> ExitCode) -> ExitCode {
        let Some(path) = std::env::var_os("CURTAIL_WORK").map(PathBuf::from) else { return program() };
        COUNTS.store(true, Ordering::Relaxed);
        curtail_core::steps::count_steps();
        let status = program();
        COUNTS.store(false, Ordering::Relaxed);
        let counts = [curtail_core::steps::steps(), ALLOCATED.load(Ordering::Relaxed)];
        let peak = PEAK.load(Ordering::Relaxed);
        let text = format!("steps {}\nallocated {}\npeak {peak}\n", counts[0], counts[1]);
        if std::fs::write(path, text).is_err() { ExitCode::from(2) } else { status }
    }
}
