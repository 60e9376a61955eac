//! How every part of the program names its temporary files. By this name, a later run finds those that a killed one left, and no
//! walk takes one for an input. Between [`PREFIX`] and [`SUFFIX`] are [`RANDOM`] letters and digits.

/// How the names begin.
pub const PREFIX: &str = ".curtail-";

/// How many random letters and digits they have.
pub const RANDOM: usize = 10;

/// How they end.
pub const SUFFIX: &str = ".tmp";
