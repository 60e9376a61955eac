//! Logs of the Antigravity CLI: numbered steps. A `PLANNER_RESPONSE` calls tools without ids; the tool steps after it are
//! the results, in the same order.

use super::{Dialect, DialectWriter, Fit, Item, LogHabits, blocks, events};
use crate::json::{Json, ObjectWriter, Text, Value};
use crate::transcript::{Content, Draft, DraftPart, PairingRules, Part, PartPlace, ResultPlace, Role};

/// The dialect `antigravity`.
pub(super) struct Antigravity;

impl Dialect for Antigravity {
    fn name(&self) -> &'static str {
        "antigravity"
    }

    fn signature(&self) -> &'static str {
        "`step_index`, `source` and `type` `USER_INPUT`, `PLANNER_RESPONSE` with `tool_calls`, tool steps by position"
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let own = ["step_index", "source", "type"].iter().all(|key| item.get(key).is_some());
        if own { Fit::Certain } else { Fit::No }
    }

    fn pairing_rules(&self) -> PairingRules {
        PairingRules { results: ResultPlace::Anywhere, unique_ids: false, ids: false, developer: false }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        let kind = events::kind(item);
        let by_model = item.get("source").is_some_and(|source| source.is("MODEL"));
        match kind.as_str() {
            "USER_INPUT" => events::message(Role::User, item, None, said(item)),
            // Messages from the program to the model.
            "CHECKPOINT" | "SYSTEM_MESSAGE" => events::message(Role::User, item, None, said(item)),
            "PLANNER_RESPONSE" => events::message(Role::Assistant, item, None, read_plan(item)),
            _ if by_model && item.get("content").is_some() => {
                let content = item.get("content");
                let part =
                    Part::from_source(events::result(None, None, content), PartPlace::element(item).with_text(content));
                let mut read = events::message(Role::Tool, item, None, vec![part]);
                // The log contains steps of tools without a call. Such a step answers nothing.
                if let Item::Message(message) = &mut read {
                    message.call_rules.unasked = true;
                }
                read
            }
            _ => Item::Metadata,
        }
    }

    fn read_all<'a>(&self, items: &[Value<'a>]) -> Vec<Item<'a>> {
        let mut read: Vec<Item<'a>> = items.iter().map(|&item| self.read(item)).collect();
        events::close_rounds(&mut read);
        read
    }
}

impl DialectWriter for Antigravity {
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let (source, kind) = match (draft.parts.as_slice(), draft.role) {
            ([DraftPart::ToolResult { .. }], _) => ("MODEL", "GENERIC"),
            (_, Role::Assistant) => ("MODEL", "PLANNER_RESPONSE"),
            (_, Role::System | Role::Developer) => ("SYSTEM", "SYSTEM_MESSAGE"),
            _ => ("USER_EXPLICIT", "USER_INPUT"),
        };
        let text = match draft.parts.as_slice() {
            [DraftPart::ToolResult { text, .. }] => text.clone(),
            _ => draft.joined_text(),
        };
        let step = anchor.and_then(|anchor| anchor.get("step_index")).map_or("0", Value::raw);
        let head = ObjectWriter::new().member("step_index", &Json(step)).member("source", source);
        let head = head.member("type", kind).member("status", "DONE");
        head.copied(anchor, &["created_at"]).member("content", &text).end().0
    }

    fn write_part(&self, part: &DraftPart) -> String {
        self.write_message(&Draft::part(Role::Assistant, part.clone()), None)
    }
}

impl LogHabits for Antigravity {
    fn is_log(&self) -> bool {
        true
    }
}

fn said(item: Value<'_>) -> Vec<Part<'_>> {
    blocks::content(item.get("content"), blocks::plain_block)
}

fn read_plan(item: Value<'_>) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    if let Some(thought) = item.get("thinking") {
        let text = thought.text().unwrap_or(Text::Escaped(""));
        parts.push(Part::from_source(Content::Reasoning(text), PartPlace::element(thought)));
    }
    parts.extend(said(item));
    let calls = item.get("tool_calls").into_iter().flat_map(Value::items);
    parts.extend(calls.map(|call| {
        Part::from_source(events::call(None, call.get_text("name"), call.get("args")), PartPlace::in_shell(call))
    }));
    parts
}
