//! All sessions: the sums, the best policies of a sweep, and the verdict on sessions of a kind.

use std::cmp::Ordering;

use serde::Serialize;

use super::report::{Accuracy, PolicyTotal, SessionReport};

/// All sessions together.
#[derive(Debug, Clone, Default, Serialize)]
pub struct TotalReport {
    /// Number of sessions.
    pub sessions: usize,
    /// Number of requests, each once.
    pub requests: usize,
    /// The number of requests that were left out because an earlier session contains them.
    pub shared_requests: usize,
    /// The policies, `as recorded` first; without their requests.
    pub policies: Vec<NamedTotal>,
    /// The accuracy of all sessions that have usage.
    pub accuracy: Option<Accuracy>,
    /// Sessions that every policy's tokens and cost include as recorded, because their error is too large.
    pub inaccurate_sessions: usize,
}

/// The sums of a policy over all sessions.
#[derive(Debug, Clone, Default, Serialize)]
pub struct NamedTotal {
    /// Name of the policy.
    pub name: String,
    /// The sums.
    #[serde(flatten)]
    pub total: PolicyTotal,
    /// Sessions to which the policy could not be applied. If there are any, its sums are not comparable.
    pub failed_sessions: usize,
    /// Whether no other policy beats it in cost and references kept; only with a sweep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pareto: Option<bool>,
}

impl TotalReport {
    /// Adds a session. Of an inaccurate one, every policy gets the tokens and the cost as recorded, so that none saves
    /// anything, unless `keep_inaccurate`.
    pub fn add(&mut self, session: &SessionReport, keep_inaccurate: bool) {
        let is_counted = keep_inaccurate || !session.inaccurate;
        self.inaccurate_sessions += usize::from(!is_counted);
        self.sessions += 1;
        self.requests += session.requests - session.shared_requests;
        self.shared_requests += session.shared_requests;
        if self.policies.is_empty() {
            let named = session.policies.iter().map(|policy| NamedTotal {
                name: policy.name.clone(),
                total: PolicyTotal { cost: Some(0.0), ..PolicyTotal::default() },
                ..NamedTotal::default()
            });
            self.policies = named.collect();
        }
        for (total, policy) in self.policies.iter_mut().zip(&session.policies) {
            total.failed_sessions += usize::from(policy.error.is_some());
            match session.policies.first().filter(|_| !is_counted) {
                None => total.total.add(&policy.total),
                Some(recorded) => total.total.add(&PolicyTotal {
                    losses: policy.total.losses,
                    changed_requests: policy.total.changed_requests,
                    prefix_breaks: policy.total.prefix_breaks,
                    ..recorded.total.clone()
                }),
            }
        }
        if let Some(accuracy) = session.accuracy.as_ref().filter(|_| is_counted) {
            match &mut self.accuracy {
                Some(total) => total.add(accuracy),
                none => *none = Some(accuracy.clone()),
            }
        }
    }

    /// Whether the cost of every policy is known.
    fn has_costs(&self) -> bool {
        self.policies.iter().all(|policy| policy.total.cost.is_some())
    }

    /// Marks which of the policies for which `among` is true are on the Pareto front: no other costs at most as much
    /// and keeps at least as large a share of the references, with one of the two better. If one has no price, tokens are
    /// compared.
    pub fn mark_pareto(&mut self, among: impl Fn(usize) -> bool) {
        let by_cost = self.has_costs();
        let points = self.policies.iter().enumerate().map(|(nth, policy)| {
            let is_compared = among(nth) && policy.failed_sessions == 0;
            is_compared.then(|| (policy.total.price(by_cost), policy.total.kept_share()))
        });
        let points: Vec<Option<(f64, f64)>> = points.collect();
        for (policy, point) in self.policies.iter_mut().zip(&points) {
            policy.pareto = point.map(|(cost, kept)| {
                let mut others = points.iter().flatten();
                !others.any(|other| other.0 <= cost && other.1 >= kept && (other.0 < cost || other.1 > kept))
            });
        }
    }
}

