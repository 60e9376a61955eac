//! Compares two transcripts on one page: their common beginning, their differences, and the tokens of both.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;

use maud::{Markup, PreEscaped, html};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::charts::{peak, steps};
use super::conversation::Conversation;
use super::requests::Request;
use super::visible::{Shown, percent};
use curtail_core::json::Text;
use curtail_core::numbers::{counted, figure};
use curtail_core::transcript::{Content, Message, Part};

/// Maximum number of differences that are listed; further ones are counted.
const MAX_DIFFERENCES: usize = 200;
/// Maximum number of messages of a difference that are listed for each transcript.
const MAX_ROWS: usize = 40;

/// Two transcripts and what they have in common.
struct Comparison<'o> {
    one: &'o Compared,
    other: &'o Compared,
    matches: Vec<Match>,
    /// Messages that both begin with.
    prefix: usize,
}

/// A place where the transcripts differ.
#[derive(Default)]
struct Difference {
    /// Messages before it that both transcripts have.
    same: usize,
    one: Range<usize>,
    other: Range<usize>,
    /// A message that one of them changed.
    changed: Option<(usize, usize)>,
}

/// The section of a page in which two transcripts are compared, as HTML.
pub fn comparison(one: &Compared, other: &Compared) -> String {
    let matches = align(&one.entries, &other.entries);
    let prefix = (0..).zip(&matches).take_while(|(nth, found)| found.is_same_at((*nth, *nth))).count();
    Comparison { one, other, matches, prefix }.draw().0
}

