//! Accounts for every text of a message: what its parts do not have, and no known member is, a model may read all the same. It is
//! counted as an estimate.

use std::sync::LazyLock;

use foldhash::{HashMap, HashSet};

use super::{Dialect, blocks};
use crate::json::{Span, Text, Value, ValueKind};
use crate::steps;
use crate::transcript::{Content, Estimated, Message, Part, PartOrigin};

/// The characters from which on a string is accounted for: ids, dates and names are shorter.
const LONG: usize = 40;

/// Members without text for a model, whatever the format: ids, times and places of files, what a provider counted, marks of
/// caches, proofs, what a screen shows. Those with the end of such a key are, too.
const KNOWN: &[&str] = &[
    "id", "ids", "thinkingSignature", "timestamp", "ts", "time", "date", "created", "updated", "url", "uri", "href",
    "cwd", "path", "file", "model", "provider", "usage", "usageMetadata", "usage_metadata", "tokens", "metrics",
    "cost", "version", "hash", "sha256", "checksum", "etag", "signature", "fingerprint", "system_fingerprint",
    "logprobs", "annotations", "citations", "metadata", "meta", "_meta", "mimeType", "media_type", "cache_control",
    "providerMetadata", "provider_metadata", "providerOptions", "provider_options", "callProviderMetadata",
    "response_metadata", "provider_details", "gitBranch", "status", "type", "name", "toolName", "tool_name",
];

static KNOWN_KEYS: LazyLock<HashSet<&str>> = LazyLock::new(|| KNOWN.iter().copied().collect());

/// Whether a key ends as those of ids, times, addresses and checksums do.
fn ends_as_known(key: &str) -> bool {
    let end = |length: usize| key.as_bytes().get(key.len().wrapping_sub(length)..).unwrap_or_default();
    matches!(end(2), b"Id" | b"ID" | b"At")
        || matches!(end(3), b"_id" | b"Ids" | b"_at" | b"Url")
        || matches!(end(4), b"uuid" | b"Uuid" | b"_ids" | b"Time" | b"_url" | b"Path" | b"Hash")
        || end(5) == b"_path"
}

/// Members that only the provider can read, and that are sent to it again.
const SEALED: &[&str] = &[
    "encrypted_content",
    "encryptedContent",
    "encrypted",
    "thoughtSignature",
    "thought_signature",
    "reasoningOpaque",
    "reasoning_opaque",
    "redactedData",
    "reasoningEncryptedContent",
];

/// Words in the type of a line of a log that has something for a model.
const WORDS: &[&str] = &[
    "message", "tool", "call", "result", "assistant", "user", "prompt", "reason", "think", "text", "chunk", "content",
    "turn", "reply", "response",
];

/// Whether the type of a line of a log, or of what is in its envelope, is that of something for a model.
pub(super) fn is_like_message(line: Value<'_>) -> bool {
    let inner = ["message", "payload", "data", "event", "item"].iter().filter_map(|key| line.get(key));
    let types = std::iter::once(line).chain(inner).filter_map(|value| value.get_text("type"));
    types.into_iter().any(|kind| {
        let kind = kind.decode().to_ascii_lowercase();
        WORDS.iter().any(|word| kind.contains(word))
    })
}

/// The member of a line that has most of its text; `None` if no text in it is long.
pub(super) fn body(line: Value<'_>) -> Option<Value<'_>> {
    let is_told = |key: &Text<'_>| matches!(key, Text::Escaped(key) if !is_common(key));
    let members = line.members().filter(|member| is_told(&member.key)).map(|member| member.value);
    members.filter(|value| has_text(*value)).max_by_key(|value| value.span().len())
}

/// Whether a text in a value is long, and under no member that has no text for a model.
fn has_text(value: Value<'_>) -> bool {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        steps::count(1);
        if value.text().is_some_and(|text| is_long(&text)) {
            return true;
        }
        let members = value.members().filter(|member| matches!(&member.key, Text::Escaped(key) if !is_common(key)));
        let inner = value.items().chain(members.map(|member| member.value));
        open.extend(inner.filter(|value| value.span().len() >= LONG));
    }
    false
}

/// Finds what the parts of messages leave out.
#[derive(Default)]
pub(super) struct Accounting {
    /// The bytes that the parts of a message have, ordered by their start.
    read: Vec<Span>,
    /// For each of these and those before it: where the last one ends.
    ends: Vec<u32>,
    /// The bytes of parts that have no text for a model. The provider may read what is in them.
    marks: Vec<Span>,
}

