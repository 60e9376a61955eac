//! Exports that are trees: the branch that leads to the current message is read.

use serde_json::{Map, Value as Json, json};

use super::{has_list, items, joined, text_of};

/// A conversation of `ChatGPT`.
pub(super) fn chatgpt(value: &Json) -> Option<Vec<Json>> {
    let nodes = value.get("mapping")?.as_object()?;
    let last = text_of(value, "current_node").or_else(|| newest(nodes, "children"));
    let mut chat = Chat::default();
    for node in last.map(|last| branch(nodes, last, "parent")).unwrap_or_default() {
        if let Some(message) = node.get("message").filter(|message| message.is_object()) {
            chat.add(message);
        }
    }
    record(value, &chat.messages)
}

/// The messages of `ChatGPT`, as chat completions write them.
#[derive(Default)]
struct Chat {
    messages: Vec<Json>,
    /// The calls without a result: the id of each, and its tool.
    open: Vec<(String, String)>,
}

impl Chat {
    fn add(&mut self, message: &Json) {
        let role = message.pointer("/author/role").and_then(Json::as_str).unwrap_or("unknown");
        let recipient = text_of(message, "recipient").filter(|recipient| *recipient != "all");
        let content = &message["content"];
        match (role, recipient, text_of(content, "content_type").unwrap_or("text")) {
            (_, _, "reasoning_recap") => {}
            ("assistant", _, "thoughts") => {
                self.messages.push(json!({ "role": "assistant", "content": "", "reasoning_content": said(content) }));
            }
            ("assistant", Some(tool), _) => self.call(message, tool),
            ("tool", ..) => self.answer(message),
            _ => self.messages.push(json!({ "role": role, "content": parts(content) })),
        }
    }

    fn call(&mut self, message: &Json, tool: &str) {
        let id = text_of(message, "id").unwrap_or(tool);
        let arguments = json!({ "text": said(&message["content"]) }).to_string();
        self.open.push((id.to_owned(), tool.to_owned()));
        self.messages.push(json!({ "role": "assistant", "content": null, "tool_calls": [
            { "id": id, "type": "function", "function": { "name": tool, "arguments": arguments } }] }));
    }

    /// A result answers the oldest open call of its tool, or of any. One that answers none belongs to the result before it, or is
    /// what the program says by itself.
    fn answer(&mut self, message: &Json) {
        let name = message.pointer("/author/name").and_then(Json::as_str);
        let content = parts(&message["content"]);
        let of_tool = self.open.iter().position(|(_, tool)| Some(tool.as_str()) == name);
        if let Some(at) = of_tool.or((!self.open.is_empty()).then_some(0)) {
            let (id, _) = self.open.remove(at);
            return self.messages.push(json!({ "role": "tool", "tool_call_id": id, "name": name, "content": content }));
        }
        match self.messages.last_mut().filter(|last| last["role"] == "tool") {
            Some(last) => last["content"] = blocks(&last["content"]).chain(blocks(&content)).collect(),
            None => self.messages.push(json!({ "role": "assistant", "content": content })),
        }
    }
}

/// A content as a list of parts.
fn blocks(content: &Json) -> impl Iterator<Item = Json> {
    let text = content.as_str().map(|text| json!({ "type": "text", "text": text }));
    text.into_iter().chain(items(content).cloned().collect::<Vec<_>>())
}

/// The texts of a content, as one.
fn said(content: &Json) -> String {
    if let Some(text) = text_of(content, "text").or_else(|| text_of(content, "content")) {
        return text.to_owned();
    }
    let parts = items(&content["parts"]).chain(items(&content["thoughts"]));
    let texts: Vec<String> = parts
        .map(|part| match part {
            Json::String(text) => text.clone(),
            part => text_of(part, "content")
                .or_else(|| text_of(part, "text"))
                .map_or_else(|| part.to_string(), str::to_owned),
        })
        .collect();
    if texts.is_empty() { content.to_string() } else { texts.join("\n") }
}

