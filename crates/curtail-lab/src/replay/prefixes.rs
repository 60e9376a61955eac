//! The messages that a request sends, as runs of recorded messages. Two requests are compared run by run, without their
//! text.

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, Hasher as _};
use std::ops::Range;
use std::rc::Rc;

use foldhash::quality::FixedState;
use foldhash::{HashMap, HashSet};

use super::history::History;
use curtail_core::json::Text;
use curtail_core::steps;
use curtail_core::transcript::{Content, Message, PartOrigin};

/// The digest and the size of a message that is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MessageStats {
    /// Digest of its role and parts.
    pub(super) digest: u64,
    /// Our count of its tokens.
    pub(super) tokens: u64,
    /// The number of its content blocks, at least 1.
    pub(super) blocks: u64,
    /// Whether its role gives instructions.
    pub(super) instructs: bool,
}

impl MessageStats {
    /// The digest and size of `message`, which has `tokens` tokens.
    pub(super) fn from_message(message: &Message<'_>, tokens: u64) -> Self {
        let (digest, instructs) = (digest(message), message.role.instructs());
        Self { digest, tokens, blocks: message.parts.len().max(1) as u64, instructs }
    }
}

/// A message that a policy wrote or changed.
#[derive(Debug, Clone)]
pub(super) struct Written {
    pub(super) stats: MessageStats,
    /// Digests of its references.
    pub(super) references: Rc<HashSet<u64>>,
}

impl PartialEq for Written {
    fn eq(&self, other: &Self) -> bool {
        self.stats == other.stats && Rc::ptr_eq(&self.references, &other.references)
    }
}

/// Messages that follow each other in a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Run {
    /// Messages of the session, as they were recorded.
    Recorded(Range<usize>),
    /// A message that the policy wrote or changed, with its position if it has one.
    Written(Written, Option<usize>),
}

impl Run {
    const fn count(&self) -> usize {
        match self {
            Self::Recorded(positions) => positions.end - positions.start,
            Self::Written(..) => 1,
        }
    }

    /// The positions of its messages, if they have any.
    const fn positions(&self) -> Option<Range<usize>> {
        match self {
            Self::Recorded(positions) => Some(positions.start..positions.end),
            Self::Written(_, Some(position)) => Some(*position..*position + 1),
            Self::Written(_, None) => None,
        }
    }

    fn recorded(&self) -> Option<Range<usize>> {
        self.positions().filter(|_| matches!(self, Self::Recorded(_)))
    }

    fn stats(&self, nth: usize, history: &History<'_>) -> MessageStats {
        match self {
            Self::Recorded(positions) => history.stats[positions.start + nth],
            Self::Written(written, _) => written.stats,
        }
    }

    /// The link of the first `count` of its messages after `link`.
    fn link(&self, link: Link, count: usize, history: &History<'_>) -> Link {
        match self {
            _ if count == 0 => link,
            Self::Recorded(positions) => history.links.link(link, positions.start..positions.start + count),
            Self::Written(written, _) => link.then(written.stats),
        }
    }
}

/// Messages in the order in which they are sent.
#[derive(Debug, Clone, Default)]
pub(super) struct Runs(Vec<Run>);

impl Runs {
    /// Appends the messages at `positions`, as they were recorded.
    pub(super) fn push(&mut self, positions: Range<usize>) {
        match self.0.last_mut() {
            _ if positions.is_empty() => {}
            Some(Run::Recorded(run)) if run.end == positions.start => run.end = positions.end,
            _ => self.0.push(Run::Recorded(positions)),
        }
    }

    /// Appends a message that a policy wrote, or changed if it has a position.
    pub(super) fn push_written(&mut self, written: Written, position: Option<usize>) {
        self.0.push(Run::Written(written, position));
    }
}

/// How a request differs from the previous one.
#[derive(Debug, Clone, Default)]
pub(super) struct Difference {
    /// The number of runs at the beginning that are kept.
    kept: usize,
    /// The runs that are sent after them.
    pub(super) runs: Runs,
}

impl From<Runs> for Difference {
    /// A request that shares nothing with the previous one.
    fn from(runs: Runs) -> Self {
        Self { kept: 0, runs }
    }
}

