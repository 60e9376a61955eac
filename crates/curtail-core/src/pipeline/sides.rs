//! Which messages of one side follow each other only after a cut, and the note that says so: some providers demand that user and
//! assistant alternate.

use std::collections::HashSet;

use crate::transcript::{Message, same_side};

/// Messages of one side that follow each other, by their index in the transcript that was read.
type Neighbors = [Option<usize>; 2];

/// The neighbors in `messages`, without instructions.
pub(super) fn neighbors(messages: &[Message<'_>]) -> impl Iterator<Item = Neighbors> {
    let dialogue = messages.iter().enumerate().filter(|(_, message)| !message.role.instructs());
    same_side(dialogue).into_iter().map(move |pair| pair.map(|at| messages[at].source_index()))
}

/// The note that messages of one side follow each other that did not `before`, where user and assistant have to alternate.
pub(super) fn sides_note(before: &HashSet<Neighbors>, messages: &[Message<'_>]) -> Option<String> {
    let new: Vec<Neighbors> = neighbors(messages).filter(|pair| !before.contains(pair)).collect();
    let [first, second] = (*new.first()?).map(|at| at.map_or_else(|| String::from("a new one"), |at| at.to_string()));
    let others = match new.len() {
        1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    Some(format!(
        "messages {first} and {second}{others} are of one side and now follow each other, but user and assistant have to \
         alternate; `curtail check` reports them as alternation"
    ))
}
