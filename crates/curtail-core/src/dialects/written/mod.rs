//! Calls and thoughts that a model wrote as text, as models write them before a chat template or a server makes structures of
//! them.
//!
//! A text is a call only where the messages after it are results: they belong to it by position, or by the id that both write.

mod calls;
mod python;
mod results;
mod strangers;
mod syntaxes;
mod thoughts;

use super::Item;
use crate::json::{Span, Text};
use crate::transcript::{
    Content, Draft, Family, Message, Part, PartOrigin, PartPlace, Rewrite, Role, ToolCall, ToolResult,
};
use calls::{Calls, Written, calls};
use results::{answered_id, results};
pub(super) use strangers::{may_meet_strangers, strangers};

/// Reads the thoughts and the calls in the texts of a transcript.
pub(super) fn connect(read: &mut [Item<'_>]) {
    let mut messages: Vec<&mut Message<'_>> = read.iter_mut().filter_map(Item::message_mut).collect();
    messages.iter_mut().for_each(|message| thoughts::split(message));
    give_calls(&mut messages);
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
    let has_structures = has_structures(messages.iter().map(|message| &**message));
    for at in 1..messages.len() {
        let (before, after) = messages.split_at_mut(at);
        let Some(asking) = before.last_mut() else { continue };
        if let Some(exchange) = Exchange::find(asking, after.iter().map(|message| &**message), has_structures) {
            exchange.write(asking, after);
        }
    }
}

/// A text that is calls, and the messages after it that are their results.
struct Exchange<'a> {
    said: Said<'a>,
    calls: Calls,
    /// The number of messages with results.
    answers: usize,
}

impl<'a> Exchange<'a> {
    /// The exchange of a message and those `after` it. Where other calls of the transcript are structures, only a text of a known
    /// syntax is a call.
    fn find<'m>(
        asking: &Message<'a>,
        after: impl Iterator<Item = &'m Message<'a>> + Clone,
        has_structures: bool,
    ) -> Option<Self>
    where
        'a: 'm,
    {
        if !may_ask(asking) || !may_answer(after.clone().next()?) {
            return None;
        }
        let said = said(asking).filter(|said| !Draft::says_tools_used(said.raw))?;
        let calls = calls(said.raw);
        let answering = after.clone().take_while(|message| {
            message.thread == asking.thread && (message.role == Role::Tool || calls.is_some() && tags_result(message))
        });
        let answers = answering.count();
        let calls = calls.or_else(|| {
            let is_one_call = !has_structures && after.take(answers).all(|answer| is_asked(answer, said.raw));
            is_one_call.then(|| Calls::whole(said.raw))
        })?;
        (answers > 0).then_some(Self { said, calls, answers })
    }

    /// Writes the calls into the message that asks, and as many results into those after it.
    fn write(self, asking: &mut Message<'a>, after: &mut [&mut Message<'a>]) {
        let Said { part, raw, span } = self.said;
        let Some(whole) = asking.parts[part].place().cloned() else { return };
        let answers = &mut after[..self.answers];
        answers.iter_mut().for_each(|answer| make_results(answer));
        let start = self.calls.start;
        let mut calls = placed(self.calls, raw);
        let is_level = level(&mut calls, answers, raw.len());
        let is_matched = match_names(&mut calls, answers);
        asking.call_rules.indivisible = calls.len() > 1 && !(is_level && is_matched);
        let text = (start > 0).then(|| piece(&whole, span, [0, start], Content::Text(Text::Escaped(&raw[..start]))));
        let calls = calls.into_iter().map(|placed| piece(&whole, span, placed.place, Content::ToolCall(placed.call)));
        let parts: Vec<Part<'_>> = text.into_iter().chain(calls).collect();
        asking.parts.splice(part..=part, parts);
    }
}

/// Whether calls of `messages` are structures.
fn has_structures<'m, 'a: 'm>(mut messages: impl Iterator<Item = &'m Message<'a>>) -> bool {
    messages.any(|message| message.calls().any(|(_, call)| call.written.is_none()))
}

/// Whether a message calls tools in its text.
pub(super) fn is_written(message: &Message<'_>) -> bool {
    message.calls().any(|(_, call)| call.written.is_some())
}

/// Whether a message may be the result of a call in the text before it.
fn may_answer(message: &Message<'_>) -> bool {
    message.role == Role::Tool || tags_result(message)
}

