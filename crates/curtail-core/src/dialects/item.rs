//! What a dialect makes of an item.

use crate::json::{Text, Value};
use crate::transcript::{Message, Unknown};

/// How well an item fits a dialect. Where several fit an item, the best one reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// It does not fit.
    No,
    /// It fits, and so do other dialects.
    Possible,
    /// It fits this dialect and no other, unless it has the mark of one.
    Certain,
    /// It has a mark that only this dialect writes into items which fit others as well.
    Marked,
}

/// What an item is to a dialect.
#[derive(Debug)]
pub enum Item<'a> {
    /// A message.
    Message(Message<'a>),
    /// Known metadata: kept or dropped with the message before it.
    Metadata,
    /// Metadata with what the model reads beside the message before it: kept or dropped with that message, and counted.
    Attached(Attached<'a>),
    /// Metadata that repeats the message after it: kept or dropped with that message.
    Ahead,
    /// Metadata that is kept or dropped with the message that was read from another item, before or after it, by the index of
    /// that item.
    With(usize),
    /// Metadata that is always kept.
    Pinned,
    /// An item that the dialect does not recognize: kept or dropped with the message before it.
    Unknown(Unknown),
    /// A list of items inside the item; the bytes around the list are always kept.
    Nested(Vec<Value<'a>>),
}

/// What the model reads beside a message.
#[derive(Debug, Default)]
pub struct Attached<'a> {
    /// Texts.
    pub texts: Vec<Text<'a>>,
    /// Number of images and files.
    pub media: usize,
}

impl<'a> From<Vec<Text<'a>>> for Attached<'a> {
    fn from(texts: Vec<Text<'a>>) -> Self {
        Self { texts, media: 0 }
    }
}

impl<'a> Item<'a> {
    /// The message, if it is one.
    pub(super) fn into_message(self) -> Option<Message<'a>> {
        if let Self::Message(message) = self { Some(message) } else { None }
    }

    /// The same, to change it.
    pub(super) const fn message_mut(&mut self) -> Option<&mut Message<'a>> {
        if let Self::Message(message) = self { Some(message) } else { None }
    }
}
