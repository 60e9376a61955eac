//! A message without content.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};
use crate::transcript::{Content, Message, Role, Standing};

pub(super) static RULE: Rule = Rule {
    code: "S004",
    name: "empty-content",
    group: Group::Shape,
    level: Level::Warn,
    summary: "A message has no content.",
    why: "A message without content, or with nothing but white space, comes from a reply that was cut off or from a \
          filter that removed everything. Anthropic and Bedrock reject it. Others accept it, and a model that is \
          trained on it learns to answer with nothing. A reply that only calls tools is not empty, and tool results \
          may be empty.",
    help: "drop the message, or give it content",
    answers: &[
        ("anthropic", "messages: text content blocks must be non-empty"),
        (
            "bedrock",
            "The text field in the ContentBlock object at messages.N.content.M is blank. Add text to the text field, and try again.",
        ),
        ("gemini", "Unable to submit request because it must have a text parameter."),
    ],
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"It is."}
{"role":"user","content":" \n"}
{"role":"assistant","content":"Pardon?"}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"It is."}
{"role":"user","content":"Thanks."}
{"role":"assistant","content":"You are welcome."}
"#,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if !context.messages.iter().any(is_empty) {
        return Vec::new();
    }
    // A log can write one reply as several messages: the reply is empty only if all of them are.
    let speaking = context.messages.iter().filter(|message| !is_empty(message)).filter_map(reply);
    let speaking: HashSet<_> = speaking.collect();
    let is_sent = |message: &Message<'_>| message.standing != Standing::RolledBack;
    let is_silent = |message: &Message<'_>| {
        is_empty(message) && is_sent(message) && reply(message).is_none_or(|reply| !speaking.contains(&reply))
    };
    let empty = context.messages.iter().enumerate().filter(|(_, message)| is_silent(message));
    empty.map(|(at, message)| context.match_message(at, describe(message.role))).collect()
}

/// The reply that a message belongs to, by thread, role and id.
fn reply<'m>(message: &'m Message<'_>) -> Option<(u32, Role, Cow<'m, str>)> {
    message.id.as_ref().map(|id| (message.thread, message.role, id.decode()))
}

fn describe(role: Role) -> String {
    let article = if role == Role::Assistant { "an" } else { "a" };
    format!("{article} {} message has no content", role.name())
}

fn is_empty(message: &Message<'_>) -> bool {
    let says = |content: &Content<'_>| !matches!(content, Content::Text(text) if text.is_blank());
    message.role != Role::Tool && !message.parts.iter().any(|part| says(&part.content))
}
