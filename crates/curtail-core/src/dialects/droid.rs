//! Logs of Factory's Droid: sessions, with Anthropic blocks under `message`; and its stream, in which `message`,
//! `tool_call` and `tool_result` are separate lines.

use std::iter;
use std::ops::Range;

use foldhash::HashMap;

use super::tree::Tree;
use super::{BY_ID, Dialect, DialectWriter, Fit, Format, HistoryChange, Item, LogHabits, anthropic, blocks};
use crate::json::{ObjectWriter, Value, object, or_null};
use crate::transcript::{
    Content, Draft, DraftResult, Links, Message, MessageKind, PairingRules, PartOrigin, ResultPlace, Role,
};

/// The dialect `droid`.
pub(super) struct Droid;

const TREE: Tree = Tree { id: "id", parent: "parentId", others: &[], path: false, sides: None, trees: None };

/// Types of lines that are not messages.
const METADATA: &[&str] = &["session_start", "system", "error", "todo_state", "session_end"];

impl Dialect for Droid {
    fn format(&self) -> &'static Format {
        &Format {
            name: "droid",
            signature: "`session_start`, then `message` with Anthropic blocks; \
                or lines `tool_call` and `tool_result` with `toolName`, `value`",
            pairing: PairingRules { results: ResultPlace::Anywhere, unique_ids: true, ..BY_ID },
            is_log: true,
            writer: Some(&Droid),
            log: &Droid,
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let has = |key: &str| item.get(key).is_some();
        let streamed = has("session_id") || has("sessionId");
        match &*item.word("type") {
            "session_start" if has("cwd") || has("title") => Fit::Certain,
            "tool_call" if has("toolName") && has("parameters") => Fit::Certain,
            "tool_result" if has("value") && (has("toolCallId") || has("toolId")) => Fit::Certain,
            // The beginning of a stream; other programs write the same line with more in it.
            "system" if has("session_id") && has("model") => Fit::Possible,
            "completion" if has("finalText") => Fit::Certain,
            "message" if streamed && has("role") && has("text") => Fit::Certain,
            "message" => item.get("message").map_or(Fit::No, fit_message),
            _ => Fit::No,
        }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        let kind = item.word("type");
        let id = item.get_text("id");
        let call_id = item.get_text("toolCallId").or_else(|| item.get_text("id"));
        match &*kind {
            "message" => read_message(item),
            "tool_call" => {
                let call = blocks::call(call_id, item.get_text("toolName"), item.get("parameters"));
                blocks::message(Role::Assistant, item, id, vec![blocks::whole(item, call)])
            }
            "tool_result" => {
                let value = item.get("value");
                let result = blocks::result(call_id, item.get_text("toolId"), value);
                blocks::message(Role::Tool, item, id, vec![blocks::rewritable(item, result, value)])
            }
            "compaction_state" => match summary(item) {
                Some(summary) => Item::Message(boundary(item, summary)),
                None => Item::Metadata,
            },
            "reasoning" => {
                let thought = blocks::text_beside(item, "text", Content::Reasoning);
                blocks::message(Role::Assistant, item, id, thought.into_iter().collect())
            }
            "completion" => blocks::message(Role::Assistant, item, id, blocks::plain_parts(item.get("finalText"))),
            kind if METADATA.contains(&kind) => Item::Metadata,
            _ => blocks::unknown_kind(kind),
        }
    }

    fn connect<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        leave_out_repeats(items, read);
        if let Some((_, kept)) = summaries(items).pop() {
            blocks::preserve(read, kept);
        }
    }
}

impl DialectWriter for Droid {
    fn result_key(&self, items: &[Value<'_>]) -> Option<&'static str> {
        let mut lines = items.iter().filter(|item| matches!(&*item.word("type"), "tool_call" | "tool_result"));
        lines.next().filter(|line| line.some("toolCallId").is_none()).map(|_| ID)
    }

    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        if anchor.is_some_and(|anchor| !is_of_session(anchor)) {
            return write_line(draft, anchor);
        }
        let message =
            object! { "role": blocks::speaker(draft), "content": blocks::parts(&anthropic::Anthropic, draft) };
        let line = if is_linked(anchor) { TREE.begin(draft, anchor) } else { ObjectWriter::new() };
        line.member("type", "message").copied(anchor, &["timestamp"]).member("message", &message).end().0
    }

    fn links(&self, draft: &Draft, anchor: Option<Value<'_>>) -> Option<Links> {
        is_linked(anchor).then(|| TREE.links(draft, anchor))
    }

    fn tree(&self) -> Option<&'static Tree> {
        Some(&TREE)
    }
}

