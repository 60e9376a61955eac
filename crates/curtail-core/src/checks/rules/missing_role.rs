//! An item without a role.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};

pub(super) static RULE: Rule = Rule {
    code: "S003",
    name: "missing-role",
    group: Group::Shape,
    level: Level::Deny,
    summary: "A message has no role.",
    why: "An item without a role, or without the type that replaces it, cannot be sent and is useless for training. \
          Often it is an object that was appended to the wrong file.",
    help: "give the message a role, or remove it",
    answers: &[
        ("openai", "Missing required parameter: 'messages[N].role'."),
        ("anthropic", "messages.N.role: Field required"),
    ],
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"content":"It is."}
{"role":"assistant","content":"It is, and it will."}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"It is, and it will."}
"#,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if context.provider_rules.log {
        return Vec::new();
    }
    let nameless = context.non_messages.iter().filter(|item| item.lacks_role());
    nameless.map(|item| Match::new(Some(item.value), String::from("the message has no role"))).collect()
}
