//! Why a thread could not be read or changed.

use thiserror::Error;

use super::VERSION;
use crate::rolling::intake::ChangedMessage;
use crate::store::StoreError;
use curtail_core::processors::ProcessorError;

/// Why a thread could not be read or changed. The stored thread is unchanged.
#[derive(Debug, Error)]
pub enum ThreadError {
    /// The input cannot be read, with the offset of the byte.
    #[error("{1}")]
    Input(usize, String),
    /// The input, or the thread with it, contains this many transcripts instead of one.
    #[error("{0} transcripts found, and a thread is one; append its messages, in a list or one per line")]
    SeveralTranscripts(usize),
    /// The thread is stored with interactions of another kind.
    #[error("the thread was stored with --unit {kept}, not {asked}; pass --unit {kept}")]
    Unit {
        /// The unit of the stored thread.
        kept: String,
        /// The unit of this run.
        asked: &'static str,
    },
    /// The input has another dialect than the thread.
    #[error("the thread is in dialect `{kept}`, the input in `{new}`; pass --dialect or use another thread")]
    Dialect {
        /// The dialect of the stored thread.
        kept: String,
        /// The dialect of the input.
        new: &'static str,
    },
    /// The input begins after the next message of the thread.
    #[error(
        "the thread has {taken} messages, so --from {from} would skip messages {} to {}", taken + 1, from - 1
    )]
    Gap {
        /// Number of messages in the thread.
        taken: usize,
        /// Number of the first message in the input.
        from: usize,
    },
    /// A message of the input, by its number from 1, differs from the one that the thread has.
    #[error(
        "message {0} of the input is not the one that the thread took: the history has changed; pass the whole \
         conversation with --rewind to start the thread over, or use another thread"
    )]
    Changed(usize),
    /// The input rolls back turns that the thread already has and may have summarized.
    #[error(
        "the input takes back turns that the thread took before: the history has changed; pass the whole conversation \
         with --rewind to start the thread over, or use another thread"
    )]
    RolledBack,
    /// The thread contains no message.
    #[error("the thread contains no messages")]
    Empty,
    /// The stored thread has another version.
    #[error("the thread was stored in version {0}; this program reads version {VERSION}")]
    Version(u32),
    /// The stored thread is damaged.
    #[error("the stored thread is damaged: {0}")]
    Stored(String),
    /// A summary could not be made.
    #[error("{0}")]
    Summary(ProcessorError),
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ChangedMessage> for ThreadError {
    fn from(ChangedMessage(number): ChangedMessage) -> Self {
        Self::Changed(number)
    }
}
