//! The AI SDK: `ModelMessage`s, whose calls and results are separate parts, and `UIMessage`s, whose tool parts contain a
//! call and later also its result.

mod model;
mod ui;

use super::{Dialect, DialectWriter, Fit, Item, LogHabits, Patch, Remaining, blocks, tree};
use crate::json::{Text, Value, quote};
use crate::transcript::{
    Draft, DraftPart, Family, Layout, Links, Message, PairingRules, ProviderRules, ResultPlace, Role, Unknown,
};

/// The dialect `ai-sdk`.
pub(super) struct AiSdk;

impl Dialect for AiSdk {
    fn name(&self) -> &'static str {
        "ai-sdk"
    }

    fn signature(&self) -> &'static str {
        "`role` and `content` parts `tool-call`, `tool-result`; or `role` and `parts`, each with `type`: `text`, `tool-…`, `dynamic-tool`"
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        if item.get("role").is_none() {
            return Fit::No;
        }
        if let Some(parts) = item.get("parts") {
            return ui::fit(parts);
        }
        match item.get("content") {
            Some(content) if content.items().any(model::is_own_part) => Fit::Certain,
            _ => Fit::No,
        }
    }

    fn pairing_rules(&self) -> PairingRules {
        PairingRules { results: ResultPlace::RightAfter, unique_ids: false, ids: true, developer: false }
    }

    fn provider_rules(&self) -> ProviderRules {
        ProviderRules { provider: "ai-sdk", ..ProviderRules::default() }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        let Some(role) = item.get_text("role") else { return Item::Unknown(Unknown::NoRole) };
        let Some(role) = blocks::role_of(&role.decode()) else {
            return Item::Unknown(Unknown::Named(role.decode().into_owned()));
        };
        let mut message = Message::from_source(role, item);
        message.id = item.get_text("id");
        message.parts = match item.get("parts") {
            Some(parts) => parts.items().flat_map(ui::read_part).collect(),
            None => model::read_content(item.get("content")),
        };
        Item::Message(message)
    }

    fn preamble<'a>(&self, record: Value<'a>) -> Vec<Text<'a>> {
        blocks::preamble(record, &["system", "instructions", "tools"])
    }
}

impl DialectWriter for AiSdk {
    fn spell(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let parts: Vec<String> = draft.parts.iter().map(|part| self.spell_part(part)).collect();
        let parts = parts.join(",");
        let role = if draft.role == Role::Developer { Role::System } else { draft.role };
        if anchor.is_some_and(|anchor| anchor.get("parts").is_some()) {
            // `validateUIMessages` refuses a message without an id.
            let id = draft.links.as_ref().map_or_else(String::new, |links| format!("\"id\":\"{}\",", links.id));
            return format!("{{{id}\"role\":{},\"parts\":[{parts}]}}", quote(role.name()));
        }
        match draft.parts.as_slice() {
            [DraftPart::Text(text)] => blocks::role_and_content(role.name(), text),
            _ => format!("{{\"role\":{},\"content\":[{parts}]}}", quote(role.name())),
        }
    }

    fn spell_part(&self, part: &DraftPart) -> String {
        match part {
            DraftPart::Text(text) => format!("{{\"type\":\"text\",\"text\":{}}}", quote(text)),
            DraftPart::Verbatim(raw) => raw.clone(),
            DraftPart::ToolResult { id, text, family: Family::Approval, .. } => format!(
                "{{\"type\":\"tool-approval-response\",\"approvalId\":{},\"approved\":false,\"reason\":{}}}",
                quote(id.as_deref().unwrap_or_default()),
                quote(text)
            ),
            DraftPart::ToolResult { id, name, text, .. } => format!(
                "{{\"type\":\"tool-result\",\"toolCallId\":{},\"toolName\":{},\"output\":{{\"type\":\"error-text\",\"value\":{}}}}}",
                quote(id.as_deref().unwrap_or_default()),
                quote(name),
                quote(text)
            ),
        }
    }

    fn prepend_parts(&self, message: Value<'_>, parts: &[String]) -> Option<Patch> {
        let list = message.get("content").or_else(|| message.get("parts"))?;
        blocks::prepend_parts(list, parts, |json| format!("{{\"type\":\"text\",\"text\":{json}}}"))
    }

    fn links(&self, draft: &Draft, anchor: Option<Value<'_>>) -> Option<Links> {
        let message = |anchor: &Value<'_>| anchor.get("id").is_some() && anchor.get("parts").is_some();
        Some(tree::first_links("id", draft, Some(anchor.filter(message)?)))
    }

    fn name_drafts(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) {
        tree::name_records("id", layout, remaining);
    }

    fn relink(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) -> Vec<Patch> {
        self.name_drafts(layout, remaining);
        Vec::new()
    }
}

impl LogHabits for AiSdk {
    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        // What else a program stores with a message of its user interface is under `metadata`. The `response` that the
        // messages of a generated text are in names the model as `modelId`.
        let named = || item.get_text("modelId").filter(|name| name.len_bound() > 0);
        blocks::model(item).or_else(|| blocks::model(item.some("metadata")?)).or_else(named)
    }
}
