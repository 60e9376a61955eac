//! Claude Code session logs: a record per line with `uuid` and `parentUuid`, Anthropic blocks in `message`.
//!
//! A message of the API may be split into several records with the same `message.id`. The other members of a record
//! (`toolUseResult`, `progress`) are copies: they are neither counted nor paired.

mod attachment;
mod threads;
mod trees;
mod writing;

use std::borrow::Cow;
use std::collections::HashMap;

use super::tree::{Sides, Tree};
use super::{Dialect, DialectWriter, Fit, Item, LogHabits, Patch, Remaining, anthropic};
use crate::json::{Text, Value};
use crate::transcript::{
    Content, Draft, DraftPart, Layout, Links, Message, PairingRules, ProviderRules, ResultPlace, Role, Standing,
    Unknown, Usage,
};

/// The dialect `claude-code`.
pub(super) struct ClaudeCode;

/// The tree by which the program resumes a session.
const TREE: Tree = Tree {
    own: "uuid",
    parent: "parentUuid",
    others: &["logicalParentUuid", "leafUuid"],
    open: false,
    sides: Some(Sides { flag: "isSidechain", name: "agentId" }),
    trees: Some(trees::trees_of),
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
            "attachment" => return attachment::read_attachment(item),
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
        threads::number_threads(items, &mut read);
        close_at_compactions(items, &mut read);
        bind_snapshots(items, &mut read);
        trees::roll_back(items, &mut read);
        pin_states(items, &mut read);
        read
    }
}

impl DialectWriter for ClaudeCode {
    fn spell(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        writing::spell(draft, anchor)
    }

    fn spell_part(&self, part: &DraftPart) -> String {
        anthropic::spell_block(part)
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

    fn taken_back(&self, items: &[Value<'_>]) -> Vec<(usize, usize)> {
        trees::taken_back(items)
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
fn is_set(item: Value<'_>, key: &str) -> bool {
    item.get(key).is_some_and(is_true)
}

fn is_true(flag: Value<'_>) -> bool {
    flag.raw() == "true"
}

/// Calls that are open at a compaction are never answered: the message after the boundary closes them. The boundary belongs
/// to that message.
fn close_at_compactions<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    let (mut closing, mut compacted) = (false, false);
    for (at, &item) in items.iter().enumerate() {
        match &mut read[at] {
            Item::Message(message) => {
                let summary = is_set(item, "isCompactSummary");
                if message.thread == 0 && (closing || summary) {
                    message.barrier = true;
                    closing = false;
                }
                message.boundary |= std::mem::take(&mut compacted) || summary;
            }
            Item::Metadata if is_boundary(item) => {
                closing = !preserve(item, &mut read[..at]);
                compacted = true;
                read[at] = Item::Ahead;
            }
            _ => {}
        }
    }
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

fn is_boundary(item: Value<'_>) -> bool {
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
