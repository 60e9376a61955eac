//! Text that is written later: in memory while it is short, and in a temporary file once it is long.

use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Range;

use tempfile::SpooledTempFile;

/// How many bytes a [`Spool`] keeps in memory.
const MAX_IN_MEMORY: usize = 4 * 1024 * 1024;
/// Maximum bytes of a piece of a [`Spool`].
const CHUNK: usize = 64 * 1024;

/// Text that is written later.
pub(super) struct Spool(SpooledTempFile);

impl Default for Spool {
    fn default() -> Self {
        Self(SpooledTempFile::new(MAX_IN_MEMORY))
    }
}

impl Spool {
    /// Appends `text`, and returns where it is.
    pub(super) fn push(&mut self, text: &str) -> io::Result<Range<u64>> {
        let start = self.0.stream_position()?;
        self.0.write_all(text.as_bytes())?;
        Ok(start..start + text.len() as u64)
    }

    /// The text at `bytes`, which [`Spool::push`] returned. Nothing can be appended after it.
    pub(super) fn piece(&mut self, bytes: Range<u64>) -> io::Result<String> {
        self.0.seek(SeekFrom::Start(bytes.start))?;
        let mut text = String::new();
        io::Read::by_ref(&mut self.0).take(bytes.end - bytes.start).read_to_string(&mut text)?;
        Ok(text)
    }

    /// Passes all of the text to `put`, in pieces.
    pub(super) fn copy(mut self, mut put: impl FnMut(&str) -> anyhow::Result<()>) -> anyhow::Result<()> {
        self.0.rewind()?;
        let mut piece = Vec::with_capacity(CHUNK);
        while io::Read::by_ref(&mut self.0).take((CHUNK - piece.len()) as u64).read_to_end(&mut piece)? > 0 {
            // A piece may end inside a character, whose remaining bytes come with the next one.
            let whole = std::str::from_utf8(&piece).map_or_else(|error| error.valid_up_to(), str::len);
            put(std::str::from_utf8(&piece[..whole])?)?;
            piece.drain(..whole);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, MAX_IN_MEMORY, Spool};

    #[test]
    fn long_text_comes_back_whole() -> anyhow::Result<()> {
        let text = "añ€😀\n".repeat(MAX_IN_MEMORY / 8);
        let mut spool = Spool::default();
        let first = spool.push(&text[..12])?;
        spool.push(&text[12..])?;
        assert_eq!(spool.piece(first)?, text[..12]);
        let mut back = String::new();
        let mut longest = 0;
        spool.copy(|piece| {
            back.push_str(piece);
            longest = longest.max(piece.len());
            Ok(())
        })?;
        assert!(back == text && longest <= CHUNK);
        Ok(())
    }
}
