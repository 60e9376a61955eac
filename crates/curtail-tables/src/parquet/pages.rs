//! The sizes that the pages of a column claim, read before the library makes room for them.
//!
//! A page begins with a header in Thrift's compact protocol: fields, each with its type and its distance from the field before.
//! Of all fields, only the type of the page and its two sizes are read.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use parquet::file::metadata::ColumnChunkMetaData;

/// Structs in a header that are inside one another, at most.
const DEPTH: usize = 16;

/// Buffered bytes of a header: statistics in it may be long.
const HEADER: usize = 4096;

/// The first page of `chunk` in `file` that claims more than `most` bytes: the bytes that it claims.
///
/// # Errors
/// A header cannot be read.
pub(super) fn oversized(file: impl Read + Seek, chunk: &ColumnChunkMetaData, most: u64) -> io::Result<Option<u64>> {
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
        let (mut uncompressed, mut compressed, mut field) = (None, None, 0);
        loop {
            let byte = self.byte()?;
            if byte == 0 {
                let sizes = uncompressed.zip(compressed);
                return sizes.ok_or_else(|| io::ErrorKind::InvalidData.into());
            }
            field = match byte >> 4 {
                0 => self.zigzag()?,
                distance => field + i64::from(distance),
            };
            match (field, byte & 15) {
                (2, 5) => uncompressed = Some(self.size()?),
                (3, 5) => compressed = Some(self.size()?),
                (_, kind) => self.pass(kind, DEPTH)?,
            }
        }
    }

    /// Skips a value of this type.
    fn pass(&mut self, kind: u8, depth: usize) -> io::Result<()> {
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
                    // In a list, a truth value is a byte.
                    1..=3 => self.skip(count),
                    7 => self.skip(count.saturating_mul(8)),
                    // All others begin with a byte, so a wrong number ends with the file.
                    kind => (0..count).try_for_each(|_| self.pass(kind, depth)),
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
                self.pass(byte & 15, depth)?;
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

    /// A size, which is not negative.
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
