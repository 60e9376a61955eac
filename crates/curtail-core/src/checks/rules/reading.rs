//! What cannot be read, or not in one way only: text that is not JSON, and keys, items and parts that the format does not define
//! or a record has twice.

use super::{ANSWER, RULE};
use crate::checks::constraints::names;
use crate::checks::{Detector, Fix, Level, Match, Rule, RuleContext};
use crate::json::{Member, Value, own_repeated_members, repeated_members};
use crate::transcript::{Content, Unread};

pub(super) static INVALID_JSON: Rule = Rule {
    code: "S001",
    name: "invalid-json",
    summary: "A line or a document is not JSON.",
    why: "An interrupted write, a trailing comma, a `NaN`: one program reads what the grammar of RFC 8259 does not \
          allow, the next rejects it. The rest of the file is checked. Two records on one line are a warning: some \
          programs read both, and others stop there.",
    help: "correct the line by hand, or leave it out with `curtail repair --damaged`; curtail does not guess",
    command: "curtail repair --damaged --in-place FILE",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"Let me look
{"role":"assistant","content":"It is."}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"Let me look."}
{"role":"assistant","content":"It is."}
"#,
    detector: Detector::Text,
    ..RULE
};

pub(super) static DUPLICATE_KEY: Rule = Rule {
    code: "S007",
    name: "duplicate-key",
    summary: "A message, an object in it or the record around it has the same key twice.",
    why: "RFC 8259 does not define what an object with a repeated key means. Most parsers take the last value, some \
          the first, and some reject the object, so that two programs read two different transcripts. Repeated keys \
          come from logs that were assembled by hand.",
    help: "keep the intended member",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"It is.","content":"It is not."}
"#,
    good: ANSWER,
    detector: Detector::Transcript(duplicate_key),
    ..RULE
};

fn duplicate_key<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let messages = context.items().map(|(at, item)| (Some(at), item));
    let non_messages = context.non_messages.iter().map(|item| (None, item.value));
    let inside = messages
        .chain(non_messages)
        .flat_map(|(message, item)| repeated_members(item).into_iter().map(move |again| match_again(message, &again)));
    let around = records(context).flat_map(own_repeated_members).map(|again| match_again(None, &again));
    around.chain(inside).collect()
}

/// The object that contains the messages, and the objects around it, up to the record.
fn records<'a>(context: &RuleContext<'_, 'a>) -> impl Iterator<Item = Value<'a>> {
    std::iter::successors(context.record, |object| object.parent().filter(|parent| parent.is_object()))
}

fn match_again<'a>(message_index: Option<usize>, again: &Member<'a>) -> Match<'a> {
    let text = format!("the object already has the key `{}`", again.key.decode());
    Match { message_index, ..Match::new(Some(again.value), text) }
}

pub(super) static NOTHING_READ: Rule = Rule {
    code: "S015",
    name: "nothing-read",
    summary: "Nothing in the transcript is of a type that its format defines.",
    why: "No item is a message, or every part of every message has an unknown type. Other rules then find nothing, and \
          tokens are only estimated. Usually the dialect was chosen wrongly, or nobody has described the format yet.",
    help: "choose the dialect with --dialect NAME, or describe the format with --dialect-file; `curtail show` prints how \
           the file is read",
    bad: r#"{"role":"user","parts":[{"type":"sonar","ping":[1,2]}]}
{"role":"assistant","parts":[{"type":"sonar","ping":[3]}]}
"#,
    good: r#"{"role":"user","parts":[{"type":"text","text":"Is it raining in Oslo?"}]}
{"role":"assistant","parts":[{"type":"text","text":"It is."}]}
"#,
    detector: Detector::Transcript(nothing_read),
    ..RULE
};

fn nothing_read<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let mut unknown = context.non_messages.iter().filter(|item| item.unknown.is_some());
    if let (true, Some(first)) = (context.messages.is_empty(), unknown.next()) {
        return vec![Match::new(Some(first.value), String::from("no item is a message of this format"))];
    }
    let mut is_unknown = false;
    for (_, part) in context.parts() {
        match part.content {
            Content::Unknown(_) => is_unknown = true,
            Content::Other => {}
            _ => return Vec::new(),
        }
    }
    if !is_unknown {
        return Vec::new();
    }
    vec![context.match_all("no part of any message has a type that the format defines")]
}

