//! Names: files with their state, identifiers, and commands.

use super::{Decision, Fate, Wanted};
use crate::paths;
use crate::verify::fact::{Fact, Kind, State};
use crate::verify::languages::{LANGUAGES, negates};
use crate::verify::lexicon::{Lexicon, Term};
use crate::verify::outcomes::said_about;
use crate::verify::said::{Said, Sentence};
use crate::verify::tokens::is_han;

/// The words that a name consists of, if there are two or more.
pub(super) fn pieces(name: &str, lexicon: &mut Lexicon) -> Vec<Term> {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let mut words: Vec<String> = vec![String::new()];
    let mut before = ' ';
    for c in stem.chars() {
        if !c.is_alphabetic() || before.is_lowercase() && c.is_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphabetic()) {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| word.chars().count() >= 3);
    if words.len() < 2 {
        return Vec::new();
    }
    words.iter().flat_map(|word| lexicon.needs(word)).map(|need| need.term).collect()
}

pub(super) fn decide_name(_fact: &Fact, wanted: &Wanted, said: &Said) -> Decision {
    let found = wanted.names.iter().find_map(|term| said.with(*term).next());
    if let Some(sentence) = found {
        return Decision::by(Fate::Kept, sentence);
    }
    describes(wanted, said)
}

/// Whether a sentence has the words that a name consists of.
fn describes(wanted: &Wanted, said: &Said) -> Decision {
    let has_all = |sentence: &&Sentence| wanted.pieces.iter().all(|term| sentence.has(*term));
    let sentence = wanted.pieces.first().and_then(|term| said.with(*term).find(has_all));
    sentence.map_or_else(Decision::lost, |sentence| Decision::by(Fate::Reworded, sentence))
}

pub(super) fn decide_file(fact: &Fact, wanted: &Wanted, said: &Said) -> Decision {
    let Some(&term) = wanted.names.first() else { return Decision::lost() };
    let mut contrary = None;
    let mut any = false;
    for sentence in said.with(term) {
        any = true;
        let heading = sentence.heading.as_deref().unwrap_or_default();
        let removal = said_about(&sentence.text, &fact.text, &LANGUAGES.removed);
        let is_removed = removal.is_some()
            || LANGUAGES.removed.are_in(heading) && !LANGUAGES.changed.are_in(&sentence.text)
            || !sentence.is_told() && ["rm ", "git rm ", "Delete File"].iter().any(|word| sentence.text.contains(word));
        let is_undone = negates(removal.unwrap_or(&sentence.text));
        let is_denied = said_about(&sentence.text, &fact.text, &LANGUAGES.changed).is_some_and(negates)
            || sentence.text.contains("unchanged");
        let is_kept = match fact.state {
            Some(State::Removed) => is_removed && !is_undone,
            Some(State::Changed) => (!is_removed || is_undone) && !is_denied,
            _ => true,
        };
        if is_kept {
            return Decision::by(Fate::Kept, sentence);
        }
        contrary = contrary.or(Some(sentence));
    }
    match contrary {
        Some(sentence) => Decision::by(Fate::Lost, sentence),
        None if any => Decision::lost(),
        None => describes(wanted, said),
    }
}

/// A sentence that says a file was changed that was only read.
pub(in crate::verify) fn claim<'s>(fact: &Fact, wanted: &Wanted, said: &'s Said) -> Option<&'s Sentence> {
    let term = wanted.names.first().filter(|_| fact.kind == Kind::File && fact.state == Some(State::Read))?;
    said.with(*term).find(|sentence| {
        let heading = sentence.heading.as_deref().unwrap_or_default();
        let said = said_about(&sentence.text, &fact.text, &LANGUAGES.changed);
        let part = said.or_else(|| LANGUAGES.changed.are_in(heading).then_some(sentence.text.as_str()));
        sentence.is_told() && part.is_some_and(|part| !negates(part))
    })
}

pub(super) fn decide_command(fact: &Fact, wanted: &Wanted, said: &Said) -> Decision {
    let Some((_, needs)) = wanted.sentences.first() else { return Decision::lost() };
    let words: Vec<&str> = fact.text.split_whitespace().collect();
    let mut near = None;
    for (at, _) in said.nearest(needs) {
        let sentence = &said.sentences[at];
        if says_command(&sentence.text, &words) {
            return Decision::by(Fate::Kept, sentence);
        }
        // The same program with other arguments is another command.
        let head = &words[..words.len().min(2)];
        if words.len() > 2 && says_command(&sentence.text, head) {
            continue;
        }
        if spans(&sentence.text).any(|span| span.split(' ').next() == words.first().copied() && span.contains(' ')) {
            continue;
        }
        let hits = needs.iter().filter(|need| sentence.has(need.term)).count();
        let has_program = needs.first().is_some_and(|need| sentence.has(need.term));
        if near.is_none() && sentence.is_told() && has_program && hits >= 2 {
            near = Some(sentence);
        }
    }
    near.map_or_else(Decision::lost, |sentence| Decision::by(Fate::Reworded, sentence))
}

/// What is between backticks.
fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Whether a text contains these words, one after the other.
pub(in crate::verify) fn says_command(text: &str, words: &[&str]) -> bool {
    let bare = |word: &str| {
        word.trim_start_matches(['`', '"', '\'', '('])
            .trim_end_matches(['`', '"', '\'', ')', ',', ';', '.', ':', '。', '，', '；', '、'])
            .to_owned()
    };
    let said: Vec<String> =
        text.split(|c: char| c.is_whitespace() || is_han(c)).map(bare).filter(|word| !word.is_empty()).collect();
    let wanted: Vec<String> = words.iter().map(|word| bare(word)).filter(|word| !word.is_empty()).collect();
    let same = |one: &String, other: &String| one == other || paths::same_file(one, other);
    !wanted.is_empty()
        && said.windows(wanted.len()).any(|window| window.iter().zip(&wanted).all(|(one, other)| same(one, other)))
}
