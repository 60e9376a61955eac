//! Which word of a sentence is about which file.

use super::languages::{LANGUAGES, Phrases, is_filler, is_small};
use super::outcomes::CONJUNCTIONS;
use super::spelling::{Spelling, spelling};
use super::tokens::{Class, tokens};
use crate::paths;

/// The clause of a sentence that says one of the words of the file `name`: only small words and other names are between them, and no
/// word that makes the file a place.
pub(super) fn said_about<'t>(text: &'t str, name: &str, words: &Phrases) -> Option<&'t str> {
    let places = words.places(text);
    if places.is_empty() {
        return None;
    }
    mentions(text, name).into_iter().find_map(|(begins, ends)| {
        let (first, last) = places.iter().copied().find(|&(first, last)| {
            if last <= begins {
                joins_object(&text[last..begins])
            } else {
                first >= ends && joins_subject(&text[ends..first]) && !has_object(&text[last..])
            }
        })?;
        Some(clause_around(text, first.min(begins), last.max(ends), last <= begins))
    })
}

/// The clause of a sentence that says that the file `name` was removed: not something in it, as in `a.rs: removed an import`.
pub(super) fn removal_of<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    said_about(text, name, &LANGUAGES.removed).filter(|clause| !removes_part(clause, name))
}

/// The clause of a sentence that says that the file `name` was changed, or that something in it was removed.
pub(super) fn change_of<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    said_about(text, name, &LANGUAGES.changed).or_else(|| part_removal_of(text, name))
}

/// The clause of a sentence that says that something in the file `name` was removed.
pub(super) fn part_removal_of<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    said_about(text, name, &LANGUAGES.removed).filter(|clause| removes_part(clause, name))
}

/// Whether a clause says of a file what was removed of it, as in `b.rs: removed the unused import`: a mark such as a colon is between
/// the file and the verb, which has an object.
fn removes_part(clause: &str, name: &str) -> bool {
    let file = paths::name(name);
    let Some(after) = clause.rfind(file).map(|at| &clause[at + file.len()..]) else { return false };
    let Some((start, end)) = LANGUAGES.removed.places(after).first().copied() else { return false };
    matches!(after[..start].trim_matches(['`', '*', ' ']), ":" | "：" | "-" | "–" | "—")
        && !tokens(&after[end..]).is_empty()
}

/// Whether a sentence is about the file `name`: no other path is before it, or only names and small words are, as in a list.
pub(super) fn is_about(text: &str, name: &str) -> bool {
    mentions(text, name).first().is_some_and(|(begins, _)| {
        let before = &text[..*begins];
        !tokens(before).iter().any(|token| matches!(spelling(token.text), Spelling::Path(_)))
            || !before.contains('(') && !states_between(before)
    })
}

/// Where a text names a file, with or without its folders, each as its first and last byte.
fn mentions(text: &str, name: &str) -> Vec<(usize, usize)> {
    let file = paths::name(name);
    let ends = text.match_indices(file).map(|(at, _)| (at, at + file.len())).filter(|(start, end)| {
        !text[..*start].ends_with(is_part_of_name)
            && !text[*end..].starts_with(|c| !matches!(c, '.' | ':') && is_part_of_name(c))
    });
    let whole = ends.map(|(start, end)| {
        let folders = text[..start].trim_end_matches(|c: char| is_part_of_name(c) || matches!(c, '/' | '\\'));
        (folders.len(), end)
    });
    whole.filter(|(begins, end)| may_be_same(&text[*begins..*end], name)).collect()
}

const fn is_part_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '~' | ':')
}

/// Whether one of two paths is the end of the other.
fn may_be_same(one: &str, other: &str) -> bool {
    match (spelling(one), spelling(other)) {
        (Spelling::Path(one), Spelling::Path(other)) => {
            one.parts.ends_with(&other.parts) || other.parts.ends_with(&one.parts)
        }
        _ => true,
    }
}

/// Marks that end a clause.
const STOPS: [char; 5] = [',', ';', '，', '；', '。'];

/// Marks behind which a clause is explained.
const REMARKS: [&str; 5] = ["(", "（", " - ", " – ", " — "];

/// What begins a part of a sentence that says what was not done beside the rest.
const EXCEPTIONS: [&str; 4] = [" without ", " ohne ", " sans ", " sin "];

/// The clause in which a word and a name stand, up to the next stops, to a reason, or to a conjunction beyond which something else is
/// said.
fn clause_around(text: &str, from: usize, to: usize, is_object: bool) -> &str {
    let stop = text[..from].rfind(STOPS).map_or(0, |at| text.ceil_char_boundary(at + 1));
    let end = text[to..].find(STOPS).map_or(text.len(), |length| to + length);
    let end = REMARKS.iter().filter_map(|mark| text[to..end].find(mark)).min().map_or(end, |length| to + length);
    let end = LANGUAGES.reason.first_in(&text[to..end]).map_or(end, |length| to + length);
    let before = &text[stop..from];
    let conjunctions = CONJUNCTIONS.iter().filter_map(|word| before.rfind(word).map(|at| (at, at + word.len())));
    // The word of an exception negates what is behind it.
    let exceptions = EXCEPTIONS.iter().filter_map(|word| before.rfind(word).map(|at| (at, at)));
    let conjunction = conjunctions.chain(exceptions).max();
    let opens = conjunction.filter(|(at, _)| states(&before[..*at])).map_or(stop, |(_, at)| stop + at);
    let joints = CONJUNCTIONS.iter().chain(&EXCEPTIONS);
    let mut after: Vec<(usize, &str)> = joints.flat_map(|word| text[to..end].match_indices(word)).collect();
    after.sort_unstable();
    // What a verb takes may go on with another name.
    let goes_on =
        |at: usize| is_object && tokens(&text[at..end]).first().is_some_and(|token| token.class == Class::Name);
    let ends = after.into_iter().find(|(at, word)| !goes_on(to + at + word.len()));
    text[opens..ends.map_or(end, |(at, _)| to + at)].trim_end()
}

