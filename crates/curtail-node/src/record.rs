//! A record as Node has it: text, bytes, or the JSON of a value.

use curtail_bindings::{Failure, Input, Parts, text_of};
use napi::bindgen_prelude::{Buffer, Either};

/// A text, or bytes, as JavaScript passes it.
pub(crate) type Sent = Either<String, Buffer>;

/// A record, with a text of its own, so that a thread can read it while JavaScript runs.
pub(crate) struct Record {
    text: Result<String, Failure>,
    /// Where its parts are, if it is a value.
    parts: Option<Parts>,
    pub(crate) is_bytes: bool,
}

impl Record {
    /// The record `sent`, which is the JSON of a value, or itself.
    pub(crate) fn new(sent: Sent, is_value: bool) -> Self {
        let is_bytes = matches!(sent, Either::B(_));
        let text = match sent {
            Either::A(text) => Ok(text),
            Either::B(bytes) => text_of(&bytes).map(str::to_owned),
        };
        let parts = text.as_ref().ok().filter(|_| is_value).map(|text| Parts::of(text));
        Self { text, parts, is_bytes }
    }

    /// Its text.
    pub(crate) fn text(&self) -> Result<&str, Failure> {
        self.text.as_deref().map_err(Failure::clone)
    }

    /// What is cut; nothing if it has no text.
    pub(crate) fn input(&self) -> Option<Input<'_>> {
        let text = self.text().ok().filter(|text| !text.trim_ascii().is_empty())?;
        Some(Input { text, parts: self.parts.as_ref() })
    }
}

/// The exception for a failure of all records.
pub(crate) fn error(failure: Failure) -> napi::Error {
    napi::Error::from_reason(failure.reason)
}
