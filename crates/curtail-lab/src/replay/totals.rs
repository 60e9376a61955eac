//! Sums of figures over requests and sessions, and the best policies of a sweep.

use super::report::{NamedTotal, PolicyTotal, RequestReport, SessionReport, TotalReport, Truth};
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
            total.cost = total.cost.zip(request.cost).map(|(sum, own)| sum + own);
            total.prefix_breaks += usize::from(request.prefix_break);
            total.kept_references += request.kept_references;
            total.needed_references += request.needed_references;
            total.thoughts_invalidated += request.thoughts_invalidated;
            total.repeated_calls += request.repeated_calls;
            total.files_read_again += request.files_read_again;
            total.largest_request = total.largest_request.max(request.tokens_sent);
        }
        total
    }

    /// Adds the sums of another session.
    pub fn add(&mut self, other: &Self) {
        self.tokens_sent += other.tokens_sent;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.uncached += other.uncached;
        self.cost = self.cost.zip(other.cost).map(|(sum, own)| sum + own);
        self.prefix_breaks += other.prefix_breaks;
        self.largest_request = self.largest_request.max(other.largest_request);
        self.add_losses(other);
        self.breaks_paid_back += other.breaks_paid_back;
        self.pay_backs.extend_from_slice(&other.pay_backs);
        self.set_median();
    }

    /// Adds what another session lost, without its tokens.
    fn add_losses(&mut self, other: &Self) {
        self.kept_references += other.kept_references;
        self.needed_references += other.needed_references;
        self.thoughts_invalidated += other.thoughts_invalidated;
        self.repeated_calls += other.repeated_calls;
        self.files_read_again += other.files_read_again;
    }

    /// Computes the median of the breaks.
    pub(super) fn set_median(&mut self) {
        self.pay_backs.sort_unstable();
        self.pays_back_after = self.pay_backs.get(self.pay_backs.len().saturating_sub(1) / 2).copied();
    }

    /// The share of the needed references that were sent; 1 if none was needed.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "references are far fewer than 2^52")]
    pub fn kept_share(&self) -> f64 {
        if self.needed_references == 0 { 1.0 } else { self.kept_references as f64 / self.needed_references as f64 }
    }

    /// The share of what was sent that was read from the cache; 0 if nothing was sent.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "tokens are far fewer than 2^52")]
    pub fn read_share(&self) -> f64 {
        self.cache_read as f64 / self.tokens_sent.max(1) as f64
    }
}

impl TotalReport {
    /// Adds a session: of an inaccurate one, only what its policies lose, unless `keep_inaccurate`.
    pub fn add(&mut self, session: &SessionReport, keep_inaccurate: bool) {
        let is_counted = keep_inaccurate || !session.inaccurate;
        self.inaccurate_sessions += usize::from(!is_counted);
        self.sessions += 1;
        self.requests += session.requests;
        if self.policies.is_empty() {
            let named = |name: &String| NamedTotal {
                name: name.clone(),
                total: PolicyTotal { cost: Some(0.0), ..PolicyTotal::default() },
                pareto: None,
            };
            self.policies = session.policies.iter().map(|policy| named(&policy.name)).collect();
        }
        for (total, policy) in self.policies.iter_mut().zip(&session.policies) {
            match is_counted {
                true => total.total.add(&policy.total),
                false => total.total.add_losses(&policy.total),
            }
        }
        if let Some(truth) = session.truth.as_ref().filter(|_| is_counted) {
            match &mut self.truth {
                Some(total) => total.add(truth),
                none => *none = Some(truth.clone()),
            }
        }
    }

    /// Marks the policies for which `among` is true and that no other of them beats, that is, costs at most as much and
    /// keeps more. Without prices, tokens are compared.
    pub fn mark_pareto(&mut self, among: impl Fn(usize) -> bool) {
        #[expect(clippy::cast_precision_loss, reason = "tokens are far fewer than 2^52")]
        let cost = |total: &PolicyTotal| total.cost.unwrap_or(total.tokens_sent as f64);
        let figures: Vec<Option<(f64, f64)>> = self
            .policies
            .iter()
            .enumerate()
            .map(|(nth, policy)| among(nth).then(|| (cost(&policy.total), policy.total.kept_share())))
            .collect();
        for (policy, own) in self.policies.iter_mut().zip(&figures) {
            policy.pareto = own.map(|own| {
                let beats =
                    |other: &(f64, f64)| other.0 <= own.0 && other.1 >= own.1 && (other.0 < own.0 || other.1 > own.1);
                !figures.iter().flatten().any(beats)
            });
        }
    }
}

impl Truth {
    /// Adds the truth of another session.
    fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.errors.extend_from_slice(&other.errors);
        self.sums = std::array::from_fn(|nth| self.sums[nth] + other.sums[nth]);
        self.set();
    }

    /// Computes the figures from the errors and sums.
    #[expect(clippy::cast_precision_loss, reason = "tokens are far fewer than 2^52")]
    pub(super) fn set(&mut self) {
        self.median_error = percentile(&mut self.errors, 50).unwrap_or(0.0);
        self.p90_error = percentile(&mut self.errors, 90).unwrap_or(0.0);
        let [tokens, read, input, recorded_read] = self.sums.map(|sum| sum as f64);
        self.cache_read_predicted = read / tokens.max(1.0);
        self.cache_read_recorded = recorded_read / input.max(1.0);
        self.cache_read_error = self.cache_read_predicted - self.cache_read_recorded;
    }
}
