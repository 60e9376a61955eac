//! Fits a calibration to requests that the provider counted.

use std::ops::RangeInclusive;

use super::{Calibration, Observed};
use curtail_core::numbers::nearest_rank;

/// The framings that are tried, in tokens per message.
pub(super) const FRAMINGS: [f64; 13] = [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0, 22.0, 24.0];

/// The factors that a fit may have: a public tokenizer rarely differs more from a provider's.
pub(super) const FACTORS: RangeInclusive<f64> = 0.6..=2.0;

/// The fewest counted requests from which a factor is fitted.
pub(super) const MIN_REQUESTS: usize = 3;

/// A smaller framing is preferred if its error is at most this multiple of the smallest error.
const TOLERANCE: f64 = 1.05;

impl Calibration {
    /// Fits the requests that the provider counted, with a hidden part of at least `least` tokens: 0, unless the program dropped
    /// messages. `None` if it counted none.
    ///
    /// Several framings are tried. The smallest one is taken that predicts the growth from each request to the next
    /// nearly as well as the best.
    ///
    /// A hidden part below `least` or a factor outside 0.6 to 2 is impossible. If every framing leads to one, a simpler fit
    /// is used, with nothing hidden or with a factor of 1.
    pub(super) fn fit(requests: &[Observed], least: f64) -> Option<Self> {
        let points: Vec<Point> = requests.iter().filter_map(Point::new).collect();
        if points.len() >= MIN_REQUESTS {
            let framed = FRAMINGS.iter().map(|&framing| Self::of_growth(&points, framing));
            let possible = framed.filter(|fit| fit.hidden >= least && FACTORS.contains(&fit.factor));
            if let Some(fit) = nearly_best(possible, |fit| fit.growth_error(&points)) {
                return Some(fit);
            }
        }
        let simple = FRAMINGS.iter().map(|&framing| Self::of_ratios(&points, framing));
        let simple = simple.chain([Self::default().with_hidden_of(&points)]).filter(|fit| fit.hidden >= least);
        nearly_best(simple, |fit| fit.error(&points)).filter(|_| !points.is_empty())
    }

    /// The fit with this framing whose factor is the median of the slopes between all pairs of requests (Theil–Sen estimator),
    /// so a request to which the program added something that the log does not contain has little effect.
    fn of_growth(points: &[Point], framing: f64) -> Self {
        let mut slopes = Vec::new();
        for (nth, later) in points.iter().enumerate() {
            // Fewer than 128 earlier requests each, so that the time for a long stretch is not quadratic.
            let step = (nth / 64).max(1);
            let earlier = points[..nth].iter().step_by(step);
            let earlier = earlier.filter(|earlier| (later.tokens - earlier.tokens).abs() >= 1.0);
            slopes.extend(earlier.map(|earlier| {
                (later.without_framing(framing) - earlier.without_framing(framing)) / (later.tokens - earlier.tokens)
            }));
        }
        let factor = percentile(&mut slopes, 50).unwrap_or(1.0);
        Self { hidden: 0.0, factor, framing }.with_hidden_of(points)
    }

    /// The fit with this framing and nothing hidden: the factor is the median ratio of the provider's tokens to ours.
    fn of_ratios(points: &[Point], framing: f64) -> Self {
        let ratios = points.iter().map(|point| point.without_framing(framing) / point.tokens.max(1.0));
        let mut ratios: Vec<f64> = ratios.collect();
        let factor = percentile(&mut ratios, 50).unwrap_or(1.0).clamp(*FACTORS.start(), *FACTORS.end());
        Self { hidden: 0.0, factor, framing }
    }

    /// This calibration with the hidden part that is the remainder: the median over the last three of `points`.
    pub(super) fn with_hidden_of(self, points: &[Point]) -> Self {
        let last = points.iter().rev().take(3);
        let mut remainders: Vec<f64> =
            last.map(|point| point.input - self.factor * point.tokens - self.framing * point.messages).collect();
        Self { hidden: percentile(&mut remainders, 50).unwrap_or(0.0), ..self }
    }

