//! Exit codes and output, extracted from the wrappers that agents put around them.

use std::borrow::Cow;

use serde_json::Value;

/// Labels in front of an exit code.
const EXIT_CODE_LABELS: &[&str] = &[
    "<returncode>", "Exit code: ", "Exit code ", "exit code: ", "exit code ", "exited with code ", "exit status: ",
    "exit status ", "\"exit_code\":", "returned exit code ",
];

/// The exit code that an output reports, in its first or its last lines.
pub(super) fn exit_code(output: &str) -> Option<i32> {
    let head = &output[..output.floor_char_boundary(400)];
    let tail = &output[output.ceil_char_boundary(output.len().saturating_sub(400))..];
    [head, tail]
        .iter()
        .find_map(|part| EXIT_CODE_LABELS.iter().find_map(|label| leading_number(part.split_once(label)?.1)))
}

/// The number at the beginning of `text`, after white space.
fn leading_number(text: &str) -> Option<i32> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(text.len());
    text[..end].parse().ok()
}

/// The output inside a wrapper: `{"output":"…"}` or `<output>…</output>`.
pub(super) fn unwrapped(result: &str) -> Cow<'_, str> {
    if result.starts_with('{')
        && let Ok(Value::Object(members)) = serde_json::from_str(result)
        && let Some(output) = ["output", "stdout", "content"].iter().find_map(|key| members.get(*key)?.as_str())
    {
        return Cow::Owned(output.to_owned());
    }
    let inside = result.split_once("<output>").and_then(|(_, rest)| rest.rsplit_once("</output>"));
    Cow::Borrowed(inside.map_or(result, |(output, _)| output))
}
