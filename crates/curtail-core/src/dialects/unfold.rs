//! Exports that can be looked at and not cut: trees, of which the current branch is read, and messages that are JSON inside a
//! string or under flat keys. Each is unfolded into a document with the messages that it contains.

use serde_json::{Map, Value as Json, json};

/// What was found in an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfolded {
    /// What the export is.
    pub format: &'static str,
    /// A document with a record for each conversation.
    pub text: String,
}

impl Unfolded {
    /// Why nothing cuts the export, and what to do.
    #[must_use]
    pub fn refusal(&self) -> String {
        refusal(self.format)
    }
}

/// Why nothing cuts an export of this format, and what to do.
#[must_use]
pub fn refusal(format: &str) -> String {
    format!(
        "this is {format}, which is looked at (`count`, `check`, `show`, `view`) and not cut; to cut it, write its messages as a \
         list under `messages`"
    )
}

/// How much of a text shows what it is.
const HEAD: usize = 1 << 16;

/// What reads a record of one format: the record with its messages, or `None` if it is in no such format.
type Reader = fn(&Json) -> Option<Json>;

/// A format: its name, texts of which one is at the beginning of every export, and what reads a record of it.
type Format = (&'static str, &'static [&'static str], Reader);

const FORMATS: &[Format] = &[
    ("an export of ChatGPT", &["\"mapping\""], chatgpt),
    ("an export of Open WebUI", &["\"childrenIds\""], open_webui),
    ("an export of LibreChat with branches", &["\"messagesTree\""], librechat),
    ("a span of OpenInference", &["llm.input_messages", "\"input.value\"", "\"input_messages\""], openinference),
    ("a run of LangSmith", &["\"run_type\""], langsmith),
    ("a call of Weave", &["\"op_name\""], weave),
    ("an observation of Langfuse", &["\"traceId\"", "\"trace_id\""], langfuse),
    ("a span of OpenTelemetry with messages in strings", &["gen_ai.input.messages"], otel),
    ("a row of questions and calls", &["\"answers\""], xlam),
    ("a row with its messages in a string", &["\"[{", "\"[ {", "\"[\\n"], in_string),
];

/// Rows of a store, which are messages only together.
const ROWS: (&str, &str) = ("rows of a store with messages in strings", "\"message_data\"");

/// What an export contains; `None` if `text` is none of these.
#[must_use]
pub fn unfolded(text: &str) -> Option<Unfolded> {
    let text = text.trim_start_matches('\u{feff}');
    let head = &text[..text.floor_char_boundary(HEAD)];
    let mut signs = FORMATS.iter().flat_map(|(_, signs, _)| *signs).chain([&ROWS.1]);
    if !signs.any(|sign| head.contains(sign)) || !begins_folded(text) {
        return None;
    }
    let values = spans(values(text)?);
    if let Some(messages) = rows(&values) {
        return Some(Unfolded { format: ROWS.0, text: json!({ "messages": messages }).to_string() });
    }
    let (format, _, read) = FORMATS.iter().find(|(.., read)| values.iter().any(|value| read(value).is_some()))?;
    let records: Vec<Json> = values.iter().filter_map(read).collect();
    Some(Unfolded { format, text: Json::Array(records).to_string() })
}

/// Whether the first lines, if each is a value, are of an export. A document is none of lines, and is read as a whole.
fn begins_folded(text: &str) -> bool {
    const LINES: usize = 3;
    let lines = text.lines().filter(|line| !line.trim().is_empty()).take(LINES);
    let first: Option<Vec<Json>> = lines.map(|line| serde_json::from_str(line).ok()).collect();
    let Some(first) = first.filter(|first| first.len() > 1) else { return true };
    let first = spans(first);
    rows(&first).is_some() || first.iter().any(|value| FORMATS.iter().any(|(.., read)| read(value).is_some()))
}

/// The values of a document that is a list, or of lines.
fn values(text: &str) -> Option<Vec<Json>> {
    let values: Vec<Json> = serde_json::Deserializer::from_str(text).into_iter().collect::<Result<_, _>>().ok()?;
    match <[Json; 1]>::try_from(values) {
        Ok([Json::Array(values)]) => Some(values),
        Ok([value]) => Some(vec![value]),
        Err(values) => Some(values),
    }
}

/// The spans in values that hold them as OTLP writes them, and all other values as they are.
fn spans(values: Vec<Json>) -> Vec<Json> {
    values
        .into_iter()
        .flat_map(|value| match value.get("resourceSpans") {
            None => vec![value],
            Some(resources) => {
                let scopes = items(resources).flat_map(|resource| items(&resource["scopeSpans"]));
                scopes.flat_map(|scope| items(&scope["spans"])).cloned().collect()
            }
        })
        .collect()
}

fn items(value: &Json) -> impl Iterator<Item = &Json> {
    value.as_array().into_iter().flatten()
}

fn text_of<'j>(value: &'j Json, key: &str) -> Option<&'j str> {
    value.get(key)?.as_str()
}

