//! The figures of one transcript: what the provider counted last, and the calibration of what would be sent next.

use std::ops::Range;

use super::fit::{Calibration, Observed, calibrate_next};
use super::requests::{Request, Session, sessions};
use curtail_core::dialects::Dialect;
use curtail_core::processors::{Counting, View};
use curtail_core::transcript::Transcript;

/// Why a transcript cannot be counted by its own figures.
pub const NO_FIGURES: &str =
    "no reply has the provider's count of its input, so --tokenizer usage cannot count; name another tokenizer";

/// What the provider counted in a transcript.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures {
    /// Input tokens of the last request that the provider counted.
    pub provider: u64,
    /// Our count of the messages and instructions that the log contains of that request.
    pub ours: u64,
    /// The number of these messages.
    pub messages: usize,
    /// How the provider's count follows from ours.
    pub calibration: Calibration,
}

impl Figures {
    /// The figures of `transcript`: of its main conversation, or of the side conversation that has the most. `counted` gives
    /// our count of a message, by its index. `None` if no request has figures.
    #[must_use]
    pub fn from_transcript(
        dialect: &dyn Dialect,
        transcript: &Transcript<'_>,
        counting: &Counting,
        counted: impl Fn(usize) -> u64,
    ) -> Option<Self> {
        if dialect.usages(&transcript.layout.elements).iter().flatten().all(|usage| usage.input == 0) {
            return None;
        }
        let with_figures = |session: &Session| session.requests.iter().filter(|request| has_figures(request)).count();
        let sessions = sessions(dialect, transcript);
        let main = sessions.iter().find(|session| session.thread == 0 && with_figures(session) > 0);
        let session = main.or_else(|| sessions.iter().max_by_key(|session| with_figures(session)))?;
        let view = View::new(&transcript.messages, &transcript.layout.preamble, transcript.layout.pairing_rules);
        let outside = counting.outside(&view) as u64;
        let mut sums = vec![0];
        for (position, &index) in session.messages.iter().enumerate() {
            let replaced = replacement_tokens(dialect, transcript, index, counting);
            sums.push(sums[position] + counted(index) + replaced);
        }
        let requests = observe(session, outside, |run| sums[run.end] - sums[run.start]);
        let last = requests.iter().rfind(|request| request.input.is_some())?;
        let calibration = calibrate_next(&requests)?;
        Some(Self { provider: last.input?, ours: last.tokens, messages: last.messages, calibration })
    }

    /// `counting` calibrated for a transcript.
    ///
    /// # Errors
    /// [`NO_FIGURES`] if no request has figures.
    pub fn counting(
        dialect: &dyn Dialect,
        transcript: &Transcript<'_>,
        counting: &Counting,
    ) -> Result<Counting, &'static str> {
        let base = Counting { reserve: 0, ..counting.clone() };
        let counted = |index: usize| base.message(&transcript.messages[index]) as u64;
        let figures = Self::from_transcript(dialect, transcript, &base, counted).ok_or(NO_FIGURES)?;
        Ok(figures.calibrate(counting))
    }

    /// `counting` with these figures.
    #[must_use]
    pub fn calibrate(&self, counting: &Counting) -> Counting {
        let framing = Calibration { hidden: 0.0, ..self.calibration }.apply(0, 1);
        counting.calibrated(self.hidden(), self.calibration.factor, framing)
    }

    /// Tokens of every request that the log does not contain.
    #[must_use]
    pub fn hidden(&self) -> u64 {
        self.calibration.apply(0, 0)
    }

    /// What the calibration predicts for the last request that the provider counted.
    #[must_use]
    pub fn predicted(&self) -> u64 {
        self.calibration.apply(self.ours, self.messages)
    }
}

fn has_figures(request: &Request) -> bool {
    request.usage.is_some()
}

/// Our count of the lists that the message with this index had when it was new: of a compaction that a later one superseded.
fn replacement_tokens(dialect: &dyn Dialect, transcript: &Transcript<'_>, index: usize, counting: &Counting) -> u64 {
    let replacements = transcript.messages[index].value().into_iter().flat_map(|item| dialect.replacement(item));
    replacements.map(|message| counting.message(&message) as u64).sum()
}

/// The requests of `session` to fit. `outside` is our count of the instructions outside the messages, `tokens` that of the
/// messages at some positions.
pub fn observe(session: &Session, outside: u64, tokens: impl Fn(&Range<usize>) -> u64) -> Vec<Observed> {
    let observed = session.requests.iter().map(|request| Observed {
        stretch: request.live_from,
        tokens: outside + request.sent.iter().map(&tokens).sum::<u64>(),
        messages: request.sent.iter().map(ExactSizeIterator::len).sum(),
        input: request.usage.map(|usage| usage.input),
    });
    observed.collect()
}
