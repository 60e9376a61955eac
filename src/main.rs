//! `curtail`: arguments in, exit status out.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(unix)]
    curtail::note_closed_output(start::CLOSED.load(std::sync::atomic::Ordering::Relaxed));
    curtail::run_program()
}

/// What can be seen only before the runtime of the language starts, which opens `/dev/null` in place of a closed stream.
#[cfg(unix)]
mod start {
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Whether standard output was closed.
    pub(crate) static CLOSED: AtomicBool = AtomicBool::new(false);

    // It is called before `main`, so it asks the system alone and nothing of the standard library.
    #[ctor::ctor(unsafe)]
    fn look() {
        let closed = rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err();
        CLOSED.store(closed, Ordering::Relaxed);
    }
}