/// The list or object that a string holds as JSON.
fn decoded(value: &Json) -> Option<Json> {
    let text = value.as_str()?.trim_start();
    text.starts_with(['[', '{']).then(|| serde_json::from_str(text).ok()).flatten()
}

/// The value, or what it holds as JSON if it is a string.
fn plain(value: &Json) -> Json {
    decoded(value).unwrap_or_else(|| value.clone())
}

/// A list of messages, or one in a list of one.
fn messages_in(value: &Json) -> Option<Vec<Json>> {
    let value = plain(value);
    let list = match &value {
        Json::Array(list) => list,
        _ => value.get("messages").or_else(|| value.get("input")).or_else(|| value.get("contents"))?.as_array()?,
    };
    // A batch of one.
    let list = match list.as_slice() {
        [Json::Array(only)] => only,
        _ => list,
    };
    let is_message = |message: &Json| message.is_object();
    (!list.is_empty() && list.iter().all(is_message)).then(|| list.clone())
}

/// The reply in what a trace calls the output.
fn replies(output: &Json) -> Vec<Json> {
    let output = plain(output);
    let at = |path: &str| output.pointer(path).filter(|found| found.is_object()).cloned();
    let reply = ["/choices/0/message", "/generations/0/0/message", "/message", "/output/message"]
        .iter()
        .find_map(|path| at(path));
    if let Some(reply) = reply {
        return vec![reply];
    }
    match &output {
        Json::String(said) => vec![json!({ "role": "assistant", "content": said })],
        Json::Object(object) if object.contains_key("role") || object.contains_key("kwargs") => vec![output],
        _ => messages_in(&output).unwrap_or_default(),
    }
}

fn record(mut messages: Vec<Json>, replies: Vec<Json>) -> Option<Json> {
    messages.extend(replies);
    (!messages.is_empty()).then(|| json!({ "messages": messages }))
}

// Trees: the branch that leads to the current message.