/// A run in a request.
#[derive(Debug, Clone)]
struct PlacedRun {
    run: Run,
    /// The number of messages before it.
    count: usize,
    /// The link of everything before it.
    before: Link,
    /// The end of its positions, if the positions of all runs up to it ascend.
    ascends: Option<usize>,
}

/// The messages that a request sends. It is updated from request to request, so that the time depends on what changes.
#[derive(Debug)]
pub(super) struct Sent {
    runs: Vec<PlacedRun>,
    /// The link of everything outside the messages.
    outside: Link,
    /// The same messages as in `runs`. Those at the beginning that equal the previous request's keep the runs and links
    /// that they had there.
    linked: Vec<PlacedRun>,
    /// The number of messages that the policy wrote or changed.
    writings: usize,
    /// For each reference, the number of messages written by the policy that contain it.
    written: HashMap<u64, usize>,
}

impl Sent {
    /// A request without messages, with `outside` tokens outside them.
    pub(super) fn new(outside: u64) -> Self {
        Self {
            runs: Vec::new(),
            linked: Vec::new(),
            outside: Link { tokens: outside, ..Link::default() },
            writings: 0,
            written: HashMap::default(),
        }
    }

    /// Number of messages.
    pub(super) fn count(&self) -> usize {
        self.runs.last().map_or(0, |last| last.count + last.run.count())
    }

    /// The link of everything that is sent.
    pub(super) fn end(&self, history: &History<'_>) -> Link {
        self.runs.last().map_or(self.outside, |last| last.run.link(last.before, last.run.count(), history))
    }

    /// The link of the first `count` messages.
    pub(super) fn link(&self, count: usize, history: &History<'_>) -> Link {
        steps::count(1);
        let Some(nth) = self.linked.partition_point(|placed| placed.count < count).checked_sub(1) else {
            return self.outside;
        };
        let placed = &self.linked[nth];
        placed.run.link(placed.before, count - placed.count, history)
    }

    /// Updates `linked` after the first `common` messages, which equal the previous request's.
    fn relink(&mut self, common: usize, history: &History<'_>) {
        let before = self.link(common, history);
        let kept = self.linked.partition_point(|placed| placed.count < common);
        self.linked.truncate(kept);
        if let Some(PlacedRun { run: Run::Recorded(positions), count, .. }) = self.linked.last_mut() {
            positions.end = positions.end.min(positions.start + common - *count);
        }
        let first = self.runs.partition_point(|placed| placed.count + placed.run.count() <= common);
        let (mut before, mut count) = (before, common);
        for placed in &self.runs[first..] {
            let run = match &placed.run {
                Run::Recorded(positions) => {
                    Run::Recorded(positions.start + common.saturating_sub(placed.count)..positions.end)
                }
                written @ Run::Written(..) => written.clone(),
            };
            let next = (run.link(before, run.count(), history), count + run.count());
            self.linked.push(PlacedRun { run, count, before, ascends: None });
            (before, count) = next;
        }
    }

    /// Updates it to the next request.
    pub(super) fn change(&mut self, difference: Difference, history: &History<'_>) -> Changed {
        let Difference { mut kept, runs: Runs(runs) } = difference;
        let same = runs.iter().zip(self.runs.iter().skip(kept)).take_while(|(run, placed)| **run == placed.run);
        let same = same.count();
        kept += same;
        steps::count(1 + runs.len());
        let before = self.runs.get(kept).map_or_else(|| self.count(), |placed| placed.count);
        let count = self.count();
        let removed: Vec<PlacedRun> = self.runs.drain(kept..).collect();
        removed.iter().for_each(|placed| self.remove_references(&placed.run));
        for run in runs.into_iter().skip(same) {
            self.push(run, history);
        }
        let common = before + common(&removed, &self.runs[kept..], history);
        self.relink(common, history);
        Changed { count, common, removed, kept }
    }

    fn push(&mut self, run: Run, history: &History<'_>) {
        let ascends = match self.runs.last() {
            Some(last) => last.ascends,
            None => Some(0),
        };
        let ascends = match run.positions() {
            Some(positions) => ascends.filter(|end| *end <= positions.start).map(|_| positions.end),
            None => ascends,
        };
        if let Run::Written(written, _) = &run {
            self.writings += 1;
            written.references.iter().for_each(|reference| *self.written.entry(*reference).or_default() += 1);
        }
        self.runs.push(PlacedRun { count: self.count(), before: self.end(history), run, ascends });
    }

