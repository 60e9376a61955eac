//! A reply that contains only thinking.

use super::reasoning_without_call::is_thought;
use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};
use crate::transcript::{Content, Message, Role};

pub(super) static RULE: Rule = Rule {
    code: "S010",
    name: "thinking-only-message",
    group: Group::Shape,
    level: Level::Deny,
    summary: "A reply contains thinking and nothing else.",
    why: "A reply that was interrupted after its thinking, or lost its only call to a filter, ends with a thinking \
          block, which Anthropic rejects. Consecutive records are one reply, because session logs split replies. At \
          the end of a transcript the finding is a warning, because the rest may follow. In a session log it is a \
          warning too: the program that wrote the log leaves such replies out of its requests.",
    help: "drop the message, or put back its content",
    answers: &[("anthropic", "messages.N: The final block in an assistant message cannot be `thinking`.")],
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"thinking","thinking":"Rain, then.","signature":"c2lnbmVk"}]}
{"role":"user","content":"Hello?"}
{"role":"assistant","content":[{"type":"text","text":"It is."}]}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"thinking","thinking":"Rain, then.","signature":"c2lnbmVk"},{"type":"text","text":"It is."}]}
"#,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if context.provider_rules.signatures.is_empty() {
        return Vec::new();
    }
    let mut matches = Vec::new();
    let only_thinks = |message: &Message<'_>| {
        message.parts.iter().all(|part| match &part.content {
            Content::Text(text) => text.is_blank(),
            content => matches!(content, Content::Reasoning(_)),
        })
    };
    // Conversations in a log interleave: a reply consists of consecutive messages of one thread.
    for thread in threads(context) {
        let mut rest = &thread[..];
        while let Some(start) = rest.iter().position(|&at| context.messages[at].role == Role::Assistant) {
            rest = &rest[start..];
            let end = rest.iter().position(|&at| context.messages[at].role != Role::Assistant).unwrap_or(rest.len());
            let reply = &rest[..end];
            rest = &rest[end..];
            if reply.iter().all(|&at| only_thinks(&context.messages[at]))
                && reply.iter().any(|&at| is_thought(&context.messages[at]))
            {
                let found = context.match_message(reply[0], "the reply contains thinking and nothing else");
                matches.push(Match { only_warns: rest.is_empty() || context.provider_rules.log, ..found });
            }
        }
    }
    matches
}

fn threads(context: &RuleContext<'_, '_>) -> Vec<Vec<usize>> {
    let mut threads: std::collections::BTreeMap<u32, Vec<usize>> = std::collections::BTreeMap::new();
    for (at, message) in context.messages.iter().enumerate() {
        threads.entry(message.thread).or_default().push(at);
    }
    threads.into_values().collect()
}
