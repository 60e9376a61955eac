//! The usage in one transcript: the provider's last count, and the calibration of the next request.

use std::ops::Range;

use super::calibration::{Calibration, Observed, calibrate_next, ignore_strays, stretches};
use crate::requests::{Session, sessions};
use curtail_core::dialects::Dialect;
use curtail_core::processors::{Counting, View};
use curtail_core::transcript::Transcript;

/// Why a transcript cannot be counted by the provider's usage.
pub const NO_FIGURES: &str =
    "no reply has the provider's count of its input, so --tokenizer usage cannot count; name another tokenizer";

/// The provider's last count in a transcript, and how it follows from ours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures {
    /// Input tokens of the last request that the provider counted.
    pub provider: u64,
    /// Our count of that request, as far as the log contains it: messages, and instructions outside them.
    pub ours: u64,
    /// The number of its messages.
    pub messages: usize,
    /// How the provider's count follows from ours.
    pub calibration: Calibration,
    /// Whether the program dropped a part of the history before that request without a record in the log. Our count
    /// contains this part, and the provider's does not.
    pub dropped: bool,
}

impl Figures {
    /// The usage of the main conversation of `transcript` or, if it has none, of the side conversation with the most
    /// counted requests. `counted` returns our count of the message with an index. `None` if the provider counted no
    /// request.
    pub fn from_transcript(
        dialect: &dyn Dialect,
        transcript: &Transcript<'_>,
        counting: &Counting,
        counted: impl Fn(usize) -> u64,
    ) -> Option<Self> {
        if dialect.log().usages(&transcript.layout.elements).iter().flatten().all(|usage| usage.input == 0) {
            return None;
        }
        let sessions = sessions(dialect, transcript);
        let main = sessions.iter().find(|session| session.thread == 0 && counted_requests(session) > 0);
        let session = main.or_else(|| sessions.iter().max_by_key(|session| counted_requests(session)))?;
        let view = View::of_layout(&transcript.layout, &transcript.messages);
        let outside = counting.outside(&view) as u64;
        let mut sums = vec![0];
        for (position, &index) in session.messages.iter().enumerate() {
            let replaced = replacement_tokens(dialect, transcript, index, counting);
            sums.push(sums[position] + counted(index) + replaced);
        }
        let requests = observe(session, outside, |run| sums[run.end] - sums[run.start]);
        let last = requests.iter().rfind(|request| request.input.is_some())?;
        let calibration = calibrate_next(&requests)?;
        let dropped = stretches(&requests).last().is_some_and(|stretch| stretch.drops);
        Some(Self { provider: last.input?, ours: last.tokens, messages: last.messages, calibration, dropped })
    }

    /// `counting`, calibrated by the usage in `transcript`.
    ///
    /// # Errors
    /// [`NO_FIGURES`] if the provider counted no request.
    pub fn counting(
        dialect: &dyn Dialect,
        transcript: &Transcript<'_>,
        counting: &Counting,
    ) -> Result<Counting, &'static str> {
        let base = Counting { reserve: 0, ..counting.clone() };
        let usage =
            Self::from_transcript(dialect, transcript, &base, |index| base.message(&transcript.messages[index]) as u64);
        Ok(usage.ok_or(NO_FIGURES)?.calibrate(counting))
    }

    /// `counting` with this calibration.
    pub fn calibrate(&self, counting: &Counting) -> Counting {
        counting.calibrated(self.hidden(), self.calibration.factor, self.calibration.added(0, 1))
    }

    /// Tokens of every request that the log does not contain.
    pub fn hidden(&self) -> u64 {
        self.calibration.apply(0, 0)
    }

    /// The calibrated count of the last request that the provider counted, to compare with [`Self::provider`].
    pub fn predicted(&self) -> u64 {
        self.calibration.apply(self.ours, self.messages)
    }
}

/// Our count of the message list inside the compaction at `index`, if a later compaction superseded it: the transcript
/// no longer contains these messages, but requests sent them.
fn replacement_tokens(dialect: &dyn Dialect, transcript: &Transcript<'_>, index: usize, counting: &Counting) -> u64 {
    let replacements = transcript.messages[index].value().into_iter().flat_map(|item| dialect.log().replacement(item));
    replacements.map(|message| counting.message(&message) as u64).sum()
}

/// The requests of `session`, to calibrate them. `outside` is our count of the instructions outside the messages;
/// `tokens` returns our count of the messages at some positions. Counts of other requests are left out, so that nothing is
/// fitted to them.
pub fn observe(session: &Session, outside: u64, tokens: impl Fn(&Range<usize>) -> u64) -> Vec<Observed> {
    let observed = session.requests.iter().map(|request| Observed {
        stretch: request.live_from,
        tokens: outside + request.sent.iter().map(&tokens).sum::<u64>(),
        messages: request.sent.iter().map(ExactSizeIterator::len).sum(),
        input: request.usage.map(|usage| usage.input),
    });
    let mut observed: Vec<Observed> = observed.collect();
    ignore_strays(&mut observed);
    observed
}

fn counted_requests(session: &Session) -> usize {
    session.requests.iter().filter(|request| request.usage.is_some()).count()
}
