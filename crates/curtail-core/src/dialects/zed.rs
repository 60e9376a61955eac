//! Threads of Zed: `User` and `Agent`, each with `content`, and with the results of an agent's calls under `tool_results`, by the
//! id of the call. They are only read.

use super::{BY_ID, Dialect, Fit, Format, Item, NO_RULES, blocks};
use crate::json::{Text, Value};
use crate::transcript::{Content, Message, PairingRules, Part, ProviderRules, ResultPlace, Role, Unknown};

/// The dialect `zed`.
pub(super) struct Zed;

impl Dialect for Zed {
    fn format(&self) -> &'static Format {
        &Format {
            name: "zed",
            signature: "`User` or `Agent` with `content` blocks `Text`, `Thinking`, `ToolUse`, and `tool_results`",
            pairing: PairingRules { results: ResultPlace::SameMessage, ..BY_ID },
            provider: ProviderRules { system_beside: true, ..NO_RULES },
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let content = speaker(item).and_then(|(_, content)| content.get("content"));
        if content.is_some_and(Value::is_array) { Fit::Certain } else { Fit::No }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        // The mark of a thread that went on after it was stopped.
        if item.text().is_some_and(|mark| mark.is("Resume")) {
            let told = blocks::whole(item, Content::Text(Text::Escaped(RESUMED)));
            return Item::Message(blocks::notice(item, None, vec![told]));
        }
        if let Some(compaction) = item.some("Compaction") {
            return read_compaction(item, compaction);
        }
        let Some((role, message)) = speaker(item) else { return Item::Unknown(Unknown::NoRole) };
        let mut parts: Vec<Part<'a>> = message.items_under("content").map(read_block).collect();
        let results = message.get("tool_results").into_iter().flat_map(Value::members);
        parts.extend(results.map(|member| read_result(member.key, member.value)));
        blocks::message(role, item, message.get_text("id"), parts)
    }

    /// With a summary, Zed sends the newest prompts before it once more.
    fn connect<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        let compactions = items.iter().enumerate();
        let mut compactions = compactions.filter_map(|(at, item)| Some((at, item.some("Compaction")?)));
        let Some((last, _)) = compactions.next_back().filter(|(_, made)| made.has("Summary")) else { return };
        let mut left = SENT_AGAIN;
        let mut kept = Vec::new();
        for at in (0..last).rev().filter(|at| items[*at].has("User")) {
            if left == 0 {
                break;
            }
            let said = read[at].message_mut().map_or(0, |message| text_length(message));
            left = left.saturating_sub(said);
            kept.push(at..at + 1);
        }
        blocks::preserve(read, kept);
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        item.some("model")?.get_text("model")
    }
}

/// What a model reads where a thread went on.
const RESUMED: &str = "Continue where you left off";

/// How many bytes of the prompts before a summary are sent.
const SENT_AGAIN: usize = 80_000;

/// A compaction: a summary, or what only a provider can read.
fn read_compaction<'a>(item: Value<'a>, compaction: Value<'a>) -> Item<'a> {
    let mut parts = blocks::plain_parts(compaction.get("Summary"));
    if parts.is_empty() {
        parts.push(blocks::whole(item, Content::Other));
    }
    blocks::boundary(Role::User, item, None, parts)
}

fn text_length(message: &Message<'_>) -> usize {
    let texts =
        message.parts.iter().filter_map(|part| if let Content::Text(text) = &part.content { Some(text) } else { None });
    texts.map(Text::len_bound).sum()
}

/// Who says an item, and what.
fn speaker(item: Value<'_>) -> Option<(Role, Value<'_>)> {
    let [user, agent] = item.get_each(["User", "Agent"]);
    user.map(|message| (Role::User, message)).or_else(|| agent.map(|message| (Role::Assistant, message)))
}

/// A block of `content`, whose kind is its only key.
fn read_block(block: Value<'_>) -> Part<'_> {
    let [text, thought, hidden, call, mention, image] =
        block.get_each(["Text", "Thinking", "RedactedThinking", "ToolUse", "Mention", "Image"]);
    let content = match (text.and_then(Value::text), thought, call, mention) {
        (Some(text), ..) => Content::Text(text),
        (_, Some(thought), ..) => Content::Reasoning(thought.text_or_empty("text")),
        (_, _, Some(call), _) => {
            let arguments = call.some("input").or_else(|| call.some("raw_input"));
            blocks::call(call.get_text("id"), call.get_text("name"), arguments)
        }
        (.., Some(mention)) => mention.get_text("content").map_or_else(|| blocks::unknown(block), Content::Text),
        _ if hidden.is_some() => Content::Reasoning(Text::Escaped("")),
        _ if image.is_some() => Content::Media(Text::Json(block.raw())),
        _ => blocks::unknown(block),
    };
    blocks::whole(block, content)
}

/// A result: its content is a block, or a list of them.
fn read_result<'a>(id: Text<'a>, result: Value<'a>) -> Part<'a> {
    let content = result.some("content").or_else(|| result.some("output"));
    let list = content
        .map_or_else(Vec::new, |content| if content.is_array() { content.items().collect() } else { vec![content] });
    let (media, texts): (Vec<_>, Vec<_>) = list.into_iter().partition(|block| block.get("Image").is_some());
    let texts = texts.into_iter();
    let texts = texts.map(|block| block.text().or_else(|| block.get_text("Text")).unwrap_or(Text::Json(block.raw())));
    let texts = texts.collect();
    blocks::whole(result, blocks::result_of(Some(id), result.get_text("tool_name"), texts, media.len()))
}
