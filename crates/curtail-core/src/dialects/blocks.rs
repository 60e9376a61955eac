//! What several wire formats write in the same way: members of objects, parts of messages, calls and results.

use std::borrow::Cow;
use std::ops::Range;

use super::{DialectWriter, Item, Patch};
use crate::json::{Json, Span, Text, Value, ValueKind, list, object};
use crate::transcript::{
    Closes, Content, Draft, Family, Message, Origin, Part, PartPlace, Rewrite, Role, Standing, ToolCall, ToolResult,
    Unknown, blocks_in_text, media,
};

// Members of an object.

impl<'a> Value<'a> {
    /// The characters of the string under `key`; none if there is no string.
    pub(super) fn word(self, key: &str) -> Cow<'a, str> {
        self.get_text(key).map(Text::into_decoded).unwrap_or_default()
    }

    /// The string under `key`, as a text; an empty one if there is none.
    pub(super) fn text_or_empty(self, key: &str) -> Text<'a> {
        self.get_text(key).unwrap_or(Text::Escaped(""))
    }

    /// The string under `key`, unless it is empty.
    pub(super) fn some_text(self, key: &str) -> Option<Text<'a>> {
        self.get_text(key).filter(|text| text.len_bound() > 0)
    }

    /// Whether the member `key` is the string `word`.
    pub(super) fn member_is(self, key: &str, word: &str) -> bool {
        self.get(key).is_some_and(|member| member.is(word))
    }

    /// Whether the member `key` is `true`.
    pub(super) fn is_true(self, key: &str) -> bool {
        self.get(key).is_some_and(|flag| flag.raw() == "true")
    }

    /// The integer under `key`; 0 if it is missing or has another type.
    pub(super) fn number(self, key: &str) -> u64 {
        self.get(key).and_then(|value| value.raw().parse().ok()).unwrap_or(0)
    }

    /// The values of the list under `key`, in order; none if there is no list.
    pub(super) fn items_under(self, key: &str) -> impl Iterator<Item = Value<'a>> {
        self.get(key).into_iter().flat_map(Value::items)
    }
}

/// The numbers in `holder`, at any depth, without those under the keys `besides`.
pub(super) fn numbers<'a>(holder: Value<'a>, besides: &[&str]) -> Vec<Value<'a>> {
    let mut numbers = Vec::new();
    let mut open = vec![holder];
    while let Some(value) = open.pop() {
        if value.kind() == ValueKind::Number {
            numbers.push(value);
        }
        let members = value.members().filter(|member| !besides.iter().any(|key| member.key.is(key)));
        open.extend(value.items().chain(members.map(|member| member.value)));
    }
    numbers
}

/// The texts as one, a line break between each two.
pub(super) fn joined<'a>(texts: impl IntoIterator<Item = Text<'a>>) -> Text<'a> {
    let texts: Vec<Cow<'a, str>> = texts.into_iter().map(Text::into_decoded).collect();
    Text::Owned(texts.join("\n"))
}

/// The text of a string or of a list of `{"text": …}` blocks. Any other value is read as its JSON.
pub(super) fn texts(value: Option<Value<'_>>) -> Vec<Text<'_>> {
    let Some(value) = value else { return Vec::new() };
    if let Some(text) = value.text() {
        return vec![text];
    }
    if value.is_array() {
        return value.items().filter_map(block_text).collect();
    }
    match value.raw() {
        "null" => Vec::new(),
        raw => vec![Text::Json(raw)],
    }
}

/// The text of a block in a list: its `text`, or its JSON unless it is media.
fn block_text(block: Value<'_>) -> Option<Text<'_>> {
    if let Some(text) = block.text().or_else(|| block.get_text("text")) {
        return Some(text);
    }
    (!is_media(block)).then(|| Text::Json(block.raw()))
}

/// The role with one of the four common names.
pub(super) fn role_of(role: &str) -> Option<Role> {
    match role {
        "system" => Some(Role::System),
        "user" => Some(Role::User),
        "assistant" => Some(Role::Assistant),
        "tool" => Some(Role::Tool),
        _ => None,
    }
}

/// The role with one of these names, in formats that write the results of tools into messages of the user.
pub(super) fn speaker_of(role: &str) -> Option<Role> {
    role_of(role).filter(|role| *role != Role::Tool)
}

/// The record whose list `items` are, if they are in one.
pub(super) fn record_of<'a>(items: &[Value<'a>]) -> Option<Value<'a>> {
    items.first()?.parent()?.parent()
}