/// Whether a message of the user is a result by the tag around its text.
fn tags_result(message: &Message<'_>) -> bool {
    let [Part { content: Content::Text(Text::Escaped(raw)), .. }] = message.parts.as_slice() else { return false };
    message.role == Role::User && results(raw).is_some()
}

/// Whether a message has a text that may be a call, and no call beside it.
fn may_ask(message: &Message<'_>) -> bool {
    message.role == Role::Assistant && !message.parts.iter().any(|part| part.content.is_tool())
}

/// Whether a result belongs to a text of no known syntax: it has no id, its id is in the text, or the text ends with a call of its
/// tool. Of sentences, any may name a tool. A result that may answer no call says nothing of the text before it.
fn is_asked(answer: &Message<'_>, raw: &str) -> bool {
    if answer.call_rules.unasked {
        return false;
    }
    let text = raw.replace(r"\r", "").replace(r"\n", "\n").replace(r"\t", "\t");
    answer.results().all(|(_, result)| {
        let Some(id) = &result.id else { return true };
        let is_called = result.name.as_ref().is_some_and(|name| ends_with_call(&text, &name.decode()));
        is_called || words(&text, &id.decode()).next().is_some()
    })
}

/// Whether a text ends with a call of the tool `name`, or with a call that has it as an argument.
fn ends_with_call(text: &str, name: &str) -> bool {
    let mut text = text;
    loop {
        text = text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ';' | '`'));
        match text.strip_suffix('>').and_then(|tagged| tagged.rfind('<')) {
            Some(tag) => text = &text[..tag],
            None => break,
        }
    }
    text.ends_with([')', '}']) && words(text, name).any(|after| after.starts_with(['(', '{']))
}

/// What follows `name` in `text` wherever it is a word, and not inside another one.
fn words<'t>(text: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    let found = text.match_indices(name).filter(|(_, name)| !name.is_empty());
    let around = found.map(|(at, name)| (&text[..at], &text[at + name.len()..]));
    around
        .filter(move |(before, after)| !before.ends_with(is_part_of_word) && !after.starts_with(is_part_of_word))
        .map(|(_, after)| after)
}

fn is_part_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
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
    let mut parts = message.parts.iter();
    let part = parts.rposition(|part| matches!(&part.content, Content::Text(text) if !text.is_blank()))?;
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
    let [start, end] = [start, end].map(|offset| within.start + u32::try_from(offset).unwrap_or(u32::MAX));
    let span = Span::new(start, end);
    let rewrite = matches!(content, Content::Text(_)).then_some(Rewrite { span, around: &["", ""] });
    let place = PartPlace { piece: Some(span), rewrite, ..PartPlace::element(whole.element) };
    Part::from_source(content, place)
}

/// A call, and its bytes in the text.
struct PlacedCall<'a> {
    place: [usize; 2],
    call: ToolCall<'a>,
}

impl<'a> PlacedCall<'a> {
    fn new(place: [usize; 2], written: &'a str, call: ToolCall<'a>) -> Self {
        let written = Some(Box::new(Text::Escaped(written)));
        Self { place, call: ToolCall { family: Family::Positional, written, ..call } }
    }
}

/// The calls in the text `raw`, in order. The bytes of several calls that are cut together go with the first one.
fn placed(calls: Calls, raw: &str) -> Vec<PlacedCall<'_>> {
    let mut placed = Vec::new();
    for Written { start, end, calls } in calls.written {
        let mut place = [start, end];
        for call in calls {
            placed.push(PlacedCall::new(place, &raw[place[0]..place[1]], call));
            place = [end, end];
        }
    }
    placed
}

/// Makes as many calls as results: a call more is at the `end` of the text, a result more in the last answer. Returns whether each
/// call and each result can be cut alone.
fn level(calls: &mut Vec<PlacedCall<'_>>, answers: &mut [&mut Message<'_>], end: usize) -> bool {
    let asked = calls.len();
    let answered: usize = answers.iter().map(|answer| answer.results().count()).sum();
    let are_inside_another = calls.iter().any(|placed| placed.call.is_inside_another());
    let name = calls.last().map_or(Text::Escaped(""), |placed| placed.call.name.clone());
    for _ in asked..answered {
        calls.push(PlacedCall::new([end, end], "", ToolCall::new(None, name.clone(), Text::Escaped(""))));
    }
    if let Some(last) = answers.last_mut() {
        (answered..asked).for_each(|_| repeat_result(last));
    }
    asked == answered && !are_inside_another
}

