//! Summarizes transcripts that exceed a model's context: each half first, then the two summaries.
//! It knows how to halve a transcript, not who summarizes it.

use super::{Failure, Speaker, Utterance};

/// How often a transcript may be halved: 12 times, which gives up to 4,096 parts.
const MAX_LEVELS: u32 = 12;

/// A transcript of fewer bytes is not halved: the instructions alone are as long.
const MIN_BYTES: usize = 400;

/// Asks for a summary. If the transcript exceeds the model's context, asks for a summary of each half, and then for a summary
/// of the two summaries.
///
/// # Errors
///
/// Any failure of `ask`; [`Failure::Overflow`] if halving does not help.
pub(super) fn summarize(
    utterances: &[Utterance<'_>],
    ask: &dyn Fn(&[Utterance<'_>]) -> Result<String, Failure>,
) -> Result<String, Failure> {
    summarize_within(utterances, ask, MAX_LEVELS)
}

fn summarize_within(
    utterances: &[Utterance<'_>],
    ask: &dyn Fn(&[Utterance<'_>]) -> Result<String, Failure>,
    levels: u32,
) -> Result<String, Failure> {
    let overflow = match ask(utterances) {
        Err(Failure::Overflow(message)) => message,
        answer => return answer,
    };
    let size: usize = utterances.iter().map(|utterance| utterance.text.len()).sum();
    if levels == 0 || size < MIN_BYTES {
        return Err(Failure::Overflow(format!(
            "{overflow}; not even {size} bytes of the transcript fit; use a model with a larger context"
        )));
    }
    let (first, second) = halve(utterances, size);
    let parts = [
        half_summary("first", &summarize_within(&first, ask, levels - 1)?),
        half_summary("second", &summarize_within(&second, ask, levels - 1)?),
    ];
    let length: usize = parts.iter().map(|utterance| utterance.text.len()).sum();
    if length >= size {
        return Err(Failure::Overflow(format!(
            "{overflow}; the summaries of its halves are no shorter than {size} bytes"
        )));
    }
    summarize_within(&parts, ask, levels - 1)
}

fn half_summary(which: &str, summary: &str) -> Utterance<'static> {
    Utterance::new(Speaker::System, format!("summary of the {which} half of the transcript:\n{summary}"))
}

/// Two halves of about the same size, cut between utterances if one ends close to the middle, else within an utterance.
fn halve<'u>(utterances: &'u [Utterance<'u>], size: usize) -> (Vec<Utterance<'u>>, Vec<Utterance<'u>>) {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let mut before = 0;
    for utterance in utterances {
        let (start, length) = (before, utterance.text.len());
        before += length;
        if before <= size / 2 + size / 8 {
            first.push(slice(utterance, 0, length));
        } else if start >= size / 2 - size / 8 {
            second.push(slice(utterance, 0, length));
        } else {
            let cut = utterance.text.floor_char_boundary(size / 2 - start);
            first.push(slice(utterance, 0, cut));
            second.push(slice(utterance, cut, length));
        }
    }
    (first, second)
}

/// The bytes of an utterance between `from` and `to`.
fn slice<'u>(utterance: &'u Utterance<'u>, from: usize, to: usize) -> Utterance<'u> {
    let text = utterance.text.get(from..to).unwrap_or_default();
    Utterance::new(utterance.speaker.clone(), text)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::{Failure, Speaker, Utterance, summarize};

    /// A model that takes `context` bytes and answers with the first letter of each utterance.
    fn model(context: usize, asked: &RefCell<Vec<usize>>) -> impl Fn(&[Utterance<'_>]) -> Result<String, Failure> {
        move |utterances| {
            let size = utterances.iter().map(|utterance| utterance.text.len()).sum();
            asked.borrow_mut().push(size);
            if size > context {
                return Err(Failure::Overflow("too long".to_owned()));
            }
            Ok(utterances.iter().filter_map(|utterance| utterance.text.chars().next()).collect())
        }
    }

    #[test]
    fn halves_until_it_fits_and_then_joins() {
        let asked = RefCell::default();
        let utterances: Vec<_> =
            ["a", "b", "c", "d"].map(|letter| Utterance::new(Speaker::User, letter.repeat(300))).into();
        let answer = summarize(&utterances, &model(700, &asked)).ok();
        assert_eq!(answer.as_deref(), Some("ss"), "of two summaries");
        assert_eq!(asked.borrow()[..3], [1200, 600, 600]);
    }

    #[test]
    fn one_long_utterance_is_cut_within() {
        let asked = RefCell::default();
        let utterances = [Utterance::new(Speaker::User, "é".repeat(1000))];
        assert!(summarize(&utterances, &model(1100, &asked)).is_ok());
        assert_eq!(asked.borrow()[..3], [2000, 1000, 1000]);
    }

    #[test]
    fn gives_up_where_nothing_fits() {
        let asked = RefCell::default();
        let utterances = [Utterance::new(Speaker::User, "x".repeat(1000))];
        let answer = summarize(&utterances, &model(0, &asked));
        assert!(matches!(answer, Err(Failure::Overflow(why)) if why.contains("larger context")));
        assert_eq!(asked.borrow().len(), 3);
    }
}
