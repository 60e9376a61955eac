//! Keeps a range of messages by number.

use super::drop_messages::{Seen, Unit};
use super::pins::why_preserved;
use super::{DropSet, Pins, Plan, Processor, ProcessorError, Reason, Traits, View};
use crate::transcript::Pairs;

/// Keeps the messages with the numbers `from` up to, not including, `to`, and all system and developer messages.
///
/// A number is an index into the messages that the processor sees. So a second run numbers the messages again, and cuts again
/// unless `from` is 0.
///
/// ```
/// use curtail_core::dialects::{Framing, Reading};
/// use curtail_core::pipeline::{Chain, TextCutter};
/// use curtail_core::processors::MessageRange;
///
/// let chat = concat!(
///     "{\"role\": \"user\", \"content\": \"Hello\"}\n",
///     "{\"role\": \"assistant\", \"content\": \"Hi\"}\n",
///     "{\"role\": \"user\", \"content\": \"When does it leave?\"}\n",
/// );
/// let chain = Chain::default().then(MessageRange { from: 2, ..MessageRange::default() });
/// let mut end = String::new();
/// TextCutter { chain, ..TextCutter::default() }.cut(&Reading::new(Framing::Lines, None, None)?, chat, &mut end)?;
/// assert_eq!(end, "{\"role\": \"user\", \"content\": \"When does it leave?\"}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct MessageRange {
    /// The first number to keep.
    pub from: usize,
    /// The first number to drop again; `None` keeps everything after `from`.
    pub to: Option<usize>,
    /// Messages that are kept outside the range, besides those of the system.
    pub pins: Pins,
    /// The transcripts that it saw.
    pub seen: Seen,
}

impl Processor for MessageRange {
    fn name(&self) -> &'static str {
        "filter"
    }

    fn traits(&self) -> Traits {
        Traits { may_empty: true, decides_once: true, ..Traits::default() }
    }

    fn remarks(&self) -> Vec<String> {
        self.seen
            .remarks("--range", Unit::Message, std::slice::from_ref(&(self.from..usize::MAX)))
            .filter(|_| self.from > 0)
            .collect()
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        self.seen.add(view.messages.len(), 0);
        let pairs = Pairs::from_messages(view.messages);
        let mut drops = DropSet::none(view, &pairs).pinning(self.pins);
        for (at, message) in view.messages.iter().enumerate() {
            let inside = at >= self.from && self.to.is_none_or(|to| at < to);
            match (inside, message.instructs()) {
                (true, _) => {}
                (false, true) => drops.spare(at, why_preserved(message)),
                (false, false) => drops.drop_but_instructions(at, &Reason::Borrowed("outside the range")),
            }
        }
        Ok(drops.into_plan())
    }
}
