//! Which lines of an input are new to a thread, and whether those that the thread has are unchanged.

mod mark;

use std::collections::HashSet;

use super::lines::{LineKind, StoredLine};
use curtail_core::json::Value;
use curtail_core::transcript::Message;
use mark::{Digest, Mark};

/// What a thread has, as far as an input is compared with it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Had<'t> {
    pub(super) lines: &'t [StoredLine],
    /// Number of messages appended so far, of all roles.
    pub(super) taken: usize,
    /// Number of lines without messages after the last message.
    pub(super) trailing: usize,
    /// How often the thread has started over.
    pub(super) epoch: u32,
}

/// The message of an input with this number, from 1, differs from the one that the thread has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChangedMessage(pub(super) usize);

/// A line of an input, and the messages in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct InputLine<'i, 'a> {
    pub(super) value: Value<'a>,
    pub(super) kind: LineKind,
    pub(super) messages: &'i [Message<'a>],
}

impl<'i, 'a> InputLine<'i, 'a> {
    /// Whether the line is one message, and not a list with messages in it.
    const fn is_message(self) -> bool {
        matches!(self.kind, LineKind::Message(_))
    }

    /// The content of each message.
    fn digests(self) -> impl DoubleEndedIterator<Item = Digest> + use<'i, 'a> {
        self.messages.iter().map(move |message| {
            let nested = message.value().filter(|_| !self.is_message());
            Digest::of(nested.unwrap_or(self.value))
        })
    }

    /// The marks of its messages by number; the first one has the number `first` in the thread.
    pub(super) fn number_marks(self, first: usize, epoch: u32) -> impl Iterator<Item = String> + use<'i, 'a> {
        (first..).zip(self.digests()).map(move |(number, digest)| Mark::Number(number, digest).key(epoch))
    }

    /// The id of each message.
    fn ids(self) -> impl Iterator<Item = Option<String>> + use<'i, 'a> {
        self.messages.iter().map(|message| message.id.as_ref().map(|id| id.decode().into_owned()))
    }
}

/// By what the messages of an input are recognized.
enum Recognized {
    /// By their numbers: the thread has the first `skip` messages of the input.
    ByNumber { skip: usize },
    /// By their ids.
    ById {
        /// Whether the input repeats any message of the thread, so that a message with a known id must have the known content.
        repeats: bool,
        /// The ids of the known messages so far.
        met: HashSet<String>,
    },
}

/// What comes before the next line of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Nothing that the thread has, and no message.
    Nothing,
    /// A message that the thread has; `at_end` if it is the last one of the thread.
    Known { at_end: bool },
    /// A new message.
    New,
}

/// Separates the new lines of an input from the known ones, line by line.
pub(super) struct Intake<'t> {
    /// Whether a mark is stored.
    stored: &'t dyn Fn(&str) -> bool,
    /// The thread before the input.
    had: Had<'t>,
    /// The lines that the thread stores.
    lines: HashSet<&'t str>,
    recognized: Recognized,
    before: Before,
    /// The number of messages of the input so far.
    seen: usize,
    /// The number of lines without messages that repeat those after the last message of the thread.
    repeated: usize,
    fresh: Fresh,
}

/// What an input adds to a thread.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Fresh {
    /// The marks of the new messages.
    pub(super) marks: Vec<String>,
    /// The number of messages of the thread, with the new ones.
    pub(super) taken: usize,
    /// The number of lines without messages after the last message of the thread.
    pub(super) trailing: usize,
    /// Whether the end of the input is also the end of the thread.
    pub(super) is_at_end: bool,
}

impl<'t> Intake<'t> {
    /// An intake of `lines`. `skip` is the number of messages at their beginning that the thread has, if the caller says so;
    /// otherwise messages are recognized by their ids. `stored` returns whether a mark is stored.
    pub(super) fn new(
        stored: &'t dyn Fn(&str) -> bool,
        had: Had<'t>,
        skip: Option<usize>,
        lines: &[InputLine<'_, '_>],
    ) -> Self {
        let fresh = Fresh { taken: had.taken, trailing: had.trailing, ..Fresh::default() };
        let recognized = skip.map_or_else(
            || Recognized::ById { repeats: false, met: HashSet::new() },
            |skip| Recognized::ByNumber { skip },
        );
        let stored_lines = had.lines.iter().map(|line| line.json.as_str()).collect();
        let before = Before::Nothing;
        let mut intake = Self { stored, had, lines: stored_lines, recognized, before, seen: 0, repeated: 0, fresh };
        let mut with_messages = lines.iter().filter(|line| !line.messages.is_empty());
        let begins_known = match &intake.recognized {
            Recognized::ByNumber { skip } => *skip > 0,
            Recognized::ById { .. } => with_messages.next().is_some_and(|line| intake.has_by_id(*line)),
        };
        if begins_known {
            intake.before = Before::Known { at_end: false };
        }
        if skip.is_none() {
            let repeats = begins_known || with_messages.any(|line| intake.has_by_id(*line));
            intake.recognized = Recognized::ById { repeats, met: HashSet::new() };
        }
        intake
    }

