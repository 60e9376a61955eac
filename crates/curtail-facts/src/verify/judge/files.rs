//! Files with their state: changed, removed, or only read.

use super::names::decide_by_pieces;
use super::{Decision, Fate, Wanted};
use crate::effects::effects;
use crate::kinds::Effect;
use crate::paths;
use crate::verify::about::{change_of, is_about, removal_of, said_about};
use crate::verify::clauses::{code_spans, labelled};
use crate::verify::fact::{Fact, Kind, State};
use crate::verify::languages::LANGUAGES;
use crate::verify::negation::{is_intended, negates};
use crate::verify::sentence_index::{Sentence, SentenceIndex};

pub(super) fn decide_file(fact: &Fact, wanted: &Wanted, index: &SentenceIndex) -> Decision {
    let Some(&term) = wanted.names.first() else { return Decision::lost() };
    // A later change takes a removal back.
    if fact.state == Some(State::Removed)
        && let Some(last) = index.with(term).rev().find(|sentence| tells_state(sentence, &fact.text))
        && !says_removed(last, &fact.text)
    {
        return Decision::by(Fate::Lost, last);
    }
    let mut contrary = None;
    for sentence in index.with(term) {
        if says_state(sentence, fact) {
            return Decision::by(Fate::Kept, sentence);
        }
        contrary = contrary.or(Some(sentence));
    }
    contrary.map_or_else(|| decide_by_pieces(wanted, index), |sentence| Decision::by(Fate::Lost, sentence))
}

/// Whether a sentence says that a file was changed or removed.
fn tells_state(sentence: &Sentence, file: &str) -> bool {
    says_removed(sentence, file) || says_changed(sentence, file)
}

/// Whether a sentence with the name of a file leaves it in its state: a file that is only named was changed, as far as anybody can
/// tell.
fn says_state(sentence: &Sentence, fact: &Fact) -> bool {
    match fact.state {
        Some(State::Removed) => says_removed(sentence, &fact.text) || cites_removal(sentence, &fact.text),
        // A sentence may say of a change what it removed.
        Some(State::Changed) => {
            says_changed(sentence, &fact.text)
                || !says_removed(sentence, &fact.text) && !says_unchanged(sentence, &fact.text)
        }
        _ => true,
    }
}

/// Whether a sentence says in its words that a file was changed.
fn says_changed(sentence: &Sentence, file: &str) -> bool {
    sentence.is_prose() && change_of(&sentence.text, file).is_some_and(|part| !negates(part))
}

/// Whether a sentence says that a file was removed: in its words or by its heading.
fn says_removed(sentence: &Sentence, file: &str) -> bool {
    if let Some(part) = removal_of(&sentence.text, file) {
        return !negates(part) && !is_intended(part, &LANGUAGES.removed) && !is_to_do(sentence);
    }
    let heading = heading_of(sentence, file);
    let is_listed = LANGUAGES.removed.are_in(heading) && !negates(heading) && !LANGUAGES.changed.are_in(&sentence.text);
    is_listed && !negates(&sentence.text)
}

/// Whether a sentence asks for something, or is in a list of what is to be done.
fn is_to_do(sentence: &Sentence) -> bool {
    let label = labelled(&sentence.text).map(|(label, _)| label);
    let mut labels = label.into_iter().chain(sentence.heading.as_deref());
    sentence.text.ends_with(['?', '？'])
        || labels.any(|label| LANGUAGES.todo_heading.are_in(label) && !LANGUAGES.done_heading.are_in(label))
}

/// The heading of a sentence, if it is said of this file: the sentence begins its line, is about the file, and does not only mention
/// it.
fn heading_of<'s>(sentence: &'s Sentence, file: &str) -> &'s str {
    let heading = sentence.heading.as_deref().filter(|_| sentence.is_first && is_about(&sentence.text, file));
    heading.unwrap_or_default()
}

/// Whether a sentence is a command that removes a file, or cites one.
fn cites_removal(sentence: &Sentence, file: &str) -> bool {
    let cited = code_spans(&sentence.text).into_iter().filter(|span| !negates(span.before)).map(|span| span.text);
    let whole = Some(sentence.text.as_str()).filter(|_| !sentence.is_prose());
    cited.chain(whole).flat_map(effects).any(|effect| match effect {
        Effect::Remove(path) | Effect::RemoveBelow(path) => paths::same_file(&path, file),
        _ => false,
    })
}

/// Whether a sentence says that a file was not changed, in its words or by its heading.
fn says_unchanged(sentence: &Sentence, file: &str) -> bool {
    if let Some(part) = said_about(&sentence.text, file, &LANGUAGES.changed) {
        return negates(part);
    }
    let heading = heading_of(sentence, file);
    said_about(&sentence.text, file, &LANGUAGES.unchanged).is_some()
        || LANGUAGES.unchanged.are_in(heading)
        || LANGUAGES.changed.are_in(heading) && negates(heading)
}

/// A sentence that says a file was changed that was only read.
pub(in crate::verify) fn claim<'s>(fact: &Fact, wanted: &Wanted, index: &'s SentenceIndex) -> Option<&'s Sentence> {
    let term = wanted.names.first().filter(|_| fact.kind == Kind::File && fact.state == Some(State::Read))?;
    index.with(*term).filter(|sentence| sentence.is_prose()).find(|sentence| {
        let is_listed = LANGUAGES.changed.are_in(heading_of(sentence, &fact.text));
        let part = change_of(&sentence.text, &fact.text).or_else(|| is_listed.then_some(sentence.text.as_str()));
        part.is_some_and(|part| !negates(part))
    })
}
