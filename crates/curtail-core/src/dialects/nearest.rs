//! Which dialects come nearest to an item that fits none, and what it lacks of them.

use super::ALL;
use crate::json::Value;

/// How many dialects are named.
const NAMED: usize = 3;

/// How many of the words that an item lacks are named.
const LACKS: usize = 2;

/// The dialects that come nearest to `item`, with what it lacks of each; empty if it has nothing of any.
pub(super) fn nearest(item: Value<'_>) -> String {
    let mut words = Vec::new();
    collect(item, 3, &mut words);
    let scored = ALL.iter().map(|dialect| {
        let (has, lacks): (Vec<&str>, Vec<&str>) =
            marks(dialect.signature()).into_iter().partition(|mark| words.iter().any(|word| word == mark));
        (has.len(), lacks, dialect.name())
    });
    let mut scored: Vec<_> = scored.filter(|(has, ..)| *has > 0).collect();
    scored.sort_by_key(|(has, lacks, _)| (usize::MAX - has, lacks.len()));
    let named = scored.iter().take(NAMED).map(|(_, lacks, name)| match lacks.as_slice() {
        [] => format!("`{name}` (in another shape)"),
        lacks => {
            let lacks: Vec<String> = lacks.iter().take(LACKS).map(|word| format!("`{word}`")).collect();
            format!("`{name}` (no {})", lacks.join(", no "))
        }
    });
    named.collect::<Vec<_>>().join(", ")
}

/// The words of a signature that are keys or values: those between backticks.
fn marks(signature: &str) -> Vec<&str> {
    let mut marks: Vec<&str> = Vec::new();
    for word in signature.split('`').skip(1).step_by(2) {
        let is_word = word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '/'));
        if is_word && !marks.contains(&word) {
            marks.push(word);
        }
    }
    marks
}

/// The keys of a value down to some depth, and its short texts.
fn collect(value: Value<'_>, depth: usize, words: &mut Vec<String>) {
    const LONGEST: usize = 32;
    let Some(depth) = depth.checked_sub(1) else { return };
    for member in value.members() {
        words.push(member.key.decode().into_owned());
        match member.value.text() {
            Some(text) if text.len_bound() <= LONGEST => words.push(text.decode().into_owned()),
            _ => collect(member.value, depth, words),
        }
    }
    // The elements of a list are alike.
    value.items().take(LACKS).for_each(|item| collect(item, depth, words));
}
