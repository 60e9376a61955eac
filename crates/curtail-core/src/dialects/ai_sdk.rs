//! The AI SDK: `ModelMessage`s, whose calls and results are separate parts, and `UIMessage`s, whose tool parts contain a
//! call and later also its result.

use foldhash::{HashMap, HashSet};

use super::accounting::texts_of;
use super::{Dialect, DialectWriter, Fit, Format, Item, NO_RULES, Patch, Remaining, blocks, deferred, roo, tree};
use crate::json::{Span, Text, Value, object};
use crate::transcript::{
    Content, Draft, DraftPart, DraftResult, Family, Layout, Leader, Links, Part, PartOrigin, PartPlace, ProviderRules,
    Rewrite, ToolCall, ToolResult,
};

/// The dialect `ai-sdk`.
pub(super) struct AiSdk;

impl Dialect for AiSdk {
    fn format(&self) -> &'static Format {
        &Format {
            name: "ai-sdk",
            signature: "`role` and `content` parts `tool-call`, `tool-result`; or `role` and `parts`, \
                each with `type`: `text`, `tool-…`, `dynamic-tool`",
            provider: ProviderRules { provider: "ai-sdk", ..NO_RULES },
            writer: Some(&AiSdk),
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        if roo::is_thought(item, None) {
            return Fit::Certain;
        }
        if !item.has("role") {
            return Fit::No;
        }
        if let Some(parts) = item.some("parts") {
            return fit_of_ui(parts);
        }
        match item.get("content") {
            Some(content) if content.items().any(is_own_part) => Fit::Certain,
            _ => Fit::No,
        }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        if roo::is_thought(item, None) {
            return roo::read_thought(item);
        }
        blocks::read_message(item, item.get_text("role"), blocks::role_of, |message| {
            message.id = item.get_text("id");
            message.parts = match item.some("parts") {
                Some(parts) => read_ui_parts(item, parts),
                None => read_content(item.get("content")),
            };
        })
    }

    fn connect<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        roo::bind_thoughts(items, read);
        defer_approvals(items, read);
    }

    fn preamble<'a>(&self, record: Value<'a>) -> Vec<Text<'a>> {
        blocks::preamble(record, &["system", "instructions", "tools"])
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        // What else a program stores with a message of its user interface is under `metadata`. The `response` that the
        // messages of a generated text are in names the model as `modelId`.
        let named = blocks::model(item).or_else(|| blocks::model(item.some("metadata")?));
        named.or_else(|| item.some_text("modelId"))
    }
}

impl DialectWriter for AiSdk {
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let parts = blocks::parts(self, draft);
        let role = blocks::role_name(draft);
        if anchor.is_some_and(|anchor| anchor.has("parts")) {
            // `validateUIMessages` refuses a message without an id.
            let id = draft.links.as_ref().map(|links| links.id.to_string());
            return object! { "id": id, "role": role, "parts": parts }.0;
        }
        match draft.parts.as_slice() {
            [DraftPart::Text(text)] => blocks::role_and_content(role, text),
            _ => object! { "role": role, "content": parts }.0,
        }
    }

    fn write_result(&self, result: &DraftResult) -> String {
        let DraftResult { name, text, family, .. } = result;
        let id = result.call_id();
        if *family == Family::Approval {
            return object! { "type": "tool-approval-response", "approvalId": id, "approved": false, "reason": text }.0;
        }
        let output = object! { "type": "error-text", "value": text };
        object! { "type": "tool-result", "toolCallId": id, "toolName": name, "output": output }.0
    }

    fn prepend_parts(&self, message: Value<'_>, parts: &[String]) -> Option<Patch> {
        blocks::prepend_blocks(message.some("content").or_else(|| message.get("parts")), parts)
    }

    fn links(&self, draft: &Draft, anchor: Option<Value<'_>>) -> Option<Links> {
        let message = anchor.filter(|anchor| anchor.has("id") && anchor.has("parts"))?;
        Some(tree::first_links("id", draft, Some(message)))
    }

    fn name_drafts(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) {
        tree::name_records(|item| item.get_text("id"), layout, remaining);
    }
}

// `ModelMessage`: the messages that the AI SDK passes to a provider.

