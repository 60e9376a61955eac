//! What cannot be read, or not in one way only: text that is not JSON, keys that repeat, and items and parts that the format does
//! not define.

use memchr::memmem;

use super::ANSWER;
use crate::checks::constraints::{names, states};
use crate::checks::{Detector, Fix, Level, Match, Rule, RuleContext};
use crate::dialects::Patch;
use crate::json::{Span, Value, quote, repeated_members};
use crate::transcript::{Content, Message, Unread};

pub(super) static INVALID_JSON: Rule = Rule {
    code: "S001",
    name: "invalid-json",
    level: Level::Deny,
    summary: "A line or a document is not JSON.",
    why: "An interrupted write, a trailing comma, a `NaN`: one program reads what the grammar of RFC 8259 does not \
          allow, the next rejects it. The rest of the file is checked. Two records on one line are a warning: some \
          programs read both, and others stop there.",
    help: "correct the line by hand, or leave it out with `curtail repair --damaged`; curtail does not guess",
    fix: Fix::No,
    command: "curtail repair --damaged --in-place FILE",
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"Let me look
{"role":"assistant","content":"It is."}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"Let me look."}
{"role":"assistant","content":"It is."}
"#,
    detector: Detector::Text,
};

pub(super) static UNKNOWN_ROLE: Rule = Rule {
    code: "S002",
    name: "unknown-role",
    level: Level::Deny,
    summary: "A message has a role or a type that its format does not define.",
    why: "Providers reject unknown roles. A trainer skips the message, or the whole example, without a warning. Some \
          agents append their own roles, such as `exit`, to transcripts that could otherwise be sent as they are. The \
          rule does not apply to session logs, where many line types are normal, except to lines that are no object.",
    help: "give the message a role that the format defines, or remove it: `--fix` writes a role in the provider's spelling, and \
           `--fix --unsafe-fixes` gives instructions to the user and removes messages of other roles",
    fix: Fix::Part,
    command: "",
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"It is."}
{"role":"exit","content":"done"}
"#,
    good: ANSWER,
    detector: Detector::Transcript(unknown_role),
};

fn unknown_role<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if context.provider_rules.log {
        return lines_without_record(context);
    }
    let unknown = context.non_messages.iter().filter(|item| !item.lacks_role());
    let unknown = unknown.filter_map(|item| item.unknown.as_ref().map(|role| (item, role))).map(|(item, role)| {
        let found = Match::new(Some(item.value), format!("the format does not define the role or type `{role}`"));
        found.writing(context.without_item(item.value).into_iter().collect()).unsafely()
    });
    unknown.chain(refused_roles(context)).chain(leading_instructions(context)).collect()
}

/// Lines of a log that are a text or a number: damage, because programs write objects.
fn lines_without_record<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let is_bare = |value: Value<'_>| value.parent().is_none() && !value.is_object() && !value.is_array();
    let bare = context.non_messages.iter().map(|item| item.value).filter(|value| is_bare(*value));
    let found = |value| {
        let found = Match::new(Some(value), String::from("the line is a JSON value that is no record of the log"));
        found.writing(context.without_item(value).into_iter().collect()).unsafely()
    };
    bare.map(found).collect()
}

/// Roles with the same meaning, in the spellings of several formats.
const SAME_ROLES: [&[&str]; 3] =
    [&["system", "developer"], &["user", "human"], &["assistant", "model", "ai", "bot", "gpt", "chatbot"]];

/// Messages whose role the format defines in another spelling than the provider accepts.
fn refused_roles<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let provider = context.provider_rules.provider;
    let refused = context.messages.iter().enumerate().filter_map(|(at, message)| {
        let item = message.value()?;
        // Messages in the form of another provider get their role when they are converted.
        let what = if item.has("parts") { "roles" } else { "chat roles" };
        let mut accepted = names(provider, what)?;
        let value = item.get("role")?;
        let role = value.text()?.decode().into_owned();
        if accepted.clone().any(|name| name == role) {
            return None;
        }
        let same = SAME_ROLES.iter().find(|names| names.contains(&role.as_str()));
        let renamed = accepted.find(|name| same.is_some_and(|names| names.contains(name)));
        let found = context.match_message(at, format!("the provider does not accept the role `{role}`")).of(what);
        let written = renamed.unwrap_or("user");
        let patch = Patch { span: value.span(), text: quote(written) };
        // What the application says is said by the user where it cannot speak; what a tool says is not.
        let is_mended = renamed.is_some() || message.role.instructs();
        let found = if is_mended { found.writing(vec![patch]) } else { found };
        Some(if renamed.is_none() { found.unsafely() } else { found })
    });
    refused.collect()
}

