//! Claude Code session logs: a record per line with `uuid` and `parentUuid`, Anthropic blocks in `message`.
//!
//! A message of the API may be split into several records with the same `message.id`. The other members of a record
//! (`toolUseResult`, `progress`) are copies: they are neither counted nor paired.

use std::borrow::Cow;
use std::collections::HashMap;

use super::tree::{Sides, Tree};
use super::{Dialect, DialectWriter, Fit, Item, LogHabits, Patch, Remaining, anthropic, blocks, claude_trees};
use crate::json::{Json, Text, Value, ValueKind, list, object, quote};
use crate::transcript::{
    Content, Draft, DraftPart, Layout, Links, Message, MessageKind, PairingRules, ProviderRules, ResultPlace, Role,
    Standing, Unknown, Usage,
};

/// The dialect `claude-code`.
pub(super) struct ClaudeCode;

/// The tree by which the program resumes a session.
const TREE: Tree = Tree {
    own: "uuid",
    parent: "parentUuid",
    others: &["logicalParentUuid", "leafUuid"],
    open: false,
    path: false,
    sides: Some(Sides { flag: "isSidechain", name: "agentId" }),
    trees: Some(claude_trees::trees_of),
};

/// Types of records that are not messages.
const METADATA: &[&str] = &[
    "system",
    "summary",
    "progress",
    "attachment",
    "file-history-snapshot",
    "queue-operation",
    "pr-link",
    "permission-mode",
    "mode",
    "custom-title",
    "ai-title",
    "agent-name",
    "agent-color",
    "agent-setting",
    "last-prompt",
    "tag",
    "task-summary",
    "worktree-state",
    "result",
];

impl Dialect for ClaudeCode {
    fn name(&self) -> &'static str {
        "claude-code"
    }

    fn signature(&self) -> &'static str {
        "`type` `user` or `assistant` with `message.content`, `uuid`, `parentUuid`, `sessionId`, `isSidechain`"
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let [kind, message, uuid, parent, session, stream] =
            item.get_each(["type", "message", "uuid", "parentUuid", "sessionId", "session_id"]);
        let Some(kind) = kind.and_then(Value::text) else { return Fit::No };
        let has = |key: &str| item.get(key).is_some();
        let kind = kind.decode();
        let own = match &*kind {
            "user" | "assistant" => {
                let said = message.is_some_and(|message| message.get("content").is_some());
                said && [uuid, parent, session, stream].iter().any(Option::is_some)
            }
            "summary" => has("leafUuid"),
            "file-history-snapshot" => has("snapshot"),
            "system" => has("isSidechain") || has("session_id") && has("claude_code_version"),
            kind => METADATA.contains(&kind) && (has("isSidechain") || has("sessionId")),
        };
        if own { Fit::Certain } else { Fit::No }
    }

    fn pairing_rules(&self) -> PairingRules {
        // Before it sends a message, the program collects its records and results.
        PairingRules { results: ResultPlace::Anywhere, unique_ids: true, ids: true, developer: false }
    }

    fn provider_rules(&self) -> ProviderRules {
        ProviderRules { first_speaker: None, ..anthropic::RULES }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        let [kind, said, uuid, copy, meta] = item.get_each(["type", "message", "uuid", "toolUseResult", "isMeta"]);
        let kind = kind.and_then(Value::text).unwrap_or(Text::Escaped(""));
        let role = match &*kind.decode() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "attachment" => return read_attachment(item),
            kind if METADATA.contains(&kind) => return Item::Metadata,
            kind => return Item::Unknown(Unknown::kind(kind.to_owned())),
        };
        let Some(said) = said.filter(|said| said.is_object()) else { return Item::Metadata };
        let mut message = Message::from_source(role, item);
        let [id, content] = said.get_each(["id", "content"]);
        let own_id = if role == Role::Assistant { id } else { None };
        message.id = own_id.and_then(Value::text).or_else(|| uuid.and_then(Value::text));
        message.parts = anthropic::read_content(content);
        anthropic::mark_compaction(&mut message);
        message.automatic = role == Role::User && (meta.is_some_and(is_true) || begins_with_tag(&message));
        if let Some(copy) = copy {
            let results = message.parts.iter_mut().filter(|part| part.content.result().is_some());
            results.for_each(|part| part.add_copy(copy));
        }
        Item::Message(message)
    }

    fn read_all<'a>(&self, items: &[Value<'a>]) -> Vec<Item<'a>> {
        let mut read: Vec<Item<'a>> = items.iter().map(|&item| self.read(item)).collect();
        let threads = number_threads(items, &mut read);
        let trees = claude_trees::trees_of(items);
        close_at_compactions(items, &threads, &trees, &mut read);
        bind_snapshots(items, &mut read);
        claude_trees::roll_back(&trees, &mut read);
        pin_states(items, &mut read);
        read
    }
}

