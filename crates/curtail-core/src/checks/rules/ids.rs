//! The ids by which calls and results are paired.

use super::ANSWERED_CALL;
use crate::checks::{Detector, Level, Match, Rule, RuleContext};
use crate::transcript::FaultKind;

pub(super) static DUPLICATE_CALL_ID: Rule = Rule {
    code: "P004",
    name: "duplicate-call-id",
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
    detector: Detector::Transcript(duplicate_call_id),
};

fn duplicate_call_id<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let again = context.faults(FaultKind::DuplicateCallId).filter(|fault| !context.lacks_id(fault.at));
    context.match_faults(again, |call| format!("the call of {call} has the id of an earlier call"))
}

pub(super) static MISSING_ID: Rule = Rule {
    code: "P009",
    name: "missing-id",
    level: Level::Deny,
    summary: "A tool call or a tool result has no id.",
    why: "In a format that pairs calls and results by id, a call or a result without an id can only be paired by its \
          position, which no provider does. Formats that pair by position (Gemini, ShareGPT, the legacy \
          `function_call`) need no ids.",
    help: "give the call and its result the same id",
    answers: &[
        ("openai", "Missing required parameter: 'messages[N].tool_calls[M].id'."),
        ("responses", "Missing required parameter: 'input[N].call_id'."),
        ("anthropic", "messages.N.content.M.tool_use.id: Field required"),
    ],
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"tool","content":"rain"}
{"role":"assistant","content":"It is."}
"#,
    good: ANSWERED_CALL,
    detector: Detector::Transcript(missing_id),
};

fn missing_id<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let calls = context.pairs.calls().iter().map(|call| (*call, "call"));
    let parts = calls.chain(context.pairs.results().iter().map(|result| (*result, "result")));
    let nameless = parts.filter(|(at, _)| context.lacks_id(*at));
    nameless.map(|(at, kind)| context.match_at(at, format!("a tool {kind} has no id"))).collect()
}

pub(super) static TOOL_USE_ID_FORMAT: Rule = Rule {
    code: "S014",
    name: "tool-use-id-format",
    level: Level::Deny,
    summary: "The provider does not accept the id of a call.",
    why: "Bedrock accepts ids of 1 to 64 letters, digits, `_`, `.`, `:` and `-`; Anthropic accepts letters, digits, \
          `_` and `-`. Ids of another provider or a framework may contain other characters, and a converted transcript \
          then fails at its first call.",
    help: "change the id, in the call and in its result",
    answers: &[
        ("anthropic", "messages.N.content.M.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"),
        (
            "bedrock",
            "Value '…' at 'messages.N.member.content.M.member.toolUse.toolUseId' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.:-]+",
        ),
    ],
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"tool_use","id":"call 1|weather","name":"weather","input":{"city":"Oslo"}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"call 1|weather","content":"rain"}]}
{"role":"assistant","content":[{"type":"text","text":"It is."}]}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"tool_use","id":"call_1-weather","name":"weather","input":{"city":"Oslo"}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1-weather","content":"rain"}]}
{"role":"assistant","content":[{"type":"text","text":"It is."}]}
"#,
    detector: Detector::Transcript(tool_use_id_format),
};

fn tool_use_id_format<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let Some(format) = context.provider_rules.ids else { return Vec::new() };
    let ids = context.calls().filter_map(|(at, call)| call.id.as_ref().map(|id| (at, id.decode())));
    let wrong = ids.filter(|(at, id)| !context.lacks_id(*at) && !format.accepts(id));
    wrong
        .map(|(at, id)| {
            let long = if id.len() > format.longest {
                format!(", and at most {} characters", format.longest)
            } else {
                String::new()
            };
            let message =
                format!("the id `{id}` may contain only ASCII letters, digits and any of `{}`{long}", format.symbols);
            context.match_with(at, context.pairs.counterpart(at), message)
        })
        .collect()
}
