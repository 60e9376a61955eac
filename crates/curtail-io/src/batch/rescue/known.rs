//! What the sound records of a text have in common, by which others are recognized among the bytes of a damaged line.

use std::collections::{HashMap, HashSet};

use aho_corasick::{AhoCorasick, MatchKind};
use curtail_core::json::{Document, Value};

/// The sound records of a text.
pub(in crate::batch) struct Records {
    /// How they begin, up to the first colon; `None` if there are none.
    heads: Option<AhoCorasick>,
    /// The keys of some of them.
    keys: Vec<HashSet<String>>,
    /// The keys and types of objects inside of them, by the keys that lead to these.
    inner: HashMap<String, Vec<HashSet<String>>>,
    /// The byte with which they begin.
    pub(super) opener: u8,
}

/// How many lines of a text are looked at.
const SAMPLE: usize = 256;

/// How many kinds of objects are remembered for a place.
const MOST_KINDS: usize = 16;

/// The longest path of an object whose members are looked at, in bytes.
const LONGEST_PATH: usize = 256;

impl Records {
    pub(in crate::batch) fn from_text(text: &[u8]) -> Self {
        let mut records = Self { heads: None, keys: Vec::new(), inner: HashMap::new(), opener: b'{' };
        let mut heads: HashSet<&[u8]> = HashSet::new();
        let lines = text.split(|byte| *byte == b'\n').map(without_nulls);
        let mut lines = lines.filter(|line| line.starts_with(b"{") || line.starts_with(b"[")).peekable();
        let begins_with_list = lines.peek().is_some_and(|line| line.starts_with(b"["));
        for line in lines.take(SAMPLE) {
            // The first record of a line is sound, whatever follows it, unless that is the rest of another.
            let Some(document) = std::str::from_utf8(line).ok().and_then(|line| Document::parse_first(line).ok())
            else {
                continue;
            };
            let end = document.roots().next().map_or(0, |root| root.span().end as usize);
            if matches!(line[end..].trim_ascii_start(), [b'}' | b']' | b',', ..]) {
                continue;
            }
            heads.extend(memchr::memchr(b':', line).map(|colon| &line[..=colon]));
            let Some(own) = keys_of(&document) else { continue };
            document.roots().for_each(|root| records.add_inner(root));
            if !records.keys.contains(&own) {
                records.keys.push(own);
            }
        }
        if records.keys.is_empty() && begins_with_list {
            records.opener = b'[';
        }
        if !heads.is_empty() {
            records.heads = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(heads).ok();
        }
        records
    }

    /// Notes the objects inside of a record.
    fn add_inner(&mut self, record: Value<'_>) {
        let mut open = vec![(record, String::new())];
        while let Some((value, path)) = open.pop() {
            let elements = value.items().map(|item| (String::new(), item));
            let members = value.members().map(|member| (member.key.decode().into_owned(), member.value));
            for (key, inner) in elements.chain(members).filter(|(_, inner)| inner.is_object() || inner.is_array()) {
                let path = format!("{path}/{key}");
                if inner.is_object() {
                    self.add_kind(&path, keys_and_types(inner));
                }
                if path.len() < LONGEST_PATH {
                    open.push((inner, path));
                }
            }
        }
    }

    fn add_kind(&mut self, path: &str, keys: HashSet<String>) {
        let kinds = self.inner.entry(path.to_owned()).or_default();
        if kinds.len() < MOST_KINDS && !kinds.contains(&keys) {
            kinds.push(keys);
        }
    }

    /// Whether there are any: a line that is a text or a number is none of them.
    pub(super) const fn are_known(&self) -> bool {
        self.heads.is_some()
    }

    /// Where bytes from `at` on are like the beginning of a record.
    pub(super) fn next_head(&self, line: &[u8], at: usize) -> Option<usize> {
        Some(at + self.heads.as_ref()?.find(line.get(at..)?)?.start())
    }

    /// Whether an object with these keys is like one of the records.
    pub(super) fn is_like_record(&self, own: &HashSet<String>) -> bool {
        self.keys.iter().any(|keys| are_alike(keys, own))
    }

    /// Whether an object with these keys and types is like those inside of records.
    pub(super) fn is_like_inner(&self, own: &HashSet<String>) -> bool {
        BLOCKS.iter().any(|kind| own.contains(*kind)) || self.inner.values().flatten().any(|keys| are_alike(keys, own))
    }
}

/// `line` without the white space around it and the NUL bytes before it.
fn without_nulls(line: &[u8]) -> &[u8] {
    let start = line.iter().position(|byte| *byte != 0).unwrap_or(line.len());
    line[start..].trim_ascii()
}

/// Whether most keys of two objects are the same: a record is like others, and a part of one is not.
pub(super) fn are_alike(one: &HashSet<String>, other: &HashSet<String>) -> bool {
    let common = one.intersection(other).count();
    let all = one.len() + other.len() - common;
    5 * common >= 3 * all
}

/// The keys of an object; `None` if the first value is none.
pub(super) fn keys_of(document: &Document<'_>) -> Option<HashSet<String>> {
    let object = document.roots().next().filter(|root| root.is_object())?;
    Some(object.members().map(|member| member.key.decode().into_owned()).collect())
}

/// Types of blocks, which stand inside of messages in most formats.
const BLOCKS: [&str; 8] = [
    "type=text", "type=image", "type=image_url", "type=thinking", "type=tool_use", "type=tool_result",
    "type=input_text", "type=output_text",
];

/// Members by which objects with the same keys are told apart.
const TYPES: [&str; 3] = ["type", "kind", "role"];

/// The keys of an object, and the types that it names.
pub(super) fn keys_and_types(object: Value<'_>) -> HashSet<String> {
    let keys = object.members().map(|member| member.key.decode().into_owned());
    let types = TYPES.iter().filter_map(|key| Some(format!("{key}={}", object.get_text(key)?.decode())));
    keys.chain(types).collect()
}