impl Comparison<'_> {
    fn draw(&self) -> Markup {
        html! {
            section class="outcome versus" aria-labelledby="versus" {
                h2 id="versus" { "Where they differ" }
                (self.sums())
                (self.parting())
                @if self.one.requests.len() + self.other.requests.len() > 1 { (self.curves()) }
                (self.differences())
                (self.marks())
            }
        }
    }

    fn count(&self, is_counted: impl Fn(Agreement) -> bool) -> usize {
        self.matches.iter().filter(|found| is_counted(found.agreement)).count()
    }

    /// Messages and tokens of both, in the terms that are used for the effect of a policy.
    fn sums(&self) -> Markup {
        let one = self.one;
        let other = self.other;
        let changed = self.count(|agreement| agreement == Agreement::Changed);
        let alone = |entries: &[Entry]| figure(entries.len() - self.matches.len());
        html! {
            p class="names" {
                span class="key one" { a href={ "#" (one.id) } { (Shown(&one.name)) } } " "
                span class="key other" { a href={ "#" (other.id) } { (Shown(&other.name)) } }
            }
            p class="change" {
                span class="before" { (figure(one.tokens)) } " → " strong data-fact="other" { (figure(other.tokens)) } " tokens"
                span class="of" { " (" (percent(other.tokens, one.tokens)) ")" }
            }
            p class="states" {
                span { (figure(one.entries.len())) " → " (figure(other.entries.len())) " messages:" } " "
                span class="state kept" { (figure(self.matches.len() - changed)) " in both" } " "
                span class="state changed" { (figure(changed)) " changed" } " "
                span class="state dropped" { (alone(&one.entries)) " only in the first" } " "
                span class="state added" { (alone(&other.entries)) " only in the second" }
            }
        }
    }

    /// How far the transcripts are the same.
    fn parting(&self) -> Markup {
        let one = &self.one.entries;
        let other = &self.other.entries;
        let bytes = self.matches[..self.prefix].iter().filter(|found| found.agreement == Agreement::Bytes).count();
        let tokens = one[..self.prefix].iter().map(|entry| entry.tokens).sum();
        html! {
            p class="parting" {
                @match self.prefix {
                    0 => { "They differ from the first message on." },
                    prefix => {
                        "Both begin with the same " (counted(prefix, "message")) ", " (counted(tokens, "token"))
                        @if bytes < prefix { " (" (figure(bytes)) " byte for byte, the others in text and tools)" }
                        @else { ", byte for byte" }
                        "."
                    },
                }
                @match (one.get(self.prefix), other.get(self.prefix)) {
                    (Some(left), Some(right)) if self.prefix > 0 => {
                        " Then come " (link(left, self.prefix)) " of the first and " (link(right, self.prefix)) " of the second."
                    },
                    (Some(left), None) => { " The second ends there; the first continues with " (link(left, self.prefix)) "." },
                    (None, Some(right)) => { " The first ends there; the second continues with " (link(right, self.prefix)) "." },
                    (None, None) => { " They do not differ." },
                    _ => {},
                }
                @if let Some(suffix) = self.suffix() {
                    " Both end with the same " (counted(suffix, "message")) "."
                }
            }
        }
    }

    /// How many messages both end with, after they differed.
    fn suffix(&self) -> Option<usize> {
        let one = self.one.entries.len();
        let other = self.other.entries.len();
        let ends = (1..).zip(self.matches[self.prefix..].iter().rev());
        let same = ends.take_while(|(nth, found)| {
            one.checked_sub(*nth).zip(other.checked_sub(*nth)).is_some_and(|at| found.is_same_at(at))
        });
        Some(same.count()).filter(|&suffix| suffix > 0)
    }

    /// The context at each request of both. Messages that both have are at the same place.
    fn curves(&self) -> Markup {
        let (left, right, width) = self.positions();
        let most = peak(self.one.requests.iter().chain(&self.other.requests));
        let line = |requests: &[Request], positions: &[usize]| {
            let x = |message: usize| positions.get(message).map_or(0, |place| place * 1000 / width.max(1));
            // The line of the shorter transcript ends where it ends.
            let path = steps(requests.iter().map(|request| (x(request.message), request.tokens)), most);
            path.strip_suffix("H1000")
                .map(|path| format!("{path}H{}", x(positions.len().saturating_sub(1))))
                .unwrap_or_default()
        };
        let parts = self.prefix * 1000 / width.max(1);
        let label = format!(
            "Tokens at each request: the first has {} and at most {}, the second {} and at most {}",
            counted(self.one.requests.len(), "request"),
            figure(peak(&self.one.requests)),
            counted(self.other.requests.len(), "request"),
            figure(peak(&self.other.requests)),
        );
        html! {
            figure class="curve" {
                div class="plot" {
                    span class="axis" { (figure(most)) " tokens" }
                    span class="axis right" { "messages of both" }
                    svg viewBox="0 0 1000 200" preserveAspectRatio="none" role="img" aria-label=(label) {
                        path class="boundaries" d={ "M" (parts) " 0V200" } {}
                        path class="one" d=(line(&self.one.requests, &left)) {}
                        path class="other" d=(line(&self.other.requests, &right)) {}
                    }
                }
                figcaption class="legend" {
                    span class="key one" { (counted(self.one.requests.len(), "request")) ", at most " (counted(peak(&self.one.requests), "token")) } " "
                    span class="key other" { (counted(self.other.requests.len(), "request")) ", at most " (counted(peak(&self.other.requests), "token")) } " "
                    span class="key boundary" { "where they differ" }
                }
            }
        }
    }

    /// The horizontal position of each message of both, and the number of positions.
    fn positions(&self) -> (Vec<usize>, Vec<usize>, usize) {
        let mut left = Vec::new();
        let mut right = Vec::new();
        let mut place = 0;
        for (one, other, next) in gaps(&self.matches, self.one.entries.len(), self.other.entries.len()) {
            left.extend((0..one.len()).map(|step| place + step));
            right.extend((0..other.len()).map(|step| place + step));
            place += one.len().max(other.len());
            if next.is_some() {
                left.push(place);
                right.push(place);
                place += 1;
            }
        }
        (left, right, place)
    }

    fn places(&self) -> Vec<Difference> {
        let mut places = Vec::new();
        let mut same = 0;
        for (one, other, next) in gaps(&self.matches, self.one.entries.len(), self.other.entries.len()) {
            if !one.is_empty() || !other.is_empty() {
                places.push(Difference { same: std::mem::take(&mut same), one, other, changed: None });
            }
            match next {
                Some(Match { at, agreement: Agreement::Changed }) => {
                    places.push(Difference {
                        same: std::mem::take(&mut same),
                        changed: Some(at),
                        ..Difference::default()
                    });
                }
                Some(_) => same += 1,
                None => {}
            }
        }
        places.push(Difference { same, ..Difference::default() });
        places
    }

    /// The differences side by side, with the number of common messages between them.
    fn differences(&self) -> Markup {
        let places = self.places();
        html! {
            ol class="places" {
                @for place in places.iter().take(MAX_DIFFERENCES) {
                    @if place.same > 0 { li class="same" { (counted(place.same, "message")) " in both" } }
                    @if let Some((left, right)) = place.changed {
                        li class="sides" {
                            (side("first", &self.one.entries, left..left + 1, "changed"))
                            (side("second", &self.other.entries, right..right + 1, "changed"))
                        }
                    } @else if !place.one.is_empty() || !place.other.is_empty() {
                        li class="sides" {
                            (side("first", &self.one.entries, place.one.clone(), "dropped"))
                            (side("second", &self.other.entries, place.other.clone(), "added"))
                        }
                    }
                }
                @if places.len() > MAX_DIFFERENCES { li class="same" { "and " (figure(places.len() - MAX_DIFFERENCES)) " more places" } }
            }
        }
    }

    /// Marks the messages that only one transcript has, by a style for their ids: both conversations are drawn before they are
    /// compared.
    fn marks(&self) -> Markup {
        let mut alone: Vec<&str> = Vec::new();
        for (one, other, _) in gaps(&self.matches, self.one.entries.len(), self.other.entries.len()) {
            alone.extend(self.one.entries[one].iter().map(|entry| entry.anchor.as_str()));
            alone.extend(self.other.entries[other].iter().map(|entry| entry.anchor.as_str()));
        }
        let changed: Vec<(usize, usize)> = self.places().iter().filter_map(|place| place.changed).collect();
        let changed = changed.iter().flat_map(|&(left, right)| [&self.one.entries[left], &self.other.entries[right]]);
        let changed: Vec<&str> = changed.map(|entry| entry.anchor.as_str()).collect();
        let mut style = String::new();
        let kinds = [("only here", "drop", alone), ("changed", "change", changed)];
        for (words, color, anchors) in kinds.iter().filter(|(.., anchors)| !anchors.is_empty()) {
            let ids = anchors.iter().map(|anchor| format!("#{anchor}")).collect::<Vec<_>>().join(",");
            // Writing to a String cannot fail.
            let _ = write!(
                style,
                ":is({ids}){{box-shadow:-.5rem 0 0 -.3rem var(--{color})}}:is({ids})>:is(header,.label)::after,:is({ids})>.aside>summary::after{{content:\"{words}\";\
                 color:var(--{color});font-weight:600;font-size:.8125rem}}"
            );
        }
        html! { @if !style.is_empty() { style { (PreEscaped(style)) } } }
    }
}

