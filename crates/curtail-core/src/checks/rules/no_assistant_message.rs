//! A transcript without an assistant message.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};
use crate::json::Value;
use crate::transcript::{Message, Role};

pub(super) static RULE: Rule = Rule {
    code: "D001",
    name: "no-assistant-message",
    group: Group::Dataset,
    level: Level::Warn,
    summary: "The transcript has no assistant message.",
    why: "A training example without a reply teaches nothing, and fine-tuning services reject it. A session that was \
          saved before its first answer looks the same and is not broken. A row with nothing but a `prompt` is meant to \
          have no reply, because the model writes one while it is trained: it has no finding.",
    help: "drop the transcript from the dataset",
    answers: &[("openai", "Example N is missing an assistant message")],
    flags: "",
    bad: r#"{"messages":[{"role":"system","content":"Answer in one sentence."},{"role":"user","content":"Is it raining in Oslo?"}]}
"#,
    good: r#"{"messages":[{"role":"system","content":"Answer in one sentence."},{"role":"user","content":"Is it raining in Oslo?"},{"role":"assistant","content":"It is."}]}
"#,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let replies = context.of_role(Role::Assistant).next().is_some()
        || context.calls().next().is_some()
        || context.messages.iter().any(Message::is_exchange);
    // Of items that no format defines, `nothing-read` has a finding.
    let is_unknown = || context.non_messages.iter().any(|item| item.unknown.is_some());
    match (replies, context.messages.is_empty()) {
        (true, _) => Vec::new(),
        (false, false) if asks_only(context) => Vec::new(),
        (false, false) => vec![context.match_all("the transcript has no assistant message")],
        (false, true) if is_unknown() => Vec::new(),
        (false, true) => vec![context.match_all("the transcript has no message")],
    }
}

/// Whether the transcript is the `prompt` of a row without an answer.
fn asks_only(context: &RuleContext<'_, '_>) -> bool {
    let list = context.messages.first().and_then(Message::value).and_then(Value::parent);
    let record = list.and_then(Value::parent);
    record.zip(list).is_some_and(|(record, list)| {
        record.get("prompt") == Some(list) && record.get("completion").is_none() && record.get("chosen").is_none()
    })
}
