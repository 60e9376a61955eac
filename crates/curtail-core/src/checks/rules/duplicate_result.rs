//! A second result for one call.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext, rules};
use crate::transcript::FaultKind;

pub(super) static RULE: Rule = Rule {
    code: "P005",
    name: "duplicate-result",
    group: Group::Pairing,
    level: Level::Deny,
    summary: "A tool call has two results.",
    why: "A second result for an answered call comes from a retry, or from a resumed session that wrote its last \
          messages again. Providers reject it. Repair keeps the first result, because the rest of the conversation \
          builds on it.",
    help: "drop the second result: `--fix` does this",
    answers: &[
        ("anthropic", "each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_…"),
        (
            "openai",
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        ),
        (
            "bedrock",
            "The number of toolResult blocks at messages.N.content exceeds the number of toolUse blocks of previous turn.",
        ),
    ],
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"rain"}
{"role":"tool","tool_call_id":"call_1","content":"rain, still"}
{"role":"assistant","content":"It is."}
"#,
    good: rules::ANSWERED_CALL,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let faults = context.faults(FaultKind::DuplicateResult).filter(|fault| !context.lacks_id(fault.at));
    let first = |call| context.pairs.counterpart(call);
    let message = |at| format!("the call of {} already has a result", context.name_of(at));
    faults
        .map(|fault| context.match_with(fault.at, fault.other.and_then(first).or(fault.other), message(fault.at)))
        .collect()
}
