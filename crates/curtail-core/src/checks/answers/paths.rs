//! Paths in a request, as providers write them in their answers.

use std::ops::Range;

/// A path in a request, such as `messages.37.content.1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mention {
    /// The list that it is in, as the provider calls it.
    pub(super) list: &'static str,
    /// The number of the message, as it is written.
    pub(super) index: usize,
    /// Whether the first message has the number 1.
    pub(super) from_one: bool,
    /// The lists inside the message, each with a number.
    pub(super) steps: Vec<(String, usize)>,
}

/// The lists of messages of a request, the longest name first.
const LISTS: [&str; 4] = ["messages", "contents", "message", "input"];

/// Words before the number of a message, in sentences that have no path, without spaces.
const WORDS: [&str; 3] = ["index", "position", "inthe"];

/// The path in `tight` that is nearest to the words at `place`; in sentences like `words`, also a number without a path.
pub(super) fn mention(tight: &str, words: &str, place: Option<Range<usize>>) -> Option<Mention> {
    let lower = tight.to_ascii_lowercase();
    let place = place.unwrap_or_default();
    let nearest = paths(&lower).min_by_key(|(at, _)| distance(*at, &place));
    nearest.map(|(_, path)| path).or_else(|| {
        let words = words.replace(' ', "");
        let mut counted = WORDS.into_iter().filter(|word| words.contains(&format!("{word}N")));
        counted.find_map(|word| number_after(&lower, word))
    })
}

/// How far a path at `at` is from the words at `place`.
const fn distance(at: usize, place: &Range<usize>) -> usize {
    if at < place.start { place.start - at } else { at.saturating_sub(place.end) }
}

/// The paths in `text` that have a number, with their places.
fn paths(text: &str) -> impl Iterator<Item = (usize, Mention)> {
    let mut after = 0;
    text.char_indices().filter_map(move |(at, _)| {
        let (path, rest) = path_at(text, at).filter(|_| at >= after)?;
        after = text.len() - rest.len();
        Some((at, path))
    })
}

fn path_at(text: &str, at: usize) -> Option<(Mention, &str)> {
    let list = LISTS.into_iter().find(|list| text[at..].starts_with(list))?;
    let mut rest = &text[at + list.len()..];
    let index = bracketed(&mut rest)?;
    let mut steps = Vec::new();
    let mut from_one = false;
    let mut name = "";
    while rest.starts_with(['.', '[', '/']) {
        if let Some(number) = bracketed(&mut rest) {
            steps.push((name.to_owned(), number));
            continue;
        }
        rest = &rest[1..];
        let end = rest.find(|c: char| !c.is_ascii_alphabetic() && c != '_').unwrap_or(rest.len());
        name = if &rest[..end] == "member" { name } else { &rest[..end] };
        from_one |= &rest[..end] == "member";
        rest = &rest[end..];
    }
    Some((Mention { list, index, from_one, steps }, rest))
}

/// Takes `.3`, `/3`, `[3]` or `.[3]` from the beginning of `rest`.
fn bracketed(rest: &mut &str) -> Option<usize> {
    let begun = rest.strip_prefix(['.', '/']).unwrap_or(rest);
    let inside = begun.strip_prefix('[').or_else(|| (begun.len() < rest.len()).then_some(begun))?;
    let end = inside.find(|c: char| !c.is_ascii_digit()).unwrap_or(inside.len());
    let number = inside[..end].parse().ok()?;
    *rest = inside[end..].strip_prefix(']').unwrap_or(&inside[end..]);
    Some(number)
}

fn number_after(text: &str, word: &str) -> Option<Mention> {
    let numbers = text.match_indices(word).filter_map(|(at, _)| {
        let rest = text[at + word.len()..].trim_start_matches([':', '=']);
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse().ok()
    });
    // Only indices begin with 0.
    let from_one = word != "index";
    numbers.last().map(|index| Mention { list: LISTS[0], index, from_one, steps: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::super::quoted::Quoted;
    use super::*;

    #[test]
    fn paths_are_read_as_providers_write_them() {
        let of = |text: &str| {
            let quoted = Quoted::new(text);
            mention(&quoted.tight, "", None).map(|found| (found.index, found.from_one, found.steps))
        };
        let step = |name: &str, number| vec![(name.to_owned(), number)];
        assert_eq!(of("messages.37.content.1:unexpected"), Some((37, false, step("content", 1))));
        assert_eq!(of("'messages[3].tool_calls[0].id'"), Some((3, false, step("tool_calls", 0))));
        assert_eq!(of("GenerateContentRequest.contents[4].parts[0].data"), Some((4, false, step("parts", 0))));
        assert_eq!(of("'messages.3.member.content.2.member.toolUse.toolUseId'"), Some((3, true, step("content", 2))));
        assert_eq!(of("messages.[7].role"), Some((7, false, Vec::new())));
        assert_eq!(of("#/messages/1/content/0: extraneous key"), Some((1, false, step("content", 0))));
        assert_eq!(of("ObjectatMessages.2.contentis"), Some((2, false, Vec::new())));
        assert_eq!(of("body->messages->5->content->str:Input"), Some((5, false, Vec::new())));
        assert_eq!(of("('body','input','list[union[A,B]]',3,'A','content')"), Some((3, false, Vec::new())));
        assert_eq!(of("tools.43.custom.name:/v1/messages"), None);
        assert_eq!(mention("callmessageatindex5", "message at index N", None).map(|found| found.index), Some(5));
        assert_eq!(mention("inposition7:surrogates", "", None).map(|found| found.index), None);
    }
}
