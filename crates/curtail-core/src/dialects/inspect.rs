//! Samples of `inspect_ai`: messages in OpenAI's format, except that a call has the name of its tool as text under
//! `function`, and a result repeats that name. Reasoning and tools of the provider are blocks of the content.

use std::borrow::Cow;

use foldhash::HashMap;

use super::{Dialect, DialectWriter, Fit, Format, Item, LogHabits, blocks, provenance};
use crate::json::{Text, Value, object};
use crate::transcript::{Content, Draft, Part, Role, Usage};

/// The dialect `inspect`.
pub(super) struct Inspect;

impl Dialect for Inspect {
    fn format(&self) -> &'static Format {
        &Format {
            name: "inspect",
            signature: "`role` and `content` with `source`: `input` or `generate`; \
                `tool_calls` and role `tool` with `function`: a plain name",
            has_marks: true,
            writer: Some(&Inspect),
            log: &Inspect,
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        if self.is_marked(item) {
            return Fit::Marked;
        }
        let [role, content] = item.get_each(["role", "content"]);
        let is_plain = content.is_some_and(|content| {
            content.text().is_some()
                || content.is_array() && content.items().all(|block| block.member_is("type", "text"))
        });
        let role = role.and_then(Value::text).and_then(|role| blocks::role_of(&role.decode()));
        if is_plain && role.is_some() { Fit::Possible } else { Fit::No }
    }

    /// By members that only `inspect_ai` writes.
    fn is_marked(&self, item: Value<'_>) -> bool {
        let [role, content, source, calls, function] =
            item.get_each(["role", "content", "source", "tool_calls", "function"]);
        let Some(role) = role.and_then(Value::text) else { return false };
        source.is_some_and(|source| source.is("input") || source.is("generate"))
            || calls.is_some_and(|calls| calls.items().any(|call| call.get_text("function").is_some()))
            || role.is("tool") && function.is_some_and(|name| name.text().is_some())
            || content.is_some_and(|content| content.items().any(is_own_block))
    }

    fn fits_record(&self, record: Value<'_>) -> bool {
        record.has("epoch") && record.has("target")
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        blocks::read_message(item, item.some_text("role"), blocks::role_of, |message| {
            message.id = item.get_text("id");
            message.parts = match message.role {
                // The result is the whole message: a call in it, as in a damaged log, cannot be kept without the result.
                Role::Tool => vec![read_result(item)],
                _ => content_parts(item).into_iter().chain(calls(item)).collect(),
            };
        })
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        let holders = ["output", "eval"].into_iter().filter_map(|key| item.some(key));
        blocks::model(item).or_else(|| holders.into_iter().find_map(|holder| holder.get_text("model")))
    }
}

impl DialectWriter for Inspect {
    fn write_message(&self, draft: &Draft, _anchor: Option<Value<'_>>) -> String {
        let Some(result) = draft.only_result() else {
            return blocks::role_and_content(blocks::role_name(draft), &draft.joined_text());
        };
        let id = result.call_id();
        let name = &result.name;
        let text = &result.text;
        object! { "role": "tool", "tool_call_id": id, "function": name, "content": text }.0
    }
}

impl LogHabits for Inspect {
    /// The usage is in the events of the sample, which name the message of each reply; in older logs they do not.
    fn usages(&self, items: &[Value<'_>]) -> Vec<Option<Usage>> {
        let replies = replies(items);
        let mut named: HashMap<Cow<'_, str>, Usage> = HashMap::default();
        for reply in &replies {
            if let Some(message) = &reply.message {
                named.entry(message.decode()).or_insert(reply.usage);
            }
        }
        // Without names, the replies are those messages, in order, if there are as many.
        let are_in_order = items.iter().filter(|item| is_reply(**item)).count() == replies.len();
        let mut in_order = replies.iter();
        let mut usages = Vec::with_capacity(items.len());
        for item in items {
            if !is_reply(*item) {
                usages.push(None);
                continue;
            }
            let nth = in_order.next().filter(|reply| are_in_order && reply.message.is_none());
            let by_name = item.get_text("id").and_then(|id| named.get(&id.decode()).copied());
            usages.push(by_name.or_else(|| nth.map(|reply| reply.usage)));
        }
        usages
    }
}

/// A reply of the model among the events of a sample.
struct ModelReply<'a> {
    /// The id of its message.
    message: Option<Text<'a>>,
    usage: Usage,
}

