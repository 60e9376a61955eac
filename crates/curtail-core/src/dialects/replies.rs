//! Replies of a model outside the messages of a record: responses of providers, and texts that were generated.

use super::{blocks, openai, responses, simple};
use crate::json::{Text, Value};
use crate::transcript::{Content, Role};

/// What a model replied.
#[derive(Default)]
pub(crate) struct Reply<'a> {
    pub reasoning: Vec<Text<'a>>,
    /// Texts and calls.
    pub answer: Vec<Text<'a>>,
}

/// The reply of a row that has it outside its messages: it is counted, and stays.
pub(crate) fn reply_of(record: Value<'_>) -> Reply<'_> {
    let [response, output, model, completion, outputs] =
        record.get_each(["response", "output", "modelOutput", "completion", "outputs"]);
    let messages = [response, model].into_iter().flatten().map(first_in).chain(output);
    let reply = messages.map(reply_in).find(|reply| !reply.answer.is_empty() || !reply.reasoning.is_empty());
    let mut reply = reply.unwrap_or_else(|| Reply::answer(completion.and_then(Value::text)));
    let outputs = outputs.into_iter().flat_map(Value::items);
    reply.answer.extend(outputs.filter_map(|output| output.text().or_else(|| output.get_text("text"))));
    reply.answer.extend(compared(record));
    // What an agent of A2A made, and what it says of the state of its task.
    let made = record.items_under("artifacts").chain(record.some("status").and_then(|status| status.some("message")));
    reply.answer.extend(made.flat_map(|made| made.items_under("parts")).filter_map(|part| part.get_text("text")));
    reply
}

/// Of answers that are compared and are texts, the longer one; or the rejected one, if the other is the last message.
fn compared(record: Value<'_>) -> Option<Text<'_>> {
    let [chosen, rejected, response] =
        record.get_each(["chosen", "rejected", "rejected_response"]).map(|answer| answer.and_then(Value::text));
    let longer = chosen.zip(rejected).map(|(one, other)| if one.len_bound() < other.len_bound() { other } else { one });
    longer.or(response)
}

/// The message in a response of a provider, or its list of items.
fn first_in(response: Value<'_>) -> Value<'_> {
    let mut lists = [("choices", "message"), ("candidates", "content")].into_iter();
    if let Some(first) = lists.find_map(|(list, key)| response.get(list)?.items().next()?.get(key)) {
        return first;
    }
    let output = response.get("output").filter(|output| output.is_array() || output.is_object());
    let message = output.unwrap_or(response).get("message").filter(|message| message.is_object());
    message.or(output.filter(|output| output.is_array())).unwrap_or(response)
}

/// The reply in a text, a message or a list of the items of a response.
fn reply_in(message: Value<'_>) -> Reply<'_> {
    if let Some(text) = message.text() {
        return Reply::answer([text]);
    }
    if message.is_array() {
        let items: Vec<Value<'_>> = message.items().collect();
        // Before the reply, a list may repeat what it answers.
        let last = items.rsplit(|item| item.word("role") == "user").next().unwrap_or_default();
        let replies: Vec<Reply<'_>> = last.iter().map(|item| reply_of_item(*item)).collect();
        let (reasoning, answers): (Vec<_>, Vec<_>) =
            replies.into_iter().map(|reply| (reply.reasoning, reply.answer)).unzip();
        return Reply { reasoning: reasoning.concat(), answer: answers.concat() };
    }
    if message.get("role").is_none() {
        return Reply::default();
    }
    let content = message.get("content").or_else(|| message.get("parts"));
    let mut reply = Reply::answer(blocks::texts(content.filter(|content| !content.is_array())));
    reply.reasoning.extend(openai::thought(message).and_then(|part| reasoning_in(part.content)));
    for block in content.filter(|content| content.is_array()).into_iter().flat_map(Value::items) {
        match reasoning_in(openai::read_block(block)) {
            Some(text) => reply.reasoning.push(text),
            None => reply.answer.extend(blocks::block_text(block)),
        }
    }
    reply.answer.extend(message.some("tool_calls").map(|calls| Text::Json(calls.raw())));
    reply
}

/// The reply in an item if it is the model's: a message, reasoning or a call.
pub(super) fn reply_of_item(item: Value<'_>) -> Reply<'_> {
    if simple::role_of(&item.word("role")) == Some(Role::Assistant) {
        return reply_in(item);
    }
    if item.member_is("type", "reasoning") {
        let reasoning = reasoning_in(responses::read_reasoning(item));
        return Reply { reasoning: reasoning.into_iter().collect(), ..Reply::default() };
    }
    let members = item.get_each(["call_id", "name", "arguments", "input"]);
    let [Some(_), call @ ..] = members else { return Reply::default() };
    Reply::answer(call.into_iter().flatten().map(|value| value.text().unwrap_or(Text::Json(value.raw()))))
}

fn reasoning_in(content: Content<'_>) -> Option<Text<'_>> {
    if let Content::Reasoning(text) = content { Some(text).filter(|text| text.len_bound() > 0) } else { None }
}

impl<'a> Reply<'a> {
    fn answer(texts: impl IntoIterator<Item = Text<'a>>) -> Self {
        Self { answer: texts.into_iter().collect(), ..Self::default() }
    }
}
