//! The AI SDK: `ModelMessage`s, whose calls and results are separate parts, and `UIMessage`s, whose tool parts contain a
//! call and later also its result.

use super::{Dialect, DialectWriter, Fit, Item, LogHabits, Patch, Remaining, blocks, tree};
use crate::json::{Json, Span, Text, Value, list, object};
use crate::transcript::{
    Content, Draft, DraftPart, Family, Layout, Links, Message, PairingRules, Part, PartPlace, ProviderRules,
    ResultPlace, Rewrite, Role, ToolCall, ToolResult, Unknown,
};

/// The dialect `ai-sdk`.
pub(super) struct AiSdk;

impl Dialect for AiSdk {
    fn name(&self) -> &'static str {
        "ai-sdk"
    }

    fn signature(&self) -> &'static str {
        "`role` and `content` parts `tool-call`, `tool-result`; or `role` and `parts`, each with `type`: `text`, `tool-…`, `dynamic-tool`"
    }

    fn fit(&self, item: Value<'_>) -> Fit {
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

    fn pairing_rules(&self) -> PairingRules {
        PairingRules { results: ResultPlace::RightAfter, unique_ids: false, ids: true, developer: false }
    }

    fn provider_rules(&self) -> ProviderRules {
        ProviderRules { provider: "ai-sdk", ..ProviderRules::default() }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        let Some(role) = item.get_text("role") else { return Item::Unknown(Unknown::NoRole) };
        let Some(role) = blocks::role_of(&role.decode()) else {
            return Item::Unknown(Unknown::Named(role.decode().into_owned()));
        };
        let mut message = Message::from_source(role, item);
        message.id = item.get_text("id");
        message.parts = match item.some("parts") {
            Some(parts) => parts.items().flat_map(read_ui_part).collect(),
            None => read_content(item.get("content")),
        };
        Item::Message(message)
    }

    fn preamble<'a>(&self, record: Value<'a>) -> Vec<Text<'a>> {
        blocks::preamble(record, &["system", "instructions", "tools"])
    }
}

impl DialectWriter for AiSdk {
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let parts: Vec<String> = draft.parts.iter().map(|part| self.write_part(part)).collect();
        let role = if draft.role == Role::Developer { Role::System } else { draft.role };
        if anchor.is_some_and(|anchor| anchor.has("parts")) {
            // `validateUIMessages` refuses a message without an id.
            let id = draft.links.as_ref().map(|links| links.id.to_string());
            return object! { "id": id, "role": role.name(), "parts": list(parts) }.0;
        }
        match draft.parts.as_slice() {
            [DraftPart::Text(text)] => blocks::role_and_content(role.name(), text),
            _ => object! { "role": role.name(), "content": list(parts) }.0,
        }
    }

    fn write_part(&self, part: &DraftPart) -> String {
        match part {
            DraftPart::Text(text) => blocks::text_block(text),
            DraftPart::Verbatim(raw) => raw.clone(),
            DraftPart::ToolResult { id, text, family: Family::Approval, .. } => {
                let id = id.as_deref().unwrap_or_default();
                object! { "type": "tool-approval-response", "approvalId": id, "approved": false, "reason": text }.0
            }
            DraftPart::ToolResult { id, name, text, .. } => {
                let id = id.as_deref().unwrap_or_default();
                let output = object! { "type": "error-text", "value": text };
                object! { "type": "tool-result", "toolCallId": id, "toolName": name, "output": output }.0
            }
        }
    }

    fn prepend_parts(&self, message: Value<'_>, parts: &[String]) -> Option<Patch> {
        let list = message.some("content").or_else(|| message.get("parts"))?;
        blocks::prepend_parts(list, parts, |json| object! { "type": "text", "text": Json(json) }.0)
    }

    fn links(&self, draft: &Draft, anchor: Option<Value<'_>>) -> Option<Links> {
        let message = |anchor: &Value<'_>| anchor.has("id") && anchor.has("parts");
        Some(tree::first_links("id", draft, Some(anchor.filter(message)?)))
    }

    fn name_drafts(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) {
        tree::name_records("id", layout, remaining);
    }

    fn relink(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) -> Vec<Patch> {
        self.name_drafts(layout, remaining);
        Vec::new()
    }
}

impl LogHabits for AiSdk {
    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        // What else a program stores with a message of its user interface is under `metadata`. The `response` that the
        // messages of a generated text are in names the model as `modelId`.
        let named = || item.get_text("modelId").filter(|name| name.len_bound() > 0);
        blocks::model(item).or_else(|| blocks::model(item.some("metadata")?)).or_else(named)
    }
}

