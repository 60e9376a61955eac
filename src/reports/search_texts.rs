//! The texts that the search of an index of pages looks through, packed for the files beside the index.

use std::io;
use std::ops::Range;

use super::spool::Spool;
use curtail_view::TextBlock;

/// Bytes of a file with the texts of sessions from which on the next one is begun: a page does not answer while its browser
/// reads one.
const FILE_BYTES: u64 = 4_000_000;

/// The texts of sessions, packed.
#[derive(Default)]
pub(super) struct SearchTexts {
    /// What is not packed yet.
    block: TextBlock,
    spool: Spool,
    /// What each file contains of the spool.
    files: Vec<Range<u64>>,
}

impl SearchTexts {
    pub(super) fn add(&mut self, link: &str, texts: &str) -> io::Result<()> {
        self.block.add(link, texts);
        if self.block.is_full() { self.pack() } else { Ok(()) }
    }

    /// The text of each file. Nothing can be added after it.
    pub(super) fn scripts(&mut self) -> io::Result<impl Iterator<Item = io::Result<String>>> {
        if !self.block.is_empty() {
            self.pack()?;
        }
        Ok(self.files.iter().map(|bytes| self.spool.piece(bytes.clone())))
    }

    pub(super) const fn file_count(&self) -> usize {
        self.files.len()
    }

    /// Packs the block, and begins the next one.
    fn pack(&mut self) -> io::Result<()> {
        let bytes = self.spool.push(&std::mem::take(&mut self.block).script()?)?;
        match self.files.last_mut().filter(|file| file.end - file.start < FILE_BYTES) {
            Some(file) => file.end = bytes.end,
            None => self.files.push(bytes),
        }
        Ok(())
    }
}
