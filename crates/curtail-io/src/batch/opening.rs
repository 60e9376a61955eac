//! Opens an input, and decides by its first block how it is read.

use std::sync::Arc;

use super::heads::{foreign_encoding, readable_head, valid_prefix};
use super::reader::{Reader, Start};
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
        let head = readable_head(buffer);
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

    /// Opens a table. Each row is a transcript, unless the user named another framing.
    fn open_table(&self, format: TableFormat, blocks: &Blocks, buffer: &mut Buffer) -> Result<FirstBlock, FileError> {
        let Self { input_options, source, .. } = self;
        let framing = input_options.framing.unwrap_or(Framing::Records);
        let wanted = WantedColumn { column: input_options.column.as_deref(), most: input_options.max_record };
        let open = input_options.open_table.ok_or_else(|| cannot_open(source, format))?;
        let table = open(source, format, wanted, &|text| has_transcripts(input_options, framing, text) == Some(true))?;
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

/// Whether `text`, read in this framing, has transcripts; `None` if it cannot be read.
fn has_transcripts(input_options: &InputOptions, framing: Framing, text: &str) -> Option<bool> {
    let reading = input_options.reading(framing).ok()?;
    let document = reading.parse(text).ok()?;
    Some(!reading.transcripts_or_none(&document).ok()?.is_empty())
}
