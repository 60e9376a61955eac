//! The one input of a thread: its name, its text, and errors with their places in it.

use anyhow::{anyhow, bail};

use crate::options::input::Input;
use crate::works::whole_file::text_of;
use curtail_core::dialects::{Reading, detect_framing};
use curtail_core::places::{INVALID_UTF8, TextPlace};
use curtail_io::batch::InputOptions;
use curtail_io::{Source, too_long};
use curtail_memory::rolling::ThreadError;

/// The only input that is named, else standard input; `refusal` is the error if there are several.
pub(super) fn only_source(input: &Input, refusal: &'static str) -> anyhow::Result<Source> {
    let (mut sources, missing) = input.sources(None)?;
    if let Some(error) = missing.into_iter().next() {
        return Err(error.into());
    }
    match sources.pop() {
        Some(source) if sources.is_empty() => Ok(source),
        _ => bail!(refusal),
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
    /// All of the text of `source`, which is one transcript.
    pub(super) fn read(source: &Source, options: &InputOptions) -> anyhow::Result<Self> {
        let name = source.name.clone();
        let text = text_of(source, options)?;
        match options.max_record.filter(|&most| text.len() > most) {
            Some(most) => Err(too_long(&name, most).into()),
            None => Ok(Self { name, first_line: 1, text }),
        }
    }

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
        let framing = options.framing.unwrap_or_else(|| detect_framing(&self.text, options.messages_key.as_deref()));
        Ok(options.reading(framing)?)
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
