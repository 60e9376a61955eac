//! Event logs of the Copilot CLI: `user.message`, `system.notification` and `assistant.message` with `toolRequests`, answered
//! by `tool.execution_complete`. What the program does not send, it logs as well.

use std::borrow::Cow;
use std::ops::Range;

use foldhash::HashMap;

use super::tree::Tree;
use super::{BY_ID, Dialect, DialectWriter, Fit, Format, HistoryChange, Item, LogHabits, blocks};
use crate::json::{Json, Text, Value, object};
use crate::transcript::{Content, Draft, Message, MessageKind, PairingRules, Part, ResultPlace, Role};

/// The dialect `copilot`.
pub(super) struct Copilot;

const TREE: Tree = Tree { id: "id", parent: "parentId", others: &[], path: false, sides: None, trees: None };

/// Prefixes of event types that are not messages.
const METADATA: &[&str] =
    &["session.", "assistant.", "tool.", "hook.", "subagent.", "system.", "user.", "skill.", "abort", "permission."];

impl Dialect for Copilot {
    fn format(&self) -> &'static Format {
        &Format {
            name: "copilot",
            signature: "`type` `user.message`, `assistant.message` with `data.toolRequests`, `tool.execution_complete`",
            pairing: PairingRules { results: ResultPlace::Anywhere, ..BY_ID },
            is_log: true,
            writer: Some(&Copilot),
            log: &Copilot,
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let kind = item.word("type");
        let known = kind.contains('.') && METADATA.iter().any(|word| kind.starts_with(word));
        if known && item.get("data").is_some_and(Value::is_object) { Fit::Certain } else { Fit::No }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        let kind = item.word("type");
        let Some(data) = item.get("data") else { return blocks::unknown_kind(kind) };
        let id = item.get_text("id");
        match &*kind {
            "system.message" => blocks::message(Role::System, item, id, content_parts(data)),
            "user.message" if is_injected(data) => Item::Message(blocks::notice(item, id, content_parts(data))),
            "user.message" => blocks::message(Role::User, item, id, content_parts(data)),
            "assistant.message" => blocks::message(Role::Assistant, item, id, read_reply(data)),
            "system.notification" if data.some_text("content").is_some() => {
                Item::Message(blocks::notice(item, id, content_parts(data)))
            }
            // A command that the user ran has no call, and is not sent.
            "tool.execution_complete" if is_of_user(item) => Item::Metadata,
            "tool.execution_complete" => blocks::message(Role::Tool, item, id, vec![read_result(item, data)]),
            // What is said from here on is kept by the compaction.
            "session.compaction_start" => Item::Pinned,
            "session.compaction_complete" if summary_of(item).is_some() => Item::Message(boundary(item)),
            kind if METADATA.iter().any(|word| kind.starts_with(word)) => Item::Metadata,
            _ => blocks::unknown_kind(kind),
        }
    }

    fn connect<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        number_threads(items, read);
        if let Some(last) = items.iter().rposition(|item| is_compaction(*item)) {
            blocks::preserve(read, kept_before(last, items));
        }
    }
}

impl DialectWriter for Copilot {
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let (kind, data) = match (draft.only_result(), draft.role) {
            (Some(result), _) => {
                let error = object! { "message": result.text };
                let data = object! { "toolCallId": result.call_id(), "success": false, "error": error };
                ("tool.execution_complete", data)
            }
            (_, Role::Assistant) => {
                ("assistant.message", object! { "content": draft.joined_text(), "toolRequests": Json("[]") })
            }
            (_, role @ (Role::System | Role::Developer)) => {
                ("system.message", object! { "content": draft.joined_text(), "role": role.name() })
            }
            _ => ("user.message", object! { "content": draft.joined_text(), "attachments": Json("[]") }),
        };
        let event = TREE.begin(draft, anchor).member("type", kind).member("data", &data);
        event.copied(anchor, &["timestamp"]).end().0
    }

    fn tree(&self) -> Option<&'static Tree> {
        Some(&TREE)
    }
}

