//! Chat histories of the Grok CLI: lines of `type` `system`, `user`, `reasoning`, `assistant` with `tool_calls`, and
//! `tool_result`.

use super::{Dialect, DialectWriter, Fit, Item, LogHabits, blocks, events, responses};
use crate::json::{Value, object};
use crate::transcript::{Content, Draft, DraftPart, PairingRules, Part, PartPlace, ResultPlace, Role};

/// The dialect `grok`.
pub(super) struct Grok;

impl Dialect for Grok {
    fn name(&self) -> &'static str {
        "grok"
    }

    fn signature(&self) -> &'static str {
        "`type` `assistant` with `content` and `tool_calls`, `tool_result` with `tool_call_id`, `backend_tool_call`"
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let has = |key: &str| item.get(key).is_some();
        match events::kind(item).as_str() {
            "assistant" if has("content") && (has("tool_calls") || has("model_id")) => Fit::Certain,
            "tool_result" if has("tool_call_id") && has("content") => Fit::Certain,
            "backend_tool_call" if has("kind") => Fit::Certain,
            "system" | "user" | "assistant"
                if has("content") && !["role", "id", "timestamp"].iter().any(|key| has(key)) =>
            {
                Fit::Possible
            }
            "reasoning" if has("summary") => Fit::Possible,
            _ => Fit::No,
        }
    }

    fn pairing_rules(&self) -> PairingRules {
        PairingRules { results: ResultPlace::RightAfter, unique_ids: false, ids: true, developer: false }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        let kind = events::kind(item);
        let said = || blocks::content(item.get("content"), blocks::plain_block);
        match kind.as_str() {
            "system" => events::message(Role::System, item, None, said()),
            "user" => events::message(Role::User, item, None, said()),
            "assistant" => {
                let mut parts = said();
                parts.extend(item.get("tool_calls").into_iter().flat_map(Value::items).map(read_call));
                events::message(Role::Assistant, item, None, parts)
            }
            "tool_result" => {
                let content = item.get("content");
                let result = events::result(item.get_text("tool_call_id"), None, content);
                let part = Part::from_source(result, PartPlace::element(item).with_text(content));
                events::message(Role::Tool, item, None, vec![part])
            }
            "reasoning" => responses::read_item(item, item),
            "backend_tool_call" => events::message(
                Role::Assistant,
                item,
                None,
                vec![Part::from_source(read_hosted(item), PartPlace::element(item))],
            ),
            _ => events::unknown(kind),
        }
    }

    fn read_all<'a>(&self, items: &[Value<'a>]) -> Vec<Item<'a>> {
        responses::bind_reasoning(items.iter().map(|&item| self.read(item)).collect())
    }
}

impl DialectWriter for Grok {
    fn write_message(&self, draft: &Draft, _anchor: Option<Value<'_>>) -> String {
        if let [part @ DraftPart::ToolResult { .. }] = draft.parts.as_slice() {
            self.write_part(part)
        } else {
            let kind = match draft.role {
                Role::Assistant => "assistant",
                Role::System | Role::Developer => "system",
                _ => "user",
            };
            object! { "type": kind, "content": draft.joined_text() }.0
        }
    }

    fn write_part(&self, part: &DraftPart) -> String {
        match part {
            DraftPart::Text(text) => blocks::text_block(text),
            DraftPart::Verbatim(raw) => raw.clone(),
            DraftPart::ToolResult { id, text, .. } => {
                let id = id.as_deref().unwrap_or_default();
                object! { "type": "tool_result", "tool_call_id": id, "content": text }.0
            }
        }
    }
}

impl LogHabits for Grok {
    fn is_log(&self) -> bool {
        true
    }
}

fn read_call(call: Value<'_>) -> Part<'_> {
    let content = events::call(call.get_text("id"), call.get_text("name"), call.get("arguments"));
    Part::from_source(content, PartPlace::in_shell(call))
}

/// A tool that the provider ran; the log does not contain its result.
fn read_hosted(item: Value<'_>) -> Content<'_> {
    let kind = item.get("kind");
    let get = |key: &str| kind.and_then(|kind| kind.get(key));
    let mut content =
        events::call(get("id").and_then(Value::text), get("tool_type").and_then(Value::text), get("action"));
    if let Content::ToolCall(call) = &mut content {
        call.hosted = true;
    }
    content
}
