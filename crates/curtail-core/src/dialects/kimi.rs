//! Wire logs of the Kimi CLI, an event per line. The model reads `context.append_message` and `context.append_loop_event`;
//! all other events are for the screen.

use super::{BY_ID, Dialect, DialectWriter, Fit, Format, HistoryChange, Item, LogHabits, SizeFigures, blocks};
use crate::json::{Json, ObjectWriter, Text, Value, object};
use crate::transcript::{Content, Draft, DraftResult, PairingRules, Part, ResultPlace, Role, Usage};

/// The dialect `kimi`.
pub(super) struct Kimi;

impl Dialect for Kimi {
    fn format(&self) -> &'static Format {
        &Format {
            name: "kimi",
            known: &["contextSummary", "description", "display"],
            signature: "`type` `context.append_message`, \
                `context.append_loop_event` with `tool.call` and `tool.result`",
            pairing: PairingRules { results: ResultPlace::Anywhere, ..BY_ID },
            is_log: true,
            writer: Some(&Kimi),
            log: &Kimi,
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let kind = item.word("type");
        let is_event = kind.starts_with("context.") && (item.get("time").is_some() || item.get("event").is_some())
            || kind == "metadata" && item.get("protocol_version").is_some()
            || kind.starts_with("turn.") && item.get("origin").is_some();
        if is_event { Fit::Certain } else { Fit::No }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        let kind = item.word("type");
        match &*kind {
            "context.append_message" => read_message(item),
            "context.append_loop_event" => item.get("event").map_or(Item::Metadata, |event| read_event(item, event)),
            "context.apply_compaction" => {
                let mut read = blocks::message(Role::User, item, None, blocks::plain_parts(item.get("summary")));
                if let Some(message) = read.message_mut() {
                    message.begin_context();
                }
                read
            }
            // The resulting message is the next event.
            "turn.prompt" | "turn.steer" => Item::Ahead,
            "config.update" | "metadata" => Item::Pinned,
            kind if kind.starts_with("tools.") || kind.starts_with("profile.") => Item::Pinned,
            kind if kind.contains('.') => Item::Metadata,
            _ => blocks::unknown_kind(kind),
        }
    }

    fn instructions<'a>(&self, items: &[Value<'a>]) -> Vec<Text<'a>> {
        let mut prompts = items.iter().rev().filter_map(|item| item.get_text("systemPrompt"));
        prompts.next().into_iter().collect()
    }
}

impl DialectWriter for Kimi {
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let Some(result) = draft.only_result() else {
            let role = blocks::speaker(draft);
            let content = blocks::parts(self, draft);
            let message = object! { "role": role, "content": content, "toolCalls": Json("[]") };
            return line("context.append_message", "message", &message, anchor);
        };
        let event = object! {
            "type": "tool.result",
            "parentUuid": result.call_id(),
            "toolCallId": result.call_id(),
            "result": object! { "output": result.text, "isError": true },
        };
        line("context.append_loop_event", "event", &event, anchor)
    }

    fn write_result(&self, result: &DraftResult) -> String {
        self.write_text(&result.text)
    }
}

/// A line of the log with a value under `key`, at the time of `anchor`.
fn line(kind: &str, key: &str, value: &Json, anchor: Option<Value<'_>>) -> String {
    ObjectWriter::new().member("type", kind).member(key, value).copied(anchor, &["time", "agentId"]).end().0
}

impl LogHabits for Kimi {
    /// The step that an event is part of.
    fn reply_id<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        item.get("event")?.get_text("stepUuid")
    }

    fn usage(&self, item: Value<'_>) -> Option<Usage> {
        // `usage.record` repeats the usage of a step, and has that of requests that are not part of the conversation.
        let usage = item.get("event").filter(|event| event.member_is("type", "step.end"))?;
        let usage = usage.some("usage")?;
        let cache_read = usage.number("inputCacheRead");
        let cache_write = usage.number("inputCacheCreation");
        let input = usage.number("inputOther") + cache_read + cache_write;
        Some(Usage { input, cache_read, cache_write, output: usage.number("output"), ..Usage::default() })
    }

    /// The newest of them decides whether the program compacts before it answers.
    fn size_figures<'a>(&self, item: Value<'a>) -> Option<SizeFigures<'a>> {
        let step = item.get("event").filter(|event| event.member_is("type", "step.end"));
        let compacted = || item.get("tokensAfter").filter(|_| is_compaction(item));
        let figures = step.and_then(|event| event.some("usage")).or_else(compacted)?;
        Some(SizeFigures::SoFar(blocks::numbers(figures, &[])))
    }

    fn history(&self, items: &[Value<'_>]) -> Vec<HistoryChange> {
        HistoryChange::compactions(items.len(), |at| is_compaction(items[at]).then(Vec::new))
    }
}

fn is_compaction(item: Value<'_>) -> bool {
    item.member_is("type", "context.apply_compaction")
}

fn read_message(item: Value<'_>) -> Item<'_> {
    let Some(body) = item.get("message") else { return Item::Metadata };
    blocks::read_message(item, body.some_text("role"), blocks::speaker_of, |message| {
        message.parts = blocks::plain_parts(body.get("content"));
        message.parts.extend(body.items_under("toolCalls").map(|call| {
            let inner = call.get("function").unwrap_or(call);
            blocks::whole(call, blocks::call(call.get_text("id"), inner.get_text("name"), inner.get("arguments")))
        }));
    })
}

/// An event of a step. The events of a step form one assistant message.
fn read_event<'a>(item: Value<'a>, event: Value<'a>) -> Item<'a> {
    let step = event.get_text("stepUuid");
    let (role, part) = match &*event.word("type") {
        "content.part" => (Role::Assistant, read_content(item, event.get("part"))),
        "tool.call" => {
            let call = blocks::call_in(event, ["toolCallId", "name", "args"]);
            (Role::Assistant, blocks::whole(item, call))
        }
        "tool.result" => {
            let output = event.get("result").map(|result| result.get("output").unwrap_or(result));
            let result = blocks::result(event.get_text("toolCallId"), None, output);
            (Role::Tool, blocks::rewritable(item, result, output))
        }
        _ => return Item::Metadata,
    };
    blocks::message(role, item, step, vec![part])
}

fn read_content<'a>(item: Value<'a>, part: Option<Value<'a>>) -> Part<'a> {
    let Some(part) = part else { return blocks::whole(item, Content::Other) };
    match part.get_text("think") {
        Some(thought) => blocks::whole(item, Content::Reasoning(thought)),
        None => blocks::rewritable(item, blocks::plain_block(part), part.get("text")),
    }
}