/// The member with the key `camel` or `snake`; `null` is the same as missing.
pub(super) fn either<'a>(value: Value<'a>, camel: &str, snake: &str) -> Option<Value<'a>> {
    value.some(camel).or_else(|| value.some(snake))
}

/// The model under `model` of an item or of its `message`. A name in angle brackets belongs to a program and is ignored.
pub(super) fn model(item: Value<'_>) -> Option<Text<'_>> {
    let named = item.get_text("model").or_else(|| item.get("message")?.get_text("model"))?;
    (named.len_bound() > 0 && !named.decode().starts_with('<')).then_some(named)
}

/// The number of media blocks in a list.
pub(super) fn count_media(value: Option<Value<'_>>) -> usize {
    value.map_or(0, |value| value.items().filter(|&block| is_media(block)).count())
}

/// Whether a block is an image, audio or a file, by the types that the wire formats use.
pub(super) fn is_media(block: Value<'_>) -> bool {
    let is = |kind: &Text<'_>| kind.is("container_upload") || media::TYPES.iter().any(|name| kind.is(name));
    block.get_text("type").is_some_and(|kind| is(&kind))
}

/// The parts of a `content` that is a string or a list of blocks, each of which `read` reads.
pub(super) fn content<'a>(value: Option<Value<'a>>, read: impl Fn(Value<'a>) -> Content<'a>) -> Vec<Part<'a>> {
    let Some(value) = value else { return Vec::new() };
    if let Some(text) = value.text() {
        return vec![Part::from_source(Content::Text(text), PartPlace::element(value).with_text(Some(value)))];
    }
    value.items().map(|block| part(block, read(block))).collect()
}

/// The parts of a `content` that is a string or a list of the blocks that most formats share.
pub(super) fn plain_parts(content: Option<Value<'_>>) -> Vec<Part<'_>> {
    self::content(content, plain_block)
}

/// The parts of a `content` that is a string, or a list of blocks, each of which `read` reads as a part.
pub(super) fn text_or_parts<'a>(value: Option<Value<'a>>, read: impl Fn(Value<'a>) -> Part<'a>) -> Vec<Part<'a>> {
    match value {
        Some(list) if list.is_array() => list.items().map(read).collect(),
        value => plain_parts(value),
    }
}

/// The parts of a text that begins with blocks of this program: each of them, and what somebody said; `None` if it does not.
pub(super) fn pieces(value: Value<'_>) -> Option<Vec<Part<'_>>> {
    let Text::Escaped(raw) = value.text()? else { return None };
    let ends = blocks_in_text(raw);
    let inside = value.span().start + 1;
    let piece = |[start, end, next]: [usize; 3]| {
        let place = |at: usize| inside + u32::try_from(at).unwrap_or(u32::MAX);
        let rewrite = Rewrite { span: Span::new(place(start), place(end)), around: &["", ""] };
        let piece = Some(Span::new(place(start), place(next)));
        let place = PartPlace { rewrite: Some(rewrite), piece, ..PartPlace::element(value) };
        Part::from_source(Content::Text(Text::Escaped(&raw[start..end])), place)
    };
    let last = ends.last()?[1];
    let starts = std::iter::once(0).chain(ends.iter().map(|[_, next]| *next));
    let blocks = starts.zip(&ends).map(|(start, [end, next])| [start, *end, *next]);
    Some(blocks.chain([[last, raw.len(), raw.len()]]).map(piece).collect())
}

/// The patch that writes `texts`, the insides of JSON strings, in front of the text `value`.
pub(super) fn prepend_texts(value: Value<'_>, texts: &[&str]) -> Option<Patch> {
    value.text()?;
    let inside = value.span().start + 1;
    let text = texts.iter().flat_map(|text| [text, "\\n\\n"]).collect();
    Some(Patch { span: Span::new(inside, inside), text })
}

/// A block of a list as a part; its text, if any, can be rewritten. The result of a tool that the provider runs is a list or an
/// object of a fixed type, which no text can replace.
pub(super) fn part<'a>(block: Value<'a>, content: Content<'a>) -> Part<'a> {
    let text = match &content {
        Content::Text(_) if block.text().is_some() => Some(block),
        Content::Text(_) => block.get("text"),
        Content::ToolResult(result) if result.family != Family::Server => block.get("content"),
        _ => None,
    };
    Part::from_source(content, PartPlace::element(block).with_text(text))
}

/// A part that is cut with all of `element`, and whose text is not rewritten.
pub(super) const fn whole<'a>(element: Value<'a>, content: Content<'a>) -> Part<'a> {
    Part::from_source(content, PartPlace::element(element))
}

/// The same, with its text at `text`, where it can be rewritten.
pub(super) fn rewritable<'a>(element: Value<'a>, content: Content<'a>, text: Option<Value<'a>>) -> Part<'a> {
    Part::from_source(content, PartPlace::element(element).with_text(text))
}

