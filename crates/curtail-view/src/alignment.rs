//! Aligns two transcripts: finds the messages that both have, by their bytes or else by their text and tools, and those that
//! one of the two changed.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::iter::successors;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use curtail_core::json::Text;
use curtail_core::steps;
use curtail_core::transcript::{Content, Message, Part};

/// Characters of a text by which a message is recognized after its end changed.
const OPENING: usize = 32;

/// How far two messages agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Agreement {
    /// Every byte agrees.
    Bytes,
    /// Text and tools agree; an id or a link differs.
    Words,
    /// An id or a beginning agrees; one of the two was changed.
    Changed,
}

/// The number of keys of a message.
const KEYS: usize = 6;

/// Hashes by which a message is found in the other transcript: of its bytes, its text and tools, its id, its first and its last
/// call or result, and the beginning of its text.
#[derive(Debug)]
pub(super) struct Keys([Option<u64>; KEYS]);

/// Messages in a row that are alike in how the transcripts relate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) kind: StretchKind,
    /// Its messages in the first transcript.
    pub(super) one: Range<usize>,
    /// Its messages in the second transcript.
    pub(super) other: Range<usize>,
}

/// How the messages of a stretch relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StretchKind {
    /// Both transcripts have the same messages; `identical` of them agree in every byte.
    Same { identical: usize },
    /// Both have the message, and one of the two changed it.
    Changed,
    /// Each transcript has its messages alone. One of the two may have none.
    Apart,
}

impl Stretch {
    pub(super) fn is_same(&self) -> bool {
        matches!(self.kind, StretchKind::Same { .. })
    }
}

/// A message that both transcripts have.
#[derive(Debug, Clone, Copy)]
struct Match {
    /// Its index in the first transcript.
    one: usize,
    /// Its index in the second transcript.
    other: usize,
    agreement: Agreement,
}

/// The messages of both transcripts between two matches.
struct Gap {
    one: Range<usize>,
    other: Range<usize>,
    /// The match that follows, if any.
    next: Option<Match>,
}

/// The stretches of two transcripts, in their order. Two neighbors are never both the same, nor both apart.
pub(super) fn align(one: &[&Keys], other: &[&Keys]) -> Vec<Stretch> {
    let mut stretches = Vec::new();
    for Gap { one, other, next } in gaps(&matches(one, other), one.len(), other.len()) {
        if !one.is_empty() || !other.is_empty() {
            stretches.push(Stretch { kind: StretchKind::Apart, one, other });
        }
        if let Some(found) = next {
            push(&mut stretches, found);
        }
    }
    stretches
}

/// Adds a match to the stretches: to the last one, if both are the same.
fn push(stretches: &mut Vec<Stretch>, found: Match) {
    if let (Some(Stretch { kind: StretchKind::Same { identical }, one, other }), Agreement::Bytes | Agreement::Words) =
        (stretches.last_mut(), found.agreement)
    {
        *identical += usize::from(found.agreement == Agreement::Bytes);
        one.end += 1;
        other.end += 1;
        return;
    }
    let kind = match found.agreement {
        Agreement::Bytes => StretchKind::Same { identical: 1 },
        Agreement::Words => StretchKind::Same { identical: 0 },
        Agreement::Changed => StretchKind::Changed,
    };
    stretches.push(Stretch { kind, one: found.one..found.one + 1, other: found.other..found.other + 1 });
}

/// The messages that both have, in their order.
fn matches(one: &[&Keys], other: &[&Keys]) -> Vec<Match> {
    let mut matches = Vec::new();
    for nth in 0..KEYS {
        let agreement = match nth {
            0 => Agreement::Bytes,
            1 => Agreement::Words,
            _ => Agreement::Changed,
        };
        // What both have once comes first: between such messages, few are left to compare, whatever their order.
        for find in [unique, common] {
            let mut finer = Vec::new();
            for gap in gaps(&matches, one.len(), other.len()) {
                let found = find(&one[gap.one.clone()], &other[gap.other.clone()], nth);
                finer.extend(found.into_iter().map(|(a, b)| Match {
                    one: gap.one.start + a,
                    other: gap.other.start + b,
                    agreement,
                }));
                finer.extend(gap.next);
            }
            matches = finer;
        }
    }
    matches
}

