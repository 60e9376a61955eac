//! Finds the record batches of a file by reading only its message headers.
//!
//! Every length is compared with the length of the file before it is used, so that a short file cannot request much
//! memory.

use std::io::{Read as _, Seek as _};
use std::ops::Range;

use arrow_ipc::{CompressionType, FieldNode, MetadataVersion, RecordBatch, root_as_footer, root_as_message};
use arrow_schema::ArrowError;
use foldhash::HashMap;

use super::rows::Place;

/// The length in the header of a buffer that was not compressed.
const STORED: i64 = -1;
/// The largest ratio of a buffer's length to that of its compressed bytes. A block of Zstandard is at least four bytes
/// for 128 KiB.
const HIGHEST_RATIO: u64 = 1 << 16;

/// The batches of a file, and how they are compressed.
#[derive(Debug, Default)]
pub(super) struct Outline {
    /// The record batches, in order.
    pub(super) batches: Vec<Extent>,
    /// The compression of the first batch that has one.
    pub(super) compression: Option<CompressionType>,
    /// The number of bytes of each dictionary, by its id. The library keeps all dictionaries in memory.
    dictionaries: HashMap<i64, u64>,
    /// The sum over all dictionaries.
    in_dictionaries: u128,
}

/// A record batch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    /// The number of rows.
    pub(super) rows: usize,
    /// The offset in the file where it ends.
    pub(super) end: u64,
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

impl Outline {
    /// The batches that the footer of a file lists. It is an error if one of them has more than `most` bytes with the
    /// dictionaries.
    pub(super) fn of_file(place: &Place, most: u64) -> Result<Self, ArrowError> {
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
            let (offset, body) = (u64::try_from(block.offset()), u64::try_from(block.bodyLength()));
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
    pub(super) fn of_stream(place: &Place, most: u64) -> Result<Self, ArrowError> {
        let (mut outline, mut at) = (Self::default(), 0);
        while let Some(message) = read_message(place, at)? {
            at = message.end;
            outline.add(message, most)?;
        }
        Ok(outline)
    }

    fn add(&mut self, message: Message, most: u64) -> Result<(), ArrowError> {
        if let Some((rows, compression)) = message.batch {
            self.batches.push(Extent { rows, end: message.end });
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
