//! Why a thread could not be read or changed.

use std::fmt;

use super::thread::VERSION;
use crate::store;
use curtail_core::processors::ProcessorError;

/// Why a thread could not be read or changed. The stored thread is unchanged.
#[derive(Debug)]
pub enum ThreadError {
    /// The input cannot be read, with the offset of the byte.
    Input(usize, String),
    /// The input contains this many transcripts instead of one.
    SeveralTranscripts(usize),
    /// The thread is stored with interactions of another kind.
    Unit {
        /// The unit of the stored thread.
        kept: String,
        /// The unit of this run.
        asked: &'static str,
    },
    /// The input has another dialect than the thread.
    Dialect {
        /// The dialect of the stored thread.
        kept: String,
        /// The dialect of the input.
        new: &'static str,
    },
    /// The input begins after the next message of the thread.
    Gap {
        /// Number of messages in the thread.
        taken: usize,
        /// Number of the first message in the input.
        from: usize,
    },
    /// A message of the input, by its number from 1, differs from the one that the thread has.
    Changed(usize),
    /// The input takes back turns that the thread took before and may have summarized.
    TakenBack,
    /// The thread contains no message.
    Empty,
    /// The stored thread has another version.
    Version(u32),
    /// The stored thread is damaged.
    Stored(String),
    /// A summary could not be made.
    Summary(ProcessorError),
    /// The store cannot be read or written.
    Store(store::StoreError),
}

impl fmt::Display for ThreadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(_, what) => f.write_str(what),
            Self::SeveralTranscripts(count) => {
                write!(f, "{count} transcripts found; append one transcript at a time to a thread")
            }
            Self::Unit { kept, asked } => {
                write!(f, "the thread was stored with --unit {kept}, not {asked}; pass --unit {kept}")
            }
            Self::Dialect { kept, new } => {
                write!(
                    f,
                    "the thread is in dialect `{kept}`, the input in `{new}`; pass --dialect or use another thread"
                )
            }
            Self::Gap { taken, from } => {
                let (first, last) = (taken + 1, from - 1);
                write!(f, "the thread has {taken} messages, so --from {from} would skip messages {first} to {last}")
            }
            Self::Changed(number) => write!(
                f,
                "message {number} of the input is not the one that the thread took: the history has changed; pass the whole \
                 conversation with --rewind to start the thread over, or use another thread"
            ),
            Self::TakenBack => f.write_str(
                "the input takes back turns that the thread took before: the history has changed; pass the whole conversation \
                 with --rewind to start the thread over, or use another thread",
            ),
            Self::Empty => f.write_str("the thread contains no messages"),
            Self::Version(version) => {
                write!(f, "the thread was stored in version {version}; this program reads version {VERSION}")
            }
            Self::Stored(what) => write!(f, "the stored thread is damaged: {what}"),
            Self::Summary(error) => error.fmt(f),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ThreadError {}

impl From<store::StoreError> for ThreadError {
    fn from(error: store::StoreError) -> Self {
        Self::Store(error)
    }
}
