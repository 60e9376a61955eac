//! Logs of pi, and of OpenClaw, which is built on it: entries with a `type`, messages under `message`, calls as `toolCall`
//! blocks that messages with the role `toolResult` answer.

use super::hub_traces::{
    is_trace_header, is_trace_line, is_traced, traced_calls, traced_result, traced_thought, write_trace_line,
};
use super::pi_history::{Names, kept_by, relink};
use super::tree::Tree;
use super::{
    Dialect, DialectWriter, Fit, Format, HistoryChange, Item, LogHabits, NO_RULES, Patch, Remaining, SizeFigures,
    blocks,
};
use crate::json::{ObjectWriter, Text, Value, list, object};
use crate::transcript::{
    Content, Draft, DraftResult, Layout, Links, Part, PartOrigin, ProviderRules, Role, Standing, Unknown, Usage,
};

/// The dialect `pi`.
pub(super) struct Pi;

/// Entries of newer logs are linked; in OpenClaw, a result links to its call and not to an entry.
const TREE: Tree = Tree { id: "id", parent: "parentId", others: &[], path: true, sides: None, trees: None };

/// Types of entries that are not messages.
const METADATA: &[&str] =
    &["session", "model_change", "thinking_level_change", "active_tools_change", "custom", "label", "session_info"];

impl Dialect for Pi {
    fn format(&self) -> &'static Format {
        &Format {
            name: "pi",
            known: &["partialJson"],
            signature: "`type` `session`, `message` with role `toolResult`, blocks `toolCall`, `compaction`, \
                `model_change`",
            provider: ProviderRules { signatures: &["thinkingSignature"], ..NO_RULES },
            is_log: true,
            writer: Some(&Pi),
            log: &Pi,
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        match &*item.word("type") {
            "session" if item.get("cwd").is_some() || is_trace_header(item) => Fit::Certain,
            "model_change" | "thinking_level_change" => Fit::Certain,
            // Entries of pi have a `timestamp`.
            "compaction" | "branch_summary" if item.has("summary") && !item.has("time") => Fit::Certain,
            "custom" | "custom_message" if item.get("customType").is_some() => Fit::Certain,
            "message" => item.get("message").map_or(Fit::No, fit_message),
            _ => Fit::No,
        }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        let kind = item.word("type");
        match &*kind {
            "message" => read_message(item),
            "custom_message" => said_to_model(item, item.get("content")),
            "branch_summary" => said_to_model(item, item.get("summary")),
            "compaction" => {
                let mut read = said_to_model(item, item.get("summary"));
                if let Some(message) = read.message_mut() {
                    message.set_boundary();
                }
                read
            }
            kind if METADATA.contains(&kind) => Item::Metadata,
            _ => blocks::unknown_kind(kind),
        }
    }

    fn connect<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        if is_tree(items) {
            TREE.abandon(items, read);
        }
        let last = read.iter().rposition(|read| matches!(read, Item::Message(message) if message.is_boundary()));
        if let Some(last) = last {
            blocks::preserve(read, kept_by(items[last], last, &Names::new(items)));
        }
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        blocks::model(item).or_else(|| item.get_text("modelId"))
    }
}

impl DialectWriter for Pi {
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        if let Some(anchor) = anchor.filter(|anchor| is_trace_line(*anchor)) {
            return write_trace_line(draft, anchor);
        }
        let message = match draft.only_result() {
            Some(result) => object! {
                "role": "toolResult",
                "toolCallId": result.call_id(),
                "toolName": result.name,
                "content": list([self.write_result(result)]),
                "isError": true,
            },
            None => object! { "role": blocks::speaker(draft), "content": blocks::parts(self, draft) },
        };
        let entry = if is_linked(anchor) { TREE.begin(draft, anchor) } else { ObjectWriter::new() };
        entry.member("type", "message").copied(anchor, &["timestamp"]).member("message", &message).end().0
    }

    fn write_result(&self, result: &DraftResult) -> String {
        self.write_text(&result.text)
    }

    fn links(&self, draft: &Draft, anchor: Option<Value<'_>>) -> Option<Links> {
        is_linked(anchor).then(|| TREE.links(draft, anchor))
    }

    fn tree(&self) -> Option<&'static Tree> {
        Some(&TREE)
    }

    fn relink(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) -> Vec<Patch> {
        let mut patches = TREE.relink(layout, remaining);
        patches.extend(relink(layout, remaining));
        patches
    }
}

impl LogHabits for Pi {
    fn usage(&self, item: Value<'_>) -> Option<Usage> {
        let message = item.get("message")?;
        let usage = message.some("usage")?;
        let cache_read = usage.number("cacheRead");
        let cache_write = usage.number("cacheWrite");
        let input = usage.number("input") + cache_read + cache_write;
        // Without an error, 0 stands for a count that is no longer known.
        let is_known = input > 0 || matches!(&*message.word("stopReason"), "error" | "aborted");
        is_known.then(|| Usage { input, cache_read, cache_write, output: usage.number("output"), ..Usage::default() })
    }

