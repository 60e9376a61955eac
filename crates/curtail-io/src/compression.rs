//! Compressed streams: detected by their first bytes when read, chosen by the file's name when written.

use std::ffi::OsStr;
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;

/// How a stream is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// Not compressed.
    Plain,
    /// gzip, any number of members (RFC 1952).
    Gzip,
    /// Zstandard, any number of frames (RFC 8878).
    Zstd,
}

/// How streams of the supported compressions begin.
const SUPPORTED: [(&[u8], Packing); 3] = [
    (b"\x1f\x8b", Packing::Gzip),
    (b"\x28\xb5\x2f\xfd", Packing::Zstd),
    // A frame that is skipped, with which `pzstd` begins.
    (b"\x50\x2a\x4d\x18", Packing::Zstd),
];

/// How streams of other compressions begin, with the name of each, and the command that decompresses it.
const UNSUPPORTED: [(&[u8], &str, &str); 4] = [
    (b"BZh", "bzip2", "bzip2 -dc"),
    (b"\xfd7zX", "xz", "xz -dc"),
    (b"\x04\x22\x4d\x18", "lz4", "lz4 -dc"),
    (b"PK\x03\x04", "zip", "unzip -p"),
];

/// The longest window that zstd has, as a power of two: `zstd --long=31` writes data sets with it.
const LONGEST_WINDOW: u32 = if cfg!(target_pointer_width = "64") { 31 } else { 30 };

impl Packing {
    /// The compression of an output with this name: `.gz`, `.zst`, or none. Upper and lower case are the same.
    pub fn of_name(path: &Path) -> Self {
        match path.extension() {
            Some(extension) if extension.eq_ignore_ascii_case("gz") => Self::Gzip,
            Some(extension) if extension.eq_ignore_ascii_case("zst") => Self::Zstd,
            _ => Self::Plain,
        }
    }

    /// The path of a file with this compression that is at `path` without one.
    #[must_use]
    pub fn name_of(self, path: &Path) -> PathBuf {
        let ending = match self {
            Self::Plain => "",
            Self::Gzip => ".gz",
            Self::Zstd => ".zst",
        };
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    }

    /// The name of the file at `path`, without the ending of its compression.
    pub fn bare_name(path: &Path) -> Option<&OsStr> {
        if Self::of_name(path) == Self::Plain { path.file_name() } else { path.file_stem() }
    }

    /// The compression of a stream that begins with `head`.
    pub fn of_head(head: &[u8]) -> Self {
        let found = SUPPORTED.iter().find(|(magic, _)| head.starts_with(magic));
        found.map_or(Self::Plain, |(_, packing)| *packing)
    }

    /// Whether bytes that begin with `head` are compressed, in a way that is supported or not.
    pub fn is_packed(head: &[u8]) -> bool {
        Self::of_head(head) != Self::Plain || Self::unsupported(head).is_some()
    }

    /// Whether a stream that begins with `head`, which is too short to decide, may be compressed.
    pub(super) fn may_be_packed(head: &[u8]) -> bool {
        let magics = SUPPORTED.iter().map(|(magic, _)| magic).chain(UNSUPPORTED.iter().map(|(magic, ..)| magic));
        magics.into_iter().any(|magic| head.len() < magic.len() && magic.starts_with(head))
    }

    /// If a stream that begins with `head` is compressed in a way that is not supported: the name of the compression,
    /// and the command that decompresses it.
    pub(super) fn unsupported(head: &[u8]) -> Option<(&'static str, &'static str)> {
        let found = UNSUPPORTED.iter().find(|(magic, ..)| head.starts_with(magic));
        found.map(|(_, name, command)| (*name, *command))
    }

    /// Its name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// Decompresses `stream`, which is read as it is asked for.
    ///
    /// # Errors
    /// The decompressor cannot be made.
    pub fn unpack<'s>(self, stream: impl BufRead + Send + 's) -> io::Result<Box<dyn Read + Send + 's>> {
        Ok(match self {
            Self::Plain => Box::new(stream),
            Self::Gzip => Box::new(Members::Member(GzDecoder::new(stream))),
            Self::Zstd => {
                let mut decoder = zstd::Decoder::with_buffer(stream)?;
                decoder.window_log_max(LONGEST_WINDOW)?;
                Box::new(decoder)
            }
        })
    }

    /// A writer that compresses into `out`.
    pub(super) fn pack<W: Write>(self, out: W) -> io::Result<Packer<W>> {
        Ok(match self {
            Self::Plain => Packer::Plain(out),
            Self::Gzip => Packer::Gzip(flate2::write::GzEncoder::new(out, flate2::Compression::default())),
            Self::Zstd => Packer::Zstd(zstd::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?),
        })
    }
}

