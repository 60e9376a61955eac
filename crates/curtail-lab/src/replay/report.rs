//! The results of a replay as data: per request, per policy, per session and in total. They serialize as the JSON
//! report.
#![expect(clippy::cast_precision_loss, reason = "tokens and references are far fewer than 2^52")]

use std::collections::BTreeMap;

use serde::Serialize;

use super::prompt_cache::{CacheUse, is_zero};
use super::summaries::Summaries;
use crate::calibration::percentile;
use crate::copies::SeenRequests;
use curtail_core::transcript::Usage;

/// The largest relative error (90th percentile) with which the tokens of a session are meaningful.
const MAX_ERROR: f64 = 0.1;

/// A session and every policy that was applied to it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SessionReport {
    /// The file, with the line of a record and the number of a side conversation.
    pub name: String,
    /// The dialect of the file.
    pub dialect: &'static str,
    /// The model that most requests name.
    pub model: Option<String>,
    /// The cache rules that were applied.
    pub cache: String,
    /// Whether every request has a time. If not, the lifetime of the cache is not applied.
    pub times: bool,
    /// Number of requests.
    pub requests: usize,
    /// The requests, from 1, before which the log was compacted.
    pub compacted_before: Vec<usize>,
    /// The number of requests that an earlier session contains as well. The sums do not include them.
    pub shared_requests: usize,
    /// The requests, from 1, before which the program dropped a part of the history although the log does not say so: from
    /// then on, the provider counted less than before.
    pub dropped_before: Vec<usize>,
    /// The requests, from 1, whose count in the log does not belong to the logged history: it differs from the counts around
    /// it, which continue each other. Nothing is fitted to it, and every policy pays at most this request.
    pub stray_counts: Vec<usize>,
    /// The requests, from 1, that another model answered than the previous one: its cache does not contain the session
    /// yet.
    pub model_changed_before: Vec<usize>,
    /// The requests, from 1, after a pause longer than the lifetime of the cache, as when a session is resumed.
    pub paused_before: Vec<usize>,
    /// The number of replies that the program wrote itself because the provider answered with an error. They belong to
    /// no request.
    pub rejected: usize,
    /// How the provider's count follows from ours, by stretch between compactions; empty without usage in the log.
    pub calibration: Vec<CalibrationReport>,
    /// The policies, `as recorded` first.
    pub policies: Vec<PolicyReport>,
    /// How well `as recorded` predicts the provider's count; `None` if the log has too little usage to test it.
    pub accuracy: Option<Accuracy>,
    /// How the session ended, if its record says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Our count of the largest recorded request.
    pub largest_counted: u64,
    /// Whether the 90th percentile of the error is above 10 %. What is said of the tokens and the cost of policies in such a
    /// session is not meaningful.
    pub inaccurate: bool,
    /// What identifies each request in other files that contain it.
    #[serde(skip)]
    pub(super) keys: Vec<Vec<u64>>,
}

impl SessionReport {
    /// Leaves requests that earlier sessions contain out of the sums. Sessions must be passed in the order of their files.
    pub fn count_once(&mut self, earlier: &mut SeenRequests) {
        let shared = earlier.shared(self.keys.iter());
        self.shared_requests = shared.iter().filter(|shared| **shared).count();
        if self.shared_requests == 0 {
            return;
        }
        for policy in &mut self.policies {
            policy.requests.iter_mut().zip(&shared).for_each(|(request, shared)| request.shared = *shared);
            policy.missing.retain(|missing| !shared.get(missing.request - 1).is_some_and(|shared| *shared));
            policy.sum_up();
        }
        self.set_accuracy();
    }

    /// Computes the accuracy from the requests that no earlier session contains.
    pub(super) fn set_accuracy(&mut self) {
        self.accuracy = Accuracy::from_requests(self.policies.first().map_or(&[][..], |policy| &policy.requests));
        self.inaccurate = self.accuracy.as_ref().is_some_and(|accuracy| accuracy.p90_error > MAX_ERROR);
    }
}

