//! What a later statement overtakes.

use super::super::content_words::content_words;
use super::super::fact::Fact;
use super::super::languages::{LANGUAGES, are_opposite, forms, negates, same_word, without_ge};
use curtail_core::steps;

/// The most sentences that replace something, of which the last ones count.
const MOST_REPLACEMENTS: usize = 500;

/// The most sentences that lift a rule, of which the last ones count.
const MOST_PERMITTING: usize = 200;

/// The most statements that may say the contrary of an earlier one, of which the last ones count.
const MOST_MARKED: usize = 200;

/// The most words of what a sentence replaces.
const MOST_REPLACED: usize = 3;

/// Marks the statements that a later one replaces: it names them after words such as `instead of`, it says the contrary, or it
/// gives the same setting another value.
pub(super) fn mark_overtaken(facts: &mut [Fact], replacing: &[(String, Option<usize>)]) {
    let words: Vec<Vec<String>> = facts.iter().map(|fact| content_words(&fact.text)).collect();
    let beginnings: Vec<Vec<String>> = words.iter().map(|words| beginnings(words)).collect();
    let replaced: Vec<Replacement> = replacing
        .iter()
        .rev()
        .take(MOST_REPLACEMENTS)
        .map(|(text, message)| Replacement {
            named: replaced_words(text),
            words: content_words(text),
            message: *message,
        })
        .filter(|replacement| !replacement.named.is_empty())
        .collect();
    let marked: Vec<usize> = (0..facts.len())
        .filter(|&at| {
            LANGUAGES.anew.are_in(&facts[at].text)
                || LANGUAGES.instead.are_in(&facts[at].text)
                || !negates(&facts[at].text)
        })
        .rev()
        .take(MOST_MARKED)
        .collect();
    for at in 0..facts.len() {
        let is_later = |other: Option<usize>| other > facts[at].message;
        let is_named = || replaced.iter().any(|one| is_later(one.message) && one.names(&words[at]));
        let is_contrary = || {
            marked.iter().any(|&later| {
                is_later(facts[later].message)
                    && share_most(&beginnings[later], &beginnings[at])
                    && replaces(&facts[later].text, &words[later], &facts[at].text, &words[at])
            })
        };
        facts[at].overtaken |= is_named() || is_contrary();
    }
}

/// The first letters of words, sorted: forms of one word have them in common.
fn beginnings(words: &[String]) -> Vec<String> {
    let bare = words.iter().map(|word| forms(word).next().map_or_else(|| without_ge(word), String::as_str));
    let mut found: Vec<String> = bare.map(|word| word.chars().take(3).collect()).collect();
    found.sort_unstable();
    found
}

/// Whether two statements may have all words but one or two in common. Most have not, which their beginnings tell faster than the
/// words.
fn share_most(later: &[String], earlier: &[String]) -> bool {
    steps::count(1);
    let is_missing = |start: &&String| later.binary_search(*start).is_err();
    later.len().abs_diff(earlier.len()) <= 2 && earlier.iter().filter(is_missing).take(2).count() < 2
}

/// The words that a sentence says are replaced: those after `instead of`, up to three.
pub(in crate::verify) fn replaced_words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (_, end) in LANGUAGES.instead.places(text) {
        let rest = &text[end..];
        let ends = |(at, mark): &(usize, &str)| *mark != "." || !rest[at + 1..].starts_with(char::is_alphanumeric);
        let end = rest.match_indices([',', ';', '.', '，', '。', '；']).find(ends).map_or(rest.len(), |(at, _)| at);
        found.extend(content_words(&rest[..end]).into_iter().take(MOST_REPLACED));
    }
    found
}

/// A sentence that replaces something by something else.
struct Replacement {
    /// The words of what it replaces.
    named: Vec<String>,
    /// All its words.
    words: Vec<String>,
    message: Option<usize>,
}

impl Replacement {
    /// Whether it replaces what a statement is about: both name it, and they have another word in common.
    fn names(&self, statement: &[String]) -> bool {
        let has = |words: &[String], word: &String| words.iter().any(|other| same_word(other, word));
        let Some(first) = self.named.iter().find(|word| !LANGUAGES.weak.contains(*word)) else { return false };
        let shares = || statement.iter().filter(|word| has(&self.words, word)).take(2).count() > 1;
        has(statement, first) && (statement.len() == 1 || shares())
    }
}

/// Whether a later statement says the contrary of an earlier one, or the same of another value.
fn replaces(later: &str, later_words: &[String], earlier: &str, earlier_words: &[String]) -> bool {
    let shared = earlier_words.iter().filter(|word| later_words.iter().any(|other| same_word(word, other))).count();
    let most = earlier_words.len().max(later_words.len());
    if shared == earlier_words.len() && shared > 0 && most - shared <= 1 {
        return negates(later) != negates(earlier);
    }
    let other = later_words.iter().filter(|word| !earlier_words.iter().any(|known| same_word(known, word)));
    let gone = earlier_words.iter().filter(|word| !later_words.iter().any(|known| same_word(known, word)));
    let mut pairs = gone.zip(other);
    let changes = LANGUAGES.anew.are_in(later);
    let is_value =
        pairs.any(|(gone, other)| are_opposite(gone, other) || changes && is_number(gone) == is_number(other));
    shared >= 2 && earlier_words.len() - shared == 1 && most - shared <= 2 && is_value
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// Marks the rules that a later sentence lifts. `permitting` are the words of such sentences, each with its message.
pub(super) fn mark_lifted(rules: &mut [Fact], permitting: &[(Vec<String>, Option<usize>)]) {
    for rule in rules {
        let words = content_words(&rule.text);
        let has = |said: &[String]| words.iter().all(|word| said.iter().any(|other| same_word(other, word)));
        let mut last = permitting.iter().rev().take(MOST_PERMITTING);
        rule.overtaken |= last.any(|(said, message)| *message > rule.message && has(said));
    }
}

#[cfg(test)]
mod tests {
    use super::replaced_words;

    #[test]
    fn what_is_replaced_is_named() {
        assert_eq!(replaced_words("use Redis instead of RabbitMQ for jobs"), ["RabbitMQ", "jobs"]);
        assert_eq!(replaced_words("Instead of kafka.v2, use redis_streams in the queue."), ["kafka.v2"]);
        assert_eq!(replaced_words("No longer use `make deploy-eu`; go"), ["make", "deploy-eu"]);
    }
}
