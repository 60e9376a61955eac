//! The provider's usage in a log, and the calibration of our token count by it.
//!
//! A log contains neither the instructions and tool definitions of most programs nor the provider's tokenizer. Both are
//! fitted on the requests whose input the provider counted.
#![expect(clippy::cast_precision_loss, reason = "a request is far below 2^52 tokens")]

pub use crate::copies::{CountedRequest, SeenRequests, counted_requests};
pub use crate::requests::{Compaction, Request, Session, sessions};
pub use crate::times::seconds;

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

/// The framings that are tried, in tokens per message.
const FRAMINGS: [f64; 13] = [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0, 22.0, 24.0];

/// A smaller framing is preferred if its error is at most this multiple of the smallest error.
const TOLERANCE: f64 = 1.05;

/// A counted request as a fit uses it: our tokens, the messages, and the provider's input tokens.
#[derive(Debug, Clone, Copy)]
struct Point {
    pub(super) tokens: f64,
    pub(super) messages: f64,
    pub(super) input: f64,
}

/// The factors that a fit may have: a public tokenizer rarely differs more from a provider's.
const FACTORS: std::ops::RangeInclusive<f64> = 0.6..=2.0;

/// The fewest counted requests from which a factor is fitted.
const MIN_REQUESTS: usize = 3;

