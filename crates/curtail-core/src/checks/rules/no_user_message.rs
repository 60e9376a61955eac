//! A transcript without a user message.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};
use crate::transcript::Role;

pub(super) static RULE: Rule = Rule {
    code: "T001",
    name: "no-user-message",
    group: Group::Turn,
    level: Level::Warn,
    summary: "The transcript has no user message.",
    why: "A transcript without a user message is usually a part that was cut out of a conversation. Some providers and \
          chat templates reject it. Tool results alone are not a user message, even in a message with the role `user`.",
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
        vec![context.match_all("the transcript has no user message")]
    }
}