/// What both transcripts have between `matches`, of `one` and `other` messages in all.
fn gaps(matches: &[Match], one: usize, other: usize) -> impl Iterator<Item = Gap> {
    let mut from = (0, 0);
    matches.iter().copied().map(Some).chain([None]).map(move |next| {
        let to = next.map_or((one, other), |next| (next.one, next.other));
        let gap = Gap { one: from.0..to.0, other: from.1..to.1, next };
        from = (to.0 + 1, to.1 + 1);
        gap
    })
}

/// The most pairs of messages whose key number `nth` each transcript has once, in the order of both.
fn unique(one: &[&Keys], other: &[&Keys], nth: usize) -> Vec<(usize, usize)> {
    let lefts = keys_once(one, nth);
    let rights = keys_once(other, nth);
    let mut pairs: Vec<(usize, usize)> = lefts.iter().filter_map(|(key, at)| Some((*at, *rights.get(key)?))).collect();
    pairs.sort_unstable();
    // For each length, the pair with the earliest message of `other` that ends so many pairs in order.
    let mut ends: Vec<usize> = Vec::new();
    let mut before = Vec::with_capacity(pairs.len());
    for (at, pair) in pairs.iter().enumerate() {
        steps::count(1);
        let length = ends.partition_point(|&end| pairs[end].1 < pair.1);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut longest: Vec<_> = successors(ends.last().copied(), |&at| before[at]).map(|at| pairs[at]).collect();
    longest.reverse();
    longest
}

/// The keys number `nth` that one of `messages` has, each with its index.
fn keys_once(messages: &[&Keys], nth: usize) -> HashMap<u64, usize> {
    let mut places: HashMap<u64, Option<usize>> = HashMap::new();
    for (at, key) in messages.iter().enumerate().filter_map(|(at, keys)| Some((at, keys.0[nth]?))) {
        places.entry(key).and_modify(|place| *place = None).or_insert(Some(at));
    }
    places.into_iter().filter_map(|(key, place)| Some((key, place?))).collect()
}

/// Pairs of messages with the same key number `nth`, in the order of both.
fn common(one: &[&Keys], other: &[&Keys], nth: usize) -> Vec<(usize, usize)> {
    let (lefts, left_keys) = shared_keys(one, other, nth);
    let (rights, right_keys) = shared_keys(other, one, nth);
    let mut pairs = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &left_keys, &right_keys) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            pairs.extend((0..len).map(|step| (lefts[old_index + step], rights[new_index + step])));
        }
    }
    pairs
}

/// The messages of `one` whose key number `nth` a message of `other` has as well, and these keys.
fn shared_keys(one: &[&Keys], other: &[&Keys], nth: usize) -> (Vec<usize>, Vec<u64>) {
    let others: HashSet<u64> = other.iter().filter_map(|keys| keys.0[nth]).collect();
    let keyed = one.iter().enumerate().filter_map(|(at, keys)| Some((at, keys.0[nth]?)));
    keyed.filter(|(_, key)| others.contains(key)).unzip()
}

impl Keys {
    /// The keys of `message`; `tool` returns the name of the tool that the call or result with an index among its parts belongs to.
    pub(super) fn from_message(message: &Message<'_>, tool: impl Fn(usize) -> String) -> Self {
        let words = hash(|hasher| {
            message.role.name().hash(hasher);
            message.parts.iter().for_each(|part| contents(part, hasher));
        });
        let bytes = message.value().map(|value| hash(|hasher| (value.raw(), words).hash(hasher)));
        let id = message.id.as_ref().map(|id| hash(|hasher| (message.role.name(), id.decode()).hash(hasher)));
        let parts = message.parts.iter().enumerate();
        let mut tools = parts.filter_map(|(nth, part)| tool_key(&part.content, || tool(nth)));
        let first = tools.next();
        let last = tools.next_back().or(first);
        let mut texts = message.parts.iter().filter_map(|part| part.content.text()).filter(|text| !text.is_blank());
        let opening = texts.next().filter(|_| !message.has_tools()).map(opening);
        let opening = opening.map(|opening| hash(|hasher| (message.role.name(), opening).hash(hasher)));
        Self([bytes, Some(words), id, first, last, opening])
    }
}

fn hash(write: impl FnOnce(&mut DefaultHasher)) -> u64 {
    let mut hasher = DefaultHasher::new();
    write(&mut hasher);
    hasher.finish()
}

fn opening(text: &Text<'_>) -> String {
    text.decode().chars().take(OPENING).collect()
}

/// Hashes the content of a part, without ids.
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

