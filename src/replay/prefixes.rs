//! What a request sends, as runs of recorded messages: two requests are compared run by run, without their text.

use std::hash::{BuildHasher as _, Hasher as _};
use std::ops::Range;

use foldhash::quality::FixedState;

use super::history::History;
use crate::json::Text;
use crate::transcript::{Content, Message, PartOrigin};

/// The digest, count and size of a message that is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fact {
    /// Digest of its role and parts.
    pub(super) digest: u64,
    /// Our count of its tokens.
    pub(super) tokens: u64,
    /// Its content blocks.
    pub(super) blocks: u64,
    /// Whether it gives instructions.
    pub(super) instructs: bool,
}

impl Fact {
    /// The figures of `message`, which has `tokens`.
    pub(super) fn from_message(message: &Message<'_>, tokens: u64) -> Self {
        let (digest, instructs) = (digest(message), message.role.instructs());
        Self { digest, tokens, blocks: message.parts.len().max(1) as u64, instructs }
    }
}

/// Messages that follow each other in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Run {
    /// Messages of the session, as they were recorded.
    Recorded(Range<usize>),
    /// A message that the policy wrote or changed, with its position if it has one.
    Written(Fact, Option<usize>),
}

impl Run {
    const fn count(&self) -> usize {
        match self {
            Self::Recorded(positions) => positions.end - positions.start,
            Self::Written(..) => 1,
        }
    }

    /// Position of the message `nth` of the run, if it was recorded.
    fn position(&self, nth: usize) -> Option<usize> {
        match self {
            Self::Recorded(positions) => Some(positions.start + nth),
            Self::Written(_, position) => *position,
        }
    }

    fn fact(&self, nth: usize, history: &History<'_>) -> Fact {
        match self {
            Self::Recorded(positions) => history.fact(positions.start + nth),
            Self::Written(fact, _) => *fact,
        }
    }
}

/// What a request sends.
#[derive(Debug, Clone, Default)]
pub(super) struct Sent {
    runs: Vec<Run>,
    /// Number of messages.
    pub(super) count: usize,
    /// Our count of the tokens of all messages.
    pub(super) tokens: u64,
}

impl Sent {
    /// A request of the messages at `runs`, as they were recorded.
    pub(super) fn recorded(runs: &[Range<usize>], history: &History<'_>) -> Self {
        let tokens = runs.iter().map(|run| history.tokens(run.clone())).sum();
        let count = runs.iter().map(ExactSizeIterator::len).sum();
        Self { runs: runs.iter().cloned().map(Run::Recorded).collect(), count, tokens }
    }

    /// Appends the message at `position`, as it was recorded.
    pub(super) fn push(&mut self, position: usize, fact: Fact) {
        self.count += 1;
        self.tokens += fact.tokens;
        match self.runs.last_mut() {
            Some(Run::Recorded(run)) if run.end == position => run.end += 1,
            _ => self.runs.push(Run::Recorded(position..position + 1)),
        }
    }

    /// Appends a message that a policy wrote, or changed if it has a position.
    pub(super) fn push_written(&mut self, fact: Fact, position: Option<usize>) {
        self.count += 1;
        self.tokens += fact.tokens;
        self.runs.push(Run::Written(fact, position));
    }

    /// How many messages at the beginning are those of `before`.
    ///
    /// For the runs `0..5, 9..12` and `0..3, 3..5, 9..20`, the steps are 3, 2 and 3 messages: 8 in common. No digest is compared,
    /// because both cursors are at the same recorded message each time.
    pub(super) fn common(&self, before: &Self, history: &History<'_>) -> usize {
        let (mut own, mut other) = (Cursor::begin(self), Cursor::begin(before));
        let mut common = 0;
        while let (Some((run, nth)), Some((run_before, nth_before))) = (own.peek(), other.peek()) {
            let step = match (run, run_before) {
                (Run::Recorded(one), Run::Recorded(two)) if one.start + nth == two.start + nth_before => {
                    (one.len() - nth).min(two.len() - nth_before)
                }
                _ if run.fact(nth, history).digest == run_before.fact(nth_before, history).digest => 1,
                _ => break,
            };
            own.advance(step);
            other.advance(step);
            common += step;
        }
        common
    }