fn chatgpt(value: &Json) -> Option<Json> {
    let nodes = value.get("mapping")?.as_object()?;
    let last = text_of(value, "current_node").or_else(|| newest(nodes, "children"))?;
    let branch = branch(nodes, last, "parent");
    let mut messages = Vec::new();
    let mut open: Option<String> = None;
    for node in branch {
        let Some(message) = node.get("message").filter(|message| message.is_object()) else { continue };
        let role = message.pointer("/author/role").and_then(Json::as_str).unwrap_or("unknown");
        let name = message.pointer("/author/name").and_then(Json::as_str);
        let recipient = text_of(message, "recipient").filter(|recipient| *recipient != "all");
        let content = &message["content"];
        let kind = text_of(content, "content_type").unwrap_or("text");
        messages.extend(match (role, recipient, kind) {
            (_, _, "reasoning_recap") => None,
            ("assistant", _, "thoughts") => {
                Some(json!({ "role": "assistant", "content": "", "reasoning_content": said(content) }))
            }
            ("assistant", Some(tool), _) => {
                let id = text_of(message, "id").unwrap_or(tool).to_owned();
                let arguments = json!({ "text": said(content) }).to_string();
                open = Some(id.clone());
                Some(json!({ "role": "assistant", "content": null, "tool_calls": [
                    { "id": id, "type": "function", "function": { "name": tool, "arguments": arguments } }] }))
            }
            ("tool", _, _) => match open.take() {
                Some(id) => {
                    Some(json!({ "role": "tool", "tool_call_id": id, "name": name, "content": parts(content) }))
                }
                None => Some(json!({ "role": "assistant", "content": parts(content) })),
            },
            (role, _, _) => Some(json!({ "role": role, "content": parts(content) })),
        });
    }
    record(messages, Vec::new())
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

fn open_webui(value: &Json) -> Option<Json> {
    let chat = value.get("chat").unwrap_or(value);
    let history = chat.get("history")?;
    let nodes = history.get("messages")?.as_object()?;
    let last = text_of(history, "currentId").or_else(|| newest(nodes, "childrenIds"))?;
    let messages = branch(nodes, last, "parentId").into_iter().flat_map(webui_message).collect();
    record(messages, Vec::new())
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

/// The texts of a list of blocks, as one; any other value as it is.
fn joined(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Array(blocks) => {
            let texts: Vec<String> = blocks
                .iter()
                .map(|block| text_of(block, "text").map_or_else(|| block.to_string(), str::to_owned))
                .collect();
            texts.join("\n")
        }
        value => value.to_string(),
    }
}

fn librechat(value: &Json) -> Option<Json> {
    let mut level = value.get("messagesTree")?;
    let mut messages = Vec::new();
    // Of several answers, the last one was written last.
    while let Some(node) = level.as_array().and_then(|level| level.last()) {
        let mut message = node.as_object()?.clone();
        message.remove("children");
        messages.push(Json::Object(message));
        level = &node["children"];
    }
    record(messages, Vec::new())
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

// Traces: what was asked, and what a model answered.

fn langsmith(value: &Json) -> Option<Json> {
    value.get("run_type")?;
    let messages = messages_in(value.get("inputs")?)?;
    record(messages, value.get("outputs").map(replies).unwrap_or_default())
}

fn weave(value: &Json) -> Option<Json> {
    value.get("op_name")?;
    let messages = messages_in(value.get("inputs")?)?;
    record(messages, value.get("output").map(replies).unwrap_or_default())
}

fn langfuse(value: &Json) -> Option<Json> {
    value.get("traceId").or_else(|| value.get("trace_id"))?;
    let messages = messages_in(value.get("input")?)?;
    record(messages, value.get("output").map(replies).unwrap_or_default())
}

fn otel(value: &Json) -> Option<Json> {
    let attributes = attributes(value)?;
    let under = |key: &str| attributes.get(key).and_then(decoded).and_then(|list| list.as_array().cloned());
    let mut messages = under("gen_ai.input.messages")?;
    messages.extend(under("gen_ai.output.messages").unwrap_or_default());
    let mut record = Map::new();
    record.insert(String::from("gen_ai.input.messages"), Json::Array(messages));
    for key in ["gen_ai.system_instructions", "gen_ai.tool.definitions"] {
        record.extend(attributes.get(key).map(|value| (key.to_owned(), plain(value))));
    }
    Some(Json::Object(record))
}

fn openinference(value: &Json) -> Option<Json> {
    let attributes = attributes(value)?;
    let tree = nested(&attributes);
    let under = |key: &str| -> Vec<Json> {
        items(&tree["llm"][key]).filter_map(|item| span_message(&item["message"])).collect()
    };
    let mut messages = under("input_messages");
    if messages.is_empty() {
        // What instruments that know no messages record.
        let asked = messages_in(attributes.get("input.value")?)?;
        return record(asked, attributes.get("output.value").map(replies).unwrap_or_default());
    }
    answer_in_order(&mut messages);
    record(messages, under("output_messages"))
}

/// Lets results that name no call answer the calls before them, in order.
fn answer_in_order(messages: &mut [Json]) {
    let mut open: Vec<Json> = Vec::new();
    for message in messages {
        if message.get("tool_calls").is_some() {
            open = items(&message["tool_calls"]).map(|call| call["id"].clone()).collect();
        } else if message["role"] == "tool" && message["tool_call_id"].is_null() && !open.is_empty() {
            message["tool_call_id"] = open.remove(0);
        }
    }
}

/// A message of a span, as chat completions write it.
fn span_message(message: &Json) -> Option<Json> {
    let role = text_of(message, "role")?;
    let mut chat = json!({ "role": role, "content": message.get("content").cloned().unwrap_or(Json::Null) });
    let block = |item: &Json| {
        let block = &item["message_content"];
        match text_of(block, "type") {
            Some("image") => {
                let image = &block["image"];
                json!({ "type": "image_url", "image_url": image.get("image").unwrap_or(image) })
            }
            _ => {
                json!({ "type": "text", "text": block.get("text").cloned().unwrap_or_else(|| Json::String(block.to_string())) })
            }
        }
    };
    let blocks: Vec<Json> = items(&message["contents"]).map(block).collect();
    if !blocks.is_empty() {
        chat["content"] = Json::Array(blocks);
    }
    let call = |item: &Json| {
        let call = &item["tool_call"];
        let arguments = call.pointer("/function/arguments").cloned().unwrap_or_else(|| json!("{}"));
        json!({ "id": call["id"], "type": "function", "function": { "name": call["function"]["name"], "arguments": arguments } })
    };
    let calls: Vec<Json> = items(&message["tool_calls"]).map(call).collect();
    if !calls.is_empty() {
        chat["tool_calls"] = Json::Array(calls);
    }
    if role == "tool" {
        chat["tool_call_id"] = message.get("tool_call_id").cloned().unwrap_or(Json::Null);
    }
    Some(chat)
}

/// The attributes of a span: an object, or a list of keys with values.
fn attributes(span: &Json) -> Option<Map<String, Json>> {
    match span.get("attributes")? {
        Json::Object(attributes) => Some(attributes.clone()),
        Json::Array(list) => {
            let one = |pair: &Json| {
                let value = pair.get("value")?.as_object()?.values().next()?;
                Some((text_of(pair, "key")?.to_owned(), value.clone()))
            };
            Some(list.iter().filter_map(one).collect())
        }
        _ => None,
    }
}

/// The tree that flat keys spell: `llm.input_messages.0.message.role`.
fn nested(attributes: &Map<String, Json>) -> Json {
    let mut tree = Json::Object(Map::new());
    let mut keys: Vec<(&String, &Json)> = attributes.iter().filter(|(key, _)| key.starts_with("llm")).collect();
    keys.sort_by_key(|(key, _)| numbered(key));
    for (key, value) in keys {
        let steps: Vec<&str> = key.split('.').collect();
        put(&mut tree, &steps, value);
    }
    tree
}

/// Puts a value at its place in a tree. Keys come in the order of their numbers: a gap in a list is closed.
fn put(here: &mut Json, steps: &[&str], value: &Json) {
    const NUMBER: &str = "#";
    let Some((step, rest)) = steps.split_first() else {
        *here = value.clone();
        return;
    };
    if step.parse::<usize>().is_ok() {
        if !here.is_array() {
            *here = Json::Array(Vec::new());
        }
        let Json::Array(list) = here else { return };
        if list.last().is_none_or(|last| last[NUMBER] != **step) {
            list.push(json!({ NUMBER: step }));
        }
        if let Some(last) = list.last_mut() {
            put(last, rest, value);
        }
        return;
    }
    if !here.is_object() {
        *here = Json::Object(Map::new());
    }
    if let Json::Object(object) = here {
        put(object.entry(*step).or_insert(Json::Null), rest, value);
    }
}

/// A key with its numbers as numbers, so that 10 comes after 9.
fn numbered(key: &str) -> Vec<(u64, &str)> {
    key.split('.').map(|step| step.parse().map_or((u64::MAX, step), |number| (number, ""))).collect()
}

// Rows with JSON in strings.

/// Keys under which a row has its messages in a string.
const LISTS: [&str; 6] = ["messages", "conversations", "conversation", "trajectory", "history", "traj"];

fn in_string(value: &Json) -> Option<Json> {
    let row = value.as_object()?;
    let (key, list) = LISTS.iter().find_map(|key| Some((*key, decoded(row.get(*key)?)?)))?;
    let is_list = list.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(Json::is_object));
    let mut row = row.clone();
    row.insert(key.to_owned(), list);
    is_list.then_some(Json::Object(row))
}

fn xlam(value: &Json) -> Option<Json> {
    let query = text_of(value, "query")?;
    let answers = plain(value.get("answers")?);
    let call = |(nth, answer): (usize, &Json)| json!({ "id": format!("call_{nth}"), "type": "function", "function": { "name": answer["name"], "arguments": joined(&answer["arguments"]) } });
    let calls: Vec<Json> = items(&answers).enumerate().map(call).collect();
    let messages = [
        json!({ "role": "user", "content": query }),
        json!({ "role": "assistant", "content": null, "tool_calls": calls }),
    ];
    (!calls.is_empty()).then(|| json!({ "messages": messages, "tools": value.get("tools").map(plain) }))
}

/// The messages of rows that each hold one, or the parts of one, in a string.
fn rows(values: &[Json]) -> Option<Vec<Json>> {
    let message = |row: &Json| {
        if let Some(message) = row.get("message_data").or_else(|| row.get("message")).and_then(decoded) {
            return Some(message);
        }
        let mut row = row.as_object()?.clone();
        let parts = row.get("parts").filter(|_| row.contains_key("role")).and_then(decoded)?;
        row.insert(String::from("parts"), parts);
        Some(Json::Object(row))
    };
    values.iter().map(message).collect::<Option<_>>().filter(|messages: &Vec<Json>| !messages.is_empty())
}
