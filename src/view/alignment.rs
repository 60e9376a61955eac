//! Two transcripts side by side: which messages both have, by their bytes or else by their text and tools, and which of them
//! one of the two changed.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::context::Request;
use super::conversation::Conversation;
use super::overview::beginning;
use curtail_core::json::Text;
use curtail_core::transcript::{Content, Message, Part};

/// Characters of a text by which a message is recognized after its end changed.
const OPENING: usize = 32;

/// What is compared of a transcript.
#[derive(Debug)]
pub(crate) struct Outline {
    pub(super) name: String,
    /// The id of its section.
    pub(super) id: String,
    pub(super) tokens: usize,
    pub(super) entries: Vec<Entry>,
    pub(super) requests: Vec<Request>,
}

/// A message, as far as it is compared.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) anchor: String,
    pub(super) writer: &'static str,
    pub(super) tokens: usize,
    /// How it begins.
    pub(super) words: String,
    /// Hashes by which it is found in the other transcript, in the order of [`Likeness`].
    keys: [Option<u64>; KEYS.len()],
}

/// In what two messages agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Likeness {
    /// Every byte.
    Bytes,
    /// Text and tools: an id or a link differs.
    Words,
    /// An id or a beginning: one of the two was changed.
    Changed,
}

/// What the keys of a message show when they are found in the other transcript.
const KEYS: [Likeness; 6] =
    [Likeness::Bytes, Likeness::Words, Likeness::Changed, Likeness::Changed, Likeness::Changed, Likeness::Changed];

/// A message that both transcripts have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Match {
    /// Its index in the one transcript and in the other.
    pub(super) at: (usize, usize),
    pub(super) likeness: Likeness,
}

impl Outline {
    /// The outline of `conversation`, whose section has the id `id`.
    pub(crate) fn from_conversation(conversation: &Conversation<'_>, id: String) -> Self {
        let entry = |at: usize| Entry {
            anchor: conversation.anchor(at),
            writer: conversation.writer(at),
            tokens: conversation.costs[at].tokens,
            words: beginning(conversation, at),
            keys: keys(&conversation.messages[at]),
        };
        Self {
            name: conversation.place.name.clone(),
            id,
            tokens: conversation.tokens(),
            entries: (0..conversation.messages.len()).map(entry).collect(),
            requests: conversation.requests.clone(),
        }
    }
}

/// The messages that both have, in their order.
pub(super) fn align(one: &[Entry], other: &[Entry]) -> Vec<Match> {
    let mut matches = Vec::new();
    for (nth, likeness) in KEYS.into_iter().enumerate() {
        let mut finer = Vec::new();
        for (left, right, next) in gaps(&matches, (one.len(), other.len())) {
            let common = common(&one[left.clone()], &other[right.clone()], nth);
            let found = |(a, b)| Match { at: (left.start + a, right.start + b), likeness };
            finer.extend(common.into_iter().map(found));
            finer.extend(next);
        }
        matches = finer;
    }
    matches
}

/// What one transcript and the other have between two matches, and the match that follows.
pub(super) fn gaps(
    matches: &[Match],
    (one, other): (usize, usize),
) -> impl Iterator<Item = (Range<usize>, Range<usize>, Option<Match>)> {
    let mut from = (0, 0);
    matches.iter().copied().map(Some).chain([None]).map(move |next| {
        let to = next.map_or((one, other), |next| next.at);
        let gap = (from.0..to.0, from.1..to.1, next);
        from = (to.0 + 1, to.1 + 1);
        gap
    })
}

/// Pairs of messages with the same key number `nth`, in the order of both.
fn common(one: &[Entry], other: &[Entry], nth: usize) -> Vec<(usize, usize)> {
    let keys = |entries: &[Entry]| -> HashSet<u64> { entries.iter().filter_map(|entry| entry.keys[nth]).collect() };
    let both: HashSet<u64> = keys(one).intersection(&keys(other)).copied().collect();
    let found = |entries: &[Entry]| -> (Vec<usize>, Vec<u64>) {
        let keyed = entries.iter().enumerate().filter_map(|(at, entry)| Some((at, entry.keys[nth]?)));
        keyed.filter(|(_, key)| both.contains(key)).unzip()
    };
    let ((lefts, left_keys), (rights, right_keys)) = (found(one), found(other));
    let mut pairs = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &left_keys, &right_keys) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            pairs.extend((0..len).map(|step| (lefts[old_index + step], rights[new_index + step])));
        }
    }
    pairs
}

fn hash(write: impl FnOnce(&mut DefaultHasher)) -> u64 {
    let mut hasher = DefaultHasher::new();
    write(&mut hasher);
    hasher.finish()
}

/// The keys of a message: all of it, what it says and calls, its id, its first and its last call or result, its beginning.
fn keys(message: &Message<'_>) -> [Option<u64>; KEYS.len()] {
    let words = hash(|hasher| {
        message.role.name().hash(hasher);
        message.parts.iter().for_each(|part| contents(part, hasher));
    });
    let bytes = message.value().map(|value| hash(|hasher| (value.raw(), words).hash(hasher)));
    let id = message.id.as_ref().map(|id| hash(|hasher| (message.role.name(), id.decode()).hash(hasher)));
    let mut tools = message.parts.iter().filter_map(|part| tool_key(&part.content));
    let first = tools.next();
    let last = tools.next_back().or(first);
    let opening = message.parts.iter().find_map(|part| match &part.content {
        Content::Text(text) if !message.has_tools() && !text.is_blank() => Some(opening(text)),
        _ => None,
    });
    let opening = opening.map(|opening| hash(|hasher| (message.role.name(), opening).hash(hasher)));
    [bytes, Some(words), id, first, last, opening]
}

