//! A message that says nothing.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};
use crate::transcript::{Content, Message, Role};

pub(super) static RULE: Rule = Rule {
    code: "S004",
    name: "empty-content",
    group: Group::Shape,
    level: Level::Warn,
    summary: "A message says nothing.",
    why: "A message of white space alone, or of no content at all, comes from a reply that was cut off or from a filter that took \
          everything out. Anthropic and Bedrock refuse it; others accept it, and a model that is trained on it learns to say \
          nothing. A reply that only calls tools says enough, and so does an empty tool result.",
    help: "drop the message, or say something",
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
    let empty = context.messages.iter().enumerate().filter(|(_, message)| is_empty(message));
    empty
        .map(|(at, message)| context.match_message(at, format!("a {} message says nothing", message.role.name())))
        .collect()
}

fn is_empty(message: &Message<'_>) -> bool {
    let says = |content: &Content<'_>| !matches!(content, Content::Text(text) if text.is_blank());
    message.role != Role::Tool && !message.parts.iter().any(|part| says(&part.content))
}
