//! Drops what the model no longer reads: the messages before the last boundary, and turns that were rolled back.

use super::{DropSet, Plan, Processor, ProcessorError, Reason, Traits, View, apply_plan};
use crate::transcript::{Message, Pairs, Standing};

/// Keeps only what the model still reads.
///
/// ```
/// use curtail_core::dialects::{Framing, Reading};
/// use curtail_core::pipeline::{Chain, TextCutter};
/// use curtail_core::processors::Live;
///
/// let log = concat!(
///     "{\"role\": \"user\", \"content\": \"Paint the gate.\"}\n",
///     "{\"role\": \"assistant\", \"content\": [{\"type\": \"compaction\", \"content\": \"The gate is to be painted.\"}]}\n",
///     "{\"role\": \"user\", \"content\": \"Green, please.\"}\n",
/// );
/// let mut live = String::new();
/// let cutter = TextCutter { chain: Chain::default().then(Live), ..TextCutter::default() };
/// cutter.cut(&Reading::new(Framing::Lines, None, None)?, log, &mut live)?;
/// assert_eq!(live.lines().count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Live;

impl Processor for Live {
    fn name(&self) -> &'static str {
        "live"
    }

    fn traits(&self) -> Traits {
        Traits { may_empty: true, ..Traits::default() }
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        Ok(drop_standing(view, Standing::UNREAD))
    }
}

/// The plan that drops the messages with one of these standings.
#[must_use]
pub fn drop_standing(view: &View<'_, '_>, standings: &[Standing]) -> Plan {
    if !view.messages.iter().any(|message| standings.contains(&message.standing)) {
        return Plan::keep(view.messages.len());
    }
    let pairs = Pairs::from_messages(view.messages);
    let mut drops = DropSet::none(view, &pairs);
    for (at, message) in view.messages.iter().enumerate() {
        if standings.contains(&message.standing) {
            drops.drop_message(at, reason(message.standing));
        }
    }
    drops.into_plan()
}

/// The messages of `view` without the turns that were rolled back.
#[must_use]
pub fn without_rolled_back<'a>(view: &View<'_, 'a>) -> Vec<Message<'a>> {
    apply_plan(view.messages.to_vec(), &drop_standing(view, Standing::ROLLED_BACK))
}

const fn reason(standing: Standing) -> Reason {
    Reason::Borrowed(match standing {
        Standing::RolledBack => "the turn was rolled back",
        Standing::Abandoned => "the newest message does not lead back to it",
        Standing::Unsent => "the program does not send it",
        Standing::Superseded | Standing::Live | Standing::Preserved => "before the last boundary",
    })
}
