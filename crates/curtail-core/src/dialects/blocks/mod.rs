//! What several wire formats write in the same way: members of objects, parts of messages, calls and results.

mod members;
mod messages;
mod written;

pub(super) use members::{arguments, block_text, either, joined, model, numbers, preamble, record_of, texts};
pub(super) use messages::{
    boundary, close_rounds, content_of, first_text, message, names_speaker, notice, preserve, put_in_compaction,
    read_message, role_of, speaker_of, unknown_kind,
};
pub(super) use written::{
    draft_id, parts, prepend_blocks, prepend_parts, prepend_texts, role_and_content, role_name, speaker, text_block,
};

use crate::dialects::media;
use crate::json::{Span, Text, Value};
use crate::transcript::{Content, Family, Part, PartPlace, Rewrite, ToolCall, ToolResult, blocks_in_text};

/// The number of media blocks in a list.
pub(in crate::dialects) fn count_media(value: Option<Value<'_>>) -> usize {
    value.map_or(0, |value| value.items().filter(|&block| is_media(block)).count())
}

/// Whether a block is an image, audio or a file, by the types that the wire formats use.
pub(in crate::dialects) fn is_media(block: Value<'_>) -> bool {
    block.get_text("type").is_some_and(|kind| kind.is("container_upload") || kind.is_one_of(media::TYPES))
}

/// Whether a block is a thought as Mistral writes it, whose thoughts are lists of blocks.
pub(in crate::dialects) fn thinks_in_list(block: Value<'_>) -> bool {
    block.get("thinking").is_some_and(Value::is_array)
}

/// The parts of a `content` that is a string or a list of blocks, each of which `read` reads.
pub(in crate::dialects) fn content<'a>(
    value: Option<Value<'a>>,
    read: impl Fn(Value<'a>) -> Content<'a>,
) -> Vec<Part<'a>> {
    text_or_parts(value, |block| part(block, read(block)))
}

/// The parts of a `content` that is a string or a list of the blocks that most formats share.
pub(in crate::dialects) fn plain_parts(content: Option<Value<'_>>) -> Vec<Part<'_>> {
    self::content(content, plain_block)
}

/// The parts of a `content` that is a string, or a list of blocks, each of which `read` reads as a part.
pub(in crate::dialects) fn text_or_parts<'a>(
    value: Option<Value<'a>>,
    read: impl Fn(Value<'a>) -> Part<'a>,
) -> Vec<Part<'a>> {
    let Some(value) = value else { return Vec::new() };
    match value.text() {
        Some(text) => vec![rewritable(value, Content::Text(text), Some(value))],
        None => value.items().map(read).collect(),
    }
}

/// The parts of a text that begins with blocks of this program: each of them, and what somebody said; `None` if it does not.
pub(in crate::dialects) fn pieces(value: Value<'_>) -> Option<Vec<Part<'_>>> {
    let Text::Escaped(raw) = value.text()? else { return None };
    let ends = blocks_in_text(raw);
    let last = ends.last()?[1];
    let starts = std::iter::once(0).chain(ends.iter().map(|[_, next]| *next));
    let blocks = starts.zip(&ends).map(|(start, [end, next])| [start, *end, *next]);
    let pieces = blocks.chain([[last, raw.len(), raw.len()]]);
    let parts = pieces.map(|[start, end, next]| {
        let content = Content::Text(Text::Escaped(&raw[start..end]));
        let inside = value.span().start + 1;
        let [start, end, next] = [start, end, next].map(|at| inside + u32::try_from(at).unwrap_or(u32::MAX));
        let rewrite = Some(Rewrite { span: Span::new(start, end), around: &["", ""] });
        let piece = Some(Span::new(start, next));
        Part::from_source(content, PartPlace { piece, rewrite, ..PartPlace::element(value) })
    });
    Some(parts.collect())
}

/// A block of a list as a part; its text, if any, can be rewritten. The result of a tool that the provider runs is a list or an
/// object of a fixed type, which no text can replace.
pub(in crate::dialects) fn part<'a>(block: Value<'a>, content: Content<'a>) -> Part<'a> {
    let text = match &content {
        Content::Text(_) if block.text().is_some() => Some(block),
        Content::Text(_) => block.get("text"),
        Content::ToolResult(result) if result.family != Family::Server => block.get("content"),
        _ => None,
    };
    Part::from_source(content, PartPlace::element(block).with_text(text))
}

/// A part that is cut with all of `element`, and whose text is not rewritten.
pub(in crate::dialects) const fn whole<'a>(element: Value<'a>, content: Content<'a>) -> Part<'a> {
    Part::from_source(content, PartPlace::element(element))
}

/// The same, with its text at `text`, where it can be rewritten. A text is a string, whatever a damaged log has in its place.
pub(in crate::dialects) fn rewritable<'a>(
    element: Value<'a>,
    content: Content<'a>,
    text: Option<Value<'a>>,
) -> Part<'a> {
    let text = text.filter(|text| !matches!(content, Content::Text(_)) || text.text().is_some());
    Part::from_source(content, PartPlace::element(element).with_text(text))
}

/// What `read` makes of a text beside the content of a message, such as reasoning.
pub(in crate::dialects) fn text_beside<'a>(
    message: Value<'a>,
    key: &str,
    read: fn(Text<'a>) -> Content<'a>,
) -> Option<Part<'a>> {
    let value = message.get(key)?;
    value.text().map(|text| whole(value, read(text)))
}

