//! What became of a record, as JavaScript reads it.

use curtail_bindings::{Failure, Item, Outcome, Pieces};
use napi::bindgen_prelude::Either;
use napi_derive::napi;

use crate::record::{Record, Sent};

/// A message that is kept, by its index, or a new one, as JSON.
type Message = Either<u32, String>;

/// The answer to a record. Without any member, the record is unchanged.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct Answer {
    /// The new text, or the new bytes.
    pub text: Option<Sent>,
    /// The new value, as JSON.
    pub value: Option<String>,
    /// The messages of a value that is a list of them.
    pub messages: Option<Vec<Message>>,
    /// The members of a value that is an object.
    pub members: Option<Vec<Member>>,
    /// The windows of a split.
    pub windows: Option<Vec<Answer>>,
    /// Why there is no answer.
    pub failed: Option<Failed>,
    /// What there is to say about the record.
    pub notes: Option<Vec<Note>>,
}

/// A member of an object. With a key alone, it is kept.
#[napi(object, object_from_js = false)]
pub struct Member {
    /// Its key.
    pub key: String,
    /// Its messages.
    pub messages: Option<Vec<Message>>,
    /// Its new value, as JSON.
    pub value: Option<String>,
}

/// Why a record was not cut.
#[napi(object, object_from_js = false)]
pub struct Failed {
    /// What is wrong.
    pub reason: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, if the failure has a place.
    pub column: Option<u32>,
}

/// Something to say about a record.
#[napi(object, object_from_js = false)]
pub struct Note {
    /// The line, from 1.
    pub line: u32,
    /// What there is to say.
    pub note: String,
}

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        let (line, column) = failure.place.map(|place| (number(place.line), number(place.column))).unzip();
        Self { reason: failure.reason, line: line.unwrap_or(1), column }
    }
}

impl Answer {
    /// The answer to `record`.
    pub(crate) fn new(record: &Record, result: curtail_bindings::CutResult) -> Self {
        match record.text().and(result) {
            Err(failure) => Self { failed: Some(failure.into()), ..Self::default() },
            Ok((outcome, said)) => {
                let notes = said.into_iter().map(|(place, note)| Note { line: number(place.line), note });
                let notes: Vec<Note> = notes.collect();
                Self { notes: (!notes.is_empty()).then_some(notes), ..Self::of(record, outcome) }
            }
        }
    }

    fn of(record: &Record, outcome: Outcome) -> Self {
        let none = Self::default();
        match outcome {
            Outcome::Same => none,
            Outcome::Text(text) if record.is_bytes => Self { text: Some(Either::B(text.into_bytes().into())), ..none },
            Outcome::Text(text) => Self { text: Some(Either::A(text)), ..none },
            Outcome::Windows(windows) => {
                let windows = windows.into_iter().map(|window| Self::of(record, window)).collect();
                Self { windows: Some(windows), ..none }
            }
            Outcome::Pieces(Pieces::Json(value)) => Self { value: Some(value), ..none },
            Outcome::Pieces(Pieces::List(items)) => Self { messages: Some(messages(items)), ..none },
            Outcome::Pieces(Pieces::Object(members)) => {
                Self { members: Some(members.into_iter().map(Member::new).collect()), ..none }
            }
        }
    }
}

impl Member {
    fn new((key, member): (String, curtail_bindings::Member)) -> Self {
        let kept = Self { key, messages: None, value: None };
        match member {
            curtail_bindings::Member::Kept(_) => kept,
            curtail_bindings::Member::List(items) => Self { messages: Some(messages(items)), ..kept },
            curtail_bindings::Member::New(value) => Self { value: Some(value), ..kept },
        }
    }
}

fn messages(items: Vec<Item>) -> Vec<Message> {
    let messages = items.into_iter().map(|item| match item {
        Item::Kept(index) => Either::A(number(index)),
        Item::New(text) => Either::B(text),
    });
    messages.collect()
}

/// A number as JavaScript has it. No text of JavaScript is longer than this type can count.
pub(crate) fn number(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
