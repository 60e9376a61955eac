//! Writing messages by the templates of a description, and reading them again to see that they say what was meant.

use super::Described;
use super::frames::nest;
use super::paths::Path;
use super::rules::{Is, Rules};
use super::source::Fault;
use super::templates::{Hole, Template};
use crate::dialects::{Dialect as _, DialectWriter, Item, Patch, blocks};
use crate::json::{Document, Value, quote};
use crate::transcript::{Content, Draft, DraftPart, DraftResult, Family, Message, Role};

/// Writes what a description describes.
pub(super) struct Wire {
    pub(super) rules: &'static Rules,
}

impl Rules {
    /// Whether nothing says how a message is written into its item.
    pub(super) fn lacks_envelope(&self) -> bool {
        let has_template = self.writing.as_ref().is_some_and(|writing| writing.envelope.is_some());
        !has_template && self.message.as_ref().is_some_and(|path| path.keys().is_none())
    }
}

impl Wire {
    fn base(&self) -> Option<&'static dyn DialectWriter> {
        self.rules.base?.format().writer
    }

    fn template(&self, role: Role) -> Option<&Template> {
        let writing = self.rules.writing.as_ref()?;
        writing.message(role).or_else(|| writing.fallback())
    }

    /// The name of a role; instructions of the application have the name of those of the system where there is one only.
    fn role(&self, role: Role) -> &str {
        let name = |role| self.rules.name_of(role);
        let or = match role {
            Role::Developer => Role::System,
            Role::System | Role::Tool => Role::User,
            role => role,
        };
        name(role).or_else(|| name(or)).or_else(|| name(Role::User)).unwrap_or_else(|| role.name())
    }

    /// A result as a part or a message.
    fn result(&self, template: &Template, result: &DraftResult, anchor: Option<Value<'_>>) -> String {
        template.fill(anchor, |hole| match hole {
            Hole::Id => quote(result.call_id()),
            Hole::Name => quote(&result.name),
            Hole::Role => quote(self.role(Role::Tool)),
            Hole::NewId => quote(&blocks::draft_id(&result.text)),
            Hole::Arguments => String::from("{}"),
            Hole::Text | Hole::Parts | Hole::Message => quote(&result.text),
        })
    }

    /// A message inside the envelope of the description.
    fn enveloped(&self, message: String, anchor: Option<Value<'_>>) -> String {
        if let Some(template) = self.rules.writing.as_ref().and_then(|writing| writing.envelope.as_ref()) {
            return template.fill(anchor, |hole| match hole {
                Hole::NewId => quote(&blocks::draft_id(&message)),
                _ => message.clone(),
            });
        }
        let keys = self.rules.message.as_ref().and_then(Path::keys).unwrap_or_default();
        keys.into_iter().rev().fold(message, nest)
    }
}

impl DialectWriter for Wire {
    fn result_key(&self, items: &[Value<'_>]) -> Option<&'static str> {
        let said: Vec<_> = items.iter().map(|item| self.rules.said(*item)).collect();
        self.base()?.result_key(&said)
    }

    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        if let Some(base) = self.base() {
            let inner = anchor.map(|anchor| self.rules.said(anchor));
            return self.enveloped(base.write_message(draft, inner), anchor);
        }
        let writing = self.rules.writing.as_ref();
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
            Hole::Text | Hole::Id | Hole::Name | Hole::Arguments | Hole::Message => quote(&draft.joined_text()),
        });
        self.enveloped(written, anchor)
    }

    fn write_text(&self, text: &str) -> String {
        if let Some(base) = self.base() {
            return base.write_text(text);
        }
        match self.rules.writing.as_ref().and_then(|writing| writing.text.as_ref()) {
            Some(template) => text_part(template, &quote(text)),
            None => quote(text),
        }
    }

    fn write_result(&self, result: &DraftResult) -> String {
        if let Some(base) = self.base() {
            return base.write_result(result);
        }
        let writing = self.rules.writing.as_ref();
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
        let said = self.rules.said(message);
        if let Some(base) = self.base() {
            return base.prepend_parts(said, parts);
        }
        let template = self.rules.writing.as_ref()?.text.as_ref()?;
        let mut lists = self.rules.groups.iter().filter_map(|group| group.list.as_ref());
        let list = lists.find_map(|list| list.first(said))?;
        blocks::prepend_parts(list, parts, |json| text_part(template, json))
    }
}

/// A text as a part; `json` is the string.
fn text_part(template: &Template, json: &str) -> String {
    template.fill(None, |hole| if hole == Hole::NewId { quote(&blocks::draft_id(json)) } else { json.to_owned() })
}

