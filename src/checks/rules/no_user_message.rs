//! A transcript in which no user speaks.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};
use crate::transcript::Role;

pub(super) static RULE: Rule = Rule {
    code: "T001",
    name: "no-user-message",
    group: Group::Turn,
    level: Level::Warn,
    summary: "No user speaks.",
    why: "A conversation is an answer to somebody. A transcript without a user message is a piece that was cut out of one, and some \
          providers and chat templates refuse it. Tool results alone do not count, even where they stand in user messages.",
    help: "keep at least one user message, for example with `curtail window`",
    answers: &[("anthropic", "messages: at least one message is required"), ("gemini", "contents are required")],
    flags: "",
    bad: r#"{"role":"system","content":"Answer in one sentence."}
{"role":"assistant","content":"It is raining in Oslo."}
"#,
    good: r#"{"role":"system","content":"Answer in one sentence."}
{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"It is raining in Oslo."}
"#,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let asks = context.of_role(Role::User).any(|(_, message)| message.parts.iter().any(|part| !part.content.is_tool()));
    if asks || context.messages.is_empty() {
        Vec::new()
    } else {
        vec![context.match_all("no user speaks in this transcript")]
    }
}
