//! Transcripts whose thoughts are signed over everything before them, as Claude signs them, in every dialect that carries
//! them. A signature is a digest of what a model reads before it, and a link to the thought before.

use curtail_core::dialects::Framing;
use serde_json::{Value, json};

use crate::serializers::{
    Turn, ai_sdk, anthropic, bedrock, claude_code, droid, inspect, langchain, openai, openhands, pi,
};

/// What a model reads in an item, in the order in which it reads it.
enum Unit {
    /// A thought; the place of its signature in the item.
    Thought(String),
    /// Anything else.
    Content(String),
}

/// A dialect that carries signed thoughts.
#[derive(Debug, Clone, Copy)]
pub struct Signed {
    pub dialect: &'static str,
    pub serialize: fn(&[Turn]) -> Vec<String>,
    /// Writes the thoughts of an item as Claude's, without a signature yet.
    claim: fn(&mut Value),
    /// What a model reads in an item.
    units: fn(&Value) -> Vec<Unit>,
    /// Names the model that wrote an item, or the line in front of the log that names it.
    name: Name,
}

#[derive(Debug, Clone, Copy)]
enum Name {
    Reply(fn(&mut Value, &str)),
    Header(fn(&str) -> Value),
    /// The record around the messages, under this key.
    Record(&'static str),
}

pub const SIGNED: &[Signed] = &[
    Signed {
        dialect: "anthropic",
        serialize: anthropic::serialize,
        claim: |item| arrange(&mut item["content"], "thinking"),
        units: |item| blocks(item, "", "content"),
        name: Name::Reply(|item, model| item["model"] = json!(model)),
    },
    Signed {
        dialect: "claude-code",
        serialize: claude_code::serialize,
        claim: |_| (),
        units: |item| blocks(item, "/message", "content"),
        name: Name::Reply(|item, model| item["message"]["model"] = json!(model)),
    },
    Signed {
        dialect: "bedrock",
        serialize: bedrock::serialize,
        claim: |item| arrange(&mut item["content"], "reasoningContent"),
        units: |item| blocks(item, "", "content"),
        name: Name::Reply(|item, model| item["model"] = json!(model)),
    },
    Signed {
        dialect: "bedrock",
        serialize: bedrock::serialize,
        claim: |item| arrange(&mut item["content"], "reasoningContent"),
        units: |item| blocks(item, "", "content"),
        name: Name::Record("modelId"),
    },
    Signed {
        dialect: "ai-sdk",
        serialize: ai_sdk::serialize,
        claim: |item| {
            sign_blocks(&mut item["content"], "reasoning", |block| {
                block["providerOptions"] = json!({"anthropic": {"signature": ""}});
            });
        },
        units: |item| blocks(item, "", "content"),
        name: Name::Reply(|item, model| item["model"] = json!(model)),
    },
    Signed {
        dialect: "ai-sdk",
        serialize: ai_sdk::serialize_ui,
        claim: |item| {
            sign_blocks(&mut item["parts"], "reasoning", |block| {
                block["providerMetadata"] = json!({"bedrock": {"signature": ""}});
            });
        },
        units: |item| blocks(item, "", "parts"),
        name: Name::Reply(|item, model| item["metadata"] = json!({ "model": model })),
    },
    Signed {
        dialect: "langchain",
        serialize: langchain::serialize,
        claim: |item| {
            sign_blocks(&mut item["kwargs"]["content"], "reasoning", |block| {
                block["extras"] = json!({"signature": ""});
            });
        },
        units: langchain_units,
        name: Name::Reply(|item, model| item["kwargs"]["response_metadata"] = json!({ "model_name": model })),
    },
    Signed {
        dialect: "langchain",
        serialize: langchain::serialize,
        claim: |item| {
            sign_blocks(&mut item["kwargs"]["content"], "reasoning", |block| {
                *block = json!({"type": "thinking", "thinking": block["reasoning"], "signature": ""});
            });
            // Calls as they are dumped for any other provider, in front of the content.
            if let Some(blocks) = item["kwargs"]["content"].as_array_mut() {
                blocks.retain(|block| block["type"] != "tool_use");
                let mut members = item["kwargs"].take();
                let calls = members.as_object_mut().and_then(|members| members.shift_remove("tool_calls"));
                item["kwargs"] = json!({ "tool_calls": calls.unwrap_or_else(|| json!([])) });
                for (key, value) in members.as_object().into_iter().flatten() {
                    item["kwargs"][key] = value.clone();
                }
            }
        },
        units: langchain_units,
        name: Name::Reply(|item, model| item["kwargs"]["response_metadata"] = json!({ "model": model })),
    },
    Signed {
        dialect: "pi",
        serialize: pi::serialize,
        claim: |item| {
            item["message"]["api"] = json!("anthropic-messages");
            sign_blocks(&mut item["message"]["content"], "thinking", |block| block["thinkingSignature"] = json!(""));
        },
        units: |item| {
            let mut units = blocks(item, "/message", "content");
            // A result names its call beside the content.
            units.extend(texts(item, &["/message/toolCallId"]));
            units
        },
        name: Name::Reply(|item, model| item["message"]["model"] = json!(model)),
    },
    Signed {
        dialect: "droid",
        serialize: droid::serialize,
        claim: |item| sign_blocks(&mut item["message"]["content"], "thinking", |block| block["signature"] = json!("")),
        units: |item| blocks(item, "/message", "content"),
        name: Name::Header(|model| json!({"type": "system", "session_id": "s", "model": model})),
    },
    Signed {
        dialect: "openai",
        serialize: openai::serialize,
        claim: |item| {
            if let Some(thought) = item.get("reasoning_content").cloned() {
                item["thinking_blocks"] = json!([
                    {"type": "thinking", "thinking": thought, "signature": ""},
                    {"type": "redacted_thinking", "data": ""},
                ]);
            }
        },
        units: openai_units,
        name: Name::Reply(|item, model| item["extra"] = json!({"response": {"model": model}})),
    },
    Signed {
        dialect: "openai",
        serialize: openai::serialize,
        claim: |item| claim_details(item, Some("anthropic-claude-v1")),
        units: openai_units,
        name: Name::Reply(|item, model| item["model"] = json!(model)),
    },
    Signed {
        dialect: "openai",
        serialize: openai::serialize,
        claim: |item| claim_details(item, None),
        units: openai_units,
        name: Name::Reply(|item, model| item["model"] = json!(model)),
    },
    Signed {
        dialect: "openai",
        serialize: openai::serialize,
        claim: |item| claim_details(item, Some("unknown")),
        units: openai_units,
        name: Name::Reply(|item, model| item["model"] = json!(model)),
    },
    Signed {
        dialect: "openhands",
        serialize: openhands::serialize,
        claim: |item| {
            let reply = if item["kind"] == "MessageEvent" { &mut item["llm_message"] } else { item };
            if let Some(thought) = reply.get("reasoning_content").cloned() {
                reply["thinking_blocks"] = json!([{"type": "thinking", "thinking": thought, "signature": ""}]);
            }
        },
        units: openhands_units,
        name: Name::Header(|model| {
            json!({
                "kind": "ConversationStateUpdateEvent",
                "source": "environment",
                "key": "full_state",
                "value": {"agent": {"kind": "Agent", "llm": {"model": model}}},
            })
        }),
    },
    Signed {
        dialect: "inspect",
        serialize: inspect::serialize,
        claim: |item| arrange(&mut item["content"], "reasoning"),
        units: |item| {
            let mut units = blocks(item, "", "content");
            units.extend(texts(item, &["/tool_calls", "/tool_call_id"]));
            units
        },
        name: Name::Reply(|item, model| item["model"] = json!(model)),
    },
];

/// Where the signature of a block is, if the block is a thought.
const SIGNATURES: &[(&str, &str)] = &[
    ("/reasoningContent/reasoningText", "/reasoningContent/reasoningText/signature"),
    ("/providerOptions/anthropic/signature", "/providerOptions/anthropic/signature"),
    ("/providerMetadata/bedrock/signature", "/providerMetadata/bedrock/signature"),
    ("/extras/signature", "/extras/signature"),
    ("/thinkingSignature", "/thinkingSignature"),
    ("/signature", "/signature"),
    ("/data", "/data"),
];

fn signature(block: &Value) -> Option<&'static str> {
    let found = SIGNATURES.iter().find(|(mark, _)| block.pointer(mark).is_some());
    found.map(|(_, place)| *place).filter(|place| *place != "/data" || block["type"] == "redacted_thinking")
}

