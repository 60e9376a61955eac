//! Replies of a model that stand beside the messages of a record: responses of providers, and texts that were generated.

use super::{blocks, simple};
use crate::json::{Text, Value};
use crate::transcript::Role;

/// The answer of a row that has it beside its messages: it is counted, and stays.
pub(crate) fn beside(record: Value<'_>) -> Vec<Text<'_>> {
    let [response, output, model, completion, outputs] =
        record.get_each(["response", "output", "modelOutput", "completion", "outputs"]);
    let replies = [response, model].into_iter().flatten().map(first_in);
    let said = replies.chain(output).map(said_in).find(|texts| !texts.is_empty());
    let said = said.unwrap_or_else(|| completion.and_then(Value::text).into_iter().collect());
    said.into_iter().chain(outputs.into_iter().flat_map(Value::items).filter_map(Value::text)).collect()
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

/// What a text, a message or a list of the items of a response says.
fn said_in(message: Value<'_>) -> Vec<Text<'_>> {
    if let Some(text) = message.text() {
        return vec![text];
    }
    if message.is_array() {
        let items: Vec<Value<'_>> = message.items().collect();
        // Before the reply, a list may repeat what it answers.
        let reply = items.rsplit(|item| item.word("role") == "user").next().unwrap_or_default();
        return reply.iter().flat_map(|item| said_by_model(*item)).collect();
    }
    if message.get("role").is_none() {
        return Vec::new();
    }
    let content = message.get("content").or_else(|| message.get("parts"));
    let calls = message.some("tool_calls").map(|calls| Text::Json(calls.raw()));
    blocks::texts(content).into_iter().chain(calls).collect()
}

/// What an item says if it is the model's: a reply or a call.
pub(super) fn said_by_model(item: Value<'_>) -> Vec<Text<'_>> {
    if simple::role_of(&item.word("role")) == Some(Role::Assistant) {
        return said_in(item);
    }
    let members = item.get_each(["call_id", "name", "arguments", "input"]);
    let [Some(_), said @ ..] = members else { return Vec::new() };
    said.into_iter().flatten().map(|value| value.text().unwrap_or(Text::Json(value.raw()))).collect()
}
