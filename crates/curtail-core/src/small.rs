//! Reads what should be small, such as a key or a template: a name can lead to a device that never ends.

use std::io::{self, Read};

/// The most bytes of a file that a flag names, unless its reader knows better. It is more than any prompt, schema, table of
/// prices or state.
pub const SMALL: u64 = 64 << 20;

/// All bytes of `input`.
///
/// # Errors
/// It cannot be read, or has more than `most` bytes.
pub fn read_small(input: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("larger than {} MB, so it is not what this flag names", most >> 20)));
    }
    Ok(bytes)
}

/// As [`read_small`], for text.
///
/// # Errors
/// As [`read_small`], or it is not UTF-8.
pub fn read_small_text(input: impl Read, most: u64) -> io::Result<String> {
    String::from_utf8(read_small(input, most)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8"))
}
