//! A call whose id another call already has.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};
use crate::transcript::FaultKind;

pub(super) static RULE: Rule = Rule {
    code: "P004",
    name: "duplicate-call-id",
    group: Group::Pairing,
    level: Level::Deny,
    summary: "A tool call has the id of another call.",
    why: "An open call needs an id that no other open call has, or its result cannot be assigned. Some formats require \
          ids that are unique in the whole transcript: there, an id must not be reused even after its call was \
          answered.\n\n\
          In all other formats an id may be reused for a new call once the earlier call was answered.",
    help: "give each call its own id, or drop the duplicate: `--fix` drops it",
    answers: &[
        ("anthropic", "messages.N.content.M: `tool_use` ids must be unique"),
        ("openai", "Duplicate value for 'tool_call_id' of call_… in message[N]."),
    ],
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo or in Rome?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}},{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Rome\"}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"rain"}
{"role":"tool","tool_call_id":"call_1","content":"sun"}
{"role":"assistant","content":"In Oslo, I think."}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo or in Rome?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}},{"id":"call_2","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Rome\"}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"rain"}
{"role":"tool","tool_call_id":"call_2","content":"sun"}
{"role":"assistant","content":"In Oslo."}
"#,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let faults = context.faults(FaultKind::DuplicateCallId).filter(|fault| !context.lacks_id(fault.at));
    let message = |at| format!("the call of {} has the id of an earlier call", context.name_of(at));
    faults.map(|fault| context.match_with(fault.at, fault.other, message(fault.at))).collect()
}
