//! An item that does not say who speaks.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};

pub(super) static RULE: Rule = Rule {
    code: "S003",
    name: "missing-role",
    group: Group::Shape,
    level: Level::Deny,
    summary: "A message does not say who speaks.",
    why: "An item without a role, or without the type that stands for one, cannot be sent and cannot be learned from. It is often \
          a stray object that was appended to the wrong file.",
    help: "give the message a role, or take it out",
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
    let nameless = context.non_messages.iter().filter(|stray| stray.lacks_role());
    nameless.map(|stray| Match::new(Some(stray.value), String::from("the message does not say who speaks"))).collect()
}
