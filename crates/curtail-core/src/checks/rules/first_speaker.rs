//! A conversation that the wrong role begins.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};

pub(super) static RULE: Rule = Rule {
    code: "T002",
    name: "first-speaker",
    group: Group::Turn,
    level: Level::Warn,
    summary: "The conversation does not begin with a user message.",
    why: "Some formats require that a user message comes first, after the instructions. They reject a window that \
          begins with an answer. `curtail window --start-on user` begins at a user message.",
    help: "begin with a user message, for example with `curtail window --start-on user`",
    answers: &[
        ("anthropic", "messages: first message must use the \"user\" role"),
        ("bedrock", "A conversation must start with a user message."),
        (
            "gemini",
            "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        ),
        ("llama-factory", "Invalid role tag in …"),
    ],
    flags: "",
    bad: r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"weather","input":{"city":"Oslo"}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"rain"},{"type":"text","text":"So?"}]}
{"role":"assistant","content":[{"type":"text","text":"It is raining."}]}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"weather","input":{"city":"Oslo"}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"rain"},{"type":"text","text":"So?"}]}
{"role":"assistant","content":[{"type":"text","text":"It is raining."}]}
"#,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let Some(required) = context.provider_rules.first_speaker else { return Vec::new() };
    // Another rule reports a transcript without that role.
    let occurs = context.of_role(required).next().is_some();
    let first = context.dialogue().next().filter(|(_, message)| occurs && message.role != required);
    let text = |role: &str| format!("the conversation begins with the role `{role}`, not with `{}`", required.name());
    first.map(|(at, message)| context.match_message(at, text(message.role.name()))).into_iter().collect()
}