/// Whether no other dialect has this part.
fn is_own_part(part: Value<'_>) -> bool {
    match &*part.word("type") {
        "tool-call" | "tool-result" => part.has("toolCallId"),
        "tool-approval-request" | "tool-approval-response" => part.has("approvalId"),
        // Roo Code writes thoughts into the format of Anthropic.
        "reasoning" => part.has("text") && !part.has("summary"),
        "image" => part.has("image"),
        "file" => part.has("mediaType") && part.has("data"),
        _ => false,
    }
}

/// Reads the content of a message: a string, or parts.
fn read_content(content: Option<Value<'_>>) -> Vec<Part<'_>> {
    match content {
        Some(list) if list.is_array() => list.items().map(|part| read_part(list, part)).collect(),
        value => blocks::plain_parts(value),
    }
}

fn read_part<'a>(list: Value<'a>, part: Value<'a>) -> Part<'a> {
    let content = match &*part.word("type") {
        "tool-call" => read_call(part, part.text_or_empty("toolName"), part.get("args")),
        "tool-result" => return read_result(part),
        "tool-approval-request" => return read_request(list, part),
        "tool-approval-response" => return read_response(part),
        "reasoning" => Content::Reasoning(part.text_or_empty("text")),
        "reasoning-file" => Content::Reasoning(Text::Escaped("")),
        _ => return blocks::part(part, blocks::plain_block(part)),
    };
    let bound = matches!(content, Content::Reasoning(_)) && is_signed_by_claude(part);
    blocks::whole(part, content).bound_to_prefix(bound)
}

/// Whether the provider options contain the signature of Claude's reasoning.
fn is_signed_by_claude(part: Value<'_>) -> bool {
    let mut options = ["providerOptions", "providerMetadata"].iter().filter_map(|key| part.get(key));
    // Version 4 of the SDK writes the signature beside the text.
    part.has("signature") || options.any(blocks::is_signed_by_claude)
}

/// Reads a call; version 4 of the SDK calls its input `args`.
fn read_call<'a>(part: Value<'a>, name: Text<'a>, args: Option<Value<'a>>) -> Content<'a> {
    let call = ToolCall::new(part.get_text("toolCallId"), name, blocks::arguments(part.some("input").or(args)));
    // A person has to approve the call before it runs.
    let waits = part.member_is("state", "approval-requested");
    Content::ToolCall(ToolCall { hosted: part.is_true("providerExecuted"), deferred: waits, waits, ..call })
}

/// A call that a person has to approve is run when the person has: one in the last message of a user interface, with the next
/// request.
fn defer_approvals(items: &[Value<'_>], read: &mut [Item<'_>]) {
    let parts = items.iter().flat_map(|item| item.items_under("content"));
    let asked = parts.filter(|part| part.member_is("type", "tool-approval-request"));
    let last = items.last().into_iter().flat_map(|item| item.items_under("parts"));
    let approved = last.filter(|part| part.member_is("state", "approval-responded"));
    let asked: HashSet<String> = asked.chain(approved).map(|part| part.word("toolCallId").into_owned()).collect();
    if !asked.is_empty() {
        deferred::wait(read, |id| asked.contains(id));
    }
}

/// An approval request has the id of its call, so both are dropped together.
fn read_request<'a>(list: Value<'a>, part: Value<'a>) -> Part<'a> {
    let about = part.get_text("toolCallId").map(Text::into_decoded);
    let call = list.items().find(|other| {
        other.has("toolName") && about.as_ref().is_some_and(|about| other.member_is("toolCallId", about))
    });
    let name = call.map_or(Text::Escaped(""), |call| call.text_or_empty("toolName"));
    let request = ToolCall::new(part.get_text("approvalId"), name, Text::Escaped(""));
    let request = ToolCall { family: Family::Approval, deferred: true, waits: true, ..request };
    let mut read = blocks::part(part, Content::ToolCall(request));
    if let PartOrigin::Source(place) = &mut read.origin {
        // Without its request, the call waits for nothing.
        place.set_leader(part.get("toolCallId").map(Leader::Program));
    }
    read
}

