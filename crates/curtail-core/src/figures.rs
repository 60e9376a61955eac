//! The figures of a log that a cut makes wrong.
//!
//! A log says how many tokens a request had. When a program resumes the log, it takes the last of these figures for the size of
//! the conversation. After a cut, that figure describes the longer conversation, and the program compacts a copy that is short
//! enough.

use crate::dialects::{Dialect, Patch, SizeFigures};
use crate::json::Value;
use crate::transcript::{Layout, Message, Origin, SlotKind};

/// What happens to the figures that a cut makes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum StaleFigures {
    /// Numbers become 0, and an item with nothing else is taken out.
    #[default]
    Reset,
    /// They stay.
    Keep,
    /// As [`Reset`](Self::Reset), for a transcript that lost messages before it was read: all its figures are wrong.
    ResetAll,
}

/// The edits that correct the figures of a transcript.
#[derive(Debug, Default)]
pub struct FigureEdits {
    /// The slots whose elements are taken out, in ascending order.
    pub(crate) gone: Vec<usize>,
    /// The numbers that become 0; those around the list of messages are outside of the transcript.
    pub(crate) patches: Vec<Patch>,
    /// For how many requests the figures are corrected.
    pub count: usize,
}

impl FigureEdits {
    /// The edits of a transcript with this `layout` if only `messages` are left of it.
    #[must_use]
    pub fn find(layout: &Layout<'_>, dialect: &dyn Dialect, messages: &[Message<'_>], stale: StaleFigures) -> Self {
        let mut edits = Self::default();
        let first = match stale {
            StaleFigures::Keep => None,
            StaleFigures::ResetAll => Some(0),
            StaleFigures::Reset => first_change(layout, dialect, messages),
        };
        let Some(first) = first else { return edits };
        let log = dialect.log();
        let kept = layout.kept(messages);
        for ((at, item), _) in slotted(layout).zip(layout.stays(&kept)).filter(|(_, stays)| *stays) {
            match log.size_figures(item) {
                Some(SizeFigures::Item) if at >= first => {
                    edits.gone.push(at);
                    edits.count += 1;
                }
                Some(SizeFigures::SoFar(numbers)) if at >= first => edits.reset(&numbers),
                Some(SizeFigures::Whole(numbers)) => edits.reset(&numbers),
                _ => {}
            }
        }
        if let Some(SizeFigures::Whole(numbers)) = layout.holder().and_then(|record| log.size_figures(record)) {
            edits.reset(&numbers);
        }
        edits.patches.sort_by_key(|patch| patch.span);
        edits
    }

    /// Whether the log has figures that a cut can make wrong.
    pub(crate) fn exist_in(layout: &Layout<'_>, dialect: &dyn Dialect) -> bool {
        layout.elements.iter().copied().chain(layout.holder()).any(|item| dialect.log().size_figures(item).is_some())
    }

    fn reset(&mut self, numbers: &[Value<'_>]) {
        let before = self.patches.len();
        let told = numbers.iter().filter(|number| is_told(number.raw()));
        self.patches.extend(told.map(|number| Patch { span: number.span(), text: String::from("0") }));
        self.count += usize::from(self.patches.len() > before);
    }

    /// Where the last number that becomes 0 ends.
    pub(crate) fn end(&self) -> usize {
        self.patches.last().map_or(0, |patch| patch.span.end as usize)
    }
}

/// Whether a number is not 0.
fn is_told(number: &str) -> bool {
    number.bytes().take_while(|byte| !byte.eq_ignore_ascii_case(&b'e')).any(|byte| matches!(byte, b'1'..=b'9'))
}

/// Each element that is no frame, with the index of its slot.
fn slotted<'l, 'a>(layout: &'l Layout<'a>) -> impl Iterator<Item = (usize, Value<'a>)> + use<'l, 'a> {
    let slots = layout.slots.iter().enumerate().filter(|(_, slot)| !matches!(slot.kind, SlotKind::Frame { .. }));
    slots.map(|(at, _)| at).zip(layout.elements.iter().copied())
}

/// The slot from which on the figures are wrong: that of the first message which was dropped, changed, moved, or which a new one
/// precedes. `None` if there is no such message.
fn first_change(layout: &Layout<'_>, dialect: &dyn Dialect, messages: &[Message<'_>]) -> Option<usize> {
    let count = layout.slots.iter().filter(|slot| matches!(slot.kind, SlotKind::Message(_))).count();
    let changed = messages.iter().enumerate().position(|(at, message)| {
        !(matches!(message.origin, Origin::Source(source) if source.index == at) && message.is_intact())
    });
    let index = changed.or((messages.len() < count).then_some(messages.len()))?;
    let slot = layout.slots.iter().position(|slot| slot.kind == SlotKind::Message(index));
    Some(slot.map_or(layout.slots.len(), |slot| reply_start(layout, dialect, slot)))
}

/// The first slot of the reply that the message in `slot` belongs to: the figures of its other messages count it as well.
fn reply_start(layout: &Layout<'_>, dialect: &dyn Dialect, slot: usize) -> usize {
    let log = dialect.log();
    let own = slotted(layout).find(|(at, _)| *at == slot).and_then(|(_, item)| log.reply_id(item));
    let Some(own) = own.map(|id| id.decode().into_owned()) else { return slot };
    let mut before = slotted(layout).take_while(|(at, _)| *at < slot);
    before.find(|(_, item)| log.reply_id(*item).is_some_and(|id| id.is(&own))).map_or(slot, |(at, _)| at)
}
