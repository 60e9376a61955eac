//! The one input of a thread: its name, its text, and errors with their places in it.

use std::io::Read;
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};

use crate::options::files::is_standard;
use crate::options::input::Input;
use curtail_core::dialects::{Reading, detect_framing};
use curtail_core::error::{INVALID_UTF8, TextPlace};
use curtail_io::batch::InputOptions;
use curtail_memory::rolling::ThreadError;

/// Where the input is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct InputSource<'i> {
    /// The file; `None` for standard input.
    pub(super) path: Option<&'i Path>,
    /// The name that `--stdin-filename` gives to standard input.
    stdin_name: Option<&'i str>,
}

impl<'i> InputSource<'i> {
    /// The only input that is named, else standard input; `refusal` is the error if several are named.
    pub(super) fn of(input: &'i Input, refusal: &'static str) -> anyhow::Result<Self> {
        let path = match input.paths.as_slice() {
            [] => None,
            [path] => Some(path.as_path()).filter(|path| !is_standard(path)),
            _ => bail!(refusal),
        };
        Ok(Self { path, stdin_name: input.stdin_filename.as_deref() })
    }

    /// Its name in errors.
    pub(super) fn name(self) -> String {
        let stdin_name = || self.stdin_name.unwrap_or("stdin").to_owned();
        self.path.map_or_else(stdin_name, |path| path.display().to_string())
    }

    /// Reads all of it; an input with more than `limit` bytes is an error.
    pub(super) fn read(self, limit: Option<usize>) -> anyhow::Result<InputText> {
        let name = self.name();
        let opened = match self.path {
            Some(path) => std::fs::File::open(path).map(|file| Box::new(file) as Box<dyn Read>),
            None => curtail_io::input().map(|stdin| Box::new(stdin) as Box<dyn Read>),
        };
        let source = opened.with_context(|| name.clone())?;
        let mut bytes = Vec::new();
        let bound = limit.map_or(u64::MAX, |limit| limit as u64 + 1);
        source.take(bound).read_to_end(&mut bytes).with_context(|| name.clone())?;
        match limit.filter(|&limit| bytes.len() > limit) {
            Some(limit) => Err(curtail_io::too_long(&name, limit).into()),
            None => InputText::from_bytes(&name, bytes, 1),
        }
    }
}

/// A text of the input.
#[derive(Debug, Clone)]
pub(super) struct InputText {
    name: String,
    /// The number of its first line in the input.
    first_line: usize,
    pub(super) text: String,
}

impl InputText {
    /// The text in `bytes`, whose first line has the number `first_line` in the input `name`.
    pub(super) fn from_bytes(name: &str, bytes: Vec<u8>, first_line: usize) -> anyhow::Result<Self> {
        let name = name.to_owned();
        let text = String::from_utf8(bytes).map_err(|error| {
            let TextPlace { line, column } =
                TextPlace::locate(error.as_bytes(), error.utf8_error().valid_up_to(), first_line);
            anyhow!("{name}:{line}:{column}: {INVALID_UTF8}; convert the input to UTF-8")
        })?;
        Ok(Self { name, first_line, text })
    }

    /// How to read it: as `options` say, else as detected.
    pub(super) fn reading(&self, options: &InputOptions) -> anyhow::Result<Reading> {
        let detected = || detect_framing(&self.text, options.messages_key.as_deref());
        Ok(options.reading(options.framing.unwrap_or_else(detected))?)
    }

    /// The error with the name of the input, and its place there if it has one.
    pub(super) fn at_place(&self, error: ThreadError) -> anyhow::Error {
        let name = &self.name;
        match error {
            ThreadError::Input(offset, reason) => {
                let TextPlace { line, column } = TextPlace::locate(self.text.as_bytes(), offset, self.first_line);
                anyhow!("{name}:{line}:{column}: {reason}")
            }
            ThreadError::Store(error) => anyhow!(error),
            error => anyhow!("{name}: {error}"),
        }
    }

    /// The number of the line after the text, which ends with a line break.
    pub(super) fn next_line(&self) -> usize {
        self.first_line + self.text.matches('\n').count()
    }

    /// Continues the text with `other`.
    pub(super) fn push(&mut self, other: &Self) {
        self.text.push_str(&other.text);
    }
}
