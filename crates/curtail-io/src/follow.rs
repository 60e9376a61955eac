//! A growing file, whose new complete lines are read.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The pause between two checks of a file that has not grown.
const PAUSE: Duration = Duration::from_millis(200);

/// Reads a growing file, or standard input until it ends.
#[derive(Debug)]
pub struct Follow {
    source: FollowSource,
    /// The bytes after the last complete line.
    rest: Vec<u8>,
    /// The longest line in bytes; `None` for no limit.
    limit: Option<usize>,
}

#[derive(Debug)]
enum FollowSource {
    File { path: PathBuf, read: u64 },
    Stdin,
}

/// New input.
#[derive(Debug, PartialEq, Eq)]
pub enum Growth {
    /// Complete lines.
    Lines(Vec<u8>),
    /// The end of standard input, with any bytes after its last line break.
    End(Vec<u8>),
}

impl Follow {
    /// Follows the file at `path`; standard input if `None`. A line may have up to `limit` bytes; `None` for no limit.
    pub fn new(path: Option<&Path>, limit: Option<usize>) -> Self {
        let source = path.map_or(FollowSource::Stdin, |path| FollowSource::File { path: path.to_owned(), read: 0 });
        Self { source, rest: Vec::new(), limit }
    }

    /// Waits for new complete lines.
    ///
    /// # Errors
    /// The file cannot be read, it became shorter (so its content may have changed), or a line is too long.
    pub fn wait(&mut self) -> io::Result<Growth> {
        loop {
            let before = self.rest.len();
            let ended = self.read_available()?;
            if let Some(end) = self.rest[before..].iter().rposition(|&byte| byte == b'\n') {
                let after = self.rest.split_off(before + end + 1);
                return Ok(Growth::Lines(std::mem::replace(&mut self.rest, after)));
            }
            if self.limit.is_some_and(|limit| self.rest.len() > limit) {
                return Err(io::Error::other("a line is longer than --max-record; pass a larger one, or 0 for none"));
            }
            if ended {
                return Ok(Growth::End(std::mem::take(&mut self.rest)));
            }
        }
    }

    /// Reads the available bytes and pauses if there are none; returns whether the input has ended.
    fn read_available(&mut self) -> io::Result<bool> {
        match &mut self.source {
            FollowSource::Stdin => {
                let mut chunk = [0; 1 << 13];
                let count = io::stdin().lock().read(&mut chunk)?;
                self.rest.extend_from_slice(&chunk[..count]);
                Ok(count == 0)
            }
            FollowSource::File { path, read } => {
                let most = self.limit.map_or(u64::MAX, |limit| limit as u64 + 1);
                let grown = read_new(path, read, most, &mut self.rest)?;
                if !grown {
                    std::thread::sleep(PAUSE);
                }
                Ok(false)
            }
        }
    }
}

/// Appends the bytes after the first `read` bytes of the file to `into`, `most` at most.
fn read_new(path: &Path, read: &mut u64, most: u64, into: &mut Vec<u8>) -> io::Result<bool> {
    let mut file = File::open(path)?;
    if file.metadata()?.len() < *read {
        return Err(io::Error::other("the file became shorter; start again to follow its new content"));
    }
    file.seek(SeekFrom::Start(*read))?;
    let count = file.take(most).read_to_end(into)?;
    *read += count as u64;
    Ok(count > 0)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::{Follow, Growth};

    #[test]
    fn lines_come_whole() -> std::io::Result<()> {
        let mut file = tempfile::NamedTempFile::new()?;
        let mut follow = Follow::new(Some(file.path()), Some(8));
        file.write_all(b"one\ntw")?;
        assert_eq!(follow.wait()?, Growth::Lines(b"one\n".to_vec()));
        file.write_all(b"o\nthree\nfo")?;
        assert_eq!(follow.wait()?, Growth::Lines(b"two\nthree\n".to_vec()));
        file.write_all(b"urteen letters and more")?;
        assert!(follow.wait().is_err_and(|error| error.to_string().contains("--max-record")));
        file.as_file().set_len(3)?;
        assert!(follow.wait().is_err_and(|error| error.to_string().contains("became shorter")));
        Ok(())
    }
}