/// The calibration from a request on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CalibrationReport {
    /// The first request, from 1.
    pub from_request: usize,
    /// Tokens of every request that the log does not contain.
    pub hidden_tokens: i64,
    /// Tokens of the log that the program dropped from every request without a record in the log.
    #[serde(skip_serializing_if = "is_zero")]
    pub dropped_tokens: i64,
    /// The provider's tokens per token of ours.
    pub factor: f64,
    /// The provider's tokens around each message.
    pub framing: f64,
}

/// The effect of one policy on a session.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PolicyReport {
    /// Its name.
    pub name: String,
    /// The sums over all requests.
    #[serde(flatten)]
    pub total: PolicyTotal,
    /// Every request, in order.
    pub requests: Vec<RequestReport>,
    /// References that the model used and would not have been sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Missing>,
    /// Why the policy could not be applied. The sums contain the requests before the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What its summarizer was asked.
    #[serde(skip)]
    pub(super) summaries: Summaries,
}

impl PolicyReport {
    /// Computes the sums of the requests that no earlier session contains.
    pub(super) fn sum_up(&mut self) {
        let mut total = PolicyTotal::sum_up(self.requests.iter().filter(|request| !request.shared));
        total.summary_requests = self.summaries.requests;
        total.summary_tokens = self.summaries.tokens;
        total.cost = total.cost.zip(self.summaries.cost).map(|(cost, summaries)| cost + summaries);
        let breaks: Vec<&RequestReport> = self.requests.iter().filter(|request| request.prefix_break).collect();
        let ends = breaks.iter().skip(1).map(|next| next.number).chain([self.requests.len() + 1]);
        for (one, end) in breaks.iter().zip(ends).filter(|(one, _)| !one.shared) {
            let is_paid = one.pays_back_after.is_some_and(|after| after < (end - one.number) as u64);
            total.breaks_paid_back += usize::from(is_paid);
            if let Some(after) = one.pays_back_after {
                *total.pay_backs.entry(after).or_default() += 1;
            }
        }
        total.set_median();
        self.total = total;
    }
}

/// Sums over requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PolicyTotal {
    /// Tokens of all requests, in the provider's count where the log calibrates it.
    pub tokens_sent: u64,
    /// How they are billed.
    #[serde(flatten)]
    pub billed: CacheUse,
    /// Tokens of the replies, where the log has them; the same for every policy.
    pub output_tokens: u64,
    /// Price in US dollars; `None` if the price of a request is not known.
    pub cost: Option<f64>,
    /// Requests in which the policy dropped, changed or added a message.
    pub changed_requests: usize,
    /// Requests that do not begin with the whole previous request.
    pub prefix_breaks: usize,
    /// What was not sent although the model used it or had to know it.
    #[serde(flatten)]
    pub losses: Losses,
    /// Tokens of the largest request.
    pub largest_request: u64,
    /// Distinct requests for summaries; the cost includes them.
    pub summary_requests: usize,
    /// Tokens of those requests.
    pub summary_tokens: u64,
    /// Prefix breaks whose extra cost later requests saved before the next break or the end.
    pub breaks_paid_back: usize,
    /// The median number of requests after which the extra cost of a break is saved; `None` if none is ever saved.
    pub pays_back_after: Option<u64>,
    /// How many such breaks need each number of requests, to merge sessions.
    #[serde(skip)]
    pub pay_backs: BTreeMap<u64, usize>,
}

