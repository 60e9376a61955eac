//! What is stored of a message that a thread took, so that it is recognized when it comes again.

use std::borrow::Cow;

use curtail_core::digest::fnv1a_64;
use curtail_core::json::{Text, Value};

/// The digest of a message without the white space between its tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Digest(u64);

impl Digest {
    pub(super) fn of(value: Value<'_>) -> Self {
        Self(fnv1a_64(Text::Json(value.raw()).decode().bytes()))
    }
}

/// A mark of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark<'i> {
    /// Its id and its content, because some formats give one id to several messages.
    Content { id: &'i str, digest: Digest },
    /// Its id, whatever its content is.
    Id(&'i str),
    /// Its number in the thread, from 1, and its content.
    Number(usize, Digest),
}

impl Mark<'_> {
    /// The mark as it is stored: `ID DIGEST`, `@ID` or `#NUMBER DIGEST`. After a thread has started over, its earlier marks are
    /// void, so those of a later epoch begin with its number, as in `2~@ID`.
    pub(super) fn key(self, epoch: u32) -> String {
        let mark = match self {
            Self::Content { id, digest: Digest(digest) } => format!("{} {digest:016x}", distinct(id)),
            Self::Id(id) => format!("@{id}"),
            Self::Number(number, Digest(digest)) => format!("#{number} {digest:016x}"),
        };
        if epoch == 0 { mark } else { format!("{epoch}~{mark}") }
    }
}

/// `id` with a backslash before it if it looks like the beginning of another mark.
fn distinct(id: &str) -> Cow<'_, str> {
    let epoch = id.split_once('~').map_or("", |(epoch, _)| epoch);
    let names_epoch = !epoch.is_empty() && epoch.bytes().all(|byte| byte.is_ascii_digit());
    if names_epoch || id.starts_with(['#', '@', '\\']) { Cow::Owned(format!("\\{id}")) } else { Cow::Borrowed(id) }
}

#[cfg(test)]
mod tests {
    use super::{Digest, Mark};

    #[test]
    fn marks_are_as_in_stores() {
        let digest = Digest(0xab);
        for (mark, epoch, key) in [
            (Mark::Content { id: "m1", digest }, 0, "m1 00000000000000ab"),
            (Mark::Id("m1"), 0, "@m1"),
            (Mark::Number(5, digest), 0, "#5 00000000000000ab"),
            (Mark::Content { id: "m1", digest }, 2, "2~m1 00000000000000ab"),
            (Mark::Id("m1"), 2, "2~@m1"),
            (Mark::Number(5, digest), 2, "2~#5 00000000000000ab"),
        ] {
            assert_eq!(mark.key(epoch), key, "{mark:?} of epoch {epoch}");
        }
    }

    /// No id makes one mark look like another one, in whatever epoch.
    #[test]
    fn different_marks_have_different_keys() {
        let digest = Digest(0xab);
        let hex = "00000000000000ab";
        let like_number = "#5";
        let like_id = format!("m1 {hex}");
        let like_epoch = "2~m1";
        let like_content = "@m1";
        let mut keys: Vec<String> = Vec::new();
        for id in ["m1", like_number, &like_id, like_epoch, like_content, "\\#5", "2~#5", "2~@m1"] {
            for epoch in [0, 2] {
                keys.extend([Mark::Content { id, digest }.key(epoch), Mark::Id(id).key(epoch)]);
            }
        }
        keys.extend([0, 2].map(|epoch| Mark::Number(5, digest).key(epoch)));
        let all = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), all, "{keys:?}");
    }
}
