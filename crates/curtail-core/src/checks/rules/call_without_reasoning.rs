//! A stored call whose reasoning is missing.

use super::reasoning_without_call::is_thought;
use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};
use crate::transcript::Role;

pub(super) static RULE: Rule = Rule {
    code: "S009",
    name: "call-without-reasoning",
    group: Group::Shape,
    level: Level::Warn,
    summary: "A stored call has lost the reasoning that produced it.",
    why: "When a reasoning model calls a tool, the Responses API requires the reasoning item together with the call, \
          as long as the call carries the id under which it was stored. A transcript does not show this with \
          certainty: the rule warns if the transcript has reasoning elsewhere and a reply that calls a tool has none.",
    help: "put the reasoning back before the call, or remove the call's own `id` (not its `call_id`)",
    answers: &[(
        "responses",
        "Item 'fc_…' of type 'function_call' was provided without its required 'reasoning' item: 'rs_…'.",
    )],
    flags: "",
    bad: r#"{"type":"message","role":"user","content":"Is it raining in Oslo?"}
{"type":"function_call","id":"fc_1","call_id":"call_1","name":"weather","arguments":"{\"city\":\"Oslo\"}"}
{"type":"function_call_output","call_id":"call_1","output":"rain"}
{"type":"reasoning","id":"rs_2","summary":[]}
{"type":"message","role":"assistant","content":"It is."}
"#,
    good: r#"{"type":"message","role":"user","content":"Is it raining in Oslo?"}
{"type":"reasoning","id":"rs_1","summary":[]}
{"type":"function_call","id":"fc_1","call_id":"call_1","name":"weather","arguments":"{\"city\":\"Oslo\"}"}
{"type":"function_call_output","call_id":"call_1","output":"rain"}
{"type":"reasoning","id":"rs_2","summary":[]}
{"type":"message","role":"assistant","content":"It is."}
"#,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if !context.provider_rules.server_state || !context.messages.iter().any(is_thought) {
        return Vec::new();
    }
    let (mut matches, mut thought) = (Vec::new(), false);
    for (at, message) in context.messages.iter().enumerate() {
        // Consecutive items of the assistant are one reply.
        thought = message.role == Role::Assistant && (thought || is_thought(message));
        let stored = message.id.is_some() && message.calls().any(|(_, call)| !call.hosted);
        if stored && !thought {
            matches
                .push(context.match_message(at, "the call has its own `id`, but the reasoning before it is missing"));
        }
    }
    matches
}
