//! Calls and thoughts that a model wrote as text, as models write them before a chat template or a server makes structures of
//! them.
//!
//! A text is a call only where the messages after it are results: they belong to it by position, or by the id that both write.

mod syntax;
mod thoughts;

use super::Item;
use crate::json::{Span, Text};
use crate::transcript::{
    Content, Draft, Family, Message, Part, PartOrigin, PartPlace, Rewrite, Role, ToolCall, ToolResult,
};
use syntax::{Calls, Written};

/// Reads the thoughts and the calls in the texts of a transcript.
pub(super) fn connect(read: &mut [Item<'_>]) {
    let mut messages: Vec<&mut Message<'_>> = read.iter_mut().filter_map(Item::message_mut).collect();
    messages.iter_mut().for_each(|message| thoughts::split(message));
    give_calls(&mut messages);
}

/// The same, after an edit: a text may be followed by a result that was behind another message before.
pub(super) fn connect_again(messages: &mut [Message<'_>]) {
    give_calls(&mut messages.iter_mut().collect::<Vec<_>>());
}

/// Whether an edit of `messages` can make a text and a result neighbors: a result follows no call.
pub(super) fn may_connect_again(messages: &[Message<'_>]) -> bool {
    let mut has_call = false;
    messages.iter().any(|message| {
        if message.role == Role::Tool || message.results().next().is_some() {
            return !has_call;
        }
        has_call = message.calls().next().is_some();
        message.calls().any(|(_, call)| call.written.is_some())
    })
}

/// The role with a name that models, their templates and datasets give to calls and results which are texts.
pub(super) fn role_of(name: &str) -> Option<Role> {
    match name {
        "tool_call" | "tool-call" => Some(Role::Assistant),
        "observation" | "environment" | "ipython" | "tool_response" | "tool-response" | "tool_result"
        | "function_response" => Some(Role::Tool),
        _ => None,
    }
}

/// Gives each text that results follow its calls, and each of those results a call.
fn give_calls(messages: &mut [&mut Message<'_>]) {
    let is_structure = |message: &&mut Message<'_>| message.calls().any(|(_, call)| call.written.is_none());
    let mut has_structures: Option<bool> = None;
    for at in 1..messages.len() {
        if !may_answer(messages[at]) || !may_ask(messages[at - 1]) {
            continue;
        }
        let has_structures = *has_structures.get_or_insert_with(|| messages.iter().any(is_structure));
        let (before, after) = messages.split_at_mut(at);
        let Some(asking) = before.last_mut() else { continue };
        let Some(said) = said(asking) else { continue };
        let calls = syntax::calls(said.raw);
        let of_thread = |message: &&mut Message<'_>| message.thread == asking.thread;
        let is_answer =
            |message: &&mut Message<'_>| message.role == Role::Tool || calls.is_some() && tags_result(message);
        let count = after.iter().take_while(|message| of_thread(message) && is_answer(message)).count();
        let answers = &mut after[..count];
        let is_note = Draft::says_tools_used(said.raw);
        let is_call = calls.is_some() || !has_structures && answers.iter().all(|answer| is_asked(answer, said.raw));
        if count == 0 || is_note || !is_call {
            continue;
        }
        join(asking, said, calls, answers);
    }
}

/// Whether a message may be the result of a call in the text before it.
fn may_answer(message: &Message<'_>) -> bool {
    message.role == Role::Tool || tags_result(message)
}

/// Whether a message of the user is a result by the tag around its text.
fn tags_result(message: &Message<'_>) -> bool {
    let [Part { content: Content::Text(Text::Escaped(raw)), .. }] = message.parts.as_slice() else { return false };
    message.role == Role::User && syntax::results(raw).is_some()
}

/// Whether a message has a text that may be a call, and no call beside it.
fn may_ask(message: &Message<'_>) -> bool {
    message.role == Role::Assistant && !message.parts.iter().any(|part| part.content.is_tool())
}

/// Whether a result belongs to a text of no known syntax: it names no call, or what it names is in the text.
fn is_asked(answer: &Message<'_>, raw: &str) -> bool {
    answer.results().all(|(_, result)| {
        let Some(id) = &result.id else { return true };
        let mut names = std::iter::once(id).chain(&result.name).map(Text::decode);
        names.any(|name| has_word(raw, &name))
    })
}

/// Whether `name` is in `text` as a word, and not inside another one.
fn has_word(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    !name.is_empty()
        && text
            .match_indices(name)
            .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part))
}

/// The text of a message that may be a call: its last one.
#[derive(Clone, Copy)]
struct Said<'a> {
    /// Index of the part.
    part: usize,
    /// The inside of the JSON string.
    raw: &'a str,
    /// Where that is.
    span: Span,
}

fn said<'a>(message: &Message<'a>) -> Option<Said<'a>> {
    let is_text = |part: &Part<'a>| matches!(&part.content, Content::Text(text) if !text.is_blank());
    let part = message.parts.iter().rposition(is_text)?;
    let (raw, span) = inside(&message.parts[part])?;
    Some(Said { part, raw, span })
}