fn replies<'a>(items: &[Value<'a>]) -> Vec<ModelReply<'a>> {
    let sample = blocks::record_of(items);
    let events = sample.and_then(|sample| sample.some("events").or_else(|| sample.some("transcript")?.some("events")));
    let replies = events.into_iter().flat_map(Value::items).filter_map(|event| {
        let output = event.get("event").filter(|kind| kind.is("model")).and_then(|_| event.some("output"))?;
        let usage = provenance::inspect_usage(output.some("usage")?)?;
        let message = output.get("choices").and_then(|choices| choices.items().next()?.some("message")?.get_text("id"));
        Some(ModelReply { message, usage })
    });
    replies.collect()
}

fn is_own_block(block: Value<'_>) -> bool {
    match &*block.word("type") {
        "reasoning" => block.get_text("reasoning").is_some(),
        "tool_use" => block.has("tool_type"),
        _ => false,
    }
}

fn content_parts(item: Value<'_>) -> Vec<Part<'_>> {
    // In older logs, the reasoning is beside the content.
    let mut parts: Vec<Part<'_>> = blocks::text_beside(item, "reasoning", Content::Reasoning).into_iter().collect();
    let claude = item.get_text("model").is_none_or(|model| model.decode().contains("claude"));
    match item.get("content") {
        Some(list) if list.is_array() => parts.extend(list.items().flat_map(|block| read_block(block, claude))),
        content => parts.extend(blocks::plain_parts(content)),
    }
    parts
}

/// The calls of a message. They are read after the content, wherever they are.
fn calls(item: Value<'_>) -> impl Iterator<Item = Part<'_>> {
    let calls = item.items_under("tool_calls");
    let after = item.get("content").map_or(0, |content| content.span().end);
    calls.map(move |call| {
        let content = blocks::call_in(call, ["id", "function", "arguments"]);
        blocks::in_shell(call, content).read_at(after.max(call.span().start))
    })
}

fn read_block(block: Value<'_>, claude: bool) -> Vec<Part<'_>> {
    match &*block.word("type") {
        "reasoning" => {
            let redacted = block.is_true("redacted");
            // Redacted reasoning is encrypted; only its summary can be read.
            let text = block.get_text(if redacted { "summary" } else { "reasoning" }).unwrap_or(Text::Escaped(""));
            let signed = redacted || block.some_text("signature").is_some();
            let part = blocks::whole(block, Content::Reasoning(text));
            vec![part.bound_to_prefix(claude && signed)]
        }
        "tool_use" => tool_use(block),
        _ => vec![blocks::part(block, blocks::plain_block(block))],
    }
}

/// A tool that the provider ran: the call and its result are one block.
fn tool_use(block: Value<'_>) -> Vec<Part<'_>> {
    let id = block.get_text("id");
    let name = block.get_text("name");
    let call = blocks::call(id.clone(), name.clone(), block.get("arguments"));
    let result = blocks::result_of(id, name, blocks::texts(block.some("result")), 0);
    [call, result].map(|content| blocks::whole(block, blocks::hosted(content))).into()
}

/// The result of a tool. If the tool failed, the model reads the error.
fn read_result(item: Value<'_>) -> Part<'_> {
    let content = item.get("content");
    let mut result = blocks::result(item.get_text("tool_call_id"), item.get_text("function"), content);
    if let (Content::ToolResult(result), Some(error)) = (&mut result, item.some("error"))
        && result.content.iter().all(Text::is_blank)
    {
        result.content.extend(error.get_text("message"));
    }
    blocks::result_part(item, result, blocks::text_or_list(content))
}

fn is_reply(item: Value<'_>) -> bool {
    item.member_is("role", "assistant")
}
