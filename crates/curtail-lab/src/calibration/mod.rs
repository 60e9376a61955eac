//! The calibration of our token count by the provider's.
//!
//! A log contains neither the instructions and tool definitions of most programs nor the provider's tokenizer. Both are
//! fitted (`fit`) on the requests whose input the provider counted, without those that sent another history (`strays`), for
//! each stretch between two cuts of the history (`stretches`).
#![expect(clippy::cast_precision_loss, reason = "a request is far below 2^52 tokens")]

mod fit;
mod observed;
mod strays;
mod stretches;

pub use fit::percentile;
use fit::{MIN_REQUESTS, Point};
pub(crate) use observed::DROP;
pub use observed::Observed;
pub(crate) use strays::ignore_strays;
use stretches::Stretch;
pub(crate) use stretches::stretches;

/// How the provider's count follows from ours: `hidden + factor * tokens + framing * messages`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// Tokens of every request that the log does not contain, such as instructions and tool definitions. Negative only
    /// for recorded requests from which the program dropped more than that without a record in the log.
    pub hidden: f64,
    /// The provider's tokens per token of ours.
    pub factor: f64,
    /// The provider's tokens around each message: its role, and the delimiters of its calls and results.
    pub framing: f64,
}

impl Default for Calibration {
    /// The provider's count equals ours.
    fn default() -> Self {
        Self { hidden: 0.0, factor: 1.0, framing: 0.0 }
    }
}

impl Calibration {
    /// Predicts the provider's count of a request of `messages` messages that have `tokens` tokens by our count.
    pub fn apply(&self, tokens: u64, messages: usize) -> u64 {
        let predicted = self.predicted(tokens as f64, messages as f64).round().max(0.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 0, and far below 2^52")]
        let whole = predicted as u64;
        whole
    }

    /// Predicts by how much the provider's count grows if `messages` messages that have `tokens` tokens by our count
    /// are added.
    pub fn added(&self, tokens: u64, messages: usize) -> u64 {
        Self { hidden: 0.0, ..*self }.apply(tokens, messages)
    }

    fn predicted(&self, tokens: f64, messages: f64) -> f64 {
        self.hidden + self.factor * tokens + self.framing * messages
    }
}

/// The calibrations of a request.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Calibrated {
    /// Of the request as recorded.
    pub recorded: Calibration,
    /// Of the request as a policy would send it, without the messages that the program dropped without a record in the
    /// log.
    pub policy: Calibration,
    /// Whether the request was held out from the fit, to test it.
    pub held: bool,
    /// Whether the program dropped a part of the history before this request without a record in the log: the provider
    /// counted less than before, although the log only grew.
    pub drops: bool,
}

/// Calibrates each request of a stretch: those of the first third with a fit of that third (of at least three counted
/// requests), which tests nothing, and each later sixth with a fit of everything before it in the stretch.
///
/// A stretch ends at a compaction and at a drop that the log does not record. In a stretch with fewer than three
/// counted requests, only the hidden part is fitted, on the first of them, and the factor and framing are those of the
/// previous stretch. Without a previous stretch, all requests of the session are fitted and none is tested.
pub fn calibrate(requests: &[Observed]) -> Vec<Calibrated> {
    calibrate_by_parts(requests, |counted| (2..6).map(|nth| (nth * counted).div_ceil(6)).collect())
}

/// The calibration of the request that would follow the last one: fitted on all requests of the last stretch, without
/// drops that the log does not record. `None` if the provider counted no request.
pub fn calibrate_next(requests: &[Observed]) -> Option<Calibration> {
    let last = calibrate_by_parts(requests, |counted| vec![counted]).last()?.policy;
    requests.iter().any(|request| request.input.is_some()).then_some(last)
}

