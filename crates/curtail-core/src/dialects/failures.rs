//! Whether a result says that its tool failed, in any of the ways in which wire formats say so beside its text.

use crate::json::{Text, Value};
use crate::transcript::{Content, Part};

/// Members that are true if the tool failed.
const FLAGS: &[&str] = &["is_error", "isError"];

/// Members that are false if the tool failed.
const SUCCESSES: &[&str] = &["success"];

/// Members that name the outcome.
const OUTCOMES: &[&str] = &["status", "state", "outcome", "type", "part_kind", "kind", "observation"];

/// Names of outcomes of tools that failed.
const FAILURES: &[&str] = &[
    "error",
    "failed",
    "failure",
    "retried",
    "Error",
    "ERROR",
    "FAILED",
    "error-text",
    "error-json",
    "output-error",
    "retry-prompt",
    "AgentErrorEvent",
    "OUTCOME_FAILED",
    "OUTCOME_DEADLINE_EXCEEDED",
];

/// The same in what a tool returned: a tool that looked at a job which failed has not failed.
const RETURNED_OUTCOMES: &[&str] = &["status", "type"];
const RETURNED_FAILURES: &[&str] = &["error", "error-text", "error-json"];

/// How the type of what a tool of Anthropic's returned ends if the tool failed, as in `web_fetch_tool_result_error`.
const RETURNED_ERROR: &str = "_tool_result_error";

/// Members with the exit code of a program.
const EXIT_CODES: &[&str] = &["exit_code", "exitCode", "returncode", "return_code"];

/// Members that hold the outcome, if it is not in the result itself: the result in an item, or what is said beside it.
const HOLDERS: &[&str] = &[
    "message", "event", "data", "kwargs", "toolResult", "tool_call_result", "functionResponse", "function_response",
    "codeExecutionResult", "code_execution_result", "state", "metadata", "observation", "extras", "tool_call",
    "payload",
];

/// Members that hold what the tool returned.
const RETURNED: &[&str] = &["response", "output", "result", "value", "content", "return_value"];

/// Whether `part` is a result that says, beside its text, that the tool failed.
///
/// A text may say so as well; what a text means is not decided here.
#[must_use]
pub fn reports_failure(part: &Part<'_>) -> bool {
    let is_result = matches!(part.content, Content::ToolResult(_));
    let place = part.place().filter(|_| is_result);
    place.is_some_and(|place| tells_failure(place.outcome().unwrap_or(place.element), MAX_DEPTH))
}

/// How deep an outcome is in an item: in a result under the name of its tool, in the call of an event.
const MAX_DEPTH: u8 = 3;

/// Whether `value`, or what it holds down to a depth of `levels`, tells of a failure.
fn tells_failure(value: Value<'_>, levels: u8) -> bool {
    value.members().any(|member| {
        let key = &member.key;
        let inner = member.value;
        says_failure(key, inner)
            || key.is_one_of(OUTCOMES) && inner.text().is_some_and(|outcome| outcome.is_one_of(FAILURES))
            || key.is_one_of(RETURNED) && returned_failure(inner, 1)
            // Cursor names the object of a call after its tool: `readToolCall`.
            || levels > 0
                && (key.is_one_of(HOLDERS) || key.decode().ends_with("ToolCall"))
                && tells_failure(inner, levels - 1)
    })
}

/// The same of a value that a tool returned.
fn returned_failure(value: Value<'_>, levels: u8) -> bool {
    value.members().any(|member| {
        let key = &member.key;
        let inner = member.value;
        says_failure(key, inner)
            || key.is_one_of(RETURNED_OUTCOMES)
                && inner.text().is_some_and(|outcome| {
                    outcome.is_one_of(RETURNED_FAILURES) || outcome.decode().ends_with(RETURNED_ERROR)
                })
            || levels > 0 && key.is_one_of(RETURNED) && returned_failure(inner, levels - 1)
    })
}

/// Whether a member says that a tool failed, wherever it is.
fn says_failure(key: &Text<'_>, value: Value<'_>) -> bool {
    key.is_one_of(FLAGS) && value.raw() == "true"
        || key.is_one_of(SUCCESSES) && value.raw() == "false"
        || key.is_one_of(EXIT_CODES) && value.raw().parse::<i64>().is_ok_and(|code| code != 0)
        || key.is("error") && names_error(value)
}

