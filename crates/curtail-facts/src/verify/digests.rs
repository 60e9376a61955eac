//! Digests of what a side says: a message that is on both sides loses nothing, whatever dialect wrote it.

use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::HashSet;
use foldhash::quality::FixedState;

use super::Side;
use super::voices::{each_value, read_messages};
use crate::references;
use curtail_core::transcript::{Content, Message};

/// A digest of what a message says, whatever dialect wrote it.
pub fn digest(message: &Message<'_>) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    let mut add = |kind: u8, text: &str| {
        hasher.write_u8(kind);
        hasher.write(text.as_bytes());
        hasher.write_u8(0);
    };
    for part in &message.parts {
        match &part.content {
            Content::Text(text) => add(1, &text.decode()),
            Content::ToolCall(call) => {
                add(2, &call.name.decode());
                each_value(&call.arguments.decode(), &mut |text| add(3, text));
            }
            Content::ToolResult(result) => result.content.iter().for_each(|text| add(4, &text.decode())),
            Content::Media(text) => add(5, &text.decode()),
            Content::Reasoning(_) | Content::Unknown(_) | Content::Other => {}
        }
    }
    hasher.finish()
}

/// The digests of everything that a side says: of its messages, and of the texts outside of them.
pub(super) fn digests(side: &Side<'_, '_>) -> HashSet<u64> {
    let messages = read_messages(side).map(|(_, message)| digest(message));
    messages.chain(side.outside.iter().map(|text| references::digest(text))).collect()
}
