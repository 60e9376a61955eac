//! Claude Code session logs: a record per line with `uuid` and `parentUuid`, Anthropic blocks in `message`.
//!
//! A message of the API may be split into several records with the same `message.id`. The other members of a record
//! (`toolUseResult`, `progress`) are copies: they are neither counted nor paired.

use std::borrow::Cow;
use std::ops::Range;

use foldhash::{HashMap, HashMapExt as _, HashSet};

use super::tree::{self, Sides, Tree};
use super::{BY_ID, Dialect, DialectWriter, Fit, Format, Item, LogHabits, SizeFigures, anthropic, blocks};
use crate::json::{Json, Text, Value, ValueKind, object, quote};
use crate::transcript::{
    Draft, DraftPart, Message, MessageKind, PairingRules, ProviderRules, ResultPlace, Role, Standing, Unknown, Usage,
};

/// The dialect `claude-code`.
pub(super) struct ClaudeCode;

/// The tree by which the program resumes a session.
const TREE: Tree = Tree {
    id: "uuid",
    parent: "parentUuid",
    others: &["logicalParentUuid", "leafUuid"],
    path: false,
    sides: Some(Sides { flag: "isSidechain", name: "agentId" }),
    trees: Some(trees_of),
};

/// Types of records that are not messages.
const METADATA: &[&str] = &[
    "system", "summary", "progress", "attachment", "file-history-snapshot", "queue-operation", "pr-link",
    "permission-mode", "mode", "custom-title", "ai-title", "agent-name", "agent-color", "agent-setting", "last-prompt",
    "tag", "task-summary", "worktree-state", "result",
];

impl Dialect for ClaudeCode {
    fn format(&self) -> &'static Format {
        &Format {
            name: "claude-code",
            signature: "`type` `user` or `assistant` with `message.content`, `uuid`, `parentUuid`, `sessionId`, \
                `isSidechain`",
            // Before it sends a message, the program collects its records and results.
            pairing: PairingRules { results: ResultPlace::Anywhere, unique_ids: true, ..BY_ID },
            provider: ProviderRules { first_speaker: None, ..anthropic::RULES },
            is_log: true,
            writer: Some(&ClaudeCode),
            log: &ClaudeCode,
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let [kind, message, uuid, parent, session, stream] =
            item.get_each(["type", "message", "uuid", "parentUuid", "sessionId", "session_id"]);
        let Some(kind) = kind.and_then(Value::text) else { return Fit::No };
        let has = |key: &str| item.get(key).is_some();
        let kind = kind.decode();
        let is_record = match &*kind {
            "user" | "assistant" => {
                let has_content = message.is_some_and(|message| message.get("content").is_some());
                has_content && [uuid, parent, session, stream].iter().any(Option::is_some)
            }
            "summary" => has("leafUuid"),
            "file-history-snapshot" => has("snapshot"),
            "system" => has("isSidechain") || has("session_id") && has("claude_code_version"),
            kind => METADATA.contains(&kind) && (has("isSidechain") || has("sessionId")),
        };
        if is_record { Fit::Certain } else { Fit::No }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        let [kind, body, uuid, copy, meta] = item.get_each(["type", "message", "uuid", "toolUseResult", "isMeta"]);
        let kind = kind.and_then(Value::text).unwrap_or(Text::Escaped(""));
        let role = match &*kind.decode() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "attachment" => return read_attachment(item),
            kind if METADATA.contains(&kind) => return Item::Metadata,
            kind => return Item::Unknown(Unknown::kind(kind.to_owned())),
        };
        let Some(body) = body.filter(|body| body.is_object()) else { return Item::Metadata };
        let mut message = Message::from_source(role, item);
        let [id, content] = body.get_each(["id", "content"]);
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

    fn connect<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        let threads = number_threads(items, read);
        let trees = trees_of(items);
        close_at_compactions(items, &threads, &trees, read);
        bind_snapshots(items, read);
        roll_back(&trees, read);
        pin_states(items, read);
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        item.get("message")?.get_text("model").filter(|name| !name.is("<synthetic>"))
    }
}

