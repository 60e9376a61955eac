//! A file that grows: its new whole lines, as they come.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often a file is looked at that did not grow.
const PAUSE: Duration = Duration::from_millis(200);

/// Reads a growing file, or standard input until it ends.
#[derive(Debug)]
pub struct Follow {
    source: FollowSource,
    /// Bytes of a line that is not whole yet.
    rest: Vec<u8>,
}

#[derive(Debug)]
enum FollowSource {
    File { path: PathBuf, read: u64 },
    Stdin,
}

/// What a look brought.
#[derive(Debug, PartialEq, Eq)]
pub enum Growth {
    /// Whole lines.
    Lines(Vec<u8>),
    /// The end of standard input; what stands after its last line break, if anything.
    End(Vec<u8>),
}

impl Follow {
    /// Follows the file at `path`, or standard input.
    #[must_use]
    pub fn new(path: Option<&Path>) -> Self {
        let source = path.map_or(FollowSource::Stdin, |path| FollowSource::File { path: path.to_owned(), read: 0 });
        Self { source, rest: Vec::new() }
    }

    /// Waits for whole lines that were not read yet.
    ///
    /// # Errors
    /// What the system says, and a file that became shorter: what it held is unknown then.
    pub fn wait(&mut self) -> io::Result<Growth> {
        loop {
            let before = self.rest.len();
            let ended = self.read()?;
            if let Some(end) = self.rest[before..].iter().rposition(|&byte| byte == b'\n') {
                let after = self.rest.split_off(before + end + 1);
                return Ok(Growth::Lines(std::mem::replace(&mut self.rest, after)));
            }
            if ended {
                return Ok(Growth::End(std::mem::take(&mut self.rest)));
            }
        }
    }

    /// Reads what is there; pauses if that is nothing. Whether it was the end.
    fn read(&mut self) -> io::Result<bool> {
        match &mut self.source {
            FollowSource::Stdin => {
                let mut chunk = [0; 1 << 13];
                let count = io::stdin().lock().read(&mut chunk)?;
                self.rest.extend_from_slice(&chunk[..count]);
                Ok(count == 0)
            }
            FollowSource::File { path, read } => {
                let grown = grown(path, read, &mut self.rest)?;
                if !grown {
                    std::thread::sleep(PAUSE);
                }
                Ok(false)
            }
        }
    }
}

/// Appends to `into` what the file at `path` has behind its first `read` bytes.
fn grown(path: &Path, read: &mut u64, into: &mut Vec<u8>) -> io::Result<bool> {
    let mut file = File::open(path)?;
    if file.metadata()?.len() < *read {
        return Err(io::Error::other("it became shorter; begin anew to follow what it holds now"));
    }
    file.seek(SeekFrom::Start(*read))?;
    let count = file.read_to_end(into)?;
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
        let mut follow = Follow::new(Some(file.path()));
        file.write_all(b"one\ntw")?;
        assert_eq!(follow.wait()?, Growth::Lines(b"one\n".to_vec()));
        file.write_all(b"o\nthree\nfo")?;
        assert_eq!(follow.wait()?, Growth::Lines(b"two\nthree\n".to_vec()));
        file.as_file().set_len(3)?;
        assert!(follow.wait().is_err_and(|error| error.to_string().contains("became shorter")));
        Ok(())
    }
}
