//! What a message contains.

use std::collections::HashSet;

use super::ANSWERED_CALL;
use crate::checks::{Detector, Level, Match, Rule, RuleContext};
use crate::dialects::media::{MediumFacts, media, size};
use crate::transcript::{ArgumentFault, Content, Message, PartRef, Role, Standing, ToolCall};

pub(super) static EMPTY_CONTENT: Rule = Rule {
    code: "S004",
    name: "empty-content",
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
    detector: Detector::Transcript(empty_content),
};

fn empty_content<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if !context.messages.iter().any(is_empty) {
        return Vec::new();
    }
    // A log can write one reply as several messages: the reply is empty only if all of them are.
    let speaking = context.messages.iter().filter(|message| !is_empty(message));
    let speaking: HashSet<_> = speaking.filter_map(Message::reply_key).collect();
    let is_sent = |message: &Message<'_>| message.standing != Standing::RolledBack;
    let is_silent = |message: &Message<'_>| {
        is_empty(message) && is_sent(message) && message.reply_key().is_none_or(|reply| !speaking.contains(&reply))
    };
    let empty = context.messages.iter().enumerate().filter(|(_, message)| is_silent(message));
    let text = |role: Role| {
        let article = if role == Role::Assistant { "an" } else { "a" };
        format!("{article} {} message has no content", role.name())
    };
    empty.map(|(at, message)| context.match_message(at, text(message.role))).collect()
}

fn is_empty(message: &Message<'_>) -> bool {
    let has_text = |content: &Content<'_>| !matches!(content, Content::Text(text) if text.is_blank());
    message.role != Role::Tool && !message.parts.iter().any(|part| has_text(&part.content))
}

pub(super) static INVALID_ARGUMENTS: Rule = Rule {
    code: "S005",
    name: "invalid-arguments",
    level: Level::Deny,
    summary: "The arguments of a call are not a JSON object.",
    why: "A model that is cut off in the middle of a call leaves incomplete JSON, and every program that reads the \
          arguments fails. A model that is trained on it learns to make malformed calls. Empty arguments are valid, \
          and tools that take raw text are exempt.",
    help: "drop the call with its result, or correct the arguments by hand; repair invents no arguments",
    answers: &[
        ("anthropic", "messages.N.content.M.tool_use.input: Input should be a valid dictionary"),
        (
            "bedrock",
            "The format of the value at messages.N.content.M.toolUse.input is invalid. Provide a json object for the field and try again.",
        ),
        (
            "gemini",
            "Invalid value at 'contents[N].parts[M].function_call.args' (type.googleapis.com/google.protobuf.Struct)",
        ),
    ],
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Os"}}]}
{"role":"tool","tool_call_id":"call_1","content":"error: unexpected end of input"}
{"role":"assistant","content":"I cannot tell."}
"#,
    good: ANSWERED_CALL,
    detector: Detector::Transcript(invalid_arguments),
};

fn invalid_arguments<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let wrong = |(at, call): (PartRef, &ToolCall<'a>)| {
        let fault = match call.argument_fault()? {
            ArgumentFault::NotAnObject => String::from("are JSON, but not an object"),
            ArgumentFault::NotJson(fault) => format!("are not JSON: {fault}"),
        };
        Some(context.match_at(at, format!("the arguments of {} {fault}", context.name_of(at))))
    };
    context.calls().filter_map(wrong).collect()
}

/// The most pixels of a side of an image.
const MAX_SIDE: usize = 8_000;
/// The same in a request with more than [`MANY_IMAGES`] images.
const MAX_SIDE_OF_MANY: usize = 2_000;
/// So many images may have the longer sides.
const MANY_IMAGES: usize = 20;
/// The most bytes of an image.
const MAX_IMAGE_BYTES: u64 = 5 << 20;

pub(super) static MEDIA_TOO_LARGE: Rule = Rule {
    code: "S017",
    name: "media-too-large",
    level: Level::Warn,
    summary: "An image has more pixels or bytes than providers accept.",
    why: "Anthropic and those that sell its models reject a request with an image above 5 MB, or with a side above 8,000 \
          pixels; above 2,000 pixels if the request has more than 20 images. A screenshot that was accepted alone is \
          rejected some requests later, when others have joined it, and then every further request of the session fails.",
    help: "remove large or old images: `curtail filter --max-media-pixels 2000 --keep-last-media 20`",
    answers: &[
        ("anthropic", "At least one of the image dimensions exceed max allowed size: 8000 pixels"),
        (
            "anthropic",
            "At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
        ),
        ("anthropic", "image exceeds 5 MB maximum"),
    ],
    flags: "",
    bad: r#"{"role":"user","content":[{"type":"text","text":"What is on the map?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAIygAAAu4CAIAAAA="}}]}
{"role":"assistant","content":[{"type":"text","text":"Two islands."}]}
"#,
    good: r#"{"role":"user","content":[{"type":"text","text":"What is on the map?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAABLAAAAPoCAIAAAA="}}]}
{"role":"assistant","content":[{"type":"text","text":"Two islands."}]}
"#,
    detector: Detector::Transcript(media_too_large),
};

fn media_too_large<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    // What a compaction replaced, or a person rolled back, is not sent again.
    let sent = context.parts().filter(|(at, _)| context.messages[at.message].standing.is_read());
    let facts = |(at, part)| media(part).into_iter().map(move |medium| (at, medium.facts()));
    let images = sent.flat_map(facts).filter(|(_, facts)| facts.kind == "image");
    let images: Vec<(PartRef, MediumFacts)> = images.collect();
    let side = if images.len() > MANY_IMAGES { MAX_SIDE_OF_MANY } else { MAX_SIDE };
    images.iter().filter_map(|(at, facts)| Some(context.match_at(*at, excess(facts, side)?))).collect()
}

/// What is too large.
fn excess(facts: &MediumFacts, side: usize) -> Option<String> {
    let [width, height] = facts.pixels.unwrap_or_default();
    if width.max(height) > side {
        return Some(format!("the image has {width}x{height} pixels, and a side may have {side}"));
    }
    let bytes = facts.bytes.filter(|bytes| *bytes > MAX_IMAGE_BYTES)?;
    Some(format!("the image has {}, and an image may have 5.2 MB", size(bytes)))
}