impl DialectWriter for ClaudeCode {
    /// Writes a record whose parent link is still `null`.
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let content = match draft.parts.as_slice() {
            [DraftPart::Text(text)] if draft.role != Role::Assistant => Json(quote(text)),
            _ => blocks::parts(&anthropic::Anthropic, draft),
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
        let record =
            TREE.begin(draft, anchor).copied(anchor, ENVELOPE).member("type", kind).member("message", &message);
        record.copied(anchor, &["timestamp"]).end().0
    }

    fn tree(&self) -> Option<&'static Tree> {
        Some(&TREE)
    }
}

impl LogHabits for ClaudeCode {
    fn reply_id<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        let is_reply = item.member_is("type", "assistant");
        item.get("message").filter(|_| is_reply)?.get_text("id")
    }

    /// A count of 0 says that nothing was sent if the program wrote the reply itself; in any other, the count is no longer
    /// known.
    fn usage(&self, item: Value<'_>) -> Option<Usage> {
        let message = item.get("message")?;
        let usage = anthropic::usage(message)?;
        let is_own = || item.is_true("isApiErrorMessage") || message.member_is("model", "<synthetic>");
        (usage.input > 0 || is_own()).then_some(usage)
    }

    /// The last reply decides whether Claude Code compacts before it answers. What was searched stays.
    fn size_figures<'a>(&self, item: Value<'a>) -> Option<SizeFigures<'a>> {
        let usage = item.get("message")?.some("usage")?;
        Some(SizeFigures::SoFar(blocks::numbers(usage, &["server_tool_use"])))
    }

    fn replaces_past(&self, item: Value<'_>) -> bool {
        is_boundary(item) || item.is_true("isCompactSummary")
    }

    fn kept_by(&self, compactions: &[usize], items: &[Value<'_>]) -> Vec<Vec<Range<usize>>> {
        let lists: Vec<HashSet<Cow<'_, str>>> = compactions.iter().map(|&at| preserved(items[at])).collect();
        let mut places: HashMap<Cow<'_, str>, Vec<usize>> = HashMap::new();
        if lists.iter().any(|uuids| !uuids.is_empty()) {
            for (at, uuid) in items.iter().enumerate().filter_map(|(at, item)| Some((at, item.get_text("uuid")?))) {
                places.entry(uuid.into_decoded()).or_default().push(at);
            }
        }
        let kept = compactions.iter().zip(lists).map(|(&compaction, uuids)| {
            let found = uuids.iter().filter_map(|uuid| places.get(uuid)).flatten();
            let mut kept: Vec<usize> = found.copied().filter(|at| *at < compaction).collect();
            kept.sort_unstable();
            kept.into_iter().map(|at| at..at + 1).collect()
        });
        kept.collect()
    }

    /// The provider's ids of the reply and of the request.
    fn provider_ids<'a>(&self, item: Value<'a>) -> Vec<Text<'a>> {
        self.reply_id(item).into_iter().chain(item.get_text("requestId")).collect()
    }

    fn rollbacks(&self, items: &[Value<'_>]) -> Vec<(usize, usize)> {
        rollbacks(items)
    }
}

/// Tags with which the program begins the user messages that it writes itself.
const OWN_TAGS: &[&str] = &[
    "<local-command-caveat>", "<local-command-stdout>", "<local-command-stderr>", "<command-name>",
    "<command-message>", "<task-",
];

fn begins_with_tag(message: &Message<'_>) -> bool {
    // Most texts begin with something else and need not be decoded.
    let is_other = |text: &Text<'_>| matches!(text, Text::Escaped(raw) if !raw.starts_with(['<', ' ', '\\']));
    blocks::first_text(message).is_some_and(|text| {
        let text = if is_other(text) { return false } else { text.decode() };
        OWN_TAGS.iter().any(|tag| text.trim_start().starts_with(tag)) && !has_arguments(&text)
    })
}