/// What `read` makes of a text beside the content of a message, such as reasoning.
pub(super) fn text_beside<'a>(message: Value<'a>, key: &str, read: fn(Text<'a>) -> Content<'a>) -> Option<Part<'a>> {
    let value = message.get(key)?;
    value.text().map(|text| whole(value, read(text)))
}

/// A part in a list or object that is removed with its last element.
pub(super) fn in_shell<'a>(element: Value<'a>, content: Content<'a>) -> Part<'a> {
    Part::from_source(content, PartPlace::in_shell(element))
}

/// A result with its text at `text`, which can be rewritten: a list of blocks as one block.
pub(super) fn result_part<'a>(element: Value<'a>, result: Content<'a>, text: Option<Value<'a>>) -> Part<'a> {
    let place = PartPlace::element(element);
    let place = match text {
        Some(list) if list.is_array() => place.with_text_in(list, &["[{\"type\":\"text\",\"text\":", "}]"]),
        text => place.with_text(text),
    };
    Part::from_source(result, place)
}

/// `content`, if it is a text or a list of blocks: only those are rewritten where a format requires one of them.
pub(super) fn text_or_list(content: Option<Value<'_>>) -> Option<Value<'_>> {
    content.filter(|content| content.is_array() || content.text().is_some())
}

/// A text or media block, or a mark without text; any other block is unknown.
pub(super) fn plain_block(block: Value<'_>) -> Content<'_> {
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
pub(super) fn unknown(block: Value<'_>) -> Content<'_> {
    Content::Unknown(Text::Json(block.raw()))
}

/// What `item` contains under a key under which some format keeps the content of messages; `None` if that is empty. For a
/// message of which nothing was read, this is what another dialect would have read.
pub(super) fn content_of(item: Value<'_>) -> Option<Value<'_>> {
    const KEYS: &[&str] = &[
        "content", "parts", "text", "value", "message", "blocks", "data", "kwargs", "tool_calls", "arguments", "input",
        "output",
    ];
    let is_text = |value: Value<'_>| value.text().is_some_and(|text| !text.is_blank());
    KEYS.iter().filter_map(|key| item.get(key)).find_map(|value| match value {
        value if is_text(value) => Some(value),
        list if list.is_array() => list.items().any(|block| is_text(block) || block.is_object()).then_some(list),
        envelope => content_of(envelope),
    })
}

/// Whether `item`, or the message in it, names who speaks. Outside of logs, every item with a role or a type does.
pub(super) fn names_speaker(item: Value<'_>, is_log: bool) -> bool {
    let has_name = |value: Value<'_>, keys: &[&str]| keys.iter().any(|key| value.get_text(key).is_some());
    match item.get("message").filter(|message| message.is_object()) {
        Some(message) => has_name(message, &["role"]),
        None if is_log => has_name(item, &["role"]),
        None => has_name(item, &["role", "from", "type", "kind"]),
    }
}

/// Whether a block is known, and contains no text that a model reads as a text.
fn is_mark(block: Value<'_>) -> bool {
    const TYPES: &[&str] = &["fallback", "compaction", "encrypted_content", "tool_addition", "tool_removal"];
    block.get_text("type").is_some_and(|kind| TYPES.iter().any(|name| kind.is(name)))
}

/// The values under `keys` of a record, as text.
pub(super) fn preamble<'a>(record: Value<'a>, keys: &[&str]) -> Vec<Text<'a>> {
    keys.iter().flat_map(|key| texts(record.some(key))).collect()
}

/// Whether what a provider says of reasoning proves that Claude wrote it.
pub(super) fn is_signed_by_claude(metadata: Value<'_>) -> bool {
    let mut claude = ["anthropic", "bedrock"].iter().filter_map(|provider| metadata.get(provider));
    claude.any(|proof| proof.has("signature") || proof.has("redactedData"))
}

/// The arguments of a call: the text of a string, or the JSON of any other value.
pub(super) fn arguments(value: Option<Value<'_>>) -> Text<'_> {
    value.map_or(Text::Escaped(""), |value| value.text().unwrap_or(Text::Json(value.raw())))
}

/// Puts `parts` before a `content` that is a string or a list; `block` turns the JSON string into an element of the list.
pub(super) fn prepend_parts(content: Value<'_>, parts: &[String], block: impl Fn(&str) -> String) -> Option<Patch> {
    let parts = parts.join(",");
    let span = content.span();
    if content.is_array() {
        let comma = if content.items().next().is_some() { "," } else { "" };
        let inside = Span::new(span.start + 1, span.start + 1);
        return Some(Patch { span: inside, text: format!("{parts}{comma}") });
    }
    content.text()?;
    Some(Patch { span, text: format!("[{parts},{}]", block(content.raw())) })
}

// Messages, calls and results, each read from the element that contains it.

/// Reads `item` as a message of the role called `name`, with what `read` finds in it. An item without a name, or with another
/// one, is unknown.
pub(super) fn read_message<'a>(
    item: Value<'a>,
    name: Option<Text<'a>>,
    role_of: impl Fn(&str) -> Option<Role>,
    read: impl FnOnce(&mut Message<'a>),
) -> Item<'a> {
    let Some(name) = name.map(Text::into_decoded) else { return Item::Unknown(Unknown::NoRole) };
    let Some(role) = role_of(&name) else { return Item::Unknown(Unknown::Named(name.into_owned())) };
    let mut message = Message::from_source(role, item);
    read(&mut message);
    Item::Message(message)
}

/// An event of a type that the dialect does not define.
pub(super) fn unknown_kind<'a>(kind: Cow<'_, str>) -> Item<'a> {
    Item::Unknown(Unknown::kind(kind.into_owned()))
}

/// A message that `event` contains.
pub(super) fn message<'a>(role: Role, event: Value<'a>, id: Option<Text<'a>>, parts: Vec<Part<'a>>) -> Item<'a> {
    Item::Message(Message { id, parts, ..Message::from_source(role, event) })
}