impl LogHabits for Droid {
    fn history(&self, items: &[Value<'_>]) -> Vec<HistoryChange> {
        let summaries = summaries(items).into_iter();
        summaries.map(|(at, kept)| HistoryChange::compaction(at, kept)).collect()
    }
}

/// The items with a summary, each with those before it that are still sent.
fn summaries(items: &[Value<'_>]) -> Vec<(usize, Vec<Range<usize>>)> {
    let mut places = HashMap::default();
    let mut earlier = None;
    let mut found = Vec::new();
    for (at, item) in items.iter().enumerate() {
        if summary(*item).is_some() {
            let anchor = item.some("anchorMessage").and_then(|anchor| anchor.get_text("id"));
            let kept = anchor.map(|id| kept_before(at, places.get(&id.into_decoded()).copied(), earlier));
            found.push((at, kept.unwrap_or_default()));
            earlier = Some(at);
        }
        places.extend(item.get_text("id").map(|id| (id.into_decoded(), at)));
    }
    found
}

/// What the summary at `at` keeps, which names `anchor` as the last message that it replaces: all after it but an `earlier` summary. If
/// a cut dropped the anchor, all that the earlier summary did not replace.
fn kept_before(at: usize, anchor: Option<usize>, earlier: Option<usize>) -> Vec<Range<usize>> {
    match (anchor, earlier) {
        (Some(anchor), Some(earlier)) if anchor < earlier => vec![anchor + 1..earlier, earlier + 1..at],
        (anchor, earlier) => iter::once(anchor.or(earlier).map_or(0, |last| last + 1)..at).collect(),
    }
}

/// The stream may write a thought twice, and ends with the last reply once more: it is read once, and changes with the other.
fn leave_out_repeats(items: &[Value<'_>], read: &mut [Item<'_>]) {
    let mut last: Option<usize> = None;
    for (at, item) in items.iter().enumerate() {
        let (before, from) = read.split_at_mut(at);
        let Item::Message(message) = &from[0] else { continue };
        let may_repeat = matches!(&*item.word("type"), "reasoning" | "completion");
        let first = last.filter(|_| may_repeat).and_then(|first| before[first].message_mut()?.parts.first_mut());
        match (first, message.parts.as_slice()) {
            (Some(first), [part]) if says_the_same(&first.content, &part.content) => {
                if let PartOrigin::Source(place) = &mut first.origin {
                    place.further_mut().repeats.extend(part.place().and_then(|place| place.rewrite));
                }
                from[0] = Item::Metadata;
            }
            _ => last = Some(at),
        }
    }
}

/// Whether two parts are the same text, or the same thought.
fn says_the_same(one: &Content<'_>, other: &Content<'_>) -> bool {
    match (one, other) {
        (Content::Text(one), Content::Text(other)) | (Content::Reasoning(one), Content::Reasoning(other)) => {
            one.decode() == other.decode()
        }
        _ => false,
    }
}

fn fit_message(message: Value<'_>) -> Fit {
    let Some(content) = message.get("content").filter(|_| message.get("role").is_some()) else { return Fit::No };
    if content.items().any(is_own_block) { Fit::Certain } else { Fit::Possible }
}

fn is_own_block(block: Value<'_>) -> bool {
    match &*block.word("type") {
        "tool_use" | "tool_result" => true,
        // In logs of pi, it has no signature, or one under another key.
        "thinking" => block.has("signature"),
        _ => false,
    }
}

fn read_message(item: Value<'_>) -> Item<'_> {
    let body = item.get("message").unwrap_or(item);
    blocks::read_message(item, body.some_text("role"), blocks::speaker_of, |message| {
        message.id = item.get_text("id");
        message.parts = anthropic::read_content(body.get("content").or_else(|| body.get("text")));
    })
}

/// The key of a call's id in lines without `toolCallId`.
const ID: &str = "id";

/// Writes a line of the stream.
fn write_line(draft: &Draft, anchor: Option<Value<'_>>) -> String {
    let line = match draft.only_result() {
        Some(DraftResult { id, name, text, key, .. }) => {
            let line = begun(anchor, "tool_result");
            let id = or_null(id.as_deref());
            let line = match *key {
                Some(ID) => line.member(ID, &id).member("toolId", name),
                _ => line.member("toolCallId", &id),
            };
            line.member("isError", &true).member("value", text)
        }
        None => {
            let role = blocks::speaker(draft);
            begun(anchor, "message").member("role", role).member("text", &draft.joined_text())
        }
    };
    line.end().0
}

/// The beginning of a line of this type, with what it shares with `anchor`.
fn begun(anchor: Option<Value<'_>>, kind: &str) -> ObjectWriter {
    ObjectWriter::new().member("type", kind).copied(anchor, &["session_id", "sessionId", "timestamp"])
}

/// Whether a record beside `anchor` has links.
fn is_linked(anchor: Option<Value<'_>>) -> bool {
    anchor.is_some_and(|anchor| is_of_session(anchor) && anchor.get("parentId").is_some())
}

/// Whether a record is one of a session, and not of the stream.
fn is_of_session(record: Value<'_>) -> bool {
    record.get("message").is_some() || summary(record).is_some()
}

/// A compaction. Nothing says that none comes between a call and its result.
fn boundary<'a>(item: Value<'a>, summary: Value<'a>) -> Message<'a> {
    let parts = blocks::plain_parts(Some(summary));
    Message { kind: MessageKind::Boundary, ..blocks::notice(item, item.get_text("id"), parts) }
}

/// What a compaction says of everything before it.
fn summary(item: Value<'_>) -> Option<Value<'_>> {
    let compaction = Some(item).filter(|item| item.member_is("type", "compaction_state"));
    let said = compaction?.some("summaryText").or_else(|| compaction?.some("summary"))?;
    let said = said.some("body").unwrap_or(said);
    said.text().filter(|text| !text.is_blank()).map(|_| said)
}