    /// Takes the next line, and returns whether it is new.
    ///
    /// # Errors
    /// [`ChangedMessage`] if a message in it is one that the thread has with other content.
    pub(super) fn take(&mut self, line: InputLine<'_, '_>) -> Result<bool, ChangedMessage> {
        if line.messages.is_empty() {
            return Ok(self.take_without_messages(line.value));
        }
        let first = self.seen + 1;
        self.seen += line.messages.len();
        self.before = match self.recognized {
            Recognized::ByNumber { skip } => self.by_number(line, first, skip)?,
            Recognized::ById { .. } => self.by_id(line, first)?,
        };
        let is_new = self.before == Before::New;
        if is_new {
            self.append(line);
        }
        Ok(is_new)
    }

    /// What the input adds to the thread.
    pub(super) fn finish(self) -> Fresh {
        let is_at_end = self.before != (Before::Known { at_end: false });
        Fresh { is_at_end, ..self.fresh }
    }

    fn has(&self, mark: Mark<'_>) -> bool {
        (self.stored)(&mark.key(self.had.epoch))
    }

    /// Metadata of known messages is stored, or was dropped with them. After the last message of the thread it may be new.
    fn take_without_messages(&mut self, value: Value<'_>) -> bool {
        let repeats_next = match self.before {
            Before::Nothing => {
                let next = self.had.lines.get(self.repeated).filter(|_| self.had.taken == 0);
                next.is_some_and(|line| line.json == value.raw())
            }
            Before::Known { at_end: true } => self.repeated < self.had.trailing,
            Before::Known { at_end: false } => return false,
            Before::New => false,
        };
        self.repeated += usize::from(repeats_next);
        self.fresh.trailing += usize::from(!repeats_next);
        !repeats_next
    }

    /// Compares a line, whose first message has the number `first` in the input, with the messages that the thread has.
    fn by_number(&self, line: InputLine<'_, '_>, first: usize, skip: usize) -> Result<Before, ChangedMessage> {
        if first > skip {
            return Ok(Before::New);
        }
        let before = self.had.taken - skip;
        for (number, digest) in (first..).zip(line.digests()) {
            if number > skip || !self.has(Mark::Number(before + number, digest)) {
                return Err(ChangedMessage(number));
            }
        }
        Ok(Before::Known { at_end: self.seen == skip })
    }

    fn by_id(&mut self, line: InputLine<'_, '_>, first: usize) -> Result<Before, ChangedMessage> {
        if self.has_by_id(line) {
            let last = line.digests().next_back();
            let at_end = last.is_some_and(|digest| self.has(Mark::Number(self.had.taken, digest)));
            if let Recognized::ById { met, .. } = &mut self.recognized {
                met.extend(line.ids().flatten());
            }
            return Ok(Before::Known { at_end });
        }
        let has_changed = line.is_message() && line.ids().flatten().any(|id| self.has_otherwise(&id));
        if has_changed { Err(ChangedMessage(first)) } else { Ok(Before::New) }
    }

    /// Whether the thread has a line: each of its messages by id and content, or a list of messages as it is.
    fn has_by_id(&self, line: InputLine<'_, '_>) -> bool {
        let mut messages = line.ids().zip(line.digests());
        let has_each = messages.all(|(id, digest)| id.is_some_and(|id| self.has(Mark::Content { id: &id, digest })));
        has_each || !line.is_message() && self.lines.contains(line.value.raw())
    }

    /// Whether the thread has a message with this id, and must have it as the input does.
    fn has_otherwise(&self, id: &str) -> bool {
        let Recognized::ById { repeats: true, met } = &self.recognized else { return false };
        // Some logs write one reply as several messages with the same id. A new one follows the others at the end of the
        // thread.
        let is_inside = self.before == (Before::Known { at_end: false });
        (is_inside || !met.contains(id)) && self.has(Mark::Id(id))
    }

    /// Counts the messages of a new line, and marks them.
    fn append(&mut self, line: InputLine<'_, '_>) {
        let epoch = self.had.epoch;
        self.fresh.marks.extend(line.number_marks(self.fresh.taken + 1, epoch));
        self.fresh.taken += line.messages.len();
        for (id, digest) in line.ids().zip(line.digests()) {
            if let Some(id) = &id {
                self.fresh.marks.push(Mark::Content { id, digest }.key(epoch));
            }
            // A list may repeat ids of messages before it.
            if let Some(id) = id.filter(|_| line.is_message()) {
                self.fresh.marks.push(Mark::Id(&id).key(epoch));
            }
        }
        self.fresh.trailing = 0;
    }
}
