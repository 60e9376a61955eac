//! Scripts as Claude Code records: a record per block, linked in a row.

use std::collections::HashMap;

use super::{Turn, json, tokens};

pub fn serialize(script: &[Turn]) -> Vec<String> {
    let mut items = Vec::new();
    for (nth, turn) in script.iter().enumerate() {
        for (kind, message) in records(turn, nth) {
            let parent = if items.is_empty() { String::from("null") } else { format!("\"{}\"", uuid(items.len() - 1)) };
            items.push(format!(
                "{{\"parentUuid\":{parent},\"isSidechain\":false,\"sessionId\":\"s\",\"type\":\"{kind}\",\"message\":{message},\"uuid\":\"{}\"}}",
                uuid(items.len())
            ));
        }
    }
    items
}

/// As the program writes a session of which it lost records: some questions hang off a record that was never written.
pub fn serialize_torn(script: &[Turn]) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let mut leaf: Option<String> = None;
    for (nth, turn) in script.iter().enumerate() {
        if let Turn::User(text) = turn
            && (nth + text.len()).is_multiple_of(4)
        {
            leaf = Some(format!("gone-{nth}"));
        }
        for (kind, message) in records(turn, nth) {
            leaf = Some(push(&mut items, leaf.as_deref(), &format!("\"type\":\"{kind}\",\"message\":{message}")));
        }
    }
    items
}

/// As the program writes a long session: results hang off the record of their call, and some questions begin behind a
/// compaction, or a tree of their own, or after an earlier message that the user went back to. Sub-agents work before and behind
/// compactions, and while calls are open.
pub fn serialize_session(script: &[Turn]) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let mut callers: HashMap<&str, String> = HashMap::new();
    let mut leaf: Option<String> = None;
    // What the questions so far hang off.
    let mut forks: Vec<Option<String>> = Vec::new();
    for (nth, turn) in script.iter().enumerate() {
        if let Turn::User(text) = turn {
            let drawn = nth + text.len();
            // A result whose call is no longer sent hangs off the newest message, as in sessions of the program.
            if drawn % 5 < 4 {
                callers.clear();
            }
            if drawn % 7 < 2 {
                sub_agent(&mut items, drawn.is_multiple_of(2));
            }
            match drawn % 5 {
                0 => leaf = leaf.map(|last| compaction(&mut items, &last, drawn % 7 == 3)),
                1 => leaf = None,
                2 | 3 if !forks.is_empty() => leaf.clone_from(&forks[(drawn / 5 + nth) % forks.len()]),
                _ => {}
            }
            if drawn % 7 == 2 {
                sub_agent(&mut items, drawn.is_multiple_of(2));
            }
            forks.push(leaf.clone());
        }
        let caller = if let Turn::Result { id, .. } = turn { callers.get(id.as_str()).cloned() } else { None };
        let mut parent = caller.or(leaf);
        for (block, (kind, message)) in records(turn, nth).into_iter().enumerate() {
            let beside = beside_message(turn, parent.as_deref());
            let uuid =
                push(&mut items, parent.as_deref(), &format!("\"type\":\"{kind}\",\"message\":{message}{beside}"));
            call_of(turn, block).map(|call| callers.insert(call, uuid.clone()));
            parent = Some(uuid);
        }
        if calls_sub_agent(turn) {
            sub_agent(&mut items, nth.is_multiple_of(2));
        }
        leaf = parent;
    }
    items
}

/// The id of the call in a block of a turn, if it contains one.
fn call_of(turn: &Turn, block: usize) -> Option<&str> {
    let Turn::Assistant { reasoning, text, calls } = turn else { return None };
    let first = usize::from(reasoning.is_some()) + usize::from(text.is_some());
    Some(&calls.get(block.checked_sub(first)?)?.id)
}

fn calls_sub_agent(turn: &Turn) -> bool {
    matches!(turn, Turn::Assistant { calls, .. } if calls.iter().any(|call| call.arguments.len() % 5 == 1))
}

/// What the record of a result contains beside its message: the result once more, and the record of the call.
fn beside_message(turn: &Turn, caller: Option<&str>) -> String {
    let (Turn::Result { text, .. }, Some(caller)) = (turn, caller) else { return String::new() };
    format!(",\"toolUseResult\":{},\"sourceToolAssistantUUID\":\"{caller}\"", json(text))
}

