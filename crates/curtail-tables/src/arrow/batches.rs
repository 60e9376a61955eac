//! Finds the record batches of an Arrow file by its message headers, before the library allocates memory for the sizes that they
//! claim. Every length is compared with the length of the file before it is used, so that a short file cannot request much memory.

use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

use arrow_ipc::{Buffer, CompressionType, MetadataVersion, RecordBatch, root_as_footer, root_as_message};
use arrow_schema::ArrowError;
use foldhash::HashMap;

use crate::Extent;
use crate::place::Place;

// The parts of a file that may be damaged.
const MESSAGE: &str = "a message";
const BATCH: &str = "a record batch";

/// The batches of a file, and how they are compressed.
#[derive(Debug, Default)]
pub(super) struct Batches {
    /// The record batches, in order.
    pub(super) all: Vec<Extent>,
    /// The compression of the first batch that has one.
    pub(super) compression: Option<CompressionType>,
    /// The number of bytes of each dictionary, by its id. The library keeps all dictionaries in memory.
    dictionaries: HashMap<i64, u64>,
    /// The sum over all dictionaries.
    in_dictionaries: u128,
}

impl Batches {
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
        let mut batches = Self::default();
        for block in footer.dictionaries().iter().flatten().chain(footer.recordBatches().iter().flatten()) {
            let lengths = [block.offset(), block.metaDataLength().into(), block.bodyLength()].map(u64::try_from);
            let [Ok(offset), Ok(head), Ok(body)] = lengths else { return Err(damaged(BATCH)) };
            let end = offset.checked_add(head).and_then(|at| at.checked_add(body));
            if end.is_none_or(|end| end > place.len) {
                return Err(damaged(BATCH));
            }
            let message = Message::read(&mut place.at(offset))?;
            batches.add(message.ok_or_else(|| damaged(BATCH))?, most)?;
        }
        Ok(batches)
    }

    /// The batches of a stream. It is an error if one of them has more than `most` bytes with the dictionaries.
    pub(super) fn of_stream(place: &Place, most: u64) -> Result<Self, ArrowError> {
        let mut batches = Self::default();
        let mut from = place.at(0);
        while let Some(message) = Message::read(&mut from)? {
            batches.add(message, most)?;
        }
        Ok(batches)
    }

    fn add(&mut self, message: Message, most: u64) -> Result<(), ArrowError> {
        let batch = match message {
            Message::Schema => 0,
            Message::Dictionary { id, is_delta, held } => {
                let known = self.dictionaries.entry(id).or_default();
                let before = if is_delta { *known } else { std::mem::take(known) };
                *known = known.saturating_add(held);
                self.in_dictionaries = self.in_dictionaries + u128::from(*known) - u128::from(before);
                0
            }
            Message::Batch { extent, compression, held } => {
                self.all.push(extent);
                self.compression = self.compression.or(compression);
                held
            }
        };
        let held = self.in_dictionaries + u128::from(batch);
        match held > u128::from(most) {
            true => Err(ArrowError::IpcError(format!(
                "a record batch holds {held} bytes with its dictionaries, more than {most}, the limit of --max-record; pass a larger one, or 0 for none"
            ))),
            false => Ok(()),
        }
    }
}

/// A message of a file. What it `held` is the number of its bytes after decompression.
#[derive(Debug, Clone, Copy)]
enum Message {
    /// A schema, or anything else that holds no values.
    Schema,
    /// A dictionary, which may be appended to an earlier one.
    Dictionary { id: i64, is_delta: bool, held: u64 },
    /// A record batch.
    Batch { extent: Extent, compression: Option<CompressionType>, held: u64 },
}

impl Message {
    /// Reads the header of the message at the position of `from`, and moves `from` to its end; `None` at the end of the stream.
    fn read(from: &mut Place) -> Result<Option<Self>, ArrowError> {
        if from.stream_position()? >= from.len {
            return Ok(None);
        }
        let mut word = [0; 4];
        from.read_exact(&mut word)?;
        if word == [0xff; 4] {
            from.read_exact(&mut word)?;
        }
        let length = usize::try_from(i32::from_le_bytes(word)).map_err(|_| damaged(MESSAGE))?;
        if length == 0 {
            return Ok(None);
        }
        let start = from.stream_position()? + length as u64;
        if start > from.len {
            return Err(damaged(MESSAGE));
        }
        let mut bytes = vec![0; length];
        from.read_exact(&mut bytes)?;
        let message = root_as_message(&bytes).map_err(|error| ArrowError::ParseError(format!("a message: {error}")))?;
        check_version(message.version())?;
        let body = u64::try_from(message.bodyLength()).map_err(|_| damaged(MESSAGE))?;
        let end = start.checked_add(body).filter(|end| *end <= from.len).ok_or_else(|| damaged(BATCH))?;
        from.seek(SeekFrom::Start(end))?;
        if let Some(dictionary) = message.header_as_dictionary_batch() {
            let held = dictionary.data().map_or(Ok(0), |batch| checked_bytes(from, &(start..end), batch))?;
            return Ok(Some(Self::Dictionary { id: dictionary.id(), is_delta: dictionary.isDelta(), held }));
        }
        let Some(batch) = message.header_as_record_batch() else { return Ok(Some(Self::Schema)) };
        let held = checked_bytes(from, &(start..end), batch)?;
        let rows = usize::try_from(batch.length()).map_err(|_| damaged(BATCH))?;
        let compression = batch.compression().map(|compression| compression.codec());
        Ok(Some(Self::Batch { extent: Extent { rows, end }, compression, held }))
    }
}

