//! Turns decisions into explanations: what was dropped or changed, and why, message by message.

use crate::numbers::number_of;
use crate::processors::{Change, Decision, Insertion, Plan, Prepend, Remark};
use crate::transcript::{Message, Origin, Pairs, Subject};

/// The explanation of one decision.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Explained {
    /// Index of the message in the transcript that was read; `None` for a draft.
    pub message: Option<usize>,
    /// Byte offset of the message in its text; `None` for a draft.
    #[serde(skip)]
    pub offset: Option<usize>,
    /// The message in words; `None` if it is about the usage in the log.
    #[serde(flatten)]
    pub subject: Option<Subject>,
    /// `dropped`, `changed`, `replaced`, `inserted` or `moved`, or the action of a remark, such as `kept`.
    pub action: &'static str,
    /// Why.
    pub reason: String,
}

impl Explained {
    /// The message in words: its number, role and tools, such as `message 4 (tool result of "timetable")`.
    #[must_use]
    pub fn subject(&self) -> String {
        match (self.message, &self.subject) {
            (Some(message), Some(subject)) => format!("message {message} ({subject})"),
            (None, Some(subject)) => format!("a message ({subject})"),
            (_, None) => String::from("usage"),
        }
    }

    /// That the figures of `count` requests were corrected in the transcript at `offset`; `None` if there are none.
    pub(crate) fn of_figures(count: usize, offset: usize) -> Option<Self> {
        let requests = number_of(count, "request");
        let reason = format!("the figures of {requests}: messages before them were dropped or changed");
        (count > 0).then_some(Self { message: None, offset: Some(offset), subject: None, action: "reset", reason })
    }

    /// What was decided and why, such as `dropped with its call`.
    #[must_use]
    pub fn outcome(&self) -> String {
        because(self.action, &self.reason)
    }
}

/// `dropped: reason`, or `dropped with its call` for what was decided together with something else.
fn because(action: &str, reason: &str) -> String {
    let separator = if reason.starts_with("with ") { "" } else { ":" };
    format!("{action}{separator} {reason}")
}

/// Explains the decisions of `plan` about `messages`. Messages that are kept unchanged are left out, unless a remark is
/// about them.
#[must_use]
pub fn explain(messages: &[Message<'_>], plan: &Plan) -> Vec<Explained> {
    let pairs = Pairs::from_messages(messages);
    let mut words = Vec::new();
    let mut inserts = plan.inserts.iter().peekable();
    let mut remarks = plan.remarks.iter().peekable();
    for (at, decision) in plan.decisions.iter().enumerate().take(messages.len()) {
        while let Some(insert) = inserts.next_if(|insert| insert.before <= at) {
            words.push(inserted(messages, &pairs, &insert.insertion, &insert.reason));
        }
        while let Some(remark) = remarks.next_if(|remark| remark.message <= at) {
            words.push(explain_remark(messages, &pairs, remark));
        }
        words.extend(decided(decision).map(|(action, reason)| explained(messages, &pairs, at, action, reason)));
    }
    words.extend(inserts.map(|insert| inserted(messages, &pairs, &insert.insertion, &insert.reason)));
    words
}

/// Explains a remark about one of `messages`, whose pairs are known.
pub(crate) fn explain_remark(messages: &[Message<'_>], pairs: &Pairs, remark: &Remark) -> Explained {
    explained(messages, pairs, remark.message, remark.action, remark.reason.clone().into_owned())
}

fn decided(decision: &Decision) -> Option<(&'static str, String)> {
    match decision {
        Decision::Keep => None,
        Decision::Drop(reason) => Some(("dropped", reason.clone().into_owned())),
        Decision::Change(changes, reason) => Some(("changed", because(&changed(changes), reason))),
        Decision::Replace(draft, reason) => Some(("replaced", format!("{reason}: {}", draft.joined_text()))),
    }
}

fn explained(messages: &[Message<'_>], pairs: &Pairs, at: usize, action: &'static str, reason: String) -> Explained {
    let message = &messages[at];
    Explained {
        message: message.source_index(),
        offset: message.value().map(|value| value.span().start as usize),
        subject: Some(Subject::of_message(messages, pairs, at)),
        action,
        reason,
    }
}

/// How many parts are changed in each way.
fn changed(changes: &[Change]) -> String {
    const WAYS: [&str; 5] = ["cut", "rewritten", "answered", "prepended", "appended"];
    let mut counts = [0; WAYS.len()];
    for change in changes {
        let (way, parts) = match change {
            Change::Cut(_) => (0, 1),
            Change::Rewrite(..) | Change::Substitute(..) => (1, 1),
            Change::Answer(..) => (2, 1),
            Change::Prepend(parts) => (3, parts.len()),
            Change::Append(parts) => (4, parts.len()),
        };
        counts[way] += parts;
    }
    let ways = counts.into_iter().zip(WAYS).filter(|(count, _)| *count > 0);
    ways.map(|(count, way)| format!("{} {way}", number_of(count, "part"))).collect::<Vec<_>>().join(", ")
}

/// The text of the first new block.
fn first_text(blocks: &[Prepend]) -> &str {
    let text = blocks.iter().find_map(|block| match block {
        Prepend::Block(text) => Some(text.as_str()),
        _ => None,
    });
    text.unwrap_or_default()
}

fn inserted(messages: &[Message<'_>], pairs: &Pairs, insertion: &Insertion, reason: &str) -> Explained {
    let subject = match insertion {
        Insertion::Note(_, draft) => Subject::of_draft(draft.role.name(), &draft.joined_text()),
        Insertion::Blocks(role, blocks) => Subject::of_draft(role.name(), first_text(blocks)),
        Insertion::Results(_) => Subject::of_draft("tool", ""),
        Insertion::Moved(at) => {
            let moved = explained(messages, pairs, *at, "moved", reason.to_owned());
            let is_source = matches!(messages[*at].origin, Origin::Source(_));
            return if is_source { moved } else { Explained { message: None, offset: None, ..moved } };
        }
    };
    Explained { message: None, offset: None, subject: Some(subject), action: "inserted", reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{Change, Prepend, changed};

    #[test]
    fn parts_are_counted_by_what_is_done_with_them() {
        let note = Prepend::Block(String::from("note"));
        let changes = [Change::Cut(0), Change::Prepend(vec![note.clone(), note.clone()]), Change::Append(vec![note])];
        assert_eq!(changed(&changes), "1 part cut, 2 parts prepended, 1 part appended");
    }
}
