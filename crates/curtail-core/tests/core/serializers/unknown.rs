//! Parts and items of unknown type in the transcripts of the serializers, some with an id that another part names.

use serde_json::{Map, Value, json};

/// Keys under which a message keeps its parts, or an envelope its message.
const HOLDERS: &[&str] = &["message", "payload", "data", "llm_message", "kwargs", "content", "parts"];

/// Whether the parts of a dialect have no type: their first key identifies them.
fn is_untyped(dialect: &str) -> bool {
    matches!(dialect, "bedrock" | "gemini" | "qwen" | "haystack")
}

struct Maker<'d> {
    dialect: &'d str,
    state: u64,
}

impl Maker<'_> {
    fn below(&mut self, most: u64) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % most
    }

    /// The id of a known call, one that unknown parts share, or none.
    fn id(&mut self) -> Option<String> {
        match self.below(5) {
            0 => Some(String::from("call_0_0_0")),
            1 => Some(String::from("call_1_0_0")),
            2 => Some(format!("beam_{}", self.below(3))),
            _ => None,
        }
    }

    fn members(&mut self) -> Map<String, Value> {
        let mut members = Map::new();
        if let Some(id) = self.id() {
            let key = ["id", "tool_use_id", "toolCallId", "call_id"][usize::try_from(self.below(4)).unwrap()];
            members.insert(key.to_owned(), json!(id));
        }
        let words = usize::try_from(self.below(40)).unwrap();
        members.insert(String::from("body"), json!("a wave of light ".repeat(words)));
        members
    }

    fn part(&mut self) -> Value {
        let mut members = self.members();
        if is_untyped(self.dialect) {
            return json!({"hologram": members});
        }
        members.insert(String::from("type"), json!("hologram"));
        Value::Object(members)
    }

    /// Puts unknown parts into the lists of parts of `holder`.
    fn fill(&mut self, holder: &mut Value) {
        for key in HOLDERS {
            match holder.get_mut(*key) {
                Some(Value::Array(parts)) if is_list_of_parts(parts) && self.below(3) == 0 => {
                    let at = usize::try_from(self.below(parts.len() as u64 + 1)).unwrap();
                    let part = self.part();
                    parts.insert(at, part);
                }
                Some(inner @ Value::Object(_)) => self.fill(inner),
                Some(Value::String(text)) if *key == "content" && takes_blocks(self.dialect) && self.below(3) == 0 => {
                    let text = json!({"type": "text", "text": text});
                    let part = self.part();
                    holder["content"] = json!([text, part]);
                }
                _ => {}
            }
        }
    }

    fn item(&mut self) -> Value {
        let mut members = self.members();
        members.extend([(String::from("type"), json!("hologram")), (String::from("role"), json!("herald"))]);
        Value::Object(members)
    }
}

fn is_list_of_parts(list: &[Value]) -> bool {
    !list.is_empty() && list.iter().all(Value::is_object)
}

/// Whether a text of a message can be a list of typed blocks.
fn takes_blocks(dialect: &str) -> bool {
    matches!(dialect, "openai" | "anthropic" | "claude-code" | "inspect" | "simple" | "langchain" | "grok" | "agentkit")
}

/// The items with unknown parts in their messages and unknown items between them, chosen by `seed`.
pub fn with_unknown(dialect: &str, items: &[String], seed: u64) -> Vec<String> {
    let mut maker = Maker { dialect, state: seed };
    let mut out = Vec::with_capacity(items.len());
    for item in items {
        let mut item: Value = serde_json::from_str(item).expect("JSON");
        let is_result = item["role"] == "tool" || item["type"] == "tool_result";
        if !is_result {
            maker.fill(&mut item);
        }
        out.push(item.to_string());
        if maker.below(6) == 0 {
            out.push(maker.item().to_string());
        }
    }
    out
}
