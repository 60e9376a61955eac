//! Numbers on the command line.

use std::str::FromStr;

/// A number that must not be 0.
pub(in crate::cli) fn at_least_one<T: FromStr>(text: &str) -> Result<T, String> {
    match text.parse::<i128>() {
        Ok(..=0) => Err(String::from("must be at least 1")),
        _ => text.parse().map_err(|_| String::from("expected a whole number, 1 or more")),
    }
}

/// The flag, which takes what begins with a minus sign as its value: the value's error says what is wrong with it.
pub(in crate::cli) fn signed(arg: clap::Arg) -> clap::Arg {
    let takes_value = arg.get_action().takes_values() && !arg.is_positional();
    arg.allow_negative_numbers(takes_value)
}
