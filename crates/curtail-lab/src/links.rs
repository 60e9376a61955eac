//! What is compared of messages instead of their text: the digest and the size of each, and the same of everything before it.

use std::hash::{BuildHasher as _, Hasher as _};
use std::ops::Range;

use curtail_core::json::Text;
use curtail_core::steps;
use curtail_core::transcript::{Content, Message};
use foldhash::quality::FixedState;

/// The digest and the size of a message that is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MessageStats {
    /// Digest of its role and parts.
    pub(crate) digest: u64,
    /// Our count of its tokens.
    pub(crate) tokens: u64,
    /// The number of its content blocks, at least 1.
    pub(crate) blocks: u64,
    /// Whether its role gives instructions.
    pub(crate) instructs: bool,
}

impl MessageStats {
    /// The digest and size of `message`, which has `tokens` tokens.
    pub(crate) fn from_message(message: &Message<'_>, tokens: u64) -> Self {
        let digest = digest(message);
        let instructs = message.role.instructs();
        Self { digest, tokens, blocks: message.parts.len().max(1) as u64, instructs }
    }
}

/// The digest of the part of `message` that is sent to a provider: its role and parts, not the envelope of the log.
pub(crate) fn digest(message: &Message<'_>) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    hasher.write(message.role.name().as_bytes());
    for part in &message.parts {
        match &part.content {
            Content::Text(text) => hash_texts(&mut hasher, 1, [text]),
            Content::Reasoning(text) => hash_texts(&mut hasher, 2, [text]),
            Content::Media(text) => hash_texts(&mut hasher, 3, [text]),
            Content::ToolCall(call) => hash_texts(&mut hasher, 4, call.id.iter().chain([&call.name, &call.arguments])),
            Content::ToolResult(result) => {
                hash_texts(&mut hasher, 5, result.id.iter().chain(&result.content));
                hasher.write_usize(result.media);
            }
            Content::Unknown(_) | Content::Other => {
                let raw = part.place().map_or("", |place| place.element.raw());
                hash_texts(&mut hasher, 6, [&Text::Json(raw)]);
            }
        }
    }
    hasher.finish()
}

/// Hashes texts of one kind. Escaped text is hashed as it is written, so two spellings of the same text differ.
fn hash_texts<'t, 'a: 't>(
    hasher: &mut impl std::hash::Hasher,
    kind: u8,
    texts: impl IntoIterator<Item = &'t Text<'a>>,
) {
    hasher.write_u8(kind);
    for text in texts {
        let (Text::Escaped(raw) | Text::Json(raw)) = text else {
            hasher.write(text.decode().as_bytes());
            hasher.write_u8(0xff);
            continue;
        };
        hasher.write(raw.as_bytes());
        hasher.write_u8(0xff);
    }
}

/// A prefix of a request: a message and everything before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Link {
    /// Digest of the messages up to it.
    pub(crate) digest: u64,
    /// Our count of their tokens.
    pub(crate) tokens: u64,
    /// The number of their content blocks.
    pub(crate) blocks: u64,
}

impl Link {
    /// The link of a message with `stats` after this one.
    pub(crate) fn then(self, stats: MessageStats) -> Self {
        Self {
            digest: add_mod(multiply_mod(self.digest, BASE), stats.digest % PRIME + 1),
            tokens: self.tokens + stats.tokens,
            blocks: self.blocks + stats.blocks,
        }
    }
}

/// Digests of lists are polynomials of the digests of their messages, modulo this prime. So the digest of a part of a list
/// follows from those of the lists that end before it and with it.
const PRIME: u64 = (1 << 61) - 1;

/// The point at which the polynomials are evaluated.
const BASE: u64 = 0x0d6e_8feb_8665_9fd9;

fn add_mod(one: u64, two: u64) -> u64 {
    (one + two) % PRIME
}

#[expect(clippy::cast_possible_truncation, reason = "the remainder is less than 2^61")]
const fn multiply_mod(one: u64, two: u64) -> u64 {
    (one as u128 * two as u128 % PRIME as u128) as u64
}

/// The links of all prefixes of a list of messages, and the powers of [`BASE`] that append one list to another.
#[derive(Debug)]
pub(crate) struct Links {
    links: Vec<Link>,
    powers: Vec<u64>,
}

impl Links {
    /// The links of messages with these `stats`.
    pub(crate) fn new(stats: &[MessageStats]) -> Self {
        let mut links = vec![Link::default()];
        let mut powers = vec![1];
        for (nth, message) in stats.iter().enumerate() {
            links.push(links[nth].then(*message));
            powers.push(multiply_mod(powers[nth], BASE));
        }
        Self { links, powers }
    }

    /// The link of the messages in `range` after `link`.
    pub(crate) fn link(&self, link: Link, range: Range<usize>) -> Link {
        let start = self.links[range.start];
        let end = self.links[range.end];
        Link {
            digest: add_mod(multiply_mod(link.digest, self.powers[range.len()]), self.digest(range)),
            tokens: link.tokens + end.tokens - start.tokens,
            blocks: link.blocks + end.blocks - start.blocks,
        }
    }

    /// The digest of the messages in `range`.
    fn digest(&self, range: Range<usize>) -> u64 {
        let before = multiply_mod(self.links[range.start].digest, self.powers[range.len()]);
        add_mod(self.links[range.end].digest, PRIME - before)
    }

    /// How many of the `most` messages from `one` on equal those from `two` on.
    pub(crate) fn common_length(&self, one: usize, two: usize, most: usize) -> usize {
        if one == two {
            return most;
        }
        let mut same = 0;
        let mut end = most;
        while same < end {
            steps::count(1);
            let middle = same + (end - same).div_ceil(2);
            let first = one + same..one + middle;
            let second = two + same..two + middle;
            if self.digest(first) == self.digest(second) { same = middle } else { end = middle - 1 }
        }
        same
    }
}
