//! How the provider's count follows from ours: a hidden part, a factor and the framing of messages, fitted on requests with
//! figures.

/// How the provider's count follows from ours: a hidden part, a factor for the tokenizer, and the framing of messages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// Tokens of every request that the log does not contain, such as instructions and tool definitions.
    pub hidden: f64,
    /// Tokens of the provider for each of ours.
    pub factor: f64,
    /// Tokens of the provider around each message: its role, and the marks of its calls and results.
    pub framing: f64,
}

impl Default for Calibration {
    /// Nothing hidden, and our own count.
    fn default() -> Self {
        Self { hidden: 0.0, factor: 1.0, framing: 0.0 }
    }
}

/// The framings that are tried, in tokens of a message.
const FRAMINGS: [f64; 13] = [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0, 22.0, 24.0];

/// How much worse than the best framing a smaller one may explain the requests and still be taken.
const NEARLY: f64 = 1.05;

/// A request that is fitted.
#[derive(Debug, Clone, Copy)]
struct Point {
    tokens: f64,
    messages: f64,
    input: f64,
}

/// The factors that a fit may have: a public tokenizer is rarely further from a provider's own.
const FACTORS: std::ops::RangeInclusive<f64> = 0.25..=4.0;

impl Calibration {
    /// The provider's count for `messages` with `tokens` of ours.
    #[must_use]
    pub fn apply(&self, tokens: u64, messages: usize) -> u64 {
        #[expect(clippy::cast_precision_loss, reason = "a request is far below 2^52 tokens")]
        let (tokens, messages) = (tokens as f64, messages as f64);
        let predicted = (self.hidden + self.factor * tokens + self.framing * messages).round().max(0.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 0, and far below 2^52")]
        let whole = predicted as u64;
        whole
    }

    /// The provider's count for `messages` with `tokens` of ours that are added to a request.
    #[must_use]
    pub fn added(&self, tokens: u64, messages: usize) -> u64 {
        Self { hidden: 0.0, ..*self }.apply(tokens, messages)
    }

    /// Fits the requests with figures; `None` without any.
    ///
    /// Of the framings, the smallest is taken that explains what each request adds to the one before nearly as well as the
    /// best. The factor is the median of the slopes between all pairs of requests (Theil and Sen): a request in which the
    /// program added something that the log does not contain has little effect on it. The hidden part is the rest, in the
    /// median of the last three requests. It is negative if the program sends less than the log contains.
    #[must_use]
    pub fn fit(requests: &[Observed]) -> Option<Self> {
        #[expect(clippy::cast_precision_loss, reason = "a request is far below 2^52 tokens")]
        let point = |request: &Observed| {
            let (tokens, messages) = (request.tokens as f64, request.messages as f64);
            Some(Point { tokens, messages, input: request.input? as f64 })
        };
        let points: Vec<Point> = requests.iter().filter_map(point).collect();
        let framed = FRAMINGS.map(|framing| {
            let fitted = Self::with_framing(&points, framing);
            let errors = points.windows(2).map(|pair| {
                let added = fitted.factor * (pair[1].tokens - pair[0].tokens);
                let framed = framing * (pair[1].messages - pair[0].messages);
                (pair[1].input - pair[0].input - added - framed).abs()
            });
            (errors.sum::<f64>(), fitted)
        });
        let least = framed.iter().map(|(error, _)| *error).fold(f64::INFINITY, f64::min);
        let nearly = framed.iter().find(|(error, _)| *error <= least * NEARLY + 1.0)?;
        (!points.is_empty()).then_some(nearly.1)
    }

    fn with_framing(points: &[Point], framing: f64) -> Self {
        let texts: Vec<(f64, f64)> =
            points.iter().map(|point| (point.tokens, point.input - framing * point.messages)).collect();
        let mut slopes = Vec::new();
        for (nth, later) in texts.iter().enumerate() {
            // At most 64 partners each, so that a long stretch is not quadratic.
            let step = (nth / 64).max(1);
            let slopes_to = texts[..nth].iter().step_by(step).filter(|earlier| (later.0 - earlier.0).abs() >= 1.0);
            slopes.extend(slopes_to.map(|earlier| (later.1 - earlier.1) / (later.0 - earlier.0)));
        }
        let factor = percentile(&mut slopes, 50).unwrap_or(1.0).clamp(*FACTORS.start(), *FACTORS.end());
        let mut rest: Vec<f64> = texts.iter().rev().take(3).map(|(ours, theirs)| theirs - factor * ours).collect();
        Self { hidden: percentile(&mut rest, 50).unwrap_or(0.0), factor, framing }
    }
}

/// The value that `percent` of the values do not exceed (nearest rank); `None` without values.
#[must_use]
pub fn percentile(values: &mut [f64], percent: usize) -> Option<f64> {
    let rank = (values.len() * percent).div_ceil(100).max(1) - 1;
    if values.is_empty() {
        return None;
    }
    Some(*values.select_nth_unstable_by(rank, f64::total_cmp).1)
}

/// A request that is fitted: its stretch, our count, and what the provider counted.
#[derive(Debug, Clone, Copy)]
pub struct Observed {
    /// The stretch between compactions that it belongs to.
    pub stretch: usize,
    /// Our count of what was sent.
    pub tokens: u64,
    /// How many messages were sent.
    pub messages: usize,
    /// The provider's count of the input, if the log has it.
    pub input: Option<u64>,
}

/// How a request is calibrated.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Calibrated {
    /// For the recorded requests.
    pub recorded: Calibration,
    /// For the requests of a policy: without drops of the program that the log does not record.
    pub policy: Calibration,
    /// Whether the request was held back for the test.
    pub held: bool,
    /// Whether the program dropped a part of the history before this request without a record in the log: the provider
    /// counted less than before, although the log only grew.
    pub drops: bool,
}

