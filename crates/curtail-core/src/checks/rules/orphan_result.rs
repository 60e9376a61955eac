//! A result without an earlier call.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext, rules};
use crate::transcript::FaultKind;

pub(super) static RULE: Rule = Rule {
    code: "P001",
    name: "orphan-result",
    group: Group::Pairing,
    level: Level::Deny,
    summary: "A tool result answers no earlier call.",
    why: "A result belongs to the closest earlier open call with its id. If there is none, a window was cut between \
          call and result, or the id was changed on one side only. Providers reject the whole transcript. A session \
          with an orphan result stays broken, because every later request repeats it.\n\n\
          The result of a tool that the provider runs needs its call too, in the same message. With \
          `--stateful`, a result may answer a call that the provider stores, and the rule does not apply to formats \
          that allow this.",
    help: "put its call back before the result, or drop the result: `--fix` drops it",
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
        ("gemini", "Please ensure that function response turn comes immediately after a function call turn."),
        (
            "bedrock",
            "The number of toolResult blocks at messages.N.content exceeds the number of toolUse blocks of previous turn.",
        ),
    ],
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"tool","tool_call_id":"call_1","content":"rain"}
{"role":"assistant","content":"It is."}
"#,
    good: rules::ANSWERED_CALL,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if context.stateful && context.provider_rules.server_state {
        return Vec::new();
    }
    let faults = context.faults(FaultKind::OrphanResult).map(|fault| fault.at);
    let miscounted = context.miscounted_messages();
    let faults = faults.filter(|at| !context.lacks_id(*at) && !miscounted.contains(&at.message));
    faults
        .map(|at| context.match_at(at, format!("the result of {} answers no earlier call", context.name_of(at))))
        .collect()
}