/// The text of a part that is a JSON string or a piece of one, and where it is.
fn inside<'a>(part: &Part<'a>) -> Option<(&'a str, Span)> {
    let (Content::Text(Text::Escaped(raw)), PartOrigin::Source(place)) = (&part.content, &part.origin) else {
        return None;
    };
    let span = match (place.piece, place.rewrite) {
        (Some(piece), _) => piece,
        (None, Some(Rewrite { span, around: ["", ""] })) => Span::new(span.start + 1, span.end - 1),
        _ => return None,
    };
    (place.copies.is_empty() && span.slice(place.element.source()) == *raw).then_some((*raw, span))
}

/// A part for the bytes from `start` to `end` of the text at `within`, which is a piece of the same element as `whole`.
fn piece<'a>(whole: &PartPlace<'a>, within: Span, [start, end]: [usize; 2], content: Content<'a>) -> Part<'a> {
    let at = |offset: usize| within.start + u32::try_from(offset).unwrap_or(u32::MAX);
    let span = Span::new(at(start), at(end));
    let rewrite = matches!(content, Content::Text(_)).then_some(Rewrite { span, around: &["", ""] });
    let place = PartPlace { piece: Some(span), rewrite, ..PartPlace::element(whole.element) };
    Part::from_source(content, place)
}

/// Joins a text with its results: as many calls as results, in the same order.
fn join<'a>(asking: &mut Message<'a>, said: Said<'a>, calls: Option<Calls>, answers: &mut [&mut Message<'a>]) {
    let Said { part, raw, span } = said;
    let calls = calls.unwrap_or_else(|| Calls::whole(raw));
    let Some(whole) = asking.parts[part].place().cloned() else { return };
    let mut results: usize = answers.iter_mut().map(|answer| read_results(answer)).sum();
    let mut parts = Vec::new();
    if calls.start > 0 {
        parts.push(piece(&whole, span, [0, calls.start], Content::Text(Text::Escaped(&raw[..calls.start]))));
    }
    let first = parts.len();
    for Written { start, end, calls } in calls.written {
        let mut text = Text::Escaped(&raw[start..end]);
        let mut place = [start, end];
        for mut call in calls {
            call.family = Family::Positional;
            call.written = Some(Box::new(std::mem::replace(&mut text, Text::Escaped(""))));
            parts.push(piece(&whole, span, place, Content::ToolCall(call)));
            // The bytes of several calls go with the first one.
            place = [end, end];
        }
    }
    let count = parts.len() - first;
    let shares = parts[first..].iter().any(|part| part.content.call().is_some_and(ToolCall::is_inside_another));
    asking.call_rules.indivisible = count > 1 && (shares || count != results);
    let last = parts.last().and_then(|part| part.content.call()).map(|call| call.name.clone());
    while parts.len() - first < results {
        let name = last.clone().unwrap_or(Text::Escaped(""));
        let call = ToolCall::new(None, name, Text::Escaped(""));
        let call = ToolCall { family: Family::Positional, written: Some(Box::new(Text::Escaped(""))), ..call };
        parts.push(piece(&whole, span, [raw.len(), raw.len()], Content::ToolCall(call)));
        asking.call_rules.indivisible = true;
    }
    if let Some(answer) = answers.last_mut() {
        while results < parts.len() - first {
            repeat_result(answer);
            results += 1;
        }
    }
    match_names(&mut parts[first..], answers);
    asking.parts.splice(part..=part, parts);
}