/// The smallest decrease of the input, as a share of the input before, that is a drop and not noise.
const DROP: f64 = 0.93;

/// Calibrates each request with the first third of its stretch; the rest of the stretch tests the fit.
///
/// A stretch ends at a compaction and at a drop that the log does not record. A stretch with fewer than seven counted
/// requests takes the calibration of the stretch before it, or of all requests.
#[must_use]
pub fn calibrate(requests: &[Observed]) -> Vec<Calibrated> {
    calibrate_with(requests, |counted| counted.div_ceil(3))
}

/// The calibration of what would be sent after the last request: fitted on all requests of the last stretch, without drops
/// that the log does not record. The hidden part is not negative. `None` if no request has figures.
#[must_use]
pub fn calibrate_next(requests: &[Observed]) -> Option<Calibration> {
    let counted = counted(requests);
    let last = calibrate_with(requests, |counted| counted).last()?.policy;
    if counted.is_empty() || last.hidden >= 0.0 {
        return Some(last).filter(|_| !counted.is_empty());
    }
    // The program sends less than the log contains, so every counted token stands for fewer.
    #[expect(clippy::cast_precision_loss, reason = "a request is far below 2^52 tokens")]
    let share = |request: &Observed| Some(request.input? as f64 / request.tokens.max(1) as f64);
    let mut shares: Vec<f64> = counted.iter().filter_map(share).collect();
    let factor = percentile(&mut shares, 50)?.clamp(*FACTORS.start(), *FACTORS.end());
    Some(Calibration { hidden: 0.0, factor, framing: 0.0 })
}

/// Calibrates each request; of the counted requests of a stretch, `fitted` gives the number that are fitted.
fn calibrate_with(requests: &[Observed], fitted: fn(usize) -> usize) -> Vec<Calibrated> {
    let mut calibrated = Vec::with_capacity(requests.len());
    let mut before: Option<Calibrated> = None;
    for (stretch, drops) in stretches(requests) {
        let counted = counted(stretch);
        let fitted = fitted(counted.len());
        let own = if fitted >= 3 { Calibration::fit(&counted[..fitted]) } else { None };
        let last = before.map(|before| before.recorded);
        let recorded = own.or(last).or_else(|| Calibration::fit(requests)).unwrap_or_default();
        let hidden = before.filter(|_| drops).map_or(recorded.hidden, |before| before.policy.hidden);
        let calibration = Calibrated { recorded, policy: Calibration { hidden, ..recorded }, ..Calibrated::default() };
        before = Some(calibration);
        let mut seen = 0;
        for (nth, request) in stretch.iter().enumerate() {
            seen += usize::from(request.input.is_some());
            let held = own.is_some() && seen > fitted && request.input.is_some();
            calibrated.push(Calibrated { held, drops: drops && nth == 0, ..calibration });
        }
    }
    calibrated
}

fn counted(requests: &[Observed]) -> Vec<Observed> {
    requests.iter().filter(|request| request.input.is_some()).copied().collect()
}

/// The stretches of `requests`, each with whether it begins at a drop that the log does not record.
fn stretches(requests: &[Observed]) -> Vec<(&[Observed], bool)> {
    let (mut stretches, mut start, mut drops) = (Vec::new(), 0, false);
    let mut last: Option<(u64, u64)> = None;
    for (nth, request) in requests.iter().enumerate() {
        let compacted = nth > 0 && requests[nth - 1].stretch != request.stretch;
        #[expect(clippy::cast_precision_loss, reason = "a request is far below 2^52 tokens")]
        let falls = last
            .zip(request.input)
            .is_some_and(|((tokens, input), own)| request.tokens >= tokens && (own as f64) < DROP * input as f64);
        if compacted || falls {
            stretches.push((&requests[start..nth], drops));
            (start, drops) = (nth, !compacted);
        }
        last = request.input.map(|input| (request.tokens, input)).or(last.filter(|_| !compacted));
    }
    if start < requests.len() {
        stretches.push((&requests[start..], drops));
    }
    stretches
}

#[cfg(test)]
mod tests {
    use super::{Calibration, Observed, calibrate, calibrate_next};

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
        let (mut tokens, mut messages) = (0, 0);
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
    fn the_first_third_of_a_stretch_is_fitted_and_the_rest_held_apart() {
        let request = |nth: u64, stretch| observed(stretch, nth * 10, 1, nth * 10 + 500);
        let requests: Vec<Observed> =
            (0..9).map(|nth| request(nth, 0)).chain((9..11).map(|nth| request(nth, 1))).collect();
        let calibrated = calibrate(&requests);
        let held: Vec<bool> = calibrated.iter().map(|one| one.held).collect();
        assert_eq!(held, [[false; 3].to_vec(), [true; 6].to_vec(), vec![false; 2]].concat());
        assert!(calibrated.iter().all(|one| (one.recorded.hidden - 500.0).abs() < 1e-6 && !one.drops));
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
