//! The Python module of curtail: records in, as Python has them; records out, with the same objects where nothing changed. The
//! package `curtail` in `python/` is written on top of it.

mod arrow;
mod build;
mod gate;
mod reader;
mod write;

use pyo3::prelude::*;

/// The part of the package that is written in Rust.
#[pymodule(gil_used = true)]
mod _native {
    #[pymodule_export]
    use crate::arrow::cut_array;
    #[pymodule_export]
    use crate::gate::{after_fork, before_fork};
    #[pymodule_export]
    use crate::reader::{Command, Failed, Reader, command_line, set_program};
}
