//! Every listed word with the lists that contain it, so that one lookup answers for all of them.

use std::sync::LazyLock;

use foldhash::HashMap;

use super::cue_words::{CHANGES, COURTESIES, DECISIONS, ERRORS, GOALS};
use super::stop_words::{CHAT, CODE, STOP_WORDS};

/// The lists that contain a word, one bit each: the languages' stop words first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lists(u32);

/// The bit of a list that is of no language.
const fn beyond(nth: usize) -> u32 {
    1 << (STOP_WORDS.len() + nth)
}

static LISTS: LazyLock<HashMap<&'static str, Lists>> = LazyLock::new(|| {
    let others = [CHAT, CODE, GOALS, DECISIONS, CHANGES, ERRORS, COURTESIES];
    let languages = STOP_WORDS.iter().map(|(_, words)| *words);
    let mut lists: HashMap<&'static str, Lists> = HashMap::default();
    for (bit, words) in languages.chain(others).enumerate() {
        for &word in words {
            lists.entry(word).or_default().0 |= 1 << bit;
        }
    }
    lists
});

impl Lists {
    /// The lists that contain `word`, which is in lower case.
    pub(super) fn of(word: &str) -> Self {
        LISTS.get(word).copied().unwrap_or_default()
    }

    /// Whether it is a stop word of the language with this number.
    pub(super) const fn stops_in(self, language: usize) -> bool {
        self.0 & (1 << language) != 0
    }

    /// Whether it is a stop word of chats or of code.
    pub(super) const fn stops_everywhere(self) -> bool {
        self.0 & (beyond(0) | beyond(1)) != 0
    }

    pub(super) const fn tells_goal(self) -> bool {
        self.0 & beyond(2) != 0
    }

    pub(super) const fn tells_decision(self) -> bool {
        self.0 & beyond(3) != 0
    }

    pub(super) const fn tells_change(self) -> bool {
        self.0 & beyond(4) != 0
    }

    pub(super) const fn tells_error(self) -> bool {
        self.0 & beyond(5) != 0
    }

    pub(super) const fn is_courtesy(self) -> bool {
        self.0 & beyond(6) != 0
    }

    /// The numbers of the languages that have it among their stop words.
    pub(super) fn languages(self) -> impl Iterator<Item = usize> {
        (0..STOP_WORDS.len()).filter(move |&language| self.stops_in(language))
    }
}

/// `word` in lower case, in `buffer` if that takes no more than its letters.
pub(super) fn lowered<'b>(word: &str, buffer: &'b mut String) -> &'b str {
    buffer.clear();
    if word.is_ascii() {
        buffer.push_str(word);
        buffer.make_ascii_lowercase();
    } else {
        buffer.push_str(&word.to_lowercase());
    }
    buffer
}

#[cfg(test)]
mod tests {
    use super::{ERRORS, GOALS, Lists, STOP_WORDS, lowered};

    #[test]
    fn a_word_knows_its_lists() {
        let both = Lists::of("need");
        assert!(both.stops_everywhere() && both.tells_goal() && !both.is_courtesy());
        assert!(GOALS.iter().all(|word| Lists::of(word).tells_goal()));
        assert!(ERRORS.iter().all(|word| Lists::of(word).tells_error()));
        for (language, (_, words)) in STOP_WORDS.iter().enumerate() {
            assert!(words.iter().all(|word| Lists::of(word).stops_in(language)));
        }
        assert_eq!(Lists::of("zebra"), Lists::default());
        let mut buffer = String::new();
        assert_eq!(lowered("ΣΑΣ", &mut buffer), "σας");
        assert_eq!(lowered("Word", &mut buffer), "word");
    }
}
