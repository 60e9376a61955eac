//! What of a request a text names: a message by its path, a call by its id, a role.

use std::ops::Range;

use super::quoted::{Quoted, is_box};
use super::wording::place_of;

/// What a text names of a request.
pub(super) struct Naming {
    /// The text around the words of the answer, without white space: other answers may be in the same log.
    text: String,
    /// The message, and what is in it.
    pub(super) message: Option<Mention>,
    /// The ids that are shortened: what is left of each before and after the gap.
    ends: Vec<[String; 2]>,
    /// The number of images that is accepted, if the answer says one.
    pub(super) limit: Option<usize>,
}

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

/// So many bytes before the words, and after them, belong to the same answer.
const BEFORE: usize = 600;
const AFTER: usize = 2500;

/// What is shorter is no id that could be recognized.
const SHORTEST_ID: usize = 4;

/// How the ids of calls and items begin.
const ID_PREFIXES: [&str; 7] = ["toolu_", "tooluse_", "srvtoolu_", "call_", "fc_", "rs_", "msg_"];

/// So many bytes behind the words of an answer can name its limit.
const LIMIT_WITHIN: usize = 40;

impl Naming {
    /// What `quoted` names, an answer with these words.
    pub(super) fn of(quoted: &Quoted, words: &str) -> Self {
        let tight = quoted.tight.as_str();
        let place = place_of(quoted, words);
        let text = place.as_ref().map_or(tight, |place| around(tight, place)).to_owned();
        let message = mention(tight, words, place.clone());
        let ends = shortened(&text).into_iter().map(|ends| ends.map(str::to_owned)).collect();
        let limit = place.and_then(|place| smallest_number(tight, &place));
        Self { text, message, ends, limit }
    }

    /// Whether the text names a message, or what can be the id of a call or an item.
    pub(super) fn names_a_place(&self) -> bool {
        let is_id = |prefix: &&str| {
            let mut rest = self.text.split(*prefix).skip(1);
            rest.any(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
        };
        self.message.is_some() || ID_PREFIXES.iter().any(is_id)
    }

    /// Whether the text has this id, whole or with a gap.
    pub(super) fn has_id(&self, id: &str) -> bool {
        let id: String = id.chars().filter(|c| !c.is_whitespace() && !is_box(*c)).collect();
        id.len() >= SHORTEST_ID && (self.text.contains(&id) || self.has_shortened(&id))
    }

    /// Whether the text has this id or this sealed text, with a gap.
    pub(super) fn has_shortened(&self, id: &str) -> bool {
        self.ends.iter().any(|[head, tail]| is_shortened(id, head, tail))
    }

    /// Whether the text names this member of a message or a block.
    pub(super) fn has_member(&self, name: &str) -> bool {
        let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let mut places = self.text.match_indices(name);
        places.any(|(at, _)| self.text[..at].ends_with(['.', '\'', '"', '`']) && ends(&self.text[at + name.len()..]))
    }

    /// Whether the text says that messages of this role are refused.
    pub(super) fn refuses_role(&self, role: &str) -> bool {
        const BEFORE: [&str; 4] = ["role", "value", "variant", "support"];
        let is_named = |at: usize| {
            let before = &self.text[..at];
            let bare = before.trim_end_matches(|c: char| "\"'`:=".contains(c));
            let is_quoted = before.ends_with(['"', '\'', '`']) && BEFORE.iter().any(|word| bare.ends_with(word));
            let after = &self.text[at + role.len()..];
            (is_quoted || before.ends_with("got")) && !after.starts_with(|c: char| c.is_ascii_alphanumeric())
        };
        !role.is_empty() && self.text.match_indices(role).any(|(at, _)| is_named(at))
    }
}

/// The text around `place`.
fn around<'t>(text: &'t str, place: &Range<usize>) -> &'t str {
    let start = text.floor_char_boundary(place.start.saturating_sub(BEFORE));
    &text[start..text.ceil_char_boundary(place.end.saturating_add(AFTER).min(text.len()))]
}

