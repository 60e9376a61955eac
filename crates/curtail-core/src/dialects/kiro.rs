//! Kiro CLI, and Amazon Q before it: lines with `kind` and `data`, or a stored conversation with a `history` of entries, each a
//! message of the user and the answer.

use super::{BY_ID, Dialect, DialectWriter, Fit, Format, Item, NO_RULES, Patch, blocks};
use crate::json::{Document, Json, Text, Value, list, object, raw};
use crate::transcript::{
    Content, Draft, DraftPart, DraftResult, Message, MessageKind, PairingRules, Part, PartPlace, ProviderRules,
    ResultPlace, Role, Unknown,
};

/// The dialect `kiro`.
pub(super) struct Kiro;

impl Dialect for Kiro {
    fn format(&self) -> &'static Format {
        &Format {
            name: "kiro",
            signature: "`kind` `Prompt`, `AssistantMessage`, `ToolResults` and `data`; \
                or `user` and `assistant` with `Response` or `ToolUse`",
            pairing: PairingRules { results: ResultPlace::NextMessage, ..BY_ID },
            provider: ProviderRules { system_beside: true, ..NO_RULES },
            is_log: true,
            writer: Some(&Kiro),
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        if is_entry(item) {
            return Fit::Certain;
        }
        let known = item.get_text("kind").is_some_and(|kind| role_of(&kind.decode()).is_some());
        if known && item.some("data").is_some_and(|data| data.get("content").is_some()) {
            Fit::Certain
        } else {
            Fit::No
        }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        if is_entry(item) {
            return read_entry(item);
        }
        let kind = item.word("kind");
        let Some(role) = role_of(&kind) else { return blocks::unknown_kind(kind) };
        let Some(content) = item.some("data").and_then(|data| data.get("content")) else {
            return Item::Unknown(Unknown::NoMessage);
        };
        let id = item.some("data").and_then(|data| data.get_text("message_id"));
        blocks::message(role, item, id, blocks::text_or_parts(Some(content), read_block))
    }
}

impl DialectWriter for Kiro {
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        if anchor.is_some_and(is_entry) {
            return write_entry(draft);
        }
        let results = draft.parts.iter().any(|part| matches!(part, DraftPart::ToolResult(_) | DraftPart::Verbatim(_)));
        let kind = match draft.role {
            Role::Assistant => "AssistantMessage",
            _ if results => "ToolResults",
            _ => "Prompt",
        };
        object! { "kind": kind, "data": object! { "content": blocks::parts(self, draft) } }.0
    }

    fn write_text(&self, text: &str) -> String {
        object! { "kind": "text", "data": text }.0
    }

    fn write_result(&self, result: &DraftResult) -> String {
        let content = list([self.write_text(&result.text)]);
        let data = object! { "toolUseId": result.call_id(), "content": content, "status": "error" };
        object! { "kind": "toolResult", "data": data }.0
    }

    fn prepend_parts(&self, message: Value<'_>, parts: &[String]) -> Option<Patch> {
        if is_entry(message) {
            let results: Vec<String> = parts.iter().filter_map(|part| stored(part)).collect();
            return blocks::prepend_parts(results_in(message.get("user")?.get("content")?)?, &results, str::to_owned);
        }
        let list = message.some("data")?.get("content").filter(|content| content.is_array())?;
        blocks::prepend_parts(list, parts, str::to_owned)
    }
}

/// An entry that says what `draft` does in one of its halves.
fn write_entry(draft: &Draft) -> String {
    let text = draft.joined_text();
    let results: Vec<String> = draft.parts.iter().filter_map(|part| stored(&Kiro.write_part(part))).collect();
    let (asked, answer) = match draft.role {
        Role::Assistant => (object! { "Prompt": object! { "prompt": "" } }, text.as_str()),
        _ if !results.is_empty() => (object! { "ToolUseResults": object! { "tool_use_results": list(results) } }, ""),
        _ => (object! { "Prompt": object! { "prompt": text } }, ""),
    };
    let response = object! { "message_id": Json("null"), "content": answer };
    object! { "user": object! { "content": asked }, "assistant": object! { "Response": response } }.0
}

/// The result of a block as an entry has it. `None` if the block is none.
fn stored(block: &str) -> Option<String> {
    let block = Document::parse(block).ok()?;
    let result = block.roots().next()?.some("data").filter(|data| data.get("toolUseId").is_some())?;
    let text = result.get("content")?.items().next()?.get("data")?;
    let content = list([object! { "Text": raw(text) }.0]);
    Some(object! { "tool_use_id": raw(result.get("toolUseId")?), "content": content, "status": "Error" }.0)
}

