//! A transcript whose last message is from the assistant.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext, rules};
use crate::transcript::Role;

pub(super) static RULE: Rule = Rule {
    code: "T004",
    name: "ends-with-assistant",
    group: Group::Turn,
    level: Level::Allow,
    summary: "The last message is from the assistant.",
    why: "A finished conversation ends with an answer, and so does a training example: the rule is off by default. \
          Turn it on for transcripts that will be sent as they are, because newer models accept no answer that has \
          already begun.",
    help: "end with a user message or a tool result",
    answers: &[(
        "anthropic",
        "This model does not support assistant message prefill. The conversation must end with a user message.",
    )],
    flags: "-W ends-with-assistant",
    bad: rules::ANSWER,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"It is."}
{"role":"user","content":"And in Rome?"}
"#,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let last = context.dialogue().last().filter(|(_, message)| message.role == Role::Assistant);
    let done = last.filter(|(_, message)| message.calls().next().is_none());
    done.map(|(at, _)| context.match_message(at, "the last message is from the assistant")).into_iter().collect()
}