/// Makes the texts of a message the result of a call by position, and returns how many calls it answers.
fn read_results(answer: &mut Message<'_>) -> usize {
    if answer.results().next().is_none() {
        let texts = answer.parts.iter().filter(|part| matches!(part.content, Content::Text(_))).count();
        let mut said = Vec::new();
        answer.parts.retain(|part| match &part.content {
            Content::Text(text) => {
                said.push(text.clone());
                said.len() == 1
            }
            _ => true,
        });
        let result = Content::ToolResult(ToolResult::new(None, None, said));
        let is_tagged = answer.role == Role::User;
        match answer.parts.iter_mut().find(|part| matches!(part.content, Content::Text(_))) {
            Some(part) => {
                part.content = result;
                if let (true, PartOrigin::Source(place)) = (texts > 1, &mut part.origin) {
                    *place = PartPlace::element(place.element.parent().unwrap_or(place.element));
                }
                // Without its tag, a text of the user is no result any more.
                if let (true, PartOrigin::Source(place)) = (is_tagged, &mut part.origin) {
                    place.rewrite = None;
                }
            }
            None => answer.parts.extend(answer.value().map(|value| super::blocks::whole(value, result))),
        }
    }
    let tagged = |content: &[Text<'_>]| match content {
        [Text::Escaped(raw)] => syntax::results(raw).unwrap_or(1),
        _ => 1,
    };
    let mut results = answer.parts.iter_mut().filter_map(|part| match &mut part.content {
        Content::ToolResult(result) => Some(result),
        _ => None,
    });
    let mut more = 0;
    for result in results.by_ref() {
        result.family = Family::Positional;
        more += tagged(&result.content) - 1;
        if result.id.is_none() {
            result.id = result.content.first().and_then(syntax::answered_id).map(Text::Owned);
        }
    }
    for _ in 0..more {
        repeat_result(answer);
    }
    answer.results().count()
}

/// Adds a result to those of a message that only says that the message answers one more call.
fn repeat_result(answer: &mut Message<'_>) {
    let place = answer.parts.iter().rfind(|part| part.content.result().is_some()).and_then(Part::place);
    let Some(element) = place.map(|place| place.element) else { return };
    let result = ToolResult { family: Family::Positional, ..ToolResult::new(None, None, Vec::new()) };
    answer.parts.push(super::blocks::whole(element, Content::ToolResult(result)));
}

/// Leaves ids and names where calls and results agree in them. Where they do not, position alone decides, and a call without a
/// name has the one that its result writes.
fn match_names(calls: &mut [Part<'_>], answers: &mut [&mut Message<'_>]) {
    let mut calls: Vec<&mut ToolCall<'_>> = calls.iter_mut().filter_map(|part| call_mut(&mut part.content)).collect();
    let parts = answers.iter_mut().flat_map(|answer| &mut answer.parts);
    let mut results: Vec<&mut ToolResult<'_>> = parts.filter_map(|part| result_mut(&mut part.content)).collect();
    let have = |id: &Option<Text<'_>>| id.as_ref().map(|id| id.decode().into_owned());
    let ids = |ids: Vec<Option<String>>| -> Option<Vec<String>> {
        let mut ids: Vec<String> = ids.into_iter().collect::<Option<_>>()?;
        ids.sort_unstable();
        Some(ids)
    };
    let asked = ids(calls.iter().map(|call| have(&call.id)).collect());
    let answered = ids(results.iter().map(|result| have(&result.id)).collect());
    if asked.is_some() && asked == answered {
        return;
    }
    for (call, result) in calls.iter_mut().zip(&mut results) {
        (call.id, result.id) = (None, None);
        let name = result.name.take();
        if let (true, Some(name)) = (call.name.len_bound() == 0, name) {
            call.name = Text::Owned(name.decode().into_owned());
        }
    }
}

fn call_mut<'m, 'a>(content: &'m mut Content<'a>) -> Option<&'m mut ToolCall<'a>> {
    if let Content::ToolCall(call) = content { Some(call) } else { None }
}

fn result_mut<'m, 'a>(content: &'m mut Content<'a>) -> Option<&'m mut ToolResult<'a>> {
    if let Content::ToolResult(result) = content { Some(result) } else { None }
}