/// Calibrates each request. For a stretch with a number of counted requests, `parts` returns how many of the first ones
/// each fit sees.
fn calibrate_by_parts(requests: &[Observed], parts: fn(usize) -> Vec<usize>) -> Vec<Calibrated> {
    let mut calibrated: Vec<Calibrated> = Vec::with_capacity(requests.len());
    for stretch in stretches(requests) {
        let before = calibrated.last().copied();
        let fits = fits(&stretch, parts, before, requests);
        let hidden = before.filter(|_| stretch.drops).map(|before| before.policy.hidden);
        let mut counted = 0;
        for (nth, request) in stretch.requests.iter().enumerate() {
            counted += usize::from(request.input.is_some());
            let fit = fits.iter().rfind(|fit| fit.untested < counted).or(fits.first());
            let recorded = fit.map_or_else(Calibration::default, |fit| fit.calibration);
            let policy = Calibration { hidden: hidden.unwrap_or(recorded.hidden), ..recorded };
            let held = request.input.is_some() && fit.is_some_and(|fit| fit.untested < counted);
            calibrated.push(Calibrated { recorded, policy, held, drops: stretch.drops && nth == 0 });
        }
    }
    calibrated
}

/// A calibration for a stretch.
struct Fit {
    calibration: Calibration,
    /// How many of the first counted requests do not test it, because it was fitted on them.
    untested: usize,
}

/// The fits of a stretch, in order, at least one. `before` is the calibration of the last request before it, `all` are the
/// requests of all stretches.
fn fits(
    stretch: &Stretch<'_>,
    parts: fn(usize) -> Vec<usize>,
    before: Option<Calibrated>,
    all: &[Observed],
) -> Vec<Fit> {
    let counted: Vec<Observed> = stretch.requests.iter().filter(|request| request.input.is_some()).copied().collect();
    let least = if stretch.drops { f64::NEG_INFINITY } else { 0.0 };
    let parts = parts(counted.len()).into_iter().filter(|&part| part >= MIN_REQUESTS);
    let fits: Vec<Fit> = parts
        .filter_map(|part| Some(Fit { calibration: Calibration::fit(&counted[..part], least)?, untested: part }))
        .collect();
    if !fits.is_empty() {
        return fits;
    }
    let first = counted.first().and_then(Point::new).zip(before);
    let moved = first.map(|(first, before)| before.recorded.with_hidden_of(&[first]));
    if let Some(calibration) = moved.filter(|moved| moved.hidden >= least) {
        return vec![Fit { calibration, untested: 1 }];
    }
    let other = before.map(|before| before.recorded).or_else(|| Calibration::fit(all, 0.0));
    vec![Fit { calibration: other.unwrap_or_default(), untested: counted.len() }]
}

#[cfg(test)]
mod tests {
    use super::{Observed, calibrate, calibrate_next, ignore_strays};

    pub(super) fn observed(stretch: usize, tokens: u64, messages: usize, input: u64) -> Observed {
        Observed { stretch, tokens, messages, input: Some(input) }
    }

    #[test]
    fn what_is_fitted_is_not_tested() {
        let request = |nth: u64, stretch| observed(stretch, nth * 10, 1, nth * 10 + 500);
        let requests: Vec<Observed> =
            (0..9).map(|nth| request(nth, 0)).chain((9..11).map(|nth| request(nth, 1))).collect();
        let calibrated = calibrate(&requests);
        let held: Vec<bool> = calibrated.iter().map(|one| one.held).collect();
        assert_eq!(held, [[false; 3].to_vec(), [true; 6].to_vec(), vec![false, true]].concat());
        assert!(calibrated.iter().all(|one| (one.recorded.hidden - 500.0).abs() < 1e-6 && !one.drops));
    }

