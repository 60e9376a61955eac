//! Sums over requests and sessions, the best policies of a sweep, and the verdict on sessions of a kind.

use serde::Serialize;

use super::report::{
    Accuracy, NamedTotal, PolicyReport, PolicyTotal, Probe, Probes, RequestReport, SessionReport, TotalReport,
};
use crate::calibration::percentile;

impl PolicyTotal {
    /// The sums of `requests`.
    #[must_use]
    pub fn sum_up(requests: &[RequestReport]) -> Self {
        let mut total = Self { cost: Some(0.0), ..Self::default() };
        for request in requests {
            total.tokens_sent += request.tokens_sent;
            total.cache_read += request.cache_read;
            total.cache_write += request.cache_write;
            total.uncached += request.uncached;
            total.cost = total.cost.zip(request.cost).map(|(sum, cost)| sum + cost);
            total.prefix_breaks += usize::from(request.prefix_break);
            total.add_losses(&Self::lost_by(request));
            total.largest_request = total.largest_request.max(request.tokens_sent);
        }
        total
    }

    /// What one request lost.
    fn lost_by(request: &RequestReport) -> Self {
        Self {
            kept_references: request.kept_references,
            needed_references: request.needed_references,
            kept_in_calls: request.kept_in_calls,
            needed_in_calls: request.needed_in_calls,
            shown_again: request.shown_again,
            probes: request.probes,
            thoughts_invalidated: request.thoughts_invalidated,
            repeated_calls: request.repeated_calls,
            files_read_again: request.files_read_again,
            ..Self::default()
        }
    }

    /// Adds the sums of another session.
    pub fn add(&mut self, other: &Self) {
        self.tokens_sent += other.tokens_sent;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.uncached += other.uncached;
        self.cost = self.cost.zip(other.cost).map(|(sum, cost)| sum + cost);
        self.prefix_breaks += other.prefix_breaks;
        self.largest_request = self.largest_request.max(other.largest_request);
        self.summary_requests += other.summary_requests;
        self.summary_tokens += other.summary_tokens;
        self.add_losses(other);
        self.breaks_paid_back += other.breaks_paid_back;
        self.pay_backs.extend_from_slice(&other.pay_backs);
        self.set_median();
    }

    /// Adds what another session or a request lost, without its tokens.
    fn add_losses(&mut self, other: &Self) {
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

    /// Computes `pays_back_after`, the median of `pay_backs`.
    pub(super) fn set_median(&mut self) {
        self.pay_backs.sort_unstable();
        self.pays_back_after = self.pay_backs.get(self.pay_backs.len().saturating_sub(1) / 2).copied();
    }

    /// The share of the needed references that were sent; 1 if none was needed.
    #[must_use]
    pub fn kept_share(&self) -> f64 {
        share(self.kept_references, self.needed_references)
    }

    /// The share of the references needed in the arguments of calls that were sent; 1 if none was needed.
    #[must_use]
    pub fn kept_in_calls_share(&self) -> f64 {
        share(self.kept_in_calls, self.needed_in_calls)
    }

    /// The smaller of the two shares.
    #[must_use]
    pub fn kept_at_least(&self) -> f64 {
        self.kept_share().min(self.kept_in_calls_share())
    }

    /// The share of the tokens sent that was read from the cache; 0 if nothing was sent.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "tokens are far fewer than 2^52")]
    pub fn read_share(&self) -> f64 {
        self.cache_read as f64 / self.tokens_sent.max(1) as f64
    }
}

impl Probes {
    /// Every kind of probe.
    const fn each(&mut self) -> [&mut Probe; 4] {
        [&mut self.instruction, &mut self.edited_file, &mut self.failing_test, &mut self.todos]
    }

    fn add(&mut self, other: &Self) {
        for (probe, other) in self.each().into_iter().zip({ *other }.each()) {
            (probe.sent, probe.of) = (probe.sent + other.sent, probe.of + other.of);
        }
    }