/// Messages of one of the two.
fn side(name: &str, entries: &[Entry], range: Range<usize>, state: &str) -> Markup {
    let rest = range.len().saturating_sub(MAX_ROWS);
    let hidden = &entries[range.end - rest..range.end];
    html! {
        div class={ "side " @if range.is_empty() { "none" } @else { (state) } } {
            @if !range.is_empty() {
                p class="quiet" { @if state == "changed" { "in the " } @else { "only in the " } (name) }
                ol {
                    @for at in range.start..range.end - rest {
                        li {
                            (link(&entries[at], at)) " "
                            span class="words" { (Shown(&entries[at].words)) } " "
                            span class="figures" { (figure(entries[at].tokens)) }
                        }
                    }
                }
                @if rest > 0 {
                    p class="hint" { "and " (counted(rest, "message")) " more, " (counted(hidden.iter().map(|entry| entry.tokens).sum(), "token")) }
                }
            }
        }
    }
}

fn link(entry: &Entry, at: usize) -> Markup {
    html! { a href={ "#" (entry.anchor) } { (entry.writer) " " (at) } }
}

// Aligns two transcripts: finds the messages that both have, by their bytes or else by their text and tools, and the messages
// that one of the two changed.

/// Characters of a text by which a message is recognized after its end changed.
const OPENING: usize = 32;

