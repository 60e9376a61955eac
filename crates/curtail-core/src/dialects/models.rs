//! Which model wrote each message of a transcript.

use super::Dialect;
use crate::json::{Text, Value};
use crate::transcript::{Layout, SlotKind};

/// The model of every message of a transcript, by its index: the model that the message names, or the nearest item before
/// it, or the record around it, or else the first item after it. `None` if nothing names a model.
#[must_use]
pub fn models<'a>(dialect: &dyn Dialect, layout: &Layout<'a>) -> Vec<Option<Text<'a>>> {
    let mut models: Vec<Option<Text<'a>>> = Vec::new();
    let mut current = record_model(dialect, layout);
    let slots = layout.slots.iter().filter(|slot| !matches!(slot.what, SlotKind::Frame { .. }));
    for (slot, &element) in slots.zip(&layout.elements) {
        current = dialect.model(element).or(current);
        if let SlotKind::Message(_) = slot.what {
            models.push(current.clone());
        }
    }
    let first = models.iter().find_map(Clone::clone).or(current);
    for model in models.iter_mut().take_while(|model| model.is_none()) {
        model.clone_from(&first);
    }
    models
}

/// The model that the record around the items of a transcript names.
#[must_use]
pub fn record_model<'a>(dialect: &dyn Dialect, layout: &Layout<'a>) -> Option<Text<'a>> {
    layout.elements.first().and_then(|first| around(dialect, *first))
}

/// The model that a value around `element` names, nearest first.
fn around<'a>(dialect: &dyn Dialect, element: Value<'a>) -> Option<Text<'a>> {
    let parents = std::iter::successors(element.parent(), |value| value.parent());
    parents.filter(|parent| parent.is_object()).find_map(|parent| dialect.model(parent))
}
