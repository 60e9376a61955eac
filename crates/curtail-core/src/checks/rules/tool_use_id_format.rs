//! An id that the provider does not accept.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};

pub(super) static RULE: Rule = Rule {
    code: "S014",
    name: "tool-use-id-format",
    group: Group::Shape,
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
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
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
