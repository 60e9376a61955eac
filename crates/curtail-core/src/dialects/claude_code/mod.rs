//! Claude Code session logs: a record per line with `uuid` and `parentUuid`, Anthropic blocks in `message`.
//!
//! A message of the API may be split into several records with the same `message.id`. The other members of a record
//! (`toolUseResult`, `progress`) are copies: they are neither counted nor paired.

mod attachments;
mod branches;
mod compactions;
mod conversations;
mod preserved;
mod sidelines;
mod subagents;

use super::tree::{Sides, Tree};
use super::{
    BY_ID, Dialect, DialectWriter, Fit, Format, HistoryChange, Item, LogHabits, SizeFigures, anthropic, blocks,
};
use crate::json::{Json, Text, Value, object, quote};
use crate::transcript::{Draft, DraftPart, Message, PairingRules, ProviderRules, ResultPlace, Role, Standing, Usage};
use attachments::read_attachment;
use branches::{roll_back, rollbacks, trees_of};
use compactions::{close_at_compactions, compactions};
use conversations::number_threads;
use sidelines::{bind_replacements, bind_snapshots, pin_states};
pub use subagents::{SUBAGENT_LOG, SUBAGENTS, SubagentNotes};

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
    "tag", "task-summary", "worktree-state", "result", "tool_progress", "tool_use_summary", "rate_limit_event",
    "auth_status", "prompt_suggestion", "content-replacement", "attribution-snapshot", "speculation-accept",
    "bridge-session", "isolation-latch", "fork-context-ref",
];

impl Dialect for ClaudeCode {
    fn format(&self) -> &'static Format {
        &Format {
            name: "claude-code",
            known: &["planContent", "todos"],
            signature: "`type` `user` or `assistant` with `message.content`, `uuid`, `parentUuid`, `sessionId`, \
                `isSidechain`",
            // Before it sends a message, the program collects its records and results.
            pairing: PairingRules {
                results: ResultPlace::Anywhere,
                unique_ids: true,
                failures_need_text: true,
                ..BY_ID
            },
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
        let kind = kind.and_then(Value::text).unwrap_or(Text::Escaped("")).into_decoded();
        let role = match &*kind {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "attachment" => return read_attachment(item),
            // The program sends a command of its own, and its output, with the next message.
            "system" if item.member_is("subtype", "local_command") => {
                return Item::Attached(blocks::texts(item.get("content")).into());
            }
            // A piece of the reply that is written behind it as a whole.
            "stream_event" => return Item::Ahead,
            kind if METADATA.contains(&kind) => return Item::Metadata,
            _ => return blocks::unknown_kind(kind),
        };
        let Some(body) = body.filter(|body| body.is_object()) else { return Item::Metadata };
        let mut message = Message::from_source(role, item);
        let [id, content] = body.get_each(["id", "content"]);
        let own_id = if role == Role::Assistant { id } else { None };
        message.id = own_id.and_then(Value::text).or_else(|| uuid.and_then(Value::text));
        message.parts = anthropic::read_content(content);
        anthropic::mark_compaction(&mut message);
        message.automatic = role == Role::User && (meta.is_some_and(is_true) || is_own(&message));
        if is_error_of_api(item) {
            message.standing = Standing::Unsent;
        }
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
        bind_replacements(items, read);
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
        let is_sent = !item.is_true("isApiErrorMessage") && !message.member_is("model", "<synthetic>");
        (usage.input > 0 || !is_sent).then_some(usage)
    }

    /// The last reply decides whether Claude Code compacts before it answers. What was searched stays.
    fn size_figures<'a>(&self, item: Value<'a>) -> Option<SizeFigures<'a>> {
        let usage = item.get("message")?.some("usage")?;
        Some(SizeFigures::SoFar(blocks::numbers(usage, &["server_tool_use"])))
    }

    /// The provider's ids of the reply and of the request.
    fn provider_ids<'a>(&self, item: Value<'a>) -> Vec<Text<'a>> {
        self.reply_id(item).into_iter().chain(item.get_text("requestId")).collect()
    }

    fn history(&self, items: &[Value<'_>]) -> Vec<HistoryChange> {
        HistoryChange::in_order([rollbacks(items), compactions(items)].concat())
    }
}

/// Beginnings of the user messages that the program writes itself.
const OWN_BEGINNINGS: &[&str] = &[
    "<local-command-caveat>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<command-name>",
    "<command-message>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-",
    "[Request interrupted by user",
    "Operation stopped by hook:",
];

fn is_own(message: &Message<'_>) -> bool {
    let Some(text) = blocks::first_text(message) else { return false };
    // Most texts begin with something else and need not be decoded.
    if matches!(text, Text::Escaped(raw) if !raw.starts_with(['<', '[', 'O', ' ', '\\'])) {
        return false;
    }
    let text = text.decode();
    OWN_BEGINNINGS.iter().any(|words| text.trim_start().starts_with(words)) && !has_arguments(&text)
}

/// Whether the text is a command of the program with words of the user.
fn has_arguments(text: &str) -> bool {
    let rest = text.split_once("<command-args>").map(|(_, rest)| rest);
    rest.and_then(|rest| rest.split_once("</command-args>")).is_some_and(|(words, _)| !words.trim().is_empty())
}

/// Whether the program wrote a record in place of a reply: why there is none. It shows it, and does not send it.
fn is_error_of_api(item: Value<'_>) -> bool {
    item.is_true("isApiErrorMessage")
        && item.get("message").is_some_and(|message| message.member_is("model", "<synthetic>"))
}

/// Whether a record marks a compaction.
fn is_boundary(item: Value<'_>) -> bool {
    item.member_is("type", "system") && item.member_is("subtype", "compact_boundary")
}

fn is_true(flag: Value<'_>) -> bool {
    flag.raw() == "true"
}

/// The keys that a record copies from its anchor, in the order in which the program writes them.
const ENVELOPE: &[&str] = &[
    "isSidechain", "agentId", "userType", "entrypoint", "cwd", "sessionId", "session_id", "version", "gitBranch",
    "slug",
];
