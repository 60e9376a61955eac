//! The terms of a sentence: its words without the frequent ones, each reduced to its stem. Texts in scripts without spaces
//! give pairs of characters instead.

use foldhash::HashMap;
use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

use super::lexicon::{Lists, STOP_WORDS, lowered};

/// Splits texts into terms and numbers the terms in the order of their first occurrence.
pub(super) struct Terms {
    language: Option<Language>,
    stemmer: Option<Stemmer>,
    numbers: HashMap<String, usize>,
    /// The number of the term of each word in lower case; `None` if the word is too frequent.
    known: HashMap<String, Option<usize>>,
    lower: String,
}

impl Terms {
    /// Terms for texts in `language`; `None` if the language is unknown.
    pub(super) fn new(language: Option<Language>) -> Self {
        let stemmer = language.map(|language| Stemmer::create(language.algorithm()));
        let (numbers, known) = (HashMap::default(), HashMap::default());
        Self { language, stemmer, numbers, known, lower: String::new() }
    }

    /// The numbers of the terms in `text`, which contains `words`: in order, each as often as it occurs.
    pub(super) fn terms_in(&mut self, text: &str, words: &[(usize, &str)]) -> Vec<usize> {
        let mut terms = Vec::with_capacity(words.len());
        let mut run = 0..0;
        for &(at, word) in words {
            let unspaced = word.chars().next().is_some_and(is_unspaced);
            if !unspaced || at != run.end {
                self.add_pairs(&text[run], &mut terms);
                run = at..at;
            }
            if unspaced {
                run.end = at + word.len();
            } else {
                terms.extend(self.number_of_word(word));
            }
        }
        self.add_pairs(&text[run], &mut terms);
        terms
    }

    fn add_pairs(&mut self, run: &str, terms: &mut Vec<usize>) {
        let mut found = Vec::new();
        pairs(run, &mut found);
        terms.extend(found.into_iter().map(|pair| self.number(pair)));
    }

    fn number(&mut self, term: String) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(term).or_insert(next)
    }

    fn number_of_word(&mut self, word: &str) -> Option<usize> {
        let mut lower = std::mem::take(&mut self.lower);
        lowered(word, &mut lower);
        if lower.contains('’') {
            lower = lower.replace('’', "'");
        }
        let number = if let Some(known) = self.known.get(&lower) {
            *known
        } else {
            let number = self.term(&lower).map(|term| self.number(term));
            self.known.insert(lower.clone(), number);
            number
        };
        self.lower = lower;
        number
    }

    /// The term of one word in lower case, unless it is too frequent.
    fn term(&self, word: &str) -> Option<String> {
        let lists = Lists::containing(word);
        let is_frequent = lists.stops_everywhere() || self.language.is_some_and(|language| language.stops(lists));
        let is_letter = word.len() == 1 && !word.bytes().all(|byte| byte.is_ascii_digit());
        if is_frequent || is_letter {
            return None;
        }
        let base = word.strip_suffix("'s").unwrap_or(word);
        Some(match &self.stemmer {
            Some(stemmer) if base.chars().all(char::is_alphabetic) => stemmer.stem(base).into_owned(),
            _ => base.to_owned(),
        })
    }
}

/// Adds the pairs of neighboring characters: words in scripts without spaces have about two characters, and no dictionary is
/// needed (<https://lucene.apache.org/core/9_0_0/analysis/common/org/apache/lucene/analysis/cjk/package-summary.html>).
fn pairs(run: &str, into: &mut Vec<String>) {
    let letters: Vec<&str> = run.graphemes(true).collect();
    match letters.as_slice() {
        [] => {}
        [one] => into.push((*one).to_owned()),
        many => into.extend(many.windows(2).map(<[&str]>::concat).filter(|pair| !is_function_word(pair))),
    }
}

/// Whether a pair of characters is a function word, or part of one, in Japanese or Chinese.
fn is_function_word(pair: &str) -> bool {
    const FUNCTION_WORDS: &[&str] = &[
        "あり", "いま", "から", "くだ", "こと", "この", "さい", "した", "して", "しま", "する", "せん", "その", "たい",
        "ださ", "てい", "てく", "でし", "です", "とい", "ない", "のか", "ので", "まし", "ます", "ませ", "また", "まで",
        "もの", "よう", "れる", "一下", "一个", "什么", "他们", "你的", "可以", "因为", "如果", "就是", "怎么", "我们",
        "我的", "所以", "是不", "没有", "的话", "这个", "这是", "那个",
    ];
    FUNCTION_WORDS.binary_search(&pair).is_ok()
}

/// Whether a character belongs to a script without spaces between words, or is treated so: Han, kana, Hangul, Thai, Lao, Khmer,
/// Myanmar.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{318f}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

// Detects the language of a text for stemming and stop words. It knows scripts and the most frequent words of seventeen
// languages.

/// The most words that are read to guess the language: enough for a stable share.
const MAX_WORDS: usize = 2_000;

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
        for word in texts.flat_map(UnicodeSegmentation::unicode_words).take(MAX_WORDS) {
            words += 1;
            Lists::containing(lowered(word, &mut lower)).languages().for_each(|language| hits[language] += 1);
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
    fn algorithm(self) -> Algorithm {
        STOP_WORDS[self.0].0
    }

    /// Whether a word of these `lists` is too frequent in the language to be a term.
    pub(super) const fn stops(self, lists: Lists) -> bool {
        lists.stops_in(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Language, Terms, is_function_word};
    use rust_stemmers::Algorithm;
    use unicode_segmentation::UnicodeSegmentation;

    #[test]
    fn function_words_are_sorted_so_that_they_can_be_searched() {
        assert!(["あり", "から", "ます", "我们", "那个"].iter().all(|pair| is_function_word(pair)));
    }

    #[test]
    fn terms_are_stems_or_pairs() {
        let english = || Language::guess(std::iter::once("the and of to is"));
        let german = || Language::guess(std::iter::once("der und nicht ist ein"));
        for (language, text, expected) in [
            (english(), "I am running the tests, it's the user's", &["run", "test", "user"][..]),
            (english(), "let x = parse_args(argv[1]);", &["parse_args", "argv", "1"]),
            (german(), "Die Dateien werden gelöscht", &["datei", "geloscht"]),
            (None, "東京に行く", &["東京", "京に", "に行", "行く"]),
            (None, "서울에서 1반", &["서울", "울에", "에서", "1반"]),
            (None, "ขอบคุณ", &["ขอ", "อบ", "บคุ", "คุณ"]),
            (None, "好", &["好"]),
            (None, "", &[]),
        ] {
            let words: Vec<(usize, &str)> = text.unicode_word_indices().collect();
            let mut terms = Terms::new(language);
            let numbers = terms.terms_in(text, &words);
            let name = |number| terms.numbers.iter().find(|(_, known)| **known == number).unwrap().0.as_str();
            assert_eq!(numbers.into_iter().map(name).collect::<Vec<_>>(), expected, "{text}");
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
