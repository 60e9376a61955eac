//! The patches of one message: parts that were cut, texts that were rewritten, results that were prepended.

use foldhash::HashSet;

use crate::dialects::{Dialect, Patch};
use crate::json::{Span, Value, removal};
use crate::transcript::{DraftPart, Message, Part, PartOrigin, marked};

/// The patches that turn the bytes of `message`, as it was read, into what it is now; `key` as in [`draft`].
pub(super) fn patches(message: &Message<'_>, dialect: &dyn Dialect, key: Option<&'static str>) -> Vec<Patch> {
    let mut gone = gone(message);
    let spell = |part: &Part<'_>| Some(with_mark(part, dialect.spell_part(&draft(part, key)?)));
    let prepended: Vec<String> = message.parts.iter().filter_map(spell).collect();
    let front = message.value().filter(|_| !prepended.is_empty());
    let front = front.and_then(|value| dialect.prepend_parts(value, &prepended)).map(|mut patch| {
        // An object that becomes a list is left out of it if it was cut.
        if let Some(object) = gone.take_object(patch.span) {
            patch.text = patch.text.replacen(&["[", object.raw(), ","].concat(), "[", 1);
        }
        // No element follows, so the comma is left out.
        if patch.text.ends_with(',') && !is_followed(message, &gone, &patch) {
            patch.text.pop();
        }
        patch
    });
    let rewritten = message.parts.iter().flat_map(rewrites);
    cuts(message, &gone).into_iter().chain(rewritten).chain(front).collect()
}

/// Whether an element stays in the list that `patch` begins.
fn is_followed(message: &Message<'_>, gone: &Gone<'_>, patch: &Patch) -> bool {
    let elements = message.cut.iter().chain(&message.parts).filter_map(Part::place).map(|place| place.element);
    let mut lists = elements.filter_map(Value::parent).filter(|holder| holder.is_array());
    let list = lists.find(|list| list.span().start + 1 == patch.span.start);
    list.is_none_or(|list| list.items().any(|item| !gone.set.contains(&item)))
}

/// The draft of a part that is not in the bytes of its message yet; `key` is the one by which the results of the transcript
/// name their calls.
pub(super) fn draft(part: &Part<'_>, key: Option<&'static str>) -> Option<DraftPart> {
    match &part.origin {
        PartOrigin::Moved(place) => Some(DraftPart::Verbatim(place.raw().into_owned())),
        PartOrigin::Draft(DraftPart::ToolResult { id, name, text, family, .. }) => {
            let (id, name, text) = (id.clone(), name.clone(), text.clone());
            Some(DraftPart::ToolResult { id, name, text, family: *family, key })
        }
        PartOrigin::Draft(draft) => Some(draft.clone()),
        PartOrigin::Block(text) => Some(DraftPart::Text(text.clone())),
        PartOrigin::Source(_) | PartOrigin::Rewritten(_) => None,
    }
}

/// `json`, which spells `part`, with the mark of a block if it is one.
pub(super) fn with_mark(part: &Part<'_>, json: String) -> String {
    match &part.origin {
        PartOrigin::Block(text) => marked(json, text),
        _ => json,
    }
}

/// The patches for a part that was rewritten.
fn rewrites(part: &Part<'_>) -> Vec<Patch> {
    let PartOrigin::Rewritten(place) = &part.origin else { return Vec::new() };
    place.substitutions().iter().map(|one| Patch { span: one.span, text: one.json.clone() }).collect()
}

fn gone<'a>(message: &Message<'a>) -> Gone<'a> {
    let mut gone = Gone::default();
    for place in message.cut.iter().filter_map(Part::place).filter(|place| place.piece.is_none()) {
        gone.add(place.element);
        let others = place.rare.iter().flat_map(|rare| &rare.copies_cut);
        place.copies.iter().chain(others).for_each(|&copy| gone.add(copy));
    }
    // A copy of a rewritten text would still contain the old one, and that of a removed image the image.
    for part in &message.parts {
        let PartOrigin::Rewritten(place) = &part.origin else { continue };
        let holds = |copy: &Value<'_>, span: Span| copy.span().start <= span.start && span.end <= copy.span().end;
        let is_old = |copy: &&Value<'_>| !place.substitutions().iter().any(|own| holds(copy, own.span));
        place.copies.iter().filter(is_old).for_each(|&copy| gone.add(copy));
    }
    let mut asked: HashSet<Value<'_>> = HashSet::default();
    for place in message.cut.iter().filter_map(Part::place).filter(|place| place.shell) {
        for element in std::iter::once(&place.element).chain(&place.copies) {
            let shell = element.parent().filter(|&shell| asked.insert(shell));
            if let Some(shell) = shell.filter(|&shell| gone.holds_all_of(shell)) {
                gone.add(shell);
            }
        }
    }
    gone
}

fn cuts(message: &Message<'_>, gone: &Gone<'_>) -> Vec<Patch> {
    let mut seen: HashSet<Value<'_>> = HashSet::default();
    let holders = gone.order.iter().filter_map(|value| value.parent()).filter(|&holder| seen.insert(holder));
    let spans = holders.flat_map(|holder| removal(holder, |value| gone.set.contains(&value)));
    let pieces = message.cut.iter().filter_map(|part| part.place()?.piece);
    spans.chain(pieces).map(|span| Patch { span, text: String::new() }).collect()
}

/// The values that are removed from a message.
#[derive(Default)]
struct Gone<'a> {
    order: Vec<Value<'a>>,
    set: HashSet<Value<'a>>,
}

impl<'a> Gone<'a> {
    fn add(&mut self, value: Value<'a>) {
        if self.set.insert(value) {
            self.order.push(value);
        }
    }

    /// Takes out the object with this span, if there is one.
    fn take_object(&mut self, span: Span) -> Option<Value<'a>> {
        let at = self.order.iter().position(|value| value.span() == span && value.is_object())?;
        self.set.remove(&self.order[at]);
        Some(self.order.remove(at))
    }

    fn holds_all_of(&self, shell: Value<'_>) -> bool {
        shell.items().all(|item| self.set.contains(&item))
            && shell.members().all(|member| self.set.contains(&member.value))
    }
}