/// A part in a list or object that is removed with its last element.
pub(in crate::dialects) fn in_shell<'a>(element: Value<'a>, content: Content<'a>) -> Part<'a> {
    Part::from_source(content, PartPlace::in_shell(element))
}

/// A result with its text at `text`, which can be rewritten: a list of blocks as one block.
pub(in crate::dialects) fn result_part<'a>(
    element: Value<'a>,
    result: Content<'a>,
    text: Option<Value<'a>>,
) -> Part<'a> {
    let place = PartPlace::element(element);
    let place = match text {
        Some(list) if list.is_array() => place.with_text_in(list, &["[{\"type\":\"text\",\"text\":", "}]"]),
        text => place.with_text(text),
    };
    Part::from_source(result, place)
}

/// `content`, if it is a text or a list of blocks: only those are rewritten where a format requires one of them.
pub(in crate::dialects) fn text_or_list(content: Option<Value<'_>>) -> Option<Value<'_>> {
    content.filter(|content| content.is_array() || content.text().is_some())
}

/// A text or media block, or a mark without text; any other block is unknown.
pub(in crate::dialects) fn plain_block(block: Value<'_>) -> Content<'_> {
    match block.text().or_else(|| block.get_text("text")).or_else(|| refusal(block)) {
        Some(text) => Content::Text(text),
        None if is_media(block) => Content::Media(Text::Json(block.raw())),
        None if is_mark(block) => Content::Other,
        None => unknown(block),
    }
}

/// The text with which a model refuses an answer.
fn refusal(block: Value<'_>) -> Option<Text<'_>> {
    block.get_text("refusal").filter(|_| block.get("type").is_some_and(|kind| kind.is("refusal")))
}

/// A block that the dialect does not know.
pub(in crate::dialects) fn unknown(block: Value<'_>) -> Content<'_> {
    Content::Unknown(Text::Json(block.raw()))
}

/// Whether a block is known, and contains no text that a model reads as a text.
fn is_mark(block: Value<'_>) -> bool {
    const TYPES: &[&str] = &["fallback", "compaction", "encrypted_content", "tool_addition", "tool_removal"];
    block.get_text("type").is_some_and(|kind| TYPES.iter().any(|name| kind.is(name)))
}

/// Whether what a provider says of reasoning proves that Claude wrote it.
pub(in crate::dialects) fn is_signed_by_claude(metadata: Value<'_>) -> bool {
    let mut claude = ["anthropic", "bedrock"].iter().filter_map(|provider| metadata.get(provider));
    claude.any(|proof| proof.has("signature") || proof.has("redactedData"))
}

/// A call of a function.
pub(in crate::dialects) fn call<'a>(
    id: Option<Text<'a>>,
    name: Option<Text<'a>>,
    arguments: Option<Value<'a>>,
) -> Content<'a> {
    Content::ToolCall(ToolCall::new(id, name.unwrap_or(Text::Escaped("")), self::arguments(arguments)))
}

/// A call of a function whose id, name and arguments are members of `object`, under these keys.
pub(in crate::dialects) fn call_in<'a>(object: Value<'a>, [id, name, arguments]: [&str; 3]) -> Content<'a> {
    call(object.get_text(id), object.get_text(name), object.get(arguments))
}

/// The result of a function.
pub(in crate::dialects) fn result<'a>(
    id: Option<Text<'a>>,
    name: Option<Text<'a>>,
    content: Option<Value<'a>>,
) -> Content<'a> {
    let mut result = ToolResult::new(id, name, Vec::new());
    result.add_answer(content);
    Content::ToolResult(result)
}

impl<'a> ToolResult<'a> {
    /// Adds what a tool answered: a text, a list of blocks, or an object. An object is a block, or has a list of blocks, only if a
    /// medium is in it: any other is JSON that the model reads.
    pub(in crate::dialects) fn add_answer(&mut self, answer: Option<Value<'a>>) {
        let list = answer.and_then(|answer| answer.get("content"));
        let list = list.filter(|list| list.items().any(media::has_bytes)).or(answer);
        match answer.filter(|answer| answer.is_object()) {
            Some(block) if media::has_bytes(block) => self.media += 1,
            Some(block) if block.member_is("type", "text") || block.member_is("type", "input_text") => {
                self.content.extend(block_text(block));
            }
            _ => {
                self.content.extend(texts(list));
                self.media += count_media(list);
            }
        }
    }
}

/// The result of a function with these texts and so many media.
pub(in crate::dialects) fn result_of<'a>(
    id: Option<Text<'a>>,
    name: Option<Text<'a>>,
    content: Vec<Text<'a>>,
    media: usize,
) -> Content<'a> {
    Content::ToolResult(ToolResult { media, ..ToolResult::new(id, name, content) })
}

/// The same call or result, of a tool that the provider ran: its result has a fixed form.
pub(in crate::dialects) fn hosted(mut content: Content<'_>) -> Content<'_> {
    match &mut content {
        Content::ToolCall(call) => (call.family, call.hosted) = (Family::Server, true),
        Content::ToolResult(result) => (result.family, result.same_message) = (Family::Server, true),
        _ => {}
    }
    content
}
