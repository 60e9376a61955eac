//! Rows with answers to train on: a chosen and a rejected one, or one with a label. Only what comes before the answers is cut,
//! and where lists repeat it, equally in all of them.

use super::row::Row;
use super::{Dialect, Item};
use crate::json::{Span, Text, Value};
use crate::steps::count;
use crate::transcript::{Answers, Content, Layout, Message, Pairs, PartRef, in_flight};

/// Members of a row whose answer a program made step by step: these are a transcript like others.
const ROLLOUT: [&str; 4] = ["reward", "info", "task", "trajectory"];

/// Members that say whether the last reply is one to learn from.
const LABELS: &[&str] = &["kto_tag", "label"];

/// The row of a record with answers; `None` for other records.
pub(super) fn row(record: Value<'_>) -> Option<Row<'_>> {
    let prompt = prompt(record);
    let answers = pair(record).map(Vec::from).or_else(|| alone(record).map(|answer| vec![answer]));
    let Some(answers) = answers else { return labelled(record) };
    match prompt.filter(|list| !repeats(answers[0], *list)) {
        Some(prompt) => {
            let branches = answers.into_iter().map(messages).collect();
            Some(Row { answers: Answers { branches, mirrors: Vec::new() }, ..Row::of_list(prompt, Some(record)) })
        }
        None => Some(repeated(record, answers, prompt)),
    }
}

/// A conversation with a label beside it: its last reply is the answer, and what is before it is cut.
fn labelled(record: Value<'_>) -> Option<Row<'_>> {
    let mut labels = LABELS.iter().filter_map(|key| record.get(key));
    labels.find(|label| matches!(label.raw(), "true" | "false"))?;
    let list = ["conversations", "messages"].iter().find_map(|key| record.get(key)).filter(|list| list.is_array())?;
    let mut row = Row::of_list(list, Some(record));
    let last = row.items.last().copied().filter(|last| is_reply(*last))?;
    row.answers.branches = vec![vec![last]];
    let count = row.items.len() - 1;
    Some(first_of(row, count))
}

/// Whether an assistant says something without calling a tool.
fn is_reply(message: Value<'_>) -> bool {
    let speaker = message.get_text("role").or_else(|| message.get_text("from"));
    let replies = speaker.is_some_and(|speaker| speaker.is("assistant") || speaker.is("gpt"));
    replies && is_answer(message) && message.items_under("tool_calls").next().is_none()
}

/// Whether a record has answers that are compared or labelled.
pub(super) fn has_answers(record: Value<'_>) -> bool {
    pair(record).is_some() || alone(record).is_some()
}

/// The better and the worse answer: each a list of messages, or one message.
fn pair(record: Value<'_>) -> Option<[Value<'_>; 2]> {
    const KEYS: &[[&str; 2]] = &[
        ["chosen", "rejected"],
        ["preferred_output", "non_preferred_output"],
        ["chosen_messages", "rejected_messages"],
    ];
    KEYS.iter().find_map(|keys| {
        let [one, other] = record.get_each(*keys);
        let both = [one?, other?];
        // Without a prompt of its own, each is a whole conversation; with one, both repeat it or neither does.
        let fit = match prompt(record) {
            Some(list) => repeats(both[0], list) == repeats(both[1], list),
            None => both.iter().all(|answer| answer.is_array()),
        };
        (fit && both.iter().all(|answer| is_answer(*answer))).then_some(both)
    })
}

/// Whether an answer begins as a list beside it does.
fn repeats(answer: Value<'_>, list: Value<'_>) -> bool {
    let [first, second] = [answer, list].map(|list| list.items().next().map(Value::raw));
    first.is_some() && first == second
}

/// An answer without another one.
fn alone(record: Value<'_>) -> Option<Value<'_>> {
    record.get("completion").filter(|answer| !record.has_any(ROLLOUT) && is_answer(*answer) && prompt(record).is_some())
}

fn is_answer(answer: Value<'_>) -> bool {
    let messages = messages(answer);
    !messages.is_empty() && messages.iter().all(|value| value.is_object() && value.has_any(["role", "from"]))
}

fn messages(answer: Value<'_>) -> Vec<Value<'_>> {
    if answer.is_array() { answer.items().collect() } else { vec![answer] }
}

/// The list of a record that asks and has no answer.
pub(super) fn prompt_alone(record: Value<'_>) -> Option<Value<'_>> {
    let list = record.get("prompt").filter(|list| list.is_array())?;
    list.items().all(is_answer).then_some(list)
}

/// The messages before the answers, where they stand once.
fn prompt(record: Value<'_>) -> Option<Value<'_>> {
    let inner = record.get("input").filter(|input| input.is_object()).and_then(|input| input.get("messages"));
    let lists = ["prompt", "conversations", "messages"].iter().filter_map(|key| record.get(key)).chain(inner);
    lists.into_iter().find(|list| is_list_of_objects(*list))
}

/// Whether a value is a list of nothing but objects.
pub(super) fn is_list_of_objects(list: Value<'_>) -> bool {
    list.is_array() && list.items().all(Value::is_object)
}

/// A row whose answers are whole conversations: what they begin with, equally, is cut, also in a list beside them that repeats it.
fn repeated<'a>(record: Value<'a>, mut answers: Vec<Value<'a>>, beside: Option<Value<'a>>) -> Row<'a> {
    answers.sort_by_key(|answer| answer.span().start);
    let mut lists: Vec<Value<'a>> = answers.iter().copied().chain(beside).collect();
    lists.sort_by_key(|list| list.span().start);
    // The last message of the shorter answer is an answer.
    let longest = answers.iter().map(|answer| answer.items().count().saturating_sub(1)).min().unwrap_or_default();
    let shared = lists[1..].iter().fold(longest, |shared, list| shared_items(lists[0], *list, shared));
    let branches = answers.iter().map(|answer| answer.items().skip(shared).collect()).collect();
    let answers = Answers { branches, mirrors: lists.split_off(1) };
    first_of(Row { answers, ..Row::of_list(lists[0], Some(record)) }, shared)
}

/// How many messages two lists begin with, equally in every byte: `most` at most.
fn shared_items(one: Value<'_>, other: Value<'_>, most: usize) -> usize {
    let mut starts = [one, other].map(|list| list.span().start);
    for (at, items) in one.items().zip(other.items()).take(most).enumerate() {
        let ends = [items.0.span().end, items.1.span().end];
        // What is before is equal already.
        let texts = [(one, 0), (other, 1)].map(|(list, nth)| Span::new(starts[nth], ends[nth]).slice(list.source()));
        count(texts[0].len());
        if texts[0] != texts[1] {
            return at;
        }
        starts = ends;
    }
    most.min(one.items().count()).min(other.items().count())
}

/// The row with only the first `count` of its messages.
fn first_of(mut row: Row<'_>, count: usize) -> Row<'_> {
    let end = count.checked_sub(1).map_or(row.span.start + 1, |last| row.items[last].span().end);
    row.items.truncate(count);
    row.span = Span::new(row.span.start, end);
    row
}

/// The row without the messages at its end that wait for a result: the answers begin with it.
pub(super) fn without_open_round<'a>(row: &Row<'a>, read: &[Message<'a>]) -> Option<Row<'a>> {
    if row.answers.branches.is_empty() {
        return None;
    }
    let pairs = Pairs::from_messages(read);
    let start = in_flight(read);
    if !(start..read.len()).any(|at| waits(&read[at], at, &pairs)) {
        return None;
    }
    let first = read[start].value()?;
    let count = row.items.iter().position(|item| *item == first)?;
    let open = row.items[count..].to_vec();
    let mut row = first_of(row.clone(), count);
    for branch in &mut row.answers.branches {
        branch.splice(0..0, open.iter().copied());
    }
    Some(row)
}

/// Whether a call of the `message` with the index `at` has no result.
fn waits(message: &Message<'_>, at: usize, pairs: &Pairs) -> bool {
    let mut calls = message.calls().filter(|(_, call)| !call.hosted);
    calls.any(|(part, _)| pairs.counterpart(PartRef { message: at, part }).is_none())
}

/// What a model reads of the longest answer.
pub(super) fn texts<'a>(dialect: &dyn Dialect, answers: &Answers<'a>) -> Vec<Text<'a>> {
    let read = answers.branches.iter().map(|branch| {
        let messages = dialect.read_all(branch).into_iter().filter_map(Item::into_message);
        messages.flat_map(|message| message.parts).flat_map(|part| texts_of(part.content)).collect::<Vec<_>>()
    });
    read.max_by_key(|texts| texts.iter().map(|text| text.decode().len()).sum::<usize>()).unwrap_or_default()
}

fn texts_of(content: Content<'_>) -> Vec<Text<'_>> {
    match content {
        Content::Text(text) | Content::Reasoning(text) | Content::Media(text) | Content::Unknown(text) => vec![text],
        Content::ToolCall(call) => call.texts().cloned().collect(),
        Content::ToolResult(result) => result.content,
        Content::Other => Vec::new(),
    }
}

/// Appends what was written of a row to `out`, for all lists that repeat it, and returns where the text goes on. `from` is where it
/// begins in `out`.
pub(crate) fn write_repeated(layout: &Layout<'_>, out: &mut String, from: usize) -> usize {
    let source = layout.source;
    let is_emptied = out[from..].trim_end() == "[";
    // Nothing is left before the answer, and neither is what separates the two.
    let rest = |at: usize| {
        let behind = source[at..].trim_start();
        if is_emptied && behind.starts_with(',') { source.len() - behind[1..].trim_start().len() } else { at }
    };
    let made = from..out.len();
    let length = (layout.span.end - layout.span.start) as usize;
    let mut at = rest(layout.span.end as usize);
    for start in layout.answers.mirrors.iter().map(|list| list.span().start as usize) {
        out.push_str(&source[at..start]);
        out.extend_from_within(made.clone());
        at = rest(start + length);
    }
    at
}
