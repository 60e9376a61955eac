//! Instructions in the middle of a conversation.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};
use crate::transcript::Role;

pub(super) static RULE: Rule = Rule {
    code: "T005",
    name: "system-not-first",
    group: Group::Turn,
    level: Level::Warn,
    summary: "A system message comes after the beginning.",
    why: "Many chat templates accept one block of instructions at the beginning and fail on any other; so do some \
          providers. Merged transcripts, and wrongly cut ones, have instructions in the middle. Anthropic's API accepts them \
          there, so its messages are not examined.",
    help: "move the instructions to the beginning",
    answers: &[("mistral", "Unexpected role 'system' after role 'user'")],
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"system","content":"Answer in one sentence."}
{"role":"assistant","content":"It is."}
"#,
    good: r#"{"role":"system","content":"Answer in one sentence."}
{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"It is."}
"#,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if context.provider_rules.system_anywhere {
        return Vec::new();
    }
    let Some((begun, _)) = context.dialogue().next() else { return Vec::new() };
    let late = context.of_role(Role::System).filter(|(at, _)| *at > begun);
    late.map(|(at, _)| context.match_message(at, "a system message comes after the beginning")).collect()
}
