//! The keys of the links, and the patches that make them lead elsewhere.

use crate::dialects::Patch;
use crate::json::{Value, quote};

/// The keys that link the records of a log.
pub struct Tree {
    /// The record's own id.
    pub(in crate::dialects) id: &'static str,
    /// The id of the parent record.
    pub(in crate::dialects) parent: &'static str,
    /// Other links, which may also point outside the log. The first one leads from the first record of a tree to the end of the
    /// tree before it.
    pub(in crate::dialects) others: &'static [&'static str],
    /// Whether a program resumes from the newest record, also if it is no message.
    pub(in crate::dialects) path: bool,
    /// How the conversations inside one log differ, if there can be several.
    pub(in crate::dialects) sides: Option<Sides>,
    /// Which records form a tree, if a log can have several, and only the newest one is read.
    pub(in crate::dialects) trees: Option<TreesOf>,
}

/// The tree of each record, as the index of its first one; `None` for a record that is in none of them.
pub(in crate::dialects) type TreesOf = fn(&[Value<'_>]) -> Vec<Option<usize>>;

/// The keys that tell a side conversation. One without a name is told by the record without one from which it descends.
pub(in crate::dialects) struct Sides {
    /// Whether the record belongs to a side conversation.
    pub(in crate::dialects) flag: &'static str,
    /// The name of the side conversation.
    pub(in crate::dialects) name: &'static str,
}

/// The patch that makes `link` point to `target`; `None` if it already does.
pub(super) fn repointed(link: Value<'_>, target: Option<&str>) -> Option<Patch> {
    let same = match target {
        Some(target) => link.is(target),
        None => link.raw() == "null",
    };
    (!same).then(|| Patch { span: link.span(), text: target.map_or_else(|| String::from("null"), quote) })
}