impl Accounting {
    /// Adds to `message`, which was read from `value`, what none of its parts has.
    pub(super) fn complete<'a>(&mut self, dialect: &dyn Dialect, value: Value<'a>, message: &mut Message<'a>) {
        if dialect.format().accounts || is_one_text(value, message) {
            return;
        }
        self.begin(value, message);
        if value.is_object() && !self.has_gap(value.span()) {
            return;
        }
        let mut found = Vec::new();
        let mut open = vec![value];
        while let Some(holder) = open.pop() {
            steps::count(1);
            if holder.is_array() {
                open.extend(holder.items().filter(|item| self.is_left(*item) && !blocks::is_media(*item)));
            }
            for member in holder.members().filter(|member| self.is_left(member.value)) {
                match is_sealed(holder, &member.key, member.value) {
                    true => found.push(Estimated { value: member.value, sealed: true }),
                    false if is_known(dialect, &member.key) || blocks::is_media(member.value) => {}
                    false => open.push(member.value),
                }
            }
            if holder.text().is_some_and(|text| is_long(&text) && !is_in(&text, &message.parts)) {
                found.push(Estimated { value: holder, sealed: false });
            }
        }
        let is_marked = |place: Span| self.marks.iter().any(|mark| mark.start <= place.start && place.end <= mark.end);
        found.retain(|text| text.sealed || !is_marked(text.value.span()));
        if !found.is_empty() {
            found.sort_by_key(|text| text.value.span().start);
            add(message, found);
        }
    }

    /// Notes what the parts of `message` have.
    fn begin(&mut self, value: Value<'_>, message: &Message<'_>) {
        self.read.clear();
        self.marks.clear();
        let source = value.source();
        for part in &message.parts {
            self.read_part(source, part);
        }
        let attached = message.attached.iter().filter_map(|text| span_of(source, text));
        self.read.extend(attached);
        self.read.sort_unstable_by_key(|span| span.start);
        self.ends.clear();
        let ends = self.read.iter().scan(0, |last, span| {
            *last = span.end.max(*last);
            Some(*last)
        });
        self.ends.extend(ends);
    }

    fn read_part(&mut self, source: &str, part: &Part<'_>) {
        let Some(place) = part.place() else { return };
        let id = match &part.content {
            Content::ToolCall(call) => call.id.as_ref(),
            Content::ToolResult(result) => result.id.as_ref(),
            _ => None,
        };
        let texts = texts_of(&part.content).chain(id).filter_map(|text| span_of(source, text));
        self.read.extend(texts);
        if matches!(part.content, Content::Other) {
            self.marks.push(place.element.span());
        }
        self.read.extend(place.copies.iter().map(|copy| copy.span()));
        if let Some(further) = &place.further {
            self.read.extend(further.copies_cut.iter().map(|copy| copy.span()));
            self.read.extend(further.repeats.iter().map(|repeat| repeat.span));
        }
    }

    /// Whether parts leave so many bytes of a value in one piece that a long text can be in them.
    fn has_gap(&self, value: Span) -> bool {
        let mut end = self.last_end(value.start + 1).max(value.start);
        let first = self.read.partition_point(|span| span.start <= value.start);
        for span in self.read[first..].iter().take_while(|span| span.start < value.end) {
            if span.start.saturating_sub(end) as usize > LONG {
                return true;
            }
            end = end.max(span.end);
        }
        value.end.saturating_sub(end) as usize > LONG
    }

    /// Whether a value may contain a long text that no part has.
    fn is_left(&self, value: Value<'_>) -> bool {
        let span = value.span();
        if span.len() < LONG + "\"\"".len() {
            return false;
        }
        match value.kind() {
            // A text can be divided into several parts.
            ValueKind::String => self.last_end(span.end - 1) <= span.start,
            ValueKind::Object | ValueKind::Array => self.has_gap(span),
            _ => false,
        }
    }

    /// Where the last of those ends that begin before `at`.
    fn last_end(&self, at: u32) -> u32 {
        let before = self.read.partition_point(|span| span.start < at);
        before.checked_sub(1).map_or(0, |last| self.ends[last])
    }
}

/// Whether a message is one text, and what is beside it too short for another.
fn is_one_text(value: Value<'_>, message: &Message<'_>) -> bool {
    let [part] = message.parts.as_slice() else { return false };
    let Content::Text(text) = &part.content else { return false };
    span_of(value.source(), text).is_some_and(|text| value.span().len() - text.len() <= LONG)
}

/// What a part has of its message.
pub(super) fn texts_of<'m, 'a>(content: &'m Content<'a>) -> impl Iterator<Item = &'m Text<'a>> {
    let (texts, results) = match content {
        Content::Text(text) | Content::Reasoning(text) | Content::Media(text) | Content::Unknown(text) => {
            ([Some(text), None, None], &[][..])
        }
        Content::ToolCall(call) => ([Some(&call.name), Some(&call.arguments), call.written.as_deref()], &[][..]),
        Content::ToolResult(result) => ([result.name.as_ref(), None, None], result.content.as_slice()),
        Content::Other => ([None, None, None], &[][..]),
    };
    texts.into_iter().flatten().chain(results)
}

