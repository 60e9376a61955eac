//! Where user and assistant do not alternate.

use super::{Message, Role};

/// The neighbors in `dialogue` that are of one side where user and assistant have to alternate. Tool messages in a row become one
/// message of the user.
pub fn same_side<'m, 'a: 'm>(dialogue: impl Iterator<Item = (usize, &'m Message<'a>)>) -> Vec<[usize; 2]> {
    let single = dialogue.filter(|(_, message)| !message.is_exchange());
    let roles: Vec<(usize, Role)> = single.map(|(at, message)| (at, message.role)).collect();
    let is_assistant = |role: Role| role == Role::Assistant;
    let again = roles.windows(2).filter(|pair| {
        is_assistant(pair[0].1) == is_assistant(pair[1].1) && (pair[0].1, pair[1].1) != (Role::Tool, Role::Tool)
    });
    again.map(|pair| [pair[0].0, pair[1].0]).collect()
}
