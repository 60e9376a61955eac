//! Logs that are a tree of which a program resumes one path: the newest record, its parent, and so on up to the first.
//!
//! ```text
//! a <- b <- c <- d          c and d are a branch: the user went back to b
//!      b <- e <- f          f is the newest record; the program resumes with a, b, e, f
//! ```

use std::borrow::Cow;

use foldhash::{HashMap, HashSet};

use super::Item;
use super::tree::Tree;
use crate::json::{Text, Value};
use crate::transcript::Standing;

/// Marks the messages that are not on the path to the newest record. Records without a link, as damaged and older logs have
/// them, are in no tree.
pub(super) fn abandon<'a>(tree: &Tree, items: &[Value<'a>], read: &mut [Item<'a>]) {
    let links: Vec<Option<Cow<'a, str>>> = items.iter().map(|item| linked(tree, *item)).collect();
    let mut parents: HashMap<&str, Option<Cow<'a, str>>> = HashMap::default();
    for (own, item) in links.iter().zip(items).filter_map(|(own, item)| Some((own.as_deref()?, item))) {
        parents.entry(own).or_insert_with(|| item.get_text(tree.parent).map(Text::into_decoded));
    }
    let mut path: HashSet<&str> = HashSet::default();
    let Some(newest) = links.iter().rposition(Option::is_some) else { return };
    let mut next = links[newest].as_deref();
    // A damaged log can link records in a circle.
    while let Some(own) = next.filter(|own| path.insert(own)) {
        next = parents.get(own).and_then(Option::as_deref);
    }
    let is_left = |own: &Option<Cow<'a, str>>| own.as_deref().is_some_and(|own| !path.contains(own));
    let (mut last, mut branches) = (None, false);
    // Indices of metadata of branches that is among the messages of the path.
    let (mut strays, mut in_branch) = (Vec::new(), false);
    for (at, own) in links.iter().enumerate() {
        match &mut read[at] {
            Item::Message(message) if is_left(own) => {
                message.roll_back(Standing::Abandoned);
                (branches, in_branch) = (true, true);
            }
            Item::Message(_) => {
                (last, in_branch) = (Some(at), false);
                // Without a later message of the path, it would be the newest record.
                strays.drain(..).for_each(|stray: usize| read[stray] = Item::With(at));
            }
            Item::Metadata if is_left(own) && !in_branch => strays.push(at),
            _ => {}
        }
    }
    // A newest record that is no message belongs to the path, and not to a branch before it.
    if let (Some(last), true, Item::Metadata) = (last, branches, &read[newest]) {
        read[newest] = Item::With(last);
    }
}

/// The id of a record that has a link to a parent, or to none.
fn linked<'a>(tree: &Tree, item: Value<'a>) -> Option<Cow<'a, str>> {
    let [own, parent] = item.get_each([tree.own, tree.parent]);
    parent.and(own)?.text().map(Text::into_decoded)
}
