//! Any object with a role under one of the usual keys and a text under another. It has no tool calls. Another dialect that
//! fits for certain takes precedence.

use super::{BY_ID, Dialect, DialectWriter, Fit, Format, Item, NO_RULES, blocks, written};
use crate::json::{Value, object};
use crate::transcript::{Draft, PairingRules, ProviderRules, ResultPlace, Role, Unknown};

/// The dialect `simple`.
pub(super) struct Simple;

/// Keys of the role.
const SPEAKERS: &[&str] = &["role", "from", "speaker", "author", "sender", "type", "source"];

/// Keys of the text.
const TEXTS: &[&str] = &["content", "text", "value", "message", "body", "system_prompt"];

impl Dialect for Simple {
    fn format(&self) -> &'static Format {
        &Format {
            name: "simple",
            signature: "`role`, `from`, `speaker`, `author` or `type`, and `content`, `text`, `value` or `message`; \
                no tool calls",
            pairing: PairingRules { results: ResultPlace::Anywhere, ids: false, developer: true, ..BY_ID },
            // No provider takes this format, so items that are not messages are not reported.
            provider: ProviderRules { log: true, ..NO_RULES },
            writer: Some(&Simple),
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let has_text = text(item).is_some_and(|(_, text)| text.text().is_some());
        if has_text && speaker(item).is_some() { Fit::Possible } else { Fit::No }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        let Some((_, role)) = speaker(item) else {
            let named = SPEAKERS.iter().find_map(|key| item.get_text(key));
            return Item::Unknown(named.map_or(Unknown::NoRole, |name| Unknown::Named(name.decode().into_owned())));
        };
        blocks::message(role, item, item.get_text("id"), blocks::plain_parts(text(item).map(|(_, text)| text)))
    }
}

impl DialectWriter for Simple {
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let text_key = anchor.and_then(text).map_or("content", |(key, _)| key);
        let (role_key, role) = anchor.and_then(speaker).map_or(("role", Role::System), |(key, role)| (key, role));
        let named = anchor.and_then(|anchor| anchor.get_text(role_key)).filter(|_| role == draft.role);
        let name = named.map_or_else(|| draft.role.name().to_owned(), |name| name.decode().into_owned());
        object! { role_key: name, text_key: draft.joined_text() }.0
    }
}

/// The role, if its name is known, and the key of the role.
fn speaker(item: Value<'_>) -> Option<(&'static str, Role)> {
    SPEAKERS.iter().find_map(|key| Some((*key, role_of(&item.get_text(key)?.decode())?)))
}

fn text(item: Value<'_>) -> Option<(&'static str, Value<'_>)> {
    TEXTS.iter().find_map(|key| {
        let value = item.get(key)?;
        (value.text().is_some() || value.is_array()).then_some((*key, value))
    })
}

/// The role with one of the names in chats and datasets of every kind, in letters of either case.
pub(super) fn role_of(name: &str) -> Option<Role> {
    blocks::role_of(name).or_else(|| match name.to_ascii_lowercase().as_str() {
        "developer" => Some(Role::Developer),
        "human" | "customer" | "prompter" | "user_explicit" => Some(Role::User),
        "ai" | "bot" | "gpt" | "model" | "agent" | "chatbot" => Some(Role::Assistant),
        "function" => Some(Role::Tool),
        name => blocks::role_of(name).or_else(|| written::role_of(name)),
    })
}
