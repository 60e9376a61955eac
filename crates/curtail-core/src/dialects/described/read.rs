//! Reading items by the rules of a description.

use super::paths::{Path, is_one_of};
use super::rules::{Condition, Group, Is, Kind, RoleRule, Rules, Speaker};
use crate::dialects::{Item, blocks};
use crate::json::{Json, Span, Text, Value, object};
use crate::transcript::{
    Content, Family, Message, Part, PartPlace, ResultPlace, Rewrite, Role, ToolCall, ToolResult, Unknown,
};

/// From how many bytes on a text has to be accounted for.
pub(super) const LONG: usize = 40;

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
                _ => self.in_envelope(base.read(said), item, said),
            };
        }
        match speaker {
            Ok(Speaker::Role(role)) => Item::Message(self.message_of(role, item, said)),
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
        let mut reading = Reading::new(self, role, item, said);
        reading.parts();
        let strangers = self.strangers(item, &reading.accounted);
        message.parts = reading.parts;
        if self.results == ResultPlace::SameMessage {
            answer_in_order(&mut message);
        }
        for stranger in strangers {
            let inside =
                |part: &Part<'_>| part.place().is_some_and(|place| contains(place.element.span(), stranger.span()));
            if message.parts.iter().any(inside) {
                message.attached.push(Text::Json(stranger.raw()));
            } else {
                message.parts.push(blocks::whole(stranger, blocks::unknown(stranger)));
            }
        }
        // Where results have no ids and may be anywhere, nothing says that one had a call.
        message.call_rules.unasked = self.results == ResultPlace::Anywhere && !self.has_ids();
        message.id = self.reply.as_ref().and_then(|reply| reply.text(said));
        if !self.boundary.is_empty() && all_hold(&self.boundary, said, Some(item)) {
            message.set_boundary();
        }
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
        let mut reading = Reading::new(self, role, item, said);
        reading.parts();
        let unknown = reading.parts.iter().filter(|part| matches!(part.content, Content::Unknown(_)));
        let unknown = unknown.filter_map(|part| part.place()).map(|place| place.element);
        unknown.chain(self.strangers(item, &reading.accounted)).collect()
    }

    /// The values of an item with a text that is in no part and under no known key.
    fn strangers<'a>(&self, item: Value<'a>, accounted: &[Span]) -> Vec<Value<'a>> {
        let mut found = Vec::new();
        let mut open = vec![item];
        while let Some(value) = open.pop() {
            let span = value.span();
            if span.len() < LONG || accounted.iter().any(|of| contains(*of, span)) {
                continue;
            }
            if value.text().is_some() {
                found.push(value);
                continue;
            }
            let is_known = |key: &Text<'_>| {
                self.known.iter().any(|known| match known.strip_prefix('.') {
                    Some(known) => value == item && key.is(known),
                    None => key.is(known),
                })
            };
            let long = value.members().filter(|member| member.value.span().len() >= LONG);
            let unknown = long.filter(|member| !is_known(&member.key));
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

pub(super) fn all_hold(conditions: &[Condition], value: Value<'_>, outer: Option<Value<'_>>) -> bool {
    conditions.iter().all(|condition| condition.holds(value, outer))
}

/// Results that name no call answer the calls of their message, in order. A call for which none is left needs none, so that all
/// calls are kept or dropped together.
fn answer_in_order(message: &mut Message<'_>) {
    let is_nameless = |part: &Part<'_>| part.content.result().is_some_and(|result| result.id.is_none());
    // Calls without ids have their results by order as well.
    if !message.parts.iter().any(is_nameless) || message.calls().all(|(_, call)| call.id.is_none()) {
        return;
    }
    let answered: Vec<Text<'_>> = message.results().filter_map(|(_, result)| result.id.clone()).collect();
    let mut results = message.parts.iter().filter(|part| is_nameless(part)).count();
    let mut open = Vec::new();
    for part in &mut message.parts {
        let Content::ToolCall(call) = &mut part.content else { continue };
        let Some(id) = call.id.clone().filter(|id| !answered.contains(id)) else { continue };
        if results > 0 {
            results -= 1;
            open.push((id, call.family));
        } else {
            call.hosted = true;
        }
    }
    message.call_rules.indivisible = message.calls().count() > 1;
    let mut open = open.into_iter();
    let mut said = Vec::new();
    for part in std::mem::take(&mut message.parts) {
        let Content::ToolResult(result) = &part.content else {
            message.parts.push(part);
            continue;
        };
        match (result.id.is_none(), open.next()) {
            (false, _) => message.parts.push(part),
            (true, Some((id, family))) => {
                let content = ToolResult { id: Some(id), family, ..result.clone() };
                message.parts.push(Part { content: Content::ToolResult(content), ..part });
            }
            (true, None) => said.extend(result.content.iter().cloned()),
        }
    }
    message.attached.extend(said);
}