/// Writes the conversation of a sub-agent. Newer versions name it in every record; in older ones, only the links tell it.
fn sub_agent(items: &mut Vec<String>, named: bool) {
    let nth = items.len();
    let name = if named { format!(",\"agentId\":\"a{nth}\"") } else { String::new() };
    let reply = |block: &str| {
        format!(
            "\"type\":\"assistant\",\"message\":{{\"id\":\"msg_a{nth}\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[{block}]}}"
        )
    };
    let asked = |content: &str| format!("\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":{content}}}");
    let records = [
        asked("\"Look for the key.\""),
        reply(&format!(
            "{{\"type\":\"tool_use\",\"id\":\"toolu_a{nth}\",\"name\":\"search\",\"input\":{{\"query\":\"key\"}}}}"
        )),
        asked(&format!(
            "[{{\"tool_use_id\":\"toolu_a{nth}\",\"type\":\"tool_result\",\"content\":\"Under the mat.\"}}]"
        )),
        reply("{\"type\":\"text\",\"text\":\"It is under the mat.\"}"),
    ];
    let mut parent: Option<String> = None;
    for records in records {
        parent = Some(push_in(items, "true", parent.as_deref(), &format!("{records}{name}")));
    }
}

/// Writes a compaction of the tree that ends in `last`, while a sub-agent works if `aside`; returns the id of its summary.
fn compaction(items: &mut Vec<String>, last: &str, aside: bool) -> String {
    let mark = "\"type\":\"system\",\"subtype\":\"compact_boundary\"";
    let boundary = push(items, None, &format!("\"logicalParentUuid\":\"{last}\",{mark}"));
    if aside {
        sub_agent(items, true);
    }
    let summary =
        "\"type\":\"user\",\"isCompactSummary\":true,\"message\":{\"role\":\"user\",\"content\":\"Summary.\"}";
    push(items, Some(&boundary), summary)
}

/// Writes a record of the main conversation; returns its id.
fn push(items: &mut Vec<String>, parent: Option<&str>, rest: &str) -> String {
    push_in(items, "false", parent, rest)
}

/// Writes a record; `side` is whether a sub-agent's conversation contains it. Returns its id.
fn push_in(items: &mut Vec<String>, side: &str, parent: Option<&str>, rest: &str) -> String {
    let id = uuid(items.len());
    let parent = parent.map_or_else(|| String::from("null"), json);
    items.push(format!(
        "{{\"parentUuid\":{parent},\"isSidechain\":{side},\"sessionId\":\"s\",{rest},\"uuid\":\"{id}\"}}"
    ));
    id
}

fn uuid(nth: usize) -> String {
    format!("00000000-0000-4000-8000-{nth:012}")
}

/// The type and the message of every record of a turn.
fn records(turn: &Turn, nth: usize) -> Vec<(&'static str, String)> {
    let user = |content: String| vec![("user", format!("{{\"role\":\"user\",\"content\":{content}}}"))];
    match turn {
        Turn::System(text) | Turn::User(text) => user(json(text)),
        Turn::Result { id, text, .. } => {
            user(format!("[{{\"tool_use_id\":{},\"type\":\"tool_result\",\"content\":{}}}]", json(id), json(text)))
        }
        Turn::Assistant { reasoning, text, calls } => {
            let thought = reasoning
                .iter()
                .map(|text| format!("{{\"type\":\"thinking\",\"thinking\":{},\"signature\":\"c2ln\"}}", json(text)));
            let texts = text.iter().map(|text| format!("{{\"type\":\"text\",\"text\":{}}}", json(text)));
            let calls = calls.iter().map(|call| {
                let (id, name) = (json(&call.id), json(&call.name));
                format!("{{\"type\":\"tool_use\",\"id\":{id},\"name\":{name},\"input\":{}}}", call.arguments)
            });
            let blocks = thought.chain(texts).chain(calls);
            blocks
                .map(|block| {
                    let head = format!("\"id\":\"msg_{nth}\",\"type\":\"message\",\"role\":\"assistant\"");
                    let usage = format!(
                        "{{\"input_tokens\":{},\"cache_creation\":{{\"ephemeral_1h_input_tokens\":7}},\"server_tool_use\":{{\"web_search_requests\":1}}}}",
                        tokens(nth)
                    );
                    ("assistant", format!("{{{head},\"content\":[{block}],\"usage\":{usage}}}"))
                })
                .collect()
        }
    }
}