/// The same, as a boundary: a model reads it in place of everything before it.
pub(super) fn boundary<'a>(role: Role, event: Value<'a>, id: Option<Text<'a>>, parts: Vec<Part<'a>>) -> Item<'a> {
    let mut item = message(role, event, id, parts);
    if let Some(message) = item.message_mut() {
        message.set_boundary();
    }
    item
}

/// What the program says to the model in a message of the user.
pub(super) fn notice<'a>(event: Value<'a>, id: Option<Text<'a>>, parts: Vec<Part<'a>>) -> Message<'a> {
    Message { id, parts, automatic: true, ..Message::from_source(Role::User, event) }
}

/// A call of a function.
pub(super) fn call<'a>(id: Option<Text<'a>>, name: Option<Text<'a>>, arguments: Option<Value<'a>>) -> Content<'a> {
    Content::ToolCall(ToolCall::new(id, name.unwrap_or(Text::Escaped("")), self::arguments(arguments)))
}

/// A call of a function whose id, name and arguments are members of `object`, under these keys.
pub(super) fn call_in<'a>(object: Value<'a>, [id, name, arguments]: [&str; 3]) -> Content<'a> {
    call(object.get_text(id), object.get_text(name), object.get(arguments))
}

/// The result of a function.
pub(super) fn result<'a>(id: Option<Text<'a>>, name: Option<Text<'a>>, content: Option<Value<'a>>) -> Content<'a> {
    result_of(id, name, texts(content), count_media(content))
}

