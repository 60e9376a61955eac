//! A call or a result without the id that its format pairs by.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext, rules};
use crate::transcript::PartRef;

pub(super) static RULE: Rule = Rule {
    code: "P009",
    name: "missing-id",
    group: Group::Pairing,
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
    good: rules::ANSWERED_CALL,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let parts = [("call", context.pairs.calls()), ("result", context.pairs.results())];
    let lacking = |places: &[PartRef]| places.iter().copied().filter(|&at| context.lacks_id(at)).collect::<Vec<_>>();
    parts
        .into_iter()
        .flat_map(|(kind, places)| lacking(places).into_iter().map(move |at| (kind, at)))
        .map(|(kind, at)| context.match_at(at, format!("a tool {kind} has no id")))
        .collect()
}
