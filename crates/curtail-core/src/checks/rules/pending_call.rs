//! A call without a result at the end of the transcript.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};
use crate::transcript::FaultKind;

pub(super) static RULE: Rule = Rule {
    code: "P003",
    name: "pending-call",
    group: Group::Pairing,
    level: Level::Warn,
    summary: "A tool call at the end of the transcript has no result yet.",
    why: "A transcript that is saved while a tool runs ends with an open call. The session is in the middle of a round \
          and nothing is broken: the result may still arrive. A provider would reject the transcript as it is, and as \
          a training example it ends before the result.",
    help: "add the result, or repair with `--fix --repair-pending`",
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
        ("ai-sdk", "AI_MissingToolResultsError"),
    ],
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"rain"}
"#,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let explained = context.explained_calls();
    let faults = context.faults(FaultKind::PendingCall).map(|fault| fault.at);
    let faults = faults.filter(|at| !context.lacks_id(*at) && !explained.contains(at));
    faults.map(|at| context.match_at(at, format!("the call of {} has no result yet", context.name_of(at)))).collect()
}