fn opening(text: &Text<'_>) -> String {
    text.decode().chars().take(OPENING).collect()
}

/// Hashes what a part says, without ids.
fn contents(part: &Part<'_>, hasher: &mut DefaultHasher) {
    std::mem::discriminant(&part.content).hash(hasher);
    match &part.content {
        Content::Text(text) | Content::Reasoning(text) | Content::Media(text) | Content::Unknown(text) => {
            text.decode().hash(hasher);
        }
        Content::ToolCall(call) => (call.name.decode(), call.arguments.decode()).hash(hasher),
        Content::ToolResult(result) => {
            result.content.iter().for_each(|text| text.decode().hash(hasher));
            result.media.hash(hasher);
        }
        Content::Other => {}
    }
}

/// The id of a call or result, or else the tool and how its arguments or its text begin.
fn tool_key(content: &Content<'_>) -> Option<u64> {
    let key = |kind: &str, id: Option<&Text<'_>>, name: Option<&Text<'_>>, text: Option<&Text<'_>>| {
        hash(|hasher| {
            kind.hash(hasher);
            match id {
                Some(id) => id.decode().hash(hasher),
                None => (name.map(Text::decode), text.map(opening)).hash(hasher),
            }
        })
    };
    match content {
        Content::ToolCall(call) => Some(key("call", call.id.as_ref(), Some(&call.name), Some(&call.arguments))),
        Content::ToolResult(result) => {
            Some(key("result", result.id.as_ref(), result.name.as_ref(), result.content.first()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Entry, KEYS, Likeness, align, keys};
    use curtail_core::dialects::{Framing, Reading};

    fn entries(text: &str) -> Vec<Entry> {
        let reading = Reading::new(Framing::Lines, Some("openai"), None).unwrap();
        let document = reading.parse(text).unwrap();
        let transcripts = reading.transcripts_or_none(&document).unwrap();
        let messages = transcripts.iter().flat_map(|(_, transcript)| &transcript.messages);
        let entry = |message| Entry {
            anchor: String::new(),
            writer: "model",
            tokens: 0,
            words: String::new(),
            keys: keys(message),
        };
        messages.map(entry).collect()
    }

    fn aligned(one: &str, other: &str) -> Vec<(usize, usize, Likeness)> {
        let matches = align(&entries(one), &entries(other));
        matches.into_iter().map(|found| (found.at.0, found.at.1, found.likeness)).collect()
    }

    const ASK: &str = "{\"role\":\"user\",\"content\":\"When does the train to Vienna leave?\"}\n";
    const OK: &str = "{\"role\":\"assistant\",\"content\":\"At 17:58.\"}\n";

    fn call(id: &str, to: &str, answer: &str) -> String {
        format!(
            "{{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{{\"id\":\"{id}\",\"type\":\"function\",\"function\":{{\"name\":\"timetable\",\"arguments\":\"{to}\"}}}}]}}\n\
             {{\"role\":\"tool\",\"tool_call_id\":\"{id}\",\"content\":\"{answer}\"}}\n"
        )
    }

    #[test]
    fn the_same_bytes_come_first_then_the_same_words_then_an_id() {
        let spaced = OK.replace(':', ": ");
        assert_eq!(aligned(ASK, ASK), [(0, 0, Likeness::Bytes)]);
        assert_eq!(aligned(OK, &spaced.replace("17: 58", "17:58")), [(0, 0, Likeness::Words)]);
        let (long, short) = (call("a", "Wien", "17:58 and 18:58"), call("a", "Wien", "17:58 …"));
        assert_eq!(aligned(&long, &short), [(0, 0, Likeness::Bytes), (1, 1, Likeness::Changed)]);
        // Another run of the same task: the ids differ, the words do not.
        let (one, other) = (call("a", "Wien", "17:58"), call("b", "Wien", "17:58"));
        assert_eq!(aligned(&one, &other), [(0, 0, Likeness::Words), (1, 1, Likeness::Words)]);
        assert_eq!(KEYS[0], Likeness::Bytes);
    }

    #[test]
    fn what_one_has_alone_matches_nothing() {
        let (one, other) = (call("a", "Wien", "17:58"), call("b", "Graz", "no train"));
        let left = format!("{ASK}{one}{OK}");
        let right = format!("{ASK}{other}{OK}");
        assert_eq!(aligned(&left, &right), [(0, 0, Likeness::Bytes), (3, 3, Likeness::Bytes)]);
        assert_eq!(aligned(&left, &format!("{ASK}{OK}")), [(0, 0, Likeness::Bytes), (3, 1, Likeness::Bytes)]);
        assert!(aligned(&one, ASK).is_empty());
        assert!(aligned("", ASK).is_empty());
    }
}