/// The members of a gzip stream, one after another. Zero bytes after a member are padding, which block devices and
/// tapes add.
enum Members<R> {
    Member(GzDecoder<R>),
    /// After a member.
    Between(R),
    Ended,
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            *self = match std::mem::replace(self, Self::Ended) {
                Self::Member(mut member) => match member.read(into) {
                    Ok(0) if !into.is_empty() => Self::Between(member.into_inner()),
                    read => {
                        *self = Self::Member(member);
                        return read;
                    }
                },
                Self::Between(mut rest) => match rest.fill_buf().map(|bytes| (bytes.len(), zeros(bytes))) {
                    Ok((0, _)) => return Ok(0),
                    Ok((len, padding)) => {
                        rest.consume(padding);
                        if padding < len { Self::Member(GzDecoder::new(rest)) } else { Self::Between(rest) }
                    }
                    Err(error) => {
                        *self = Self::Between(rest);
                        return Err(error);
                    }
                },
                Self::Ended => return Ok(0),
            }
        }
    }
}

/// The number of zero bytes at the beginning.
fn zeros(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| **byte == 0).count()
}

/// A stream that compresses what is written to it.
pub(super) enum Packer<W: Write> {
    Plain(W),
    Gzip(flate2::write::GzEncoder<W>),
    Zstd(zstd::Encoder<'static, W>),
}

impl<W: Write> Packer<W> {
    /// Writes the buffered rest and returns the underlying stream.
    pub(super) fn finish(self) -> io::Result<W> {
        match self {
            Self::Plain(out) => Ok(out),
            Self::Gzip(out) => out.finish(),
            Self::Zstd(out) => out.finish(),
        }
    }
}

impl<W: Write> Write for Packer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Gzip(out) => out.write(bytes),
            Self::Zstd(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Gzip(out) => out.flush(),
            Self::Zstd(out) => out.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, BufReader, Read, Write as _};

    use super::Packing;
    use crate::blocks::head;

    /// A pipe that gives one byte at a time, and stalls before each.
    struct Dripping<'d> {
        rest: &'d [u8],
        stalls: bool,
    }

    impl Read for Dripping<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.stalls = !self.stalls;
            let most = into.len().min(1);
            if self.stalls { Err(io::ErrorKind::WouldBlock.into()) } else { self.rest.read(&mut into[..most]) }
        }
    }

    #[test]
    fn a_pipe_that_stalls_before_each_byte_loses_nothing() -> io::Result<()> {
        for packing in [Packing::Gzip, Packing::Zstd] {
            let mut stream = Vec::new();
            for text in ["one ", "two"] {
                let mut packer = packing.pack(&mut stream)?;
                packer.write_all(text.as_bytes())?;
                packer.finish()?;
            }
            let beginning = head(&mut Dripping { rest: &stream, stalls: false }, None)?;
            // Two bytes are enough to detect gzip.
            assert_eq!(Packing::of_head(&beginning), packing);
            assert!(stream.starts_with(&beginning), "{beginning:?}");
            let mut unpacked = packing.unpack(BufReader::new(Dripping { rest: &stream, stalls: false }))?;
            let mut text = Vec::new();
            while let Err(error) = unpacked.read_to_end(&mut text) {
                assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
            }
            assert_eq!(text, b"one two");
        }
        Ok(())
    }

    fn read(stream: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        Packing::of_head(stream).unpack(stream)?.read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn what_other_programs_compress_is_read() -> io::Result<()> {
        // A frame with a window of 2^28 bytes, and a block that is stored.
        let long = b"\x28\xb5\x2f\xfd\0\x90\x21\0\0text";
        assert_eq!(read(long)?, "text");
        // `pzstd` begins with a frame that is skipped.
        let skipped = [&b"\x50\x2a\x4d\x18\x04\0\0\0size"[..], long].concat();
        assert_eq!(read(&[&*skipped, &*skipped].concat())?, "texttext");
        Ok(())
    }
}
