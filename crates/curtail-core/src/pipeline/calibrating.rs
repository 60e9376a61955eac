//! Counts that are calibrated for each transcript: a chain and a cutter whose budgets hold by the provider's own figures.

use std::sync::Arc;

use super::{Chain, Splitting, Stage, TextCutter};
use crate::dialects::{Dialect, ReadError};
use crate::processors::{Counting, Split};
use crate::transcript::Transcript;

impl Chain {
    /// The chain with countings that are calibrated for `transcript`; `None` if none has to be.
    ///
    /// # Errors
    /// The transcript has no figures of the provider.
    pub fn calibrated(&self, dialect: &dyn Dialect, transcript: &Transcript<'_>) -> Result<Option<Self>, ReadError> {
        let split = self.splitting.iter().map(|splitting| &splitting.split.counting);
        let mut countings = self.stages.iter().filter_map(|stage| stage.processor.counting()).chain(split);
        if !countings.any(|counting| counting.by_usage.is_some()) {
            return Ok(None);
        }
        let stage = |stage: &Stage| {
            let counting = stage.processor.counting().filter(|counting| counting.by_usage.is_some());
            let counting = counting.map(|counting| calibrated(counting, dialect, transcript)).transpose()?;
            let processor = counting.and_then(|counting| stage.processor.with_counting(counting));
            let processor = processor.unwrap_or_else(|| Arc::clone(&stage.processor));
            Ok(Stage { level: stage.level.clone(), processor })
        };
        let splitting = self.splitting.as_ref().map(|splitting| {
            let counting = calibrated(&splitting.split.counting, dialect, transcript)?;
            Ok::<_, ReadError>(Splitting { split: Split { counting, ..splitting.split.clone() }, ..splitting.clone() })
        });
        Ok(Some(Self {
            stages: self.stages.iter().map(stage).collect::<Result<_, ReadError>>()?,
            on_summary: self.on_summary.clone(),
            thinking: self.thinking,
            splitting: splitting.transpose()?,
        }))
    }
}

impl TextCutter {
    /// The cutter with countings that are calibrated for `transcript`; `None` if none has to be.
    pub(super) fn calibrated(
        &self,
        dialect: &dyn Dialect,
        transcript: &Transcript<'_>,
    ) -> Result<Option<Self>, ReadError> {
        let Some(chain) = self.chain.calibrated(dialect, transcript)? else { return Ok(None) };
        let counting = self.counting.as_ref().map(|counting| calibrated(counting, dialect, transcript)).transpose()?;
        Ok(Some(Self { chain, explain: self.explain, counting }))
    }
}

/// `counting` for `transcript`: calibrated if it has to be.
///
/// # Errors
/// The transcript has no figures of the provider.
pub fn calibrated(
    counting: &Counting,
    dialect: &dyn Dialect,
    transcript: &Transcript<'_>,
) -> Result<Counting, ReadError> {
    let Some(calibrate) = counting.by_usage else { return Ok(counting.clone()) };
    let offset = transcript.layout.span.start as usize;
    calibrate(dialect, transcript, counting).map_err(|what| ReadError { offset, what: what.to_owned() })
}
