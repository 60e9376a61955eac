//! Drafts as records, in the envelope of the anchor.

use super::TREE;
use crate::dialects::{anthropic, blocks};
use crate::json::{Value, quote};
use crate::transcript::{Draft, DraftPart, Role};

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
pub(super) fn spell(draft: &Draft, anchor: Option<Value<'_>>) -> String {
    let blocks: Vec<String> = draft.parts.iter().map(anthropic::spell_block).collect();
    let content = match draft.parts.as_slice() {
        [DraftPart::Text(text)] if draft.role != Role::Assistant => quote(text),
        _ => format!("[{}]", blocks.join(",")),
    };
    // User records contain results. Instructions from the application are written as user records, before other content.
    let (kind, head) = match draft.role {
        // Who reads a log expects an id, which no other reply has.
        Role::Assistant => {
            let beside = anchor.and_then(|anchor| anchor.get("uuid")).map_or("", Value::raw);
            let id = blocks::draft_id(&[&content, beside].concat());
            ("assistant", format!("\"id\":\"{id}\",\"model\":\"<synthetic>\",\"type\":\"message\","))
        }
        _ => ("user", String::new()),
    };
    let members = |keys: &[&str]| -> String {
        let found = keys.iter().filter_map(|key| Some((key, anchor?.get(key)?)));
        found.map(|(key, value)| [",\"", key, "\":", value.raw()].concat()).collect()
    };
    format!(
        "{}{},\"type\":\"{kind}\",\"message\":{{{head}\"role\":\"{kind}\",\"content\":{content}}}{}}}",
        TREE.begin(draft, anchor),
        members(ENVELOPE),
        members(&["timestamp"])
    )
}
