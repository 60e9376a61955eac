//! Formats that are known by sight and that no dialect reads: read as another one, they would lose their calls.

use crate::json::Value;

/// A format that no dialect reads, and what to do with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Foreign {
    /// Its name.
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
const COPILOT_LOG: Foreign = Foreign {
    format: "a patch log of VS Code Copilot",
    advice: "its lines change one document: apply them, and the document can be read",
};
const GRAPH: Foreign = Foreign {
    format: "a trace graph of verifiers",
    advice: "its nodes are a tree: write each path from the root as a record with `messages`",
};
const TEXTS: Foreign = Foreign {
    format: "a row of plain texts to train on",
    advice: "it has no messages to cut: write each text as a list of messages",
};

/// A format that has the keys of another, so that a user may read it as that one.
const fn like(format: &'static str) -> Foreign {
    Foreign { format, advice: "pass --dialect NAME to read it as another" }
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
        (None, _) if role.is_none() => format_without_role(item),
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
    } else {
        has_plain_texts(item).then_some(TEXTS)
    }
}

/// Whether a row has texts where others have messages: a prompt and answers to train on.
fn has_plain_texts(item: Value<'_>) -> bool {
    let is_text = |key: &str| item.get(key).is_some_and(|value| value.text().is_some());
    let answer = is_text("output") && item.get("history").is_none();
    let answers = is_text("chosen") && is_text("rejected") || is_text("completion") || answer;
    answers && (is_text("prompt") || is_text("instruction"))
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
    let is_result = |item: &&Value<'a>| {
        let [role, id, name, content] = item.get_each(["role", "tool_call_id", "name", "content"]);
        let is_text = content.is_some_and(|content| content.text().is_some());
        role.is_some_and(|role| role.is("tool")) && is_text && id.is_none() && name.is_none() && is_local_time(**item)
    };
    let result = items.iter().find(is_result)?;
    let marks = ["files", "file_hashes", "pinned", "hide", "metadata"];
    let marked = items.iter().any(|item| marks.iter().any(|key| item.get(key).is_some()));
    marked.then_some(*result)
}

/// Whether an item has a time with microseconds and without a time zone.
fn is_local_time(item: Value<'_>) -> bool {
    const WRITTEN: usize = "2026-06-13T10:00:00.000000".len();
    item.get_text("timestamp").is_some_and(|time| time.len_bound() == WRITTEN && !time.decode().ends_with('Z'))
}
