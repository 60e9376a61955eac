//! Applies a plan to messages, so that the next stage sees the result of this one.

use foldhash::{HashMap, HashSet};

use super::plan::{Change, Decision, Insert, Insertion, Plan, Prepend};
use crate::json::{Text, Value};
use crate::transcript::{
    Anchor, Content, Draft, DraftPart, DraftResult, Message, Origin, Part, PartOrigin, Role, Substitution, ToolResult,
    bind_split_replies, main_thread,
};

/// The messages after `plan` is applied to `messages`.
#[must_use]
pub fn apply_plan<'a>(messages: Vec<Message<'a>>, plan: &Plan) -> Vec<Message<'a>> {
    if plan.is_identity() {
        return messages;
    }
    let inserted: Vec<(usize, Message<'a>)> =
        plan.inserts.iter().map(|insert| (insert.before, inserted(&messages, insert))).collect();
    let changes = plan.decisions.iter().filter(|decision| matches!(decision, Decision::Change(..)));
    let taken: Vec<TakenIn<'a>> = changes.map(|decision| answers(&messages, decision)).collect();
    let mut taken = taken.into_iter();
    let kept = plan.decisions.iter().filter(|decision| !matches!(decision, Decision::Drop(_))).count();
    let mut remaining = Vec::with_capacity(kept + inserted.len());
    let mut inserted = inserted.into_iter().peekable();
    for (at, (message, decision)) in messages.into_iter().zip(&plan.decisions).enumerate() {
        while let Some((_, message)) = inserted.next_if(|(before, _)| *before <= at) {
            remaining.push(message);
        }
        match decision {
            Decision::Keep => remaining.push(message),
            Decision::Drop(_) => {}
            Decision::Change(changes, _) => {
                remaining.push(changed(message, changes, taken.next().unwrap_or_default()));
            }
            Decision::Replace(draft, _) => {
                remaining.push(note(draft, &message));
            }
        }
    }
    remaining.extend(inserted.map(|(_, message)| message));
    bind_split_replies(&mut remaining);
    remaining
}

/// A message that is inserted between messages of a turn that was rolled back belongs to that turn.
fn inserted<'a>(messages: &[Message<'a>], insert: &Insert) -> Message<'a> {
    let mut message = written(messages, insert);
    let thread = message.thread;
    let around = messages.get(..insert.before).and_then(<[_]>::last).zip(messages.get(insert.before));
    if let Some((before, after)) = around
        && [before, after].iter().all(|message| message.thread == thread && message.standing.is_rolled_back())
    {
        message.standing = before.standing;
        message.dropped_with = before.dropped_with.or_else(|| u32::try_from(before.source_index()?).ok());
    }
    message
}

fn written<'a>(messages: &[Message<'a>], insert: &Insert) -> Message<'a> {
    match &insert.insertion {
        Insertion::Note(at, draft) => note(draft, &messages[*at]),
        Insertion::Blocks(role, blocks) => {
            let message = Message::draft(*role, context_anchor(messages, insert.before));
            Message { parts: prepended_parts(messages, blocks), thread: main_thread(messages), ..message }
        }
        Insertion::Moved(at) => {
            let mut message = messages[*at].clone();
            if let Origin::Source(source) = message.origin {
                message.origin = Origin::Moved(source);
            }
            message
        }
        Insertion::Results(results) => {
            let before = insert.before.checked_sub(1).and_then(|at| messages.get(at));
            let anchor = before.map(Message::anchor).unwrap_or_default();
            let message = Message { parts: prepended_parts(messages, results), ..Message::draft(Role::Tool, anchor) };
            // The results answer calls of the conversation that they are inserted into.
            match before {
                Some(before) => Message { thread: before.thread, standing: before.standing, ..message },
                None => message,
            }
        }
    }
}

/// The message that is written about `subject`: a model reads both or neither.
fn note<'a>(draft: &Draft, subject: &Message<'a>) -> Message<'a> {
    Message {
        parts: draft.parts.iter().map(drafted_part).collect(),
        thread: subject.thread,
        standing: subject.standing,
        dropped_with: subject.dropped_with,
        ..Message::draft(draft.role, subject.anchor())
    }
}

/// What blocks before the message `before` are written for: a message of the main conversation. At the end of a list inside a
/// compaction, it is the compaction, which they follow.
fn context_anchor<'a>(messages: &[Message<'a>], before: usize) -> Anchor<'a> {
    let main = main_thread(messages);
    let next = messages.get(before).filter(|message| message.thread == main);
    let message = next.or_else(|| messages[..before].iter().rfind(|message| message.thread == main));
    let Some(message) = message else { return Anchor::default() };
    let ends = before == messages.len() && message.is_in_compaction();
    match message.value().filter(|_| ends).and_then(compaction_around) {
        Some(value) => Anchor { value: Some(value), draft: None },
        None => message.anchor(),
    }
}

/// The record of a compaction, in an object of which `message` is in a list.
fn compaction_around(message: Value<'_>) -> Option<Value<'_>> {
    message.parent()?.parent()?.parent()
}

fn drafted_part<'a>(part: &DraftPart) -> Part<'a> {
    let content = match part {
        DraftPart::Text(text) => Content::Text(Text::Owned(text.clone())),
        DraftPart::ToolResult(DraftResult { id, name, text, family, .. }) => {
            let [name, text] = [name, text].map(|text| Text::Owned(text.clone()));
            let result = ToolResult::new(id.clone().map(Text::Owned), Some(name), vec![text]);
            Content::ToolResult(ToolResult { family: *family, ..result })
        }
        DraftPart::Verbatim(_) => Content::Other,
    };
    Part { content, origin: PartOrigin::Draft(Box::new(part.clone())) }
}

/// The results and blocks that a message takes in.
#[derive(Default)]
struct TakenIn<'a> {
    front: Vec<Part<'a>>,
    back: Vec<Part<'a>>,
}

