//! What the model has to know at a request, whatever its reply went on to use: the ledger of the session says what that is.

use super::history::History;
use super::references::{digest, references};
use crate::calibration::Session;
use curtail_core::transcript::Pairs;
use curtail_memory::ledger::Ledger;

/// What there was to know when a request was sent.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    /// Position of the last message that a person wrote.
    pub(super) instruction: Option<usize>,
    /// Digest of the name of the file that was edited last.
    pub(super) edited_file: Option<u64>,
    /// Digest of the name of the test that failed last and has not passed since.
    pub(super) failing_test: Option<u64>,
    /// Position of the call that wrote an open to-do list last.
    pub(super) todos: Option<usize>,
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
            instruction: instruction.and_then(|quote| quote.at.message),
            edited_file: edited.and_then(|change| name(&change.path)),
            failing_test: ledger.failing.last().and_then(|failure| name(&failure.name)),
            todos: ledger.open().filter_map(|todo| todo.at.message).max(),
        }
    };
    session.requests.iter().map(|request| request.at).map(at_request).collect()
}

/// The digest of the last reference in `text`.
fn name(text: &str) -> Option<u64> {
    references(text).pop().map(|range| digest(&text[range]))
}
