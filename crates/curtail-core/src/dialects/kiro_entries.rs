//! The entries of a stored conversation of Kiro, each a message of the user and the answer.

use super::{Item, Patch, blocks};
use crate::json::{Document, Json, Text, Value, list, object, quote};
use crate::transcript::{Content, Draft, DraftPart, Message, MessageKind, Part, PartPlace, Role};

/// Whether an item is an entry of a stored conversation.
pub(super) fn is_entry(item: Value<'_>) -> bool {
    let [user, answer] = halves(item);
    user.is_some_and(|user| user.get("content").is_some()) && answer.is_some_and(is_answer)
}

/// The message of the user and the answer: members of an entry, or its elements, as Amazon Q wrote them before version 1.14.
fn halves(entry: Value<'_>) -> [Option<Value<'_>>; 2] {
    let mut elements = entry.items();
    if entry.is_array() { [elements.next(), elements.next()] } else { entry.get_each(["user", "assistant"]) }
}

fn is_answer(answer: Value<'_>) -> bool {
    answer.get("Response").is_some() || answer.get("ToolUse").is_some()
}

/// Whether an item is the message of the user or the answer in an entry that is a list of both.
pub(super) fn is_element(item: Value<'_>) -> bool {
    item.parent().is_some_and(|entry| entry.is_array() && is_entry(entry))
}

/// An entry is a question and its answer, and is cut whole. The results of its calls are in the entry after it.
pub(super) fn read_entry(item: Value<'_>) -> Item<'_> {
    let mut message = Message { kind: MessageKind::Exchange, ..Message::from_source(Role::Assistant, item) };
    let [user, assistant] = halves(item);
    let asked = user.and_then(|user| user.some("content"));
    let prompt = asked.and_then(prompt_in);
    if let Some((prompt, text)) = prompt.and_then(written) {
        message.parts.push(blocks::rewritable(item, Content::Text(text), Some(prompt)).said_by(Role::User));
    }
    let images = user.into_iter().flat_map(|user| user.items_under("images"));
    message
        .parts
        .extend(images.map(|image| blocks::whole(item, Content::Media(Text::Json(image.raw()))).said_by(Role::User)));
    let results = asked.and_then(results_in);
    if prompt.is_none() && results.is_none() {
        message.parts.extend(asked.map(|asked| blocks::whole(item, blocks::unknown(asked)).said_by(Role::User)));
    }
    let results = results.into_iter().flat_map(Value::items);
    message.parts.extend(results.map(|result| answer(item, result)));
    let reply = assistant.and_then(|reply| reply.some("Response").or_else(|| reply.some("ToolUse")));
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

/// What the person says: alone, or beside the results of calls that were refused.
fn prompt_in(asked: Value<'_>) -> Option<Value<'_>> {
    ["Prompt", "CancelledToolUses"].into_iter().find_map(|key| asked.some(key)?.some("prompt"))
}

/// The results in what the user's message of an entry contains.
fn results_in(asked: Value<'_>) -> Option<Value<'_>> {
    let held = ["ToolUseResults", "CancelledToolUses"].into_iter().find_map(|key| asked.some(key));
    held.and_then(|held| held.get("tool_use_results")).filter(|list| list.is_array())
}

fn answer<'a>(item: Value<'a>, result: Value<'a>) -> Part<'a> {
    let blocks = result.items_under("content");
    let texts = blocks.map(|block| block.get_text("Text").unwrap_or(Text::Json(block.raw())));
    let mut place = PartPlace::element(item);
    place.further_mut().outcome = Some(result);
    Part::from_source(blocks::result_of(result.get_text("tool_use_id"), None, texts.collect(), 0), place)
}

/// An entry like `anchor` that says what `draft` does in one of its halves.
pub(super) fn write_entry(draft: &Draft, anchor: Value<'_>) -> String {
    let text = draft.joined_text();
    let results: Vec<String> = draft.parts.iter().filter_map(written_result).collect();
    let (asked, answer) = match draft.role {
        Role::Assistant => (object! { "Prompt": object! { "prompt": "" } }, text.as_str()),
        _ if !results.is_empty() => (object! { "ToolUseResults": object! { "tool_use_results": list(results) } }, ""),
        _ => (object! { "Prompt": object! { "prompt": text } }, ""),
    };
    let response = object! { "message_id": Json("null"), "content": answer };
    let [user, assistant] = [object! { "content": asked }, object! { "Response": response }];
    if anchor.is_array() { list([user.0, assistant.0]).0 } else { object! { "user": user, "assistant": assistant }.0 }
}

/// The result that a part of a draft is, as an entry has it.
fn written_result(part: &DraftPart) -> Option<String> {
    match part {
        DraftPart::Text(_) => None,
        DraftPart::ToolResult(result) => Some(stored(&quote(result.call_id()), &quote(&result.text))),
        DraftPart::Verbatim(block) => stored_block(block),
    }
}

/// Puts results, which are blocks of lines, before those of an entry.
pub(super) fn prepend_results(entry: Value<'_>, written: &[String]) -> Option<Patch> {
    let results: Vec<String> = written.iter().filter_map(|block| stored_block(block)).collect();
    blocks::prepend_parts(results_in(halves(entry)[0]?.get("content")?)?, &results, str::to_owned)
}

/// The result of a block as an entry has it. `None` if the block is none.
fn stored_block(block: &str) -> Option<String> {
    let block = Document::parse(block).ok()?;
    let result = block.roots().next()?.some("data")?;
    let text = result.get("content")?.items().next()?.get("data")?;
    Some(stored(result.get("toolUseId")?.raw(), text.raw()))
}

/// A result of an entry, by the JSON of its id and of its text.
fn stored(id: &str, text: &str) -> String {
    let content = list([object! { "Text": Json(text) }.0]);
    object! { "tool_use_id": Json(id), "content": content, "status": "Error" }.0
}

/// A value with its text, if it has one that is not empty.
fn written(value: Value<'_>) -> Option<(Value<'_>, Text<'_>)> {
    value.text().filter(|text| text.len_bound() > 0).map(|text| (value, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialects::reports_failure;

    #[test]
    fn each_result_of_an_entry_says_whether_it_failed() {
        let [lit, dark] = ["Success", "Error"]
            .map(|status| format!(r#"{{"tool_use_id":"{status}","content":[{{"Text":"x"}}],"status":"{status}"}}"#));
        let entry = format!(
            r#"{{"user":{{"content":{{"ToolUseResults":{{"tool_use_results":[{lit},{dark}]}}}}}},"assistant":{{"Response":{{"content":"y"}}}}}}"#
        );
        let document = Document::parse(&entry).unwrap();
        let message = read_entry(document.roots().next().unwrap()).into_message().unwrap();
        let failed: Vec<bool> = message.results().map(|(at, _)| reports_failure(&message.parts[at])).collect();
        assert_eq!(failed, [false, true]);
    }

    #[test]
    fn each_side_of_an_entry_says_its_own_words() {
        let entry = r#"{"user":{"content":{"CancelledToolUses":{"prompt":"No.","tool_use_results":[]}}},"assistant":{"Response":{"content":"Then not."}}}"#;
        let document = Document::parse(entry).unwrap();
        let message = read_entry(document.roots().next().unwrap()).into_message().unwrap();
        let said: Vec<_> = message.parts.iter().map(|part| (message.speaker(part), part.content.text())).collect();
        let texts = ["No.", "Then not."].map(Text::Escaped);
        assert_eq!(said, [(Role::User, Some(&texts[0])), (Role::Assistant, Some(&texts[1]))]);
        assert!(message.begins_turn());
    }
}
