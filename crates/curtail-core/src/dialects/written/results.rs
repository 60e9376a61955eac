//! How chat templates spell results in a text.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::calls::quoted;
use crate::json::Text;

/// The tags around results in messages of the user.
const RESULTS: &[[&str; 2]] = &[
    ["<tool_response", "</tool_response>"],
    ["<tool_result", "</tool_result>"],
    ["<tool_output", "</tool_output>"],
    ["<function_response", "</function_response>"],
    ["<function_results", "</function_results>"],
    ["<function_result", "</function_result>"],
    ["<observation", "</observation>"],
    ["[TOOL_RESULTS]", "[/TOOL_RESULTS]"],
    ["Observation:", ""],
];

/// Under what a result names its call.
static CALL_ID: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("tool_call_id"));

/// How many results the inside of a JSON string is, if it is nothing else.
pub(super) fn results(raw: &str) -> Option<usize> {
    /// The most white space, in bytes, that precedes a tag. Longer texts are not searched for one.
    const LONGEST_BLANK: usize = 16;
    let tag = raw.bytes().take(LONGEST_BLANK).position(|byte| matches!(byte, b'<' | b'[' | b'O'))?;
    let [_, close] = RESULTS.iter().find(|[open, _]| raw[tag..].starts_with(open))?;
    if !Text::Escaped(&raw[..tag]).is_blank() {
        return None;
    }
    let is_closed = close.is_empty() || {
        let end = raw.rfind(close)? + close.len();
        Text::Escaped(&raw[end..]).is_blank()
    };
    let count = if close.is_empty() { 1 } else { raw.matches(close).count() };
    is_closed.then_some(count)
}

/// The id of the call that a result names in its own text.
pub(super) fn answered_id(result: &Text<'_>) -> Option<String> {
    /// The bytes within which a result names its call, so that a long result is not searched.
    const NEAR: usize = 400;
    let Text::Escaped(raw) = result else { return None };
    CALL_ID.find(&raw.as_bytes()[..raw.len().min(NEAR)])?;
    quoted(&result.decode(), &CALL_ID).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::results;
    use crate::json::quote;

    #[test]
    fn results_of_a_user_are_in_tags_alone() {
        for (text, expected) in [
            ("<tool_response>\nhigh\n</tool_response>", Some(1)),
            ("<tool_response>a</tool_response>\n<tool_response>b</tool_response>", Some(2)),
            ("<tool_response>a</tool_response> And then?", None),
            ("Observation: high", Some(1)),
            ("What is <tool_response>?", None),
        ] {
            let json = quote(text);
            assert_eq!(results(&json[1..json.len() - 1]), expected, "{text}");
        }
    }
}
