//! Whether a sentence that has all the words of a statement also means it.

use crate::verify::clauses::{labelled, segments, without_condition};
use crate::verify::fact::{Fact, Kind};
use crate::verify::grammar::Grammar;
use crate::verify::languages::LANGUAGES;
use crate::verify::lexicon::content_words;
use crate::verify::negation::{is_done, negates};
use crate::verify::sentence_index::Sentence;
use crate::verify::statements::replaced_words;
use crate::verify::tokens::is_han;
use crate::verify::word_forms::same_word;

/// Whether a sentence with all the words of a statement also means it: it says yes or no alike, and the state is the same.
pub(super) fn means_the_same(fact: &Fact, text: &str, sentence: &Sentence) -> bool {
    let part = segment_about(text, &sentence.text, fact.grammar);
    match fact.kind {
        Kind::Todo => !says_done(text, sentence, fact.grammar),
        Kind::Error => !resolves(text, part),
        Kind::Rule if !orders(text, part, sentence) => false,
        _ => says_alike(text, &sentence.text, fact.grammar) && replaces_the_same(text, &sentence.text),
    }
}

/// Whether a part of a sentence says that an error is resolved. What the error itself denies, as `no such file`, is not said of it.
fn resolves(error: &str, part: &str) -> bool {
    let denies = negates(part) != (negates(error) && LANGUAGES.negation.are_in(part));
    is_done(part, &LANGUAGES.done) && !denies && !LANGUAGES.done.are_in(error)
}

/// Whether a sentence says yes or no to each thing to which a statement does: `A, not B` is not `B, not A`.
fn says_alike(text: &str, sentence: &str, grammar: Grammar) -> bool {
    let own = segments(text);
    if own.len() < 2 {
        return negates(text) == negates(segment_about(text, sentence, grammar));
    }
    let words: Vec<Vec<String>> = own.iter().map(|segment| content_words(segment)).collect();
    let parts = segments(sentence);
    own.iter().zip(&words).all(|(segment, of_segment)| {
        // The last words of a segment tell it from the others.
        let mut last_first = of_segment.iter().rev();
        let own = last_first.find(|word| words.iter().filter(|others| others.contains(word)).count() == 1);
        let Some(word) = own else { return true };
        let mut parts = parts.iter();
        let about = parts.find(|part| content_words(part).iter().any(|other| same_word(word, other, grammar)));
        about.is_none_or(|part| negates(part) == negates(segment))
    })
}

/// Whether both say that the same thing is replaced: `A instead of B` is not `B instead of A`.
fn replaces_the_same(text: &str, sentence: &str) -> bool {
    let own = replaced_words(text);
    let others = replaced_words(sentence);
    let (Some(one), Some(other)) = (own.first(), others.first()) else { return true };
    one == other || !content_words(text).contains(other)
}

/// Whether a sentence gives an order or a ban, is in a list of rules, or says what is always so: a report of the past does not.
fn orders(text: &str, part: &str, sentence: &Sentence) -> bool {
    let is_listed = sentence.heading.as_ref().is_some_and(|heading| LANGUAGES.rule_heading.are_in(heading));
    let first = content_words(text).into_iter().next();
    // `No changes to vendor/` bans, and `vendor/ was not changed` tells.
    let bans = negates(part) && !LANGUAGES.reported.are_in(part);
    let order = without_condition(without_label(part));
    let begins_alike = first.is_some() && first == content_words(order).into_iter().next();
    is_listed
        || labelled(&sentence.text).is_some_and(|(label, _)| LANGUAGES.rule_heading.are_in(label))
        || begins_alike && bans == negates(part)
        || LANGUAGES.rule.are_in(part)
        || LANGUAGES.order.first_in(order) == Some(0)
        || LANGUAGES.present.are_in(part)
        || bans
        || !sentence.is_prose()
        || text.contains(is_han)
}

/// What a part of a sentence says behind a label such as `Linting:`, unless that says that it is done.
fn without_label(part: &str) -> &str {
    let order = labelled(part).filter(|(label, _)| !LANGUAGES.done_heading.are_in(label));
    order.map_or(part, |(_, order)| order.trim_start_matches(['*', ' ']))
}

/// The segment of a sentence that shares most words with a statement.
pub(super) fn segment_about<'t>(text: &str, sentence: &'t str, grammar: Grammar) -> &'t str {
    let words = content_words(text);
    let parts = segments(sentence);
    let shared = |part: &str| {
        let others = content_words(part);
        words.iter().filter(|word| others.iter().any(|other| same_word(word, other, grammar))).count()
    };
    // What one item of a list says as a whole has the sense of that item, unless a negation spreads over alternatives.
    let mut items = sentence.split([',', ';', '，', '；']).map(str::trim);
    if !words.is_empty()
        && !LANGUAGES.or.are_in(sentence)
        && let Some(item) = items.find(|item| shared(item) == words.len())
    {
        return item;
    }
    if parts.len() < 2 {
        return sentence;
    }
    let best = parts.iter().map(|part| shared(part)).max().unwrap_or_default();
    // A statement that is spread over several segments has the sense of the whole sentence.
    if best * 2 < words.len() {
        sentence
    } else {
        parts.into_iter().find(|part| shared(part) == best).unwrap_or(sentence)
    }
}

/// Whether a sentence says that a to-do is done.
fn says_done(text: &str, sentence: &Sentence, grammar: Grammar) -> bool {
    if ["[x]", "[X]", "✅", "✓", "✔", "☑"].iter().any(|mark| sentence.text.starts_with(mark)) {
        return true;
    }
    if sentence.text.starts_with('[') {
        return false;
    }
    let heading = sentence.heading.as_deref().unwrap_or_default();
    if LANGUAGES.todo_heading.are_in(heading)
        || LANGUAGES.todo_heading.first_in(&sentence.text).is_some_and(|at| at < 12)
    {
        return false;
    }
    let part = segment_about(text, &sentence.text, grammar);
    let says = LANGUAGES.done.are_in(part) && !LANGUAGES.done.are_in(text) && !negates(part);
    let mut told = part.split(". ");
    let label = labelled(&sentence.text).map_or("", |(label, _)| label);
    let is_listed = [heading, label].iter().any(|title| LANGUAGES.done_heading.are_in(title) && !negates(title));
    says || is_listed || told.any(|part| tells_past(text, part, grammar))
}

/// Whether a part of a sentence tells that a to-do was done: with its verb in a form of the past, and not as one that is only wanted.
fn tells_past(text: &str, part: &str, grammar: Grammar) -> bool {
    let own = content_words(text);
    // In German, the verb of an order is its last word.
    let (Some(first), Some(last)) = (own.first(), own.last()) else { return false };
    let is_told = content_words(part).iter().any(|word| {
        let is_form = [first, last].iter().any(|own| same_word(own, word, grammar));
        is_form && LANGUAGES.past.are_all_of(word) && !own.contains(word)
    });
    is_told && !negates(part) && !LANGUAGES.intended.are_in(part) && !LANGUAGES.wish.are_in(part)
}