fn read_response(part: Value<'_>) -> Part<'_> {
    let reason = part.get("reason");
    let texts = reason.and_then(Value::text).into_iter().collect();
    let answer = ToolResult { family: Family::Approval, ..ToolResult::new(part.get_text("approvalId"), None, texts) };
    blocks::rewritable(part, Content::ToolResult(answer), reason)
}

fn read_result(part: Value<'_>) -> Part<'_> {
    // Version 4 of the SDK has a plain `result`.
    let (content, media, rewrite) = match part.some("output") {
        Some(output) => read_output(output),
        None => (blocks::texts(part.get("result")), 0, part.get("result").map(Rewrite::of_text)),
    };
    let answer = blocks::result_of(part.get_text("toolCallId"), part.get_text("toolName"), content, media);
    Part::from_source(answer, PartPlace { rewrite, ..PartPlace::element(part) })
}

/// `{"type": …, "value": …}`: a text, a JSON value, or a list of texts and files.
fn read_output(output: Value<'_>) -> (Vec<Text<'_>>, usize, Option<Rewrite>) {
    let value = output.some("value").or_else(|| output.get("reason"));
    if let Some(text) = value.and_then(Value::text) {
        return (vec![text], 0, value.map(Rewrite::of_text));
    }
    let rewrite = Rewrite { span: output.span(), around: &["{\"type\":\"text\",\"value\":", "}"] };
    if !output.member_is("type", "content") {
        let json = value.map(|value| Text::Json(value.raw()));
        return (json.into_iter().collect(), 0, Some(rewrite));
    }
    let texts: Vec<Text<'_>> =
        value.into_iter().flat_map(Value::items).filter_map(|block| block.get_text("text")).collect();
    let media = value.map_or(0, |list| list.items().count() - texts.len());
    (texts, media, Some(rewrite))
}

// `UIMessage`: the messages that the AI SDK displays. A tool part has a state; in the later states it contains the result.

/// How well a list of `parts` fits.
fn fit_of_ui(parts: Value<'_>) -> Fit {
    if parts.items().any(|part| part.get_text("type").is_none()) {
        Fit::No
    } else if parts.items().any(is_ui_part) {
        Fit::Certain
    } else {
        Fit::Possible
    }
}

/// Whether a part is of a type that a `UIMessage` has.
fn is_ui_part(part: Value<'_>) -> bool {
    match &*part.word("type") {
        "text" => part.has("text"),
        "reasoning" => part.has("text") || part.has("reasoning"),
        "file" => part.has("url") || part.has("data"),
        "step-start" | "dynamic-tool" | "tool-invocation" | "source" | "source-url" | "source-document" => true,
        kind => kind.starts_with("tool-") || kind.starts_with("data-"),
    }
}

/// Reads the parts of a message. Version 4 of the SDK repeats them beside: texts and thoughts in one string each, calls and
/// results as the objects that their parts contain.
fn read_ui_parts<'a>(item: Value<'a>, parts: Value<'a>) -> Vec<Part<'a>> {
    let mut read: Vec<Part<'a>> = parts.items().flat_map(read_ui_part).collect();
    copy_texts(&mut read, item.get("content"), |content| matches!(content, Content::Text(_)));
    copy_texts(&mut read, item.get("reasoning"), |content| matches!(content, Content::Reasoning(_)));
    let calls = item.items_under("toolInvocations").map(|call| (call.word("toolCallId").into_owned(), call));
    let calls: HashMap<String, Value<'a>> = calls.collect();
    for part in &mut read {
        let call = part.content.tool_id().and_then(|id| calls.get(&*id.decode()));
        if let Some(call) = call {
            part.add_copy(*call);
        }
    }
    read
}

/// Adds `copy` to the parts of one kind whose texts it is together, or those of the last step.
fn copy_texts<'a>(read: &mut [Part<'a>], copy: Option<Value<'a>>, is_copied: fn(&Content<'_>) -> bool) {
    let Some((copy, text)) = copy.and_then(|copy| Some((copy, copy.text()?.into_decoded()))) else { return };
    let repeated = read.iter().map(|part| &part.content).filter(|content| is_copied(content));
    let repeated: String = repeated.flat_map(texts_of).map(Text::decode).collect();
    if !text.is_empty() && repeated.ends_with(&*text) {
        read.iter_mut().filter(|part| is_copied(&part.content)).for_each(|part| part.add_copy(copy));
    }
}