pub(super) static UNREAD_CONTENT: Rule = Rule {
    code: "S016",
    name: "unread-content",
    level: Level::Warn,
    summary: "Parts of unknown type hold a tenth of the text or more, or an id that another part names.",
    why: "A part whose type the format does not define is kept byte for byte, and its tokens are estimated. Whether it \
          is a call or a result is not known, so a cut can separate it from the part that belongs to it, and other rules \
          find nothing in it. Usually the dialect was chosen wrongly, or nobody has described the format yet.",
    help: "choose the dialect with --dialect NAME, or describe the format with --dialect-file; `curtail show` prints how \
           the file is read",
    bad: r#"{"role":"user","content":[{"type":"text","text":"Is it raining in Oslo?"}]}
{"role":"assistant","content":[{"type":"forecastRequest","id":"f1","place":"Oslo"}]}
{"role":"user","content":[{"type":"forecastResponse","id":"f1","sky":"rain since noon"}]}
{"role":"assistant","content":[{"type":"text","text":"Yes, since noon."}]}
"#,
    good: r#"{"role":"user","content":[{"type":"text","text":"Is it raining in Oslo?"}]}
{"role":"assistant","content":[{"type":"tool_use","id":"f1","name":"forecast","input":{"place":"Oslo"}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"f1","content":"rain since noon"}]}
{"role":"assistant","content":[{"type":"text","text":"Yes, since noon."}]}
"#,
    detector: Detector::Transcript(unread_content),
    ..RULE
};

fn unread_content<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    // Outside of logs, items of unknown type are findings of their own.
    let items = if context.provider_rules.log { context.non_messages } else { &[] };
    let Some(unread) = Unread::find(context.messages, items) else { return Vec::new() };
    if !nothing_read(context).is_empty() {
        return Vec::new();
    }
    let message_index = unread.message;
    vec![Match { message_index, ..Match::new(Some(unread.first), unread.to_string()) }]
}

pub(super) static UNKNOWN_MEMBER: Rule = Rule {
    code: "S026",
    name: "unknown-member",
    level: Level::Allow,
    summary: "A message or a block has a member that the provider does not know.",
    why: "Some providers ignore members that they do not know, others reject the request. Programs keep a time, an id or \
          the thoughts of another provider's model in their messages and must remove them before they send. The rule \
          is off by default, because transcripts are rarely sent as they are stored.",
    help: "remove the member: `--fix --unsafe-fixes` does this",
    fix: Fix::Unsafe,
    flags: "-W unknown-member",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"text","text":"It is.","written":"2026-11-20"}]}
{"role":"user","content":[{"type":"text","text":"Thanks."}]}
{"role":"assistant","content":[{"type":"thinking","thinking":"Polite.","signature":"c2lnbmVk"},{"type":"text","text":"You are welcome."}]}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"text","text":"It is."}]}
{"role":"user","content":[{"type":"text","text":"Thanks."}]}
{"role":"assistant","content":[{"type":"thinking","thinking":"Polite.","signature":"c2lnbmVk"},{"type":"text","text":"You are welcome."}]}
"#,
    detector: Detector::Transcript(unknown_member),
    ..RULE
};

fn unknown_member<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let provider = context.provider_rules.provider;
    // A program that converts its messages writes only what the provider knows.
    let is_rewritten = context.provider_rules.log || context.provider_rules.converts;
    if is_rewritten || names(provider, "members of a message").is_none() {
        return Vec::new();
    }
    let mut matches = Vec::new();
    for (at, item) in context.items() {
        let blocks = ["content", "parts"].into_iter().filter_map(|key| item.get(key)).flat_map(Value::items);
        let blocks = blocks.filter(|block| block.is_object()).map(|block| {
            let kind = block.get_text("type").map_or_else(|| String::from("a part"), |kind| kind.decode().into_owned());
            (block, format!("members of {kind}"))
        });
        for (object, what) in std::iter::once((item, String::from("members of a message"))).chain(blocks) {
            let Some(known) = names(provider, &what) else { continue };
            let unknown = object.members().filter(|member| !known.clone().any(|name| member.key.is(name)));
            matches.extend(unknown.map(|member| {
                let text = format!("the provider does not know the member `{}`", member.key.decode());
                let found = Match { message_index: Some(at), ..Match::new(Some(member.value), text) };
                found.of("members").removing(vec![member.value])
            }));
        }
    }
    matches
}