impl PolicyTotal {
    /// The sums of `requests`.
    fn sum_up<'r>(requests: impl Iterator<Item = &'r RequestReport>) -> Self {
        let mut total = Self { cost: Some(0.0), ..Self::default() };
        for request in requests {
            total.add(&Self {
                tokens_sent: request.tokens_sent,
                billed: request.billed,
                output_tokens: request.output_tokens,
                cost: request.cost,
                changed_requests: usize::from(request.changed),
                prefix_breaks: usize::from(request.prefix_break),
                losses: request.losses,
                largest_request: request.tokens_sent,
                ..Self::default()
            });
        }
        total
    }

    /// Adds the sums of another session, or of a request.
    pub(super) fn add(&mut self, other: &Self) {
        self.tokens_sent += other.tokens_sent;
        self.billed.read += other.billed.read;
        self.billed.write += other.billed.write;
        self.billed.write_long += other.billed.write_long;
        self.billed.uncached += other.billed.uncached;
        self.output_tokens += other.output_tokens;
        self.cost = self.cost.zip(other.cost).map(|(sum, cost)| sum + cost);
        self.changed_requests += other.changed_requests;
        self.prefix_breaks += other.prefix_breaks;
        self.losses.add(&other.losses);
        self.largest_request = self.largest_request.max(other.largest_request);
        self.summary_requests += other.summary_requests;
        self.summary_tokens += other.summary_tokens;
        self.breaks_paid_back += other.breaks_paid_back;
        for (after, breaks) in &other.pay_backs {
            *self.pay_backs.entry(*after).or_default() += breaks;
        }
        self.set_median();
    }

    /// Computes `pays_back_after`, the median of `pay_backs`.
    fn set_median(&mut self) {
        let half = self.pay_backs.values().sum::<usize>().div_ceil(2);
        let mut so_far = 0;
        let mut counts = self.pay_backs.iter();
        self.pays_back_after = counts.find_map(|(after, breaks)| {
            so_far += breaks;
            (so_far >= half).then_some(*after)
        });
    }

    /// The share of the needed references that were sent; 1 if none was needed.
    pub fn kept_share(&self) -> f64 {
        share(self.losses.kept_references, self.losses.needed_references)
    }

    /// The share of the references needed in the arguments of calls that were sent; 1 if none was needed.
    pub fn kept_in_calls_share(&self) -> f64 {
        share(self.losses.kept_in_calls, self.losses.needed_in_calls)
    }

    /// The smaller of the two shares.
    pub(crate) fn kept_at_least(&self) -> f64 {
        self.kept_share().min(self.kept_in_calls_share())
    }

    /// The share of the tokens sent that was read from the cache; 0 if nothing was sent.
    pub fn read_share(&self) -> f64 {
        self.billed.read as f64 / self.tokens_sent.max(1) as f64
    }

    /// What it costs or, if not `by_cost` or without a price, the tokens that were sent.
    pub(super) fn price(&self, by_cost: bool) -> f64 {
        self.cost.filter(|_| by_cost).unwrap_or(self.tokens_sent as f64)
    }
}

/// What the model used of the history or had to know, and how much of it was sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Losses {
    /// References that the model used and that were sent.
    pub kept_references: usize,
    /// References that the model used and that were made earlier in the session.
    pub needed_references: usize,
    /// References that the model used in the arguments of calls and that were sent.
    pub kept_in_calls: usize,
    /// References that the model used in the arguments of calls and that were made earlier in the session.
    pub needed_in_calls: usize,
    /// References that were not sent, and that a result of the next five requests showed again.
    pub shown_again: usize,
    /// What the model has to know at each request, and whether it was sent.
    pub probes: Probes,
    /// Signed reasoning that was sent after a prefix that differs from the original one.
    pub thoughts_invalidated: usize,
    /// Recorded calls that repeat a call whose result was not sent.
    pub repeated_calls: usize,
    /// Recorded reads of a file whose earlier content was not sent.
    pub files_read_again: usize,
}

impl Losses {
    pub(super) fn add(&mut self, other: &Self) {
        self.kept_references += other.kept_references;
        self.needed_references += other.needed_references;
        self.kept_in_calls += other.kept_in_calls;
        self.needed_in_calls += other.needed_in_calls;
        self.shown_again += other.shown_again;
        self.probes.add(&other.probes);
        self.thoughts_invalidated += other.thoughts_invalidated;
        self.repeated_calls += other.repeated_calls;
        self.files_read_again += other.files_read_again;
    }
}

/// What a model has to know to continue: for each item, the number of requests that sent it, of those at which it
/// existed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Probes {
    /// The last message that a person wrote.
    pub instruction: Probe,
    /// The name of the file that was edited last.
    pub edited_file: Probe,
    /// The test that failed last and has not passed since.
    pub failing_test: Probe,
    /// The to-do list, while one of its items is open.
    pub todos: Probe,
}