/// What is compared of a transcript.
#[derive(Debug)]
pub struct Compared {
    pub(super) name: String,
    /// The id of its section.
    pub(super) id: String,
    pub(super) tokens: usize,
    pub(super) entries: Vec<Entry>,
    pub(super) requests: Vec<Request>,
}

/// The parts of a message that are compared.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) anchor: String,
    pub(super) writer: &'static str,
    pub(super) tokens: usize,
    /// The beginning of its text.
    pub(super) words: String,
    /// Hashes by which it is found in the other transcript, in the order of [`Agreement`].
    keys: [Option<u64>; KEYS.len()],
}

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

/// What each key of a message shows when it is found in the other transcript.
const KEYS: [Agreement; 6] = [
    Agreement::Bytes,
    Agreement::Words,
    Agreement::Changed,
    Agreement::Changed,
    Agreement::Changed,
    Agreement::Changed,
];

/// A message that both transcripts have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Match {
    /// Its index in each transcript.
    pub(super) at: (usize, usize),
    agreement: Agreement,
}

impl Match {
    /// Whether it is at these indexes, and neither of the transcripts changed it.
    fn is_same_at(self, at: (usize, usize)) -> bool {
        self.at == at && self.agreement != Agreement::Changed
    }
}

impl Compared {
    /// What is compared of `conversation`, whose section has the id `id`.
    pub(super) fn from_conversation(conversation: &Conversation<'_>, id: String) -> Self {
        let entry = |at: usize| Entry {
            anchor: conversation.anchor(at),
            writer: conversation.writer(at),
            tokens: conversation.costs[at].tokens,
            words: conversation.beginning(at),
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
fn align(one: &[Entry], other: &[Entry]) -> Vec<Match> {
    let mut matches = Vec::new();
    for (nth, agreement) in KEYS.into_iter().enumerate() {
        let mut finer = Vec::new();
        for (left, right, next) in gaps(&matches, one.len(), other.len()) {
            let common = common(&one[left.clone()], &other[right.clone()], nth);
            let found = |(a, b)| Match { at: (left.start + a, right.start + b), agreement };
            finer.extend(common.into_iter().map(found));
            finer.extend(next);
        }
        matches = finer;
    }
    matches
}

/// The ranges of both transcripts between two matches, and the match that follows.
fn gaps(
    matches: &[Match],
    one: usize,
    other: usize,
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

/// The keys of a message: its bytes, its text and tools, its id, its first and its last call or result, and the beginning of its
/// text.
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
    use super::{Agreement, Entry, KEYS, align, keys};
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

    fn aligned(one: &str, other: &str) -> Vec<(usize, usize, Agreement)> {
        let matches = align(&entries(one), &entries(other));
        matches.into_iter().map(|found| (found.at.0, found.at.1, found.agreement)).collect()
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
        assert_eq!(aligned(ASK, ASK), [(0, 0, Agreement::Bytes)]);
        assert_eq!(aligned(OK, &spaced.replace("17: 58", "17:58")), [(0, 0, Agreement::Words)]);
        let long = call("a", "Wien", "17:58 and 18:58");
        let short = call("a", "Wien", "17:58 …");
        assert_eq!(aligned(&long, &short), [(0, 0, Agreement::Bytes), (1, 1, Agreement::Changed)]);
        // Another run of the same task: the ids differ, the words do not.
        let one = call("a", "Wien", "17:58");
        let other = call("b", "Wien", "17:58");
        assert_eq!(aligned(&one, &other), [(0, 0, Agreement::Words), (1, 1, Agreement::Words)]);
        assert_eq!(KEYS[0], Agreement::Bytes);
    }

    #[test]
    fn what_one_has_alone_matches_nothing() {
        let one = call("a", "Wien", "17:58");
        let other = call("b", "Graz", "no train");
        let left = format!("{ASK}{one}{OK}");
        let right = format!("{ASK}{other}{OK}");
        assert_eq!(aligned(&left, &right), [(0, 0, Agreement::Bytes), (3, 3, Agreement::Bytes)]);
        assert_eq!(aligned(&left, &format!("{ASK}{OK}")), [(0, 0, Agreement::Bytes), (3, 1, Agreement::Bytes)]);
        assert!(aligned(&one, ASK).is_empty());
        assert!(aligned("", ASK).is_empty());
    }
}