impl DialectWriter for ClaudeCode {
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        write_message(draft, anchor)
    }

    fn write_part(&self, part: &DraftPart) -> String {
        anthropic::write_block(part)
    }

    fn links(&self, draft: &Draft, anchor: Option<Value<'_>>) -> Option<Links> {
        Some(TREE.links(draft, anchor))
    }

    fn name_drafts(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) {
        TREE.name_drafts(layout, remaining);
    }

    fn relink(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) -> Vec<Patch> {
        TREE.relink(layout, remaining)
    }
}

impl LogHabits for ClaudeCode {
    fn is_log(&self) -> bool {
        true
    }

    fn reply_id<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        let is_reply = item.get_text("type").is_some_and(|kind| kind.is("assistant"));
        item.get("message").filter(|_| is_reply)?.get_text("id")
    }

    fn usage(&self, item: Value<'_>) -> Option<Usage> {
        anthropic::usage(item.get("message")?)
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        item.get("message")?.get_text("model").filter(|name| !name.is("<synthetic>"))
    }

    fn replaces_past(&self, item: Value<'_>) -> bool {
        is_boundary(item) || is_set(item, "isCompactSummary")
    }

    fn kept_by(&self, compaction: Value<'_>, before: &[Value<'_>]) -> Vec<usize> {
        let uuids = preserved(compaction);
        let is_kept = |item: &Value<'_>| item.get_text("uuid").is_some_and(|uuid| uuids.contains(&uuid));
        let kept = before.iter().enumerate().filter(|(_, item)| !uuids.is_empty() && is_kept(item));
        kept.map(|(at, _)| at).collect()
    }

    fn rollbacks(&self, items: &[Value<'_>]) -> Vec<(usize, usize)> {
        claude_trees::rollbacks(items)
    }
}

/// Tags with which the program begins the user messages that it writes itself.
const OWN_TAGS: &[&str] = &[
    "<local-command-caveat>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<command-name>",
    "<command-message>",
    "<task-",
];

fn begins_with_tag(message: &Message<'_>) -> bool {
    let text =
        message.parts.iter().find_map(|part| if let Content::Text(text) = &part.content { Some(text) } else { None });
    // Most texts begin with something else and need not be decoded.
    let is_other = |text: &Text<'_>| matches!(text, Text::Escaped(raw) if !raw.starts_with(['<', ' ', '\\']));
    text.is_some_and(|text| {
        let text = if is_other(text) { return false } else { text.decode() };
        OWN_TAGS.iter().any(|tag| text.trim_start().starts_with(tag)) && !has_arguments(&text)
    })
}

/// Whether the text is a command of the program with words of the user.
fn has_arguments(text: &str) -> bool {
    let rest = text.split_once("<command-args>").map(|(_, rest)| rest);
    rest.and_then(|rest| rest.split_once("</command-args>")).is_some_and(|(words, _)| !words.trim().is_empty())
}

/// Whether the member `key` is `true`.
pub(super) fn is_set(item: Value<'_>, key: &str) -> bool {
    item.get(key).is_some_and(is_true)
}

fn is_true(flag: Value<'_>) -> bool {
    flag.raw() == "true"
}

/// Calls that are open at a compaction are never answered: the next message of its conversation closes them. The boundary
/// belongs to that message. `trees` are those of the main conversation.
fn close_at_compactions<'a>(items: &[Value<'a>], threads: &[u32], trees: &[Option<usize>], read: &mut [Item<'a>]) {
    let newest = claude_trees::newest(trees, read);
    let mut open: HashMap<(u32, Option<usize>), Compactions> = HashMap::new();
    let mut previous = 0;
    for (at, &item) in items.iter().enumerate() {
        let conversation = (threads[at], trees[at]);
        if is_boundary(item) && matches!(read[at], Item::Metadata) {
            // A compaction that is not read preserved nothing that is.
            let is_read = threads[at] > 0 || trees[at] == newest;
            let closes = !(is_read && preserve(item, &mut read[..at]));
            let compactions = open.entry(conversation).or_default();
            compactions.lines.push(at);
            compactions.closes = closes;
        }
        let Item::Message(message) = &mut read[at] else { continue };
        let summary = is_set(item, "isCompactSummary");
        let compactions = open.remove(&conversation);
        if summary || compactions.is_some() {
            message.kind = MessageKind::Boundary;
        }
        if summary || compactions.as_ref().is_some_and(|compactions| compactions.closes) {
            message.begin_context();
        }
        for line in compactions.into_iter().flat_map(|compactions| compactions.lines) {
            read[line] = if line < previous { Item::With(at) } else { Item::Ahead };
        }
        previous = at;
    }
}