/// Instructions at the head of the messages, where the provider wants them beside the messages; of a refused request, all that are
/// among them, because only some models accept these.
fn leading_instructions<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let provider = context.provider_rules.provider;
    if !states(provider, "leading system") || !(context.is_request() || context.is_refused) {
        return Vec::new();
    }
    let head = context.messages.iter().take_while(|message| message.role.instructs()).count();
    let instructions = context.messages.iter().enumerate().filter(|(_, message)| message.role.instructs());
    let found = |(at, message): (usize, &Message<'a>)| {
        let what = if at < head { "leading system" } else { "system messages" };
        let role = message.value().and_then(|item| item.get("role"));
        let patch = role.map(|role| Patch { span: role.span(), text: quote("user") });
        let text = "the provider wants these instructions beside the messages, and not in them";
        context.match_message(at, text).of(what).writing(patch.into_iter().collect()).unsafely()
    };
    instructions.filter(|(at, _)| *at < head || context.is_refused).map(found).collect()
}

pub(super) static MISSING_ROLE: Rule = Rule {
    code: "S003",
    name: "missing-role",
    level: Level::Deny,
    summary: "A message has no role.",
    why: "An item without a role, or without the type that replaces it, cannot be sent and is useless for training. \
          Often it is an object that was appended to the wrong file.",
    help: "give the message a role, or remove it",
    fix: Fix::No,
    command: "",
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"content":"It is."}
{"role":"assistant","content":"It is, and it will."}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"It is, and it will."}
"#,
    detector: Detector::Transcript(missing_role),
};

fn missing_role<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if context.provider_rules.log {
        return Vec::new();
    }
    let nameless = context.non_messages.iter().filter(|item| item.lacks_role());
    nameless.map(|item| Match::new(Some(item.value), String::from("the message has no role"))).collect()
}

pub(super) static DUPLICATE_KEY: Rule = Rule {
    code: "S007",
    name: "duplicate-key",
    level: Level::Deny,
    summary: "An object in a message has the same key twice.",
    why: "RFC 8259 does not define what an object with a repeated key means. Most parsers take the last value, some \
          the first, and some reject the object, so that two programs read two different transcripts. Repeated keys \
          come from logs that were assembled by hand.",
    help: "keep the intended member",
    fix: Fix::No,
    command: "",
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"It is.","content":"It is not."}
"#,
    good: ANSWER,
    detector: Detector::Transcript(duplicate_key),
};

fn duplicate_key<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let messages = context.messages.iter().enumerate().filter_map(|(at, message)| Some((Some(at), message.value()?)));
    let non_messages = context.non_messages.iter().map(|item| (None, item.value));
    messages.chain(non_messages).flat_map(|(message, value)| repeated(message, value)).collect()
}

