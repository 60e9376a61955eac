//! Chat histories of the Grok CLI: lines of `type` `system`, `user`, `reasoning`, `assistant` with `tool_calls`, and
//! `tool_result`.

use super::{Dialect, DialectWriter, Fit, Format, Item, blocks, responses};
use crate::json::{Text, Value, object};
use crate::transcript::{Content, Draft, DraftResult, Role, ToolCall};

/// The dialect `grok`.
pub(super) struct Grok;

impl Dialect for Grok {
    fn format(&self) -> &'static Format {
        &Format {
            name: "grok",
            signature: "`type` `assistant` with `content` and `tool_calls`, `tool_result` with `tool_call_id`, \
                `backend_tool_call`",
            is_log: true,
            reread: Some(responses::bind_reasoning_again),
            writer: Some(&Grok),
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let has = |key: &str| item.get(key).is_some();
        match &*item.word("type") {
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

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        let kind = item.word("type");
        let parts = || blocks::plain_parts(item.get("content"));
        match &*kind {
            "system" => blocks::message(Role::System, item, None, parts()),
            "user" if item.has("synthetic_reason") => Item::Message(blocks::notice(item, None, parts())),
            "user" => blocks::message(Role::User, item, None, parts()),
            "assistant" => {
                let calls = item.items_under("tool_calls");
                let calls =
                    calls.map(|call| blocks::in_shell(call, blocks::call_in(call, ["id", "name", "arguments"])));
                blocks::message(Role::Assistant, item, None, parts().into_iter().chain(calls).collect())
            }
            "tool_result" => {
                let content = item.get("content");
                let result = blocks::result(item.get_text("tool_call_id"), None, content);
                blocks::message(Role::Tool, item, None, vec![blocks::rewritable(item, result, content)])
            }
            "reasoning" => responses::read_item(item, item),
            "backend_tool_call" => {
                blocks::message(Role::Assistant, item, None, vec![blocks::whole(item, read_hosted(item))])
            }
            _ => blocks::unknown_kind(kind),
        }
    }

    fn connect<'a>(&self, _items: &[Value<'a>], read: &mut [Item<'a>]) {
        responses::bind_reasoning(read);
    }
}

impl DialectWriter for Grok {
    fn write_message(&self, draft: &Draft, _anchor: Option<Value<'_>>) -> String {
        if let Some(result) = draft.only_result() {
            return self.write_result(result);
        }
        let kind = match draft.role {
            Role::Assistant => "assistant",
            Role::System | Role::Developer => "system",
            _ => "user",
        };
        object! { "type": kind, "content": draft.joined_text() }.0
    }

    fn write_result(&self, result: &DraftResult) -> String {
        object! { "type": "tool_result", "tool_call_id": result.call_id(), "content": result.text }.0
    }
}

/// A tool that the provider ran; the log does not contain its result.
fn read_hosted(item: Value<'_>) -> Content<'_> {
    let kind = item.get("kind");
    let [id, name] = ["id", "tool_type"].map(|key| kind?.get_text(key));
    let arguments = blocks::arguments(kind.and_then(|kind| kind.get("action")));
    let call = ToolCall::new(id, name.unwrap_or(Text::Escaped("")), arguments);
    Content::ToolCall(ToolCall { hosted: true, ..call })
}