/// The compactions of a conversation that no message of it follows yet.
#[derive(Default)]
struct Compactions {
    /// Indices of their boundaries.
    lines: Vec<usize>,
    /// Whether the last one leaves open calls without an answer.
    closes: bool,
}

/// Pins the last line of each kind of state, which a resumed session reads.
fn pin_states<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    let mut seen: Vec<Text<'a>> = Vec::new();
    for (item, read) in items.iter().zip(read).rev() {
        let state = matches!(read, Item::Metadata | Item::Unknown(_) | Item::Attached(_)) && is_state(*item);
        let Some(kind) = item.get_text("type").filter(|_| state) else { continue };
        if !seen.contains(&kind) {
            seen.push(kind);
            *read = Item::Pinned;
        }
    }
}

/// Whether a line sets a value of the session: it is not a node of the tree and repeats no part of a message. The last prompt
/// names the node that it led to, as the title of a conversation does.
fn is_state(item: Value<'_>) -> bool {
    let [session, kind, linked @ ..] =
        item.get_each(["sessionId", "type", "uuid", "parentUuid", "messageId", "message", "operation"]);
    let title = kind.is_some_and(|kind| kind.is("summary"));
    !title && session.is_some() && linked.iter().all(Option::is_none)
}

pub(super) fn is_boundary(item: Value<'_>) -> bool {
    item.get("type").is_some_and(|kind| kind.is("system"))
        && item.get("subtype").is_some_and(|kind| kind.is("compact_boundary"))
}

/// Marks the messages of `before` that a compaction preserved, and returns whether there are any. Their calls may be
/// answered after the boundary.
fn preserve(boundary: Value<'_>, before: &mut [Item<'_>]) -> bool {
    let uuids = preserved(boundary);
    for item in before.iter_mut().filter(|_| !uuids.is_empty()) {
        if let Item::Message(message) = item {
            let uuid = message.value().and_then(|value| value.get_text("uuid"));
            let kept = uuid.is_some_and(|uuid| uuids.contains(&uuid));
            message.standing = if kept { Standing::Preserved } else { Standing::Live };
        }
    }
    !uuids.is_empty()
}

/// The messages that a compaction preserved.
fn preserved(boundary: Value<'_>) -> Vec<Text<'_>> {
    let metadata = boundary.get("compactMetadata");
    let preserved = metadata.and_then(|metadata| metadata.get("preservedMessages"));
    let uuids = preserved.and_then(|preserved| preserved.get("uuids"));
    uuids.map_or_else(Vec::new, |uuids| uuids.items().filter_map(Value::text).collect())
}

/// A snapshot of the files that was taken for a later message belongs to it, wherever it is.
fn bind_snapshots<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    let named = |item: Value<'a>| item.get_text("messageId").map(Text::into_decoded);
    let snapshot = |read: &Item<'_>, item: Value<'_>| matches!(read, Item::Metadata) && item.get("messageId").is_some();
    if !items.iter().zip(&*read).any(|(item, read)| snapshot(read, *item)) {
        return;
    }
    let mut later: HashMap<Cow<'a, str>, usize> = HashMap::new();
    for (at, &item) in items.iter().enumerate().rev() {
        match &read[at] {
            Item::Message(_) => {
                let uuid = item.get_text("uuid").map(Text::into_decoded);
                uuid.and_then(|uuid| later.insert(uuid, at));
            }
            Item::Metadata => {
                let message = named(item).and_then(|named| later.get(&named).copied());
                if let Some(message) = message {
                    read[at] = Item::With(message);
                }
            }
            _ => {}
        }
    }
}

// Attachments: records of what the program sends to the model beside a message, such as the text of an edited file.

/// Types that the program does not send to the model.
const UNSEEN: &[&str] = &[
    "already_read_file",
    "command_permissions",
    "dynamic_skill",
    "edited_image_file",
    "hook_cancelled",
    "hook_error_during_execution",
    "hook_non_blocking_error",
    "hook_permission_decision",
    "hook_system_message",
    "structured_output",
];

/// The members whose text the model reads.
const TEXTS: &[&str] = &[
    "content",
    "snippet",
    "prompt",
    "addedLines",
    "addedBlocks",
    "removedNames",
    "planContent",
    "skills",
    "memories",
    "files",
    "response",
    "blockingError",
    "message",
    "newDate",
];

