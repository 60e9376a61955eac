//! A result that comes before its call.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext, rules};
use crate::transcript::FaultKind;

pub(super) static RULE: Rule = Rule {
    code: "P006",
    name: "result-before-call",
    group: Group::Pairing,
    level: Level::Deny,
    summary: "A tool result comes before the call that it answers.",
    why: "Messages were sorted by a clock that was set back, or merged from two logs in the wrong order. Calls and \
          results are paired forward only: the result answers nothing, and the call has no result.",
    help: "put the call before its result: `--fix` moves the result behind its call",
    answers: &[
        (
            "openai",
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        ),
        ("responses", "No tool call found for function call output with call_id call_…."),
        (
            "anthropic",
            "messages.N.content.M: unexpected `tool_use_id` found in `tool_result` blocks: toolu_…. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
        ),
    ],
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"tool","tool_call_id":"call_1","content":"rain"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"assistant","content":"It is."}
"#,
    good: rules::ANSWERED_CALL,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let message = |at| format!("the result of {} comes before its call", context.name_of(at));
    context
        .faults(FaultKind::ResultBeforeCall)
        .map(|fault| context.match_with(fault.at, fault.other, message(fault.at)))
        .collect()
}
