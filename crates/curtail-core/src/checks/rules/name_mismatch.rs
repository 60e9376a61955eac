//! A result that names another tool than its call.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};

pub(super) static RULE: Rule = Rule {
    code: "S006",
    name: "name-mismatch",
    group: Group::Shape,
    level: Level::Warn,
    summary: "A tool result names another tool than its call.",
    why: "A result that repeats the name of its tool should repeat the name that was called. A difference points to a \
          renamed tool or to swapped results: the ids match, the content does not.",
    help: "give the call and the result the same tool name",
    answers: &[],
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"tool","tool_call_id":"call_1","name":"calendar","content":"rain"}
{"role":"assistant","content":"It is."}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"tool","tool_call_id":"call_1","name":"weather","content":"rain"}
{"role":"assistant","content":"It is."}
"#,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let mut matches = Vec::new();
    for (call, result) in context.pairs.pairs() {
        let called = context.part(call).content.call().map(|call| call.name.decode());
        let named =
            context.part(result).content.result().and_then(|result| result.name.as_ref()).map(|name| name.decode());
        if let (Some(called), Some(named)) = (called, named)
            && !called.is_empty()
            && !named.is_empty()
            && called != named
        {
            matches.push(context.match_with(
                result,
                Some(call),
                format!("a result of `{named}` answers a call of `{called}`"),
            ));
        }
    }
    matches
}
