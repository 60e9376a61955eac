//! ShareGPT and similar formats, in which calls are answered by position: `from` and `value`; LLaMA-Factory's `role` with
//! blocks of `type` and `value`; Alpaca's `history` of pairs.

use super::sharegpt_calls::{read_calls, read_result, share_again, share_answers};
use super::{BY_ID, Dialect, DialectWriter, Fit, Format, Item, NO_RULES, Patch, blocks, langchain, written};
use crate::json::{Document, Json, Text, Value, list, object, quote};
use crate::transcript::{
    Content, Draft, DraftPart, DraftResult, Message, MessageKind, PairingRules, Part, ProviderRules, ResultPlace, Role,
    Turns, Unknown,
};

/// The dialect `sharegpt`.
pub(super) struct ShareGpt;

impl Dialect for ShareGpt {
    fn format(&self) -> &'static Format {
        &Format {
            name: "sharegpt",
            signature: "`from` and `value`; `role` and `content` blocks with `type` and `value`; \
                `history` of pairs beside `instruction`",
            pairing: PairingRules { results: ResultPlace::RightAfter, ids: false, ..BY_ID },
            // Trainers read messages by position: user messages at odd positions, assistant messages at even ones.
            provider: ProviderRules {
                provider: "llama-factory",
                first_speaker: Some(Role::User),
                turns: Turns::Alternate,
                ..NO_RULES
            },
            reread: Some(share_again),
            writer: Some(&ShareGpt),
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let certain = item.get_text("from").is_some() && item.get_text("value").is_some()
            || item.has("role") && typed_blocks(item).is_some()
            || is_pair(item) && langchain::role_and_text(item).is_none();
        let otherwise = if is_pair(item) { Fit::Possible } else { Fit::No };
        if certain { Fit::Certain } else { otherwise }
    }

    fn fits_record(&self, record: Value<'_>) -> bool {
        record.has("instruction") && record.has("history")
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        if item.is_array() {
            return read_pair(item);
        }
        let Some(name) = item.get_text("from").or_else(|| item.get_text("role")) else {
            return Item::Unknown(Unknown::NoRole);
        };
        let name = name.decode();
        let Some(role) = role_of(&name) else { return Item::Unknown(Unknown::Named(name.into_owned())) };
        let mut message = Message::from_source(role, item);
        let content = item.some("value").or_else(|| item.get("content"));
        message.parts = match (&*name, role) {
            ("function_call" | "tool_call", _) => read_calls(content, item),
            (_, Role::Tool) => vec![read_result(item, content.map(text_value))],
            (_, Role::User) if let Some(pieces) = content.and_then(blocks::pieces) => pieces,
            _ => typed_blocks(item).map_or_else(|| blocks::plain_parts(content), read_blocks),
        };
        message.call_rules.indivisible = message.calls().count() > 1 && typed_blocks(item).is_none();
        Item::Message(message)
    }

    fn connect<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        // Other lists of roles and texts are those of LangChain, also with objects among them that are not ShareGPT's.
        let is_chat = items.iter().any(|item| item.is_array())
            && items.iter().all(|item| match item.is_array() {
                true => langchain::role_and_text(*item).is_some(),
                false => !item.has("from"),
            });
        if is_chat && !blocks::record_of(items).is_some_and(|record| self.fits_record(record)) {
            read.fill_with(|| Item::Unknown(Unknown::NoTexts));
        }
        share_answers(&mut read.iter_mut().filter_map(Item::message_mut).collect::<Vec<_>>());
    }

    /// The last exchange of a `history` of pairs is beside it, in the record.
    fn preamble<'a>(&self, record: Value<'a>) -> Vec<Text<'a>> {
        blocks::preamble(record, &["system", "instruction", "input", "output", "tools"])
    }
}

