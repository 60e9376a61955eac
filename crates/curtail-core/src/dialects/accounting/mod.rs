//! Accounts for every text of a message: what its parts do not have, and no known member is, a model may read all the same. It is
//! counted as an estimate.

mod known;
mod made;

use std::cell::LazyCell;

use foldhash::HashMap;

use super::{Dialect, blocks};
use crate::json::{Member, Span, Text, Value, ValueKind};
use crate::steps;
use crate::transcript::{Content, Estimated, Message, Part, PartOrigin};
pub(super) use known::{LONG, is_common, is_long};
use known::{is_known, is_sealed};
use made::MadeTexts;

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
        let found = self.left_out(dialect, value, message);
        if !found.is_empty() {
            add(message, found);
        }
    }

    /// The texts in `value` that no part of `message` has, in order.
    fn left_out<'a>(&self, dialect: &dyn Dialect, value: Value<'a>, message: &Message<'a>) -> Vec<Estimated<'a>> {
        let made = LazyCell::new(|| MadeTexts::of(&message.parts));
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
                    false
                        if is_known(dialect, &member.key, holder == value)
                            || is_blob(&member)
                            || blocks::is_media(member.value) => {}
                    false => open.push(member.value),
                }
            }
            if holder.text().is_some_and(|text| is_long(&text)) && !made.have(holder) {
                found.push(Estimated { value: holder, sealed: false });
            }
        }
        found.retain(|text| text.sealed || !self.is_marked(text.value.span()));
        found.sort_by_key(|text| text.value.span().start);
        found
    }

    /// Whether a place is in a part that has no text for a model.
    fn is_marked(&self, place: Span) -> bool {
        self.marks.iter().any(|mark| mark.start <= place.start && place.end <= mark.end)
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
            self.read.extend(further.superseded.map(Value::span));
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

/// Whether a member has the bytes of an image, audio or a file, as Gemini writes them: no text, although no type says so.
fn is_blob(member: &Member<'_>) -> bool {
    (member.key.is("inlineData") || member.key.is("inline_data")) && member.value.get_text("data").is_some()
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

/// The bytes of a text that was read as it stands.
pub(super) fn span_of(source: &str, text: &Text<'_>) -> Option<Span> {
    let (Text::Escaped(raw) | Text::Json(raw)) = text else { return None };
    let start = raw.as_ptr().addr().checked_sub(source.as_ptr().addr()).filter(|start| *start <= source.len())?;
    let start = u32::try_from(start).ok()?;
    let end = u32::try_from(raw.len()).ok()?.checked_add(start)?;
    (end as usize <= source.len()).then_some(Span::new(start, end))
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
