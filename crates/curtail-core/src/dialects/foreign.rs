//! Formats that are known by sight and that no dialect reads, each with what to do instead. Read as another one, some would lose
//! their calls, and others have no messages, or have them under keys that nothing else has.

use crate::json::Value;

/// A format that no dialect reads, and what to do with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Foreign {
    format: &'static str,
    /// What to do instead.
    advice: &'static str,
}

impl Foreign {
    /// Why a transcript in this format is refused.
    pub(super) fn refusal(self) -> String {
        format!("this is written as {}, which curtail does not read; {}", self.format, self.advice)
    }
}

const IFLOW: Foreign = like("iFlow");
const AMP: Foreign = like("a thread of Amp");
const GPTME: Foreign = like("gptme");
const COPILOT_LOG: Foreign = foreign(
    "a patch log of VS Code Copilot without its first line",
    "that line has the document which the others change: with it, the log is read",
);
const GRAPH: Foreign = foreign(
    "a trace graph of verifiers",
    "its nodes are a tree: write each path from the root as a record with `messages`",
);
const TEXTS: Foreign =
    foreign("a row of plain texts to train on", "it has no messages to cut: write each text as a list of messages");

const AG_UI_EVENTS: Foreign = foreign(
    "a stream of AG-UI events",
    "its last snapshot has the messages: jq -cs 'map(select(.type == \"MESSAGES_SNAPSHOT\")) | last | .messages'",
);
const ACP: Foreign = foreign(
    "a wire log of the Agent Client Protocol",
    "its texts come in pieces: cut the session of the agent itself, which `curtail sessions` lists",
);
const JSON_RPC: Foreign = foreign("a log of JSON-RPC", "write the messages that it carries as a list under `messages`");
const REALTIME: Foreign = foreign(
    "a log of Realtime events",
    "its items are messages: jq -c 'select(.type == \"conversation.item.done\") | .item', or for a log of the beta: jq -c \
     'select(.type == \"response.output_item.done\" or .type == \"conversation.item.created\" and .item.status != \
     \"in_progress\") | .item'",
);
const OASST: Foreign = foreign(
    "a tree of OASST",
    "each path from the prompt to a last reply is a transcript: write it as a list under `messages`",
);
const RENDERED: Foreign = foreign(
    "a text that a chat template rendered",
    "cut the messages that it was rendered from (`curtail limit --template` counts what the template renders), and render those \
     again with it",
);
const CLINE_UI: Foreign =
    foreign("what Cline shows on its screen", "the messages are in `api_conversation_history.json` beside it");
const PAIRS: Foreign = foreign("a history of text-generation-webui", "pass --messages-key internal");
const TEXT_LIST: Foreign = foreign(
    "a row of texts by turns",
    "give each a role: jq -c '{messages: [.data | to_entries[] | {role: (if .key % 2 == 0 then \"user\" else \
             \"assistant\" end), content: .value}]}'",
);
const RESULTS: Foreign =
    foreign("a batch's list of results", "it has answers without their questions: cut the requests");

const TEAM: Foreign = foreign(
    "the state of a team of AutoGen",
    "each agent has messages of its own: pass --messages-key agent_states.NAME.agent_state.llm_context.messages",
);

const fn foreign(format: &'static str, advice: &'static str) -> Foreign {
    Foreign { format, advice }
}

/// A format that has the keys of another, and other calls: read as that one, it would lose them.
const fn like(format: &'static str) -> Foreign {
    foreign(format, "describe the format with --dialect-file")
}