impl Calibration {
    /// Predicts the provider's count of a request of `messages` messages that have `tokens` tokens by our count.
    pub fn apply(&self, tokens: u64, messages: usize) -> u64 {
        let tokens = tokens as f64;
        let messages = messages as f64;
        let predicted = (self.hidden + self.factor * tokens + self.framing * messages).round().max(0.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 0, and far below 2^52")]
        let whole = predicted as u64;
        whole
    }

    /// Predicts by how much the provider's count grows if `messages` messages that have `tokens` tokens by our count
    /// are added.
    pub fn added(&self, tokens: u64, messages: usize) -> u64 {
        Self { hidden: 0.0, ..*self }.apply(tokens, messages)
    }

    /// Fits the requests that the provider counted; `None` if there are none.
    ///
    /// Several framings are tried. The smallest one is taken that predicts the growth from each request to the next
    /// nearly as well as the best. The factor is the median of the slopes between all pairs of requests (Theil–Sen
    /// estimator), so a request to which the program added something that the log does not contain has little effect.
    /// The hidden part is the remainder: the median over the last three requests.
    ///
    /// A negative hidden part or a factor outside 0.6 to 2 is impossible. If every framing leads to one, a simpler fit
    /// is used, with nothing hidden or with a factor of 1.
    pub fn fit(requests: &[Observed]) -> Option<Self> {
        Self::fit_from(requests, 0.0)
    }

    /// [`Self::fit`] with a hidden part of at least `least` tokens, which is negative if the program dropped messages.
    fn fit_from(requests: &[Observed], least: f64) -> Option<Self> {
        let points: Vec<Point> = requests.iter().filter_map(Point::new).collect();
        let enough = points.len() >= MIN_REQUESTS;
        let framed = FRAMINGS.iter().filter(|_| enough).map(|&framing| Self::with_framing(&points, framing));
        let possible = framed.filter(|fit| fit.hidden >= least && FACTORS.contains(&fit.factor));
        let possible: Vec<(f64, Self)> = possible.map(|fit| (fit.growth_error(&points), fit)).collect();
        if !possible.is_empty() {
            return nearly_best(&possible);
        }
        let proportional = FRAMINGS.map(|framing| Self::proportional(&points, framing));
        let simple = proportional.into_iter().chain([Self::offset(&points, Self::default())]);
        let simple = simple.filter(|fit| fit.hidden >= least);
        let simple: Vec<(f64, Self)> = simple.map(|fit| (fit.error(&points), fit)).collect();
        nearly_best(&simple).filter(|_| !points.is_empty())
    }

    fn with_framing(points: &[Point], framing: f64) -> Self {
        let texts: Vec<(f64, f64)> =
            points.iter().map(|point| (point.tokens, point.input - framing * point.messages)).collect();
        let mut slopes = Vec::new();
        for (nth, later) in texts.iter().enumerate() {
            // Fewer than 128 earlier requests each, so that the time for a long stretch is not quadratic.
            let step = (nth / 64).max(1);
            let slopes_to = texts[..nth].iter().step_by(step).filter(|earlier| (later.0 - earlier.0).abs() >= 1.0);
            slopes.extend(slopes_to.map(|earlier| (later.1 - earlier.1) / (later.0 - earlier.0)));
        }
        let factor = percentile(&mut slopes, 50).unwrap_or(1.0);
        Self::offset(points, Self { hidden: 0.0, factor, framing })
    }

    /// `fit` with the hidden part that the last three of `points` have in the median.
    fn offset(points: &[Point], fit: Self) -> Self {
        let remainder = |point: &Point| point.input - fit.factor * point.tokens - fit.framing * point.messages;
        let mut remainders: Vec<f64> = points.iter().rev().take(3).map(remainder).collect();
        Self { hidden: percentile(&mut remainders, 50).unwrap_or(0.0), ..fit }
    }

    /// A fit with nothing hidden: the factor is the median ratio of the provider's tokens to ours.
    fn proportional(points: &[Point], framing: f64) -> Self {
        let ratio = |point: &Point| (point.input - framing * point.messages) / point.tokens.max(1.0);
        let mut ratios: Vec<f64> = points.iter().map(ratio).collect();
        let factor = percentile(&mut ratios, 50).unwrap_or(1.0).clamp(*FACTORS.start(), *FACTORS.end());
        Self { hidden: 0.0, factor, framing }
    }

    fn predicted(&self, point: &Point) -> f64 {
        self.hidden + self.factor * point.tokens + self.framing * point.messages
    }

    /// The sum of the errors, in tokens, with which the growth from each point to the next is predicted.
    fn growth_error(&self, points: &[Point]) -> f64 {
        let growth = |pair: &[Point]| self.predicted(&pair[1]) - self.predicted(&pair[0]);
        points.windows(2).map(|pair| (pair[1].input - pair[0].input - growth(pair)).abs()).sum()
    }

    /// The sum of the errors, in tokens, with which all points are predicted.
    fn error(&self, points: &[Point]) -> f64 {
        points.iter().map(|point| (point.input - self.predicted(point)).abs()).sum()
    }
}

impl Point {
    fn new(request: &Observed) -> Option<Self> {
        Some(Self { tokens: request.tokens as f64, messages: request.messages as f64, input: request.input? as f64 })
    }
}

/// The first of `fits`, each with its error in tokens, whose error is nearly as small as the smallest.
fn nearly_best(fits: &[(f64, Calibration)]) -> Option<Calibration> {
    let least = fits.iter().map(|(error, _)| *error).fold(f64::INFINITY, f64::min);
    fits.iter().find(|(error, _)| *error <= least * TOLERANCE + 1.0).map(|(_, fit)| *fit)
}

/// The percentile of `values` by nearest rank; `None` without values. Reorders `values`.
pub fn percentile(values: &mut [f64], percent: usize) -> Option<f64> {
    let rank = (values.len() * percent).div_ceil(100).max(1) - 1;
    if values.is_empty() {
        return None;
    }
    Some(*values.select_nth_unstable_by(rank, f64::total_cmp).1)
}

/// A request to calibrate: its stretch, our count, and the provider's.
#[derive(Debug, Clone, Copy)]
pub struct Observed {
    /// Identifies the stretch between compactions that it belongs to.
    pub stretch: usize,
    /// Our count of the tokens that were sent.
    pub tokens: u64,
    /// How many messages were sent.
    pub messages: usize,
    /// The provider's count of the input, if the log has it.
    pub input: Option<u64>,
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

/// The program dropped messages if the input falls below this share of the previous one; a smaller decrease is noise.
pub(crate) const DROP: f64 = 0.93;

/// The longest run of counts that is ignored because the count after it continues the count before it.
const MOST_STRAYS: usize = 3;

impl Observed {
    /// Whether the count of `later` can follow from this one by what the log has in between. Both are counted.
    fn is_continued_by(&self, later: &Self) -> bool {
        let (Some(input), Some(now)) = (self.input, later.input) else { return false };
        let growth = later.tokens as f64 - self.tokens as f64;
        let messages = later.messages.saturating_sub(self.messages) as f64;
        let least = DROP * input as f64 + FACTORS.end() * growth.min(0.0);
        let most = input as f64 / DROP + FACTORS.end() * growth.max(0.0) + FRAMINGS[FRAMINGS.len() - 1] * messages;
        (least..=most).contains(&(now as f64))
    }

