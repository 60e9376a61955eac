//! Reads the headers of a table, before the library allocates memory for the sizes that they claim.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;

use arrow_ipc::{CompressionType, FieldNode, MetadataVersion, RecordBatch, root_as_footer, root_as_message};
use arrow_schema::ArrowError;
use foldhash::HashMap;
use parquet::file::metadata::ColumnChunkMetaData;

use crate::Extent;
use crate::place::Place;

// The record batches of an Arrow file, by its message headers. Every length is compared with the length of the file before
// it is used, so that a short file cannot request much memory.

/// The length in the header of a buffer that was not compressed.
const STORED: i64 = -1;
/// The largest ratio of a buffer's length to that of its compressed bytes. A block of Zstandard is at least four bytes
/// for 128 KiB.
const HIGHEST_RATIO: u64 = 1 << 16;

/// The batches of a file, and how they are compressed.
#[derive(Debug, Default)]
pub(crate) struct Batches {
    /// The record batches, in order.
    pub(crate) all: Vec<Extent>,
    /// The compression of the first batch that has one.
    pub(crate) compression: Option<CompressionType>,
    /// The number of bytes of each dictionary, by its id. The library keeps all dictionaries in memory.
    dictionaries: HashMap<i64, u64>,
    /// The sum over all dictionaries.
    in_dictionaries: u128,
}

/// A message of a file.
#[derive(Debug, Clone, Copy)]
struct Message {
    /// The rows and the compression of a record batch; `None` for a schema or a dictionary.
    batch: Option<(usize, Option<CompressionType>)>,
    /// The id of a dictionary, and whether it is appended to an earlier one.
    dictionary: Option<(i64, bool)>,
    /// The number of bytes after decompression.
    held: u64,
    /// The offset in the file where it ends.
    end: u64,
}

impl Batches {
    /// The batches that the footer of a file lists. It is an error if one of them has more than `most` bytes with the
    /// dictionaries.
    pub(crate) fn of_file(place: &Place, most: u64) -> Result<Self, ArrowError> {
        let trailer = place.len.checked_sub(10).ok_or_else(|| damaged("the end of the file"))?;
        let mut end = [0; 10];
        place.at(trailer).read_exact(&mut end)?;
        let footer = arrow_ipc::reader::read_footer_length(end)?;
        let start = trailer.checked_sub(footer as u64).ok_or_else(|| damaged("the footer"))?;
        let mut bytes = vec![0; footer];
        place.at(start).read_exact(&mut bytes)?;
        let footer = root_as_footer(&bytes).map_err(|error| ArrowError::ParseError(format!("the footer: {error}")))?;
        check_version(footer.version())?;
        let mut outline = Self::default();
        for block in footer.dictionaries().iter().flatten().chain(footer.recordBatches().iter().flatten()) {
            let offset = u64::try_from(block.offset());
            let body = u64::try_from(block.bodyLength());
            let (Ok(offset), Ok(body), Ok(head)) = (offset, body, u64::try_from(block.metaDataLength())) else {
                return Err(damaged("a record batch"));
            };
            let ends = offset.checked_add(head).and_then(|at| at.checked_add(body)).filter(|end| *end <= place.len);
            let message = ends.ok_or_else(|| damaged("a record batch")).and_then(|_| read_message(place, offset))?;
            outline.add(message.ok_or_else(|| damaged("a record batch"))?, most)?;
        }
        Ok(outline)
    }

    /// The batches of a stream. It is an error if one of them has more than `most` bytes with the dictionaries.
    pub(crate) fn of_stream(place: &Place, most: u64) -> Result<Self, ArrowError> {
        let mut outline = Self::default();
        let mut at = 0;
        while let Some(message) = read_message(place, at)? {
            at = message.end;
            outline.add(message, most)?;
        }
        Ok(outline)
    }

    fn add(&mut self, message: Message, most: u64) -> Result<(), ArrowError> {
        if let Some((rows, compression)) = message.batch {
            self.all.push(Extent { rows, end: message.end });
            self.compression = self.compression.or(compression);
        }
        if let Some((id, is_delta)) = message.dictionary {
            let known = self.dictionaries.entry(id).or_default();
            let before = if is_delta { *known } else { std::mem::take(known) };
            *known = known.saturating_add(message.held);
            self.in_dictionaries = self.in_dictionaries + u128::from(*known) - u128::from(before);
        }
        let batch = if message.dictionary.is_none() { message.held } else { 0 };
        let held = self.in_dictionaries + u128::from(batch);
        match held > u128::from(most) {
            true => Err(ArrowError::IpcError(format!(
                "a record batch holds {held} bytes with its dictionaries, more than {most}, the limit of --max-record; pass a larger one, or 0 for none"
            ))),
            false => Ok(()),
        }
    }
}

