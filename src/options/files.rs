//! The files that flags name.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};

use curtail_core::small::{SMALL, read_small_text};
use curtail_io::{FileError, Source};

/// The files that a run reads besides its inputs, which none of its outputs may replace.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reads {
    /// Files whose content affects the output.
    pub(crate) content: Vec<PathBuf>,
    /// Other files: keys, certificates, and the configuration, whose values are among the options.
    pub(crate) other: Vec<PathBuf>,
}

impl Reads {
    /// Files whose content affects the output.
    pub(crate) fn of_content(files: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { content: files.into_iter().collect(), other: Vec::new() }
    }

    /// All files.
    pub(crate) fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.content.iter().chain(&self.other)
    }
}

impl Extend<Reads> for Reads {
    fn extend<I: IntoIterator<Item = Reads>>(&mut self, reads: I) {
        for Reads { content, other } in reads {
            self.content.extend(content);
            self.other.extend(other);
        }
    }
}

/// The text of a file that a flag names.
pub(crate) fn read_text(path: &Path) -> Result<String, FileError> {
    let read = File::open(path).and_then(|file| read_small_text(file, SMALL));
    read.map(without_mark).map_err(|error| FileError::system(path.display().to_string(), &error))
}

/// `text` without the mark with which programs on Windows begin a text.
pub(crate) fn without_mark(mut text: String) -> String {
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    text
}

/// The input `file`, or standard input, which messages call `stdin_name`.
pub(crate) fn source_of(file: &Path, stdin_name: Option<&str>) -> Source {
    match is_standard(file) {
        true => Source::stdin(stdin_name),
        false => Source::file(file.to_owned(), file.to_owned()),
    }
}

/// Whether the user named standard input or output instead of a file.
pub(crate) fn is_standard(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// The parser of a file or directory to write that standard output cannot replace.
pub(crate) fn written_path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(refuse_standard)
}

/// Refuses `-` as a path.
pub(crate) fn refuse_standard<P: AsRef<OsStr>>(path: P) -> Result<P, &'static str> {
    if path.as_ref() == "-" {
        Err("must be a path, but `-` means standard output; write `./-` for a file of that name")
    } else {
        Ok(path)
    }
}