    /// The share of all probes whose item was sent; 1 without any.
    #[must_use]
    pub fn sent_share(mut self) -> f64 {
        let (sent, of) = self.each().iter().fold((0, 0), |sum, probe| (sum.0 + probe.sent, sum.1 + probe.of));
        share(sent, of)
    }
}

#[expect(clippy::cast_precision_loss, reason = "references are far fewer than 2^52")]
fn share(kept: usize, needed: usize) -> f64 {
    if needed == 0 { 1.0 } else { kept as f64 / needed as f64 }
}

impl TotalReport {
    /// Adds a session. Of an inaccurate one, only the losses of its policies are added, unless `keep_inaccurate`.
    pub fn add(&mut self, session: &SessionReport, keep_inaccurate: bool) {
        let is_counted = keep_inaccurate || !session.inaccurate;
        self.inaccurate_sessions += usize::from(!is_counted);
        self.sessions += 1;
        self.requests += session.requests;
        if self.policies.is_empty() {
            let named = |policy: &PolicyReport| NamedTotal {
                name: policy.name.clone(),
                total: PolicyTotal { cost: Some(0.0), ..PolicyTotal::default() },
                failed_sessions: 0,
                pareto: None,
            };
            self.policies = session.policies.iter().map(named).collect();
        }
        for (total, policy) in self.policies.iter_mut().zip(&session.policies) {
            total.failed_sessions += usize::from(policy.error.is_some());
            match is_counted {
                true => total.total.add(&policy.total),
                false => total.total.add_losses(&policy.total),
            }
        }
        if let Some(accuracy) = session.accuracy.as_ref().filter(|_| is_counted) {
            match &mut self.accuracy {
                Some(total) => total.add(accuracy),
                none => *none = Some(accuracy.clone()),
            }
        }
    }

    /// Marks which of the policies for which `among` is true are on the Pareto front: no other costs at most as much
    /// and keeps at least as large a share of the references, with one of the two better. Without prices, tokens are
    /// compared.
    pub fn mark_pareto(&mut self, among: impl Fn(usize) -> bool) {
        #[expect(clippy::cast_precision_loss, reason = "tokens are far fewer than 2^52")]
        let cost = |total: &PolicyTotal| total.cost.unwrap_or(total.tokens_sent as f64);
        let points: Vec<Option<(f64, f64)>> = self
            .policies
            .iter()
            .enumerate()
            .map(|(nth, policy)| {
                (among(nth) && policy.failed_sessions == 0).then(|| (cost(&policy.total), policy.total.kept_share()))
            })
            .collect();
        for (policy, point) in self.policies.iter_mut().zip(&points) {
            policy.pareto = point.map(|(cost, kept)| {
                let beats =
                    |other: &(f64, f64)| other.0 <= cost && other.1 >= kept && (other.0 < cost || other.1 > kept);
                !points.iter().flatten().any(beats)
            });
        }
    }
}

impl Accuracy {
    /// Adds the accuracy of another session.
    fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.errors.extend_from_slice(&other.errors);
        self.sums = std::array::from_fn(|nth| self.sums[nth] + other.sums[nth]);
        self.compute();
    }

    /// Computes errors and shares from `errors` and `sums`.
    #[expect(clippy::cast_precision_loss, reason = "tokens are far fewer than 2^52")]
    pub(super) fn compute(&mut self) {
        self.median_error = percentile(&mut self.errors, 50).unwrap_or(0.0);
        self.p90_error = percentile(&mut self.errors, 90).unwrap_or(0.0);
        let [tokens, read, input, recorded_read] = self.sums.map(|sum| sum as f64);
        self.cache_read_predicted = read / tokens.max(1.0);
        self.cache_read_recorded = recorded_read / input.max(1.0);
        self.cache_read_error = self.cache_read_predicted - self.cache_read_recorded;
    }
}

// The verdict on sessions of a kind: the cheapest policy that keeps enough of what the model used.

/// The smallest saving, as a share, that makes another policy worth it.
const MIN_SAVING: f64 = 0.01;

