//! A call whose arguments are not a JSON object.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext, rules};
use crate::transcript::{ArgumentFault, ToolCall};

pub(super) static RULE: Rule = Rule {
    code: "S005",
    name: "invalid-arguments",
    group: Group::Shape,
    level: Level::Deny,
    summary: "The arguments of a call are not a JSON object.",
    why: "A model that is cut off in the middle of a call leaves incomplete JSON, and every program that reads the \
          arguments fails. A model that is trained on it learns to make malformed calls. Empty arguments are valid, \
          and tools that take raw text are exempt.",
    help: "drop the call with its result, or correct the arguments by hand; repair invents no arguments",
    answers: &[
        ("anthropic", "messages.N.content.M.tool_use.input: Input should be a valid dictionary"),
        (
            "bedrock",
            "The format of the value at messages.N.content.M.toolUse.input is invalid. Provide a json object for the field and try again.",
        ),
        (
            "gemini",
            "Invalid value at 'contents[N].parts[M].function_call.args' (type.googleapis.com/google.protobuf.Struct)",
        ),
    ],
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Os"}}]}
{"role":"tool","tool_call_id":"call_1","content":"error: unexpected end of input"}
{"role":"assistant","content":"I cannot tell."}
"#,
    good: rules::ANSWERED_CALL,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let faulty = context.calls().filter_map(|(at, call)| what_is_wrong(call).map(|wrong| (at, wrong)));
    faulty
        .map(|(at, wrong)| context.match_at(at, format!("the arguments of {} {wrong}", context.name_of(at))))
        .collect()
}

fn what_is_wrong(call: &ToolCall<'_>) -> Option<String> {
    Some(match call.argument_fault()? {
        ArgumentFault::NotAnObject => String::from("are JSON, but not an object"),
        ArgumentFault::NotJson(fault) => format!("are not JSON: {fault}"),
    })
}
