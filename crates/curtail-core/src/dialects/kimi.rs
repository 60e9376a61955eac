//! Wire logs of the Kimi CLI, an event per line. The model reads `context.append_message`, `context.append_loop_event` and the
//! summaries of compactions; most other events are for the screen.

use super::kimi_history::{history, is_typed, mark, recount};
use super::{
    BY_ID, Dialect, DialectWriter, Fit, Format, HistoryChange, Item, LogHabits, Patch, Remaining, SizeFigures, blocks,
};
use crate::json::{Json, ObjectWriter, Text, Value, object};
use crate::transcript::{Content, Draft, DraftResult, Layout, PairingRules, Part, ResultPlace, Role, Usage};

/// The dialect `kimi`.
pub(super) struct Kimi;

impl Dialect for Kimi {
    fn format(&self) -> &'static Format {
        &Format {
            name: "kimi",
            known: &["description", "display"],
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
            "context.apply_compaction" => blocks::boundary(Role::User, item, None, read_summary(item)),
            // The resulting message is a later event.
            "turn.prompt" | "turn.steer" => Item::Ahead,
            "config.update" | "metadata" => Item::Pinned,
            kind if kind.starts_with("tools.") || kind.starts_with("profile.") => Item::Pinned,
            kind if kind.contains('.') => Item::Metadata,
            _ => blocks::unknown_kind(kind),
        }
    }

    fn connect<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        bind_steps(items, read);
        mark(items, read);
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

    fn relink(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) -> Vec<Patch> {
        recount(layout, remaining)
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
        let figures = match &*item.word("type") {
            "context.append_loop_event" => {
                let step = item.get("event").filter(|event| event.member_is("type", "step.end"))?;
                blocks::numbers(step.some("usage")?, &[])
            }
            "context.apply_compaction" => vec![item.get("tokensAfter")?],
            "context.update_token_count" => vec![item.get("tokenCount")?],
            // The number of messages that were counted, and of their tokens.
            kind if kind.starts_with("token_counting.") => vec![item.get("length")?, item.get("tokens")?],
            _ => return None,
        };
        Some(SizeFigures::SoFar(figures))
    }

    fn history(&self, items: &[Value<'_>]) -> Vec<HistoryChange> {
        history(items)
    }
}

fn read_message(item: Value<'_>) -> Item<'_> {
    let Some(body) = item.get("message") else { return Item::Metadata };
    let content = body.get("content");
    blocks::read_message(item, body.some_text("role"), blocks::role_of, |message| {
        // A session that was taken over from an older program has its results in messages.
        if message.role == Role::Tool {
            let result = blocks::result(body.get_text("toolCallId"), None, content);
            message.parts.push(blocks::result_part(item, result, content));
            return;
        }
        message.parts = blocks::plain_parts(content);
        message.parts.extend(body.items_under("toolCalls").map(|call| {
            let inner = call.get("function").unwrap_or(call);
            blocks::whole(call, blocks::call(call.get_text("id"), inner.get_text("name"), inner.get("arguments")))
        }));
        // The prompt of a sub-agent is a `system_trigger`.
        let is_trigger = body.some("origin").is_some_and(|origin| origin.member_is("kind", "system_trigger"));
        message.automatic = message.role == Role::User && !is_typed(body) && !is_trigger;
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
            let mut part = blocks::rewritable(item, result, output);
            add_note(event, &mut part);
            (Role::Tool, part)
        }
        _ => return Item::Metadata,
    };
    blocks::message(role, item, step, vec![part])
}

/// Adds what a tool says to the model alone, behind its output.
fn add_note<'a>(event: Value<'a>, part: &mut Part<'a>) {
    let note = event.get("result").and_then(|result| result.get("note"));
    if let (Some(note), Content::ToolResult(result)) = (note, &mut part.content)
        && let Some(text) = note.text()
    {
        result.content.push(text);
        part.add_copy(note);
    }
}

fn read_content<'a>(item: Value<'a>, part: Option<Value<'a>>) -> Part<'a> {
    let Some(part) = part else { return blocks::whole(item, Content::Other) };
    match part.get_text("think") {
        Some(thought) => blocks::whole(item, Content::Reasoning(thought)),
        None => blocks::rewritable(item, blocks::plain_block(part), part.get("text")),
    }
}

/// The summary of a compaction as the model reads it: some versions write it with an introduction in addition to the bare one.
fn read_summary(compaction: Value<'_>) -> Vec<Part<'_>> {
    let summary = compaction.get("summary");
    let Some(introduced) = compaction.get("contextSummary").filter(|text| text.text().is_some()) else {
        return blocks::plain_parts(summary.map(|summary| summary.get("content").unwrap_or(summary)));
    };
    let mut parts = blocks::plain_parts(Some(introduced));
    if let (Some(part), Some(bare)) = (parts.first_mut(), summary) {
        part.add_copy(bare);
    }
    parts
}

/// The start of a step is kept with what the step says or calls: the program ignores pieces of a step that it has not begun.
/// Reasoning is dropped more often than the rest.
fn bind_steps<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    let mut begun: Option<(usize, Text<'a>)> = None;
    for (at, item) in items.iter().enumerate() {
        let Some(event) = item.get("event") else { continue };
        if event.member_is("type", "step.begin") {
            begun = event.get_text("uuid").map(|step| (at, step));
        }
        let Some((begin, step)) = &begun else { continue };
        if event.get_text("stepUuid").as_ref() != Some(step) {
            continue;
        }
        let Item::Message(message) = &read[at] else { continue };
        let is_reasoning = message.is_reasoning();
        if !is_reasoning || matches!(read[*begin], Item::Metadata) {
            read[*begin] = Item::With(at);
        }
        if !is_reasoning {
            begun = None;
        }
    }
}
