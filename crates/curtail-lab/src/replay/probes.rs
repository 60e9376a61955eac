//! What the model has to know at a request, whatever its reply went on to use: the ledger of the session says what that is.

use super::history::History;
use super::references::{digest, references};
use crate::calibration::Session;
use curtail_core::transcript::Pairs;
use curtail_memory::ledger::{Ledger, Pointer};

/// What there was to know when a request was sent.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    /// The last message that a person wrote.
    pub(super) instruction: Option<Said>,
    /// Digest of the name of the file that was edited last.
    pub(super) edited_file: Option<u64>,
    /// Digest of the name of the test that failed last and has not passed since.
    pub(super) failing_test: Option<u64>,
    /// The call that wrote an open to-do list last.
    pub(super) todos: Option<Said>,
}

/// Something that a message says, and that a summary may say as well.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said {
    /// Position of the message.
    pub(super) at: usize,
    /// Digest of a name in it, by which a summary is recognized.
    pub(super) name: Option<u64>,
}

/// What there was to know at each request of `session`.
pub(super) fn known(history: &History<'_>, session: &Session) -> Vec<Known> {
    let pairs = Pairs::from_messages(&history.messages);
    let mut ledger = Ledger::default();
    let at_request = |at: usize| {
        ledger.read_range(&history.messages, &pairs, ledger.messages..at);
        let instruction = ledger.asked.last().or(ledger.goal.as_ref());
        let edited = ledger.changed.iter().rfind(|change| !change.deleted);
        Known {
            instruction: instruction.and_then(|quote| said(&quote.at, &quote.text)),
            edited_file: edited.and_then(|change| name(&change.path)),
            failing_test: ledger.failing.last().and_then(|failure| name(&failure.name)),
            todos: ledger.open().filter_map(|todo| said(&todo.at, &todo.text)).max_by_key(|said| said.at),
        }
    };
    session.requests.iter().map(|request| request.at).map(at_request).collect()
}

fn said(pointer: &Pointer, text: &str) -> Option<Said> {
    Some(Said { at: pointer.message?, name: name(text) })
}

/// The digest of the last reference in `text`.
fn name(text: &str) -> Option<u64> {
    references(text).pop().map(|range| digest(&text[range]))
}
