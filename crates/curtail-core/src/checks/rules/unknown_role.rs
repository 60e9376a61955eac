//! An item whose role or type its format does not define.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext, rules};

pub(super) static RULE: Rule = Rule {
    code: "S002",
    name: "unknown-role",
    group: Group::Shape,
    level: Level::Deny,
    summary: "A message has a role or a type that its format does not define.",
    why: "Providers reject unknown roles. A trainer skips the message, or the whole example, without a warning. Some \
          agents append their own roles, such as `exit`, to transcripts that could otherwise be sent as they are. The \
          rule does not apply to session logs, where many line types are normal.",
    help: "give the message a role that the format defines, or remove it",
    answers: &[
        (
            "openai",
            "Invalid value: '…'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
        ),
        ("responses", "Invalid value: '…'. Supported values are: 'assistant', 'system', 'developer', and 'user'."),
        ("anthropic", "messages.N.role: Input should be 'user' or 'assistant'"),
        ("gemini", "Please use a valid role: user, model."),
        ("llama-factory", "Invalid role tag in …"),
    ],
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"It is."}
{"role":"exit","content":"done"}
"#,
    good: rules::ANSWER,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if context.provider_rules.log {
        return Vec::new();
    }
    let unknown = context.non_messages.iter().filter(|item| !item.lacks_role());
    unknown
        .filter_map(|item| item.unknown.as_ref().map(|role| (item, role)))
        .map(|(item, role)| {
            Match::new(Some(item.value), format!("the format does not define the role or type `{role}`"))
        })
        .collect()
}