impl Described {
    /// Refuses templates that, read again, are not what was written.
    pub(super) fn refuse_misread(&self) -> Result<(), Fault> {
        let Some(writer) = self.format.writer else { return Ok(()) };
        if self.rules.base.is_some() {
            let written = writer.write_message(&Draft::text(Role::User, SAID), None);
            let envelope = self.rules.writing.as_ref().and_then(|writing| writing.envelope.as_ref());
            return self.refuse(
                &written,
                envelope.map_or(0, |template| template.at),
                "a message of the user",
                |message| (!says(message)).then(|| (kinds_of(message), String::new())),
            );
        }
        let Some(writing) = &self.rules.writing else { return Ok(()) };
        for role in [Role::System, Role::User, Role::Assistant] {
            let Some(template) = writing.message(role).filter(|_| self.rules.has_role(role)) else { continue };
            let written = writer.write_message(&Draft::text(role, SAID), None);
            let lack = |message: &Message<'_>| match message.role == role {
                true if says(message) => None,
                true => Some((kinds_of(message), self.rules.places_of(Is::Text))),
                false => {
                    let own = format!("`{}` in `[write]` is the template of this role alone", role.name());
                    Some((kinds_of(message), own))
                }
            };
            self.refuse(&written, template.at, &format!("a message of the {}", role.name()), lack)?;
        }
        let Some(template) = writing.result_message.as_ref().or(writing.result.as_ref()) else { return Ok(()) };
        let has_id = template.has(Hole::Id);
        if !has_id && self.rules.pairs_by_id() {
            let what = String::from("the template of a result has no `$id`, by which a result names its call");
            return Err(Fault { at: template.at, what });
        }
        let result = DraftResult {
            id: has_id.then(|| String::from("call_1")),
            name: String::from("look"),
            text: String::from("seen"),
            family: Family::Function,
            key: None,
        };
        let written = writer.write_message(&Draft::part(Role::Tool, DraftPart::ToolResult(result.clone())), None);
        let lack = |message: &Message<'_>| Some((lack_of(message, &result)?, self.rules.places_of(Is::Result)));
        self.refuse(&written, template.at, "a result", lack)
    }

    /// Refuses what was written if it is no message, or if `lack` says what is read in its place, and what to do.
    fn refuse(
        &self,
        written: &str,
        at: usize,
        what: &str,
        lack: impl Fn(&Message<'_>) -> Option<(String, String)>,
    ) -> Result<(), Fault> {
        let document = Document::parse(written).ok();
        let item = document.as_ref().and_then(|document| document.roots().next());
        let place = self.rules.message.as_ref().filter(|place| !place.is_here());
        let outside = place.filter(|_| item.is_some_and(|item| self.rules.said(item) == item));
        let lack = match (outside, item.map(|item| self.read(item))) {
            (Some(place), _) => Some((format!("no message at `{place}`"), String::new())),
            (None, Some(Item::Message(message))) => lack(&message),
            (None, Some(Item::Unknown(unknown))) => Some((format!("no message ({unknown})"), String::new())),
            _ => Some((String::from("no message"), String::new())),
        };
        let Some((found, advice)) = lack else { return Ok(()) };
        let advice = if advice.is_empty() { advice } else { format!("; {advice}") };
        Err(Fault { at, what: format!("what is written for {what} is read as {found}: {written}{advice}") })
    }
}

/// What is written to see how it is read.
const SAID: &str = "one \"text\"";

/// Whether a message says this and nothing else.
fn says(message: &Message<'_>) -> bool {
    let [part] = message.parts.as_slice() else { return false };
    matches!(&part.content, Content::Text(text) if text.is(SAID))
}

/// What a message is if it is not this result alone.
fn lack_of(message: &Message<'_>, written: &DraftResult) -> Option<String> {
    let [part] = message.parts.as_slice() else { return Some(kinds_of(message)) };
    let Some(read) = part.content.result() else { return Some(kinds_of(message)) };
    let has_id = written.id.as_deref().is_none_or(|id| read.id.as_ref().is_some_and(|read| read.is(id)));
    let has_text = matches!(read.content.as_slice(), [text] if text.is(&written.text));
    let lost = if has_id { "text" } else { "id" };
    (!has_id || !has_text).then(|| format!("a result without its {lost}"))
}

/// A message by its role and the kinds of its parts.
fn kinds_of(message: &Message<'_>) -> String {
    let kinds: Vec<&str> = message.parts.iter().map(|part| part.content.kind()).collect();
    let kinds = if kinds.is_empty() { String::from("no part") } else { kinds.join(", ") };
    format!("a message of the {} with {kinds}", message.role.name())
}