/// Whether a part of a sentence says more than names and small words.
fn states(part: &str) -> bool {
    tokens(part).iter().any(|token| token.class == Class::Word && !is_small(token.text))
}

/// Whether a verb has the name after it as its object, so that it is not about the one before it.
fn has_object(rest: &str) -> bool {
    let name = tokens(rest).into_iter().find(|token| token.class == Class::Name);
    name.is_some_and(|name| {
        let between = &rest[..name.at];
        !between.contains(STOPS) && !between.contains('.') && joins_object(between)
    })
}

/// Whether what is between a verb and a name after it makes the name its object, and not the place of a change.
fn joins_object(between: &str) -> bool {
    let is_place = LANGUAGES.place.are_in(between) && !between.contains(['`', ':'])
        || LANGUAGES.place.are_in(between.trim_end_matches(['`', ' ', '"']));
    // `a.py was removed, b.py changed`: what follows a verb and a comma or a conjunction is not its object.
    let next = between.trim_start_matches(['`', '*', ' ']);
    let is_cut = next.starts_with([',', ';', '，', '；', '、'])
        || LANGUAGES.and.first_in(next) == Some(0)
        || LANGUAGES.reason.first_in(next) == Some(0);
    // `updated a.py (see b.py)`: a remark on one name has others.
    let is_remark = between.rfind('(').is_some_and(|at| {
        !between[at..].contains(')') && tokens(&between[..at]).iter().any(|token| token.class == Class::Name)
    });
    !is_place && !is_cut && !is_remark && !states_between(between)
}

/// Whether what is between a name and a verb after it makes the name its subject.
fn joins_subject(between: &str) -> bool {
    // `b.py was changed, a.py is gone`: the verb of one name is not that of a name before it.
    let has_verb = between.contains(',') && LANGUAGES.single.are_in(between) && !LANGUAGES.and.are_in(between);
    // A comma after a name ends what is said of it, unless a list goes on.
    let is_list = tokens(between).iter().any(|token| token.class == Class::Name);
    let is_cut = between.contains(STOPS) && !is_list;
    !has_verb && !is_cut && !states_between(between)
}

/// Whether there is more than names, small words and words for files and their state between a word and a name.
fn states_between(between: &str) -> bool {
    tokens(between).iter().any(|token| match token.class {
        Class::Name => false,
        Class::Word => !is_small(token.text) && !LANGUAGES.spent.are_in(token.text) && !is_filler(token.text),
        Class::Han => !is_small(token.text) && token.text.chars().count() > 3,
    })
}

#[cfg(test)]
mod tests {
    use super::{change_of, removal_of, said_about};
    use crate::verify::languages::LANGUAGES;

    #[test]
    fn a_word_is_about_the_file_beside_it() {
        for text in [
            "Deleted src/a.py and b.py",
            "b.py was removed",
            "删除 b.py",
            "Removed files: a.py, b.py",
            "Removed the obsolete module b.py",
            "b.py was removed since v2 replaces it",
        ] {
            assert!(said_about(text, "b.py", &LANGUAGES.removed).is_some(), "{text}");
        }
        for text in
            ["Removed dead code from b.py", "Removed the cache in b.py", "b.py was changed and dead code of it removed"]
        {
            assert!(said_about(text, "b.py", &LANGUAGES.removed).is_none(), "{text}");
        }
        assert!(said_about("src/a.py was removed, lib/a.py is new", "lib/a.py", &LANGUAGES.removed).is_none());
    }

    #[test]
    fn a_file_of_which_something_was_removed_is_changed() {
        for text in ["`b.py`: removed the unused import", "src/b.py - removed dead code"] {
            assert!(removal_of(text, "b.py").is_none() && change_of(text, "b.py").is_some(), "{text}");
        }
        for text in [
            "b.py: removed",
            "b.py was removed the day before",
            "Removed b.py",
            "b.py removed during cleanup",
            "b.py removed as unused",
            "b.py eliminado completamente",
            "b.py удалён полностью",
            "b.py supprimé hier",
        ] {
            assert!(removal_of(text, "b.py").is_some() && change_of(text, "b.py").is_none(), "{text}");
        }
    }

    #[test]
    fn a_word_stands_in_its_own_clause() {
        for (text, clause) in [
            ("The tests were left as they are and b.py was removed", "b.py was removed"),
            ("b.py was removed and not committed", "b.py was removed"),
            ("b.py was removed because nothing used it", "b.py was removed"),
            ("Removed `b.py` (no longer needed)", "Removed `b.py`"),
            ("Removed b.py - not needed", "Removed b.py"),
            ("b.py was not removed since it is used", "b.py was not removed"),
            ("b.py wurde gelöscht und die Tests nicht geändert", "b.py wurde gelöscht"),
            ("Did not remove a.py and b.py", "Did not remove a.py and b.py"),
            ("Not a.py and b.py were removed", "Not a.py and b.py were removed"),
        ] {
            let words = &LANGUAGES.removed;
            assert_eq!(said_about(text, "b.py", words), Some(clause), "{text}");
        }
    }
}