    const fn is_below(&self, other: &Self) -> bool {
        matches!((self.input, other.input), (Some(input), Some(other)) if input < other)
    }
}

/// Ignores counts of requests that did not send the logged history: up to three in a row that neither follow from the count
/// before them nor lead to the one after them, which continues the count before. Some agents log the count of such a request,
/// for example one that reviews a command, as if it were a request of the session. Short runs at the end of a stretch whose
/// counts are lower are ignored as well.
pub(super) fn ignore_strays(requests: &mut [Observed]) {
    let counted: Vec<usize> = (0..requests.len()).filter(|&nth| requests[nth].input.is_some()).collect();
    let mut before: Option<usize> = None;
    let mut place = 0;
    while let Some(&nth) = counted.get(place) {
        let same_stretch = |other: &usize| requests[*other].stretch == requests[nth].stretch;
        let jumps = before.filter(same_stretch).filter(|&last| !requests[last].is_continued_by(&requests[nth]));
        let strays = jumps.and_then(|last| {
            let rest: Vec<usize> =
                counted[place..].iter().copied().take(MOST_STRAYS + 1).take_while(same_stretch).collect();
            let returns = rest.iter().position(|&next| requests[last].is_continued_by(&requests[next]));
            let ends = rest.len() <= MOST_STRAYS && rest.iter().all(|&next| requests[next].is_below(&requests[last]));
            returns.or(ends.then_some(rest.len()))
        });
        match strays {
            Some(count) => {
                counted[place..place + count].iter().for_each(|&nth| requests[nth].input = None);
                place += count;
            }
            None => {
                before = Some(nth);
                place += 1;
            }
        }
    }
}

/// Calibrates each request of a stretch: those of the first third with a fit of that third (of at least three counted
/// requests), which tests nothing, and each later sixth with a fit of everything before it in the stretch.
///
/// A stretch ends at a compaction and at a drop that the log does not record. In a stretch with fewer than three
/// counted requests, only the hidden part is fitted, on the first of them, and the factor and framing are those of the
/// previous stretch. Without a previous stretch, all requests of the session are fitted and none is tested.
pub fn calibrate(requests: &[Observed]) -> Vec<Calibrated> {
    calibrate_with(requests, |counted| (2..6).map(|nth| (nth * counted).div_ceil(6)).collect())
}

/// The calibration of the request that would follow the last one: fitted on all requests of the last stretch, without
/// drops that the log does not record. `None` if the provider counted no request.
pub fn calibrate_next(requests: &[Observed]) -> Option<Calibration> {
    let last = calibrate_with(requests, |counted| vec![counted]).last()?.policy;
    requests.iter().any(|request| request.input.is_some()).then_some(last)
}

/// Calibrates each request. For a stretch with a number of counted requests, `parts` returns how many of the first ones
/// each fit sees.
fn calibrate_with(requests: &[Observed], parts: fn(usize) -> Vec<usize>) -> Vec<Calibrated> {
    let mut calibrated = Vec::with_capacity(requests.len());
    let mut before: Option<Calibrated> = None;
    for (stretch, drops) in stretches(requests) {
        let fits = fits(stretch, parts, drops, before, requests);
        let hidden = before.filter(|_| drops).map(|before| before.policy.hidden);
        let mut seen = 0;
        for (nth, request) in stretch.iter().enumerate() {
            seen += usize::from(request.input.is_some());
            let fit = fits.iter().rfind(|fit| fit.fitted < seen).or(fits.first());
            let recorded = fit.map_or_else(Calibration::default, |fit| fit.calibration);
            let policy = Calibration { hidden: hidden.unwrap_or(recorded.hidden), ..recorded };
            let held = fit.is_some_and(|fit| fit.tested && seen > fit.fitted) && request.input.is_some();
            calibrated.push(Calibrated { recorded, policy, held, drops: drops && nth == 0 });
        }
        before = calibrated.last().copied();
    }
    calibrated
}

/// A fit of the first counted requests of a stretch.
struct Fit {
    pub(super) calibration: Calibration,
    /// The number of counted requests that it saw.
    fitted: usize,
    /// Whether later requests test it.
    tested: bool,
}

/// The fits of a stretch. `before` is the calibration of the last request of the previous stretch, `all` the requests
/// of all stretches.
fn fits(
    stretch: &[Observed],
    parts: fn(usize) -> Vec<usize>,
    drops: bool,
    before: Option<Calibrated>,
    all: &[Observed],
) -> Vec<Fit> {
    let counted: Vec<Observed> = stretch.iter().filter(|request| request.input.is_some()).copied().collect();
    let least = if drops { f64::NEG_INFINITY } else { 0.0 };
    let parts = parts(counted.len()).into_iter().filter(|&fitted| fitted >= MIN_REQUESTS);
    let fit = |fitted: usize| {
        let calibration = Calibration::fit_from(&counted[..fitted], least)?;
        Some(Fit { calibration, fitted, tested: true })
    };
    let fits: Vec<Fit> = parts.filter_map(fit).collect();
    if !fits.is_empty() {
        return fits;
    }
    let first = counted.first().and_then(Point::new).zip(before);
    let offset = first.map(|(first, before)| Calibration::offset(&[first], before.recorded));
    match offset.filter(|calibration| calibration.hidden >= least) {
        Some(calibration) => vec![Fit { calibration, fitted: 1, tested: true }],
        None => {
            let other = before.map(|before| before.recorded).or_else(|| Calibration::fit(all));
            vec![Fit { calibration: other.unwrap_or_default(), fitted: 0, tested: false }]
        }
    }
}

/// The stretches of `requests`, each with whether it begins at a drop that the log does not record. Such a stretch ends where
/// the count is again as if nothing had been dropped.
pub(super) fn stretches(requests: &[Observed]) -> Vec<(&[Observed], bool)> {
    let mut stretches = Vec::new();
    let mut start = 0;
    let mut drops = false;
    let mut last: Option<Observed> = None;
    // The last request before the drop.
    let mut whole: Option<Observed> = None;
    for (nth, request) in requests.iter().enumerate() {
        let compacted = nth > 0 && requests[nth - 1].stretch != request.stretch;
        let before = last.filter(|_| request.input.is_some() && !compacted);
        let falls = before.is_some_and(|before| falls(&before, request));
        let jumps = before.is_some_and(|before| !before.is_continued_by(request));
        let restored = jumps && drops && whole.is_some_and(|whole| whole.is_continued_by(request));
        if compacted || falls || restored {
            stretches.push((&requests[start..nth], drops));
            whole = if falls { whole.or(before) } else { None };
            (start, drops) = (nth, falls);
        }
        last = request.input.map(|_| *request).or(last.filter(|_| !compacted));
    }
    if start < requests.len() {
        stretches.push((&requests[start..], drops));
    }
    stretches
}

/// Whether the provider counted less for `request` than for the one before it, although the log only grew.
fn falls(before: &Observed, request: &Observed) -> bool {
    let counts = before.input.zip(request.input);
    request.tokens >= before.tokens && counts.is_some_and(|(before, now)| (now as f64) < DROP * before as f64)
}

#[cfg(test)]
mod tests {
    use super::{Calibration, Observed, calibrate, calibrate_next, ignore_strays};