    /// The sum of the errors, in tokens, with which the growth from each point to the next is predicted.
    fn growth_error(&self, points: &[Point]) -> f64 {
        let errors = points.windows(2).map(|pair| {
            let growth = self.of_point(&pair[1]) - self.of_point(&pair[0]);
            (pair[1].input - pair[0].input - growth).abs()
        });
        errors.sum()
    }

    /// The sum of the errors, in tokens, with which all points are predicted.
    fn error(&self, points: &[Point]) -> f64 {
        points.iter().map(|point| (point.input - self.of_point(point)).abs()).sum()
    }

    fn of_point(&self, point: &Point) -> f64 {
        self.predicted(point.tokens, point.messages)
    }
}

/// A counted request as a fit uses it: our tokens, the messages, and the provider's input tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    tokens: f64,
    messages: f64,
    input: f64,
}

impl Point {
    /// `None` if the provider did not count the request.
    pub(super) fn new(request: &Observed) -> Option<Self> {
        Some(Self { tokens: request.tokens as f64, messages: request.messages as f64, input: request.input? as f64 })
    }

    /// The provider's tokens inside the messages.
    fn without_framing(&self, framing: f64) -> f64 {
        self.input - framing * self.messages
    }
}

/// The first of `fits` whose error is nearly as small as the smallest.
fn nearly_best(fits: impl Iterator<Item = Calibration>, error: impl Fn(&Calibration) -> f64) -> Option<Calibration> {
    let fits: Vec<(f64, Calibration)> = fits.map(|fit| (error(&fit), fit)).collect();
    let least = fits.iter().map(|(error, _)| *error).fold(f64::INFINITY, f64::min);
    fits.into_iter().find(|(error, _)| *error <= least * TOLERANCE + 1.0).map(|(_, fit)| fit)
}

/// The percentile of `values` by nearest rank; `None` without values. Reorders `values`.
pub fn percentile(values: &mut [f64], percent: usize) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let rank = nearest_rank(values.len(), percent);
    Some(*values.select_nth_unstable_by(rank - 1, f64::total_cmp).1)
}

#[cfg(test)]
mod tests {
    use super::{Calibration, Observed};
    use crate::calibration::tests::observed;

    #[test]
    fn a_hidden_part_and_a_factor_are_found() {
        let requests: Vec<Observed> = (1..20).map(|nth| observed(0, nth * 100, 1, 40_000 + nth * 120)).collect();
        let fitted = Calibration::fit(&requests, 0.0).unwrap_or_default();
        assert!((fitted.factor - 1.2).abs() < 1e-9 && (fitted.hidden - 40_000.0).abs() < 1e-6, "{fitted:?}");
        assert_eq!((fitted.apply(50, 9), fitted.framing), (40_060, 0.0));
    }

    #[test]
    fn the_framing_of_messages_is_found() {
        let mut requests: Vec<Observed> = Vec::new();
        let mut tokens = 0;
        let mut messages = 0;
        for nth in 0..20_u64 {
            // Long and short messages in turn, some alone and some in threes.
            tokens += if nth % 2 == 0 { 40 } else { 900 };
            messages += if nth % 3 == 0 { 3 } else { 1 };
            requests.push(observed(0, tokens, messages, 500 + tokens * 11 / 10 + 16 * messages as u64));
        }
        let fitted = Calibration::fit(&requests, 0.0).unwrap_or_default();
        assert!((fitted.framing - 16.0).abs() < 1e-9 && (fitted.factor - 1.1).abs() < 1e-3, "{fitted:?}");
        assert_eq!(fitted.added(1000, 2), 1132);
    }

    #[test]
    fn one_request_in_five_that_does_not_fit_moves_little() {
        let wild = |nth: u64| if nth % 5 == 4 { 9_000 } else { 0 };
        let requests: Vec<Observed> =
            (1..30).map(|nth| observed(0, nth * 100, 1, 40_000 + nth * 120 + wild(nth))).collect();
        let fitted = Calibration::fit(&requests, 0.0).unwrap_or_default();
        assert!(fitted.apply(1_500, 1).abs_diff(41_800) < 400, "{fitted:?}");
    }
}