/// The header of the message at `at`; `None` at the end.
fn read_message(place: &Place, at: u64) -> Result<Option<Message>, ArrowError> {
    let mut from = place.at(at);
    let mut word = [0; 4];
    if at >= place.len {
        return Ok(None);
    }
    from.read_exact(&mut word)?;
    if word == [0xff; 4] {
        from.read_exact(&mut word)?;
    }
    let Ok(length) = usize::try_from(i32::from_le_bytes(word)) else { return Err(damaged("a message")) };
    if length == 0 {
        return Ok(None);
    }
    let head = from.stream_position()?;
    if head + length as u64 > place.len {
        return Err(damaged("a message"));
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    let message = root_as_message(&bytes).map_err(|error| ArrowError::ParseError(format!("a message: {error}")))?;
    check_version(message.version())?;
    let body = u64::try_from(message.bodyLength()).map_err(|_| damaged("a message"))?;
    let start = head + length as u64;
    let end = start.checked_add(body).filter(|end| *end <= place.len);
    let end = end.ok_or_else(|| damaged("a record batch"))?;
    if let Some(dictionary) = message.header_as_dictionary_batch() {
        let held = dictionary.data().map_or(Ok(0), |batch| checked_bytes(place, start..end, batch))?;
        let dictionary = Some((dictionary.id(), dictionary.isDelta()));
        return Ok(Some(Message { batch: None, dictionary, held, end }));
    }
    let Some(batch) = message.header_as_record_batch() else {
        return Ok(Some(Message { batch: None, dictionary: None, held: 0, end }));
    };
    let held = checked_bytes(place, start..end, batch)?;
    let rows = usize::try_from(batch.length()).map_err(|_| damaged("a record batch"))?;
    let batch = Some((rows, batch.compression().map(|compression| compression.codec())));
    Ok(Some(Message { batch, dictionary: None, held, end }))
}

/// Checks what the library relies on: that the buffers of a batch are in its body, and that the lengths that they claim
/// to have after decompression are possible. Returns the sum of these lengths.
fn checked_bytes(place: &Place, body: Range<u64>, batch: RecordBatch<'_>) -> Result<u64, ArrowError> {
    let has_valid_nulls = |node: &FieldNode| (0..=node.length()).contains(&node.null_count());
    let mut is_valid = batch.nodes().iter().flatten().all(has_valid_nulls);
    let mut held = 0_u64;
    for buffer in batch.buffers().iter().flatten() {
        let (Ok(offset), Ok(length)) = (u64::try_from(buffer.offset()), u64::try_from(buffer.length())) else {
            return Err(damaged("a record batch"));
        };
        let start = body.start.checked_add(offset);
        let end = start.and_then(|start| start.checked_add(length));
        is_valid &= end.is_some_and(|end| end <= body.end);
        let mut holds = length;
        if is_valid && length > 0 && batch.compression().is_some() {
            let mut claimed = [0; 8];
            place.at(body.start + offset).read_exact(&mut claimed)?;
            let claimed = i64::from_le_bytes(claimed);
            is_valid =
                claimed == STORED || u64::try_from(claimed).is_ok_and(|claimed| claimed / HIGHEST_RATIO <= length);
            holds = u64::try_from(claimed).unwrap_or(length);
        }
        held = held.saturating_add(holds);
    }
    if is_valid { Ok(held) } else { Err(damaged("a record batch")) }
}

/// Rejects versions that the library cannot read.
fn check_version(version: MetadataVersion) -> Result<(), ArrowError> {
    match version >= MetadataVersion::V4 {
        true => Ok(()),
        false => Err(ArrowError::IpcError(String::from("it was written before version 0.8 of Arrow"))),
    }
}

/// The error for a damaged `part` of the file.
fn damaged(part: &str) -> ArrowError {
    ArrowError::IpcError(format!("{part} is damaged, or the file was cut off"))
}

// The sizes that the pages of a Parquet column claim.
//
// A page begins with a header in Thrift's compact protocol: fields, each with its type and the difference of its id
// from that of the previous field. Only the two sizes of the page are read; all other fields are skipped.

/// The largest depth of nested values in a header.
const MAX_DEPTH: usize = 16;

/// The number of bytes of a header that are buffered: statistics in it may be long.
const HEADER: usize = 4096;

/// The uncompressed size in bytes of the first page of `chunk` in `file` that claims more than `most` bytes; `None` if
/// there is none.
///
/// # Errors
/// A header cannot be read.
pub(crate) fn oversized(file: impl Read + Seek, chunk: &ColumnChunkMetaData, most: u64) -> io::Result<Option<u64>> {
    let first = chunk.dictionary_page_offset().filter(|offset| *offset > 0).unwrap_or(chunk.data_page_offset());
    let first = first.min(chunk.data_page_offset());
    let number = |claimed: i64| u64::try_from(claimed).map_err(|_| io::Error::from(io::ErrorKind::InvalidData));
    let start = number(first)?;
    let end = start.saturating_add(number(chunk.compressed_size())?);
    let mut header = Header { bytes: BufReader::with_capacity(HEADER, file), at: start };
    header.bytes.seek(SeekFrom::Start(start))?;
    while header.at < end {
        let (uncompressed, compressed) = header.sizes()?;
        if uncompressed > most {
            return Ok(Some(uncompressed));
        }
        header.skip(compressed)?;
    }
    Ok(None)
}

/// A reader of headers.
struct Header<R> {
    bytes: BufReader<R>,
    /// The offset in the file.
    at: u64,
}

impl<R: Read + Seek> Header<R> {
    /// The sizes of the next page: uncompressed, and as it is stored.
    fn sizes(&mut self) -> io::Result<(u64, u64)> {
        let mut uncompressed = None;
        let mut compressed = None;
        let mut field = 0;
        loop {
            let byte = self.byte()?;
            if byte == 0 {
                let sizes = uncompressed.zip(compressed);
                return sizes.ok_or_else(|| io::ErrorKind::InvalidData.into());
            }
            field = match byte >> 4 {
                0 => self.zigzag()?,
                distance => field.checked_add(i64::from(distance)).ok_or(io::ErrorKind::InvalidData)?,
            };
            match (field, byte & 15) {
                (2, 5) => uncompressed = Some(self.size()?),
                (3, 5) => compressed = Some(self.size()?),
                (_, kind) => self.skip_value(kind, MAX_DEPTH)?,
            }
        }
    }

    /// Skips a value of the type `kind`, in which at most `depth` values are nested.
    fn skip_value(&mut self, kind: u8, depth: usize) -> io::Result<()> {
        let depth = depth.checked_sub(1).ok_or(io::ErrorKind::InvalidData)?;
        match kind {
            1 | 2 => Ok(()),
            3 => self.skip(1),
            4..=6 => self.varint().map(drop),
            7 => self.skip(8),
            8 => {
                let len = self.varint()?;
                self.skip(len)
            }
            9 | 10 => {
                let byte = self.byte()?;
                let count = if byte >> 4 == 15 { self.varint()? } else { u64::from(byte >> 4) };
                match byte & 15 {
                    // In a list, a boolean is a byte.
                    1..=3 => self.skip(count),
                    7 => self.skip(count.saturating_mul(8)),
                    // All other values have at least one byte, so a wrong count ends at the end of the file.
                    kind => (0..count).try_for_each(|_| self.skip_value(kind, depth)),
                }
            }
            12 => loop {
                let byte = self.byte()?;
                if byte == 0 {
                    return Ok(());
                }
                if byte >> 4 == 0 {
                    self.varint()?;
                }
                self.skip_value(byte & 15, depth)?;
            },
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.bytes.read_exact(&mut byte)?;
        self.at += 1;
        Ok(byte[0])
    }

    fn varint(&mut self) -> io::Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(value);
            }
        }
        Err(io::ErrorKind::InvalidData.into())
    }

    fn zigzag(&mut self) -> io::Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// A number that must not be negative.
    fn size(&mut self) -> io::Result<u64> {
        u64::try_from(self.zigzag()?).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    fn skip(&mut self, count: u64) -> io::Result<()> {
        let distance = i64::try_from(count).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        self.at = self.at.checked_add(count).ok_or(io::ErrorKind::InvalidData)?;
        self.bytes.seek_relative(distance)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::Header;

    #[test]
    fn sizes_are_read_and_everything_else_is_passed_over() {
        // A type, both sizes, a struct with a text, a list of truth values and a number, and the next header.
        let first =
            [0x15, 0, 0x15, 0x80, 2, 0x15, 20, 0x2c, 0x18, 2, b'a', b'b', 0x19, 0x21, 1, 2, 0x16, 0x81, 1, 0, 0];
        let next = [0x15, 4, 5, 4, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x15, 2, 0];
        let bytes = [&first[..], &next].concat();
        let mut header = Header { bytes: std::io::BufReader::new(Cursor::new(bytes)), at: 0 };
        assert_eq!(header.sizes().ok(), Some((128, 10)));
        assert_eq!(header.at, first.len() as u64);
        assert_eq!(header.sizes().ok(), Some((0x7fff_ffff, 1)));
        assert!(header.sizes().is_err(), "the end");
    }

    #[test]
    fn nonsense_is_an_error() {
        for bytes in [
            &[0][..],
            &[0x15, 1, 0],
            &[0x1c; 64],
            &[0x2b, 0],
            &[0x19, 0xf5, 0xff, 0xff, 0xff, 0xff, 0x7f],
            &[0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x7f],
        ] {
            let mut header = Header { bytes: std::io::BufReader::new(Cursor::new(bytes)), at: 0 };
            assert!(header.sizes().is_err(), "{bytes:?}");
        }
    }
}