/// The tool of a call or result, and its id or else how its arguments or its text begin: many programs number the calls of each
/// session from 0.
fn tool_key(content: &Content<'_>, tool: impl FnOnce() -> String) -> Option<u64> {
    let (kind, id, text) = match content {
        Content::ToolCall(call) => ("call", call.id.as_ref(), Some(&call.arguments)),
        Content::ToolResult(result) => ("result", result.id.as_ref(), result.content.first()),
        _ => return None,
    };
    Some(hash(|hasher| {
        (kind, tool()).hash(hasher);
        match id {
            Some(id) => id.decode().hash(hasher),
            None => text.map(opening).hash(hasher),
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::{Keys, Stretch, StretchKind, align};
    use curtail_core::dialects::{Framing, Reading};
    use curtail_core::transcript::{Pairs, PartRef};

    const SAME: StretchKind = StretchKind::Same { identical: 1 };
    const REWRITTEN: StretchKind = StretchKind::Same { identical: 0 };

    fn keys(text: &str) -> Vec<Keys> {
        let reading = Reading::new(Framing::Lines, Some("openai"), None).unwrap();
        let document = reading.parse(text).unwrap();
        let transcripts = reading.transcripts_or_none(&document).unwrap();
        let messages: Vec<_> = transcripts.iter().flat_map(|(_, transcript)| transcript.messages.clone()).collect();
        let pairs = Pairs::from_messages(&messages);
        let tool = |at: PartRef| pairs.tool_name(&messages, at).map(|name| name.decode().into_owned());
        let keys = messages.iter().enumerate().map(|(at, message)| {
            Keys::from_message(message, |part| tool(PartRef { message: at, part }).unwrap_or_default())
        });
        keys.collect()
    }

    /// The kind of each stretch, and how many messages it has in both.
    fn aligned(one: &str, other: &str) -> Vec<(StretchKind, usize, usize)> {
        let keys = (keys(one), keys(other));
        let stretches = align(&Vec::from_iter(&keys.0), &Vec::from_iter(&keys.1));
        stretches.into_iter().map(|Stretch { kind, one, other }| (kind, one.len(), other.len())).collect()
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
        assert_eq!(aligned(ASK, ASK), [(SAME, 1, 1)]);
        assert_eq!(aligned(OK, &spaced.replace("17: 58", "17:58")), [(REWRITTEN, 1, 1)]);
        let long = call("a", "Wien", "17:58 and 18:58");
        let short = call("a", "Wien", "17:58 …");
        assert_eq!(aligned(&long, &short), [(SAME, 1, 1), (StretchKind::Changed, 1, 1)]);
        // Another run of the same task: the ids differ, the words do not.
        let one = call("a", "Wien", "17:58");
        let other = call("b", "Wien", "17:58");
        assert_eq!(aligned(&one, &other), [(REWRITTEN, 2, 2)]);
        assert_eq!(aligned(&format!("{ASK}{one}"), &format!("{ASK}{other}")), [(SAME, 3, 3)]);
    }

    /// As many as are in the order of both, however many there are.
    #[test]
    fn messages_in_another_order_are_aligned_where_they_are_in_order() {
        let messages: Vec<String> = (0..20_000).map(|nth| ASK.replace("Vienna", &nth.to_string())).collect();
        let shuffled: Vec<&str> = (0..20_000).map(|nth| messages[nth * 7919 % 20_000].as_str()).collect();
        let same = aligned(&messages.concat(), &shuffled.concat())
            .into_iter()
            .filter(|(kind, ..)| *kind != StretchKind::Apart);
        let same: usize = same.map(|(_, one, _)| one).sum();
        assert!((100..400).contains(&same), "{same}");
    }

    #[test]
    fn what_one_has_alone_matches_nothing() {
        let one = call("a", "Wien", "17:58");
        let other = call("b", "Graz", "no train");
        let left = format!("{ASK}{one}{OK}");
        let right = format!("{ASK}{other}{OK}");
        assert_eq!(aligned(&left, &right), [(SAME, 1, 1), (StretchKind::Apart, 2, 2), (SAME, 1, 1)]);
        assert_eq!(aligned(&left, &format!("{ASK}{OK}")), [(SAME, 1, 1), (StretchKind::Apart, 2, 0), (SAME, 1, 1)]);
        assert_eq!(aligned(&one, ASK), [(StretchKind::Apart, 2, 1)]);
        let same_id = call("a", "Graz", "no train").replace("timetable", "weather");
        assert_eq!(aligned(&one, &same_id), [(StretchKind::Apart, 2, 2)]);
        assert_eq!(aligned("", ASK), [(StretchKind::Apart, 0, 1)]);
    }
}
