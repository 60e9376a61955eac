//! What a report says of sessions below its table.

use std::fmt::Write as _;

use super::columns::percent;
use curtail_core::visible::one_line;
use curtail_lab::replay::{Prices, Replay, SessionReport};

/// What is noted of sessions, for the lines below the table.
#[derive(Default)]
pub(super) struct ReplayNotes {
    /// The factor of each fitted session.
    pub(super) factors: Vec<f64>,
    /// The tokens of each fitted session that its log does not contain; negative if its program dropped more of the history.
    pub(super) hidden: Vec<i64>,
    /// A line for each session whose token counts are inaccurate.
    pub(super) inaccurate: String,
    pub(super) compacted: usize,
    pub(super) dropped: usize,
    /// Counts of requests that did not send the logged history.
    pub(super) strays: usize,
    /// Whether the cost includes replies, and whether it lacks some.
    pub(super) with_output: bool,
    pub(super) without_output: bool,
    pub(super) timeless: usize,
    pub(super) models_changed: usize,
    /// The models without a price; `None` for sessions that name no model.
    pub(super) unpriced: Vec<Option<String>>,
    pub(super) missing: String,
}

impl ReplayNotes {
    /// Notes a session that was replayed.
    pub(super) fn add(&mut self, session: &SessionReport, replay: &Replay) {
        self.add_fit(session, replay.keep_inaccurate);
        self.add_output(session, &replay.prices, replay.model.as_deref());
        self.compacted += usize::from(!session.compacted_before.is_empty());
        self.dropped += usize::from(!session.dropped_before.is_empty());
        self.strays += session.stray_counts.len();
        self.timeless += usize::from(!session.times);
        self.models_changed += usize::from(!session.model_changed_before.is_empty());
        if session.policies.iter().any(|policy| policy.total.cost.is_none()) {
            let name = session.model.as_ref().map(|name| one_line(name).into_owned());
            if !self.unpriced.contains(&name) {
                self.unpriced.push(name);
            }
        }
    }

    /// Notes how the tokens of `session` were counted.
    fn add_fit(&mut self, session: &SessionReport, keep_inaccurate: bool) {
        if let Some(accuracy) = session.accuracy.as_ref().filter(|_| session.inaccurate) {
            let left_out = match keep_inaccurate {
                true => "",
                false => "; every policy counts as recorded there (--keep-inaccurate measures them)",
            };
            let error = percent(accuracy.p90_error);
            let _ = writeln!(
                self.inaccurate,
                "inaccurate: {}: input tokens off by up to {error} (90th percentile){left_out}",
                session.name
            );
        } else if let Some(last) = session.calibration.last() {
            self.factors.push(last.factor);
            self.hidden.push(last.hidden_tokens);
        }
    }

    /// Notes whether the cost of `session` includes the replies.
    fn add_output(&mut self, session: &SessionReport, prices: &Prices, model: Option<&str>) {
        let Some(recorded) = session.policies.first() else { return };
        let price = model.or(session.model.as_deref()).and_then(|name| prices.model(name));
        let is_priced = price.is_some_and(|price| price.output.is_some());
        for request in &recorded.requests {
            let is_included = is_priced && request.output_tokens > 0;
            self.with_output |= is_included;
            self.without_output |= !is_included;
        }
    }
}
