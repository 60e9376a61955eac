//! Opens an input, and decides by its first block how it is read.

use std::borrow::Cow;
use std::sync::Arc;

use super::heads::{foreign_encoding, readable_head, valid_prefix};
use super::reader::{Reader, Start};
use super::rescue::Rescued;
use super::{Damage, InputOptions, Opened};
use crate::{Blocks, Buffer, ErrorKind, FileError, Limits, RowBlock, Source, Table, TableFormat, WantedColumn};
use curtail_core::dialects::{Framing, Reading, detect_framing, framing_of_first};

/// The first of `sources` that is not a file of records, whose cut cannot follow another on standard output. Inputs that fail
/// or that may not be transcripts are left to the batch.
pub fn first_without_records<'s>(sources: &'s [Source], input_options: &InputOptions) -> Option<&'s Source> {
    let limits = input_options.limits(&Arc::default());
    sources.iter().enumerate().find_map(|(number, source)| {
        if source.path.is_none() || source.doubtful || source.len_hint().is_none_or(|len| len == 0) {
            return None;
        }
        let mut buffer = Buffer::default();
        let first = Unopened { input_options, damage: Damage::Fail, source, number }.open(&limits, &mut buffer).ok()?;
        (first.opened.reading.framing != Framing::Records).then_some(source)
    })
}

/// An input with its first block, which is in the buffer.
pub(super) struct FirstBlock {
    pub(super) opened: Arc<Opened>,
    pub(super) reader: Reader,
    /// Where the rows of the block are, if it is a table.
    pub(super) rows: Option<RowBlock>,
}

/// An input that is to be opened.
pub(super) struct Unopened<'s> {
    pub(super) input_options: &'s InputOptions,
    pub(super) damage: Damage,
    pub(super) source: &'s Source,
    /// Its number among the inputs of the batch, from 0.
    pub(super) number: usize,
}

impl Unopened<'_> {
    /// Opens it, reads its first block and decides how it is read.
    pub(super) fn open(&self, limits: &Limits, buffer: &mut Buffer) -> Result<FirstBlock, FileError> {
        let mut blocks = Box::new(Blocks::open(self.source, limits)?);
        if let Some(format) = blocks.table() {
            return self.open_table(format, &blocks, buffer);
        }
        let start = Start { name: &self.source.name, line: &|| 1 };
        start.read(|doubt| blocks.next_lines(buffer, doubt))?;
        let is_converted = self.damage != Damage::Fail && start.read(|doubt| blocks.convert_utf16(buffer, doubt))?;
        let foreign_encoding = foreign_encoding(buffer).filter(|_| !is_converted);
        let head_of_live = if blocks.is_live() { self.await_record(&mut blocks, buffer)? } else { None };
        let head = head_of_live.map_or_else(|| readable_head(buffer), Cow::Owned);
        let head = head.as_ref();
        let key = self.input_options.messages_key.as_deref();
        let framing = self.input_options.framing.unwrap_or_else(|| match detect_framing(head, key) {
            // A list that is the whole head, with more behind it, is the first of many.
            framing if !blocks.is_done() && (blocks.is_live() || framing == Framing::Document) => {
                framing_of_first(head, key)
            }
            framing => framing,
        });
        let reading = self.reading(framing, head)?;
        let opened = Opened { is_converted, foreign_encoding, ..self.opened(&blocks, reading, None) };
        Ok(FirstBlock { opened: Arc::new(opened), reader: Reader::Lines(blocks), rows: None })
    }

    /// Reads on until the lines of a live input show how it is read: the first ones may be what a program printed before its log.
    /// Returns the records among them, if some are damaged. An endless stream of other data must not be read forever, so these
    /// lines are few. Whoever reports each broken record does not wait.
    fn await_record(&self, blocks: &mut Blocks, buffer: &mut Buffer) -> Result<Option<String>, FileError> {
        let waits = match self.input_options.framing {
            None => self.damage != Damage::Fail,
            Some(framing) => framing == Framing::Lines,
        };
        let key = self.input_options.messages_key.as_deref();
        let mut more = Buffer::default();
        while waits && !blocks.is_done() && !shows_framing(&readable_head(buffer), key) {
            let first_lines = first_lines(buffer);
            let rescued = Rescued::from_text(first_lines).filter(|rescued| !rescued.is_empty());
            let records = rescued.and_then(|rescued| String::from_utf8(rescued.text).ok());
            if let Some(records) = records.filter(|records| shows_framing(records, key)) {
                return Ok(Some(records));
            }
            if first_lines.len() > MOST_NOISE {
                blocks.leave_rest();
                return Ok(None);
            }
            let line = memchr::memchr_iter(b'\n', buffer).count() + 1;
            Start { name: &self.source.name, line: &|| line }.read(|doubt| blocks.next_lines(&mut more, doubt))?;
            buffer.append(&more).map_err(|error| FileError::system(&self.source.name, &error))?;
        }
        Ok(None)
    }

    /// Opens a table. Each row is a transcript, unless the user named another framing.
    fn open_table(&self, format: TableFormat, blocks: &Blocks, buffer: &mut Buffer) -> Result<FirstBlock, FileError> {
        let Self { input_options, source, .. } = self;
        let framing = input_options.framing.unwrap_or(Framing::Records);
        let wanted = WantedColumn { column: input_options.column.as_deref(), most: input_options.max_record };
        let open = input_options.open_table.ok_or_else(|| cannot_open(source, format))?;
        let table = open(source, format, wanted, &|text| has_transcripts(input_options, framing, text))?;
        let mut rows = Arc::clone(&table).rows();
        let block = rows.next_block(buffer, false)?;
        let head = block.texts.iter().flatten().next().map_or("", |range| valid_prefix(&buffer[range.clone()]));
        let reading = self.reading(framing, head)?;
        let opened = self.opened(blocks, reading, Some(table));
        Ok(FirstBlock { opened: Arc::new(opened), reader: Reader::Rows(rows), rows: Some(block) })
    }

    /// How an input that begins with `head` is read.
    fn reading(&self, framing: Framing, head: &str) -> Result<Reading, FileError> {
        let mut reading = self.input_options.reading(framing)?;
        if reading.dialect.is_none() {
            reading.dialect = reading.dialect_of_head(head);
        }
        Ok(reading)
    }

    fn opened(&self, blocks: &Blocks, reading: Reading, table: Option<Arc<dyn Table>>) -> Opened {
        let packing = blocks.packing();
        let stamp = blocks.stamp().cloned();
        Opened { number: self.number, packing, stamp, table, ..Opened::new(self.source.clone(), reading) }
    }
}

