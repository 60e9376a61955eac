//! The Python module of curtail: records in, as Python has them; records out, with the same objects where nothing changed. The
//! package `curtail` in `python/` is written on top of it.

mod arrow;
mod build;
mod command;
mod gate;
mod reader;
mod record;
mod write;

use pyo3::prelude::*;

/// The part of the package that is written in Rust.
#[pymodule(gil_used = true)]
mod _native {
    #[pymodule_export]
    use crate::arrow::cut_array;
    #[pymodule_export]
    use crate::command::{Command, command_line, set_program};
    #[pymodule_export]
    use crate::gate::{after_fork, before_fork};
    #[pymodule_export]
    use crate::reader::Reader;
    #[pymodule_export]
    use crate::record::Failed;
}
