//! The parts of one message by the rules of a description, and which of its bytes they have.

use foldhash::HashMap;

use super::copies::Copies;
use super::covered::Covered;
use super::paths::{Path, is_one_of};
use super::rules::{Condition, Group, Is, Kind, Rules, all_hold};
use crate::dialects::blocks;
use crate::json::{Text, Value};
use crate::transcript::{Content, Family, Part, PartPlace, Rewrite, Role, ToolCall, ToolResult};

/// The parts of a message.
pub(super) struct Reading<'r, 'a> {
    rules: &'r Rules,
    role: Role,
    item: Value<'a>,
    said: Value<'a>,
    pub(super) parts: Vec<Part<'a>>,
    /// What is in a part, or belongs to one.
    pub(super) accounted: Covered,
    /// The elements of parts.
    taken: Covered,
    /// Elements of lists that no kind of part fits so far.
    open: Vec<Value<'a>>,
    /// What may repeat parts, by the path to it.
    copies: HashMap<&'r Path, Copies<'a>>,
}

impl<'r, 'a> Reading<'r, 'a> {
    /// Reads what `role` says in `said`, the message in `item`.
    pub(super) fn of(rules: &'r Rules, role: Role, item: Value<'a>, said: Value<'a>) -> Self {
        let mut reading = Self {
            rules,
            role,
            item,
            said,
            parts: Vec::new(),
            accounted: Covered::default(),
            taken: Covered::default(),
            open: Vec::new(),
            copies: HashMap::default(),
        };
        reading.read();
        reading
    }

    fn read(&mut self) {
        let rules = self.rules;
        let said = self.said;
        if let Some(kind) = rules.whole.iter().find(|kind| kind.fits(self.role, said, self.item, said)) {
            self.part(kind, said, said);
            return;
        }
        for group in &rules.groups {
            self.group(group);
        }
        let mut are_nested = false;
        for element in std::mem::take(&mut self.open) {
            if self.is_accounted(element) {
                continue;
            }
            if self.accounted.has_in(element.span()) {
                // It holds a list of parts itself.
                are_nested = true;
                continue;
            }
            self.accounted.add(element.span());
            self.parts.push(blocks::whole(element, blocks::unknown(element)));
        }
        if are_nested {
            self.parts.sort_by_key(|part| part.place().map(|place| place.element.span().start));
        }
    }