/// Makes a message the results that are written in it, of calls by position.
fn make_results(answer: &mut Message<'_>) {
    if answer.results().next().is_none() {
        make_result(answer);
    }
    let further: usize = answer.results().map(|(_, result)| written_results(result) - 1).sum();
    for result in answer.parts.iter_mut().filter_map(|part| result_mut(&mut part.content)) {
        result.family = Family::Positional;
        if result.id.is_none() {
            result.id = result.content.first().and_then(answered_id).map(Text::Owned);
        }
    }
    (0..further).for_each(|_| repeat_result(answer));
}

/// How many results the text of one is; at least one.
fn written_results(result: &ToolResult<'_>) -> usize {
    match result.content.as_slice() {
        [Text::Escaped(raw)] => results(raw).unwrap_or(1),
        _ => 1,
    }
}

/// Makes the texts of a message one result.
fn make_result(answer: &mut Message<'_>) {
    let texts: Vec<Text<'_>> = answer.parts.iter().filter_map(|part| text_of(part).cloned()).collect();
    let are_several = texts.len() > 1;
    let result = Content::ToolResult(ToolResult::new(None, None, texts));
    let Some(first) = answer.parts.iter().position(|part| text_of(part).is_some()) else {
        answer.parts.extend(answer.value().map(|value| super::blocks::whole(value, result)));
        return;
    };
    let later = answer.parts.split_off(first + 1);
    answer.parts.extend(later.into_iter().filter(|part| text_of(part).is_none()));
    let part = &mut answer.parts[first];
    part.content = result;
    let PartOrigin::Source(place) = &mut part.origin else { return };
    if are_several {
        *place = PartPlace::element(place.element.parent().unwrap_or(place.element));
    }
    // Without its tag, a text of the user is no result any more.
    if answer.role == Role::User {
        place.rewrite = None;
    }
}

fn text_of<'p, 'a>(part: &'p Part<'a>) -> Option<&'p Text<'a>> {
    if let Content::Text(text) = &part.content { Some(text) } else { None }
}

/// Adds a result to those of a message that only says that the message answers one more call.
fn repeat_result(answer: &mut Message<'_>) {
    let place = answer.parts.iter().rfind(|part| part.content.result().is_some()).and_then(Part::place);
    let Some(element) = place.map(|place| place.element) else { return };
    let result = ToolResult { family: Family::Positional, ..ToolResult::new(None, None, Vec::new()) };
    answer.parts.push(super::blocks::whole(element, Content::ToolResult(result)));
}

/// Leaves ids and names where calls and results agree in them. Where they do not, position alone decides, and a call without a
/// name has the one that its result writes. Returns whether some of the calls and results agree as all of them do.
fn match_names(calls: &mut [PlacedCall<'_>], answers: &mut [&mut Message<'_>]) -> bool {
    let parts = answers.iter_mut().flat_map(|answer| &mut answer.parts);
    let mut results: Vec<&mut ToolResult<'_>> = parts.filter_map(|part| result_mut(&mut part.content)).collect();
    let asked = sorted(calls.iter().map(|placed| placed.call.id.as_ref()));
    let answered = sorted(results.iter().map(|result| result.id.as_ref()));
    if asked.is_some() && asked == answered {
        return true;
    }
    let have_ids = calls.iter().any(|placed| placed.call.id.is_some());
    for (call, result) in calls.iter_mut().map(|placed| &mut placed.call).zip(&mut results) {
        (call.id, result.id) = (None, None);
        let name = result.name.take();
        if let (true, Some(name)) = (call.name.len_bound() == 0, name) {
            call.name = Text::Owned(name.decode().into_owned());
        }
    }
    !have_ids
}

/// The ids in order; `None` if one is missing.
fn sorted<'i, 'a: 'i>(ids: impl Iterator<Item = Option<&'i Text<'a>>>) -> Option<Vec<String>> {
    let mut ids: Vec<String> = ids.map(|id| Some(id?.decode().into_owned())).collect::<Option<_>>()?;
    ids.sort_unstable();
    Some(ids)
}

fn result_mut<'m, 'a>(content: &'m mut Content<'a>) -> Option<&'m mut ToolResult<'a>> {
    if let Content::ToolResult(result) = content { Some(result) } else { None }
}