/// The result of a function with these texts and so many media.
pub(super) fn result_of<'a>(
    id: Option<Text<'a>>,
    name: Option<Text<'a>>,
    content: Vec<Text<'a>>,
    media: usize,
) -> Content<'a> {
    Content::ToolResult(ToolResult { media, ..ToolResult::new(id, name, content) })
}

/// The same call or result, of a tool that the provider ran: its result has a fixed form.
pub(super) fn hosted(mut content: Content<'_>) -> Content<'_> {
    match &mut content {
        Content::ToolCall(call) => (call.family, call.hosted) = (Family::Server, true),
        Content::ToolResult(result) => (result.family, result.same_message) = (Family::Server, true),
        _ => {}
    }
    content
}

/// The first text of a message.
pub(super) fn first_text<'m, 'a>(message: &'m Message<'a>) -> Option<&'m Text<'a>> {
    message.parts.iter().find_map(|part| if let Content::Text(text) = &part.content { Some(text) } else { None })
}

/// For formats without ids: closes open calls at the next calls, because later results belong to those.
pub(super) fn close_rounds(items: &mut [Item<'_>]) {
    for message in items.iter_mut().filter_map(Item::message_mut) {
        message.call_rules.closes = message.call_rules.closes.max(Closes::AtCalls);
    }
}

/// Marks the messages at these ranges of indices, which a compaction kept. What was rolled back stays so.
pub(super) fn preserve(items: &mut [Item<'_>], kept: Vec<Range<usize>>) {
    for at in kept.into_iter().flatten() {
        if let Item::Message(message) = &mut items[at]
            && message.standing == Standing::Live
        {
            message.standing = Standing::Preserved;
        }
    }
}

/// For the list inside a compaction, which replaces what precedes it: no call before it can be answered in it.
pub(super) fn put_in_compaction(items: &mut [Item<'_>]) {
    if let Some(Item::Message(first)) = items.first_mut() {
        first.begin_context();
    }
    for message in items.iter_mut().filter_map(Item::message_mut) {
        if let Origin::Source(source) = &mut message.origin {
            source.in_compaction = true;
        }
    }
}

// What is written.

/// The parts of a draft, as a list of a format.
pub(super) fn parts(format: &dyn DialectWriter, draft: &Draft) -> Json {
    list(draft.parts.iter().map(|part| format.write_part(part)))
}

/// Puts `parts` before a `content` that is a string or a list of blocks with a type.
pub(super) fn prepend_blocks(content: Option<Value<'_>>, parts: &[String]) -> Option<Patch> {
    prepend_parts(content?, parts, |json| object! { "type": "text", "text": Json(json) }.0)
}

/// An id for a message with these parts: the same input gives the same id on every machine.
pub(super) fn draft_id(parts: &str) -> String {
    format!("curtail-{:016x}", crate::digest::fnv1a_64(parts.bytes()))
}

/// Who speaks in a draft, in formats that write the results of tools and the instructions of an application as messages of the
/// user.
pub(super) const fn speaker(draft: &Draft) -> &'static str {
    match draft.role {
        Role::Assistant => "assistant",
        _ => "user",
    }
}

/// The role of a draft, in formats without a role of the developer.
pub(super) const fn role_name(draft: &Draft) -> &'static str {
    match draft.role {
        Role::Developer => "system",
        role => role.name(),
    }
}

/// `{"role": …, "content": "…"}`
pub(super) fn role_and_content(role: &str, text: &str) -> String {
    object! { "role": role, "content": text }.0
}

/// `{"type": "text", "text": "…"}`
pub(super) fn text_block(text: &str) -> String {
    object! { "type": "text", "text": text }.0
}
