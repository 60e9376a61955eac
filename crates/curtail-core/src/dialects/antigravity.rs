//! Logs of the Antigravity CLI: numbered steps. A `PLANNER_RESPONSE` calls tools without ids; the tool steps after it are
//! the results, in the same order.

use super::{BY_ID, Dialect, DialectWriter, Fit, Format, Item, blocks};
use crate::json::{Json, ObjectWriter, Text, Value};
use crate::transcript::{Content, Draft, PairingRules, Part, ResultPlace, Role};

/// The dialect `antigravity`.
pub(super) struct Antigravity;

impl Dialect for Antigravity {
    fn format(&self) -> &'static Format {
        &Format {
            name: "antigravity",
            signature: "`step_index`, `source` and `type` `USER_INPUT`, `PLANNER_RESPONSE` with `tool_calls`, \
                tool steps by position",
            pairing: PairingRules { results: ResultPlace::Anywhere, ids: false, ..BY_ID },
            is_log: true,
            writer: Some(&Antigravity),
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let is_step = ["step_index", "source", "type"].iter().all(|key| item.get(key).is_some());
        if is_step { Fit::Certain } else { Fit::No }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        let kind = item.word("type");
        let by_model = item.member_is("source", "MODEL");
        let parts = || blocks::plain_parts(item.get("content"));
        match &*kind {
            // The last two are messages from the program to the model.
            "USER_INPUT" | "CHECKPOINT" | "SYSTEM_MESSAGE" => blocks::message(Role::User, item, None, parts()),
            "PLANNER_RESPONSE" => blocks::message(Role::Assistant, item, None, read_plan(item)),
            _ if by_model && item.get("content").is_some() => {
                let content = item.get("content");
                let result = blocks::rewritable(item, blocks::result(None, None, content), content);
                let mut read = blocks::message(Role::Tool, item, None, vec![result]);
                // The log contains steps of tools without a call. Such a step answers nothing.
                if let Some(message) = read.message_mut() {
                    message.call_rules.unasked = true;
                }
                read
            }
            _ => Item::Metadata,
        }
    }

    fn connect<'a>(&self, _items: &[Value<'a>], read: &mut [Item<'a>]) {
        blocks::close_rounds(read);
    }
}

impl DialectWriter for Antigravity {
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let result = draft.only_result();
        let (source, kind) = match draft.role {
            _ if result.is_some() => ("MODEL", "GENERIC"),
            Role::Assistant => ("MODEL", "PLANNER_RESPONSE"),
            Role::System | Role::Developer => ("SYSTEM", "SYSTEM_MESSAGE"),
            _ => ("USER_EXPLICIT", "USER_INPUT"),
        };
        let text = result.map_or_else(|| draft.joined_text(), |result| result.text.clone());
        let step = anchor.and_then(|anchor| anchor.get("step_index")).map_or("0", Value::raw);
        let head = ObjectWriter::new().member("step_index", &Json(step)).member("source", source);
        let head = head.member("type", kind).member("status", "DONE");
        head.copied(anchor, &["created_at"]).member("content", &text).end().0
    }
}

fn read_plan<'a>(item: Value<'a>) -> Vec<Part<'a>> {
    let thought = |thought: Value<'a>| Content::Reasoning(thought.text().unwrap_or(Text::Escaped("")));
    let thought = item.get("thinking").map(|value| blocks::whole(value, thought(value)));
    let call = |call: Value<'a>| blocks::call(None, call.get_text("name"), call.get("args"));
    let calls = item.items_under("tool_calls").map(|value| blocks::in_shell(value, call(value)));
    thought.into_iter().chain(blocks::plain_parts(item.get("content"))).chain(calls).collect()
}
