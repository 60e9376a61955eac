//! Records that we write: what is said, in the envelope of a record near by.

use crate::dialects::anthropic;
use crate::json::{Value, quote};
use crate::transcript::{Draft, DraftPart, Role};

/// What a record keeps of the record near it, in the order in which the program writes it.
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

/// Spells a record. Its links are open: [`link`] closes them when its neighbours are known.
pub(super) fn spell(draft: &Draft, near: Option<Value<'_>>) -> String {
    let blocks: Vec<String> = draft.parts.iter().map(anthropic::spell_block).collect();
    let content = match draft.parts.as_slice() {
        [DraftPart::Text(text)] if draft.role != Role::Assistant => quote(text),
        _ => format!("[{}]", blocks.join(",")),
    };
    let seed = fingerprint(&content, near.map_or("", Value::raw));
    // Results stand in user records; instructions from the application go to the user, who reads them first.
    let (kind, head) = match draft.role {
        Role::Assistant => {
            ("assistant", format!("\"model\":\"<synthetic>\",\"id\":\"msg_{seed:016x}\",\"type\":\"message\","))
        }
        _ => ("user", String::new()),
    };
    let mut envelope = String::new();
    for key in ENVELOPE {
        if let Some(value) = near.and_then(|near| near.get(key)) {
            envelope.push_str(&[",\"", key, "\":", value.raw()].concat());
        }
    }
    let timestamp = near.and_then(|near| near.get("timestamp"));
    let timestamp = timestamp.map_or_else(String::new, |value| [",\"timestamp\":", value.raw()].concat());
    format!(
        "{}{envelope},\"type\":\"{kind}\",\"message\":{{{head}\"role\":\"{kind}\",\"content\":{content}}}{timestamp}}}",
        links(None, &uuid(seed, 0))
    )
}

fn links(parent: Option<&str>, uuid: &str) -> String {
    format!("{{\"parentUuid\":{},\"uuid\":{}", parent.map_or_else(|| String::from("null"), quote), quote(uuid))
}

/// Gives a record that [`spell`] spelt its parent, and a uuid that no other has: `nth` counts what we wrote. Returns the uuid.
pub(super) fn link(text: &mut String, parent: Option<&str>, nth: usize) -> String {
    let open = links(None, &uuid(0, 0)).len();
    let uuid = uuid(fingerprint(text, parent.unwrap_or_default()), nth);
    let linked = links(parent, &uuid) + &text[open..];
    *text = linked;
    uuid
}

/// FNV-1a over both texts: the same input gives the same record on every machine.
fn fingerprint(text: &str, near: &str) -> u64 {
    let bytes = text.bytes().chain([0xff]).chain(near.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A uuid of our own making (RFC 9562, version 8).
fn uuid(seed: u64, nth: usize) -> String {
    let (high, low) = (seed >> 32, seed & 0xffff_ffff);
    format!("{high:08x}-{:04x}-8{:03x}-8{:03x}-{:012x}", low >> 16, low & 0xfff, (low >> 4) & 0xfff, nth)
}