/// The blocks under `key` of the object at `base`, or the text there.
fn blocks(item: &Value, base: &str, key: &str) -> Vec<Unit> {
    let Some(holder) = item.pointer(base) else { return vec![Unit::Content(item.to_string())] };
    let (role, content) = (holder["role"].to_string(), &holder[key]);
    let Some(list) = content.as_array() else {
        let text = if content.is_string() { json!({"type": "text", "text": content}) } else { content.clone() };
        return vec![Unit::Content(format!("{role}{text}"))];
    };
    let unit = |(nth, block): (usize, &Value)| match signature(block) {
        Some(place) => Unit::Thought(format!("{base}/{key}/{nth}{place}")),
        None => Unit::Content(format!("{role}{block}")),
    };
    list.iter().enumerate().map(unit).collect()
}

/// The values at `places` of an item that are there, element by element.
fn texts(item: &Value, places: &[&str]) -> Vec<Unit> {
    let values = places.iter().filter_map(|place| item.pointer(place)).filter(|value| !value.is_null());
    let units = values.flat_map(|value| match value.as_array() {
        Some(list) => list.iter().map(|value| Unit::Content(value.to_string())).collect(),
        None => vec![Unit::Content(value.to_string())],
    });
    units.collect()
}

fn thoughts(item: &Value, list: &str) -> Vec<Unit> {
    let blocks = item.pointer(list).and_then(Value::as_array).into_iter().flatten().enumerate();
    blocks.filter_map(|(nth, block)| Some(Unit::Thought(format!("{list}/{nth}{}", signature(block)?)))).collect()
}

