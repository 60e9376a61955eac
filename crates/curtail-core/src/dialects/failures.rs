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

/// The same in what a tool returned: a tool that looked at a job which failed has not failed.
const RETURNED_OUTCOMES: &[&str] = &["status", "type"];
const RETURNED_FAILURES: &[&str] = &["error", "error-text", "error-json"];

/// Members with the exit code of a program.
const EXIT_CODES: &[&str] = &["exit_code", "exitCode", "returncode"];

/// Members that hold the outcome, if it is not in the result itself: the result in an item, or what is said beside it.
const HOLDERS: &[&str] = &[
    "message", "event", "data", "kwargs", "toolResult", "tool_call_result", "functionResponse", "function_response",
    "state", "metadata", "observation", "extras",
];

/// Members that hold what the tool returned.
const RETURNED: &[&str] = &["response", "output", "result"];

/// Whether `part` is a result that says, beside its text, that the tool failed.
///
/// A text may say so as well; what a text means is not decided here.
#[must_use]
pub fn reports_failure(part: &Part<'_>) -> bool {
    let is_result = matches!(part.content, Content::ToolResult(_));
    part.place().filter(|_| is_result).is_some_and(|place| tells_failure(place.element, false, 2))
}

/// Whether `value`, or what it holds down to a depth of `levels`, tells of a failure. A tool may have returned it.
fn tells_failure(value: Value<'_>, is_returned: bool, levels: u8) -> bool {
    let (outcomes, failures) = if is_returned { (RETURNED_OUTCOMES, RETURNED_FAILURES) } else { (OUTCOMES, FAILURES) };
    value.members().any(|member| {
        let is_named = |names: &[&str]| names.iter().any(|name| member.key.is(name));
        let inner = member.value;
        let holds = is_named(RETURNED) || !is_returned && is_named(HOLDERS);
        is_named(FLAGS) && inner.raw() == "true"
            || is_named(SUCCESSES) && inner.raw() == "false"
            || is_named(outcomes) && failures.iter().any(|failure| inner.is(failure))
            || is_named(EXIT_CODES) && inner.raw().parse::<i64>().is_ok_and(|code| code != 0)
            || member.key.is("error") && names_error(inner)
            || levels > 0 && holds && tells_failure(inner, is_returned || is_named(RETURNED), levels - 1)
    })
}

/// Whether the value of a member `error` is one: neither nothing nor the number of success.
fn names_error(error: Value<'_>) -> bool {
    if let Some(text) = error.text() {
        let text = text.decode();
        return !matches!(text.trim(), "" | "none" | "None");
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
        tells_failure(document.roots().next().unwrap(), false, 2)
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
    }

    #[test]
    fn an_empty_error_is_none() {
        for nothing in ["null", "false", "0", "\"\"", "\" \"", "\"none\"", "{ }", "[ ]"] {
            assert!(!fails(&format!(r#"{{"response":{{"error":{nothing}}}}}"#)), "{nothing}");
        }
        for error in ["1", "true", "\"no\"", "{\"code\":1}", "[1]"] {
            assert!(fails(&format!(r#"{{"response":{{"error":{error}}}}}"#)), "{error}");
        }
    }

    #[test]
    fn a_line_of_a_log_tells_of_a_failure() {
        for line in [
            r#"{"type":"message","message":{"role":"toolResult","isError":true}}"#,
            r#"{"type":"context.append_loop_event","event":{"type":"tool.result","result":{"output":"no","isError":true}}}"#,
            r#"{"type":"tool.execution_complete","data":{"success":false,"error":{"message":"no"}}}"#,
            r#"{"kind":"toolResult","data":{"status":"error"}}"#,
            r#"{"lc":1,"kwargs":{"status":"error","content":"no"}}"#,
        ] {
            assert!(fails(line), "{line}");
        }
    }
}