/// Reads an attachment as metadata, with the texts that the model reads.
fn read_attachment(item: Value<'_>) -> Item<'_> {
    let Some(attachment) = item.get("attachment") else { return Item::Metadata };
    if attachment.get_text("type").is_some_and(|kind| UNSEEN.contains(&&*kind.decode())) {
        return Item::Metadata;
    }
    // If the lines of new tools are missing, their names are read.
    let names = if attachment.get("addedLines").is_none() { attachment.get("addedNames") } else { None };
    let members = TEXTS.iter().filter_map(|key| attachment.get(key)).chain(names);
    Item::Attached(members.flat_map(|value| blocks::texts(Some(value))).collect())
}

// The conversations inside one log: records of sub-agents are between the records of the main conversation.

/// Gives every message the number of its conversation: 0 for the main one, then the side conversations as they appear. Returns
/// the number of each item.
///
/// A side conversation is identified by its `agentId`, or by the record without one from which it descends. A record that
/// lacks the `agentId` of its parent begins a conversation: it could not be told from others without that parent.
fn number_threads<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) -> Vec<u32> {
    let mut threads = Threads::default();
    let number = |(&item, read): (&Value<'a>, &mut Item<'a>)| {
        // Streams of the program name the call that started the side conversation.
        let [side, call] = item.get_each(["isSidechain", "parent_tool_use_id"]);
        if !side.is_some_and(is_true) && call.is_none_or(|call| call.kind() == ValueKind::Null) {
            return 0;
        }
        let thread = threads.number_of(item);
        if let Item::Message(message) = read {
            match thread {
                Some(thread) => message.thread = thread,
                None => *read = Item::Unknown(Unknown::NoId),
            }
        }
        thread.unwrap_or_default()
    };
    items.iter().zip(read).map(number).collect()
}

#[derive(Default)]
struct Threads<'a> {
    by_agent: HashMap<Cow<'a, str>, u32>,
    by_record: HashMap<Cow<'a, str>, u32>,
    count: u32,
}

impl<'a> Threads<'a> {
    /// The conversation of a record. A damaged one with neither name nor id is in none: only its parent tells its conversation,
    /// and a cut can drop the parent.
    fn number_of(&mut self, item: Value<'a>) -> Option<u32> {
        let agent = item.get_text("agentId").or_else(|| item.get_text("parent_tool_use_id"));
        let agent = agent.map(Text::into_decoded);
        let [uuid, parent] = ["uuid", "parentUuid"].map(|key| item.get_text(key).map(Text::into_decoded));
        agent.as_ref().or(uuid.as_ref())?;
        // A record that a damaged log repeats is in one conversation with the first.
        let of_record = || [&uuid, &parent].into_iter().flatten().find_map(|id| self.by_record.get(id).copied());
        let known = match &agent {
            Some(agent) => self.by_agent.get(agent).copied(),
            None => of_record(),
        };
        let thread = known.unwrap_or_else(|| {
            self.count += 1;
            self.count
        });
        match (agent, uuid) {
            (Some(agent), _) => self.by_agent.insert(agent, thread),
            (None, Some(uuid)) => self.by_record.insert(uuid, thread),
            (None, None) => None,
        };
        Some(thread)
    }
}

// Drafts as records, in the envelope of the anchor.

/// The keys that a record copies from its anchor, in the order in which the program writes them.
const ENVELOPE: &[&str] = &[
    "isSidechain",
    "agentId",
    "userType",
    "entrypoint",
    "cwd",
    "sessionId",
    "session_id",
    "version",
    "gitBranch",
    "slug",
];

/// Writes a record whose parent link is still `null`.
fn write_message(draft: &Draft, anchor: Option<Value<'_>>) -> String {
    let blocks: Vec<String> = draft.parts.iter().map(anthropic::write_block).collect();
    let content = match draft.parts.as_slice() {
        [DraftPart::Text(text)] if draft.role != Role::Assistant => Json(quote(text)),
        _ => list(blocks),
    };
    // User records contain results. Instructions from the application are written as user records, before other content.
    let kind = if draft.role == Role::Assistant { "assistant" } else { "user" };
    // Who reads a log expects an id of a reply, which no other reply has.
    let beside = anchor.and_then(|anchor| anchor.get("uuid")).map_or("", Value::raw);
    let reply = (draft.role == Role::Assistant).then(|| blocks::draft_id(&[&content.0, beside].concat()));
    let message = object! {
        "id": reply,
        "model": reply.is_some().then_some("<synthetic>"),
        "type": reply.is_some().then_some("message"),
        "role": kind,
        "content": content,
    };
    let record = TREE.begin(draft, anchor).copied(anchor, ENVELOPE).member("type", kind).member("message", &message);
    record.copied(anchor, &["timestamp"]).end().0
}