    fn remove_references(&mut self, run: &Run) {
        let Run::Written(written, _) = run else { return };
        self.writings -= 1;
        for reference in written.references.iter() {
            if let Some(count) = self.written.get_mut(reference) {
                *count -= 1;
                if *count == 0 {
                    self.written.remove(reference);
                }
            }
        }
    }

    /// The request that also sends the messages at `new`, after all others.
    pub(super) fn extended(&self, new: Range<usize>) -> Difference {
        let kept = self.runs.len().saturating_sub(1);
        let mut runs = Runs(self.runs[kept..].iter().map(|placed| placed.run.clone()).collect());
        runs.push(new);
        Difference { kept, runs }
    }

    /// The request that sends only the messages before `position`. The positions of its runs must ascend.
    pub(super) fn cut(&self, position: usize) -> Difference {
        let kept = self.runs.partition_point(|placed| placed.ascends.is_some_and(|end| end <= position));
        let mut runs = Runs::default();
        if let Some(run) = self.runs.get(kept).and_then(|placed| placed.run.recorded()) {
            runs.push(run.start..position.max(run.start));
        }
        Difference { kept, runs }
    }

    /// Whether the message at `position` is sent as it was recorded.
    pub(super) fn sends(&self, position: usize) -> bool {
        self.last_before(position + 1) == Some(position)
    }

    /// Whether one of the messages at `positions`, which ascend, is sent as it was recorded.
    pub(super) fn sends_any(&self, positions: &[usize]) -> bool {
        let mut rest = positions;
        while let Some(position) = rest.last() {
            match self.last_before(position + 1) {
                Some(last) if last == *position => return true,
                Some(last) => rest = &rest[..rest.partition_point(|position| *position <= last)],
                None => return false,
            }
        }
        false
    }

    /// The last position before `end` whose message is sent as it was recorded; by bisection if positions ascend.
    fn last_before(&self, end: usize) -> Option<usize> {
        steps::count(1);
        let last = |run: Range<usize>| (run.start < end).then(|| run.end.min(end) - 1);
        if self.runs.last().is_some_and(|last| last.ascends.is_some()) {
            let after = self.runs.partition_point(|placed| {
                placed.run.positions().map_or(placed.ascends.unwrap_or(0) < end, |run| run.start < end)
            });
            return self.runs[..after].iter().rev().filter_map(|placed| placed.run.recorded()).find_map(last);
        }
        self.runs.iter().filter_map(|placed| placed.run.recorded()).filter_map(last).max()
    }

    /// Whether the policy wrote or changed a message.
    pub(super) const fn has_written(&self) -> bool {
        self.writings > 0
    }

    /// Whether a message that the policy wrote contains `reference`.
    pub(super) fn writes(&self, reference: u64) -> bool {
        self.written.contains_key(&reference)
    }

    /// How many messages at the beginning give instructions.
    pub(super) fn instructions(&self, history: &History<'_>) -> usize {
        let mut count = 0;
        for placed in &self.runs {
            let instructing = match &placed.run {
                Run::Recorded(run) => history.after_instructions[run.start].min(run.end) - run.start,
                Run::Written(written, _) => usize::from(written.stats.instructs),
            };
            count += instructing;
            if instructing < placed.run.count() {
                break;
            }
        }
        count
    }

    /// The messages of `positions` that are sent after the first `skipped` messages: the position of each, and the link
    /// of everything that is sent before it.
    pub(super) fn sent_after(
        &self,
        skipped: usize,
        positions: &BTreeSet<usize>,
        history: &History<'_>,
    ) -> Vec<(usize, Link)> {
        let first = self.runs.partition_point(|placed| placed.count + placed.run.count() <= skipped);
        let mut found = Vec::new();
        for placed in self.runs[first..].iter().filter(|_| !positions.is_empty()) {
            let Some(run) = placed.run.positions() else { continue };
            let begin = run.start + skipped.saturating_sub(placed.count);
            for &position in positions.range(begin..run.end.max(begin)) {
                found.push((position, placed.run.link(placed.before, position - run.start, history)));
            }
        }
        found
    }
}

