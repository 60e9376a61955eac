//! Logs of Qwen Code: records with `uuid` and `parentUuid` like those of Claude Code, with Gemini's parts in `message`.

use super::tree::Tree;
use super::{
    BY_ID, Dialect, DialectWriter, Fit, Format, HistoryChange, Item, LogHabits, SizeFigures, blocks, gemini,
    gemini_parts, provenance,
};
use crate::json::{Text, Value, object};
use crate::transcript::{
    Content, Draft, DraftPart, Message, MessageKind, PairingRules, ResultPlace, Role, Standing, Usage,
};

/// The dialect `qwen`.
pub(super) struct Qwen;

const TREE: Tree = Tree { id: "uuid", parent: "parentUuid", others: &[], path: true, sides: None, trees: None };

impl Dialect for Qwen {
    fn format(&self) -> &'static Format {
        &Format {
            name: "qwen",
            signature: "`uuid`, `parentUuid` and `message.parts`; `type` `user`, `assistant`, `tool_result`, \
                `system` with `systemPayload`",
            pairing: PairingRules { results: ResultPlace::Anywhere, ..BY_ID },
            is_log: true,
            writer: Some(&Qwen),
            log: &Qwen,
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let has_parts = item.get("message").and_then(|body| body.get("parts")).is_some_and(Value::is_array);
        let is_record = item.get("uuid").is_some() && (has_parts || item.get("systemPayload").is_some());
        if is_record { Fit::Certain } else { Fit::No }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        let kind = item.word("type");
        let role = match &*kind {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool_result" => Role::Tool,
            "system" => {
                return history_of(item).map_or(Item::Metadata, |history| Item::Message(boundary(item, history)));
            }
            _ => return blocks::unknown_kind(kind),
        };
        let list = item.get("message").and_then(|body| body.get("parts"));
        let mut message = Message::from_source(role, item);
        // Records with the same id belong to one message.
        message.id = item.get_text("uuid");
        message.parts = gemini_parts::read(list);
        message.call_rules.indivisible = gemini_parts::only_first_is_signed(list);
        match &*item.word("subtype") {
            // What a task in the background or a goal says.
            "notification" | "goal_runtime" => message.automatic = role == Role::User,
            "realtime_message" | "code_mode_tool_result" => message.standing = Standing::Unsent,
            _ => {}
        }
        if let Some(copy) = item.get("toolCallResult") {
            let results = message.parts.iter_mut().filter(|part| part.content.result().is_some());
            results.for_each(|part| part.add_copy(copy));
        }
        Item::Message(message)
    }

    fn connect<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        // Qwen Code resumes with the path to the newest record alone.
        TREE.abandon(items, read);
    }
}

impl DialectWriter for Qwen {
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let (kind, role) = match draft.role {
            Role::Assistant => ("assistant", "model"),
            Role::Tool => ("tool_result", "user"),
            _ => ("user", "user"),
        };
        let record = TREE.begin(draft, anchor);
        let record = record.copied(anchor, &["sessionId", "timestamp", "cwd", "version", "gitBranch"]);
        record
            .member("type", kind)
            .member("message", &object! { "role": role, "parts": blocks::parts(self, draft) })
            .end()
            .0
    }

    fn write_part(&self, part: &DraftPart) -> String {
        gemini::Gemini.write_part(part)
    }

    fn tree(&self) -> Option<&'static Tree> {
        Some(&TREE)
    }
}

impl LogHabits for Qwen {
    fn usage(&self, item: Value<'_>) -> Option<Usage> {
        provenance::gemini_usage(item.some("usageMetadata")?)
    }

    /// The newest of them decides whether Qwen Code compresses before it answers.
    fn size_figures<'a>(&self, item: Value<'a>) -> Option<SizeFigures<'a>> {
        let usage = item.some("usageMetadata");
        let figures = usage.or_else(|| item.some("systemPayload")?.some("info")?.get("newTokenCount"))?;
        Some(SizeFigures::SoFar(blocks::numbers(figures, &[])))
    }

    fn history(&self, items: &[Value<'_>]) -> Vec<HistoryChange> {
        let compressions = HistoryChange::compactions(items.len(), |at| history_of(items[at]).map(|_| Vec::new()));
        HistoryChange::in_order([TREE.rollbacks(items), compressions].concat())
    }
}

/// The list of a compression, which Qwen Code sends in place of everything before it.
fn history_of(item: Value<'_>) -> Option<Value<'_>> {
    let [subtype, payload] = item.get_each(["subtype", "systemPayload"]);
    let payload = payload.filter(|_| subtype.is_some_and(|subtype| subtype.is("chat_compression")))?;
    payload.get("compressedHistory").filter(|history| history.is_array())
}

/// A compression. Its list can end with calls that the log answers behind it.
fn boundary<'a>(item: Value<'a>, history: Value<'a>) -> Message<'a> {
    let parts = vec![blocks::whole(history, Content::Text(Text::Json(history.raw())))];
    Message { kind: MessageKind::Boundary, ..blocks::notice(item, item.get_text("uuid"), parts) }
}
