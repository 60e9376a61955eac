//! Messages of pydantic-ai: requests and responses with `parts`. A request contains instructions, what the user said, and the
//! results for the calls of the response before it.

use super::{BY_ID, Dialect, DialectWriter, Fit, Format, Item, LogHabits, NO_RULES, Patch, blocks, provenance};
use crate::json::{Text, Value, list, object};
use crate::transcript::{
    Content, Draft, DraftPart, DraftResult, Message, PairingRules, Part, PartOrigin, ProviderRules, ResultPlace, Role,
    Usage,
};

/// The dialect `pydantic-ai`.
pub(super) struct PydanticAi;

impl Dialect for PydanticAi {
    fn format(&self) -> &'static Format {
        &Format {
            name: "pydantic-ai",
            known: &["instructions"],
            signature: "`kind` `request` or `response`, and `parts`, each with `part_kind`",
            pairing: PairingRules { results: ResultPlace::NextMessage, ..BY_ID },
            provider: ProviderRules { system_anywhere: true, ..NO_RULES },
            reread: Some(forget_results),
            writer: Some(&PydanticAi),
            log: &PydanticAi,
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let known = role_of(&item.word("kind")).is_some();
        let Some(parts) = item.get("parts").filter(|parts| known && parts.is_array()) else { return Fit::No };
        let are_parts = parts.items().all(|part| part.has("part_kind"));
        if are_parts && !item.has("role") { Fit::Certain } else { Fit::No }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        let kind = item.word("kind");
        let Some(role) = role_of(&kind) else { return blocks::unknown_kind(kind) };
        let mut message = Message::from_source(role, item);
        message.parts = item.items_under("parts").flat_map(read_part).collect();
        if role == Role::User {
            message.automatic = is_automatic(&message);
            message.instructs_alone();
        }
        // A summary in a request replaces nothing: the application has taken out what it is of.
        if role == Role::Assistant && item.items_under("parts").any(is_compaction) {
            message.set_boundary();
        }
        Item::Message(message)
    }

    /// The instructions of a run are written into each of its requests.
    fn instructions<'a>(&self, items: &[Value<'a>]) -> Vec<Text<'a>> {
        let last = items.iter().rev().find_map(|item| item.get_text("instructions"));
        last.into_iter().collect()
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        item.get_text("model_name")
    }

    fn time(&self, item: Value<'_>) -> Option<String> {
        provenance::time(item).or_else(|| item.get("parts")?.items().find_map(provenance::time))
    }
}

impl DialectWriter for PydanticAi {
    fn write_message(&self, draft: &Draft, _anchor: Option<Value<'_>>) -> String {
        let (kind, part_kind) = match draft.role {
            Role::Assistant => ("response", "text"),
            Role::System | Role::Developer => ("request", "system-prompt"),
            Role::User | Role::Tool => ("request", "user-prompt"),
        };
        let parts = draft.parts.iter().map(|part| match part {
            DraftPart::Text(text) => text_part(text, part_kind),
            part => self.write_part(part),
        });
        object! { "parts": list(parts), "kind": kind }.0
    }

    fn write_text(&self, text: &str) -> String {
        text_part(text, "user-prompt")
    }

    fn write_result(&self, result: &DraftResult) -> String {
        let name = &result.name;
        let text = &result.text;
        let id = result.call_id();
        object! { "tool_name": name, "content": text, "tool_call_id": id, "part_kind": "tool-return" }.0
    }

    fn prepend_parts(&self, message: Value<'_>, parts: &[String]) -> Option<Patch> {
        blocks::prepend_parts(message.get("parts")?, parts, str::to_owned)
    }
}

impl LogHabits for PydanticAi {
    fn reply_id<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        item.get_text("provider_response_id")
    }

    fn usage(&self, item: Value<'_>) -> Option<Usage> {
        let counts = item.some("usage")?;
        let usage = Usage {
            // Versions before 1 wrote the second names.
            input: counts.number("input_tokens").max(counts.number("request_tokens")),
            cache_read: counts.number("cache_read_tokens"),
            cache_write: counts.number("cache_write_tokens"),
            cache_write_long: counts.number("cache_write_1h_tokens"),
            output: counts.number("output_tokens").max(counts.number("response_tokens")),
        };
        (usage.input > 0).then_some(usage)
    }
}

fn text_part(text: &str, kind: &str) -> String {
    object! { "content": text, "part_kind": kind }.0
}

fn role_of(kind: &str) -> Option<Role> {
    match kind {
        "request" => Some(Role::User),
        "response" => Some(Role::Assistant),
        _ => None,
    }
}

/// Whether nobody typed what a request says: a tool returned it beside its result, or the program asks the model to try again.
fn is_automatic(message: &Message<'_>) -> bool {
    let returns = message.results().next().is_some();
    let mut texts = message.parts.iter().filter(|part| part.content.has_text() && !part.instructs()).peekable();
    let has_text = texts.peek().is_some();
    has_text && (returns || !texts.any(is_typed))
}

/// Whether a part is a prompt, typed or spoken, as those are that a cut adds. A value in the list of a prompt has no kind of part.
fn is_typed(part: &Part<'_>) -> bool {
    part.place().is_none_or(|place| matches!(&*place.element.word("part_kind"), "user-prompt" | "speech" | ""))
}

