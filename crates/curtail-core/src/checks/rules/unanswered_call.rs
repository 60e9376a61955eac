//! A call that other messages follow, but no result.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};
use crate::transcript::FaultKind;

pub(super) static RULE: Rule = Rule {
    code: "P002",
    name: "unanswered-call",
    group: Group::Pairing,
    level: Level::Deny,
    summary: "A tool call has no result, although the conversation continues.",
    why: "Every call needs a result before another message follows. Calls stay unanswered when a tool is interrupted, \
          when a session is compacted while the tool runs, or when a filter removes the result. Providers reject the \
          transcript, and a model that is trained on it learns not to wait for results.\n\n\
          A call that the provider runs itself carries its result and needs no other. A call at the very end is \
          [pending-call](pending-call.md).",
    help: "drop the call, or answer it: `--fix=stub` adds a result that says it was interrupted",
    answers: &[
        (
            "openai",
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_…",
        ),
        ("responses", "No tool output found for function call call_…."),
        (
            "anthropic",
            "messages.N: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_…. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
        ),
        (
            "gemini",
            "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
        ),
        ("bedrock", "Expected toolResult blocks at messages.N.content for the following Ids: tooluse_…"),
        ("ai-sdk", "AI_MissingToolResultsError"),
        ("mistral", "Not the same number of function calls and responses"),
    ],
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"user","content":"Hello?"}
{"role":"assistant","content":"Sorry, I was away."}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"[interrupted: this tool call was never answered]"}
{"role":"user","content":"Hello?"}
{"role":"assistant","content":"Sorry, I was away."}
"#,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let faults = context.faults(FaultKind::UnansweredCall).map(|fault| fault.at);
    let (miscounted, explained) = (context.miscounted_messages(), context.explained_calls());
    let faults =
        faults.filter(|at| !context.lacks_id(*at) && !miscounted.contains(&at.message) && !explained.contains(at));
    faults.map(|at| context.match_at(at, format!("the call of {} has no result", context.name_of(at)))).collect()
}