/// Whether the value of a member `error` is one: neither nothing nor the number of success.
fn names_error(error: Value<'_>) -> bool {
    if let Some(text) = error.text() {
        let text = text.decode();
        return !matches!(text.trim(), "" | "none" | "None" | "null");
    }
    match error.raw() {
        "null" | "false" | "0" => false,
        _ if error.is_object() => error.members().next().is_some(),
        raw => !raw.starts_with('[') || error.items().next().is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    fn fails(element: &str) -> bool {
        let document = Document::parse(element).unwrap();
        tells_failure(document.roots().next().unwrap(), MAX_DEPTH)
    }

    #[test]
    fn a_tool_that_returned_the_state_of_a_job_has_not_failed() {
        for returned in [
            r#"{"state":"FAILED"}"#,
            r#"{"status":"failed"}"#,
            r#"{"state":{"status":"error"}}"#,
            r#"{"kind":"error"}"#,
        ] {
            for key in ["response", "output", "result"] {
                assert!(
                    !fails(&format!(r#"{{"functionResponse":{{"id":"c","{key}":{returned}}}}}"#)),
                    "{key}: {returned}"
                );
            }
        }
    }

    #[test]
    fn a_tool_that_returned_an_error_has_failed() {
        for returned in
            [r#"{"error":"no such file"}"#, r#"{"status":"error"}"#, r#"{"isError":true}"#, r#"{"exit_code":2}"#]
        {
            assert!(fails(&format!(r#"{{"functionResponse":{{"id":"c","response":{returned}}}}}"#)), "{returned}");
        }
        assert!(fails(r#"{"type":"tool-result","output":{"type":"error-text","value":"no"}}"#));
        assert!(fails(r#"{"type":"tool","state":{"status":"error","error":"no"}}"#));
        assert!(fails(r#"{"status":"FAILED"}"#));
        assert!(fails(r#"{"part_kind":"tool-return","tool_name":"look","content":"no","outcome":"retried"}"#));
    }

    #[test]
    fn an_empty_error_is_none() {
        for nothing in ["null", "false", "0", "\"\"", "\" \"", "\"none\"", "\"null\"", "{ }", "[ ]"] {
            assert!(!fails(&format!(r#"{{"response":{{"error":{nothing}}}}}"#)), "{nothing}");
        }
        for error in ["1", "true", "\"no\"", "{\"code\":1}", "[1]"] {
            assert!(fails(&format!(r#"{{"response":{{"error":{error}}}}}"#)), "{error}");
        }
    }

    #[test]
    fn a_block_tells_of_a_failure() {
        for block in [
            r#"{"type":"web_fetch_tool_result","content":{"type":"web_fetch_tool_result_error","error_code":"unavailable"}}"#,
            r#"{"type":"code_execution_tool_result","content":{"type":"code_execution_result","return_code":1}}"#,
            r#"{"type":"toolResponse","id":"c","toolResult":{"status":"success","value":{"content":[],"isError":true}}}"#,
            r#"{"type":"tool_result","tool":{"id":"c"},"content":{"error":"no"}}"#,
            r#"{"codeExecutionResult":{"outcome":"OUTCOME_FAILED","output":"no"}}"#,
        ] {
            assert!(fails(block), "{block}");
        }
        for block in [
            r#"{"type":"web_search_tool_result","content":[{"type":"web_search_result","title":"error"}]}"#,
            r#"{"type":"toolResponse","id":"c","toolResult":{"status":"success","value":{"content":[],"isError":false}}}"#,
            r#"{"role":"tool","tool_call_id":"c","content":"error"}"#,
        ] {
            assert!(!fails(block), "{block}");
        }
    }

    #[test]
    fn a_line_of_a_log_tells_of_a_failure() {
        for line in [
            r#"{"type":"message","message":{"role":"toolResult","isError":true}}"#,
            r#"{"type":"context.append_loop_event","event":{"type":"tool.result","result":{"output":"no","isError":true}}}"#,
            r#"{"type":"tool.execution_complete","data":{"success":false,"error":{"message":"no"}}}"#,
            r#"{"kind":"toolResult","data":{"status":"error"}}"#,
            r#"{"message":{"type":"ToolResult","payload":{"return_value":{"is_error":true,"output":"","message":"no"}}}}"#,
            r#"{"lc":1,"kwargs":{"status":"error","content":"no"}}"#,
            r#"{"type":"tool_call","tool_call":{"readToolCall":{"args":{},"result":{"error":{"errorMessage":"no"}}}}}"#,
        ] {
            assert!(fails(line), "{line}");
        }
    }
}
