//! What repeats the parts of a message elsewhere in it.

use std::borrow::Cow;
use std::collections::VecDeque;

use foldhash::HashMap;

use super::paths::Path;
use crate::dialects::blocks;
use crate::json::{Text, Value};
use crate::steps;
use crate::transcript::Content;

/// Values that may repeat parts, by the texts that tell of which part.
#[derive(Default)]
pub(super) struct Copies<'a> {
    /// Texts, also in pieces.
    texts: HashMap<Cow<'a, str>, Vec<Value<'a>>>,
    /// Objects, by the texts of their members: one of them is the id of the call or result, or what the result says.
    objects: HashMap<Cow<'a, str>, VecDeque<Value<'a>>>,
}

impl<'a> Copies<'a> {
    /// What `path` finds. If it goes on in the elements of a list, the element is the copy.
    pub(super) fn of(path: &Path, from: Value<'a>) -> Self {
        let depth = path.keys_in_list().map_or(0, |keys| keys.len());
        let mut copies = Self::default();
        for value in path.all(from) {
            let copy = std::iter::successors(Some(value), |inner| inner.parent()).nth(depth).unwrap_or(value);
            if let Some(text) = whole(value) {
                copies.texts.entry(text).or_default().push(copy);
            }
            for text in value.members().filter_map(|member| member.value.text()) {
                steps::count(1);
                let same = copies.objects.entry(text.into_decoded()).or_default();
                if same.back() != Some(&copy) {
                    same.push_back(copy);
                }
            }
        }
        copies
    }

    /// The values that repeat a part: its text, or the objects with the id of the call or result, in order; or else the first
    /// object with the text of the result that is no other result's.
    pub(super) fn of_part(&mut self, content: &Content<'_>) -> Vec<Value<'a>> {
        if let Content::Text(text) | Content::Reasoning(text) = content {
            return self.texts.get(&*text.decode()).cloned().unwrap_or_default();
        }
        if let Some(found) = content.tool_id().and_then(|id| self.objects.get(&*id.decode())) {
            return found.iter().copied().collect();
        }
        let of_text = said(content).and_then(|said| self.objects.get_mut(&*said.decode())?.pop_front());
        of_text.into_iter().collect()
    }
}

/// The text of a result that says something.
fn said<'c, 'a>(content: &'c Content<'a>) -> Option<&'c Text<'a>> {
    content.result()?.content.first().filter(|text| !text.is_blank())
}

/// A text, or the one that a list has in pieces.
fn whole(value: Value<'_>) -> Option<Cow<'_, str>> {
    if value.is_array() {
        let pieces = blocks::texts(Some(value)).into_iter().map(Text::into_decoded);
        return Some(Cow::Owned(pieces.collect()));
    }
    value.text().map(Text::into_decoded)
}