/// Whether the text is a command of the program with words of the user.
fn has_arguments(text: &str) -> bool {
    let rest = text.split_once("<command-args>").map(|(_, rest)| rest);
    rest.and_then(|rest| rest.split_once("</command-args>")).is_some_and(|(words, _)| !words.trim().is_empty())
}

fn is_true(flag: Value<'_>) -> bool {
    flag.raw() == "true"
}

/// Calls that are open at a compaction are never answered: the next message of its conversation closes them. The boundary
/// belongs to that message. `trees` are those of the main conversation.
fn close_at_compactions<'a>(items: &[Value<'a>], threads: &[u32], trees: &[Option<usize>], read: &mut [Item<'a>]) {
    let newest = newest(trees, read);
    let mut open: HashMap<(u32, Option<usize>), Compactions> = HashMap::new();
    let mut last_preserving = None;
    let mut previous = 0;
    for (at, &item) in items.iter().enumerate() {
        let conversation = (threads[at], trees[at]);
        if is_boundary(item) && matches!(read[at], Item::Metadata) {
            // A compaction that is not read preserved nothing that is.
            let is_read = threads[at] > 0 || trees[at] == newest;
            let preserves = is_read && !preserved(item).is_empty();
            last_preserving = Some(at).filter(|_| preserves).or(last_preserving);
            let compactions = open.entry(conversation).or_default();
            compactions.lines.push(at);
            compactions.closes = !preserves;
        }
        let Item::Message(message) = &mut read[at] else { continue };
        let summary = item.is_true("isCompactSummary");
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
    if let Some(at) = last_preserving {
        preserve(items[at], &mut read[..at]);
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

fn is_boundary(item: Value<'_>) -> bool {
    item.member_is("type", "system") && item.member_is("subtype", "compact_boundary")
}

/// Marks the messages of `before` that a compaction preserved. Their calls may be answered after the boundary.
fn preserve(boundary: Value<'_>, before: &mut [Item<'_>]) {
    let uuids = preserved(boundary);
    for message in before.iter_mut().filter_map(Item::message_mut) {
        let uuid = message.value().and_then(|value| value.get_text("uuid"));
        if uuid.is_some_and(|uuid| uuids.contains(&*uuid.decode())) {
            message.standing = Standing::Preserved;
        }
    }
}

/// The ids of the messages that a compaction preserved.
fn preserved(boundary: Value<'_>) -> HashSet<Cow<'_, str>> {
    let metadata = boundary.get("compactMetadata");
    let preserved = metadata.and_then(|metadata| metadata.get("preservedMessages"));
    let uuids = preserved.and_then(|preserved| preserved.get("uuids"));
    uuids.into_iter().flat_map(Value::items).filter_map(Value::text).map(Text::into_decoded).collect()
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
    "content", "snippet", "prompt", "addedLines", "addedBlocks", "removedNames", "planContent", "skills", "memories",
    "files", "response", "blockingError", "message", "newDate",
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

// The trees inside one log. A program that begins again links the next message to none, and what it sends no longer contains the
// tree before. Nor does what a resumed session sends, if a link leads to a record that was never written. A user who goes back to
// an earlier message leaves a branch, which is not sent either.
//
//     a <- b <- c <- d          the user went back to b: c and d are a branch, and a tree of their own here
//          b <- e <- f          f is the newest message; the program resumes with a, b, e, f
//
// Not every fork is a rewind: each result of parallel calls hangs off the record of its own call, and the next message off one
// of them. All of these are sent. So only a prompt or a compaction begins a branch.

/// Marks the messages of the main conversation that are not in the tree of the newest one.
fn roll_back(trees: &[Option<usize>], read: &mut [Item<'_>]) {
    let newest = newest(trees, read);
    // A branch is dropped with its first message: without that, it would no longer begin with a prompt.
    let mut first: HashMap<usize, usize> = HashMap::new();
    for (at, (read, tree)) in read.iter_mut().zip(trees).enumerate() {
        let (Item::Message(message), Some(tree)) = (read, tree) else { continue };
        let first = *first.entry(*tree).or_insert(at);
        if newest.is_some_and(|newest| newest != *tree) {
            message.roll_back(Standing::Abandoned);
            message.dropped_with = Some(first).filter(|first| *first < at);
        }
    }
}

/// The tree of the newest message of the main conversation.
fn newest(trees: &[Option<usize>], read: &[Item<'_>]) -> Option<usize> {
    trees.iter().zip(read).rev().find_map(|(tree, read)| tree.filter(|_| matches!(read, Item::Message(_))))
}

/// The messages that begin another tree, return to an earlier one or go back to an earlier message, each with the first item
/// that is no longer read.
fn rollbacks(items: &[Value<'_>]) -> Vec<(usize, usize)> {
    let mut current = None;
    // For each tree: the index behind its last message, and its last prompt.
    let (mut ends, mut prompts): (HashMap<usize, usize>, HashMap<usize, usize>) = Default::default();
    let mut found = Vec::new();
    for (at, node) in nodes(items, Missing::Continues).into_iter().enumerate() {
        let Some(tree) = node.tree.filter(|_| is_message(items[at])) else { continue };
        let end = ends.insert(tree, at + 1).unwrap_or_default();
        let turned = current.replace(tree).is_some_and(|last| last != tree);
        let last = if is_prompt(items[at]) { prompts.insert(tree, at) } else { None };
        let back = node.parent.filter(|parent| last.is_some_and(|last| *parent < last)).map(|parent| parent + 1);
        found.extend(back.or(turned.then_some(end)).map(|first| (at, first)));
    }
    found
}

/// The tree of each item of the main conversation, as the index of its first record. A branch that the path to the newest
/// message left is a tree of its own.
fn trees_of(items: &[Value<'_>]) -> Vec<Option<usize>> {
    let nodes = nodes(items, Missing::Begins);
    let mut trees: Vec<Option<usize>> = nodes.iter().map(|node| node.tree).collect();
    let is_read = |at: &usize| nodes[*at].tree.is_some() && is_message(items[*at]);
    let Some(newest) = (0..items.len()).rev().find(is_read) else { return trees };
    let parents: Vec<Option<usize>> = nodes.iter().map(|node| node.parent).collect();
    let path = tree::path(newest, &parents);
    for at in 0..nodes.len() {
        let TreeNode { tree, parent: Some(parent), first } = nodes[at] else { continue };
        if tree != nodes[newest].tree || path[at] {
            continue;
        }
        let begins = first && trees[parent] == tree && (is_boundary(items[at]) || is_prompt(items[at]));
        trees[at] = if begins { Some(at) } else { trees[parent] };
    }
    trees
}

/// Whether an item is a message.
fn is_message(item: Value<'_>) -> bool {
    let [kind, message] = item.get_each(["type", "message"]);
    kind.is_some_and(|kind| kind.is("user") || kind.is("assistant")) && message.is_some_and(Value::is_object)
}

/// Whether a person typed an item, or the program wrote it as the summary of what was said. What is beside a result is no
/// prompt, also if a cut drops the result: the record still names the call.
fn is_prompt(item: Value<'_>) -> bool {
    let [kind, call] = item.get_each(["type", "sourceToolAssistantUUID"]);
    let is_prompt =
        |read| matches!(read, Item::Message(message) if message.begins_turn() && message.results().next().is_none());
    call.is_none() && kind.is_some_and(|kind| kind.is("user")) && is_prompt(ClaudeCode.read(item))
}

/// The place of a record in the trees.
#[derive(Clone, Copy, Default)]
struct TreeNode {
    /// Its tree, as the index of the first record of that, branches included; `None` for a record of a side conversation.
    tree: Option<usize>,
    /// Index of its parent, or of the record before it in its tree if that precedes no parent, or of the record that it repeats.
    parent: Option<usize>,
    /// Whether it is the first record with its id.
    first: bool,
}

/// What a record does whose parent was never written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    /// It begins a tree: the program goes no further back when it resumes the session.
    Begins,
    /// It continues the last tree: the program that wrote it knew the parent.
    Continues,
}

fn nodes(items: &[Value<'_>], missing: Missing) -> Vec<TreeNode> {
    let mut trees =
        Trees { items, missing, written: None, by_record: HashMap::new(), last: HashMap::new(), current: None };
    items.iter().enumerate().map(|(at, &item)| trees.add(at, item)).collect()
}

struct Trees<'i, 'a> {
    items: &'i [Value<'a>],
    missing: Missing,
    /// The ids of all records, once one of them names a parent that does not precede it.
    written: Option<HashSet<Cow<'a, str>>>,
    /// Index and tree of the first record with each id.
    by_record: HashMap<Cow<'a, str>, (usize, usize)>,
    /// Index of the last record of each tree that has an id.
    last: HashMap<usize, usize>,
    /// The tree of the last message.
    current: Option<usize>,
}

impl<'a> Trees<'_, 'a> {
    /// The place of the next item.
    fn add(&mut self, at: usize, item: Value<'a>) -> TreeNode {
        if item.is_true("isSidechain") {
            return TreeNode::default();
        }
        let node = self.place(at, item);
        if is_message(item) {
            self.current = node.tree;
        }
        node
    }

    /// Whether the program, when it resumes the session, finds no parent of a record that names this one.
    fn is_missing(&mut self, parent: &Text<'a>) -> bool {
        let ids = || self.items.iter().filter_map(|item| Some(item.get_text("uuid")?.into_decoded())).collect();
        self.missing == Missing::Begins && !self.written.get_or_insert_with(ids).contains(&parent.decode())
    }

    fn place(&mut self, at: usize, item: Value<'a>) -> TreeNode {
        // A damaged record without an id continues the last tree, because nothing can hang off it.
        let Some(id) = item.get_text("uuid").map(Text::into_decoded) else {
            let parent = self.current.and_then(|tree| self.last.get(&tree).copied());
            return TreeNode { tree: self.current, parent, first: false };
        };
        if let Some(&(parent, tree)) = self.by_record.get(&id) {
            return TreeNode { tree: Some(tree), parent: Some(parent), first: false };
        }
        let parent = item.get("parentUuid");
        let is_null = |link: Option<Value<'_>>| link.is_some_and(|link| link.kind() == ValueKind::Null);
        // A boundary names what it stands after by another key.
        let begins = is_null(parent) && (!is_boundary(item) || is_null(item.get("logicalParentUuid")));
        let named = || parent.and_then(Value::text);
        let after = named().or_else(|| item.get_text("logicalParentUuid"));
        let known = after.and_then(|after| self.by_record.get(&after.decode()).copied());
        let begins = begins || known.is_none() && named().is_some_and(|parent| self.is_missing(&parent));
        // A record whose parent is not before it continues the last tree.
        let last = |tree: Option<usize>| self.last.get(&tree?).copied();
        let above = known.or_else(|| Some((last(self.current)?, self.current?))).filter(|_| !begins);
        let tree = above.map_or(at, |(_, tree)| tree);
        self.by_record.insert(id, (at, tree));
        self.last.insert(tree, at);
        TreeNode { tree: Some(tree), parent: above.map(|(parent, _)| parent), first: true }
    }
}

/// The keys that a record copies from its anchor, in the order in which the program writes them.
const ENVELOPE: &[&str] = &[
    "isSidechain", "agentId", "userType", "entrypoint", "cwd", "sessionId", "session_id", "version", "gitBranch",
    "slug",
];
