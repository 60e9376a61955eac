//! Counts of requests that did not send the logged history.

use super::Observed;

/// The longest run of counts that is ignored because the count after it continues the count before it.
const MOST_STRAYS: usize = 3;

/// Ignores counts of requests that did not send the logged history: up to three in a row that neither follow from the count
/// before them nor lead to the one after them, which continues the count before. Some agents log the count of such a request,
/// for example one that reviews a command, as if it were a request of the session. Short runs at the end of a stretch whose
/// counts are lower are ignored as well.
pub(crate) fn ignore_strays(requests: &mut [Observed]) {
    let counted: Vec<usize> = (0..requests.len()).filter(|&nth| requests[nth].input.is_some()).collect();
    let mut rest = counted.as_slice();
    let mut last: Option<Observed> = None;
    while let Some(&next) = rest.first() {
        let strays = last.map_or(0, |last| strays_after(last, rest.iter().map(|&nth| requests[nth])));
        rest[..strays].iter().for_each(|&stray| requests[stray].input = None);
        if strays == 0 {
            last = Some(requests[next]);
        }
        rest = &rest[strays.max(1)..];
    }
}

/// How many of the first requests of `next`, which follow `last`, are strays.
fn strays_after(last: Observed, next: impl Iterator<Item = Observed>) -> usize {
    let run: Vec<Observed> = next.take(MOST_STRAYS + 1).take_while(|next| next.stretch == last.stretch).collect();
    let is_low_to_the_end = run.len() <= MOST_STRAYS && run.iter().all(|next| next.input < last.input);
    let returns = run.iter().position(|next| last.is_continued_by(next));
    returns.unwrap_or(if is_low_to_the_end { run.len() } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::{Observed, ignore_strays};
    use crate::calibration::tests::observed;

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
}
