//! What providers counted in the transcripts, added up.

use serde::Serialize;

use curtail_lab::figures::Figures;
use curtail_lab::{CountedRequest, SeenRequests};

/// What the provider counted in a transcript.
#[derive(Debug, Clone)]
pub(crate) struct LoggedUsage {
    /// Of the last request.
    pub(crate) last: Figures,
    /// All requests that it counted, to find those that other files repeat.
    pub(crate) requests: Vec<CountedRequest>,
}

/// The provider's counts, added up over the transcripts whose logs contain them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct UsageSum {
    pub(crate) transcripts: usize,
    /// Input tokens of the last request of each.
    pub(crate) provider: u64,
    /// Our calibrated count of the same requests.
    pub(crate) calibrated: u64,
    /// The part of [`calibrated`](Self::calibrated) that the logs do not contain.
    pub(crate) hidden: u64,
    /// Our count of the rest, before the calibration.
    pub(crate) counted: u64,
    /// The number of transcripts whose program dropped a part of the history without a record in the log.
    pub(crate) dropped: usize,
    /// The number of requests that an earlier file contains as well. If the last one of a transcript is, the sums do not
    /// contain it.
    pub(crate) shared: usize,
}

impl UsageSum {
    /// Adds the usage of a transcript, unless `earlier` files contain its last request.
    pub(crate) fn add_once(&mut self, usage: &LoggedUsage, earlier: &mut SeenRequests) {
        let shared = earlier.shared(usage.requests.iter().map(|request| &request.keys));
        self.shared += shared.iter().filter(|shared| **shared).count();
        if shared.last() != Some(&true) {
            self.add(&usage.last);
        }
    }

    fn add(&mut self, last: &Figures) {
        self.transcripts += 1;
        self.provider += last.provider;
        self.calibrated += last.predicted();
        self.hidden += last.hidden();
        self.counted += last.ours;
        self.dropped += usize::from(last.dropped);
    }
}