/// The smallest saving, as a share, that makes another policy worth it.
const MIN_SAVING: f64 = 0.01;

/// Sessions of one dialect with one outcome.
#[derive(Debug, Clone, Serialize)]
pub struct SessionGroup {
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
    /// The number of the cheapest policy that changes requests and keeps enough, `as recorded` being 0; `None` if no policy
    /// does.
    pub number: Option<usize>,
    /// Its name.
    pub policy: Option<String>,
    /// Whether any policy changes a request.
    pub changes: bool,
    /// Whether it is worth it: it saves 1 % or more, and no less than the error.
    pub worth_it: bool,
    /// The error of the cost, or of the tokens, that 90 % of the requests do not exceed; `None` if the logs cannot tell.
    pub error: Option<f64>,
    /// Whether `saved` is a share of the cost; otherwise, because a price is not known, of the tokens.
    pub by_cost: bool,
    /// The share that it saves compared with `as recorded`; negative if it costs more.
    pub saved: f64,
    /// The share of the needed references that it keeps.
    pub kept: f64,
    /// If the policy is not worth it: among the policies that save 1 % or more, and no less than `error`, the number of the one
    /// that keeps most.
    pub next: Option<usize>,
    /// The share that `next` saves.
    pub next_saved: f64,
}

impl SessionGroup {
    /// Adds `session` to its group in `groups`, or to a new one.
    pub fn add(groups: &mut Vec<Self>, session: &SessionReport, keep_inaccurate: bool) {
        let known =
            groups.iter().position(|group| group.dialect == session.dialect && group.outcome == session.outcome);
        let at = known.unwrap_or_else(|| {
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
        let by_cost = self.total.has_costs();
        let whole = recorded.total.price(by_cost);
        let saved = |policy: &NamedTotal| if whole > 0.0 { 1.0 - policy.total.price(by_cost) / whole } else { 0.0 };
        let error = self.total.accuracy.as_ref().and_then(|accuracy| match by_cost {
            true => accuracy.p90_cost_error,
            false => Some(accuracy.p90_error),
        });
        let least = error.unwrap_or(0.0).max(MIN_SAVING);
        let comparable: Vec<(usize, &NamedTotal)> = (1..)
            .zip(others)
            .filter(|(_, policy)| policy.failed_sessions == 0 && policy.total.changed_requests > 0)
            .collect();
        let sufficient = comparable.iter().copied().filter(|(_, policy)| policy.total.kept_at_least() >= keep);
        let best = sufficient.min_by(|one, two| by_price(one.1, two.1, by_cost));
        let worth_it = best.is_some_and(|(_, policy)| saved(policy) >= least);
        let saving = comparable.iter().copied().filter(|(_, policy)| !worth_it && saved(policy) >= least);
        let next = saving.min_by(|one, two| {
            let by_kept = two.1.total.kept_at_least().total_cmp(&one.1.total.kept_at_least());
            by_kept.then_with(|| by_price(one.1, two.1, by_cost))
        });
        self.verdict = Some(Verdict {
            number: best.map(|(number, _)| number),
            policy: best.map(|(_, policy)| policy.name.clone()),
            changes: !comparable.is_empty(),
            worth_it,
            error,
            by_cost,
            saved: best.map_or(0.0, |(_, policy)| saved(policy)),
            kept: best.map_or(0.0, |(_, policy)| policy.total.kept_share()),
            next: next.map(|(number, _)| number),
            next_saved: next.map_or(0.0, |(_, policy)| saved(policy)),
        });
    }
}

/// The order of two policies, the cheaper one first.
fn by_price(one: &NamedTotal, two: &NamedTotal, by_cost: bool) -> Ordering {
    one.total.price(by_cost).total_cmp(&two.total.price(by_cost))
}