/// The error of a table in a build without the crate for them.
fn cannot_open(source: &Source, format: TableFormat) -> FileError {
    let name = format.name();
    let reason = format!(
        "this build cannot read {name} files; in a clone of the repository, build one that can: `cargo install --path . \
         --features parquet`"
    );
    FileError::new(ErrorKind::Usage, &source.name, reason)
}

/// Among how many bytes of a live input the first record must begin.
const MOST_NOISE: usize = 64 << 10;

/// The lines that begin within these.
fn first_lines(text: &[u8]) -> &[u8] {
    let Some(rest) = text.get(MOST_NOISE..) else { return text };
    memchr::memchr(b'\n', rest).map_or(text, |end| &text[..=MOST_NOISE + end])
}

/// Whether a line of `head` is a record: without one, the first lines of a stream are taken for broken records, and those of a file
/// for a log.
fn shows_framing(head: &str, messages_key: Option<&str>) -> bool {
    detect_framing(head, messages_key) != Framing::Lines || framing_of_first(head, messages_key) != Framing::Records
}

/// Whether `text`, read in this framing, has transcripts.
fn has_transcripts(input_options: &InputOptions, framing: Framing, text: &str) -> bool {
    let Ok(reading) = input_options.reading(framing) else { return false };
    let Ok(document) = reading.parse(text) else { return false };
    reading.transcripts_or_none(&document).is_ok_and(|transcripts| !transcripts.is_empty())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::io::Write as _;
    use std::os::fd::AsRawFd as _;
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;

    const LOG: &str = "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\"}\n";

    /// The framing of a pipe into which these pieces are written one after another, and whether nothing more is read of it. It
    /// stays open.
    fn framing(pieces: &[&str], damage: Damage) -> (Framing, bool) {
        let (read, mut write) = std::io::pipe().unwrap();
        let path = PathBuf::from(format!("/proc/self/fd/{}", read.as_raw_fd()));
        let source = Source::file(path.clone(), path);
        std::thread::scope(|scope| {
            let opened = scope.spawn(|| {
                let input_options = InputOptions::default();
                let unopened = Unopened { input_options: &input_options, damage, source: &source, number: 0 };
                let first = unopened.open(&Limits::default(), &mut Buffer::default()).unwrap();
                (first.opened.reading.framing, first.reader.is_done())
            });
            for piece in pieces {
                write.write_all(piece.as_bytes()).unwrap();
                std::thread::sleep(Duration::from_millis(60));
            }
            opened.join().unwrap()
        })
    }

    #[test]
    fn the_framing_of_a_pipe_waits_for_a_record() {
        let prefixed = "at noon: {\"messages\": [{\"role\":\"user\",\"content\":\"a\"}]}\n".repeat(20);
        for damage in [Damage::ReadAround, Damage::LeaveOut] {
            assert_eq!(framing(&["Starting agent\n", LOG], damage), (Framing::Lines, false));
            let pieces = ["Starting agent\n{\"type\":\n", "1\n", "{\"messages\": []}\n"];
            assert_eq!(framing(&pieces, damage), (Framing::Records, false));
            assert_eq!(framing(&[&prefixed], damage), (Framing::Records, false));
            // However it arrives.
            let noise = "Starting agent\n".repeat(40);
            assert_eq!(framing(&[&noise, LOG], damage), framing(&[&format!("{noise}{LOG}")], damage));
        }
        // Whoever reports each record does so at once.
        assert_eq!(framing(&["Starting agent\n"], Damage::Fail), (Framing::Records, false));
    }

    #[test]
    fn nothing_more_is_read_of_a_pipe_of_other_data() {
        for line in ["garbage\n", "1\n"] {
            let lines = line.repeat(MOST_NOISE / line.len() + 1);
            assert_eq!(framing(&[line, &lines], Damage::ReadAround), (Framing::Lines, true));
        }
    }
}