/// A call is a block of the content, or only in `tool_calls`.
fn langchain_units(item: &Value) -> Vec<Unit> {
    let mut units = vec![Unit::Content(item["id"].to_string())];
    units.extend(blocks(item, "/kwargs", "content"));
    let calls = texts(item, &["/kwargs/tool_calls"]);
    let content = item["kwargs"]["content"].to_string();
    let shown = |unit: &Unit| matches!(unit, Unit::Content(call) if content.contains(&serde_json::from_str::<Value>(call).expect("JSON")["id"].to_string()));
    units.extend(calls.into_iter().filter(|unit| !shown(unit)));
    units.extend(texts(item, &["/kwargs/tool_call_id"]));
    units
}

/// Writes the reasoning of an item as the details of a router.
fn claim_details(item: &mut Value, format: Option<&str>) {
    let Some(thought) = item.get("reasoning_content").cloned() else { return };
    let mut detail = json!({"type": "reasoning.text", "text": thought});
    if let Some(format) = format {
        detail["format"] = json!(format);
    }
    detail["signature"] = json!("");
    item["reasoning_details"] = json!([detail]);
}

fn openai_units(item: &Value) -> Vec<Unit> {
    let mut units = thoughts(item, "/thinking_blocks");
    units.extend(thoughts(item, "/reasoning_details"));
    units.extend(texts(item, &["/role", "/content", "/tool_calls", "/tool_call_id"]));
    units
}

fn openhands_units(item: &Value) -> Vec<Unit> {
    const READ: &[&str] = &[
        "/system_prompt", "/llm_message/role", "/llm_message/content", "/thought", "/tool_call", "/observation",
        "/tool_call_id", "/error", "/rejection_reason",
    ];
    let mut units = thoughts(item, "/thinking_blocks");
    units.extend(thoughts(item, "/llm_message/thinking_blocks"));
    units.extend(texts(item, READ));
    units
}

