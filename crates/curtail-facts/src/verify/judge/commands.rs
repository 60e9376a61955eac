//! Commands: their words, one after the other.

use super::{Decision, Fate, Wanted};
use crate::paths;
use crate::verify::clauses::code_spans;
use crate::verify::fact::Fact;
use crate::verify::sentence_index::SentenceIndex;
use crate::verify::tokens::is_han;

pub(super) fn decide_command(fact: &Fact, wanted: &Wanted, index: &SentenceIndex) -> Decision {
    let Some((_, needs)) = wanted.sentences.first() else { return Decision::lost() };
    let words: Vec<&str> = fact.text.split_whitespace().collect();
    let mut near = None;
    for (at, _) in index.nearest(needs) {
        let sentence = &index.sentences[at];
        if says_command(&sentence.text, &words) {
            return Decision::by(Fate::Kept, sentence);
        }
        // The same program with other arguments is another command.
        let head = &words[..words.len().min(2)];
        if words.len() > 2 && says_command(&sentence.text, head) {
            continue;
        }
        if code_spans(&sentence.text)
            .iter()
            .any(|span| span.text.split(' ').next() == words.first().copied() && span.text.contains(' '))
        {
            continue;
        }
        let hits = needs.iter().filter(|need| sentence.has(need.term)).count();
        let has_program = needs.first().is_some_and(|need| sentence.has(need.term));
        if near.is_none() && sentence.is_prose() && has_program && hits >= 2 {
            near = Some(sentence);
        }
    }
    near.map_or_else(Decision::lost, |sentence| Decision::by(Fate::Reworded, sentence))
}

/// Whether a text contains these words, one after the other.
pub(super) fn says_command(text: &str, words: &[&str]) -> bool {
    let index: Vec<&str> = bare_words(text.split(|c: char| c.is_whitespace() || is_han(c)));
    let wanted: Vec<&str> = bare_words(words.iter().copied());
    !wanted.is_empty()
        && index.windows(wanted.len()).any(|window| {
            let mut pairs = window.iter().zip(&wanted);
            pairs.all(|(one, other)| paths::same_file(one, other))
        })
}

/// Words without the marks around them.
fn bare_words<'w>(words: impl Iterator<Item = &'w str>) -> Vec<&'w str> {
    let bare = words.map(|word| {
        word.trim_start_matches(['`', '"', '\'', '('])
            .trim_end_matches(['`', '"', '\'', ')', ',', ';', '.', ':', '。', '，', '；', '、'])
    });
    bare.filter(|word| !word.is_empty()).collect()
}