impl LogHabits for Copilot {
    fn history(&self, items: &[Value<'_>]) -> Vec<HistoryChange> {
        HistoryChange::compactions(items.len(), |at| is_compaction(items[at]).then(|| kept_before(at, items)))
    }
}

/// The events that the compaction `at` kept.
fn kept_before(at: usize, items: &[Value<'_>]) -> Vec<Range<usize>> {
    first_kept(&items[..at]).map(|first| first..at).into_iter().collect()
}

/// The names of the sub-agent whose event it is: its own, and the call that it works for. Versions write one of them or both; an
/// event of the main agent has neither.
fn sub_agent(item: Value<'_>) -> impl Iterator<Item = Cow<'_, str>> {
    let call = item.get("data").and_then(|data| data.get_text("parentToolCallId"));
    item.get_text("agentId").into_iter().chain(call).map(Text::into_decoded)
}

/// The events of a sub-agent are a conversation of their own.
fn number_threads<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    let mut threads: HashMap<Cow<'a, str>, u32> = HashMap::default();
    let mut count = 0;
    for (item, read) in items.iter().zip(read) {
        let names: Vec<_> = sub_agent(*item).collect();
        let Some(message) = read.message_mut().filter(|_| !names.is_empty()) else { continue };
        let known = names.iter().find_map(|name| threads.get(name).copied());
        message.thread = known.unwrap_or(count + 1);
        count = count.max(message.thread);
        threads.extend(names.into_iter().map(|name| (name, message.thread)));
    }
}

/// Whether an event is a compaction of the main conversation that succeeded.
fn is_compaction(item: Value<'_>) -> bool {
    summary_of(item).is_some() && sub_agent(item).next().is_none()
}

/// The summary of a compaction that succeeded.
fn summary_of(item: Value<'_>) -> Option<Value<'_>> {
    let data = item.get("data").filter(|_| item.member_is("type", "session.compaction_complete"))?;
    let success = data.is_true("success");
    data.get("summaryContent").filter(|summary| success && summary.text().is_some_and(|text| text.len_bound() > 0))
}

/// A compaction. It runs while the agent goes on, so it can end between a call that it keeps and the result.
fn boundary(item: Value<'_>) -> Message<'_> {
    let summary = blocks::notice(item, item.get_text("id"), blocks::plain_parts(summary_of(item)));
    Message { kind: MessageKind::Boundary, ..summary }
}

/// Index of the first event that a compaction keeps of those before it: what was said since it began. Results that come first
/// are kept with the message of their calls.
fn first_kept(before: &[Value<'_>]) -> Option<usize> {
    const STARTED: &str = "session.compaction_start";
    let start = before.iter().rposition(|item| is_main(*item, &[STARTED]) || is_compaction(*item))?;
    if !is_main(before[start], &[STARTED]) {
        return None;
    }
    let said = ["tool.execution_complete", "assistant.message", "user.message", "system.notification"];
    let first = before[start..].iter().find(|item| is_main(**item, &said) && !is_of_user(**item));
    if !first.is_some_and(|first| is_main(*first, &said[..1])) {
        return Some(start);
    }
    let asked = before[..start].iter().rposition(|item| is_main(*item, &["user.message"]));
    let turn = asked.map_or(0, |asked| asked + 1);
    let calls = before[turn..start].iter().rposition(|item| {
        let requests = item.get("data").and_then(|data| data.get("toolRequests"));
        requests.is_some_and(|requests| requests.items().next().is_some())
    });
    Some(calls.map_or(start, |call| turn + call))
}

/// Whether an event is one of the main agent, of one of these types.
fn is_main(item: Value<'_>, kinds: &[&str]) -> bool {
    item.get_text("type").is_some_and(|kind| kind.is_one_of(kinds)) && sub_agent(item).next().is_none()
}

/// Whether a skill, or the mode in which the agent goes on by itself, wrote a message of the user.
fn is_injected(data: Value<'_>) -> bool {
    let source = data.word("source");
    source.starts_with("skill") || source == "autopilot"
}

/// Whether an event is of a command that the user ran.
fn is_of_user(item: Value<'_>) -> bool {
    item.get("data").is_some_and(|data| data.is_true("isUserRequested"))
}

/// The text that the user typed, and the text that was sent, with additions of the program.
fn content_parts(data: Value<'_>) -> Vec<Part<'_>> {
    let mut parts = blocks::plain_parts(data.get("content"));
    if let (Some(copy), [part]) = (data.get("transformedContent"), parts.as_mut_slice()) {
        part.add_copy(copy);
    }
    let files = data.items_under("attachments");
    parts.extend(files.map(|file| blocks::whole(file, Content::Media(Text::Json(file.raw())))));
    parts
}

fn read_reply(data: Value<'_>) -> Vec<Part<'_>> {
    let thought = blocks::text_beside(data, "reasoningText", Content::Reasoning);
    let calls = data
        .items_under("toolRequests")
        .map(|call| blocks::whole(call, blocks::call_in(call, ["toolCallId", "name", "arguments"])));
    thought.into_iter().chain(content_parts(data)).chain(calls).collect()
}

fn read_result<'a>(item: Value<'a>, data: Value<'a>) -> Part<'a> {
    let result = data.some("result");
    // A model reads the error of a tool that failed.
    let failed = data.get("success").is_some_and(|success| success.raw() == "false");
    let error = data.some("error").map(|error| error.get("message").unwrap_or(error));
    let content = error.filter(|_| failed).or_else(|| result?.get("content")).or(error);
    let text = content.filter(|content| content.text().is_some());
    let mut part =
        blocks::rewritable(item, blocks::result(data.get_text("toolCallId"), data.get_text("toolName"), content), text);
    if let Some(copy) = result.and_then(|result| result.some("detailedContent")) {
        part.add_copy(copy);
    }
    part
}