const fn contains(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// The parts of a message, while they are read.
struct Reading<'r, 'a> {
    rules: &'r Rules,
    role: Role,
    item: Value<'a>,
    said: Value<'a>,
    parts: Vec<Part<'a>>,
    /// What is in a part, or belongs to one.
    accounted: Vec<Span>,
    /// The elements of parts.
    taken: Vec<Span>,
    /// Elements of lists that no kind of part fits so far.
    open: Vec<Value<'a>>,
}

impl<'r, 'a> Reading<'r, 'a> {
    const fn new(rules: &'r Rules, role: Role, item: Value<'a>, said: Value<'a>) -> Self {
        let parts = Vec::new();
        let accounted = Vec::new();
        Self { rules, role, item, said, parts, accounted, taken: Vec::new(), open: Vec::new() }
    }

    fn parts(&mut self) {
        let rules = self.rules;
        let said = self.said;
        if let Some(kind) = rules.whole.iter().find(|kind| kind.fits(self.role, said, self.item, said)) {
            self.part(kind, said, said);
            return;
        }
        for group in &rules.groups {
            self.group(group);
        }
        for element in std::mem::take(&mut self.open) {
            if !self.is_accounted(element) {
                self.accounted.push(element.span());
                self.parts.push(blocks::whole(element, blocks::unknown(element)));
            }
        }
    }

    fn group(&mut self, group: &Group) {
        let from = if group.of_item { self.item } else { self.said };
        let Some(list) = &group.list else {
            for kind in &group.kinds {
                let fits = |value: &Value<'_>| {
                    !self.is_accounted(*value) && kind.fits(self.role, self.said, self.item, *value)
                };
                if let Some(value) = kind.inner.first(from).filter(fits) {
                    self.part(kind, value, value);
                }
            }
            return;
        };
        for list in list.all(from) {
            if self.is_accounted(list) {
                continue;
            }
            if list.is_array() {
                list.items().for_each(|element| self.element(group, element));
            } else if list.text().is_some() && group.kinds.iter().any(|kind| kind.is == Is::Text) {
                self.accounted.push(list.span());
                self.parts.extend(blocks::plain_parts(Some(list)));
            } else if list.is_object() {
                self.element(group, list);
            }
        }
    }

    /// Whether a value is a part already, repeats one, or is inside the element of one.
    fn is_accounted(&self, value: Value<'_>) -> bool {
        let span = value.span();
        self.accounted.contains(&span) || self.taken.iter().any(|taken| contains(*taken, span))
    }

    /// One element of a list of parts.
    fn element(&mut self, group: &Group, element: Value<'a>) {
        if self.is_accounted(element) {
            return;
        }
        if element.text().is_some() && group.kinds.iter().any(|kind| kind.is == Is::Text && kind.when.is_empty()) {
            self.accounted.push(element.span());
            self.parts.extend(blocks::plain_parts(Some(element)));
            return;
        }
        // What most conditions ask for is looked up once.
        let tag = group.tag().map(|key| (key, element.some(key)));
        let holds = |condition: &Condition| match (tag, condition.tag()) {
            (Some((key, value)), Some((wanted, texts))) if key == wanted => {
                value.is_some_and(|value| is_one_of(value, texts))
            }
            _ => condition.holds(element, Some(self.said)),
        };
        let inner = |kind: &Kind| {
            let inner = kind.inner.first(element)?;
            (kind.when.iter().all(holds) && kind.is_of(self.role) && kind.has_its_value(inner)).then_some(inner)
        };
        let found = group.kinds.iter().find_map(|kind| Some((kind, inner(kind)?)));
        match found {
            Some((kind, inner)) => self.part(kind, element, inner),
            None => self.open.push(element),
        }
    }

    /// Adds the part that `kind` is, cut with `element`, whose values are in `inner`.
    fn part(&mut self, kind: &Kind, element: Value<'a>, inner: Value<'a>) {
        if element != self.said {
            self.taken.push(element.span());
        }
        let shell = element != self.said && kind.is == Is::Call;
        let place = || if shell { PartPlace::in_shell(element) } else { PartPlace::element(element) };
        match kind.is {
            Is::Text | Is::Reasoning => {
                let value = kind.text.as_ref().map_or(Some(inner), |path| self.first(path, inner));
                let text = value.map_or(Text::Escaped(""), |value| self.text(value));
                // A member without a text beside a list of parts says nothing; an element of the list is a part all the same.
                let is_listed = element.parent().is_some_and(Value::is_array);
                if element != self.said && element == inner && !is_listed && text.len_bound() == 0 {
                    return;
                }
                let content = if kind.is == Is::Text { Content::Text(text) } else { Content::Reasoning(text) };
                let rewrite = value.filter(|value| kind.is == Is::Text && value.text().is_some());
                let signed = kind
                    .signed
                    .as_ref()
                    .and_then(|path| path.text(path.base(inner, self.said)))
                    .is_some_and(|proof| proof.len_bound() > 0);
                if signed {
                    self.account(kind.signed.as_ref(), inner);
                }
                let part = Part::from_source(content, PartPlace::element(element).with_text(rewrite));
                self.push(kind, part.bound_to_prefix(signed && kind.is == Is::Reasoning));
            }
            Is::Media | Is::Mark => {
                self.accounted.push(element.span());
                let content =
                    if kind.is == Is::Media { Content::Media(Text::Json(inner.raw())) } else { Content::Other };
                self.parts.push(blocks::whole(element, content));
            }
            Is::Call => self.call(kind, inner, place()),
            Is::Result => {
                let result = self.result(kind, kind.text.as_ref(), inner);
                self.push(
                    kind,
                    Part::from_source(
                        Content::ToolResult(result.0),
                        PartPlace { rewrite: result.1, ..PartPlace::element(element) },
                    ),
                );
            }
        }
    }

    /// A call, and its result if that is in the same element.
    fn call(&mut self, kind: &Kind, inner: Value<'a>, place: PartPlace<'a>) {
        let arguments = kind.arguments.as_ref().and_then(|path| self.first(path, inner));
        self.account(kind.arguments.as_ref(), inner);
        let mut call = ToolCall::new(
            self.word(kind.id.as_ref(), inner),
            self.word(kind.name.as_ref(), inner).unwrap_or(Text::Escaped("")),
            blocks::arguments(arguments),
        );
        call.family = kind.family(call.id.is_some());
        let Some(path) = &kind.result else {
            return self.push(kind, Part::from_source(Content::ToolCall(call), place));
        };
        if self.first(path, inner).is_none() {
            let rewrite = room(path, inner);
            return self.push(kind, Part::from_source(Content::ToolCall(call), PartPlace { rewrite, ..place }));
        }
        let element = place.element;
        self.push(kind, Part::from_source(Content::ToolCall(call), place));
        let (result, rewrite) = self.result(kind, Some(path), inner);
        self.push(
            kind,
            Part::from_source(Content::ToolResult(result), PartPlace { rewrite, ..PartPlace::element(element) }),
        );
    }

    /// A result, and where its text can be rewritten.
    fn result(&mut self, kind: &Kind, path: Option<&Path>, inner: Value<'a>) -> (ToolResult<'a>, Option<Rewrite>) {
        let values = path.map_or_else(Vec::new, |path| path.all(path.base(inner, self.said)));
        self.accounted.extend(values.iter().map(|value| value.span()));
        let texts = values.iter().flat_map(|value| blocks::texts(Some(*value))).collect();
        let [id, name] = [&kind.id, &kind.name].map(|path| self.word(path.as_ref(), inner));
        let mut result = ToolResult::new(id, name, texts);
        result.media = values.iter().map(|value| blocks::count_media(Some(*value))).sum();
        result.family = kind.family(result.id.is_some());
        let rewrite = match (values.as_slice(), path) {
            ([one], _) if !one.is_array() => Some(Rewrite::of_text(*one)),
            (_, Some(path)) => rewrite_of_list(path, inner),
            _ => None,
        };
        (result, rewrite)
    }

    /// An id or a name.
    fn word(&mut self, path: Option<&Path>, inner: Value<'a>) -> Option<Text<'a>> {
        self.account(path, inner);
        let path = path?;
        path.text(path.base(inner, self.said)).filter(|word| word.len_bound() > 0)
    }

    fn text(&mut self, value: Value<'a>) -> Text<'a> {
        self.accounted.push(value.span());
        if let Some(text) = value.text() {
            return text;
        }
        let mut texts = blocks::texts(Some(value));
        if texts.len() == 1 { texts.remove(0) } else { blocks::joined(texts) }
    }

    fn account(&mut self, path: Option<&Path>, inner: Value<'a>) {
        self.accounted.extend(path.and_then(|path| self.first(path, inner)).map(Value::span));
    }

    fn first(&self, path: &Path, inner: Value<'a>) -> Option<Value<'a>> {
        path.first(path.base(inner, self.said))
    }

    /// Adds a part, with what repeats it elsewhere in the message.
    fn push(&mut self, kind: &Kind, mut part: Part<'a>) {
        if let Some(copy) = &kind.copy {
            let mut copies = copy.all(self.said);
            copies.retain(|value| repeats(*value, &part.content));
            for value in copies {
                self.accounted.push(value.span());
                part.add_copy(value);
            }
        }
        self.parts.push(part);
    }
}

/// Whether a value is the text of a part, or an object with the id of a call or a result.
fn repeats(value: Value<'_>, content: &Content<'_>) -> bool {
    match content {
        Content::Text(text) | Content::Reasoning(text) => {
            value.text().is_some_and(|other| other == *text || other.decode() == text.decode())
        }
        content => content.tool_id().is_some_and(|id| {
            let id = id.decode();
            value.members().any(|member| member.value.is(&id))
        }),
    }
}

impl Kind {
    /// What its calls and results are: those without ids pair by their order.
    const fn family(&self, has_id: bool) -> Family {
        match (self.custom, has_id) {
            (true, _) => Family::Custom,
            (false, true) => Family::Function,
            (false, false) => Family::Positional,
        }
    }

    fn fits(&self, role: Role, said: Value<'_>, item: Value<'_>, inner: Value<'_>) -> bool {
        self.is_of(role) && all_hold(&self.when, said, Some(item)) && self.has_its_value(inner)
    }

    pub(super) fn is_of(&self, role: Role) -> bool {
        self.roles.is_empty() || self.roles.contains(&role)
    }

    /// Whether a value has what makes it a part of this kind.
    fn has_its_value(&self, inner: Value<'_>) -> bool {
        let has = |path: &Option<Path>| path.as_ref().is_some_and(|path| path.text(inner).is_some());
        match self.is {
            Is::Text => match &self.text {
                Some(text) => text.first(inner).is_some(),
                None => inner.text().is_some(),
            },
            Is::Reasoning => {
                self.text.is_none() && inner.text().is_some_and(|text| text.len_bound() > 0)
                    || has(&self.text)
                    || !self.when.is_empty()
            }
            Is::Call => has(&self.name),
            Is::Result => has(&self.text) || has(&self.id),
            Is::Media | Is::Mark => true,
        }
    }
}

/// Where the missing result of a call is written: in place of a null, or as the first member of the object that has it.
fn room(path: &Path, inner: Value<'_>) -> Option<Rewrite> {
    let (holder, key) = path.holder(inner)?;
    if let Some(null) = holder.get(key) {
        return Some(Rewrite::of_text(null));
    }
    let front = holder.span().start + 1;
    let comma = if holder.members().next().is_some() { "," } else { "" };
    Some(Rewrite { span: Span::new(front, front), around: around(&format!("{}:", crate::json::quote(key)), comma) })
}

/// Where a text goes in JSON that is written first.
const HOLE: &str = "\u{0}";

/// How the texts of a list are replaced by one.
fn rewrite_of_list(path: &Path, inner: Value<'_>) -> Option<Rewrite> {
    let keys = path.keys_in_list()?;
    let list = path.parted().0?.first(inner)?;
    let element = keys.iter().rev().fold(String::from(HOLE), |json, key| object! { key: Json(json) }.0);
    let (before, after) = element.split_once(HOLE)?;
    Some(Rewrite { span: list.span(), around: around(&format!("[{before}"), &format!("{after}]")) })
}

/// Two texts that stay as long as the program runs. A description has a handful.
fn around(before: &str, after: &str) -> &'static [&'static str; 2] {
    use std::sync::{Mutex, PoisonError};
    static KNOWN: Mutex<Vec<&'static [&'static str; 2]>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.iter().find(|found| found[0] == before && found[1] == after) {
        return found;
    }
    let new: &'static [&'static str; 2] = Box::leak(Box::new([
        &*Box::leak(before.to_owned().into_boxed_str()),
        &*Box::leak(after.to_owned().into_boxed_str()),
    ]));
    known.push(new);
    new
}
