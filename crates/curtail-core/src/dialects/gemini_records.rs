//! Recordings of the Gemini CLI: headers and updates of them, thoughts beside the content, and `toolCalls`, each a call with its
//! result.

use super::gemini_parts::{answer, is_media, media_of};
use super::{Fit, blocks, provenance};
use crate::json::{Span, Text, Value};
use crate::transcript::{Content, Part, PartPlace, Rewrite, Usage};

/// Whether a line is the header of a recording, or an update of it. What has an id is a message, except a rewind.
pub(super) fn is_header(item: Value<'_>) -> bool {
    let [session, project, set, rewind, id] = item.get_each(["sessionId", "projectHash", "$set", "$rewindTo", "id"]);
    let header = session.is_some() && project.is_some() || set.is_some_and(Value::is_object);
    rewind.is_some() || header && id.is_none_or(|id| id.text().is_none())
}

/// Whether a line applies to what is before it and to no message: a rewind, or the time of a change, which a later line repeats.
pub(super) fn is_passing(item: Value<'_>) -> bool {
    let mut set = item.get("$set").into_iter().flat_map(Value::members);
    item.get("$rewindTo").is_some() || item.get("$set").is_some() && set.all(|member| member.key.is("lastUpdated"))
}

/// Whether an item is a line of a recording, and no content of the API or event.
pub(super) fn is_record(item: Value<'_>) -> bool {
    let [kind, role, author] = item.get_each(["type", "role", "author"]);
    kind.is_some() && role.is_none() && author.is_none() || is_header(item)
}

/// Whether a record is metadata: a header, or a notice for the user.
pub(super) fn is_metadata(item: Value<'_>) -> bool {
    const NOTICES: &[&str] = &["info", "warning", "error"];
    let notice = NOTICES.contains(&&*item.word("type"));
    is_header(item) || notice && item.get("role").is_none()
}

/// How well a single record fits.
pub(super) fn fit_record(item: Value<'_>) -> Fit {
    let enveloped = ["role", "message", "uuid", "payload", "data"].iter().any(|key| item.get(key).is_some());
    if enveloped || item.get("content").is_none() {
        return Fit::No;
    }
    match &*item.word("type") {
        "gemini" => Fit::Certain,
        "user" | "info" | "warning" | "error" if item.get("timestamp").is_some() => Fit::Possible,
        _ => Fit::No,
    }
}

/// The usage of a reply. The input includes cached tokens.
pub(super) fn usage_of_record(item: Value<'_>) -> Option<Usage> {
    let tokens = item.some("tokens")?;
    let output = tokens.number("output") + tokens.number("thoughts");
    provenance::counted(tokens.number("input"), [tokens.number("cached"), 0], output)
}

/// The thoughts beside the content.
pub(super) fn thoughts(item: Value<'_>) -> Vec<Part<'_>> {
    let thoughts = item.items_under("thoughts");
    thoughts.map(|thought| blocks::in_shell(thought, Content::Reasoning(thought_text(thought)))).collect()
}

fn thought_text(thought: Value<'_>) -> Text<'_> {
    match (thought.get_text("subject"), thought.get_text("description")) {
        (Some(subject), Some(description)) => Text::Owned(format!("{}\n{}", subject.decode(), description.decode())),
        (only, None) | (None, only) => only.unwrap_or(Text::Escaped("")),
    }
}

/// A call for each record, and a result if there is one; both have the same bytes.
pub(super) fn tool_calls(item: Value<'_>) -> Vec<Part<'_>> {
    let records = item.items_under("toolCalls");
    records.flat_map(|record| std::iter::once(read_call(record)).chain(read_recorded_result(record))).collect()
}

fn read_call(record: Value<'_>) -> Part<'_> {
    let call = blocks::call(record.get_text("id"), record.get_text("name"), record.some("args"));
    Part::from_source(call, PartPlace { rewrite: room_for_result(record), ..PartPlace::in_shell(record) })
}

/// Where the result of an open call is inserted: the CLI reads a string as the output.
fn room_for_result(record: Value<'_>) -> Option<Rewrite> {
    if let Some(result) = record.get("result") {
        return result_of(record).is_none().then(|| Rewrite::of_text(result));
    }
    let end = record.members().last()?.span.end;
    Some(Rewrite { span: Span::new(end, end), around: &[",\"result\":", ""] })
}

fn result_of(record: Value<'_>) -> Option<Value<'_>> {
    record.some("result").filter(|result| !result.is_array() || result.items().next().is_some())
}

fn read_recorded_result(record: Value<'_>) -> Option<Part<'_>> {
    let result = result_of(record)?;
    let (content, rewrite) = read_answer(result);
    // The CLI writes media beside the response or, for Gemini 3, in it.
    let beside = result.items().filter(|&part| is_media(part)).count();
    let inside: usize = responses_in(result).map(media_of).sum();
    let answer = blocks::result_of(record.get_text("id"), record.get_text("name"), content, beside + inside);
    Some(Part::from_source(answer, PartPlace { rewrite, ..PartPlace::in_shell(record) }))
}

fn responses_in(result: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    result.items().filter_map(|part| blocks::either(part, "functionResponse", "function_response"))
}

/// A string, or parts. The text of a single response may be rewritten, and with media in it, the whole: the CLI reads a string as
/// the output.
fn read_answer(result: Value<'_>) -> (Vec<Text<'_>>, Option<Rewrite>) {
    let responses: Vec<Value<'_>> = responses_in(result).collect();
    if let ([only], 1) = (responses.as_slice(), result.items().count())
        && media_of(*only) == 0
    {
        return answer(only.some("response"));
    }
    let texts = result.items().filter_map(|part| part.get_text("text"));
    let answers = responses.iter().flat_map(|response| answer(response.some("response")).0).chain(texts);
    let content = if result.is_array() { answers.collect() } else { blocks::texts(Some(result)) };
    (content, Some(Rewrite::of_text(result)))
}
