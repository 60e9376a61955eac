//! Kiro CLI, and Amazon Q before it: lines with `kind` and `data`, or a stored conversation with a `history` of entries.

use std::borrow::Cow;

use foldhash::HashMap;

use super::kiro_entries::{is_element, is_entry, prepend_results, read_entry, write_entry};
use super::{
    BY_ID, ChangeKind, Dialect, DialectWriter, Fit, Format, HistoryChange, Item, LogHabits, NO_RULES, Patch, Remaining,
    blocks, tree,
};
use crate::json::{Json, ObjectWriter, Text, Value, list, object};
use crate::steps;
use crate::transcript::{
    Content, Draft, DraftPart, DraftResult, Layout, Links, Message, PairingRules, Part, PartPlace, ProviderRules,
    ResultPlace, Role, Standing, Unknown,
};

/// The dialect `kiro`.
pub(super) struct Kiro;

impl Dialect for Kiro {
    fn format(&self) -> &'static Format {
        &Format {
            name: "kiro",
            signature: "`kind` `Prompt`, `AssistantMessage`, `ToolResults`, `Compaction` and `data`; \
                or `user` and `assistant` with `Response` or `ToolUse`",
            pairing: PairingRules { results: ResultPlace::NextMessage, ..BY_ID },
            provider: ProviderRules { system_beside: true, ..NO_RULES },
            is_log: true,
            writer: Some(&Kiro),
            log: &Kiro,
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        if is_entry(item) || is_element(item) {
            return Fit::Certain;
        }
        let kind = item.word("kind");
        let content = match &*kind {
            "Compaction" => "messages_snapshot",
            kind if role_of(kind).is_some() => "content",
            _ => return Fit::No,
        };
        if item.some("data").is_some_and(|data| data.has(content)) { Fit::Certain } else { Fit::No }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        if is_entry(item) {
            return read_entry(item);
        }
        let kind = item.word("kind");
        let data = item.some("data");
        let role = match &*kind {
            "Compaction" => return data.map_or(Item::Unknown(Unknown::NoMessage), |data| read_compaction(item, data)),
            "Clear" | "CancelledPrompt" => return Item::Metadata,
            kind => role_of(kind),
        };
        let Some(role) = role else { return blocks::unknown_kind(kind) };
        let Some((data, content)) = data.and_then(|data| Some((data, data.get("content")?))) else {
            return Item::Unknown(Unknown::NoMessage);
        };
        let mut parts = blocks::text_or_parts(Some(content), read_block);
        add_outputs(&mut parts, data);
        blocks::message(role, item, data.get_text("message_id"), parts)
    }

    /// A compaction of a stored conversation leaves its summary beside what follows.
    fn preamble<'a>(&self, record: Value<'a>) -> Vec<Text<'a>> {
        let summary = record.some("latest_summary").and_then(|said| said.items().next().unwrap_or(said).text());
        blocks::preamble(record, &["tools"]).into_iter().chain(summary).collect()
    }

    fn connect<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        let mut cleared = 0;
        for HistoryChange { at, kind } in self.history(items) {
            let ChangeKind::Rollback { first } = kind else { continue };
            if items[at].member_is("kind", "Clear") {
                read[cleared..at].iter_mut().filter_map(Item::message_mut).for_each(roll_back);
                // It stays, and so nothing before it is sent again.
                read[at] = Item::Pinned;
                cleared = at;
            } else if let Item::Message(prompt) = &mut read[first] {
                roll_back(prompt);
                read[at] = Item::With(first);
            }
        }
    }
}

impl DialectWriter for Kiro {
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        if let Some(entry) = anchor.filter(|anchor| is_entry(*anchor)) {
            return write_entry(draft, entry);
        }
        let results = draft.parts.iter().any(|part| matches!(part, DraftPart::ToolResult(_) | DraftPart::Verbatim(_)));
        let kind = match draft.role {
            Role::Assistant => "AssistantMessage",
            _ if results => "ToolResults",
            _ => "Prompt",
        };
        let content = blocks::parts(self, draft);
        let Some(Links { id, .. }) = draft.links.clone().or_else(|| self.links(draft, anchor)) else {
            return object! { "kind": kind, "data": object! { "content": content } }.0;
        };
        let data = ObjectWriter::new().member("message_id", &id.to_string()).member("content", &content);
        // What the program shows of each result, which it requires.
        let data = if kind == "ToolResults" { data.member("results", &Json("{}")) } else { data };
        ObjectWriter::new().copied(anchor, &["version"]).member("kind", kind).member("data", &data.end()).end().0
    }

    fn write_text(&self, text: &str) -> String {
        object! { "kind": "text", "data": text }.0
    }

    fn write_result(&self, result: &DraftResult) -> String {
        let content = list([self.write_text(&result.text)]);
        let data = object! { "toolUseId": result.call_id(), "content": content, "status": "error" };
        object! { "kind": "toolResult", "data": data }.0
    }

    fn prepend_parts(&self, message: Value<'_>, parts: &[String]) -> Option<Patch> {
        if is_entry(message) {
            return prepend_results(message, parts);
        }
        let list = message.some("data")?.get("content").filter(|content| content.is_array())?;
        blocks::prepend_parts(list, parts, str::to_owned)
    }

    fn links(&self, draft: &Draft, anchor: Option<Value<'_>>) -> Option<Links> {
        let anchor = anchor.filter(|line| line.has("version"))?;
        Some(tree::first_links("message_id", draft, Some(anchor.get("data").unwrap_or(anchor))))
    }

    fn name_drafts(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) {
        tree::name_records(|line| line.get("data")?.get_text("message_id"), layout, remaining);
    }
}

