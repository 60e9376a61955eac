//! Text that is written later: in memory while it is short, and in a temporary file once it is long.

use std::io::{self, Read as _, Seek as _, Write as _};

use tempfile::SpooledTempFile;

/// Bytes that stay in memory.
const SHORT: usize = 4 * 1024 * 1024;
/// Bytes that are handed back at once.
const CHUNK: usize = 64 * 1024;

/// Text that is written later.
pub(super) struct Spool(SpooledTempFile);

impl Default for Spool {
    fn default() -> Self {
        Self(SpooledTempFile::new(SHORT))
    }
}

impl Spool {
    /// Appends `text`.
    pub(super) fn push(&mut self, text: &str) -> io::Result<()> {
        self.0.write_all(text.as_bytes())
    }

    /// Hands back all of the text, in pieces.
    pub(super) fn copy(mut self, mut put: impl FnMut(&str) -> anyhow::Result<()>) -> anyhow::Result<()> {
        self.0.rewind()?;
        let mut piece = Vec::with_capacity(CHUNK);
        while io::Read::by_ref(&mut self.0).take((CHUNK - piece.len()) as u64).read_to_end(&mut piece)? > 0 {
            // A piece may end inside a character, whose rest comes with the next one.
            let whole = std::str::from_utf8(&piece).map_or_else(|error| error.valid_up_to(), str::len);
            put(std::str::from_utf8(&piece[..whole])?)?;
            piece.drain(..whole);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, SHORT, Spool};

    #[test]
    fn long_text_comes_back_whole() -> anyhow::Result<()> {
        let text = "añ€😀\n".repeat(SHORT / 8);
        let mut spool = Spool::default();
        spool.push(&text[..12])?;
        spool.push(&text[12..])?;
        let (mut back, mut longest) = (String::new(), 0);
        spool.copy(|piece| {
            back.push_str(piece);
            longest = longest.max(piece.len());
            Ok(())
        })?;
        assert!(back == text && longest <= CHUNK);
        Ok(())
    }
}