/// The smallest number in the words at `place`, or right behind them: of what was sent and what is accepted, the latter.
fn smallest_number(tight: &str, place: &Range<usize>) -> Option<usize> {
    let end = tight.ceil_char_boundary((place.end + LIMIT_WITHIN).min(tight.len()));
    let numbers = tight[place.start..end].split(|c: char| !c.is_ascii_digit());
    numbers.filter_map(|digits| digits.parse().ok()).filter(|number| *number > 0).min()
}

/// The lists of messages of a request, the longest name first.
const LISTS: [&str; 4] = ["messages", "contents", "message", "input"];

/// Words before the number of a message, in sentences that have no path.
const WORDS: [&str; 2] = ["index", "position"];

/// The path in `tight` that is nearest to the words at `place`; in sentences like `words`, also a number without a path.
fn mention(tight: &str, words: &str, place: Option<Range<usize>>) -> Option<Mention> {
    let lower = tight.to_ascii_lowercase();
    let place = place.unwrap_or_default();
    let nearest = paths(&lower).min_by_key(|(at, _)| distance(*at, &place));
    nearest.map(|(_, path)| path).or_else(|| {
        let mut counted = WORDS.into_iter().filter(|word| words.contains(&format!("{word} N")));
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
    // The provider that counts positions begins with 1.
    let from_one = word == "position";
    numbers.last().map(|index| Mention { list: LISTS[0], index, from_one, steps: Vec::new() })
}

/// The ids that `tight` shortens: what is left of each before and after the gap.
fn shortened(tight: &str) -> Vec<[&str; 2]> {
    let is_id = |c: char| c.is_ascii_alphanumeric() || "_-+/=".contains(c);
    let gaps = ["…", "..."].into_iter().flat_map(|gap| tight.match_indices(gap));
    let ends = gaps.filter_map(|(at, gap)| {
        let before = &tight[..at];
        let head = before.rfind(|c: char| !is_id(c)).map_or(before, |end| &before[end..]);
        let head = head.trim_start_matches(|c: char| !is_id(c));
        let after = tight[at + gap.len()..].trim_start_matches('.');
        let tail = &after[..after.find(|c: char| !is_id(c)).unwrap_or(after.len())];
        (head.len() >= 3 && tail.len() >= 3).then_some([head, tail])
    });
    ends.collect()
}

/// Whether `id` begins as the text before a gap ends, and ends as the text after it begins.
fn is_shortened(id: &str, head: &str, tail: &str) -> bool {
    const LEAST: usize = 3;
    let ends = |most: usize| id.get(..most).is_some_and(|begin| head.ends_with(begin));
    let begins = |most: usize| id.get(id.len().saturating_sub(most)..).is_some_and(|end| tail.starts_with(end));
    (LEAST..=id.len().min(head.len())).any(ends) && (LEAST..=id.len().min(tail.len())).any(begins)
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn shortened_ids_have_two_ends() {
        assert_eq!(shortened("contentgAAA...DQ==could"), [["contentgAAA", "DQ==could"]]);
        assert_eq!(shortened("'toolu_01Ab…9fXy'"), [["toolu_01Ab", "9fXy"]]);
    }

    #[test]
    fn the_path_nearest_to_the_words_is_meant() {
        let log = "400 messages.3.content.0: text content blocks must be non-empty ... \
                   400 Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.', \
                   'param': 'messages.[7].role'";
        let words = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
        assert_eq!(Naming::of(&Quoted::new(log), words).message.map(|found| found.index), Some(7));
    }

    #[test]
    fn roles_and_members_are_named_in_quotes() {
        let naming = |text: &str| Naming::of(&Quoted::new(text), "");
        assert!(naming("Unexpected role \"system\". The Messages API accepts").refuses_role("system"));
        assert!(naming("roles are supported, got developer.").refuses_role("developer"));
        assert!(!naming("Please use a valid role: user, model.").refuses_role("assistant"));
        assert!(naming("property 'reasoning' is unsupported").has_member("reasoning"));
        assert!(!naming("property 'reasoning_content' is unsupported").has_member("reasoning"));
    }
}