/// How often something was sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Probe {
    /// Requests that sent it.
    pub sent: usize,
    /// Requests at which it existed.
    pub of: usize,
}

impl Probe {
    /// The probe of one request: whether what exists at it is sent.
    pub(super) fn of<T>(part: Option<T>, is_sent: impl FnOnce(T) -> bool) -> Self {
        Self { of: usize::from(part.is_some()), sent: usize::from(part.is_some_and(is_sent)) }
    }
}

impl Probes {
    /// Every kind of probe.
    const fn each(&mut self) -> [&mut Probe; 4] {
        [&mut self.instruction, &mut self.edited_file, &mut self.failing_test, &mut self.todos]
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (probe, other) in self.each().into_iter().zip({ *other }.each()) {
            (probe.sent, probe.of) = (probe.sent + other.sent, probe.of + other.of);
        }
    }

    /// The share of all probes whose item was sent; 1 without any.
    pub fn sent_share(mut self) -> f64 {
        let (sent, of) = self.each().iter().fold((0, 0), |sum, probe| (sum.0 + probe.sent, sum.1 + probe.of));
        share(sent, of)
    }
}

fn share(kept: usize, needed: usize) -> f64 {
    if needed == 0 { 1.0 } else { kept as f64 / needed as f64 }
}

/// One request under one policy.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RequestReport {
    /// Its number, from 1.
    pub number: usize,
    /// Number of the first message of the reply, from 1, in the file.
    pub message: usize,
    /// Time of the reply in the format of the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Messages that were sent.
    pub messages_sent: usize,
    /// Tokens that were sent.
    pub tokens_sent: u64,
    /// Tokens in common with the beginning of the previous request.
    pub common_prefix: u64,
    /// How they are billed.
    #[serde(flatten)]
    pub billed: CacheUse,
    /// Tokens of the reply, if the log has them.
    pub output_tokens: u64,
    /// Price in US dollars: of the input, and of the reply if its tokens and their price are known.
    pub cost: Option<f64>,
    /// Whether the policy dropped, changed or added a message of those that it saw.
    pub changed: bool,
    /// Whether an earlier session contains the request, so that the sums do not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// Whether the request does not begin with the whole previous request.
    pub prefix_break: bool,
    /// What was not sent although the reply used it or the model had to know it.
    #[serde(flatten)]
    pub losses: Losses,
    /// The number of later, shorter requests that save the extra cost of the prefix break. `None` without a break, or
    /// if they save nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pays_back_after: Option<u64>,
    /// The provider's count, in `as recorded`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
    /// What would have been predicted in place of that count, in `as recorded`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted: Option<Predicted>,
}

/// A prediction for a recorded request, to compare with what the provider counted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Predicted {
    /// Tokens of the input.
    pub tokens_sent: u64,
    /// Tokens read from the cache by its rules, had it never missed.
    pub cache_read: u64,
    /// Price in US dollars, with the cache misses of the log.
    pub cost: Option<f64>,
    /// Whether the fit did not see the request, so that it tests the prediction.
    pub held: bool,
}

/// The provider's count for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Recorded {
    /// Tokens of the input, cached ones included.
    pub tokens_sent: u64,
    /// Tokens read from the cache.
    pub cache_read: u64,
    /// Tokens written to the cache.
    pub cache_write: u64,
}

impl From<Usage> for Recorded {
    fn from(usage: Usage) -> Self {
        Self { tokens_sent: usage.input, cache_read: usage.cache_read, cache_write: usage.cache_write }
    }
}

/// A reference that the model used and that would not have been sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// The reference.
    pub reference: String,
    /// The request whose reply used it, from 1.
    pub request: usize,
    /// The last message before it that contained it, from 1, in the file.
    pub message: usize,
    /// The role of that message.
    pub role: &'static str,
    /// The first request, from 1, that was sent without the message.
    pub dropped_at: usize,
}