impl LogHabits for Kiro {
    /// A compaction replaces what is before it, `Clear` removes it, and `CancelledPrompt` removes the last message, if it is of the
    /// user: a prompt, or results, whose calls are then sent without them.
    fn history(&self, items: &[Value<'_>]) -> Vec<HistoryChange> {
        steps::count(items.len());
        let mut sent: Vec<(usize, Option<Role>)> = Vec::new();
        let mut changes = Vec::new();
        for (at, item) in items.iter().enumerate() {
            match &*item.word("kind") {
                "Compaction" => {
                    // What is cancelled behind it would be in it.
                    sent = vec![(at, None)];
                    changes.push(HistoryChange::compaction(at, Vec::new()));
                }
                "Clear" => {
                    sent.clear();
                    changes.push(HistoryChange::rollback(at, 0));
                }
                "CancelledPrompt" => {
                    let prompt = sent.pop_if(|(_, role)| *role == Some(Role::User));
                    changes.extend(prompt.map(|(prompt, _)| HistoryChange::rollback(at, prompt)));
                }
                kind => sent.extend(role_of(kind).map(|role| (at, Some(role)))),
            }
        }
        changes
    }
}

fn roll_back(message: &mut Message<'_>) {
    message.roll_back(Standing::RolledBack);
}

/// A compaction: the model reads its summary, and the messages that it left.
fn read_compaction<'a>(item: Value<'a>, data: Value<'a>) -> Item<'a> {
    let [summary, left] = data.get_each(["summary", "messages_snapshot"]);
    let left = left.filter(|list| list.items().next().is_some());
    let summary = summary.and_then(|value| Some(blocks::whole(value, Content::Text(value.text()?))));
    let left = left.map(|list| blocks::whole(list, Content::Text(Text::Json(list.raw()))));
    let mut message = blocks::notice(item, None, summary.into_iter().chain(left).collect());
    message.set_boundary();
    Item::Message(message)
}

/// What the program shows of each result is in `results`, by the id of its call.
fn add_outputs<'a>(parts: &mut [Part<'a>], data: Value<'a>) {
    let Some(results) = data.some("results") else { return };
    let outputs: HashMap<Cow<'a, str>, Value<'a>> =
        results.members().map(|member| (member.key.into_decoded(), member.value)).collect();
    for part in parts {
        let id = part.content.result().and_then(|result| result.id.as_ref());
        if let Some(&output) = id.and_then(|id| outputs.get(&*id.decode())) {
            part.add_copy(output);
        }
    }
}

fn role_of(kind: &str) -> Option<Role> {
    match kind {
        "Prompt" | "ToolResults" => Some(Role::User),
        "AssistantMessage" => Some(Role::Assistant),
        _ => None,
    }
}

fn read_block(block: Value<'_>) -> Part<'_> {
    let data = block.get("data");
    match (&*block.word("kind"), data, data.and_then(Value::text)) {
        ("text", _, Some(text)) => blocks::rewritable(block, Content::Text(text), data),
        ("thinking", Some(thought), _) => {
            let text = thought.get_text("text").unwrap_or(Text::Escaped(""));
            let is_signed = thought.some("signature").is_some() || thought.some("redactedContent").is_some();
            blocks::whole(block, Content::Reasoning(text)).bound_to_prefix(is_signed)
        }
        ("toolUse", Some(call), _) => blocks::whole(block, blocks::call_in(call, ["toolUseId", "name", "input"])),
        ("toolResult", Some(result), _) => {
            let content =
                blocks::result_of(result.get_text("toolUseId"), None, content_texts(result.get("content")), 0);
            let place = PartPlace::element(block);
            let place = match result.get("content") {
                Some(list) if list.is_array() => place.with_text_in(list, &["[{\"kind\":\"text\",\"data\":", "}]"]),
                content => place.with_text(content),
            };
            Part::from_source(content, place)
        }
        ("image" | "document", ..) => blocks::whole(block, Content::Media(Text::Json(block.raw()))),
        _ => blocks::whole(block, blocks::unknown(block)),
    }
}

/// The texts of a result: blocks with `data`, or any JSON.
fn content_texts(content: Option<Value<'_>>) -> Vec<Text<'_>> {
    match content {
        Some(list) if list.is_array() => list
            .items()
            .map(|block| block.get_text("data").or_else(|| block.text()).unwrap_or(Text::Json(block.raw())))
            .collect(),
        content => blocks::texts(content),
    }
}
