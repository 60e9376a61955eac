//! Whether a result says that its tool failed, in any of the ways in which wire formats say so beside its text.

use crate::json::Value;
use crate::transcript::{Content, Part};

/// Members that are true if the tool failed.
const FLAGS: &[&str] = &["is_error", "isError"];

/// Members that are false if the tool failed.
const SUCCESSES: &[&str] = &["success"];

/// Members that name the outcome.
const OUTCOMES: &[&str] = &["status", "state", "outcome", "type", "part_kind", "kind", "observation"];

/// Names of outcomes of tools that failed.
const FAILURES: &[&str] = &[
    "error", "failed", "failure", "ERROR", "FAILED", "error-text", "error-json", "output-error", "retry-prompt",
    "AgentErrorEvent",
];

/// Members with the exit code of a program.
const EXIT_CODES: &[&str] = &["exit_code", "exitCode", "returncode"];

/// Members that hold the outcome, if it is not in the result itself.
const HOLDERS: &[&str] = &[
    "toolResult", "tool_call_result", "functionResponse", "function_response", "response", "output", "result", "state",
    "metadata", "observation", "extras",
];

/// Whether `part` is a result that says, beside its text, that the tool failed.
///
/// A text may say so as well; what a text means is not decided here.
#[must_use]
pub fn reports_failure(part: &Part<'_>) -> bool {
    let is_result = matches!(part.content, Content::ToolResult(_));
    part.place().filter(|_| is_result).is_some_and(|place| tells_failure(place.element, 2))
}

/// Whether `value`, or what it holds down to a depth of `levels`, tells of a failure.
fn tells_failure(value: Value<'_>, levels: u8) -> bool {
    value.members().any(|member| {
        let is_named = |names: &[&str]| names.iter().any(|name| member.key.is(name));
        let inner = member.value;
        is_named(FLAGS) && inner.raw() == "true"
            || is_named(SUCCESSES) && inner.raw() == "false"
            || is_named(OUTCOMES) && FAILURES.iter().any(|failure| inner.is(failure))
            || is_named(EXIT_CODES) && inner.raw().parse::<i64>().is_ok_and(|code| code != 0)
            || member.key.is("error") && !matches!(inner.raw(), "null" | "false" | "\"\"" | "{}" | "[]")
            || levels > 0 && is_named(HOLDERS) && tells_failure(inner, levels - 1)
    })
}