/// Sessions of one dialect with one outcome.
#[derive(Debug, Clone, Serialize)]
pub struct Group {
    /// The dialect.
    pub dialect: &'static str,
    /// The outcome, if the logs have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Its sums.
    #[serde(flatten)]
    pub total: TotalReport,
    /// Our count of the largest recorded request.
    pub largest_counted: u64,
    /// The verdict, once all sessions are added.
    pub verdict: Option<Verdict>,
}

/// Which policy would have been best for the sessions of a group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// The number of the cheapest policy that keeps enough, `as recorded` being 0; `None` if no policy does.
    pub number: Option<usize>,
    /// Its name.
    pub policy: Option<String>,
    /// Whether it is worth it: it saves 1 % or more.
    pub worth_it: bool,
    /// Whether `saved` is a share of the cost; otherwise, because a price is not known, of the tokens.
    pub by_cost: bool,
    /// The share that it saves compared with `as recorded`; negative if it costs more.
    pub saved: f64,
    /// The share of the needed references that it keeps.
    pub kept: f64,
    /// If the policy is not worth it: among the policies that save 1 % or more, the number of the one that keeps most.
    pub next: Option<usize>,
    /// The share that `next` saves.
    pub next_saved: f64,
}

impl Group {
    /// Adds `session` to its group in `groups`, or to a new one.
    pub fn add(groups: &mut Vec<Self>, session: &SessionReport, keep_inaccurate: bool) {
        let is_group = |group: &Self| group.dialect == session.dialect && group.outcome == session.outcome;
        let at = groups.iter().position(is_group).unwrap_or_else(|| {
            groups.push(Self {
                dialect: session.dialect,
                outcome: session.outcome.clone(),
                total: TotalReport::default(),
                largest_counted: 0,
                verdict: None,
            });
            groups.len() - 1
        });
        let group = &mut groups[at];
        group.total.add(session, keep_inaccurate);
        group.largest_counted = group.largest_counted.max(session.largest_counted);
    }

    /// Decides which policy is the cheapest of those that keep the share `keep` both of the needed references and of
    /// those needed in calls.
    pub fn decide(&mut self, keep: f64) {
        let Some((recorded, others)) = self.total.policies.split_first() else { return };
        let by_cost = self.total.policies.iter().all(|policy| policy.total.cost.is_some());
        let price = |total: &PolicyTotal| price(total, by_cost);
        let whole = price(&recorded.total);
        let saved = |policy: &NamedTotal| if whole > 0.0 { 1.0 - price(&policy.total) / whole } else { 0.0 };
        let comparable = || (1..).zip(others).filter(|(_, policy)| policy.failed_sessions == 0);
        let cheaper = |one: &(usize, &NamedTotal), two: &(usize, &NamedTotal)| {
            price(&one.1.total).total_cmp(&price(&two.1.total))
        };
        let best = comparable().filter(|(_, policy)| policy.total.kept_at_least() >= keep).min_by(cheaper);
        let worth_it = best.is_some_and(|(_, policy)| saved(policy) >= MIN_SAVING);
        let saving = comparable().filter(|(_, policy)| !worth_it && saved(policy) >= MIN_SAVING);
        let next = saving.min_by(|one, two| {
            let kept = |policy: &(usize, &NamedTotal)| policy.1.total.kept_at_least();
            kept(two).total_cmp(&kept(one)).then_with(|| cheaper(one, two))
        });
        self.verdict = Some(Verdict {
            number: best.map(|(number, _)| number),
            policy: best.map(|(_, policy)| policy.name.clone()),
            worth_it,
            by_cost,
            saved: best.map_or(0.0, |(_, policy)| saved(policy)),
            kept: best.map_or(0.0, |(_, policy)| policy.total.kept_share()),
            next: next.map(|(number, _)| number),
            next_saved: next.map_or(0.0, |(_, policy)| saved(policy)),
        });
    }
}

#[expect(clippy::cast_precision_loss, reason = "tokens are far fewer than 2^52")]
fn price(total: &PolicyTotal, by_cost: bool) -> f64 {
    total.cost.filter(|_| by_cost).unwrap_or(total.tokens_sent as f64)
}