/// The format that one of `items` is in, if it is one of these, with the offset of that item.
pub(super) fn format_of(items: &[Value<'_>]) -> Option<(usize, Foreign)> {
    let one = items.iter().find_map(|&item| Some((item, format_of_item(item)?)));
    let (item, format) = one.or_else(|| gptme(items).map(|item| (item, GPTME)))?;
    Some((item.span().start as usize, format))
}

/// The format of one item, or of a record.
pub(super) fn format_of_item(item: Value<'_>) -> Option<Foreign> {
    let [kind, role, session] = item.get_each(["type", "role", "sessionId"]);
    match (kind.and_then(Value::text), session) {
        (Some(kind), Some(session)) if is_iflow(session) && item.get("parentUuid").is_some() => {
            matches!(&*kind.decode(), "user" | "assistant").then_some(IFLOW)
        }
        _ if is_amp(item) => Some(AMP),
        (Some(kind), _) => format_of_event(item, &kind.decode()),
        (None, _) if role.is_none() => format_without_role(item),
        (None, _) => item.get("message_tree_id").map(|_| OASST),
    }
}

/// The format of an event of this type.
fn format_of_event(item: Value<'_>, kind: &str) -> Option<Foreign> {
    match kind {
        "RUN_STARTED" | "RUN_FINISHED" | "STATE_SNAPSHOT" | "MESSAGES_SNAPSHOT" => Some(AG_UI_EVENTS),
        kind if kind.starts_with("TEXT_MESSAGE_") || kind.starts_with("TOOL_CALL_") => {
            (item.has("messageId") || item.has("toolCallId")).then_some(AG_UI_EVENTS)
        }
        "say" | "ask" => (item.has("ts") && item.has(kind)).then_some(CLINE_UI),
        "session.created" | "session.updated" => Some(REALTIME),
        kind if kind.starts_with("conversation.item.") || kind.starts_with("input_audio_buffer.") => Some(REALTIME),
        "TeamState" => item.get("agent_states").map(|_| TEAM),
        "succeeded" => item.get("message").map(|_| RESULTS),
        _ => None,
    }
}

/// The format of an item that says neither a role nor a type.
fn format_without_role(item: Value<'_>) -> Option<Foreign> {
    let [kind, value, nodes] = item.get_each(["kind", "v", "nodes"]);
    let node = nodes.and_then(|nodes| nodes.items().next());
    let patches = kind.is_some_and(|kind| matches!(kind.raw(), "0" | "1" | "2" | "3"));
    if patches && (item.get("k").is_some() || value.is_some_and(|value| value.get("requests").is_some())) {
        Some(COPILOT_LOG)
    } else if node.is_some_and(|node| node.get("message").is_some()) {
        Some(GRAPH)
    } else if is_rendered(item) {
        Some(RENDERED)
    } else {
        format_by_keys(item).or_else(|| has_plain_texts(item).then_some(TEXTS))
    }
}

/// The format of an item that only its keys tell.
fn format_by_keys(item: Value<'_>) -> Option<Foreign> {
    let [rpc, method, tree, replies] = item.get_each(["jsonrpc", "method", "message_tree_id", "prompt"]);
    let [internal, visible, data] = item.get_each(["internal", "visible", "data"]);
    match (rpc, method.and_then(Value::text)) {
        (Some(_), Some(method)) if method.decode().starts_with("session/") => return Some(ACP),
        (Some(_), _) => return Some(JSON_RPC),
        _ => {}
    }
    if tree.is_some() || replies.is_some_and(|prompt| prompt.has("replies")) {
        return Some(OASST);
    }
    if internal.is_some_and(Value::is_array) && visible.is_some() {
        return Some(PAIRS);
    }
    data.is_some_and(is_texts).then_some(TEXT_LIST)
}

/// Whether a value is a list of nothing but texts.
fn is_texts(list: Value<'_>) -> bool {
    list.items().next().is_some() && list.items().all(|text| text.text().is_some())
}

/// Whether a row has texts in which a template marked who speaks.
fn is_rendered(item: Value<'_>) -> bool {
    const MARKS: [&str; 8] = [
        "<|im_start|>", "<|start|>", "<|start_header_id|>", "<start_of_turn>", "[INST]", "<|endoftext|>",
        "<\u{ff5c}User\u{ff5c}>", "<|user|>",
    ];
    // Somebody who speaks may speak of marks.
    if item.has_any(["from", "speaker", "sender", "author", "source", "user"]) {
        return false;
    }
    let texts = item.get_each(["text", "input", "prompt", "chat", "output"]).into_iter().flatten();
    texts.filter_map(Value::text).any(|text| {
        let text = text.decode();
        MARKS.iter().any(|mark| text.contains(mark))
    })
}

/// Whether a row has texts where others have messages: a prompt and answers to train on.
fn has_plain_texts(item: Value<'_>) -> bool {
    let keys = ["output", "chosen", "rejected", "completion", "prompt", "instruction"];
    let [output, chosen, rejected, completion, prompt, instruction] =
        item.get_each(keys).map(|value| value.and_then(Value::text).is_some());
    let answers = chosen && rejected || completion || output && item.get("history").is_none();
    answers && (prompt || instruction)
}

/// Results of Amp name their call as `toolUseID`, and hold what the tool did in `run`; the other blocks are those of Anthropic.
fn is_amp(item: Value<'_>) -> bool {
    let mut blocks = item.items_under("content");
    blocks.any(|block| {
        let result = block.member_is("type", "tool_result");
        result && block.get("toolUseID").is_some() && block.get("run").is_some()
    })
}

/// A session of iFlow has a name of its own before the UUID; the records are otherwise those of Claude Code.
fn is_iflow(session: Value<'_>) -> bool {
    const UUID: usize = 36;
    session.text().is_some_and(|name| name.decode().strip_prefix("session-").is_some_and(|id| id.len() == UUID))
}

/// A result of a tool in gptme answers no call: calls are in the text. Other results name the call, and other logs have none
/// of the keys of gptme.
fn gptme<'a>(items: &[Value<'a>]) -> Option<Value<'a>> {
    let result = items.iter().copied().find(|item| {
        let [role, id, name, content] = item.get_each(["role", "tool_call_id", "name", "content"]);
        let is_text = content.is_some_and(|content| content.text().is_some());
        role.is_some_and(|role| role.is("tool")) && is_text && id.is_none() && name.is_none() && is_local_time(*item)
    })?;
    let is_marked = items.iter().any(|item| {
        item.has_any(["files", "file_hashes", "pinned", "hide"]) || item.get("metadata").is_some_and(is_gptme_metadata)
    });
    is_marked.then_some(result)
}

/// Whether the metadata of a message are those of gptme: the model, and what it counted or cost. Older versions write the counts
/// beside it.
fn is_gptme_metadata(metadata: Value<'_>) -> bool {
    let counts = metadata.get("usage").unwrap_or(metadata);
    metadata.has("model") && (metadata.has("cost") || counts.has("input_tokens"))
}

/// Whether an item has a time with microseconds and without a time zone.
fn is_local_time(item: Value<'_>) -> bool {
    const WRITTEN: usize = "2026-06-13T10:00:00.000000".len();
    item.get_text("timestamp").is_some_and(|time| time.len_bound() == WRITTEN && !time.decode().ends_with('Z'))
}
