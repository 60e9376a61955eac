//! Mends faults in the part alone: a block, an image, a member or an id. What a rule says of a fault is done, and nothing is
//! invented.

use std::collections::HashSet;

use super::edits::Edits;
use super::whole_answers::WholeAnswers;
use super::{Inspection, Mend, Verdicts};
use crate::dialects::{ReadError, Reading, along_branches};
use crate::json::Span;
use crate::pipeline::{Chain, TextCutter};
use crate::processors::{DropSet, Plan, Processor, ProcessorError, Reason, View};
use crate::transcript::{Pairs, PartRef};

/// A mended fault can bring another to light, such as an emptied message, and a mend waits where another one writes. More passes
/// than any transcript needs: only rules that undo each other's mends would go on.
const PASSES: usize = 64;

impl Inspection {
    /// `text` without the faults that `verdicts` report and that can be mended in the part alone; `None` if there is none.
    /// `with_unsafe` mends as well what changes the meaning.
    ///
    /// # Errors
    /// Something is not JSON or not a transcript, or the mends do not come to an end.
    pub fn mend(
        &self,
        reading: &Reading,
        verdicts: &Verdicts,
        text: &str,
        with_unsafe: bool,
    ) -> Result<Option<String>, ReadError> {
        let mut mended = None;
        for _ in 0..PASSES {
            let before = mended.as_deref().unwrap_or(text);
            let Some(after) = self.mended_once(reading, verdicts, before, with_unsafe)? else { return Ok(mended) };
            mended = Some(after);
        }
        let what = format!("{PASSES} passes did not mend all that can be mended");
        Err(ReadError { offset: 0, what })
    }

    fn mended_once(
        &self,
        reading: &Reading,
        verdicts: &Verdicts,
        text: &str,
        with_unsafe: bool,
    ) -> Result<Option<String>, ReadError> {
        let document = reading.parse(text)?;
        let mut edits = Edits::default();
        let mut cuts = HashSet::new();
        for (dialect, transcript) in reading.transcripts_or_none(&document)? {
            let answers = WholeAnswers::of(&transcript.layout);
            for mut transcript in along_branches(dialect, transcript) {
                let detections = self.detections(dialect, &mut transcript, verdicts)?;
                let mended = detections.iter().filter(|detection| answers.allow(detection));
                for mend in mended.filter_map(|detection| detection.mend(with_unsafe)) {
                    match mend {
                        Mend::Cut(values) => cuts.extend(values.iter().map(|value| value.span())),
                        Mend::Edit { removed, written } => edits.add(removed, written),
                    }
                }
            }
        }
        if !edits.is_empty() {
            let after = edits.applied_to(&document);
            // What could not be read again would be lost.
            return Ok(Some(after).filter(|after| after != text && reading.parse(after).is_ok()));
        }
        if cuts.is_empty() {
            return Ok(None);
        }
        let chain = Chain::default().then(CutFaults { cuts });
        let mut after = String::new();
        let cut = TextCutter { chain, ..TextCutter::default() }.cut(reading, text, &mut after)?;
        Ok(cut.changed.then_some(after))
    }
}

/// Drops the parts and messages at some places.
#[derive(Debug)]
struct CutFaults {
    cuts: HashSet<Span>,
}

impl Processor for CutFaults {
    fn name(&self) -> &'static str {
        "check"
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        const REASON: Reason = Reason::Borrowed("the provider does not accept it");
        let pairs = Pairs::from_messages(view.messages);
        let mut drops = DropSet::none(view, &pairs);
        for (at, message) in view.messages.iter().enumerate() {
            let is_cut = message.value().is_some_and(|item| self.cuts.contains(&item.span()));
            if is_cut && message.is_bound_reasoning() {
                drops.drop_alone(at, REASON);
            } else if is_cut {
                drops.drop_message(at, REASON);
            }
            for (part, content) in message.parts.iter().enumerate().filter(|_| !is_cut) {
                let is_cut = content.place().is_some_and(|place| self.cuts.contains(&place.element.span()));
                if is_cut {
                    drops.drop_part(PartRef { message: at, part }, REASON);
                }
            }
        }
        Ok(drops.into_plan())
    }
}