/// Checks what the library relies on: that no column of a batch has more nulls than values, and [`checked_length`]. Returns the sum
/// of these lengths.
fn checked_bytes(place: &Place, body: &Range<u64>, batch: RecordBatch<'_>) -> Result<u64, ArrowError> {
    if !batch.nodes().iter().flatten().all(|node| (0..=node.length()).contains(&node.null_count())) {
        return Err(damaged(BATCH));
    }
    let is_compressed = batch.compression().is_some();
    batch
        .buffers()
        .iter()
        .flatten()
        .try_fold(0_u64, |held, buffer| Ok(held.saturating_add(checked_length(place, body, buffer, is_compressed)?)))
}

/// Checks that a buffer is in the `body` of its message, and that the length that it claims to have after decompression is possible.
/// Returns this length.
fn checked_length(place: &Place, body: &Range<u64>, buffer: &Buffer, is_compressed: bool) -> Result<u64, ArrowError> {
    /// The number of bytes in which a compressed buffer claims its length.
    const PREFIX: usize = 8;
    /// The claim of a buffer that was not compressed.
    const STORED: i64 = -1;
    /// The largest ratio of a buffer's length to that of its compressed bytes. A block of Zstandard is at least four bytes
    /// for 128 KiB.
    const HIGHEST_RATIO: u64 = 1 << 16;
    let start = u64::try_from(buffer.offset()).ok().and_then(|offset| body.start.checked_add(offset));
    let length = u64::try_from(buffer.length()).ok();
    let end = start.zip(length).and_then(|(start, length)| start.checked_add(length));
    let (Some(start), Some(length), true) = (start, length, end.is_some_and(|end| end <= body.end)) else {
        return Err(damaged(BATCH));
    };
    if length == 0 || !is_compressed {
        return Ok(length);
    }
    if length < PREFIX as u64 {
        return Err(damaged(BATCH));
    }
    let mut claimed = [0; PREFIX];
    place.at(start).read_exact(&mut claimed)?;
    match i64::from_le_bytes(claimed) {
        STORED => Ok(length),
        claimed => {
            let claimed = u64::try_from(claimed).ok().filter(|claimed| claimed / HIGHEST_RATIO <= length);
            claimed.ok_or_else(|| damaged(BATCH))
        }
    }
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

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int64Array};
    use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};

    use super::*;

    /// A stream with one batch, which is compressed: 1,000 numbers.
    fn stream() -> Vec<u8> {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![7; 1000]));
        let batch = arrow_array::RecordBatch::try_from_iter([("number", numbers)]).unwrap();
        let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::ZSTD)).unwrap();
        let mut writer = StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        writer.into_inner().unwrap()
    }

    fn place(stream: &[u8]) -> Place {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(stream).unwrap();
        Place::new(file).unwrap()
    }

    #[test]
    fn a_compressed_buffer_without_room_for_its_length_is_damaged() {
        let mut stream = stream();
        let mut from = place(&stream);
        assert_eq!(Batches::of_stream(&from, u64::MAX).unwrap().all[0].rows, 1000);
        assert!(matches!(Message::read(&mut from), Ok(Some(Message::Schema))));
        let batch = &stream[usize::try_from(from.stream_position().unwrap()).unwrap() + 8..];
        let batch = root_as_message(batch).unwrap().header_as_record_batch().unwrap();
        let numbers = *batch.buffers().unwrap().get(1);
        let at = stream.windows(16).position(|bytes| bytes == numbers.0).unwrap() + 8;
        for length in [1_i64, 7] {
            stream[at..at + 8].copy_from_slice(&length.to_le_bytes());
            let error = Batches::of_stream(&place(&stream), u64::MAX).unwrap_err().to_string();
            assert!(error.ends_with("a record batch is damaged, or the file was cut off"), "{length}: {error}");
        }
    }
}
