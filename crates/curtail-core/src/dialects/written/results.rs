//! How chat templates spell results in a text.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::syntaxes::quoted;
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
    /// At least as many characters as the longest opening has. Longer texts are decoded only if they begin with one.
    const LONGEST: usize = 20;
    let text = Text::Escaped(raw);
    let head: String = text.characters().skip_while(|c| c.is_whitespace()).take(LONGEST).collect();
    let [_, close] = RESULTS.iter().find(|[open, _]| head.starts_with(open))?;
    if close.is_empty() {
        return Some(1);
    }
    let text = text.decode();
    let (_, behind) = text.rsplit_once(close)?;
    behind.trim().is_empty().then(|| text.matches(close).count())
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
            let inside = &json[1..json.len() - 1];
            assert_eq!(results(inside), expected, "{text}");
            assert_eq!(results(&inside.replace('<', r"\u003c")), expected, "{text}, as other writers escape it");
        }
    }
}