    fn group(&mut self, group: &'r Group) {
        let from = if group.of_item { self.item } else { self.said };
        let Some(list) = &group.list else {
            for kind in &group.kinds {
                let Some(value) = kind.inner.first(from).filter(|value| !self.is_accounted(*value)) else { continue };
                if kind.fits(self.role, self.said, self.item, value) {
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
                self.accounted.add(list.span());
                self.parts.extend(blocks::plain_parts(Some(list)));
            } else if list.is_object() {
                self.element(group, list);
            }
        }
    }

    /// Whether a value is a part already, repeats one, or is inside the element of one.
    fn is_accounted(&self, value: Value<'_>) -> bool {
        let span = value.span();
        self.accounted.has(span) || self.taken.has(span)
    }

    /// One element of a list of parts.
    fn element(&mut self, group: &'r Group, element: Value<'a>) {
        if self.is_accounted(element) {
            return;
        }
        if element.text().is_some() && group.kinds.iter().any(|kind| kind.is == Is::Text && kind.when.is_empty()) {
            self.accounted.add(element.span());
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
            (kind.when.iter().all(holds) && kind.is_of(self.role) && kind.has_its_value(inner, self.said))
                .then_some(inner)
        };
        let found = group.kinds.iter().find_map(|kind| Some((kind, inner(kind)?)));
        match found {
            Some((kind, inner)) => self.part(kind, element, inner),
            None => self.open.push(element),
        }
    }

    /// Adds the part that `kind` is, cut with `element`, whose values are in `inner`.
    fn part(&mut self, kind: &'r Kind, element: Value<'a>, inner: Value<'a>) {
        if element != self.said {
            self.taken.add(element.span());
        }
        match kind.is {
            Is::Text | Is::Reasoning => self.text_part(kind, element, inner),
            Is::Media => self.whole_part(element, Content::Media(Text::Json(inner.raw()))),
            Is::Mark => self.whole_part(element, Content::Other),
            Is::Unknown => self.whole_part(element, blocks::unknown(element)),
            Is::Call => self.call(kind, element, inner),
            Is::Result => self.result(kind, element, inner),
        }
    }

    fn whole_part(&mut self, element: Value<'a>, content: Content<'a>) {
        self.accounted.add(element.span());
        self.parts.push(blocks::whole(element, content));
    }

    fn text_part(&mut self, kind: &'r Kind, element: Value<'a>, inner: Value<'a>) {
        let value = kind.text.as_ref().map_or(Some(inner), |path| self.first(path, inner));
        let text = value.map_or(Text::Escaped(""), |value| self.text(value));
        // A member without a text beside a list of parts says nothing; an element of the list is a part all the same.
        let is_listed = element.parent().is_some_and(Value::is_array);
        if element != self.said && element == inner && !is_listed && text.len_bound() == 0 {
            return;
        }
        let is_signed = self.word(kind.signed.as_ref(), inner).is_some();
        let (content, rewrite) = match kind.is {
            Is::Text => (Content::Text(text), value.filter(|value| value.text().is_some())),
            _ => (Content::Reasoning(text), None),
        };
        let part = Part::from_source(content, PartPlace::element(element).with_text(rewrite));
        self.push(kind, part.bound_to_prefix(is_signed && kind.is == Is::Reasoning));
    }

    /// A call, and its result if that is in the same element.
    fn call(&mut self, kind: &'r Kind, element: Value<'a>, inner: Value<'a>) {
        let arguments = kind.arguments.as_ref().and_then(|path| self.first(path, inner));
        self.account(kind.arguments.as_ref(), inner);
        let mut call = ToolCall::new(
            self.word(kind.id.as_ref(), inner),
            self.word(kind.name.as_ref(), inner).unwrap_or(Text::Escaped("")),
            blocks::arguments(arguments),
        );
        call.family = kind.family(call.id.is_some());
        call.deferred = kind.several;
        let mut place = if element == self.said { PartPlace::element(element) } else { PartPlace::in_shell(element) };
        let is_answered = kind.result.as_ref().map(|path| self.first(path, inner).is_some());
        if let (Some(false), Some(path)) = (is_answered, &kind.result) {
            place.rewrite = kind.frames.of_missing(path, inner);
        }
        self.push(kind, Part::from_source(Content::ToolCall(call), place));
        if is_answered == Some(true) {
            self.result(kind, element, inner);
        }
    }

    /// A result, and where its text can be rewritten.
    fn result(&mut self, kind: &'r Kind, element: Value<'a>, inner: Value<'a>) {
        let path = kind.result_path();
        let values = path.map_or_else(Vec::new, |path| path.all(path.base(inner, self.said)));
        self.accounted.extend(values.iter().map(|value| value.span()));
        let [id, name] = [&kind.id, &kind.name].map(|path| self.word(path.as_ref(), inner));
        let mut result = ToolResult::new(id, name, Vec::new());
        for value in &values {
            if value.is_array() {
                let (media, said): (Vec<_>, Vec<_>) = value.items().partition(|item| self.rules.is_medium(*item));
                result.media += media.len() + said.iter().filter(|item| blocks::is_media(**item)).count();
                result.content.extend(said.into_iter().filter_map(blocks::block_text));
            } else {
                result.add_answer(Some(*value));
            }
        }
        result.family = kind.family(result.id.is_some());
        let rewrite = match (values.as_slice(), path) {
            ([one], _) if !one.is_array() => Some(Rewrite::of_text(*one)),
            (_, Some(path)) => kind.frames.of_list(path, inner),
            _ => None,
        };
        let place = PartPlace { rewrite, ..PartPlace::element(element) };
        self.push(kind, Part::from_source(Content::ToolResult(result), place));
    }

    /// An id or a name.
    fn word(&mut self, path: Option<&Path>, inner: Value<'a>) -> Option<Text<'a>> {
        self.account(path, inner);
        let path = path?;
        path.text(path.base(inner, self.said)).filter(|word| word.len_bound() > 0)
    }

    fn text(&mut self, value: Value<'a>) -> Text<'a> {
        self.accounted.add(value.span());
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
    fn push(&mut self, kind: &'r Kind, mut part: Part<'a>) {
        if let Some(path) = &kind.copy {
            let from = path.base(self.said, self.item);
            let copies = self.copies.entry(path).or_insert_with(|| Copies::of(path, from));
            for value in copies.of_part(&part.content) {
                self.accounted.add(value.span());
                part.add_copy(value);
            }
        }
        self.parts.push(part);
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
        self.is_of(role) && all_hold(&self.when, said, Some(item)) && self.has_its_value(inner, said)
    }

    pub(super) fn is_of(&self, role: Role) -> bool {
        self.roles.is_empty() || self.roles.contains(&role)
    }

    /// Whether a value of the message `said` has what makes it a part of this kind.
    fn has_its_value(&self, inner: Value<'_>, said: Value<'_>) -> bool {
        let has = |path: &Option<Path>| path.as_ref().is_some_and(|path| path.text(path.base(inner, said)).is_some());
        match self.is {
            Is::Text => match &self.text {
                Some(text) => text.first(text.base(inner, said)).is_some(),
                None => inner.text().is_some(),
            },
            Is::Reasoning => {
                self.text.is_none() && inner.text().is_some_and(|text| text.len_bound() > 0)
                    || has(&self.text)
                    || !self.when.is_empty()
            }
            Is::Call => has(&self.name),
            Is::Result => has(&self.text) || has(&self.id),
            Is::Media | Is::Mark | Is::Unknown => true,
        }
    }
}