/// How well `as recorded` predicts the provider's usage, on requests that no calibration saw.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Accuracy {
    /// The number of these requests.
    pub requests: usize,
    /// Median of the relative error of the input tokens of a request.
    pub median_error: f64,
    /// The relative error that 90 % of the requests do not exceed.
    pub p90_error: f64,
    /// Median of the relative error of the cost of a request; `None` if no price is known.
    pub median_cost_error: Option<f64>,
    /// The relative error of the cost that 90 % of the requests do not exceed.
    pub p90_cost_error: Option<f64>,
    /// Share of the input that the rules of the cache predict to be read from it.
    pub cache_read_predicted: f64,
    /// Share of the input that the provider read from the cache.
    pub cache_read_recorded: f64,
    /// The difference of the two shares.
    pub cache_read_error: f64,
    /// The relative error of every such request, to merge sessions.
    #[serde(skip)]
    pub errors: Vec<f64>,
    /// The relative error of the cost of every such request with a price.
    #[serde(skip)]
    pub cost_errors: Vec<f64>,
    /// Input tokens and cache reads as predicted, then as recorded, to merge sessions.
    #[serde(skip)]
    pub sums: [u64; 4],
}

impl Accuracy {
    /// The accuracy on those of the requests `as recorded` that were held out for the test; `None` without any.
    pub(super) fn from_requests(recorded: &[RequestReport]) -> Option<Self> {
        let mut accuracy = Self::default();
        for request in recorded.iter().filter(|request| !request.shared) {
            let Some(predicted) = request.predicted.filter(|predicted| predicted.held) else { continue };
            let tokens = predicted.tokens_sent as f64;
            let input = request.tokens_sent as f64;
            let sums = [predicted.tokens_sent, predicted.cache_read, request.tokens_sent, request.billed.read];
            let costs = predicted.cost.zip(request.cost).filter(|(_, cost)| *cost > 0.0);
            accuracy.requests += 1;
            accuracy.errors.push((tokens - input).abs() / input.max(1.0));
            accuracy.cost_errors.extend(costs.map(|(predicted, cost)| (predicted - cost).abs() / cost));
            accuracy.sums = std::array::from_fn(|nth| accuracy.sums[nth] + sums[nth]);
        }
        accuracy.compute();
        (accuracy.requests > 0).then_some(accuracy)
    }

    /// Adds the accuracy of another session.
    pub(super) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.errors.extend_from_slice(&other.errors);
        self.cost_errors.extend_from_slice(&other.cost_errors);
        self.sums = std::array::from_fn(|nth| self.sums[nth] + other.sums[nth]);
        self.compute();
    }

    /// Computes errors and shares from `errors` and `sums`.
    fn compute(&mut self) {
        self.median_error = percentile(&mut self.errors, 50).unwrap_or(0.0);
        self.p90_error = percentile(&mut self.errors, 90).unwrap_or(0.0);
        self.median_cost_error = percentile(&mut self.cost_errors, 50);
        self.p90_cost_error = percentile(&mut self.cost_errors, 90);
        let [tokens, read, input, recorded_read] = self.sums.map(|sum| sum as f64);
        self.cache_read_predicted = read / tokens.max(1.0);
        self.cache_read_recorded = recorded_read / input.max(1.0);
        self.cache_read_error = self.cache_read_predicted - self.cache_read_recorded;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session with one request whose prediction is twice the count.
    fn session() -> SessionReport {
        let predicted = Predicted { tokens_sent: 200, cache_read: 0, cost: None, held: true };
        let request =
            RequestReport { number: 1, tokens_sent: 100, predicted: Some(predicted), ..RequestReport::default() };
        let recorded = PolicyReport { requests: vec![request], ..PolicyReport::default() };
        let mut session = SessionReport { policies: vec![recorded], keys: vec![vec![1]], ..SessionReport::default() };
        session.set_accuracy();
        session
    }

    #[test]
    fn a_session_is_inaccurate_only_by_requests_of_its_own() {
        let mut earlier = SeenRequests::default();
        for is_inaccurate in [true, false] {
            let mut session = session();
            session.count_once(&mut earlier);
            assert_eq!((session.inaccurate, session.accuracy.is_some()), (is_inaccurate, is_inaccurate));
        }
    }
}
