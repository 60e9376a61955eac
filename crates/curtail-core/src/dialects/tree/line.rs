//! The line of a conversation: what a program reads when it resumes.

use foldhash::HashMap;

use crate::dialects::Written;
use crate::transcript::Name;

/// The parent that each kept record will link to, by the index of the record.
pub(super) type Parents = HashMap<usize, Option<Target>>;

/// What a record links to.
#[derive(Clone, Copy)]
pub(super) enum Target {
    /// A record, or what a link says that leads out of the log.
    Record(Name),
    /// The draft with this index.
    Draft(usize),
}

/// The kept records of a conversation that a program reads when it resumes, the newest first, and behind them those of older
/// trees, which it no longer reads.
#[derive(Default)]
pub(super) struct Line {
    /// Their indices.
    pub(super) records: Vec<usize>,
    /// How many of them are on the path to the newest one.
    pub(super) path: usize,
}

impl Line {
    /// How many of its records are written behind the place `behind`.
    pub(super) fn place_of(&self, behind: usize) -> usize {
        self.records.partition_point(|&at| at >= behind)
    }

    /// Whether a draft behind the record `above` becomes a part of it. One about what is abandoned is no part of the path.
    pub(super) fn takes(&self, written: &Written, above: Option<usize>, behind: usize) -> bool {
        let on_line = written.live
            || above.is_some_and(|above| self.records.binary_search_by(|at| usize::cmp(&above, at)).is_ok());
        let open = !written.abandoned || self.place_of(behind) >= self.path;
        on_line && open && !self.records.is_empty()
    }
}
