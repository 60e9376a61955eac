//! Reading items by the rules of a description.

use super::covered::Covered;
use super::parts::Reading;
use super::rules::{RoleRule, Rules, Speaker, all_hold};
use crate::dialects::accounting::{LONG, is_long};
use crate::dialects::call_results::answer_in_order;
use crate::dialects::{Item, blocks};
use crate::json::{Text, Value};
use crate::transcript::{Content, Message, Part, ResultPlace, Role, Unknown};

impl Rules {
    /// Reads an item as what the description says it is.
    pub(super) fn item<'a>(&self, item: Value<'a>) -> Item<'a> {
        if let Some(list) = self.inner_list(item) {
            return Item::Nested(list.items().collect());
        }
        let said = self.said(item);
        let speaker = self.speaker(item, said);
        if let Some(base) = self.base {
            return match speaker {
                Ok(Speaker::Metadata) => Item::Metadata,
                Ok(Speaker::Pinned) => Item::Pinned,
                _ => self.marked(self.in_envelope(base.read(said), item, said), item, said),
            };
        }
        match speaker {
            Ok(Speaker::Role(role)) => self.marked(Item::Message(self.message_of(role, item, said)), item, said),
            Ok(Speaker::Metadata) => Item::Metadata,
            Ok(Speaker::Pinned) => Item::Pinned,
            Err(unknown) => Item::Unknown(unknown),
        }
    }

    /// Whether an item is read as nothing that is known.
    pub(super) fn is_unknown(&self, item: Value<'_>) -> bool {
        match self.base {
            Some(_) => matches!(self.item(item), Item::Unknown(_)),
            None => self.inner_list(item).is_none() && self.speaker(item, self.said(item)).is_err(),
        }
    }

    /// The message that another dialect read in an envelope: its bytes are those of the envelope, and no model reads what stands
    /// at a place after the one where the message is.
    fn in_envelope<'a>(&self, read: Item<'a>, item: Value<'a>, said: Value<'a>) -> Item<'a> {
        match read {
            Item::Message(mut message) if item != said => {
                message.origin = Message::from_source(message.role, item).origin;
                let unread = self.message.iter().flat_map(|path| path.passed_over(item));
                message.parts.extend(unread.map(|value| blocks::whole(value, Content::Other)));
                Item::Message(message)
            }
            read => read,
        }
    }

    /// What was read of an item, with what the description says of the message as a whole.
    fn marked<'a>(&self, mut read: Item<'a>, item: Value<'a>, said: Value<'a>) -> Item<'a> {
        let Some(message) = read.message_mut() else { return read };
        if !self.boundary.is_empty() && all_hold(&self.boundary, said, Some(item)) {
            message.set_boundary();
        }
        message.automatic |= !self.automatic.is_empty() && all_hold(&self.automatic, said, Some(item));
        read
    }

    /// The list inside an item that contains one.
    pub(super) fn inner_list<'a>(&self, item: Value<'a>) -> Option<Value<'a>> {
        let inner = self.lists.iter().filter_map(|place| place.inner.as_ref()).filter(|inner| !inner.is_here());
        inner.filter_map(|inner| inner.first(item)).find(|list| list.is_array())
    }

    /// The message in an item.
    pub(super) fn said<'a>(&self, item: Value<'a>) -> Value<'a> {
        self.message.as_ref().and_then(|path| path.first(item)).filter(|said| said.is_object()).unwrap_or(item)
    }

    /// Who speaks, or why that is unknown.
    pub(super) fn speaker(&self, item: Value<'_>, said: Value<'_>) -> Result<Speaker, Unknown> {
        let mut unknown = Unknown::NoRole;
        for rule in self.roles.iter().filter(|rule| all_hold(&rule.when, said, Some(item))) {
            match rule.speaker(said) {
                Ok(Some(speaker)) => return Ok(speaker),
                Ok(None) => {}
                Err(name) => unknown = Unknown::Named(name),
            }
        }
        Err(unknown)
    }

    fn message_of<'a>(&self, role: Role, item: Value<'a>, said: Value<'a>) -> Message<'a> {
        let mut message = Message::from_source(role, item);
        let reading = Reading::of(self, role, item, said);
        let strangers = self.strangers(item, &reading.accounted);
        message.parts = reading.parts;
        if self.results == ResultPlace::SameMessage {
            answer_in_order(&mut message);
        }
        if !strangers.is_empty() {
            let elements: Covered =
                message.parts.iter().filter_map(Part::place).map(|place| place.element.span()).collect();
            for stranger in strangers {
                if elements.has(stranger.span()) {
                    message.attached.push(Text::Json(stranger.raw()));
                } else {
                    message.parts.push(blocks::whole(stranger, blocks::unknown(stranger)));
                }
            }
        }
        // Where results have no ids and may be anywhere, nothing says that one had a call.
        message.call_rules.unasked = self.results == ResultPlace::Anywhere && !self.has_ids();
        message.call_rules.shared_ids = self.shares_ids;
        message.id = self.reply.as_ref().and_then(|reply| reply.text(said));
        message
    }

    /// The values of an item, or of the items in it, with a text that is in no part and under no known key.
    pub(super) fn unaccounted<'a>(&self, item: Value<'a>) -> Vec<Value<'a>> {
        if self.base.is_some() {
            return Vec::new();
        }
        if let Some(list) = self.inner_list(item) {
            return list.items().flat_map(|inner| self.unaccounted(inner)).collect();
        }
        let said = self.said(item);
        let Ok(Speaker::Role(role)) = self.speaker(item, said) else { return Vec::new() };
        let reading = Reading::of(self, role, item, said);
        let unknown = reading.parts.iter().filter(|part| matches!(part.content, Content::Unknown(_)));
        let unknown = unknown.filter_map(|part| part.place()).map(|place| place.element);
        unknown.chain(self.strangers(item, &reading.accounted)).collect()
    }

    /// The values of an item, or of a record, with a text that is in no part and under no known key.
    pub(super) fn strangers<'a>(&self, item: Value<'a>, accounted: &Covered) -> Vec<Value<'a>> {
        let mut found = Vec::new();
        let mut open = vec![item];
        while let Some(value) = open.pop() {
            let span = value.span();
            if span.len() < LONG || accounted.has(span) || self.is_medium(value) {
                continue;
            }
            if let Some(text) = value.text() {
                found.extend(is_long(&text).then_some(value));
                continue;
            }
            let long = value.members().filter(|member| member.value.span().len() >= LONG);
            let unknown = long.filter(|member| {
                !self.known.iter().any(|known| match known.strip_prefix('.') {
                    Some(known) => value == item && member.key.is(known),
                    None => member.key.is(known),
                })
            });
            open.extend(unknown.map(|member| member.value).chain(value.items()));
        }
        found.sort_by_key(|value| value.span().start);
        found
    }
}

impl RoleRule {
    /// Who speaks by this rule: `None` if it says nothing of this message, an error with the name that it does not know.
    fn speaker(&self, said: Value<'_>) -> Result<Option<Speaker>, String> {
        let Some(at) = &self.at else { return Ok(self.other) };
        let Some(name) = at.text(said) else { return Ok(None) };
        let known = self.names.iter().find(|(known, _)| name.is(known)).map(|(_, speaker)| *speaker);
        match known.or(self.other) {
            Some(speaker) => Ok(Some(speaker)),
            None => Err(name.decode().into_owned()),
        }
    }
}
