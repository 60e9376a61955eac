//! What is written around a text that replaces the result of a call.

use super::paths::Path;
use crate::json::{Json, Span, Value, object, quote};
use crate::transcript::Rewrite;

/// Where a text goes in JSON that is written first.
const HOLE: &str = "\u{0}";

/// The JSON before and after a text. It stays as long as the program runs, as the description does.
type Frame = &'static [&'static str; 2];

/// What is written around the text of a result, by its path.
#[derive(Debug, Clone, Default)]
pub(super) struct Frames {
    /// In place of the list that the path steps into.
    list: Option<Frame>,
    /// In the object that could have it.
    members: Vec<MemberFrames>,
}

/// What is written around a text as the member of an object.
#[derive(Debug, Clone)]
struct MemberFrames {
    key: String,
    /// As the only one.
    only: Frame,
    /// Before others.
    first: Frame,
}

impl Frames {
    pub(super) fn of(path: &Path) -> Self {
        let element =
            path.keys_in_list().map(|keys| keys.iter().rev().fold(String::from(HOLE), |json, key| nest(json, key)));
        let around = element.as_deref().and_then(|element| element.split_once(HOLE));
        Self {
            list: around.map(|(before, after)| frame(format!("[{before}"), format!("{after}]"))),
            members: path.last_keys().map(MemberFrames::of).collect(),
        }
    }

    /// How the texts of a list are replaced by one.
    pub(super) fn of_list(&self, path: &Path, inner: Value<'_>) -> Option<Rewrite> {
        let list = path.parted().0?.first(inner)?;
        Some(Rewrite { span: list.span(), around: self.list? })
    }

    /// Where the missing result of a call is written: in place of a null, or as the first member of the object that has it.
    pub(super) fn of_missing(&self, path: &Path, inner: Value<'_>) -> Option<Rewrite> {
        let (holder, key) = path.holder(inner)?;
        if let Some(null) = holder.get(key) {
            return Some(Rewrite::of_text(null));
        }
        let member = self.members.iter().find(|member| member.key == key)?;
        let front = holder.span().start + 1;
        let around = if holder.members().next().is_some() { member.first } else { member.only };
        Some(Rewrite { span: Span::new(front, front), around })
    }
}

impl MemberFrames {
    fn of(key: &str) -> Self {
        let before = format!("{}:", quote(key));
        Self {
            key: key.to_owned(),
            only: frame(before.clone(), String::new()),
            first: frame(before, String::from(",")),
        }
    }
}

/// The object that has JSON under `key` alone.
pub(super) fn nest(json: String, key: &str) -> String {
    object! { key: Json(json) }.0
}

fn frame(before: String, after: String) -> Frame {
    Box::leak(Box::new([&*before.leak(), &*after.leak()]))
}
