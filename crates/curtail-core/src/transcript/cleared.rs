//! What replaces the arguments of a call that is cleared.

use super::part::{Content, Part, Substitution};
use super::tool_parts::{Family, ToolCall};
use crate::json::{Text, Value};

/// Members that contain the provider's signature of the call beside them.
pub(crate) const SIGNATURES: &[&str] = &["thoughtSignature", "thought_signature", "signature"];

/// An empty object in place of the arguments of a call, wherever its part holds them. `None` if an object is not valid
/// there: the tool takes text, the provider ran the call or signed it, or the format writes no object.
///
/// Anthropic's `clear_tool_inputs` does the same.
#[must_use]
pub fn without_arguments(part: &Part<'_>) -> Option<Vec<Substitution>> {
    let (Content::ToolCall(call), place) = (&part.content, part.place()?) else { return None };
    let is_function = matches!(call.family, Family::Function | Family::Positional) && !call.hosted;
    if !is_function || call.argument_fault().is_some() {
        return None;
    }
    let read = place.element.within(|_| false).find(|value| holds(*value, call))?;
    if is_signed(read, place.element) {
        return None;
    }
    let object = arguments(read);
    // One copy may be an object, and another its JSON as a string.
    let copies = place.copies.iter().flat_map(|copy| copy.within(|_| false));
    let copies = copies.filter(|copy| copy.raw() == read.raw() || object.is_some() && arguments(*copy) == object);
    let mut found: Vec<Substitution> = std::iter::once(read).chain(copies).map(emptied).collect();
    found.sort_by_key(|one| one.span.start);
    Some(found)
}

/// An empty object in place of `arguments`, as an object or as a string like them.
fn emptied(arguments: Value<'_>) -> Substitution {
    let json = if arguments.is_object() { "{}" } else { "\"{}\"" };
    Substitution { span: arguments.span(), json: json.to_owned(), text: "{}".to_owned(), at: 0 }
}

/// The arguments that `value` is: an object, or a string of JSON.
pub(super) fn arguments(value: Value<'_>) -> Option<serde_json::Value> {
    let written = match value.text() {
        Some(text) => text.decode().into_owned(),
        None => value.raw().to_owned(),
    };
    serde_json::from_str(&written).ok().filter(serde_json::Value::is_object)
}

/// Whether an object around `arguments`, up to the element of the part, carries a signature, or an object of metadata in it
/// does. The signatures of thoughts beside the call are in lists of their own.
fn is_signed(arguments: Value<'_>, element: Value<'_>) -> bool {
    let around = std::iter::successors(arguments.parent(), |value| value.parent());
    around.take_while(|object| object.span().start >= element.span().start).any(|object| {
        let mut metadata = object.members().map(|member| member.value).filter(|value| value.is_object());
        // A name in the arguments is the tool's.
        signs(object) || metadata.any(|value| value.within(|value| value == arguments).any(signs))
    })
}

fn signs(object: Value<'_>) -> bool {
    SIGNATURES.iter().any(|key| object.get(key).is_some())
}

/// Whether `value` is where the arguments of `call` were read: the same bytes, not only equal ones.
fn holds(value: Value<'_>, call: &ToolCall<'_>) -> bool {
    let is_same = match (&call.arguments, value.text()) {
        (Text::Escaped(arguments), Some(Text::Escaped(text))) => std::ptr::eq(*arguments, text),
        (Text::Json(arguments), None) => std::ptr::eq(*arguments, value.raw()),
        _ => false,
    };
    is_same && value.span().len() > "{}".len() + usize::from(!value.is_object()) * "\"\"".len()
}
