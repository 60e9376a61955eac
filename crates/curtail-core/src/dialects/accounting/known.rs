//! What a long text is, and which members of every format hold none for a model.

use std::sync::LazyLock;

use foldhash::HashSet;

use crate::dialects::Dialect;
use crate::json::{Text, Value};

/// The characters from which on a string is accounted for: ids, dates and names are shorter.
pub(in crate::dialects) const LONG: usize = 40;

/// Members without text for a model, whatever the format: ids, times and places of files, what a provider counted, marks of
/// caches, proofs, what a screen shows. Those with the end of such a key are, too.
const KNOWN: &[&str] = &[
    "id", "ids", "thinkingSignature", "timestamp", "ts", "time", "date", "created", "updated", "url", "uri", "href",
    "cwd", "path", "file", "model", "provider", "usage", "usageMetadata", "usage_metadata", "tokens", "metrics",
    "cost", "version", "hash", "sha256", "checksum", "etag", "signature", "fingerprint", "system_fingerprint",
    "logprobs", "annotations", "citations", "metadata", "meta", "_meta", "mimeType", "media_type", "cache_control",
    "providerMetadata", "provider_metadata", "providerOptions", "provider_options", "callProviderMetadata",
    "response_metadata", "provider_details", "gitBranch", "status", "type", "name", "toolName", "tool_name",
];

static KNOWN_KEYS: LazyLock<HashSet<&str>> = LazyLock::new(|| KNOWN.iter().copied().collect());

/// Whether a key ends as those of ids, times, addresses and checksums do.
fn ends_as_known(key: &str) -> bool {
    matches!(ending(key, 2), b"Id" | b"ID" | b"At")
        || matches!(ending(key, 3), b"_id" | b"Ids" | b"_at" | b"Url")
        || matches!(ending(key, 4), b"uuid" | b"Uuid" | b"_ids" | b"Time" | b"_url" | b"Path" | b"Hash")
        || ending(key, 5) == b"_path"
}

/// The last bytes of `key`; none if it has fewer.
fn ending(key: &str, length: usize) -> &[u8] {
    key.as_bytes().get(key.len().wrapping_sub(length)..).unwrap_or_default()
}

/// Members that only the provider can read, and that are sent to it again.
const SEALED: &[&str] = &[
    "encrypted_content",
    "encryptedContent",
    "encrypted",
    "thoughtSignature",
    "thought_signature",
    "reasoningOpaque",
    "reasoning_opaque",
    "redactedContent",
    "redactedData",
    "reasoningEncryptedContent",
];

/// Whether a string is long enough to be a text.
pub(in crate::dialects) fn is_long(text: &Text<'_>) -> bool {
    text.len_bound() >= LONG && !text.is_blank() && text.decode().chars().nth(LONG - 1).is_some()
}

/// Whether a member holds no text for a model; `is_of_item` if it is one of the item itself.
pub(super) fn is_known(dialect: &dyn Dialect, key: &Text<'_>, is_of_item: bool) -> bool {
    let Text::Escaped(key) = key else { return false };
    is_common(key)
        || dialect.format().known.iter().any(|known| match known.strip_prefix('.') {
            Some(known) => is_of_item && known == *key,
            None => known == key,
        })
}

/// Whether a member holds no text for a model in any format.
pub(in crate::dialects) fn is_common(key: &str) -> bool {
    ends_as_known(key) || KNOWN_KEYS.contains(key)
}

/// Whether only the provider can read a member.
pub(super) fn is_sealed(holder: Value<'_>, key: &Text<'_>, value: Value<'_>) -> bool {
    let Text::Escaped(key) = key else { return false };
    if value.text().is_none() {
        return false;
    }
    match *key {
        // The signature of a thought whose text the provider keeps is the thought.
        "signature" | "thinkingSignature" => holder.get_text("thinking").is_some_and(|text| text.len_bound() == 0),
        "data" => holder.get_text("type").is_some_and(|kind| {
            let kind = kind.decode();
            kind.contains("redacted") || kind.contains("encrypted")
        }),
        key => SEALED.contains(&key),
    }
}
