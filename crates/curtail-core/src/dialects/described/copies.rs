//! What repeats the parts of a message elsewhere in it.

use std::borrow::Cow;

use foldhash::HashMap;

use crate::json::{Text, Value};
use crate::steps;
use crate::transcript::Content;

/// Values that may repeat parts, by the texts that tell of which part.
#[derive(Default)]
pub(super) struct Copies<'a> {
    /// Texts.
    texts: HashMap<Cow<'a, str>, Vec<Value<'a>>>,
    /// Objects, by the texts of their members: one of them is the id of the call or result, or what the result says.
    objects: HashMap<Cow<'a, str>, Vec<Value<'a>>>,
}

impl<'a> Copies<'a> {
    pub(super) fn of(values: Vec<Value<'a>>) -> Self {
        let mut copies = Self::default();
        for value in values {
            if let Some(text) = value.text() {
                copies.texts.entry(text.into_decoded()).or_default().push(value);
            }
            for text in value.members().filter_map(|member| member.value.text()) {
                steps::count(1);
                let same = copies.objects.entry(text.into_decoded()).or_default();
                if same.last() != Some(&value) {
                    same.push(value);
                }
            }
        }
        copies
    }

    /// The values that repeat a part: its text, or an object with the id of the call or result, or with the text of the result,
    /// in order.
    pub(super) fn of_part(&self, content: &Content<'_>) -> &[Value<'a>] {
        let found = match content {
            Content::Text(text) | Content::Reasoning(text) => self.texts.get(&*text.decode()),
            content => {
                let id = content.tool_id().and_then(|id| self.objects.get(&*id.decode()));
                id.or_else(|| self.objects.get(&*said(content)?.decode()))
            }
        };
        found.map_or(&[], Vec::as_slice)
    }
}

/// The text of a result that says something.
fn said<'c, 'a>(content: &'c Content<'a>) -> Option<&'c Text<'a>> {
    content.result()?.content.first().filter(|text| !text.is_blank())
}
