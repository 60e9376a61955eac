//! What the model has to know at a request, whether its reply used it or not. It is taken from the facts of the session.

use super::history::History;
use crate::requests::Session;
use curtail_core::transcript::Pairs;
use curtail_facts::references::{self, digest};
use curtail_facts::{Facts, Pointer};

/// The state of the work when a request was sent.
#[derive(Debug, Clone, Default)]
pub(super) struct WorkState {
    /// The last message that a person wrote.
    pub(super) instruction: Option<Statement>,
    /// Digest of the name of the file that was edited last.
    pub(super) edited_file: Option<u64>,
    /// Digest of the name of the test that failed last and has not passed since.
    pub(super) failing_test: Option<u64>,
    /// The last call that wrote a to-do list with open items.
    pub(super) todos: Option<Statement>,
}

/// The content of a message, which a summary may repeat.
#[derive(Debug, Clone, Copy)]
pub(super) struct Statement {
    /// Position of the message.
    pub(super) at: usize,
    /// Digest of the last reference in it: a summary that contains this reference repeats the statement.
    pub(super) name: Option<u64>,
}

/// The state of the work at each request of `session`.
pub(super) fn work_states(history: &History<'_>, session: &Session) -> Vec<WorkState> {
    let pairs = Pairs::from_messages(&history.messages);
    let mut facts = Facts::default();
    let states = session.requests.iter().map(|request| {
        facts.read_range(&history.messages, &pairs, facts.messages..request.at);
        let instruction = facts.asked.last().or(facts.goal.as_ref());
        let edited = facts.changed.iter().rfind(|change| !change.deleted);
        WorkState {
            instruction: instruction.and_then(|quote| statement(&quote.at, &quote.text)),
            edited_file: edited.and_then(|change| last_name(&change.path)),
            failing_test: facts.failing.last().and_then(|failure| last_name(&failure.name)),
            todos: facts.open().filter_map(|todo| statement(&todo.at, &todo.text)).max_by_key(|todo| todo.at),
        }
    });
    states.collect()
}

fn statement(pointer: &Pointer, text: &str) -> Option<Statement> {
    Some(Statement { at: pointer.message?, name: last_name(text) })
}

/// The digest of the last reference in `text`.
fn last_name(text: &str) -> Option<u64> {
    references::references(text).pop().map(|range| digest(&text[range]))
}