/// Calls `sign` for the blocks of this type, and arranges them.
fn sign_blocks(content: &mut Value, kind: &str, sign: fn(&mut Value)) {
    for block in content.as_array_mut().into_iter().flatten().filter(|block| block["type"] == kind) {
        sign(block);
    }
    arrange(content, kind);
}

/// Moves the thought of a reply behind the first other block if its text is even, and repeats it before the last block
/// if its text is divisible by three: thoughts stand between other blocks as well.
fn arrange(content: &mut Value, kind: &str) {
    let Some(list) = content.as_array_mut() else { return };
    let is_thought = |block: &Value| block["type"] == kind || block.get(kind).is_some() || signature(block).is_some();
    let Some(at) = list.iter().position(is_thought).filter(|_| list.len() > 1) else { return };
    let length = list[at].to_string().len();
    let thought = list.remove(at);
    if length % 3 == 0 {
        list.insert(list.len() - 1, thought.clone());
    }
    list.insert(usize::from(length % 2 == 0), thought);
}

fn fnv(text: &str, mut digest: u64) -> u64 {
    for byte in text.bytes() {
        digest = (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    digest
}

/// What a provider has read so far.
struct Reader {
    digest: u64,
    /// The signature of the last thought.
    last: Option<String>,
}

impl Reader {
    const NEW: Self = Self { digest: 0xcbf2_9ce4_8422_2325, last: None };

    /// Calls `thought` for each signature of `item`, with the digest before it and the signature of the thought before.
    fn read(&mut self, signed: &Signed, item: &mut Value, mut thought: impl FnMut(&mut Value, u64, Option<&str>)) {
        if item.get("model").is_some() && item.get("role").is_none() || item["key"] == "full_state" {
            return;
        }
        for unit in (signed.units)(item) {
            match unit {
                Unit::Content(text) => self.digest = fnv(&text, self.digest),
                Unit::Thought(place) => {
                    if item.pointer(&place).is_none() {
                        // The object around it is there.
                        let (holder, key) = place.rsplit_once('/').expect("a place");
                        item.pointer_mut(holder).expect("a thought")[key] = Value::Null;
                    }
                    let signature = item.pointer_mut(&place).expect("a signature");
                    thought(signature, self.digest, self.last.as_deref());
                    self.last = Some(signature.to_string());
                }
            }
        }
    }
}

/// Whether `item` is a compaction that was asked for: it holds what it stands for, because the messages behind it were signed
/// when the others were still there.
fn is_on_demand(item: &Value) -> bool {
    item["content"][0]["encrypted_content"].is_string()
}

/// Whether Roo Code sends each item no more, because it names a summary, or a mark of a truncation, that is still there.
fn hidden(items: &[Value]) -> Vec<bool> {
    let from = items.iter().rposition(|item| item["isSummary"] == true).unwrap_or(0);
    let hides = |items: &[Value], key: &str, parent: &Value| {
        parent.is_string() && items.iter().any(|item| item[key] == *parent)
    };
    let is_hidden = |item: &Value| {
        hides(items, "condenseId", &item["condenseParent"])
            || hides(&items[from..], "truncationId", &item["truncationParent"])
    };
    // What is before the last summary was sent until then.
    items.iter().enumerate().map(|(at, item)| at >= from && is_hidden(item)).collect()
}

fn is_reply(item: &Value) -> bool {
    let role = ["/role", "/message/role"].iter().find_map(|place| item.pointer(place));
    role.is_some_and(|role| role == "assistant") || item["id"][2] == "AIMessage"
}

impl Signed {
    /// Whether `item` begins what the model reads: it replaces everything before it.
    fn begins(item: &Value) -> bool {
        item["type"] == "compaction"
            || item["subtype"] == "compact_boundary"
            || item["content"][0]["type"] == "compaction"
            || item["isSummary"] == true
    }

    /// The items as lines, with their thoughts signed; `model` wrote the messages of the assistant.
    pub fn sign(&self, items: &[String], model: Option<&str>) -> Vec<String> {
        let mut reader = Reader::NEW;
        let header = match &self.name {
            Name::Header(header) => model.map(|model| format!("{}\n", header(model))),
            Name::Reply(_) | Name::Record(_) => None,
        };
        let items: Vec<Value> = items.iter().map(|item| serde_json::from_str(item).expect("JSON")).collect();
        let hidden = hidden(&items);
        let sign = |(mut item, is_hidden): (Value, bool)| {
            let mut unread = Reader::NEW;
            let reader = if is_hidden { &mut unread } else { &mut reader };
            let before = reader.digest;
            if Self::begins(&item) && !is_on_demand(&item) {
                *reader = Reader::NEW;
            }
            (self.claim)(&mut item);
            let mut has_thought = false;
            reader.read(self, &mut item, |signature, digest, last| {
                has_thought = true;
                *signature = Value::from(format!("{digest:016x} {:016x}", fnv(last.unwrap_or_default(), 7)));
            });
            if is_on_demand(&item) {
                item["content"][0]["encrypted_content"] = json!(format!("{before:016x}"));
                reader.digest = before;
            }
            if let (Some(model), Name::Reply(name), true) = (model, &self.name, has_thought || is_reply(&item)) {
                name(&mut item, model);
            }
            format!("{item}\n")
        };
        header.into_iter().chain(items.into_iter().zip(hidden).map(sign)).collect()
    }

    /// How the text of [`Signed::text`] is framed.
    pub const fn framing(&self) -> Framing {
        if matches!(self.name, Name::Record(_)) { Framing::Document } else { Framing::Lines }
    }

    /// The text of the items with signed thoughts; `model` wrote the messages of the assistant.
    pub fn text(&self, items: &[String], model: Option<&str>) -> String {
        let lines = self.sign(items, model);
        let Name::Record(key) = self.name else { return lines.concat() };
        let named = model.map_or_else(String::new, |model| format!("\"{key}\":\"us.anthropic.{model}-v1:0\","));
        let items: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
        format!("{{{named}\"messages\":[{}]}}", items.join(","))
    }

    /// The items of such a text.
    fn items(&self, text: &str) -> Vec<Value> {
        let read = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
        match self.name {
            Name::Record(_) => read(text)["messages"].as_array().cloned().unwrap_or_default(),
            _ => text.lines().map(read).collect(),
        }
    }

    /// How many thoughts of `text` a checking model accepts, and how many it rejects. The first thoughts may be missing.
    pub fn verify(&self, text: &str) -> (usize, usize) {
        let mut items = self.items(text);
        let begin = items.iter().rposition(Self::begins).unwrap_or(0);
        let hidden = hidden(&items);
        let (mut reader, mut valid, mut invalid) = (Reader::NEW, 0, 0);
        for (item, _) in items.iter_mut().zip(hidden).skip(begin).filter(|(_, is_hidden)| !is_hidden) {
            reader.read(self, item, |signature, digest, last| {
                let written = signature.as_str().unwrap_or_default();
                let linked = last.is_none_or(|last| written.ends_with(&format!("{:016x}", fnv(last, 7))));
                let holds = invalid == 0 && linked && written.starts_with(&format!("{digest:016x}"));
                *(if holds { &mut valid } else { &mut invalid }) += 1;
            });
            if let Some(held) = item["content"][0]["encrypted_content"].as_str() {
                reader.digest = u64::from_str_radix(held, 16).expect("a digest");
            }
        }
        (valid, invalid)
    }

    /// How many thoughts `text` contains.
    pub fn count(&self, text: &str) -> usize {
        self.items(text)
            .into_iter()
            .map(|item| (self.units)(&item).iter().filter(|unit| matches!(unit, Unit::Thought(_))).count())
            .sum()
    }
}
