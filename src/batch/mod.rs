//! Records through the rooms, many at once: output in the order of the input, memory bounded.

mod record;

pub use record::{Cut, Cutter, Reading, Trouble};
