//! Exports that are trees: the branch that leads to the current message is read.

use serde_json::{Map, Value as Json, json};

use super::{has_list, items, joined, part_text, text_of, without};
use crate::json::Value;

/// A conversation of `ChatGPT`.
pub(super) fn chatgpt(value: &Json) -> Option<Vec<Json>> {
    let nodes = value.get("mapping")?.as_object()?;
    let mut chat = Chat::default();
    for node in branch(nodes, text_of(value, "current_node"), "parent", "children") {
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
            ("user", ..) => self.messages.push(json!({ "role": role, "content": parts(content) })),
            _ => self.messages.push(json!({ "role": role, "content": with_names_of_images(parts(content)) })),
        }
    }

    fn call(&mut self, message: &Json, tool: &str) {
        let id = text_of(message, "id").unwrap_or(tool);
        let tool = tool_name(tool);
        let arguments = json!({ "text": said(&message["content"]) }).to_string();
        self.open.push((id.to_owned(), tool.clone()));
        self.messages.push(json!({ "role": "assistant", "content": null, "tool_calls": [
            { "id": id, "type": "function", "function": { "name": tool, "arguments": arguments } }] }));
    }

    /// A result answers the oldest open call of its tool, or of any. One that answers none belongs to the result before it, or is
    /// what the program says by itself.
    fn answer(&mut self, message: &Json) {
        let name = message.pointer("/author/name").and_then(Json::as_str).map(tool_name);
        let content = with_names_of_images(parts(&message["content"]));
        let of_tool = self.open.iter().position(|(_, tool)| Some(tool) == name.as_ref());
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

/// The name of a tool as providers take it: `web.run` is `web_run`.
fn tool_name(name: &str) -> String {
    name.replace(|c: char| !(c.is_ascii_alphanumeric() || c == '-'), "_")
}

/// A content as a list of parts.
fn blocks(content: &Json) -> impl Iterator<Item = Json> {
    let text = content.as_str().map(|text| json!({ "type": "text", "text": text }));
    text.into_iter().chain(items(content).cloned().collect::<Vec<_>>())
}

/// The texts of a content, as one.
fn said(content: &Json) -> String {
    if let Some(text) = ["text", "content", "result"].iter().find_map(|key| text_of(content, key)) {
        return text.to_owned();
    }
    let about: Vec<&str> =
        ["user_profile", "user_instructions"].iter().filter_map(|key| text_of(content, key)).collect();
    if !about.is_empty() {
        return about.join("\n");
    }
    let parts = items(&content["parts"]).chain(items(&content["thoughts"]));
    let texts: Vec<String> = parts.map(part_text).collect();
    if texts.is_empty() { content.to_string() } else { texts.join("\n") }
}

/// A content as parts: texts, and media where there are some. What was said aloud is its transcription.
fn parts(content: &Json) -> Json {
    let parts = items(&content["parts"]);
    let is_transcribed = parts.clone().any(|part| text_of(part, "content_type") == Some("audio_transcription"));
    let parts: Vec<Json> = parts.filter(|part| !(is_transcribed && is_audio(part))).map(part_of).collect();
    if parts.is_empty() || parts.iter().all(|part| part["type"] == "text") && !is_transcribed {
        return Json::String(said(content));
    }
    Json::Array(parts)
}

/// The content of a message that is not of the user, in which providers take no image: the name of each in its place.
fn with_names_of_images(mut content: Json) -> Json {
    let parts = content.as_array_mut().into_iter().flatten();
    for part in parts.filter(|part| part["type"] == "image_url") {
        *part = json!({ "type": "text", "text": part["image_url"]["url"] });
    }
    content
}

/// Whether a part is the sound of a voice, or its picture as well.
fn is_audio(part: &Json) -> bool {
    const POINTERS: [&str; 3] =
        ["audio_asset_pointer", "video_container_asset_pointer", "real_time_user_audio_video_asset_pointer"];
    text_of(part, "content_type").is_some_and(|kind| POINTERS.contains(&kind))
}

fn part_of(part: &Json) -> Json {
    match part.get("asset_pointer") {
        _ if is_audio(part) => {
            let sound = part.get("audio_asset_pointer").unwrap_or(part);
            json!({ "type": "input_audio", "input_audio": { "data": sound["asset_pointer"], "format": sound["format"] } })
        }
        Some(url) => json!({ "type": "image_url", "image_url": { "url": url } }),
        None => json!({ "type": "text", "text": part_text(part) }),
    }
}

/// A chat of Open `WebUI`.
pub(super) fn open_webui(value: &Json) -> Option<Vec<Json>> {
    let chat = value.get("chat").unwrap_or(value);
    let history = chat.get("history")?;
    let nodes = history.get("messages")?.as_object()?;
    let branch = branch(nodes, text_of(history, "currentId"), "parentId", "childrenIds");
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
    if outputs.is_empty() { vec![json!({ "role": role, "content": with_images(node) })] } else { outputs }
}

/// The content of a node; a list of parts if images are attached to it.
fn with_images(node: &Json) -> Json {
    let attached = items(&node["files"]).filter(|file| text_of(file, "type") == Some("image"));
    let mut images =
        attached.map(|file| json!({ "type": "image_url", "image_url": { "url": file["url"] } })).peekable();
    match images.peek() {
        Some(_) => blocks(&node["content"]).chain(images).collect(),
        None => node["content"].clone(),
    }
}

/// The key under which `LibreChat` has its messages, each with its answers inside it.
pub(super) const NESTED: &str = "messagesTree";

/// A conversation of `LibreChat`, whose branch is a list already.
pub(super) fn librechat(value: &Json) -> Option<Vec<Json>> {
    let messages: Vec<Json> = items(value.get(NESTED)?).cloned().collect();
    messages.iter().all(Json::is_object).then(|| record(value, &messages))?
}

/// The messages of a branch of `LibreChat`, as a list: a long conversation is nested deeper than values of exports can be.
pub(super) fn flattened(tree: Value<'_>) -> Json {
    // Of several answers, the last one was written last.
    let nodes = std::iter::successors(tree.items().last(), |node| node.get("children")?.items().last());
    nodes.map(|node| if node.is_object() { Json::Object(without(node, "children")) } else { Json::Null }).collect()
}

/// The nodes from the root to the one that is called `current`, or to the newest if there is none with this name.
fn branch<'j>(nodes: &'j Map<String, Json>, current: Option<&str>, parent: &str, children: &str) -> Vec<&'j Json> {
    let mut branch = Vec::new();
    let mut here = current.and_then(|id| nodes.get(id)).or_else(|| newest(nodes, parent, children));
    // A circle has an end, too.
    while let Some(node) = here.filter(|_| branch.len() < nodes.len()) {
        branch.push(node);
        here = text_of(node, parent).and_then(|parent| nodes.get(parent));
    }
    branch.reverse();
    branch
}

/// The node that the last child of each node leads to, from the root on.
fn newest<'j>(nodes: &'j Map<String, Json>, parent: &str, children: &str) -> Option<&'j Json> {
    let root = nodes.values().find(|node| text_of(node, parent).is_none_or(|parent| !nodes.contains_key(parent)));
    let line = std::iter::successors(root, |node| nodes.get(node[children].as_array()?.last()?.as_str()?));
    line.take(nodes.len()).last()
}

/// The record of a conversation; none if nothing was said. A value without a tree that has messages beside it is no tree.
fn record(value: &Json, messages: &[Json]) -> Option<Vec<Json>> {
    match messages {
        [] if has_list(value) => None,
        [] => Some(Vec::new()),
        messages => Some(vec![json!({ "messages": messages })]),
    }
}
