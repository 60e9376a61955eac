//! How a recorded session ended, if its record says so: a reward, an exit status, a score.

use curtail_core::json::{Value, ValueKind};
use curtail_core::transcript::Transcript;

/// JSON pointers to the outcome in records of known programs.
const OUTCOMES: [&str; 7] =
    ["/reward", "/resolved", "/info/resolved", "/info/exit_status", "/exit_status", "/scores", "/metadata/outcome"];

/// The outcome of `transcript`, at `pointer` (RFC 6901) in the record around its messages, or at a known place.
pub fn outcome(transcript: &Transcript<'_>, pointer: Option<&str>) -> Option<String> {
    let first = transcript.layout.elements.first()?;
    let around = || std::iter::successors(first.parent(), |value| value.parent()).filter(|value| value.is_object());
    match pointer {
        Some(pointer) => around().find_map(|object| described(value_at(object, pointer)?)),
        None => around().find_map(|object| OUTCOMES.iter().find_map(|known| described(value_at(object, known)?))),
    }
}

/// The value at `pointer` in `object`.
fn value_at<'a>(object: Value<'a>, pointer: &str) -> Option<Value<'a>> {
    let keys = pointer.strip_prefix('/')?.split('/').map(|key| key.replace("~1", "/").replace("~0", "~"));
    keys.into_iter().try_fold(object, |value, key| match value.is_array() {
        true => value.items().nth(key.parse().ok()?),
        false => value.get(&key),
    })
}

/// A number, a word or a boolean as text, of at most 60 bytes. Of an object, its `value` or first member is taken.
fn described(value: Value<'_>) -> Option<String> {
    match value.kind() {
        ValueKind::Object => {
            described(value.get("value").or_else(|| value.members().next().map(|member| member.value))?)
        }
        ValueKind::Array | ValueKind::Null => None,
        ValueKind::String => Some(value.text()?.decode().into_owned()),
        _ => Some(value.raw().parse::<f64>().map_or_else(|_| value.raw().to_owned(), |number| number.to_string())),
    }
    .filter(|outcome| !outcome.is_empty() && outcome.len() <= 60)
}
