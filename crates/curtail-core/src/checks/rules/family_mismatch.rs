//! A result of another kind than the call with its id.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};
use crate::transcript::FaultKind;

pub(super) static RULE: Rule = Rule {
    code: "P008",
    name: "family-mismatch",
    group: Group::Pairing,
    level: Level::Deny,
    summary: "A tool result is of another kind than the call with the same id.",
    why: "Each kind of call has its own kind of result: only a `custom_tool_call_output` answers a `custom_tool_call`. \
          No provider accepts a result of the wrong kind, even if the ids are equal.",
    help: "answer the call with its own kind of result",
    answers: &[
        ("responses", "No tool output found for custom tool call call_…."),
        (
            "anthropic",
            "messages.N.content.M: unexpected `tool_use_id` found in `advisor_tool_result` blocks: srvtoolu_…. Each `advisor_tool_result` block must have a corresponding `server_tool_use` block before it.",
        ),
    ],
    flags: "",
    bad: r#"{"type":"message","role":"user","content":"Is it raining in Oslo?"}
{"type":"custom_tool_call","call_id":"call_1","name":"weather","input":"Oslo"}
{"type":"function_call_output","call_id":"call_1","output":"rain"}
{"type":"message","role":"assistant","content":"It is."}
"#,
    good: r#"{"type":"message","role":"user","content":"Is it raining in Oslo?"}
{"type":"custom_tool_call","call_id":"call_1","name":"weather","input":"Oslo"}
{"type":"custom_tool_call_output","call_id":"call_1","output":"rain"}
{"type":"message","role":"assistant","content":"It is."}
"#,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let message =
        |at| format!("the result of {} is of another kind than the call with the same id", context.name_of(at));
    context
        .faults(FaultKind::FamilyMismatch)
        .map(|fault| context.match_with(fault.at, fault.other, message(fault.at)))
        .collect()
}
