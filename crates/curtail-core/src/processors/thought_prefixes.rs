//! What a model read in front of each signed thought, and which thoughts are after a change: a provider that binds them to everything
//! before them rejects them there.

use foldhash::{HashMap, HashSet};

use crate::transcript::{Message, Origin, Part, PartOrigin, PartRef, Standing};

/// The messages that a model read in front of each thought, recorded before a cut.
///
/// A thought is bound to all messages of its [thread](Message::thread) before it, from the last boundary on. It stays valid
/// while these are unchanged; only thoughts from the first one on may be missing.
#[derive(Debug, Clone)]
pub struct ThoughtPrefixes {
    /// By the index of the message in the transcript that was read.
    sources: Vec<MessageState>,
    /// The indices of the messages that give instructions.
    instructions: Vec<usize>,
    /// The threads with a boundary that is read.
    bounded: HashSet<u32>,
}

#[derive(Debug, Clone, Copy)]
struct MessageState {
    thread: u32,
    instructs: bool,
    boundary: bool,
    standing: Standing,
    /// For a superseded message: how many boundaries of its thread precede it or are it.
    epoch: u32,
    /// How many messages of its thread precede it that a model reads with it, without those that contain only bound thoughts.
    rank: u32,
    /// Whether it contains anything besides bound thoughts.
    ranked: bool,
    /// How many bound thoughts of its thread precede it that a model reads with it.
    thoughts: u32,
}

impl MessageState {
    const fn is_read_boundary(&self) -> bool {
        self.boundary && self.standing.is_read()
    }
}

/// Counts of a thread while it is recorded. What a boundary supersedes is counted by itself: a cut can drop the boundary.
#[derive(Default)]
struct Counts {
    live: (u32, u32),
    superseded: (u32, u32),
    epoch: u32,
}

/// Where a model begins to read a thread.
#[derive(Debug, Clone, Copy, Default)]
struct Start {
    index: usize,
    /// The epoch of the messages that a model reads, if a boundary superseded them.
    epoch: u32,
    /// Whether a model reads such messages again.
    revived: bool,
}

/// How far a thread of the cut transcript agrees with the one that was read.
#[derive(Default)]
struct Progress {
    changed: bool,
    messages: u32,
    /// As `messages`, of those that a boundary superseded before the cut dropped it.
    superseded: u32,
    /// The number of the newest bound thought so far.
    thought: Option<u32>,
}

