//! Reasoning whose call or message is missing.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};
use crate::transcript::{Content, Message};

pub(super) static RULE: Rule = Rule {
    code: "S008",
    name: "reasoning-without-call",
    group: Group::Shape,
    level: Level::Deny,
    summary: "A reasoning item is not followed by the item that it produced.",
    why: "The Responses API ties a reasoning item to the call or the message that it produced. If a filter drops the \
          call and keeps the reasoning, the request fails. At the end of a transcript, and in a session log, the \
          finding is a warning. With `--stateful` the rule ignores the end of a transcript, because the provider may \
          store what follows.",
    help: "drop the reasoning, or put back the item that it produced",
    answers: &[("responses", "Item 'rs_…' of type 'reasoning' was provided without its required following item.")],
    flags: "",
    bad: r#"{"type":"message","role":"user","content":"Is it raining in Oslo?"}
{"type":"reasoning","id":"rs_1","summary":[]}
{"type":"message","role":"user","content":"Hello?"}
{"type":"message","role":"assistant","content":"It is."}
"#,
    good: r#"{"type":"message","role":"user","content":"Is it raining in Oslo?"}
{"type":"reasoning","id":"rs_1","summary":[]}
{"type":"message","role":"assistant","content":"It is."}
"#,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if !context.provider_rules.server_state {
        return Vec::new();
    }
    let last = context.messages.len().saturating_sub(1);
    let loose = context.messages.iter().enumerate().filter(|(_, message)| is_thought(message) && !message.is_bound());
    let loose = loose.filter(|(at, _)| *at < last || !context.stateful);
    let found = |at| Match {
        only_warns: at == last || context.provider_rules.log,
        ..context.match_message(at, "the reasoning is not followed by the item that it produced")
    };
    loose.map(|(at, _)| found(at)).collect()
}

/// Whether a message contains only reasoning.
pub(super) fn is_thought(message: &Message<'_>) -> bool {
    !message.parts.is_empty() && message.parts.iter().all(|part| matches!(part.content, Content::Reasoning(_)))
}
