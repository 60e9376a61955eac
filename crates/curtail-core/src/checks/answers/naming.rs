//! What of a request a text names: a message by its path, a call by its id, a role, a member.

use std::ops::Range;

use super::paths::{Mention, mention};
use super::quoted::{Quoted, is_box};

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
    /// What `quoted` names, an answer with these words at `place` of its letters, if they are somewhere.
    pub(super) fn of(quoted: &Quoted, words: &str, place: Option<Range<usize>>) -> Self {
        let tight = quoted.tight.as_str();
        let place = place.map(|letters| quoted.tight_range(&letters));
        let text = place.as_ref().map_or(tight, |place| around(tight, place)).to_owned();
        let message = mention(tight, words, place.clone());
        let ends = shortened(&text).into_iter().map(|ends| ends.map(str::to_owned)).collect();
        let limit = place.and_then(|place| smallest_number(tight, &place));
        Self { text, message, ends, limit }
    }

    /// Whether the text names a message, or what can be the id of a call or an item.
    pub(super) fn names_a_place(&self) -> bool {
        let mut rests = ID_PREFIXES.into_iter().flat_map(|prefix| self.text.split(prefix).skip(1));
        self.message.is_some() || rests.any(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
    }

    /// Whether the text has this id, whole or with a gap.
    pub(super) fn has_id(&self, id: &str) -> bool {
        let id: String = id.chars().filter(|c| !c.is_whitespace() && !is_box(*c)).collect();
        id.len() >= SHORTEST_ID && (self.has_whole(&id) || self.has_shortened(&id))
    }

    /// Whether the text has this id, and not only a longer number in its place: `call_1` is no `call_12`. Letters on both sides
    /// may be those of other words, because the text has no white space.
    fn has_whole(&self, id: &str) -> bool {
        self.text.match_indices(id).any(|(at, _)| {
            let goes_on = id.ends_with(is_digit) && self.text[at + id.len()..].starts_with(is_digit);
            let began_before = id.starts_with(is_digit) && self.text[..at].ends_with(is_digit);
            !goes_on && !began_before
        })
    }

    /// Whether the text has this id or this sealed text, with a gap.
    pub(super) fn has_shortened(&self, id: &str) -> bool {
        self.ends.iter().any(|[head, tail]| is_shortened(id, head, tail))
    }

    /// Whether the text names this member of a message or a block.
    pub(super) fn has_member(&self, name: &str) -> bool {
        self.text.match_indices(name).any(|(at, _)| {
            let goes_on = self.text[at + name.len()..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            self.text[..at].ends_with(['.', '\'', '"', '`']) && !goes_on
        })
    }

    /// Whether the text says that messages of this role are refused.
    pub(super) fn refuses_role(&self, role: &str) -> bool {
        const BEFORE: [&str; 4] = ["role", "value", "variant", "support"];
        // A chat template calls it `System role`.
        let (text, role) = (self.text.to_ascii_lowercase(), role.to_ascii_lowercase());
        let mut places = text.match_indices(&role).filter(|_| !role.is_empty());
        places.any(|(at, _)| {
            let before = &text[..at];
            let bare = before.trim_end_matches(|c: char| "\"'`:=".contains(c));
            let is_quoted = before.ends_with(['"', '\'', '`']) && BEFORE.iter().any(|word| bare.ends_with(word));
            let after = &text[at + role.len()..];
            let is_named = is_quoted || before.ends_with("got");
            is_named && !after.starts_with(|c: char| c.is_ascii_alphanumeric()) || after.starts_with("rolenotsupported")
        })
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

/// The ids that `tight` shortens: what is left of each before and after the gap.
fn shortened(tight: &str) -> Vec<[&str; 2]> {
    let gaps = ["…", "..."].into_iter().flat_map(|gap| tight.match_indices(gap));
    let ends = gaps.filter_map(|(at, gap)| {
        let head = tight[..at].rsplit(is_outside_ids).next().unwrap_or_default();
        let tail = tight[at + gap.len()..].trim_start_matches('.').split(is_outside_ids).next().unwrap_or_default();
        (head.len() >= LEAST && tail.len() >= LEAST).then_some([head, tail])
    });
    ends.collect()
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// So many bytes of an id before and after a gap are enough.
const LEAST: usize = 3;

/// Whether no id has this character.
fn is_outside_ids(c: char) -> bool {
    !c.is_ascii_alphanumeric() && !"_-+/=".contains(c)
}

/// Whether `id` begins as the text before a gap ends, and ends as the text after it begins.
fn is_shortened(id: &str, head: &str, tail: &str) -> bool {
    let mut begins = (LEAST..=id.len().min(head.len())).filter_map(|length| id.get(..length));
    let mut ends = (LEAST..=id.len().min(tail.len())).filter_map(|length| id.get(id.len() - length..));
    begins.any(|begin| head.ends_with(begin)) && ends.any(|end| tail.starts_with(end))
}

#[cfg(test)]
mod tests {
    use super::super::wording::rows;
    use super::*;

    #[test]
    fn a_number_at_the_end_of_an_id_is_whole() {
        let naming = Naming::of(&Quoted::new("no call for call_12 was found"), "", None);
        assert!(naming.has_id("call_12") && !naming.has_id("call_1") && !naming.has_id("call_123"));
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
        let quoted = Quoted::new(log);
        let (rows, place) = rows(&quoted);
        assert_eq!(Naming::of(&quoted, rows[0].words, place).message.map(|found| found.index), Some(7));
    }

    #[test]
    fn roles_and_members_are_named_in_quotes() {
        let naming = |text: &str| Naming::of(&Quoted::new(text), "", None);
        assert!(naming("Unexpected role \"system\". The Messages API accepts").refuses_role("system"));
        assert!(naming("roles are supported, got developer.").refuses_role("developer"));
        let gemma = naming("jinja2.exceptions.TemplateError: System role not supported");
        assert!(gemma.refuses_role("system") && !gemma.refuses_role("tool"));
        assert!(!naming("Please use a valid role: user, model.").refuses_role("assistant"));
        assert!(naming("property 'reasoning' is unsupported").has_member("reasoning"));
        assert!(!naming("property 'reasoning_content' is unsupported").has_member("reasoning"));
    }
}
