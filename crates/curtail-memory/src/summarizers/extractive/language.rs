//! Detects the language of a text for stemming and stop words. It knows scripts and the most frequent words of seventeen
//! languages.

use rust_stemmers::Algorithm;
use unicode_segmentation::UnicodeSegmentation;

use super::lexicon::{Lists, lowered};
use super::stop_words::STOP_WORDS;

/// The number of words that are read: enough for a stable share.
const LOOKED_AT: usize = 2_000;

/// The minimum share of a language's most frequent words. Prose in any of the languages has 25 to 50 %; code has some
/// English words by chance.
const LEAST_SHARE: f64 = 0.08;

/// A language that can be stemmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Language(usize);

impl Language {
    /// The most likely language of `texts`, if it is a known one.
    pub(super) fn guess<'t>(texts: impl Iterator<Item = &'t str>) -> Option<Self> {
        let (mut words, mut hits, mut lower) = (0_usize, [0_usize; STOP_WORDS.len()], String::new());
        for word in texts.flat_map(UnicodeSegmentation::unicode_words).take(LOOKED_AT) {
            words += 1;
            Lists::of(lowered(word, &mut lower)).languages().for_each(|language| hits[language] += 1);
        }
        let (best, hits) = hits
            .into_iter()
            .enumerate()
            // The first of equal languages: English, from which code takes its words, is listed before related languages.
            .rev()
            .max_by_key(|&(_, hits)| hits)?;
        // Both are below 2,001.
        #[expect(clippy::cast_precision_loss, reason = "small counts are exact")]
        let share = hits as f64 / words.max(1) as f64;
        (share >= LEAST_SHARE).then_some(Self(best))
    }

    /// The Snowball stemmer of the language.
    pub(super) fn algorithm(self) -> Algorithm {
        STOP_WORDS[self.0].0
    }

    /// Whether a word of these `lists` is too frequent in the language to be a term.
    pub(super) const fn stops(self, lists: Lists) -> bool {
        lists.stops_in(self.0)
    }
}

#[cfg(test)]
mod tests {
    use rust_stemmers::Algorithm;

    use super::{Language, STOP_WORDS};

    #[test]
    fn word_lists_are_sorted_so_that_they_can_be_searched() {
        for (language, words) in STOP_WORDS {
            assert!(words.is_sorted(), "{language:?}");
        }
    }

    #[test]
    fn guesses_from_common_words() {
        for (text, expected) in [
            ("I think that we should move it to the other folder", Some(Algorithm::English)),
            ("Ich möchte, dass die Datei nicht gelöscht wird und wir das prüfen", Some(Algorithm::German)),
            ("Je voudrais que le fichier soit dans le dossier de la semaine", Some(Algorithm::French)),
            ("Я хочу чтобы это было в другой папке и не на диске", Some(Algorithm::Russian)),
            ("أريد أن يكون الملف في هذا المجلد من أجل هذا", Some(Algorithm::Arabic)),
            ("ファイルを移動してください", None),
            ("0x1f 0x2e 17 18", None),
            ("", None),
        ] {
            let guess = Language::guess(std::iter::once(text)).map(|language| format!("{:?}", language.algorithm()));
            assert_eq!(guess, expected.map(|language| format!("{language:?}")), "{text}");
        }
    }
}