/// Reads a part. A tool part is a call and, in the later states, also its result; both have the same bytes.
fn read_ui_part(part: Value<'_>) -> Vec<Part<'_>> {
    let kind = part.word("type");
    if let Some(tool) = part.some("toolInvocation") {
        let name = tool.text_or_empty("toolName");
        return read_tool(part, tool, name);
    }
    let named = kind.strip_prefix("tool-").map(|name| Text::Owned(name.to_owned()));
    if kind == "dynamic-tool" || named.is_some() && part.has("toolCallId") {
        let name = part.get_text("toolName").or(named).unwrap_or(Text::Escaped(""));
        return read_tool(part, part, name);
    }
    match &*kind {
        "reasoning" => {
            // Version 4 of the SDK writes the text under `reasoning`, and again with its signature in `details`.
            let text = part.get_text("text").or_else(|| part.get_text("reasoning")).unwrap_or(Text::Escaped(""));
            let mut thought = blocks::whole(part, Content::Reasoning(text));
            let mut is_signed = is_signed_by_claude(part);
            for detail in part.items_under("details").filter(|detail| detail.has("text")) {
                thought.add_copy(detail);
                is_signed |= is_signed_by_claude(detail);
            }
            vec![thought.bound_to_prefix(is_signed)]
        }
        "text" => vec![blocks::part(part, blocks::plain_block(part))],
        "file" => vec![blocks::whole(part, Content::Media(Text::Json(part.raw())))],
        // Marks, sources and data of the page, which are not sent to the model.
        "step-start" | "source" | "source-url" | "source-document" => vec![blocks::whole(part, Content::Other)],
        kind if kind.starts_with("data-") => vec![blocks::whole(part, Content::Other)],
        _ => vec![blocks::whole(part, blocks::unknown(part))],
    }
}

/// `part` is the element and `tool` the object with the state: the part itself, or one of its members in version 4 of the
/// SDK.
fn read_tool<'a>(part: Value<'a>, tool: Value<'a>, name: Text<'a>) -> Vec<Part<'a>> {
    let result = result_of(tool);
    let call = read_call(tool, name.clone(), tool.some("args"));
    let rewrite = if result.is_none() { room_for_result(tool) } else { None };
    let mut parts = vec![Part::from_source(call, PartPlace { rewrite, ..PartPlace::element(part) })];
    if let Some(output) = result {
        let answer = blocks::result_of(tool.get_text("toolCallId"), Some(name), blocks::texts(output), 0);
        parts.push(blocks::rewritable(part, answer, output));
    }
    parts
}

/// What the tool answered, if it did. A call that the user denied is answered, without a text.
#[expect(clippy::option_option, reason = "no result, a result without text, and a result with one are three things")]
fn result_of(tool: Value<'_>) -> Option<Option<Value<'_>>> {
    match &*tool.get_text("state")?.decode() {
        "output-available" => Some(tool.get("output")),
        "result" => Some(tool.get("result")),
        "output-error" => Some(tool.get("errorText")),
        "output-denied" => Some(None),
        _ => None,
    }
}

/// Where the result of an open call is inserted: its state becomes an error, followed by the text. A call without a state
/// gets both in front of its members.
fn room_for_result(tool: Value<'_>) -> Option<Rewrite> {
    let is_version_4 = tool.has("args");
    if let Some(state) = tool.some("state") {
        let around = match is_version_4 {
            true => &["\"result\",\"result\":", ""],
            false => &["\"output-error\",\"errorText\":", ""],
        };
        return Some(Rewrite { span: state.span(), around });
    }
    let front = tool.span().start + 1;
    let around = match is_version_4 {
        true => &["\"state\":\"result\",\"result\":", ","],
        false => &["\"state\":\"output-error\",\"errorText\":", ","],
    };
    tool.members().next().map(|_| Rewrite { span: Span::new(front, front), around })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    #[test]
    fn a_call_waits_for_an_approval_and_at_the_end_after_it() {
        let last = r#"{"role": "user", "parts": [{"type": "text", "text": "And now?"}]}"#;
        for (state, after, waits) in [
            ("approval-requested", "", true),
            ("approval-requested", last, true),
            ("approval-responded", "", true),
            ("approval-responded", last, false),
            ("input-available", "", false),
        ] {
            let part = format!(r#"{{"type": "tool-cut", "toolCallId": "c", "state": "{state}", "input": {{}}}}"#);
            let chat = [format!("{{\"role\": \"assistant\", \"parts\": [{part}]}}"), String::from(after)];
            let documents: Vec<_> = chat.iter().filter_map(|text| Document::parse(text).ok()).collect();
            let items: Vec<_> = documents.iter().flat_map(Document::roots).collect();
            let mut read: Vec<_> = items.iter().map(|item| AiSdk.read(*item)).collect();
            AiSdk.connect(&items, &mut read);
            let Item::Message(message) = &read[0] else { panic!("{chat:?}") };
            assert_eq!(message.parts[0].content.call().map(|call| call.waits), Some(waits), "{chat:?}");
        }
    }
}