/// The changes from one request to the next.
#[derive(Debug)]
pub(super) struct Changed {
    /// The number of messages of the previous request.
    pub(super) count: usize,
    /// The number of messages at the beginning that are the same.
    pub(super) common: usize,
    /// The runs of the previous request from index `kept` on.
    removed: Vec<PlacedRun>,
    /// The number of runs at the beginning that are the same.
    kept: usize,
}

impl Changed {
    /// The positions whose messages the previous request sent as they were recorded, and `sent` does not.
    pub(super) fn dropped(&self, sent: &Sent) -> Vec<usize> {
        let mut runs: Vec<Range<usize>> =
            sent.runs[self.kept..].iter().filter_map(|placed| placed.run.recorded()).collect();
        runs.sort_unstable_by_key(|run| run.start);
        let mut dropped = Vec::new();
        for run in self.removed.iter().filter_map(|placed| placed.run.recorded()) {
            let mut at = run.start;
            while at < run.end {
                let after = runs.partition_point(|other| other.start <= at);
                let next = runs.get(after).map_or(run.end, |other| other.start.min(run.end));
                match after.checked_sub(1).map(|nth| runs[nth].end).filter(|end| *end > at) {
                    Some(end) => at = end,
                    None => {
                        dropped.extend(at..next);
                        at = next;
                    }
                }
            }
        }
        dropped
    }
}

/// How many messages at the beginning of `one` and `two` are the same.
///
/// For the runs `0..5, 9..12` and `0..3, 3..5, 9..20`, the steps are 3, 2 and 3 messages: 8 in common. No digest is compared,
/// because both cursors are at the same recorded message each time.
fn common(one: &[PlacedRun], two: &[PlacedRun], history: &History<'_>) -> usize {
    let [mut one, mut two] = [one, two].map(|runs| Cursor::begin(runs.iter().map(|placed| &placed.run)));
    let mut common = 0;
    while let (Some((run, nth)), Some((other, nth_other))) = (one.peek(), two.peek()) {
        steps::count(1);
        let step = match (run, other) {
            (Run::Recorded(run), Run::Recorded(other)) => {
                let most = (run.len() - nth).min(other.len() - nth_other);
                history.links.common_length(run.start + nth, other.start + nth_other, most)
            }
            _ => usize::from(run.stats(nth, history).digest == other.stats(nth_other, history).digest),
        };
        if step == 0 {
            break;
        }
        one.advance(step);
        two.advance(step);
        common += step;
    }
    common
}

/// A place in a request.
struct Cursor<'s, I> {
    runs: I,
    run: Option<&'s Run>,
    nth: usize,
}

impl<'s, I: Iterator<Item = &'s Run>> Cursor<'s, I> {
    fn begin(mut runs: I) -> Self {
        let run = runs.next();
        Self { runs, run, nth: 0 }
    }

    fn peek(&self) -> Option<(&'s Run, usize)> {
        self.run.map(|run| (run, self.nth))
    }

    /// Advances by `step` messages, at most to the end of the run.
    fn advance(&mut self, step: usize) {
        self.nth += step;
        while self.run.is_some_and(|run| run.count() <= self.nth) {
            (self.run, self.nth) = (self.runs.next(), 0);
        }
    }
}

/// Whether no edit changed the content of `message`.
pub(super) fn is_intact(message: &Message<'_>) -> bool {
    let is_source = |origin: &PartOrigin<'_>| matches!(origin, PartOrigin::Source(_));
    message.source_index().is_some()
        && message.cut.is_empty()
        && message.parts.iter().all(|part| is_source(&part.origin))
}

