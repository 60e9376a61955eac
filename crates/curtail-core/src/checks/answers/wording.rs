//! Which rows of the table of constraints a quoted text repeats. Texts are damaged, cut off and in bad company, so that their
//! letters are compared.

use std::ops::Range;
use std::sync::LazyLock;

use foldhash::{HashSet, HashSetExt as _};
use memchr::memmem;

use super::quoted::{Quoted, letters};
use super::request::overlap;
use crate::checks::{Constraint, constraints};

/// The number of letters that are compared at once.
const GRAM: usize = 6;

/// Words that are shorter must be there whole.
const SHORT: usize = 24;

/// Words that are still shorter say nothing by themselves.
const SHORTEST: usize = 16;

/// What part of the words must be in the text.
const ENOUGH: f64 = 0.72;

/// The same of the first sentence, if the rest is not quoted.
const ENOUGH_OF_FIRST: f64 = 0.85;

/// What part of the words is all of them.
const WHOLE: f64 = 0.97;

/// The rows whose words the text contains, all with about the same words, and where these are in its letters. Of several
/// answers, the last that is about a transcript.
pub(super) fn rows(quoted: &Quoted) -> (Vec<&'static Constraint>, Option<Range<usize>>) {
    let text = Compared::new(&quoted.letters);
    let mut likenesses: Vec<Likeness> =
        rows_with_words().filter_map(|(row, words)| text.likeness(row, words)).collect();
    let about: Vec<Range<usize>> =
        likenesses.iter().filter(|likeness| likeness.row.rule.is_some()).filter_map(Likeness::whole_place).collect();
    if let Some(last) = about.iter().max_by_key(|place| place.end) {
        likenesses.retain(|likeness| likeness.place.as_ref().is_some_and(|place| overlap(place, last)));
    }
    let best = likenesses.iter().map(|likeness| likeness.rank).fold(0.0, f64::max);
    likenesses.retain(|likeness| likeness.rank > best * WHOLE);
    let place = likenesses.first().and_then(|likeness| likeness.place.clone());
    (likenesses.into_iter().map(|likeness| likeness.row).collect(), place)
}

/// The rows with the words that are most like the text, at most `count` of them.
pub(super) fn nearest(quoted: &Quoted, count: usize) -> Vec<&'static Constraint> {
    let text = Compared::new(&quoted.letters);
    let ranked = rows_with_words().map(|(row, words)| {
        let overlaps = words.sentences.iter().map(|sentence| text.overlap(sentence));
        (Overlap::sum(overlaps).share(), row)
    });
    let mut ranked: Vec<(f64, &Constraint)> = ranked.collect();
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
    let mut words = HashSet::new();
    ranked.into_iter().map(|(_, row)| row).filter(|row| words.insert(row.words)).take(count).collect()
}

/// The words of a row, as they are compared.
struct Words {
    /// The letters between the placeholders, of each sentence.
    sentences: Vec<Vec<String>>,
    longest: Option<String>,
}

impl Words {
    fn of(words: &str) -> Self {
        let sentences: Vec<Vec<String>> = words.split(". ").map(|sentence| pieces(sentence).collect()).collect();
        let longest = sentences.iter().flatten().max_by_key(|piece| piece.len()).cloned();
        Self { sentences, longest }
    }
}

/// The words of every row, in the order of the table.
static WORDS: LazyLock<Vec<Words>> = LazyLock::new(|| constraints().iter().map(|row| Words::of(row.words)).collect());

fn rows_with_words() -> impl Iterator<Item = (&'static Constraint, &'static Words)> {
    constraints().iter().zip(WORDS.iter())
}

/// The letters of a text, in a form that is quick to compare.
struct Compared<'t> {
    letters: &'t str,
    grams: HashSet<[u8; GRAM]>,
}

impl<'t> Compared<'t> {
    fn new(letters: &'t str) -> Self {
        Self { letters, grams: grams(letters).collect() }
    }

    /// How well the words of a row fit; `None` if they do not.
    fn likeness(&self, row: &'static Constraint, words: &Words) -> Option<Likeness> {
        let sentences: Vec<Overlap> = words.sentences.iter().map(|sentence| self.overlap(sentence)).collect();
        let all = Overlap::sum(sentences.iter().copied());
        let rank = self.rank(words, &sentences, all)?;
        let place = words.longest.as_ref().and_then(|piece| {
            let is_likely = grams(piece).all(|gram| self.grams.contains(&gram));
            let at = is_likely.then(|| memmem::rfind(self.letters.as_bytes(), piece.as_bytes()))??;
            Some(at..at + piece.len())
        });
        Some(Likeness { row, rank, is_whole: all.all >= SHORTEST && all.share() > WHOLE, place })
    }

    fn rank(&self, words: &Words, sentences: &[Overlap], all: Overlap) -> Option<f64> {
        if all.all < SHORT {
            return (all.found == all.all).then(|| all.rank());
        }
        let whole = (all.share() >= ENOUGH).then(|| all.rank());
        let first = sentences.first().copied().unwrap_or_default();
        let begun = (first.all >= SHORT && first.share() >= ENOUGH_OF_FIRST).then(|| first.rank());
        whole.into_iter().chain(begun).chain(self.cut_off(words)).reduce(f64::max)
    }

