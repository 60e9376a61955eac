//! Summarizes transcripts that exceed a model's context: each half first, then the two summaries.

use super::{Failure, Speaker, Utterance};

/// How often a transcript may be halved: 12 times, which gives up to 4,096 parts.
pub(super) const MAX_LEVELS: u32 = 12;

/// A transcript of fewer bytes is not halved: the instructions alone are as long.
const MIN_BYTES: usize = 400;

/// Asks for a summary. If the transcript exceeds the model's context, asks for a summary of each half, and then for a summary
/// of the two summaries. `levels` is how often the transcript may still be halved.
///
/// # Errors
/// Any failure of `ask`; [`Failure::Overflow`] if halving does not help.
pub(super) fn in_levels(
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
        half_summary("first", &in_levels(&first, ask, levels - 1)?),
        half_summary("second", &in_levels(&second, ask, levels - 1)?),
    ];
    let length: usize = parts.iter().map(|utterance| utterance.text.len()).sum();
    if length >= size {
        return Err(Failure::Overflow(format!(
            "{overflow}; the summaries of its halves are no shorter than {size} bytes"
        )));
    }
    in_levels(&parts, ask, levels - 1)
}

fn half_summary(which: &str, summary: &str) -> Utterance<'static> {
    Utterance::new(Speaker::System, format!("summary of the {which} half of the transcript:\n{summary}"))
}

/// Two halves of about the same size, cut between utterances if one ends close to the middle, else within an utterance.
fn halve<'u>(utterances: &'u [Utterance<'u>], size: usize) -> (Vec<Utterance<'u>>, Vec<Utterance<'u>>) {
    let mut first = Vec::new();
    let mut second = Vec::new();
    let mut before = 0;
    for utterance in utterances {
        let start = before;
        let length = utterance.text.len();
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

    use super::{Failure, MAX_LEVELS, Speaker, Utterance, in_levels};

    /// A model that takes 1,100 bytes and answers with one letter.
    #[test]
    fn one_long_utterance_is_cut_within() {
        let asked = RefCell::new(Vec::new());
        let ask = |utterances: &[Utterance<'_>]| {
            let size: usize = utterances.iter().map(|utterance| utterance.text.len()).sum();
            asked.borrow_mut().push(size);
            if size > 1100 { Err(Failure::Overflow("too long".to_owned())) } else { Ok("x".to_owned()) }
        };
        let utterances = [Utterance::new(Speaker::User, "é".repeat(1000))];
        assert!(in_levels(&utterances, &ask, MAX_LEVELS).is_ok());
        assert_eq!(asked.borrow()[..3], [2000, 1000, 1000]);
    }
}
