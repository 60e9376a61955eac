//! Writing messages by the templates of a description.

use super::frames::nest;
use super::paths::Path;
use super::rules::Rules;
use super::templates::{Hole, Template};
use crate::dialects::{DialectWriter, Patch, blocks};
use crate::json::{Value, quote};
use crate::transcript::{Draft, DraftPart, DraftResult, Role};

impl Rules {
    /// Whether nothing says how a message is written into its item.
    pub(super) fn lacks_envelope(&self) -> bool {
        let has_template = self.writing.as_ref().is_some_and(|writing| writing.envelope.is_some());
        !has_template && self.message.as_ref().is_some_and(|path| path.keys().is_none())
    }

    fn writer_of_base(&self) -> Option<&'static dyn DialectWriter> {
        self.base?.format().writer
    }

    fn template(&self, role: Role) -> Option<&Template> {
        let writing = self.writing.as_ref()?;
        writing.message(role).or_else(|| writing.fallback())
    }

    /// The name of a role; instructions of the application have the name of those of the system where there is one only.
    fn role(&self, role: Role) -> &str {
        let or = match role {
            Role::Developer => Role::System,
            Role::System | Role::Tool => Role::User,
            role => role,
        };
        [role, or, Role::User].into_iter().find_map(|role| self.name_of(role)).unwrap_or_else(|| role.name())
    }

    /// A result as a part or a message; of a call without an id, without the member that names it.
    fn result(&self, template: &Template, result: &DraftResult, anchor: Option<Value<'_>>) -> String {
        let without_id = result.call_id().is_empty().then(|| template.without(Hole::Id));
        without_id.as_ref().unwrap_or(template).fill(anchor, |hole| match hole {
            Hole::Id => quote(result.call_id()),
            Hole::Name => quote(&result.name),
            Hole::Role => quote(self.role(Role::Tool)),
            Hole::NewId => quote(&blocks::draft_id(&result.text)),
            _ => quote(&result.text),
        })
    }

    /// A message inside the envelope of the description.
    fn enveloped(&self, message: String, anchor: Option<Value<'_>>) -> String {
        if let Some(template) = self.writing.as_ref().and_then(|writing| writing.envelope.as_ref()) {
            return template.fill(anchor, |hole| match hole {
                Hole::NewId => quote(&blocks::draft_id(&message)),
                _ => message.clone(),
            });
        }
        let keys = self.message.as_ref().and_then(Path::keys).unwrap_or_default();
        keys.into_iter().rev().fold(message, nest)
    }
}

impl DialectWriter for Rules {
    fn result_key(&self, items: &[Value<'_>]) -> Option<&'static str> {
        let said: Vec<_> = items.iter().map(|item| self.said(*item)).collect();
        self.writer_of_base()?.result_key(&said)
    }

    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        if let Some(base) = self.writer_of_base() {
            let inner = anchor.map(|anchor| self.said(anchor));
            return self.enveloped(base.write_message(draft, inner), anchor);
        }
        let writing = self.writing.as_ref();
        if let (Some(result), Some(template)) =
            (draft.only_result(), writing.and_then(|writing| writing.result_message.as_ref()))
        {
            return self.enveloped(self.result(template, result, anchor), anchor);
        }
        let Some(template) = self.template(draft.role) else { return String::new() };
        let parts: Vec<String> = draft.parts.iter().map(|part| self.write_part(part)).collect();
        let written = template.fill(anchor, |hole| match hole {
            Hole::Role => quote(self.role(draft.role)),
            Hole::Parts => parts.join(","),
            Hole::NewId => quote(&blocks::draft_id(&parts.concat())),
            _ => quote(&draft.joined_text()),
        });
        self.enveloped(written, anchor)
    }

    fn write_text(&self, text: &str) -> String {
        if let Some(base) = self.writer_of_base() {
            return base.write_text(text);
        }
        match self.writing.as_ref().and_then(|writing| writing.text.as_ref()) {
            Some(template) => text_part(template, &quote(text)),
            None => quote(text),
        }
    }

    fn write_result(&self, result: &DraftResult) -> String {
        if let Some(base) = self.writer_of_base() {
            return base.write_result(result);
        }
        let writing = self.writing.as_ref();
        match writing.and_then(|writing| writing.result.as_ref()) {
            Some(template) => self.result(template, result, None),
            None if writing.is_some_and(|writing| writing.result_message.is_some()) => {
                self.write_message(&Draft::part(Role::Tool, DraftPart::ToolResult(result.clone())), None)
            }
            // Where the element of the call has room for its result, that is a text.
            None => quote(&result.text),
        }
    }

    fn prepend_parts(&self, message: Value<'_>, parts: &[String]) -> Option<Patch> {
        let said = self.said(message);
        if let Some(base) = self.writer_of_base() {
            return base.prepend_parts(said, parts);
        }
        let template = self.writing.as_ref()?.text.as_ref()?;
        let mut lists = self.groups.iter().filter_map(|group| group.list.as_ref());
        let list = lists.find_map(|list| list.first(said))?;
        blocks::prepend_parts(list, parts, |json| text_part(template, json))
    }
}

/// A text as a part; `json` is the string.
fn text_part(template: &Template, json: &str) -> String {
    template.fill(None, |hole| if hole == Hole::NewId { quote(&blocks::draft_id(json)) } else { json.to_owned() })
}
