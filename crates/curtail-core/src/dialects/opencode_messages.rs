//! Messages of exports, of version 1 and of version 2.

use super::{Item, blocks};
use crate::json::{Text, Value};
use crate::transcript::{Content, Message, Part, PartPlace, Role, Unknown};

/// What a model reads in place of a result that was pruned.
const CLEARED: &str = "[Old tool result content cleared]";

/// What a model reads in place of the mark of a compaction.
pub(super) const ASKED: &str = "What did we do so far?";

pub(super) fn is_version1(item: Value<'_>) -> bool {
    let Some(info) = item.get("info").filter(|_| !item.has("role")) else { return false };
    let named = info.has("role") && info.has("id");
    named && item.get("parts").is_some_and(Value::is_array)
}

pub(super) fn read_version1(item: Value<'_>) -> Item<'_> {
    let Some(info) = item.get("info").filter(|info| info.is_object()) else { return Item::Unknown(Unknown::NoRole) };
    blocks::read_message(item, info.some_text("role"), role_of, |message| {
        message.id = info.get_text("id");
        message.parts = item.items_under("parts").flat_map(read_part).collect();
        message.automatic = message.role == Role::User && is_automatic(message);
    })
}

fn role_of(name: &str) -> Option<Role> {
    blocks::speaker_of(name).filter(|role| *role != Role::System)
}

/// What a model reads in place of a command that the user gave to a sub-agent.
const EXECUTED: &str = "The following tool was executed by the user";

/// Whether a part is the mark of a compaction.
pub(super) fn is_compaction(part: Value<'_>) -> bool {
    part.member_is("type", "compaction")
}

fn read_part(part: Value<'_>) -> Vec<Part<'_>> {
    let text = part.text_or_empty("text");
    let content = match &*part.word("type") {
        // Shown to the user, and not sent.
        "text" if part.is_true("ignored") => Content::Other,
        "text" => return vec![blocks::rewritable(part, Content::Text(text), part.get("text"))],
        "reasoning" => {
            let signed = part.get("metadata").is_some_and(blocks::is_signed_by_claude);
            return vec![blocks::whole(part, Content::Reasoning(text)).bound_to_prefix(signed)];
        }
        "tool" => return read_tool(part),
        // The program writes what is in them into texts beside them, and sends those.
        "file" if ["text/plain", "application/x-directory"].iter().any(|kind| part.member_is("mime", kind)) => {
            Content::Other
        }
        "file" => Content::Media(Text::Json(part.raw())),
        "compaction" => Content::Text(Text::Escaped(ASKED)),
        "subtask" => Content::Text(Text::Escaped(EXECUTED)),
        "step-start" | "step-finish" | "patch" | "snapshot" | "agent" | "retry" => Content::Other,
        _ => blocks::unknown(part),
    };
    vec![blocks::whole(part, content)]
}

fn read_tool(part: Value<'_>) -> Vec<Part<'_>> {
    let id = part.get_text("callID");
    let name = part.get_text("tool");
    let state = part.some("state");
    let call = blocks::call(id.clone(), name.clone(), state.and_then(|state| state.some("input")));
    let status = state.map(|state| state.word("status")).unwrap_or_default();
    let output = match (state, &*status) {
        (Some(state), "completed") => state.get("output"),
        (Some(state), "error") => state.get("error"),
        (state, _) => return vec![open_call(part, call, state, &["\"error\",\"error\":", ""])],
    };
    let pruned = state.and_then(|state| state.some("time")).is_some_and(|time| time.has("compacted"));
    let result = match pruned {
        true => {
            blocks::whole(part, blocks::result_of(id, name, vec![Text::Escaped(CLEARED)], blocks::count_media(output)))
        }
        false => blocks::rewritable(part, blocks::result(id, name, output), output),
    };
    vec![blocks::whole(part, call), result]
}

/// What a record of version 2 that is neither of the user nor a reply is, by its type.
const KINDS: &[&str] = &[
    "synthetic", "skill", "system", "shell", "compaction", "agent-switched", "model-switched", "location-switched",
    "idle",
];

pub(super) fn is_version2(item: Value<'_>) -> bool {
    let [kind, time, role] = item.get_each(["type", "time", "role"]);
    let Some(kind) = kind.filter(|_| role.is_none()) else { return false };
    let speaks = kind.is("user") && item.get_text("text").is_some() || kind.is("assistant");
    let is_known = speaks || KINDS.iter().any(|name| kind.is(name)) && item.word("id").starts_with("msg_");
    is_known && time.is_some_and(|time| time.has("created")) || is_reply(item)
}

/// Whether an item without a time is a reply with a call.
fn is_reply(item: Value<'_>) -> bool {
    item.member_is("type", "assistant") && item.items_under("content").any(is_tool)
}

fn is_tool(block: Value<'_>) -> bool {
    let is_call = block.has("name") && block.some("state").is_some_and(Value::is_object);
    is_call && block.member_is("type", "tool")
}

pub(super) fn read_version2(item: Value<'_>) -> Item<'_> {
    let kind = item.word("type");
    let id = item.get_text("id");
    let (role, parts): (_, Vec<Part<'_>>) = match &*kind {
        "user" => (Role::User, blocks::plain_parts(item.get("text"))),
        "assistant" => (Role::Assistant, item.items_under("content").flat_map(read_block).collect()),
        "system" => (Role::System, blocks::plain_parts(item.get("text"))),
        "synthetic" | "skill" => return Item::Message(blocks::notice(item, id, blocks::plain_parts(item.get("text")))),
        // What runs beside the conversation is not sent.
        "shell" if item.some("metadata").is_some_and(|metadata| metadata.is_true("background")) => {
            return Item::Metadata;
        }
        // The model reads what the user ran, and what that printed.
        "shell" => {
            let output = item.some("output").map(|output| output.get("output").unwrap_or(output));
            let texts = item.get("command").into_iter().chain(output);
            (Role::User, texts.flat_map(|text| blocks::plain_parts(Some(text))).collect())
        }
        "compaction" if is_summary2(item) => {
            let texts = ["summary", "recent"].into_iter().flat_map(|key| blocks::plain_parts(item.get(key)));
            return blocks::boundary(Role::User, item, id, texts.collect());
        }
        kind if KINDS.contains(&kind) => return Item::Metadata,
        _ => return blocks::unknown_kind(kind),
    };
    if parts.is_empty() && item.get("text").or_else(|| item.get("content")).is_none() {
        return Item::Unknown(Unknown::NoMessage);
    }
    let files = item.items_under("files").map(|file| blocks::whole(file, Content::Media(Text::Json(file.raw()))));
    blocks::message(role, item, id, parts.into_iter().chain(files).collect())
}

/// Whether a record of version 2 is a compaction that replaces what is before it: one that is finished, as are those with a summary
/// and without a status. What a provider alone can read is no summary, and `OpenCode` sends the messages instead.
pub(super) fn is_summary2(item: Value<'_>) -> bool {
    let is_finished = match item.some("status") {
        Some(status) => status.text().is_some_and(|status| status.is("completed")),
        None => item.get_text("summary").is_some_and(|summary| !summary.is_blank()),
    };
    is_compaction(item) && is_finished && item.some("providerContext").is_none()
}

fn read_block(block: Value<'_>) -> Vec<Part<'_>> {
    if block.member_is("type", "reasoning") {
        let proof = block.some("native").or_else(|| block.some("state"));
        let signed = proof.is_some_and(|proof| proof.has("signature"));
        return vec![blocks::whole(block, Content::Reasoning(block.text_or_empty("text"))).bound_to_prefix(signed)];
    }
    let Some(state) = block.some("state").filter(|_| is_tool(block)) else {
        return vec![blocks::part(block, blocks::plain_block(block))];
    };
    let id = block.get_text("id");
    let name = block.get_text("name");
    let call = blocks::call(id.clone(), name.clone(), state.some("input"));
    let output = match &*state.word("status") {
        "completed" => state.get("content"),
        "error" => state.get("error").or_else(|| state.get("content")),
        _ => {
            let error = &["\"error\",\"error\":{\"type\":\"unknown\",\"message\":", "}"];
            return vec![open_call(block, call, Some(state), error)];
        }
    };
    vec![blocks::whole(block, call), blocks::result_part(block, blocks::result(id, name, output), output)]
}

/// What an item says of its message: a member of it in version 1, the item itself in version 2.
pub(super) fn info(item: Value<'_>) -> Value<'_> {
    item.get("info").unwrap_or(item)
}

/// A call without a result, which can be written into it: its state becomes an `error`.
fn open_call<'a>(
    part: Value<'a>,
    call: Content<'a>,
    state: Option<Value<'a>>,
    error: &'static [&'static str; 2],
) -> Part<'a> {
    let place = PartPlace::element(part);
    Part::from_source(
        call,
        match state.and_then(|state| state.get("status")) {
            Some(status) => place.with_text_in(status, error),
            None => place,
        },
    )
}

/// Whether a message says nothing but what the program wrote for the user.
fn is_automatic(message: &Message<'_>) -> bool {
    let mut texts = message.parts.iter().filter(|part| part.content.has_text()).peekable();
    texts.peek().is_some() && texts.all(|part| part.place().is_some_and(|place| is_own(place.element)))
}

/// Whether the program wrote a part for the user.
fn is_own(part: Value<'_>) -> bool {
    part.is_true("synthetic") || is_compaction(part)
}
