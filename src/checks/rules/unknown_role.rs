//! An item whose role or type its format does not know.

use super::examples;
use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};

pub(super) static RULE: Rule = Rule {
    code: "S002",
    name: "unknown-role",
    group: Group::Shape,
    level: Level::Deny,
    summary: "A message has a role or a type that its format does not know.",
    why: "Providers refuse a role that they do not know, and a trainer that does not know it skips the message or the whole \
          example in silence. Agents like to append roles of their own, such as `exit`, to transcripts that otherwise could be \
          sent as they are. In the log of a session, where lines of many types are normal, the rule is silent.",
    help: "give the message a role that the format knows, or take it out",
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
    good: examples::ANSWER,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if context.provider_rules.log {
        return Vec::new();
    }
    let strange = context.non_messages.iter().filter(|stray| !stray.lacks_role());
    strange
        .filter_map(|stray| stray.unknown.as_ref().map(|role| (stray, role)))
        .map(|(stray, role)| {
            Match::new(Some(stray.value), format!("the format does not know the role or type `{role}`"))
        })
        .collect()
}
