//! Finds the newest segments that fit when only rendering them shows whether they fit.
//!
//! Each try renders everything from a segment on, so steps double, and then halve. Only segments at which a template refuses to
//! begin are tried one after another.

/// Index of the first of the newest segments that fit, of `count`; `proposed` is a guess.
///
/// `fits` returns whether everything from a segment on fits, or `None` if a template refuses to begin there. The result is then
/// a later segment.
pub(super) fn newest_fitting(proposed: usize, count: usize, mut fits: impl FnMut(usize) -> Option<bool>) -> usize {
    if proposed >= count || fits(proposed) == Some(true) {
        grown(proposed.min(count), |at| fits(at) == Some(true))
    } else {
        shrunk(proposed + 1, count, fits)
    }
}

/// The first segment that fits, `found` or an earlier one. Steps double until one is too far.
fn grown(mut found: usize, mut fits: impl FnMut(usize) -> bool) -> usize {
    let mut unknown = 0;
    let mut step = Some(1);
    while unknown < found {
        let at = step.map_or(unknown + (found - unknown) / 2, |step: usize| found.saturating_sub(step).max(unknown));
        if fits(at) {
            (found, step) = (at, step.map(|step| step * 2));
        } else {
            (unknown, step) = (at + 1, None);
        }
    }
    found
}

/// The first segment that fits, `unknown` or a later one, in the same way; `count` if nothing fits.
fn shrunk(mut unknown: usize, count: usize, mut fits: impl FnMut(usize) -> Option<bool>) -> usize {
    let mut found = count;
    let mut end = count;
    let mut step = Some(1);
    while unknown < end {
        let at = step.map_or(unknown + (end - unknown) / 2, |step: usize| (unknown + step - 1).min(end - 1));
        match (at..end).find_map(|at| Some((at, fits(at)?))) {
            Some((next, false)) => (unknown, step) = (next + 1, step.map(|step| step * 2)),
            Some((next, true)) => (found, end, step) = (next, at, None),
            None => (end, step) = (at, None),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::newest_fitting;

    #[test]
    fn the_first_beginning_that_fits_is_found_from_any_guess() {
        for count in 0..40 {
            for first in 0..=count {
                for proposed in 0..=count {
                    let found = newest_fitting(proposed, count, |at| Some(at >= first));
                    assert_eq!(found, first, "{first} of {count} from {proposed}");
                }
            }
        }
    }

    #[test]
    fn a_refused_beginning_is_passed_over() {
        for (count, first, begins) in [(90, 41, 2), (90, 41, 7), (90, 88, 50), (64, 3, 9)] {
            let found = newest_fitting(0, count, |at| at.is_multiple_of(begins).then_some(at >= first));
            let expected = (first..count).find(|at| at.is_multiple_of(begins)).unwrap_or(count);
            assert_eq!(found, expected, "{first} of {count}, every {begins}th begins");
        }
    }

    #[test]
    fn tries_are_few() {
        for first in [0, 1, 777, 50_000, 99_999, 100_000] {
            for proposed in [0, 50_000, 100_000] {
                let tries = Cell::new(0);
                let found = newest_fitting(proposed, 100_000, |at| {
                    tries.set(tries.get() + 1);
                    Some(at >= first)
                });
                assert_eq!(found, first);
                assert!(tries.get() < 40, "{} tries", tries.get());
            }
        }
    }
}
