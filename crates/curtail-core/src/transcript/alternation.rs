//! Where user and assistant do not alternate.

use super::{Message, Role};

/// The neighbors in `dialogue` that are of one side where user and assistant have to alternate. Tool messages in a row become one
/// message of the user.
pub fn same_side<'m, 'a: 'm>(dialogue: impl Iterator<Item = (usize, &'m Message<'a>)>) -> Vec<[usize; 2]> {
    let single = dialogue.filter(|(_, message)| !message.is_exchange());
    let roles: Vec<(usize, Role)> = single.map(|(at, message)| (at, message.role)).collect();
    let again = roles.windows(2).filter_map(|pair| {
        let [(one, one_role), (next, next_role)] = [pair[0], pair[1]];
        let is_same_side = (one_role == Role::Assistant) == (next_role == Role::Assistant);
        (is_same_side && [one_role, next_role] != [Role::Tool; 2]).then_some([one, next])
    });
    again.collect()
}