    fn observed(stretch: usize, tokens: u64, messages: usize, input: u64) -> Observed {
        Observed { stretch, tokens, messages, input: Some(input) }
    }

    #[test]
    fn a_hidden_part_and_a_factor_are_found() {
        let requests: Vec<Observed> = (1..20).map(|nth| observed(0, nth * 100, 1, 40_000 + nth * 120)).collect();
        let fitted = Calibration::fit(&requests).unwrap_or_default();
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
        let fitted = Calibration::fit(&requests).unwrap_or_default();
        assert!((fitted.framing - 16.0).abs() < 1e-9 && (fitted.factor - 1.1).abs() < 1e-3, "{fitted:?}");
        assert_eq!(fitted.added(1000, 2), 1132);
    }

    #[test]
    fn one_request_in_five_that_does_not_fit_moves_little() {
        let wild = |nth: u64| if nth % 5 == 4 { 9_000 } else { 0 };
        let requests: Vec<Observed> =
            (1..30).map(|nth| observed(0, nth * 100, 1, 40_000 + nth * 120 + wild(nth))).collect();
        let fitted = Calibration::fit(&requests).unwrap_or_default();
        assert!(fitted.apply(1_500, 1).abs_diff(41_800) < 400, "{fitted:?}");
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

    /// Whether each count is ignored, of requests that add 100 tokens each.
    fn ignored(inputs: &[u64]) -> Vec<bool> {
        let counted = inputs.iter().zip(1..).map(|(&input, nth)| observed(0, nth * 100, 1, input));
        let mut requests: Vec<Observed> = counted.collect();
        ignore_strays(&mut requests);
        requests.iter().map(|request| request.input.is_none()).collect()
    }

    #[test]
    fn counts_that_leave_and_come_back_are_ignored() {
        let places = |inputs: &[u64]| -> Vec<usize> {
            let ignored = ignored(inputs);
            (0..ignored.len()).filter(|&nth| ignored[nth]).collect()
        };
        assert_eq!(places(&[5_000, 5_100, 900, 5_300]), [2], "one lower count");
        assert_eq!(places(&[5_000, 9_000, 800, 900, 5_400]), [1, 2, 3], "higher and lower ones");
        assert_eq!(places(&[5_000, 5_100, 5_200, 900]), [3], "a lower count at the end");
        assert_eq!(places(&[5_000, 5_100, 9_000, 9_100]), [0; 0], "what grows and stays is not a stray");
        assert_eq!(places(&[5_000, 900, 1_000, 1_100, 1_200, 5_500]), [0; 0], "a cut that lasts");
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