    /// The last reply decides whether pi compacts before it answers. What was paid stays.
    fn size_figures<'a>(&self, item: Value<'a>) -> Option<SizeFigures<'a>> {
        Some(SizeFigures::SoFar(blocks::numbers(item.get("message")?.some("usage")?, &["cost"])))
    }

    fn history(&self, items: &[Value<'_>]) -> Vec<HistoryChange> {
        let mut names = None;
        let compactions = HistoryChange::compactions(items.len(), |at| {
            let is_compaction = items[at].member_is("type", "compaction");
            is_compaction.then(|| kept_by(items[at], at, names.get_or_insert_with(|| Names::new(items))))
        });
        let rollbacks = if is_tree(items) { TREE.rollbacks(items) } else { Vec::new() };
        HistoryChange::in_order([rollbacks, compactions].concat())
    }

    fn provider(&self, item: Value<'_>) -> Option<&'static str> {
        let api = item.get("message")?.get_text("api")?.decode().into_owned();
        let apis = [("anthropic", "anthropic"), ("bedrock", "bedrock"), ("openai", "openai"), ("google", "gemini")];
        apis.into_iter().find(|(start, _)| api.starts_with(start)).map(|(_, provider)| provider)
    }
}

/// Whether `parentId` makes the log a tree. In logs of OpenClaw it names the session as well, and the calls that results answer:
/// no path through them leads back to every message.
fn is_tree(entries: &[Value<'_>]) -> bool {
    let session = entries.iter().find(|entry| entry.member_is("type", "session"));
    let Some(id) = session.and_then(|session| session.get_text("id")).map(Text::into_decoded) else { return true };
    !entries.iter().any(|entry| entry.member_is("parentId", &id))
}

fn fit_message(message: Value<'_>) -> Fit {
    let Some(role) = message.get_text("role") else { return Fit::No };
    let certain = role.is("toolResult")
        || role.is("bashExecution")
        || message.items_under("content").any(|block| block.member_is("type", "toolCall"))
        || message.get("stopReason").or_else(|| message.get("api")).is_some()
        || is_traced(message);
    if certain { Fit::Certain } else { Fit::Possible }
}

fn read_message(item: Value<'_>) -> Item<'_> {
    let Some(body) = item.get("message") else { return Item::Unknown(Unknown::NoMessage) };
    let role = body.word("role");
    let (role, parts) = match &*role {
        "user" => (Role::User, content(body)),
        "system" => (Role::System, content(body)),
        "assistant" => {
            let parts = traced_thought(body).into_iter().chain(content(body));
            (Role::Assistant, parts.chain(traced_calls(body)).collect())
        }
        "tool" => (Role::Tool, vec![traced_result(item, body)]),
        "toolResult" => (Role::Tool, vec![read_result(item, body)]),
        // `!!` runs a command without showing it to the model.
        "bashExecution" if body.is_true("excludeFromContext") => {
            return Item::Metadata;
        }
        "bashExecution" => (Role::User, read_shell(body)),
        "custom" | "branchSummary" | "compactionSummary" | "hookMessage" => {
            let text = body.get("content").or_else(|| body.get("summary"));
            return said_to_model(item, text);
        }
        _ => return Item::Unknown(Unknown::role(role.into_owned())),
    };
    let mut read = blocks::message(role, item, item.get_text("id"), parts);
    if let Some(message) = read.message_mut().filter(|_| failed(body)) {
        message.standing = Standing::RolledBack;
    }
    read
}

/// Whether pi sends a reply no more, because it was interrupted or ended in an error.
fn failed(message: Value<'_>) -> bool {
    matches!(&*message.word("stopReason"), "error" | "aborted")
}

/// An entry of the program, or of an extension, whose text the model reads as a user message.
fn said_to_model<'a>(item: Value<'a>, text: Option<Value<'a>>) -> Item<'a> {
    let parts = blocks::plain_parts(text);
    if parts.is_empty() {
        return Item::Metadata;
    }
    Item::Message(blocks::notice(item, item.get_text("id"), parts))
}

fn content(message: Value<'_>) -> Vec<Part<'_>> {
    let claude = message.get_text("api").is_some_and(|api| {
        let api = api.decode();
        api.starts_with("anthropic") || api.starts_with("bedrock")
    });
    let mut parts = blocks::content(message.get("content"), |block| match &*block.word("type") {
        "thinking" => Content::Reasoning(block.text_or_empty("thinking")),
        "toolCall" => blocks::call_in(block, ["id", "name", "arguments"]),
        _ => blocks::plain_block(block),
    });
    for part in parts.iter_mut().filter(|part| matches!(part.content, Content::Reasoning(_))) {
        if let PartOrigin::Source(place) = &mut part.origin {
            place.prefix_bound = claude && place.element.some_text("thinkingSignature").is_some();
            // Other providers sign nothing, or what they sign is no text of the block.
            if !claude {
                place.further_mut().unsigned = true;
            }
        }
    }
    parts
}

fn read_result<'a>(item: Value<'a>, message: Value<'a>) -> Part<'a> {
    let content = message.get("content");
    let result = blocks::result(message.get_text("toolCallId"), message.get_text("toolName"), content);
    // If the content was a list of blocks, the log requires one.
    let mut part = blocks::result_part(item, result, blocks::text_or_list(content));
    if let Some(copy) = message.some("details") {
        part.add_copy(copy);
    }
    part
}

/// A command that the user ran: the model reads the command and its output.
fn read_shell(message: Value<'_>) -> Vec<Part<'_>> {
    let texts = ["command", "output"].into_iter().filter_map(|key| message.get(key));
    texts.flat_map(|text| blocks::plain_parts(Some(text))).collect()
}

/// Whether a record beside `anchor` has links.
fn is_linked(anchor: Option<Value<'_>>) -> bool {
    anchor.is_some_and(|anchor| !is_trace_line(anchor) && anchor.get("parentId").is_some())
}
