//! `curtail`: argv in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    curtail::run_program()
}