    #[test]
    fn a_later_part_is_predicted_from_everything_before_it() {
        // From the tenth request on, each of our tokens is two of the provider's.
        let request = |nth: u64| observed(0, nth * 100, 1, nth * 100 + 500 + nth.saturating_sub(10) * 100);
        let calibrated = calibrate(&(1..61).map(request).collect::<Vec<_>>());
        let errors: Vec<u64> = (1..61)
            .zip(&calibrated)
            .map(|(nth, calibrated)| {
                let request = request(nth);
                calibrated.recorded.apply(request.tokens, 1).abs_diff(request.input.unwrap_or(0)) * 1000
                    / request.input.unwrap_or(1)
            })
            .collect();
        assert!(errors[50..].iter().all(|error| *error < 50), "{errors:?}");
    }

    #[test]
    fn a_fit_is_never_impossible() {
        // The provider counts ten times what is logged at first, and less than before later on.
        let steep = (1..20).map(|nth| observed(0, nth * 100, 1, nth * 1_000));
        let flat = (1..20).map(|nth| observed(0, 50_000 + nth * 100, 1, 20_000 + nth * 10));
        let below = (1..20).map(|nth| observed(0, 5_000 + nth * 100, 2, nth * 150 + 2_000));
        for requests in [steep.collect::<Vec<_>>(), flat.collect(), below.collect()] {
            for one in calibrate(&requests) {
                assert!(one.recorded.hidden >= 0.0 && (0.6..=2.0).contains(&one.recorded.factor), "{one:?}");
            }
        }
    }

    #[test]
    fn drops_of_the_program_are_not_charged_to_a_policy() {
        let request = |nth: u64| {
            let dropped = if nth >= 10 { 600 } else { 0 };
            observed(0, nth * 100, 1, nth * 100 + 500 - dropped)
        };
        let calibrated = calibrate(&(0..20).map(request).collect::<Vec<_>>());
        let hidden = |nth: usize| (calibrated[nth].recorded.hidden.round(), calibrated[nth].policy.hidden.round());
        assert_eq!((hidden(9), hidden(10)), ((500.0, 500.0), (-100.0, 500.0)));
        assert_eq!(calibrated.iter().position(|one| one.drops), Some(10));
    }

    #[test]
    fn a_drop_ends_where_the_count_is_whole_again() {
        let request =
            |nth: u64| observed(0, nth * 100, 1, nth * 100 + 5_000 - if (8..14).contains(&nth) { 3_000 } else { 0 });
        let mut requests: Vec<Observed> = (0..24).map(request).collect();
        ignore_strays(&mut requests);
        let calibrated = calibrate(&requests);
        assert_eq!(calibrated.iter().filter(|one| one.drops).count(), 1);
        let last = calibrated[23];
        assert!((last.recorded.hidden - 5_000.0).abs() < 1.0 && last.recorded == last.policy, "{last:?}");
    }

    #[test]
    fn the_next_request_is_calibrated_with_all_of_the_last_stretch() {
        let request = |nth: u64, stretch, hidden| observed(stretch, nth * 100, 1, nth * 120 + hidden);
        let first = (1..10).map(|nth| request(nth, 0, 900));
        let requests: Vec<Observed> = first.chain((1..4).map(|nth| request(nth, 1, 300))).collect();
        let next = calibrate_next(&requests).unwrap_or_default();
        assert!((next.factor - 1.2).abs() < 1e-9 && (next.hidden - 300.0).abs() < 1e-6, "{next:?}");
        let uncounted = Observed { input: None, ..observed(0, 5, 1, 0) };
        assert_eq!((calibrate_next(&[]), calibrate_next(&[uncounted])), (None, None));
    }

    #[test]
    fn a_program_that_sends_less_than_the_log_contains_hides_nothing() {
        let request = |nth: u64| observed(0, nth * 100, 1, nth * 80);
        let requests: Vec<Observed> = (3..9).map(request).chain([observed(0, 900, 1, 600)]).collect();
        let next = calibrate_next(&requests).unwrap_or_default();
        assert!(next.hidden >= 0.0 && (next.factor - 0.8).abs() < 1e-9, "{next:?}");
    }
}