    /// The messages after the first `skipped`: the figures of each, and its position.
    pub(super) fn after<'s, 'h: 's>(
        &'s self,
        mut skipped: usize,
        history: &'h History<'_>,
    ) -> impl Iterator<Item = (Fact, Option<usize>)> + 's {
        self.runs.iter().flat_map(move |run| {
            let skip = skipped.min(run.count());
            skipped -= skip;
            (skip..run.count()).map(move |nth| (run.fact(nth, history), run.position(nth)))
        })
    }

    /// The positions that are sent as they were recorded, behind the first `skipped` messages.
    pub(super) fn positions_after(&self, mut skipped: usize) -> impl Iterator<Item = usize> {
        self.runs.iter().flat_map(move |run| {
            let skip = skipped.min(run.count());
            skipped -= skip;
            match run {
                Run::Recorded(positions) => positions.start + skip..positions.end,
                Run::Written(..) => 0..0,
            }
        })
    }

    /// The runs that are sent as they were recorded, by position.
    pub(super) fn intact(&self) -> Vec<Range<usize>> {
        let recorded = self.runs.iter().filter_map(|run| match run {
            Run::Recorded(positions) => Some(positions.clone()),
            Run::Written(..) => None,
        });
        let mut runs: Vec<Range<usize>> = recorded.collect();
        runs.sort_unstable_by_key(|run| run.start);
        runs
    }

    /// How many messages at the beginning give instructions.
    pub(super) fn instructions(&self, history: &History<'_>) -> usize {
        self.after(0, history).take_while(|(fact, _)| fact.instructs).count()
    }
}

/// A place in a request.
struct Cursor<'s> {
    runs: std::slice::Iter<'s, Run>,
    run: Option<&'s Run>,
    nth: usize,
}

impl<'s> Cursor<'s> {
    fn begin(sent: &'s Sent) -> Self {
        let mut runs = sent.runs.iter();
        let run = runs.next();
        Self { runs, run, nth: 0 }
    }

    fn peek(&self) -> Option<(&'s Run, usize)> {
        self.run.map(|run| (run, self.nth))
    }

    /// Goes on by `step` messages, at most to the end of the run.
    fn advance(&mut self, step: usize) {
        self.nth += step;
        while self.run.is_some_and(|run| run.count() <= self.nth) {
            (self.run, self.nth) = (self.runs.next(), 0);
        }
    }
}

/// Whether `position` is in one of `runs`, which ascend.
pub(super) fn contains(runs: &[Range<usize>], position: usize) -> bool {
    let after = runs.partition_point(|run| run.start <= position);
    after > 0 && runs[after - 1].contains(&position)
}

/// Whether no edit changed the content of `message`.
pub(super) fn is_intact(message: &Message<'_>) -> bool {
    let is_read = |origin: &PartOrigin<'_>| matches!(origin, PartOrigin::Source(_));
    message.source_index().is_some() && message.cut.is_empty() && message.parts.iter().all(|part| is_read(&part.origin))
}

/// The digest of the part of `message` that is sent to a provider: its role and parts, not the envelope of the log.
pub(super) fn digest(message: &Message<'_>) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    hasher.write(message.role.name().as_bytes());
    for part in &message.parts {
        match &part.content {
            Content::Text(text) => texts(&mut hasher, 1, [text]),
            Content::Reasoning(text) => texts(&mut hasher, 2, [text]),
            Content::Media(text) => texts(&mut hasher, 3, [text]),
            Content::ToolCall(call) => texts(&mut hasher, 4, call.id.iter().chain([&call.name, &call.arguments])),
            Content::ToolResult(result) => {
                texts(&mut hasher, 5, result.id.iter().chain(&result.content));
                hasher.write_usize(result.media);
            }
            Content::Unknown(_) | Content::Other => {
                let raw = part.place().map_or("", |place| place.element.raw());
                texts(&mut hasher, 6, [&Text::Json(raw)]);
            }
        }
    }
    hasher.finish()
}

fn texts<'t, 'a: 't>(hasher: &mut impl std::hash::Hasher, kind: u8, texts: impl IntoIterator<Item = &'t Text<'a>>) {
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

/// A message of a request and everything before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Link {
    /// Digest of the messages up to it.
    pub(super) digest: u64,
    /// Our count of their tokens.
    pub(super) tokens: u64,
    /// Their content blocks.
    pub(super) blocks: u64,
}

impl Link {
    /// The link of a message behind this one.
    pub(super) fn then(self, fact: Fact) -> Self {
        Self {
            digest: chained(self.digest, fact.digest),
            tokens: self.tokens + fact.tokens,
            blocks: self.blocks + fact.blocks,
        }
    }
}

/// The digest of a list whose beginning has the digest `before` and whose next message has `digest`.
fn chained(before: u64, digest: u64) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    hasher.write_u64(before);
    hasher.write_u64(digest);
    hasher.finish()
}