/// The texts of a part that were put together from several values, or read out of one.
fn made_texts(part: &Part<'_>) -> Vec<String> {
    let made = texts_of(&part.content).filter_map(|text| if let Text::Owned(text) = text { Some(text) } else { None });
    made.filter(|text| !text.is_empty()).cloned().collect()
}

/// The letters and digits of a text, so that what was read out of it is found in it, whatever the spelling. Those that an escape
/// hides are left out, and with `ascii` all that can be hidden.
fn condensed(text: &str, ascii: bool) -> String {
    let is_kept = |c: &char| c.is_ascii_alphanumeric() || !ascii && c.is_alphanumeric();
    let mut rest = text;
    let mut left = String::new();
    while let Some(at) = rest.find("\\u") {
        left.extend(rest[..at].chars().filter(is_kept));
        rest = rest[at + "\\u".len()..].get("0000".len()..).unwrap_or_default();
    }
    left.extend(rest.chars().filter(is_kept));
    left
}

/// Whether a text is in one that was put together, or all that was read out of it for a part is in it.
fn is_in(text: &Text<'_>, parts: &[Part<'_>]) -> bool {
    let mut made = parts.iter().map(made_texts).filter(|made| !made.is_empty()).peekable();
    if made.peek().is_none() {
        return false;
    }
    let text = text.decode();
    let ascii = text.contains("\\u");
    let text = condensed(&text, ascii);
    !text.is_empty()
        && made.any(|made| {
            let condensed = made.iter().map(|made| condensed(made, ascii));
            // A text of signs alone tells nothing.
            let made: Vec<String> = condensed.filter(|made| !made.is_empty()).collect();
            made.iter().any(|made| made.contains(&text))
                || !made.is_empty() && made.iter().all(|made| text.contains(made))
        })
}

/// The bytes of a text that was read as it stands.
fn span_of(source: &str, text: &Text<'_>) -> Option<Span> {
    let (Text::Escaped(raw) | Text::Json(raw)) = text else { return None };
    let start = raw.as_ptr().addr().checked_sub(source.as_ptr().addr()).filter(|start| *start <= source.len())?;
    let start = u32::try_from(start).ok()?;
    let end = u32::try_from(raw.len()).ok()?.checked_add(start)?;
    (end as usize <= source.len()).then_some(Span::new(start, end))
}

/// Whether a string is long enough to be a text.
fn is_long(text: &Text<'_>) -> bool {
    text.len_bound() >= LONG && !text.is_blank() && text.decode().chars().nth(LONG - 1).is_some()
}

/// Whether a member holds no text for a model.
fn is_known(dialect: &dyn Dialect, key: &Text<'_>) -> bool {
    let Text::Escaped(key) = key else { return false };
    is_common(key) || dialect.format().known.contains(key)
}

/// Whether a member holds no text for a model in any format.
fn is_common(key: &str) -> bool {
    ends_as_known(key) || KNOWN_KEYS.contains(key)
}

/// Whether only the provider can read a member.
fn is_sealed(holder: Value<'_>, key: &Text<'_>, value: Value<'_>) -> bool {
    let Text::Escaped(key) = key else { return false };
    let is_hidden = || match *key {
        // The signature of a thought whose text the provider keeps is the thought.
        "signature" | "thinkingSignature" => holder.get_text("thinking").is_some_and(|text| text.len_bound() == 0),
        "data" => holder.get_text("type").is_some_and(|kind| {
            let kind = kind.decode();
            kind.contains("redacted") || kind.contains("encrypted")
        }),
        key => SEALED.contains(&key),
    };
    value.text().is_some() && is_hidden()
}

/// Adds what was found to the parts in whose elements it is, or else to the message.
fn add<'a>(message: &mut Message<'a>, found: Vec<Estimated<'a>>) {
    let whole = message.value();
    let mut parts: HashMap<Value<'a>, usize> = HashMap::default();
    for (nth, part) in message.parts.iter().enumerate() {
        if let Some(place) = part.place().filter(|place| Some(place.element) != whole) {
            parts.entry(place.element).or_insert(nth);
        }
    }
    for text in found {
        let mut around =
            std::iter::successors(Some(text.value), |value| value.parent().filter(|value| Some(*value) != whole));
        let part = around.find_map(|value| parts.get(&value)).copied();
        match part.map(|nth| &mut message.parts[nth].origin) {
            Some(PartOrigin::Source(place)) => place.further_mut().estimated.push(text),
            _ => message.estimated.push(text),
        }
    }
}
