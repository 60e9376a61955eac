//! Event logs of the Copilot CLI: `user.message` and `assistant.message` with `toolRequests`, answered by
//! `tool.execution_complete`; all other events are for the screen.

use super::tree::Tree;
use super::{Dialect, DialectWriter, Fit, Item, LogHabits, Patch, Remaining, blocks, events};
use crate::json::{Json, Value, object};
use crate::transcript::{Content, Draft, DraftPart, Layout, Links, PairingRules, Part, PartPlace, ResultPlace, Role};

/// The dialect `copilot`.
pub(super) struct Copilot;

const TREE: Tree =
    Tree { own: "id", parent: "parentId", others: &[], open: true, path: false, sides: None, trees: None };

/// Prefixes of event types that are not messages.
const METADATA: &[&str] =
    &["session.", "assistant.", "tool.", "hook.", "subagent.", "system.", "user.", "skill.", "abort", "permission."];

impl Dialect for Copilot {
    fn name(&self) -> &'static str {
        "copilot"
    }

    fn signature(&self) -> &'static str {
        "`type` `user.message`, `assistant.message` with `data.toolRequests`, `tool.execution_complete`"
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let kind = events::kind(item);
        let known = kind.contains('.') && METADATA.iter().any(|word| kind.starts_with(word));
        if known && item.get("data").is_some_and(Value::is_object) { Fit::Certain } else { Fit::No }
    }

    fn pairing_rules(&self) -> PairingRules {
        PairingRules { results: ResultPlace::Anywhere, unique_ids: false, ids: true, developer: false }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        let kind = events::kind(item);
        let Some(data) = item.get("data") else { return events::unknown(kind) };
        let id = item.get_text("id");
        match kind.as_str() {
            "system.message" => events::message(Role::System, item, id, said(data)),
            "user.message" => events::message(Role::User, item, id, said(data)),
            "assistant.message" => events::message(Role::Assistant, item, id, read_reply(data)),
            "tool.execution_complete" => events::message(Role::Tool, item, id, vec![read_result(item, data)]),
            kind if METADATA.iter().any(|word| kind.starts_with(word)) => Item::Metadata,
            _ => events::unknown(kind),
        }
    }
}

impl DialectWriter for Copilot {
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let (kind, data) = match (draft.parts.as_slice(), draft.role) {
            ([DraftPart::ToolResult { id, text, .. }], _) => (
                "tool.execution_complete",
                object! {
                    "toolCallId": id.as_deref().unwrap_or_default(),
                    "success": false,
                    "result": object! { "content": text },
                },
            ),
            (_, Role::Assistant) => {
                ("assistant.message", object! { "content": draft.joined_text(), "toolRequests": Json("[]") })
            }
            (_, Role::System | Role::Developer) => ("system.message", object! { "content": draft.joined_text() }),
            _ => ("user.message", object! { "content": draft.joined_text(), "attachments": Json("[]") }),
        };
        let event = TREE.begin(draft, anchor).member("type", kind).member("data", &data);
        event.copied(anchor, &["timestamp"]).end().0
    }

    fn write_part(&self, part: &DraftPart) -> String {
        self.write_message(&Draft::part(Role::Assistant, part.clone()), None)
    }

    fn links(&self, draft: &Draft, anchor: Option<Value<'_>>) -> Option<Links> {
        Some(TREE.links(draft, anchor))
    }

    fn name_drafts(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) {
        TREE.name_drafts(layout, remaining);
    }

    fn relink(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) -> Vec<Patch> {
        TREE.relink(layout, remaining)
    }
}

impl LogHabits for Copilot {
    fn is_log(&self) -> bool {
        true
    }
}

/// The text that the user typed, and the text that was sent, with additions of the program.
fn said(data: Value<'_>) -> Vec<Part<'_>> {
    let mut parts = blocks::content(data.get("content"), blocks::plain_block);
    if let (Some(copy), [part]) = (data.get("transformedContent"), parts.as_mut_slice()) {
        part.add_copy(copy);
    }
    let files = data.get("attachments").into_iter().flat_map(Value::items);
    parts.extend(
        files.map(|file| {
            Part::from_source(Content::Media(crate::json::Text::Json(file.raw())), PartPlace::element(file))
        }),
    );
    parts
}

fn read_reply(data: Value<'_>) -> Vec<Part<'_>> {
    let thought = data.some("reasoningText").and_then(|thought| Some((thought, thought.text()?)));
    let thought = thought.map(|(value, text)| Part::from_source(Content::Reasoning(text), PartPlace::element(value)));
    let calls = data.get("toolRequests").into_iter().flat_map(Value::items).map(|call| {
        let content = events::call(call.get_text("toolCallId"), call.get_text("name"), call.get("arguments"));
        Part::from_source(content, PartPlace::element(call))
    });
    thought.into_iter().chain(said(data)).chain(calls).collect()
}

fn read_result<'a>(item: Value<'a>, data: Value<'a>) -> Part<'a> {
    let result = data.some("result");
    let content = result.and_then(|result| result.get("content")).or_else(|| data.some("error"));
    let text = content.filter(|content| content.text().is_some());
    let mut part = Part::from_source(
        events::result(data.get_text("toolCallId"), data.get_text("toolName"), content),
        PartPlace::element(item).with_text(text),
    );
    let details = result.and_then(|result| result.some("detailedContent"));
    details.into_iter().for_each(|copy| part.add_copy(copy));
    part
}