impl DialectWriter for ShareGpt {
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let text = quote(&spoken(draft));
        if anchor.is_some_and(Value::is_array) {
            return if draft.role == Role::Assistant { format!("[\"\",{text}]") } else { format!("[{text},\"\"]") };
        }
        if anchor.is_some_and(|anchor| !anchor.has("from")) {
            return object! { "role": draft.role.name(), "content": list([self.write_text(&spoken(draft))]) }.0;
        }
        let from = match draft.role {
            Role::System | Role::Developer => "system",
            Role::User => "human",
            Role::Assistant => "gpt",
            Role::Tool => "observation",
        };
        object! { "from": from, "value": Json(text) }.0
    }

    fn write_text(&self, text: &str) -> String {
        object! { "type": "text", "value": text }.0
    }

    fn write_result(&self, result: &DraftResult) -> String {
        self.write_text(&result.text)
    }

    fn prepend_parts(&self, message: Value<'_>, parts: &[String]) -> Option<Patch> {
        let content = message.some("value").or_else(|| message.get("content"))?;
        if content.is_array() {
            return blocks::prepend_parts(content, parts, str::to_owned);
        }
        let documents: Vec<Document<'_>> = parts.iter().filter_map(|part| Document::parse(part).ok()).collect();
        let texts: Vec<Text<'_>> = documents.iter().filter_map(|part| part.roots().next()?.get_text("value")).collect();
        let inside = texts.iter().filter_map(|text| if let Text::Escaped(raw) = text { Some(*raw) } else { None });
        blocks::prepend_texts(content, &inside.collect::<Vec<&str>>())
    }
}

/// The whole text of a draft, results included: the format has no other place for them.
fn spoken(draft: &Draft) -> String {
    draft.parts.iter().filter_map(DraftPart::text).collect::<Vec<_>>().join("\n")
}

/// The role with one of the names in datasets.
pub(super) fn role_of(name: &str) -> Option<Role> {
    blocks::role_of(name).or_else(|| match name {
        "human" => Some(Role::User),
        "gpt" | "chatgpt" | "model" | "bot" | "bing" | "bard" | "function_call" => Some(Role::Assistant),
        "function" => Some(Role::Tool),
        name => written::role_of(name),
    })
}

/// The blocks of a LLaMA-Factory message.
fn typed_blocks(item: Value<'_>) -> Option<Value<'_>> {
    let list = item.get("content").filter(|list| list.is_array())?;
    list.items().next()?;
    list.items().all(|block| block.has("type") && block.has("value")).then_some(list)
}

fn read_blocks(list: Value<'_>) -> Vec<Part<'_>> {
    list.items().flat_map(read_block).collect()
}

fn read_block(block: Value<'_>) -> Vec<Part<'_>> {
    let text = || block.text_or_empty("value");
    let (content, value) = match &*block.word("type") {
        "tool_call" => return read_calls(block.get("value"), block),
        "reasoning" => (Content::Reasoning(text()), None),
        "text" => (Content::Text(text()), block.get("value")),
        "image_url" | "image" | "video_url" | "video" | "audio_url" | "audio" => {
            (Content::Media(Text::Json(block.raw())), None)
        }
        _ => (blocks::unknown(block), None),
    };
    vec![blocks::rewritable(block, content, value)]
}

/// The place of a message's text: the string itself, or the value of its first block.
fn text_value(content: Value<'_>) -> Value<'_> {
    content.items().next().and_then(|block| block.get("value")).unwrap_or(content)
}

/// A pair of a user text and an assistant text, as in Alpaca's format.
fn is_pair(item: Value<'_>) -> bool {
    item.is_array() && item.items().count() == 2 && item.items().all(|text| text.text().is_some())
}

/// A pair is one element with two speakers: it is read as a user message that contains the answer, and kept or dropped as a
/// whole.
fn read_pair(item: Value<'_>) -> Item<'_> {
    if !is_pair(item) {
        return Item::Unknown(Unknown::NoTexts);
    }
    let mut parts = blocks::plain_parts(Some(item));
    let answer = parts.pop().map(|part| part.said_by(Role::Assistant));
    parts.extend(answer);
    parts.retain(|part| part.content.has_text());
    Item::Message(Message { kind: MessageKind::Exchange, parts, ..Message::from_source(Role::User, item) })
}
