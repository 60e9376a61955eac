//! Finds pages of a Parquet column that claim too large a size, before the library allocates memory for it.
//!
//! A page begins with a header in Thrift's compact protocol: fields, each with its type and the difference of its id
//! from that of the previous field. Only the two sizes of the page are read; all other fields are skipped.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use parquet::file::metadata::ColumnChunkMetaData;

/// The largest depth of nested values in a header.
const MAX_DEPTH: usize = 16;

/// The number of bytes of a header that are buffered: statistics in it may be long.
const HEADER: usize = 4096;

/// The uncompressed size in bytes of the first page of `chunk` in `file` that claims more than `most` bytes; `None` if
/// there is none.
///
/// # Errors
/// A header cannot be read.
pub(super) fn oversized(file: impl Read + Seek, chunk: &ColumnChunkMetaData, most: u64) -> io::Result<Option<u64>> {
    let first = chunk.dictionary_page_offset().filter(|offset| *offset > 0).unwrap_or(chunk.data_page_offset());
    let first = first.min(chunk.data_page_offset());
    let start = unsigned(first)?;
    let end = start.saturating_add(unsigned(chunk.compressed_size())?);
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
                (2, 5) => uncompressed = Some(unsigned(self.zigzag()?)?),
                (3, 5) => compressed = Some(unsigned(self.zigzag()?)?),
                (_, kind) => self.skip_value(kind, MAX_DEPTH)?,
            }
        }
    }

    /// Skips a value of the type `kind`, in which at most `depth` values are nested.
    fn skip_value(&mut self, kind: u8, depth: usize) -> io::Result<()> {
        let depth = depth.checked_sub(1).ok_or(io::ErrorKind::InvalidData)?;
        match kind {
            // A boolean, whose type is its value.
            1 | 2 => Ok(()),
            // A byte.
            3 => self.skip(1),
            // An integer.
            4..=6 => self.varint().map(drop),
            // A floating-point number.
            7 => self.skip(8),
            // A text.
            8 => {
                let len = self.varint()?;
                self.skip(len)
            }
            // A list or a set.
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
            // A struct.
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

    fn skip(&mut self, count: u64) -> io::Result<()> {
        let distance = i64::try_from(count).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        self.at = self.at.checked_add(count).ok_or(io::ErrorKind::InvalidData)?;
        self.bytes.seek_relative(distance)
    }
}

/// A number that must not be negative.
fn unsigned(number: i64) -> io::Result<u64> {
    u64::try_from(number).map_err(|_| io::ErrorKind::InvalidData.into())
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