fn role_of(kind: &str) -> Option<Role> {
    match kind {
        "Prompt" | "ToolResults" => Some(Role::User),
        "AssistantMessage" => Some(Role::Assistant),
        _ => None,
    }
}

fn read_block(block: Value<'_>) -> Part<'_> {
    let data = block.get("data");
    let place = PartPlace::element(block);
    match (&*block.word("kind"), data) {
        ("text", Some(text)) if text.text().is_some() => {
            Part::from_source(Content::Text(text.text().unwrap_or(Text::Escaped(""))), place.with_text(data))
        }
        ("toolUse", Some(call)) => {
            let call = blocks::call_in(call, ["toolUseId", "name", "input"]);
            Part::from_source(call, place)
        }
        ("toolResult", Some(result)) => {
            let content =
                blocks::result_of(result.get_text("toolUseId"), None, content_texts(result.get("content")), 0);
            let place = match result.get("content") {
                Some(list) if list.is_array() => place.with_text_in(list, &["[{\"kind\":\"text\",\"data\":", "}]"]),
                content => place.with_text(content),
            };
            Part::from_source(content, place)
        }
        ("image" | "document", _) => Part::from_source(Content::Media(Text::Json(block.raw())), place),
        _ => Part::from_source(blocks::unknown(block), place),
    }
}

/// The texts of a result: blocks with `data`, or any JSON.
fn content_texts(content: Option<Value<'_>>) -> Vec<Text<'_>> {
    match content {
        Some(list) if list.is_array() => list
            .items()
            .map(|block| block.get_text("data").or_else(|| block.text()).unwrap_or(Text::Json(block.raw())))
            .collect(),
        content => blocks::texts(content),
    }
}

/// Whether an item is an entry of a stored conversation.
fn is_entry(item: Value<'_>) -> bool {
    let answers = |answer: Value<'_>| answer.get("Response").is_some() || answer.get("ToolUse").is_some();
    item.some("user").is_some_and(|user| user.get("content").is_some()) && item.some("assistant").is_some_and(answers)
}

/// An entry is a question and its answer, and is cut whole. The results of its calls are in the entry after it.
fn read_entry<'a>(item: Value<'a>) -> Item<'a> {
    let mut message = Message { kind: MessageKind::Exchange, ..Message::from_source(Role::Assistant, item) };
    let asked = item.some("user").and_then(|user| user.some("content"));
    let prompt = asked.and_then(|asked| asked.some("Prompt")).and_then(|prompt| prompt.get("prompt"));
    let written = |value: Value<'a>| value.text().filter(|text| text.len_bound() > 0).map(|text| (value, text));
    if let Some((prompt, text)) = prompt.and_then(written) {
        message.parts.push(blocks::rewritable(item, Content::Text(text), Some(prompt)));
    }
    let results = asked.and_then(results_in);
    if prompt.is_none() && results.is_none() {
        message.parts.extend(asked.map(|asked| blocks::whole(item, blocks::unknown(asked))));
    }
    let results = results.into_iter().flat_map(Value::items);
    message.parts.extend(results.map(|result| answer(item, result)));
    let reply = item.some("assistant").and_then(|reply| reply.some("Response").or_else(|| reply.some("ToolUse")));
    let spoken = reply.and_then(|reply| reply.get("content"));
    let answered = message.parts.len();
    if let Some((spoken, text)) = spoken.and_then(written) {
        message.parts.push(blocks::rewritable(item, Content::Text(text), Some(spoken)));
    }
    let calls = reply.and_then(|reply| reply.get("tool_uses")).into_iter().flat_map(Value::items);
    message.parts.extend(calls.map(|call| {
        let content = blocks::call_in(call, ["id", "name", "args"]);
        blocks::whole(item, content)
    }));
    // A question without an answer, or an answer without a question.
    if answered == message.parts.len() {
        (message.role, message.kind) = (Role::User, MessageKind::Ordinary);
    } else if answered == 0 {
        message.kind = MessageKind::Ordinary;
    }
    Item::Message(message)
}

/// The results in what the user's half of an entry contains.
fn results_in(asked: Value<'_>) -> Option<Value<'_>> {
    let held = ["ToolUseResults", "CancelledToolUses"].into_iter().find_map(|key| asked.some(key));
    held.and_then(|held| held.get("tool_use_results")).filter(|list| list.is_array())
}

fn answer<'a>(item: Value<'a>, result: Value<'a>) -> Part<'a> {
    let blocks = result.items_under("content");
    let texts = blocks.map(|block| block.get_text("Text").unwrap_or(Text::Json(block.raw())));
    blocks::whole(item, blocks::result_of(result.get_text("tool_use_id"), None, texts.collect(), 0))
}