fn answers<'a>(messages: &[Message<'a>], decision: &Decision) -> TakenIn<'a> {
    let mut found = TakenIn::default();
    for change in decision.changes() {
        let (place, answers) = match change {
            Change::Prepend(answers) => (&mut found.front, answers),
            Change::Append(answers) => (&mut found.back, answers),
            _ => continue,
        };
        place.extend(prepended_parts(messages, answers));
    }
    found
}

fn prepended_parts<'a>(messages: &[Message<'a>], items: &[Prepend]) -> Vec<Part<'a>> {
    items.iter().map(|item| prepended_part(messages, item)).collect()
}

fn prepended_part<'a>(messages: &[Message<'a>], answer: &Prepend) -> Part<'a> {
    match answer {
        Prepend::Draft(part) => drafted_part(part),
        Prepend::Block(text) => {
            Part { content: Content::Text(Text::Owned(text.clone())), origin: PartOrigin::Block(text.clone()) }
        }
        Prepend::Moved(from) => {
            let part = from.part_in(messages).clone();
            let origin = match part.origin {
                PartOrigin::Source(place) | PartOrigin::Rewritten(place) => PartOrigin::Moved(place),
                origin => origin,
            };
            Part { content: part.content, origin }
        }
    }
}

fn changed<'a>(mut message: Message<'a>, changes: &[Change], taken: TakenIn<'a>) -> Message<'a> {
    let mut cut: HashSet<usize> = HashSet::default();
    let mut answers: HashMap<usize, &str> = HashMap::default();
    for change in changes {
        match change {
            Change::Rewrite(nth, text) => rewrite(&mut message.parts[*nth], text),
            Change::Substitute(nth, substitutions) => substitute(&mut message.parts[*nth], substitutions),
            Change::Cut(nth) => drop(cut.insert(*nth)),
            Change::Answer(nth, text) => drop(answers.insert(*nth, text)),
            Change::Prepend(_) | Change::Append(_) => {}
        }
    }
    let mut parts = taken.front;
    for (nth, part) in message.parts.into_iter().enumerate() {
        let answer = answers.get(&nth).and_then(|text| answered(&part, text));
        if cut.contains(&nth) {
            message.cut.push(part);
        } else {
            parts.push(part);
        }
        parts.extend(answer);
    }
    parts.extend(taken.back);
    message.parts = parts;
    message.instructs_alone();
    message
}

/// The result that is written into the bytes of an open call.
fn answered<'a>(part: &Part<'a>, text: &str) -> Option<Part<'a>> {
    let call = part.content.call()?;
    let result = ToolResult::new(call.id.clone(), Some(call.name.clone()), vec![Text::Owned(text.to_owned())]);
    let result = ToolResult { family: call.family, ..result };
    let mut place = part.place()?.clone();
    place.rewrite(text);
    let origin = PartOrigin::Rewritten(place);
    Some(Part { content: Content::ToolResult(result), origin })
}

/// Makes `substitutions` in a part: texts in place of media, or other arguments of a call.
fn substitute(part: &mut Part<'_>, substitutions: &[Substitution]) {
    let mut texts = substitutions.iter().map(|one| (one.at, Text::Owned(one.text.clone()))).peekable();
    match &mut part.content {
        Content::ToolResult(result) => {
            result.media = result.media.saturating_sub(substitutions.len());
            // In the order of the bytes: each text comes after those that precede it there.
            let kept = std::mem::take(&mut result.content);
            for (nth, text) in kept.into_iter().enumerate() {
                while let Some((_, text)) = texts.next_if(|(at, _)| *at <= nth) {
                    result.content.push(text);
                }
                result.content.push(text);
            }
            result.content.extend(texts.map(|(_, text)| text));
        }
        Content::ToolCall(call) => call.arguments = texts.next().map_or(Text::Escaped(""), |(_, text)| text),
        content => *content = Content::Text(texts.next().map_or(Text::Escaped(""), |(_, text)| text)),
    }
    if let PartOrigin::Source(place) | PartOrigin::Rewritten(place) | PartOrigin::Moved(place) = &mut part.origin {
        place.further_mut().substitutions.extend_from_slice(substitutions);
    }
    if let PartOrigin::Source(place) = &part.origin {
        part.origin = PartOrigin::Rewritten(place.clone());
    }
}

fn rewrite(part: &mut Part<'_>, new: &str) {
    let text = Text::Owned(new.to_owned());
    match &mut part.content {
        Content::ToolResult(result) => {
            result.content = vec![text];
            result.media = 0;
        }
        content => *content = Content::Text(text),
    }
    match &mut part.origin {
        PartOrigin::Source(place) | PartOrigin::Rewritten(place) => {
            place.rewrite(new);
            part.origin = PartOrigin::Rewritten(place.clone());
        }
        PartOrigin::Moved(place) => place.rewrite(new),
        PartOrigin::Draft(draft) => match &mut **draft {
            DraftPart::Text(old) | DraftPart::ToolResult(DraftResult { text: old, .. }) => new.clone_into(old),
            DraftPart::Verbatim(_) => {}
        },
        // A block that another processor shortened is no whole block.
        PartOrigin::Block(_) => part.origin = PartOrigin::Draft(Box::new(DraftPart::Text(new.to_owned()))),
    }
}