    /// How well the end of the text fits the beginning of the words: a log and a screen cut long lines off.
    #[expect(clippy::cast_precision_loss, reason = "the lengths of sentences")]
    fn cut_off(&self, words: &Words) -> Option<f64> {
        let text = self.letters.strip_suffix("truncated").unwrap_or(self.letters);
        let beginning = words.sentences.first()?.first()?;
        let tail = text.get(text.len().checked_sub(SHORT)?..)?;
        let end = beginning.find(tail)? + SHORT;
        text.ends_with(&beginning[..end]).then_some((end * end) as f64 / beginning.len() as f64)
    }

    /// How much of the pieces of a sentence the text contains.
    fn overlap(&self, sentence: &[String]) -> Overlap {
        Overlap::sum(sentence.iter().map(|piece| self.overlap_of_piece(piece)))
    }

    fn overlap_of_piece(&self, piece: &str) -> Overlap {
        let all = grams(piece).count();
        let found = grams(piece).filter(|gram| self.grams.contains(gram)).count();
        // A long log is searched only for what may be there.
        if found == all && memmem::find(self.letters.as_bytes(), piece.as_bytes()).is_some() {
            return Overlap { found: piece.len(), all: piece.len() };
        }
        // The number of a message is there, or it is not.
        if all == 0 || piece.contains('#') && piece.len() < SHORT {
            return Overlap { found: 0, all: piece.len() };
        }
        Overlap { found: found * piece.len() / all, all: piece.len() }
    }
}

/// How well the words of a row fit a text.
struct Likeness {
    row: &'static Constraint,
    /// Long words that are there whole rank first.
    rank: f64,
    is_whole: bool,
    /// Where the words are.
    place: Option<Range<usize>>,
}

impl Likeness {
    fn whole_place(&self) -> Option<Range<usize>> {
        self.place.clone().filter(|_| self.is_whole)
    }
}

/// How much of some words is in a text, in letters.
#[derive(Debug, Clone, Copy, Default)]
struct Overlap {
    found: usize,
    all: usize,
}

impl Overlap {
    fn sum(overlaps: impl Iterator<Item = Self>) -> Self {
        overlaps.fold(Self::default(), |sum, one| Self { found: sum.found + one.found, all: sum.all + one.all })
    }

    #[expect(clippy::cast_precision_loss, reason = "the lengths of sentences")]
    fn share(self) -> f64 {
        if self.all == 0 { 0.0 } else { self.found as f64 / self.all as f64 }
    }

    #[expect(clippy::cast_precision_loss, reason = "the lengths of sentences")]
    fn rank(self) -> f64 {
        self.found as f64 * self.share()
    }
}

/// The letters between the placeholders of `words`.
fn pieces(words: &str) -> impl Iterator<Item = String> {
    let pieces = words.split('…').map(|piece| letters(&with_numbers(piece)));
    pieces.filter(|piece| !piece.is_empty() && piece != "#")
}

/// The text with a digit for each placeholder of a number.
fn with_numbers(words: &str) -> String {
    let mut numbered = String::with_capacity(words.len());
    for (at, c) in words.char_indices() {
        let rest = &words[at + c.len_utf8()..];
        let is_placeholder = matches!(c, 'N' | 'M' | 'K') && !words[..at].ends_with(is_of_word);
        numbered.push(if is_placeholder && !rest.starts_with(is_of_word) { '0' } else { c });
    }
    numbered
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn grams(letters: &str) -> impl Iterator<Item = [u8; GRAM]> {
    letters.as_bytes().windows(GRAM).filter_map(|gram| gram.try_into().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(text: &str) -> Option<&'static str> {
        rows(&Quoted::new(text)).0.first().map(|row| row.words)
    }

    #[test]
    fn every_answer_is_found_by_its_own_words() {
        for row in constraints() {
            let quoted = with_numbers(&row.words.replace('…', "x1"));
            let (found, _) = rows(&Quoted::new(&quoted));
            let expected = (row.rule, row.words);
            assert!(found.iter().any(|other| other.rule == row.rule), "{expected:?} became {found:?}");
        }
    }

    #[test]
    fn what_was_broken_and_wrapped_is_found() {
        let text = "  \u{2502} BadRequestError: Error code: 400 - {'error': {'message': \"messages.37.con  \u{2502}\n  \
                    \u{2502} tent.1: unexpected \\\\`tool_use_id\\\\` fo  \u{2502}\n  \u{2502} und in `tool_res";
        assert!(
            words_of(text).is_some_and(|words| words.starts_with("messages.N.content.M: unexpected `tool_use_id`"))
        );
        let json = r#"{"error":{"metadata":{"raw":"{\"error\":{\"message\":\"messages: text content blocks must be non-empty\"}}"}}}"#;
        assert_eq!(words_of(json), Some("messages: text content blocks must be non-empty"));
        assert_eq!(words_of("the weather in Oslo is fine today, and it will stay so"), None);
        assert_eq!(words_of("messages.3.content.1.image.source: what nobody has said so far"), None);
    }

    #[test]
    fn of_several_answers_the_last_about_a_transcript_is_meant() {
        let log = "429 This request would exceed your account's rate limit. Please try again later.\n\
                   400 messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each \
                   `tool_use` block must have a corresponding `tool_result` block in the next message.\n\
                   400 messages: text content blocks must be non-empty\n\
                   529 overloaded_error: Overloaded";
        assert_eq!(words_of(log), Some("messages: text content blocks must be non-empty"));
    }
}
