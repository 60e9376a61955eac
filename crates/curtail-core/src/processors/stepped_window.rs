//! A window that moves in steps, so that the earlier requests of a conversation are prefixes of the later ones until the next step.

use std::ops::Range;

use super::keep::Preserved;
use super::past_units::{PastUnits, is_side_of_exchange};
use super::pins::Question;
use crate::transcript::{Message, Part, Role, first_prompt, joints, main_thread, turn_starts};

/// The units of a transcript before its in-flight round, without those that are kept in any case.
pub(super) struct SteppedWindow {
    /// Number of units to keep.
    size: usize,
    /// Units that are dropped at a time.
    step: usize,
    /// The most units that are kept to have an exchange; `None`: no limit.
    most: Option<usize>,
    /// Index of the message after the first units, which are kept.
    pub(super) head: usize,
    units: Vec<Range<usize>>,
    /// Index of the message after the last of them.
    end: usize,
    /// Indices of the units before which no pair is open.
    joints: Vec<usize>,
    /// Those of them at which a window can begin.
    places: Vec<usize>,
    /// Indices of the units with text of a user, and of those with text of an assistant.
    spoken: [Vec<usize>; 2],
}

impl SteppedWindow {
    /// A window of `size` units of `past` that moves by `step` units, and has at most `most` to contain an exchange.
    pub(super) fn new(past: &PastUnits<'_, '_>, size: usize, step: usize, most: Option<usize>) -> Self {
        let messages = past.view.messages;
        let preserved = &past.preserved;
        let keep = preserved.keep;
        let closed = joints(messages, past.pairs);
        // The first units are kept with the counterparts of their calls and results.
        let head = match preserved.head(&past.units) {
            0 => 0,
            head => closed.iter().copied().find(|at| *at >= head).unwrap_or(messages.len()),
        };
        let mut units = past.units.clone();
        units.retain(|unit| unit.start >= head && !unit.clone().all(|at| stays_anyway(messages, preserved, at)));
        let mut joints: Vec<usize> = (0..units.len()).collect();
        joints.retain(|&nth| closed.binary_search(&units[nth].start).is_ok());
        let mut places = joints.clone();
        if keep.start_on_user {
            let turns = turn_starts(messages);
            places.retain(|&nth| turns.binary_search(&units[nth].start).is_ok());
        }
        let main = main_thread(messages);
        // Any text of the user is an exchange, but only a person's can be a question.
        let asks = keep.question != Question::Never && first_prompt(messages).is_some();
        let mut spoken = [Vec::new(), Vec::new()];
        for (nth, unit) in units.iter().enumerate() {
            let messages = messages[unit.clone()].iter().filter(|message| message.thread == main);
            if messages
                .clone()
                .any(|message| is_side_of_exchange(message, Role::User) && (!asks || message.begins_turn()))
            {
                spoken[0].push(nth);
            }
            if messages.clone().any(|message| is_side_of_exchange(message, Role::Assistant)) {
                spoken[1].push(nth);
            }
        }
        let end = units.last().map_or(messages.len(), |unit| unit.end);
        Self { size, step, most, head, units, end, joints, places, spoken }
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
        let Self { size, step, .. } = *self;
        let count = self.units.len();
        let most = self.most.unwrap_or(usize::MAX);
        if count <= size || count <= most && self.place(count - size, count.saturating_sub(step), 0).is_none() {
            return 0;
        }
        let removed = (count - size).next_multiple_of(step).min(count - 1);
        let horizon = (removed + size).saturating_sub(step);
        let bound = (removed + size).saturating_sub(most);
        let up = self.joint_from(removed);
        let start = match self.place(up, horizon, bound) {
            Some(place) => self.units[place].start,
            None if self.most.is_none() => 0,
            None => self.units.get(up).map_or(self.end, |unit| unit.start),
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
}

/// Whether a message is kept wherever the window begins.
fn stays_anyway(messages: &[Message<'_>], preserved: &Preserved<'_, '_>, at: usize) -> bool {
    let instructs = preserved.keep.system && messages[at].parts.iter().all(Part::instructs);
    instructs || messages[at].is_boundary() || preserved.contains(at)
}
