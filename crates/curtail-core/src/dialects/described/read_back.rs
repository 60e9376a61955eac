//! Reads what the templates of a description write, and refuses those that do not say what was meant.

use super::Described;
use super::rules::Is;
use super::source::Fault;
use super::templates::{Hole, Template, Writing};
use crate::dialects::{Dialect as _, DialectWriter, Item};
use crate::json::Document;
use crate::transcript::{Content, Draft, DraftPart, DraftResult, Family, Message, Role};

impl Described {
    /// Refuses templates that, read again, are not what was written.
    pub(super) fn refuse_misread(&self) -> Result<(), Fault> {
        let Some(writer) = self.format.writer else { return Ok(()) };
        if self.rules.base.is_some() {
            return self.refuse_misread_envelope(writer);
        }
        let Some(writing) = &self.rules.writing else { return Ok(()) };
        self.refuse_misread_messages(writer, writing)?;
        self.refuse_misread_results(writer, writing)
    }

    fn refuse_misread_envelope(&self, writer: &dyn DialectWriter) -> Result<(), Fault> {
        let written = writer.write_message(&Draft::text(Role::User, SAID), None);
        let envelope = self.rules.writing.as_ref().and_then(|writing| writing.envelope.as_ref());
        self.refuse(&written, envelope.map_or(0, |template| template.at), "a message of the user", |message| {
            (!says(message)).then(|| Misread { found: kinds_of(message), advice: String::new() })
        })
    }

    fn refuse_misread_messages(&self, writer: &dyn DialectWriter, writing: &Writing) -> Result<(), Fault> {
        for role in [Role::System, Role::Developer, Role::User, Role::Assistant] {
            let has_role = self.rules.has_role(role);
            let Some(template) = writing.message(role).filter(|_| has_role || writing.is_for(role)) else { continue };
            let written = writer.write_message(&Draft::text(role, SAID), None);
            let what = format!("a message of the {}", role.name());
            self.refuse(&written, template.at, &what, |message| {
                // Without a name, instructions of an application are those of the system.
                let is_of_role = message.role == role || !has_role && message.role != Role::Assistant;
                if is_of_role && says(message) {
                    return None;
                }
                let advice = if is_of_role {
                    self.rules.places_of(Is::Text)
                } else {
                    format!("`{}` in `[write]` is the template of this role alone", role.name())
                };
                Some(Misread { found: kinds_of(message), advice })
            })?;
        }
        Ok(())
    }

    fn refuse_misread_results(&self, writer: &dyn DialectWriter, writing: &Writing) -> Result<(), Fault> {
        if let Some(template) = &writing.result_message {
            self.refuse_misread_result(writer, template, DraftPart::ToolResult)?;
        }
        let Some(template) = &writing.result else { return Ok(()) };
        // Where the message has no place for parts, a result alone is never one.
        let has_parts = writing.message(Role::Tool).or(writing.fallback()).is_some_and(|one| one.has(Hole::Parts));
        if writing.result_message.is_some() && !has_parts {
            return Ok(());
        }
        self.refuse_misread_result(writer, template, |result| DraftPart::Verbatim(writer.write_result(&result)))
    }

    /// Refuses the template of a result, which `part` writes.
    fn refuse_misread_result(
        &self,
        writer: &dyn DialectWriter,
        template: &Template,
        part: impl Fn(DraftResult) -> DraftPart,
    ) -> Result<(), Fault> {
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
        let written = writer.write_message(&Draft::part(Role::Tool, part(result.clone())), None);
        let has_role = self.rules.has_role(Role::Tool);
        self.refuse(&written, template.at, "a result", |message| {
            let lack = lack_of(message, &result);
            let lack = lack.or_else(|| (has_role && message.role != Role::Tool).then(|| kinds_of(message)));
            Some(Misread { found: lack?, advice: self.rules.places_of(Is::Result) })
        })
    }

    /// Refuses what was written if it is no message, or if `misread` says that it is read as something else.
    fn refuse(
        &self,
        written: &str,
        at: usize,
        what: &str,
        misread: impl Fn(&Message<'_>) -> Option<Misread>,
    ) -> Result<(), Fault> {
        let document = Document::parse(written).ok();
        let item = document.as_ref().and_then(|document| document.roots().next());
        let place = self.rules.message.as_ref().filter(|place| !place.is_here());
        let outside = place.filter(|_| item.is_some_and(|item| self.rules.said(item) == item));
        let found = match (outside, item.map(|item| self.read(item))) {
            (Some(place), _) => format!("no message at `{place}`"),
            (None, Some(Item::Message(message))) => match misread(&message) {
                Some(misread) => return Err(misread.fault(written, at, what)),
                None => return Ok(()),
            },
            (None, Some(Item::Unknown(unknown))) => format!("no message ({unknown})"),
            _ => String::from("no message"),
        };
        Err(Misread { found, advice: String::new() }.fault(written, at, what))
    }
}

/// What was read in place of what was written.
struct Misread {
    found: String,
    /// What to change in the description; can be empty.
    advice: String,
}

impl Misread {
    fn fault(self, written: &str, at: usize, what: &str) -> Fault {
        let Self { found, advice } = self;
        let advice = if advice.is_empty() { advice } else { format!("; {advice}") };
        Fault { at, what: format!("what is written for {what} is read as {found}: {written}{advice}") }
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