// `ModelMessage`: the messages that the AI SDK passes to a provider.

/// Whether no other dialect has this part.
fn is_own_part(part: Value<'_>) -> bool {
    let Some(kind) = part.get_text("type") else { return false };
    match &*kind.decode() {
        "tool-call" | "tool-result" => part.has("toolCallId"),
        "tool-approval-request" | "tool-approval-response" => part.has("approvalId"),
        "reasoning" => part.has("text"),
        "image" => part.has("image"),
        "file" => part.has("mediaType") && part.has("data"),
        _ => false,
    }
}

/// Reads the content of a message: a string, or parts.
fn read_content(content: Option<Value<'_>>) -> Vec<Part<'_>> {
    match content {
        Some(list) if list.is_array() => list.items().map(|part| read_part(list, part)).collect(),
        said => blocks::content(said, blocks::plain_block),
    }
}

fn read_part<'a>(list: Value<'a>, part: Value<'a>) -> Part<'a> {
    let kind = part.get_text("type").map(|kind| kind.decode().into_owned());
    let content = match kind.as_deref() {
        Some("tool-call") => Content::ToolCall(read_call(part)),
        Some("tool-result") => return read_result(part),
        Some("tool-approval-request") => Content::ToolCall(read_request(list, part)),
        Some("tool-approval-response") => return read_response(part),
        Some("reasoning") => Content::Reasoning(part.get_text("text").unwrap_or(Text::Escaped(""))),
        Some("reasoning-file") => Content::Reasoning(Text::Escaped("")),
        _ => return blocks::part(part, blocks::plain_block(part)),
    };
    let bound = matches!(content, Content::Reasoning(_)) && is_signed_by_claude(part);
    Part::from_source(content, PartPlace::element(part)).bound_to_prefix(bound)
}

/// Whether the provider options contain the signature of Claude's reasoning.
fn is_signed_by_claude(part: Value<'_>) -> bool {
    let options = ["providerOptions", "providerMetadata"].iter().filter_map(|key| part.get(key));
    let mut claude =
        options.flat_map(|options| ["anthropic", "bedrock"].map(|provider| options.get(provider))).flatten();
    // Version 4 of the SDK writes the signature beside the text.
    part.has("signature")
        || claude.any(|proof| proof.some("signature").is_some() || proof.some("redactedData").is_some())
}

fn read_call(part: Value<'_>) -> ToolCall<'_> {
    ToolCall {
        id: part.get_text("toolCallId"),
        name: part.get_text("toolName").unwrap_or(Text::Escaped("")),
        // Version 4 of the SDK calls them `args`.
        arguments: blocks::arguments(part.some("input").or_else(|| part.get("args"))),
        family: Family::Function,
        hosted: part.get("providerExecuted").is_some_and(|flag| flag.raw() == "true"),
    }
}

/// An approval request has the id of its call, so both are dropped together.
fn read_request<'a>(list: Value<'a>, part: Value<'a>) -> ToolCall<'a> {
    let about = part.get_text("toolCallId").map(|id| id.decode().into_owned());
    let is_it = |other: &Value<'_>| other.has("toolName") && same_id(*other, about.as_deref());
    let call = list.items().find(is_it);
    ToolCall {
        id: part.get_text("approvalId"),
        name: call.and_then(|call| call.get_text("toolName")).unwrap_or(Text::Escaped("")),
        arguments: Text::Escaped(""),
        family: Family::Approval,
        hosted: false,
    }
}

fn same_id(part: Value<'_>, id: Option<&str>) -> bool {
    id.is_some_and(|id| part.get("toolCallId").is_some_and(|own| own.is(id)))
}

fn read_response(part: Value<'_>) -> Part<'_> {
    let reason = part.get("reason");
    let answer = ToolResult {
        id: part.get_text("approvalId"),
        name: None,
        content: reason.and_then(Value::text).into_iter().collect(),
        media: 0,
        family: Family::Approval,
        same_message: false,
    };
    Part::from_source(Content::ToolResult(answer), PartPlace::element(part).with_text(reason))
}

fn read_result(part: Value<'_>) -> Part<'_> {
    // Version 4 of the SDK has a plain `result`.
    let (content, media, rewrite) = match part.some("output") {
        Some(output) => read_output(output),
        None => (blocks::texts(part.get("result")), 0, part.get("result").map(plainly)),
    };
    let answer = ToolResult {
        id: part.get_text("toolCallId"),
        name: part.get_text("toolName"),
        content,
        media,
        family: Family::Function,
        same_message: false,
    };
    Part::from_source(Content::ToolResult(answer), PartPlace { rewrite, ..PartPlace::element(part) })
}

fn plainly(value: Value<'_>) -> Rewrite {
    Rewrite { span: value.span(), before: "", after: "" }
}

/// `{"type": …, "value": …}`: a text, a JSON value, or a list of texts and files.
fn read_output(output: Value<'_>) -> (Vec<Text<'_>>, usize, Option<Rewrite>) {
    let value = output.some("value").or_else(|| output.get("reason"));
    if let Some(text) = value.and_then(Value::text) {
        return (vec![text], 0, value.map(plainly));
    }
    let rewrite = Rewrite { span: output.span(), before: "{\"type\":\"text\",\"value\":", after: "}" };
    if !output.get("type").is_some_and(|kind| kind.is("content")) {
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
    let kind = part.get_text("type").map(|kind| kind.decode().into_owned()).unwrap_or_default();
    match &*kind {
        "text" => part.has("text"),
        "reasoning" => part.has("text") || part.has("reasoning"),
        "file" => part.has("url") || part.has("data"),
        "step-start" | "dynamic-tool" | "tool-invocation" | "source" | "source-url" | "source-document" => true,
        kind => kind.starts_with("tool-") || kind.starts_with("data-"),
    }
}

/// Reads a part. A tool part is a call and, in the later states, also its result; both have the same bytes.
fn read_ui_part(part: Value<'_>) -> Vec<Part<'_>> {
    let kind = part.get_text("type").map(|kind| kind.decode().into_owned()).unwrap_or_default();
    if let Some(tool) = part.some("toolInvocation") {
        let name = tool.get_text("toolName").unwrap_or(Text::Escaped(""));
        return read_tool(part, tool, name);
    }
    let named = kind.strip_prefix("tool-").map(|name| Text::Owned(name.to_owned()));
    if kind == "dynamic-tool" || named.is_some() && part.has("toolCallId") {
        let name = part.get_text("toolName").or(named).unwrap_or(Text::Escaped(""));
        return read_tool(part, part, name);
    }
    match &*kind {
        "reasoning" => {
            // Version 4 of the SDK writes the text under `reasoning`.
            let text = part.get_text("text").or_else(|| part.get_text("reasoning")).unwrap_or(Text::Escaped(""));
            let thought = Part::from_source(Content::Reasoning(text), PartPlace::element(part));
            vec![thought.bound_to_prefix(is_signed_by_claude(part))]
        }
        "text" => vec![blocks::part(part, blocks::plain_block(part))],
        "file" => vec![Part::from_source(Content::Media(Text::Json(part.raw())), PartPlace::element(part))],
        // Marks, sources and data of the page, which are not sent to the model.
        "step-start" | "source" | "source-url" | "source-document" => {
            vec![Part::from_source(Content::Other, PartPlace::element(part))]
        }
        kind if kind.starts_with("data-") => vec![Part::from_source(Content::Other, PartPlace::element(part))],
        _ => vec![Part::from_source(blocks::unknown(part), PartPlace::element(part))],
    }
}

/// `part` is the element and `tool` the object with the state: the part itself, or one of its members in version 4 of the
/// SDK.
fn read_tool<'a>(part: Value<'a>, tool: Value<'a>, name: Text<'a>) -> Vec<Part<'a>> {
    let result = result_of(tool);
    let id = tool.get_text("toolCallId");
    let call = ToolCall {
        id: id.clone(),
        name: name.clone(),
        arguments: blocks::arguments(tool.some("input").or_else(|| tool.some("args"))),
        family: Family::Function,
        hosted: tool.get("providerExecuted").is_some_and(|flag| flag.raw() == "true"),
    };
    let open = if result.is_none() { room_for_result(tool) } else { None };
    let mut parts =
        vec![Part::from_source(Content::ToolCall(call), PartPlace { rewrite: open, ..PartPlace::element(part) })];
    if let Some(said) = result {
        let content = blocks::texts(said);
        let answer =
            ToolResult { id, name: Some(name), content, media: 0, family: Family::Function, same_message: false };
        parts.push(Part::from_source(Content::ToolResult(answer), PartPlace::element(part).with_text(said)));
    }
    parts
}

/// What the tool answered, if it did. A call that the user denied has no answer.
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
        let before = if is_version_4 { "\"result\",\"result\":" } else { "\"output-error\",\"errorText\":" };
        return Some(Rewrite { span: state.span(), before, after: "" });
    }
    let front = tool.span().start + 1;
    let before = match is_version_4 {
        true => "\"state\":\"result\",\"result\":",
        false => "\"state\":\"output-error\",\"errorText\":",
    };
    tool.members().next().map(|_| Rewrite { span: Span::new(front, front), before, after: "," })
}