/// A content as parts: texts, and media where there are some.
fn parts(content: &Json) -> Json {
    let is_media = |part: &Json| part.get("asset_pointer").is_some() || part.get("audio_asset_pointer").is_some();
    if !items(&content["parts"]).any(is_media) {
        return Json::String(said(content));
    }
    let part = |part: &Json| match part {
        Json::String(text) => json!({ "type": "text", "text": text }),
        part if part.get("asset_pointer").is_some() => {
            json!({ "type": "image_url", "image_url": { "url": part["asset_pointer"] } })
        }
        part => json!({ "type": "text", "text": part.to_string() }),
    };
    items(&content["parts"]).map(part).collect()
}

/// A chat of Open `WebUI`.
pub(super) fn open_webui(value: &Json) -> Option<Vec<Json>> {
    let chat = value.get("chat").unwrap_or(value);
    let history = chat.get("history")?;
    let nodes = history.get("messages")?.as_object()?;
    let last = text_of(history, "currentId").or_else(|| newest(nodes, "childrenIds"));
    let branch = last.map(|last| branch(nodes, last, "parentId")).unwrap_or_default();
    let messages: Vec<Json> = branch.into_iter().flat_map(webui_message).collect();
    record(value, &messages)
}

/// A message of Open `WebUI`; an answer that used tools is a list of items.
fn webui_message(node: &Json) -> Vec<Json> {
    let role = text_of(node, "role").unwrap_or("assistant");
    let outputs: Vec<Json> = items(&node["output"]).filter_map(|item| match text_of(item, "type")? {
        "function_call" => Some(json!({ "role": "assistant", "content": null, "tool_calls": [
            { "id": item["call_id"], "type": "function", "function": { "name": item["name"], "arguments": item["arguments"] } }] })),
        "function_call_output" => Some(json!({ "role": "tool", "tool_call_id": item["call_id"], "content": joined(&item["output"]) })),
        "reasoning" => Some(json!({ "role": "assistant", "content": "", "reasoning_content": joined(item.get("content").filter(|content| content.is_array()).unwrap_or(&item["summary"])) })),
        "message" => Some(json!({ "role": "assistant", "content": joined(&item["content"]) })),
        _ => Some(json!({ "role": "assistant", "content": item.to_string() })),
    }).collect();
    if outputs.is_empty() { vec![json!({ "role": role, "content": node["content"] })] } else { outputs }
}

/// A conversation of `LibreChat`.
pub(super) fn librechat(value: &Json) -> Option<Vec<Json>> {
    let mut level = value.get("messagesTree")?;
    let mut messages = Vec::new();
    // Of several answers, the last one was written last.
    while let Some(node) = level.as_array().and_then(|level| level.last()) {
        let mut message = node.as_object()?.clone();
        message.remove("children");
        messages.push(Json::Object(message));
        level = &node["children"];
    }
    record(value, &messages)
}

/// The nodes from the root to `last`.
fn branch<'j>(nodes: &'j Map<String, Json>, last: &'j str, parent: &str) -> Vec<&'j Json> {
    let mut branch = Vec::new();
    let mut here = nodes.get(last);
    // A circle has an end, too.
    while let Some(node) = here.filter(|_| branch.len() < nodes.len()) {
        branch.push(node);
        here = text_of(node, parent).and_then(|parent| nodes.get(parent));
    }
    branch.reverse();
    branch
}

/// The node that the last child of each node leads to, from the root on.
fn newest<'j>(nodes: &'j Map<String, Json>, children: &str) -> Option<&'j str> {
    let is_root = |node: &Json| ["parent", "parentId"].iter().all(|key| node.get(key).is_none_or(Json::is_null));
    let mut here = nodes.iter().find(|(_, node)| is_root(node)).map(|(id, _)| id.as_str())?;
    for _ in 0..nodes.len() {
        match nodes.get(here).and_then(|node| node[children].as_array()?.last()?.as_str()) {
            Some(child) if nodes.contains_key(child) => here = child,
            _ => break,
        }
    }
    Some(here)
}

/// The record of a conversation; none if nothing was said. A value without a tree that has messages beside it is no tree.
fn record(value: &Json, messages: &[Json]) -> Option<Vec<Json>> {
    match messages {
        [] if has_list(value) => None,
        [] => Some(Vec::new()),
        messages => Some(vec![json!({ "messages": messages })]),
    }
}