/// Without the results beside it, what a request says is read as what somebody typed.
fn forget_results(messages: &mut [Message<'_>]) {
    for message in messages.iter_mut().filter(|message| message.automatic && !message.cut.is_empty()) {
        message.automatic = is_automatic(message);
    }
}

fn read_part(part: Value<'_>) -> Vec<Part<'_>> {
    let content = part.get("content");
    let read = match &*part.word("part_kind") {
        "user-prompt" => return prompt_parts(part, content),
        "retry-feedback" => return feedback(part, content),
        // Without the name of a tool, it answers no call, although it has an id.
        "retry-prompt" if part.some("tool_name").is_none() => return feedback(part, content),
        "tool-return" | "retry-prompt" => blocks::rewritable(part, result(part, content), content),
        "tool-call" => blocks::whole(part, call(part)),
        "builtin-tool-call" => blocks::whole(part, blocks::hosted(call(part))),
        "builtin-tool-return" => blocks::whole(part, blocks::hosted(result(part, content))),
        "text" => blocks::rewritable(part, Content::Text(part.text_or_empty("content")), content),
        "speech" => speech(part),
        kind if kind == "system-prompt" || kind.starts_with("instruction") => instruction(part, content),
        "thinking" => {
            let thought = blocks::whole(part, Content::Reasoning(part.text_or_empty("content")));
            thought.bound_to_prefix(is_signed_by_claude(part))
        }
        "file" => blocks::whole(part, Content::Media(Text::Json(part.raw()))),
        "compaction" => blocks::whole(part, part.get_text("content").map_or(Content::Other, Content::Text)),
        "tool-availability-delta" | "capability-load-delta" | "model-settings-delta" => {
            blocks::whole(part, Content::Other)
        }
        _ => blocks::whole(part, blocks::unknown(part)),
    };
    vec![read]
}

/// Whether a part is a summary of a provider, which sends nothing before it to the model. It may be sealed in `provider_details`.
fn is_compaction(part: Value<'_>) -> bool {
    part.member_is("part_kind", "compaction")
        && (part.some_text("content").is_some() || part.some("provider_details").is_some())
}

/// Text and media of a user: a string, or a list of strings and of objects with a `kind`. Its part is removed with the last value
/// of the list; without a text, with any of them.
fn prompt_parts<'a>(part: Value<'a>, content: Option<Value<'a>>) -> Vec<Part<'a>> {
    let Some(content) = content else { return Vec::new() };
    if !content.is_array() {
        return vec![prompt_part(part, content)];
    }
    if content.items().any(|value| prompt_text(value).is_some()) {
        return content.items().map(|value| prompt_part(value, value).in_list_of(part)).collect();
    }
    content.items().map(|value| prompt_part(part, value)).collect()
}

/// One value of a prompt, which is cut with `element`.
fn prompt_part<'a>(element: Value<'a>, value: Value<'a>) -> Part<'a> {
    let text = prompt_text(value);
    let content = match text.and_then(Value::text) {
        Some(text) => Content::Text(text),
        None if value.member_is("kind", "cache-point") => Content::Other,
        None => Content::Media(Text::Json(value.raw())),
    };
    blocks::rewritable(element, content, text)
}

/// The text of a value of a prompt: a string, alone or with metadata.
fn prompt_text(value: Value<'_>) -> Option<Value<'_>> {
    if value.text().is_some() { Some(value) } else { value.get("content").filter(|content| content.text().is_some()) }
}

/// What was said aloud: its transcript, or else the sound.
fn speech(part: Value<'_>) -> Part<'_> {
    let transcript = part.some("transcript");
    match transcript.and_then(Value::text) {
        Some(text) => blocks::rewritable(part, Content::Text(text), transcript),
        None if part.some("audio").is_some() => blocks::whole(part, Content::Media(Text::Json(part.raw()))),
        None => blocks::whole(part, Content::Other),
    }
}

/// What the program tells the model after a reply that it could not take.
fn feedback<'a>(part: Value<'a>, content: Option<Value<'a>>) -> Vec<Part<'a>> {
    let texts = blocks::texts(content).into_iter();
    texts.map(|text| blocks::whole(part, Content::Text(text))).collect()
}

fn instruction<'a>(part: Value<'a>, content: Option<Value<'a>>) -> Part<'a> {
    let text = content.and_then(Value::text).unwrap_or(Text::Escaped(""));
    let mut part = blocks::rewritable(part, Content::Text(text), content);
    if let PartOrigin::Source(place) = &mut part.origin {
        place.instructs = true;
    }
    part
}

fn call(part: Value<'_>) -> Content<'_> {
    blocks::call(part.get_text("tool_call_id"), part.get_text("tool_name"), part.some("args"))
}

fn result<'a>(part: Value<'a>, content: Option<Value<'a>>) -> Content<'a> {
    blocks::result(part.get_text("tool_call_id"), part.get_text("tool_name"), content)
}

fn is_signed_by_claude(part: Value<'_>) -> bool {
    matches!(&*part.word("provider_name"), "anthropic" | "bedrock") && part.some_text("signature").is_some()
}