impl ThoughtPrefixes {
    /// Records `messages` as they were read; `None` if none of them contains a bound thought.
    #[must_use]
    pub fn from_messages(messages: &[Message<'_>]) -> Option<Self> {
        if !messages.iter().any(|message| message.parts.iter().any(Part::is_prefix_bound)) {
            return None;
        }
        let mut threads: HashMap<u32, Counts> = HashMap::default();
        let sources = messages.iter().map(|message| threads.entry(message.thread).or_default().record(message));
        let sources: Vec<MessageState> = sources.collect();
        let instructions = (0..sources.len()).filter(|&index| sources[index].instructs).collect();
        let bounded = sources.iter().filter(|source| source.is_read_boundary()).map(|source| source.thread).collect();
        Some(Self { sources, instructions, bounded })
    }

    /// All bound thoughts of `messages`, for a cut of what had been changed before it was read: none of them holds.
    #[must_use]
    pub fn all(&self, messages: &[Message<'_>]) -> Vec<PartRef> {
        PartRef::each(messages).filter(|(_, part)| part.is_prefix_bound()).map(|(at, _)| at).collect()
    }

    /// The thoughts of `messages`, the result of a cut, that are after a change.
    #[must_use]
    pub fn broken(&self, messages: &[Message<'_>]) -> Vec<PartRef> {
        let mut threads: HashMap<u32, Progress> = HashMap::default();
        for thread in self.changed_instructions(messages) {
            threads.entry(thread).or_default().changed = true;
        }
        let starts = self.starts(messages);
        let mut broken = Vec::new();
        for (at, message) in messages.iter().enumerate() {
            let source = self.source(message);
            let id = source.map_or(message.thread, |source| source.thread);
            let thread = threads.entry(id).or_default();
            let start = starts.get(&id).copied().unwrap_or_default();
            match (message.origin, source) {
                (Origin::Source(_), Some(source)) if source.standing.is_read() => {
                    thread.changed |= source.rank != thread.messages;
                    thread.messages = source.rank + u32::from(source.ranked);
                }
                _ if at < start.index => continue,
                (Origin::Source(_), Some(source)) if source.standing.is_rolled_back() || !start.revived => continue,
                (Origin::Source(_), Some(source)) => {
                    thread.changed |= source.epoch != start.epoch || source.rank != thread.superseded;
                    thread.superseded = source.rank + u32::from(source.ranked);
                }
                _ => thread.changed = true,
            }
            let lost = thread.thoughts(message, source.map_or(0, |source| source.thoughts));
            broken.extend(lost.into_iter().map(|part| PartRef { message: at, part }));
        }
        broken
    }

    fn source(&self, message: &Message<'_>) -> Option<&MessageState> {
        message.source_index().and_then(|index| self.sources.get(index))
    }

    /// Where a model begins to read each thread that has messages which a boundary superseded.
    ///
    /// It begins after them and the messages written about them, or at the boundary if that comes next: a message inserted before
    /// the boundary is not read either. What a boundary supersedes behind it is passed over. A cut that drops the last boundary and
    /// all messages after it revives them from the boundary before.
    fn starts(&self, messages: &[Message<'_>]) -> HashMap<u32, Start> {
        let boundaries = messages.iter().filter_map(|message| self.source(message));
        let boundaries = boundaries.filter(|source| source.is_read_boundary());
        let kept: HashSet<u32> = boundaries.map(|source| source.thread).collect();
        let mut starts: HashMap<u32, Start> = HashMap::default();
        let mut passed: HashSet<u32> = HashSet::default();
        for (at, message) in messages.iter().enumerate() {
            let source = self.source(message);
            passed.extend(source.filter(|source| source.is_read_boundary()).map(|source| source.thread));
            if source.map_or(message.standing, |source| source.standing) != Standing::Superseded {
                continue;
            }
            let thread = source.map_or(message.thread, |source| source.thread);
            let start = starts.entry(thread).or_default();
            start.revived = self.bounded.contains(&thread) && !kept.contains(&thread);
            if !start.revived && !passed.contains(&thread) {
                start.index = at + 1;
            } else if let Some(source) = source.filter(|source| start.revived && source.boundary) {
                *start = Start { index: at, epoch: source.epoch, revived: true };
            }
        }
        for (thread, start) in &mut starts {
            let sources = messages.iter().map(|message| self.source(message)).enumerate().skip(start.index);
            let mut read = sources.filter_map(|(at, source)| Some((at, source?)));
            let next = read.find(|(_, source)| source.thread == *thread && source.standing.is_read());
            if let Some((at, _)) = next.filter(|(_, source)| source.boundary) {
                start.index = at;
            }
        }
        starts
    }

    /// The threads whose instructions changed. Programs put instructions in front, wherever they are in the list.
    fn changed_instructions(&self, messages: &[Message<'_>]) -> Vec<u32> {
        let mut missing: HashSet<usize> = self.instructions.iter().copied().collect();
        let mut changed = Vec::new();
        for message in messages {
            match message.origin {
                Origin::Source(source) if altered(message).is_none() => drop(missing.remove(&source.index)),
                Origin::Draft { .. } if message.role.instructs() => changed.push(message.thread),
                _ => {}
            }
        }
        changed.extend(missing.into_iter().map(|index| self.sources[index].thread));
        changed
    }
}

impl Counts {
    /// Records the next message of the thread.
    fn record(&mut self, message: &Message<'_>) -> MessageState {
        let superseded = message.standing == Standing::Superseded;
        if superseded && message.is_boundary() {
            self.epoch += 1;
            self.superseded = (0, 0);
        }
        let (messages, thoughts) = if superseded { &mut self.superseded } else { &mut self.live };
        let ranked = !message.parts.iter().all(Part::is_prefix_bound) || message.parts.is_empty();
        let source = MessageState {
            thread: message.thread,
            instructs: message.role.instructs(),
            boundary: message.is_boundary(),
            standing: message.standing,
            epoch: self.epoch,
            rank: *messages,
            ranked,
            thoughts: *thoughts,
        };
        let read = !message.standing.is_rolled_back();
        *messages += u32::from(read && ranked);
        *thoughts += saturated(message.parts.iter().filter(|part| read && part.is_prefix_bound()).count());
        source
    }
}

impl Progress {
    /// The bound parts of the next message that are after a change; `before` thoughts of the thread precede the message.
    fn thoughts(&mut self, message: &Message<'_>, before: u32) -> Vec<usize> {
        let altered = altered(message);
        let all = message.parts.iter().chain(&message.cut).filter(|part| part.is_prefix_bound());
        let mut starts: Vec<u32> = all.map(start).collect();
        starts.sort_unstable();
        let mut broken = Vec::new();
        for (nth, part) in message.parts.iter().enumerate().filter(|(_, part)| part.is_prefix_bound()) {
            let start = start(part);
            let number = before + saturated(starts.partition_point(|other| *other < start));
            self.changed |= altered.is_some_and(|altered| altered < start);
            // Only the first thoughts may be missing, none between two others.
            self.changed |= self.thought.is_some_and(|last| number != last + 1);
            self.thought = Some(number);
            if self.changed {
                broken.push(nth);
            }
        }
        self.changed |= altered.is_some();
        broken
    }
}

fn saturated(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The place of the first part of `message` that was cut, rewritten or added; bound thoughts aside, which are compared by
/// their number.
fn altered(message: &Message<'_>) -> Option<u32> {
    let cut = message.cut.iter().filter(|part| !part.is_prefix_bound()).map(start);
    let changed = message.parts.iter().filter_map(|part| match &part.origin {
        PartOrigin::Source(_) => None,
        PartOrigin::Rewritten(_) => Some(start(part)),
        PartOrigin::Moved(_) | PartOrigin::Draft(_) | PartOrigin::Block(_) => Some(0),
    });
    cut.chain(changed).min()
}

fn start(part: &Part<'_>) -> u32 {
    part.place().map_or(0, |place| place.read_at.unwrap_or_else(|| place.element.span().start))
}