fn repeated(message: Option<usize>, value: Value<'_>) -> impl Iterator<Item = Match<'_>> {
    repeated_members(value).into_iter().map(move |again| {
        let text = format!("the object already has the key `{}`", again.key.decode());
        Match { message_index: message, ..Match::new(Some(again.value), text) }
    })
}

pub(super) static NOTHING_READ: Rule = Rule {
    code: "S015",
    name: "nothing-read",
    level: Level::Deny,
    summary: "Nothing in the transcript is of a type that its format defines.",
    why: "No item is a message, or every part of every message has an unknown type. Other rules then find nothing, and \
          tokens are only estimated. Usually the dialect was chosen wrongly, or nobody has described the format yet.",
    help: "choose the dialect with --dialect NAME, or describe the format with --dialect-file; `curtail show` prints how \
           the file is read",
    fix: Fix::No,
    command: "",
    flags: "",
    bad: r#"{"role":"user","parts":[{"type":"sonar","ping":[1,2]}]}
{"role":"assistant","parts":[{"type":"sonar","ping":[3]}]}
"#,
    good: r#"{"role":"user","parts":[{"type":"text","text":"Is it raining in Oslo?"}]}
{"role":"assistant","parts":[{"type":"text","text":"It is."}]}
"#,
    detector: Detector::Transcript(nothing_read),
};

fn nothing_read<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let mut unknown = context.non_messages.iter().filter(|item| item.unknown.is_some());
    if let (true, Some(first)) = (context.messages.is_empty(), unknown.next()) {
        return vec![Match::new(Some(first.value), String::from("no item is a message of this format"))];
    }
    let parts = || context.messages.iter().flat_map(|message| &message.parts).map(|part| &part.content);
    let unknown = |content: &Content<'_>| matches!(content, Content::Unknown(_));
    if parts().any(unknown) && parts().all(|content| unknown(content) || matches!(content, Content::Other)) {
        return vec![context.match_all("no part of any message has a type that the format defines")];
    }
    Vec::new()
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
    fix: Fix::No,
    command: "",
    flags: "",
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

pub(super) static LONE_SURROGATE: Rule = Rule {
    code: "S023",
    name: "lone-surrogate",
    level: Level::Deny,
    summary: "A text contains half of a character.",
    why: "JSON writes a character such as an emoji as two escapes (`\\ud83e\\udd80`). A program that cuts a text between the \
          two leaves one that means nothing by itself. Many parsers accept it, and those of providers reject the whole \
          request: the message is sent again with every further request, so the session stays broken.",
    help: "remove the half character: `--fix` writes U+FFFD in its place",
    fix: Fix::Part,
    command: "",
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo? \ud83e"}
{"role":"assistant","content":"It is."}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo? \ud83e\udd80"}
{"role":"assistant","content":"It is."}
"#,
    detector: Detector::Transcript(lone_surrogate),
};

fn lone_surrogate<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let source = context.messages.first().and_then(Message::value).map_or("", Value::source);
    if memmem::find(source.as_bytes(), b"\\u").is_none() {
        return Vec::new();
    }
    let items = context.messages.iter().enumerate().filter(|(_, message)| message.standing.is_read());
    let items = items.filter_map(|(at, message)| Some((at, message.value()?)));
    let halves = items.filter_map(|(at, item)| {
        let halves = lone_halves(item.raw());
        let first = *halves.first()?;
        let start = item.span().start;
        let patch = |half: &usize| {
            let at = start + u32::try_from(*half).unwrap_or_default();
            Patch { span: Span::new(at, at + ESCAPE), text: String::from("\\ufffd") }
        };
        let offset = start + u32::try_from(first).unwrap_or_default();
        let message = String::from("the text contains half of a character");
        let found = Match { message_index: Some(at), ..Match::new(Some(string_at(item, offset)), message) };
        Some(found.writing(halves.iter().map(patch).collect()))
    });
    halves.collect()
}

/// The length of an escape such as `\ud83e`.
const ESCAPE: u32 = 6;

/// Where in the JSON `raw` an escape of a surrogate begins that belongs to no pair.
fn lone_halves(raw: &str) -> Vec<usize> {
    let bytes = raw.as_bytes();
    let mut lone = Vec::new();
    let mut at = 0;
    for escape in memmem::find_iter(bytes, b"\\u") {
        // All surrogates begin so, and few other characters.
        if !matches!(bytes.get(escape + 2), Some(b'd' | b'D')) {
            continue;
        }
        let before = bytes[..escape].iter().rev().take_while(|byte| **byte == b'\\').count();
        // After an odd number of backslashes, this one is what an escape stands for.
        if escape < at || before % 2 == 1 {
            continue;
        }
        let unit = unit_at(raw, escape);
        let is_pair = unit.is_some_and(is_high) && unit_at(raw, escape + 6).is_some_and(is_low);
        at = escape + if is_pair { 12 } else { 2 };
        if !is_pair && unit.is_some_and(|unit| is_high(unit) || is_low(unit)) {
            lone.push(escape);
        }
    }
    lone
}

/// The UTF-16 unit whose escape begins at `at`.
fn unit_at(raw: &str, at: usize) -> Option<u16> {
    let digits = raw.get(at..at + 6)?.strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
}

const fn is_high(unit: u16) -> bool {
    matches!(unit, 0xD800..=0xDBFF)
}

const fn is_low(unit: u16) -> bool {
    matches!(unit, 0xDC00..=0xDFFF)
}

/// The innermost value of `item` around `offset`.
fn string_at(item: Value<'_>, offset: u32) -> Value<'_> {
    let around = |value: &Value<'_>| value.span().start <= offset && offset < value.span().end;
    let mut inner = item;
    loop {
        let next = inner.items().chain(inner.members().map(|member| member.value)).find(around);
        match next {
            Some(value) => inner = value,
            None => return inner,
        }
    }
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
    command: "",
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
};

fn unknown_member<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let provider = context.provider_rules.provider;
    // A program that converts its messages writes only what the provider knows.
    let is_rewritten = context.provider_rules.log || context.provider_rules.converts;
    if is_rewritten || names(provider, "members of a message").is_none() {
        return Vec::new();
    }
    let mut matches = Vec::new();
    for (at, message) in context.messages.iter().enumerate() {
        let Some(item) = message.value() else { continue };
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
