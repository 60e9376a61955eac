//! Which lines of an input are new to a thread, and whether those that it has are still the same.

use std::collections::HashSet;

use super::error::ThreadError;
use super::stored::LineKind;
use super::thread::Thread;
use curtail_core::digest::fnv1a_64;
use curtail_core::json::{Text, Value};
use curtail_core::transcript::Message;

/// Tells new lines from known ones, line by line.
///
/// A message is known by its number if the input says with which number it begins, and else by its id. Three marks are kept
/// of a message: `ID DIGEST`, because some formats give one id to several messages; `@ID`; and `#NUMBER DIGEST`.
pub(super) struct Intake<'t> {
    known: &'t dyn Fn(&str) -> bool,
    /// Lines that the thread stores.
    stored: HashSet<&'t str>,
    /// How many messages at the beginning of the input the thread has.
    skip: usize,
    /// Messages that have no mark of their number.
    undigested: usize,
    /// The number of the first message of the input.
    first: usize,
    /// How often the thread has started over: marks from before are void.
    epoch: u32,
    /// Messages of the input so far.
    seen: usize,
    /// Whether the last message was known; at first, whether the first message of the input is.
    after_known: bool,
    /// Whether the last message is the last one of the thread.
    at_end: bool,
    /// Lines of metadata that the thread has behind its last message, as far as the input has not repeated them.
    trailing: usize,
    /// Number of messages that the thread had.
    had: usize,
    /// Whether any message of the input is known by its id and content: the input repeats what the thread has.
    repeats: bool,
    /// The ids of the known messages so far.
    known_ids: HashSet<String>,
    pub(super) marks: Vec<String>,
    pub(super) taken: usize,
    /// Lines of metadata behind the last message of the thread.
    pub(super) behind: usize,
}

impl<'t> Intake<'t> {
    /// An intake of `messages`, the first `skip` of which `thread` has. `known` tells whether a mark is stored.
    pub(super) fn new(
        known: &'t dyn Fn(&str) -> bool,
        thread: &'t Thread,
        skip: usize,
        messages: &[Message<'_>],
    ) -> Self {
        let (epoch, undigested, trailing) = thread.digests();
        let mut intake = Self {
            known,
            stored: thread.stored().collect(),
            skip,
            undigested,
            first: thread.taken() + 1 - skip,
            epoch,
            seen: 0,
            after_known: false,
            at_end: false,
            trailing,
            had: thread.taken(),
            repeats: false,
            known_ids: HashSet::new(),
            marks: Vec::new(),
            taken: thread.taken(),
            behind: trailing,
        };
        let mut are_known = messages.iter().map(|message| intake.is_known_by_id(message));
        let first = are_known.next().unwrap_or(false);
        let repeats = first || are_known.any(|known| known);
        (intake.after_known, intake.repeats) = (first || skip > 0, repeats);
        intake
    }

    /// A mark of this epoch.
    fn mark(&self, mark: &str) -> String {
        if self.epoch == 0 { mark.to_owned() } else { format!("{}~{mark}", self.epoch) }
    }

    fn has(&self, mark: &str) -> bool {
        (self.known)(&self.mark(mark))
    }

    fn is_known_by_id(&self, message: &Message<'_>) -> bool {
        let id = message.id.as_ref().map(|id| id.decode());
        id.zip(message.value()).is_some_and(|(id, value)| self.has(&format!("{id} {}", digest(value))))
    }

    /// Whether a line is new.
    ///
    /// # Errors
    /// [`ThreadError::Changed`] if it is a message that the thread has with another content.
    pub(super) fn takes(
        &mut self,
        value: Value<'_>,
        kind: LineKind,
        messages: &[Message<'_>],
    ) -> Result<bool, ThreadError> {
        match kind {
            LineKind::Message(index) => self.message(value, &messages[index]),
            LineKind::Nested(count) => {
                self.seen += count;
                Ok(self.seen > self.skip && !self.stored.contains(value.raw()))
            }
            // Metadata around known messages is stored, or was dropped with them. What follows the last one may be new.
            LineKind::With(_) | LineKind::Pinned if self.after_known => {
                let repeated = !self.at_end || self.trailing > 0;
                self.trailing -= usize::from(self.at_end && repeated);
                self.behind += usize::from(!repeated);
                Ok(!repeated)
            }
            LineKind::With(_) | LineKind::Pinned => {
                let repeated = self.had == 0 && self.stored.contains(value.raw());
                self.behind += usize::from(!repeated);
                Ok(!repeated)
            }
        }
    }

    /// Whether the last line of the input is the last one of the thread, too.
    pub(super) fn is_at_end(&self) -> bool {
        !self.after_known || self.at_end
    }

    /// Whether the last message is known and not the last one of the thread.
    fn is_inside(&self) -> bool {
        self.after_known && !self.at_end && self.undigested < self.had
    }

    fn message(&mut self, value: Value<'_>, message: &Message<'_>) -> Result<bool, ThreadError> {
        self.seen += 1;
        let digest = digest(value);
        let id = message.id.as_ref().map(|id| id.decode().into_owned());
        if self.seen <= self.skip {
            let number = self.first + self.seen - 1;
            if number > self.undigested && !self.has(&format!("#{number} {digest}")) {
                return Err(ThreadError::Changed(self.seen));
            }
            (self.after_known, self.at_end) = (true, number == self.had);
            self.known_ids.extend(id);
            return Ok(false);
        }
        if let Some(id) = id {
            let mark = self.mark(&format!("{id} {digest}"));
            if (self.known)(&mark) || self.marks.contains(&mark) {
                (self.after_known, self.at_end) = (true, self.has(&format!("#{} {digest}", self.had)));
                self.known_ids.insert(id);
                return Ok(false);
            }
            // Some logs write one reply as several messages with one id: a new one follows another one of them, at the end.
            let follows = self.known_ids.contains(&id) && !self.is_inside();
            if self.repeats && self.has(&format!("@{id}")) && !follows {
                return Err(ThreadError::Changed(self.seen));
            }
            let id = self.mark(&format!("@{id}"));
            self.marks.extend([mark, id]);
        }
        self.taken += 1;
        (self.after_known, self.behind) = (false, 0);
        self.marks.push(self.mark(&format!("#{} {digest}", self.taken)));
        Ok(true)
    }
}

/// The digest of a value without the white space between its tokens.
fn digest(value: Value<'_>) -> String {
    format!("{:016x}", fnv1a_64(Text::Json(value.raw()).decode().bytes()))
}
