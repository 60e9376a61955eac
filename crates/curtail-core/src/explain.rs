//! Turns decisions into explanations: what was dropped or changed, and why, message by message.

use std::fmt::Write as _;

use crate::processors::{Change, Decision, Insertion, Plan, Prepend};
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
        let requests = if count == 1 { "request" } else { "requests" };
        let reason = format!("the figures of {count} {requests}: messages before them were dropped or changed");
        (count > 0).then_some(Self { message: None, offset: Some(offset), subject: None, action: "reset", reason })
    }

    /// What was decided and why, such as `dropped with its call`.
    #[must_use]
    pub fn outcome(&self) -> String {
        because(self.action, &self.reason)
    }
}

/// `what: reason`, or `what with something` for what was decided together with something else.
fn because(action: &str, reason: &str) -> String {
    let separator = if reason.starts_with("with ") { "" } else { ":" };
    format!("{action}{separator} {reason}")
}

/// Explains the decisions of `plan` about `messages`. Messages that are kept unchanged are left out, unless a remark is
/// about them.
#[must_use]
pub fn explain(messages: &[Message<'_>], plan: &Plan) -> Vec<Explained> {
    let pairs = Pairs::from_messages(messages);
    let about = |at: usize, action, reason| explained(messages, &pairs, at, action, reason);
    let mut words = Vec::new();
    let mut inserts = plan.inserts.iter().peekable();
    let mut remarks = plan.remarks.iter().peekable();
    for (at, decision) in plan.decisions.iter().enumerate().take(messages.len()) {
        while let Some(insert) = inserts.next_if(|insert| insert.before <= at) {
            words.push(inserted(messages, &pairs, &insert.insertion, &insert.reason));
        }
        while let Some(remark) = remarks.next_if(|remark| remark.message <= at) {
            words.push(about(at, remark.action, remark.reason.clone().into_owned()));
        }
        words.extend(decided(decision).map(|(action, reason)| about(at, action, reason)));
    }
    words.extend(inserts.map(|insert| inserted(messages, &pairs, &insert.insertion, &insert.reason)));
    words
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

fn changed(changes: &[Change]) -> String {
    let count = |is_kind: fn(&Change) -> bool| changes.iter().filter(|change| is_kind(change)).count();
    let kinds = [
        ("cut", count(|change| matches!(change, Change::Cut(_)))),
        ("rewritten", count(|change| matches!(change, Change::Rewrite(..) | Change::Substitute(..)))),
        ("answered", count(|change| matches!(change, Change::Answer(..)))),
        ("prepended", count(|change| matches!(change, Change::Prepend(_) | Change::Append(_)))),
    ];
    let words = kinds.iter().filter(|(_, count)| *count > 0).map(|(kind, count)| {
        let parts = if *count == 1 { "part" } else { "parts" };
        format!("{count} {parts} {kind}")
    });
    words.collect::<Vec<_>>().join(", ")
}

/// The text of the first new block.
fn first_text(blocks: &[Prepend]) -> &str {
    let mut texts = blocks.iter().filter_map(|block| match block {
        Prepend::Block(text) => Some(text.as_str()),
        _ => None,
    });
    texts.next().unwrap_or_default()
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

// The differing lines of two texts, as the hunks of a unified diff without context.

/// Appends the hunks that turn `old` into `new` to `out`. `first` is the number of the first line of both.
///
/// Equal lines are found greedily, which is exact for texts in which some lines were removed, added or changed, and the
/// others kept their order.
pub fn hunks(old: &str, new: &str, first: usize, out: &mut String) {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let mut i = 0;
    let mut j = 0;
    while i < old.len() || j < new.len() {
        if old.get(i) == new.get(j) {
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let (gone, come) = run(&old[i..], &new[j..]);
        hunk(&old[i..i + gone], &new[j..j + come], first + i, first + j, out);
        (i, j) = (i + gone, j + come);
    }
}

/// Maximum number of lines to look ahead for equal lines; the work grows with its square.
const HORIZON: usize = 4096;

/// The smallest numbers of lines to remove and to add before both texts agree again; all lines past the horizon.
fn run(old: &[&str], new: &[&str]) -> (usize, usize) {
    for sum in 1..(old.len() + new.len()).min(HORIZON) {
        // Of runs of equal length, the most even one is tried first: a changed line is one removed and one added.
        let gone = |come: usize| sum - come;
        let mut splits: Vec<usize> = (sum.saturating_sub(old.len())..=sum.min(new.len())).collect();
        splits.sort_by_key(|come| gone(*come).abs_diff(*come));
        let agree =
            splits.into_iter().find(|&come| old.get(gone(come)).is_some_and(|line| new.get(come) == Some(line)));
        if let Some(come) = agree {
            return (gone(come), come);
        }
    }
    (old.len(), new.len())
}

fn hunk(old: &[&str], new: &[&str], from: usize, to: usize, out: &mut String) {
    // An empty range names the line before it.
    let range = |start: usize, len: usize| if len == 0 { format!("{},0", start - 1) } else { format!("{start},{len}") };
    // Writing to a string cannot fail.
    let _ = writeln!(out, "@@ -{} +{} @@", range(from, old.len()), range(to, new.len()));
    for (mark, lines) in [('-', old), ('+', new)] {
        for line in lines {
            out.push(mark);
            out.push_str(line);
            if !line.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::hunks;

    fn diff(old: &str, new: &str) -> String {
        let mut out = String::new();
        hunks(old, new, 1, &mut out);
        out
    }

    #[test]
    fn hunks_name_what_goes_and_comes() {
        let cases = [
            ("a\nb\nc\n", "a\nb\nc\n", ""),
            ("a\nb\nc\n", "a\nc\n", "@@ -2,1 +1,0 @@\n-b\n"),
            ("a\nc\n", "a\nb\nc\n", "@@ -1,0 +2,1 @@\n+b\n"),
            ("a\nb\nc\n", "a\nB\nc\n", "@@ -2,1 +2,1 @@\n-b\n+B\n"),
            ("a\nb", "a\nc", "@@ -2,1 +2,1 @@\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"),
            (
                "a\nb\nc\nd\ne\n",
                "A\nb\nd\ne\nf\n",
                "@@ -1,1 +1,1 @@\n-a\n+A\n@@ -3,1 +2,0 @@\n-c\n@@ -5,0 +5,1 @@\n+f\n",
            ),
        ];
        for (old, new, expected) in cases {
            assert_eq!(diff(old, new), expected, "{old:?} to {new:?}");
        }
    }
}
