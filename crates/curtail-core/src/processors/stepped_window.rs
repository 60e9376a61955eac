//! Where a history window begins that moves in steps. Appended messages do not move the beginning until the next step is due.

use std::ops::Range;

use super::{HistoryWindow, View};
use crate::transcript::{Message, Pairs, Part, Role, joints, main_thread, turn_starts};

/// The units of a transcript before its in-flight round, without those that are kept in any case.
pub(super) struct SteppedWindow<'w, 'v, 'a> {
    window: &'w HistoryWindow,
    messages: &'v [Message<'a>],
    /// Index of the message after the first units, which are kept.
    pub(super) head: usize,
    units: Vec<Range<usize>>,
    /// Indices of the units before which no pair is open.
    joints: Vec<usize>,
    /// Those of them at which a window can begin.
    places: Vec<usize>,
    /// Indices of the units with text of a user, and of those with text of an assistant.
    spoken: [Vec<usize>; 2],
}

impl<'w, 'v, 'a> SteppedWindow<'w, 'v, 'a> {
    /// The units of `view` among `runs`, those before the in-flight round.
    pub(super) fn new(
        window: &'w HistoryWindow,
        view: &View<'v, 'a>,
        pairs: &Pairs,
        runs: Vec<Range<usize>>,
        speaks_as: fn(&Message<'_>, Role) -> bool,
    ) -> Self {
        let (messages, keep) = (view.messages, window.keep);
        let closed = joints(messages, pairs);
        let (head, task) = (keep.head(messages, &runs), keep.task(messages));
        let instructs = |at: usize| keep.system && messages[at].parts.iter().all(Part::instructs);
        let is_kept = |at: usize| {
            task == Some(at) || keep.preserves(&messages[at]) || messages[at].is_boundary() || instructs(at)
        };
        // The first units are kept with the counterparts of their calls and results.
        let head = if head == 0 { 0 } else { closed.iter().copied().find(|at| *at >= head).unwrap_or(messages.len()) };
        let mut units = runs;
        units.retain(|unit| unit.start >= head && !unit.clone().all(is_kept));
        let is_joint = |nth: &usize| closed.binary_search(&units[*nth].start).is_ok();
        let joints: Vec<usize> = (0..units.len()).filter(is_joint).collect();
        let turns = if keep.start_on_user { turn_starts(messages) } else { Vec::new() };
        let is_place = |nth: &usize| !keep.start_on_user || turns.binary_search(&units[*nth].start).is_ok();
        let places = joints.iter().copied().filter(is_place).collect();
        let main = main_thread(messages);
        let spoken = [Role::User, Role::Assistant].map(|role| {
            let speaks_at = |at: usize| messages[at].thread == main && speaks_as(&messages[at], role);
            let speaks = |nth: &usize| units[*nth].clone().any(speaks_at);
            (0..units.len()).filter(speaks).collect()
        });
        Self { window, messages, head, units, joints, places, spoken }
    }

    /// Index of the first message in the window; 0 if nothing is dropped.
    ///
    /// The smallest multiple of `step` is removed that leaves at most `size` units, and more units if a pair is open there. The
    /// exchange is searched in the units that exist as soon as this multiple is removed, and before them. So units that are
    /// appended until the next step cannot move the beginning.
    ///
    /// ```text
    /// size 5, step 2, units 0 to 7:   0 1 2 3 | 4 5 6 7       4 are removed, until unit 9 is there and 6 are
    ///                                           ^^^^^^^       the exchange is searched in 4 to 7, and then before 4
    /// ```
    pub(super) fn start(&self) -> usize {
        let HistoryWindow { size, step, max_expansion, .. } = *self.window;
        let count = self.units.len();
        let most = max_expansion.map_or(usize::MAX, |times| size.saturating_mul(times));
        if count <= size || count <= most && self.place(count - size, count.saturating_sub(step), 0).is_none() {
            return 0;
        }
        let removed = (count - size).next_multiple_of(step).min(count - 1);
        let (horizon, bound) = ((removed + size).saturating_sub(step), (removed + size).saturating_sub(most));
        let up = self.joint_from(removed);
        let start = match self.place(up, horizon, bound) {
            Some(place) => self.units[place].start,
            None if max_expansion.is_none() => 0,
            None => self.units.get(up).map_or(self.end(), |unit| unit.start),
        };
        // Nothing but preserved messages can be before the first unit.
        if self.units.first().is_some_and(|unit| unit.start == start) { 0 } else { start }
    }

    /// The last place after the first unit, between `bound` and `latest`, such that the units from there to `horizon` contain text
    /// of each role that has text between `bound` and `horizon`.
    fn place(&self, latest: usize, horizon: usize, bound: usize) -> Option<usize> {
        let newest = self.spoken.iter().filter_map(|spoken| {
            let newest = spoken[..spoken.partition_point(|&nth| nth <= horizon)].last()?;
            (*newest >= bound).then_some(*newest)
        });
        let latest = newest.fold(latest, usize::min);
        let place = *self.places[..self.places.partition_point(|&nth| nth <= latest)].last()?;
        (place >= bound.max(1)).then_some(place)
    }

    /// Index of the first unit from `nth` on before which no pair is open; the number of units if there is none.
    fn joint_from(&self, nth: usize) -> usize {
        let next = self.joints.partition_point(|&joint| joint < nth);
        self.joints.get(next).copied().unwrap_or(self.units.len())
    }

    /// Index of the message after the last unit.
    fn end(&self) -> usize {
        self.units.last().map_or(self.messages.len(), |unit| unit.end)
    }
}