/// The digest of the part of `message` that is sent to a provider: its role and parts, not the envelope of the log.
pub(crate) fn digest(message: &Message<'_>) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    hasher.write(message.role.name().as_bytes());
    for part in &message.parts {
        match &part.content {
            Content::Text(text) => hash_texts(&mut hasher, 1, [text]),
            Content::Reasoning(text) => hash_texts(&mut hasher, 2, [text]),
            Content::Media(text) => hash_texts(&mut hasher, 3, [text]),
            Content::ToolCall(call) => hash_texts(&mut hasher, 4, call.id.iter().chain([&call.name, &call.arguments])),
            Content::ToolResult(result) => {
                hash_texts(&mut hasher, 5, result.id.iter().chain(&result.content));
                hasher.write_usize(result.media);
            }
            Content::Unknown(_) | Content::Other => {
                let raw = part.place().map_or("", |place| place.element.raw());
                hash_texts(&mut hasher, 6, [&Text::Json(raw)]);
            }
        }
    }
    hasher.finish()
}

fn hash_texts<'t, 'a: 't>(
    hasher: &mut impl std::hash::Hasher,
    kind: u8,
    texts: impl IntoIterator<Item = &'t Text<'a>>,
) {
    hasher.write_u8(kind);
    for text in texts {
        let (Text::Escaped(raw) | Text::Json(raw)) = text else {
            hasher.write(text.decode().as_bytes());
            hasher.write_u8(0xff);
            continue;
        };
        hasher.write(raw.as_bytes());
        hasher.write_u8(0xff);
    }
}

/// A prefix of a request: a message and everything before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Link {
    /// Digest of the messages up to it.
    pub(super) digest: u64,
    /// Our count of their tokens.
    pub(super) tokens: u64,
    /// The number of their content blocks.
    pub(super) blocks: u64,
}

impl Link {
    /// The link of a message with `stats` after this one.
    pub(super) fn then(self, stats: MessageStats) -> Self {
        Self {
            digest: add_mod(multiply_mod(self.digest, BASE), stats.digest % PRIME + 1),
            tokens: self.tokens + stats.tokens,
            blocks: self.blocks + stats.blocks,
        }
    }
}

/// Digests of lists are polynomials of the digests of their messages, modulo this prime. So the digest of a part of a list
/// follows from those of the lists that end before it and with it.
const PRIME: u64 = (1 << 61) - 1;

/// The point at which the polynomials are evaluated.
const BASE: u64 = 0x0d6e_8feb_8665_9fd9;

fn add_mod(one: u64, two: u64) -> u64 {
    (one + two) % PRIME
}

#[expect(clippy::cast_possible_truncation, reason = "the remainder is less than 2^61")]
const fn multiply_mod(one: u64, two: u64) -> u64 {
    (one as u128 * two as u128 % PRIME as u128) as u64
}

/// The links of all prefixes of a list of messages, and the powers of [`BASE`] that append one list to another.
#[derive(Debug)]
pub(super) struct Links {
    links: Vec<Link>,
    powers: Vec<u64>,
}

impl Links {
    /// The links of messages with these `stats`.
    pub(super) fn new(stats: &[MessageStats]) -> Self {
        let (mut links, mut powers) = (vec![Link::default()], vec![1]);
        for (nth, message) in stats.iter().enumerate() {
            links.push(links[nth].then(*message));
            powers.push(multiply_mod(powers[nth], BASE));
        }
        Self { links, powers }
    }

    /// The link of the messages in `range` after `link`.
    pub(super) fn link(&self, link: Link, range: Range<usize>) -> Link {
        let (start, end) = (self.links[range.start], self.links[range.end]);
        Link {
            digest: add_mod(multiply_mod(link.digest, self.powers[range.len()]), self.digest(range)),
            tokens: link.tokens + end.tokens - start.tokens,
            blocks: link.blocks + end.blocks - start.blocks,
        }
    }

    /// The digest of the messages in `range`.
    fn digest(&self, range: Range<usize>) -> u64 {
        let before = multiply_mod(self.links[range.start].digest, self.powers[range.len()]);
        add_mod(self.links[range.end].digest, PRIME - before)
    }

    /// How many of the `most` messages from `one` on equal those from `two` on.
    pub(super) fn common_length(&self, one: usize, two: usize, most: usize) -> usize {
        if one == two {
            return most;
        }
        let (mut same, mut end) = (0, most);
        while same < end {
            steps::count(1);
            let middle = same + (end - same).div_ceil(2);
            let (first, second) = (one + same..one + middle, two + same..two + middle);
            if self.digest(first) == self.digest(second) { same = middle } else { end = middle - 1 }
        }
        same
    }
}
