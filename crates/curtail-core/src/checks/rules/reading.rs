//! What cannot be read, or not in one way only: text that is not JSON, keys that repeat, and items and parts that the format does
//! not define.

use super::ANSWER;
use crate::checks::{Detector, Level, Match, Rule, RuleContext};
use crate::json::{Value, repeated_members};
use crate::transcript::{Content, Unread};

pub(super) static INVALID_JSON: Rule = Rule {
    code: "S001",
    name: "invalid-json",
    level: Level::Deny,
    summary: "A line or a document is not JSON.",
    why: "An interrupted write, a trailing comma, a `NaN`: one program reads what the grammar of RFC 8259 does not \
          allow, the next rejects it. The rest of the file is checked.",
    help: "correct the line by hand, or remove it; curtail does not guess",
    answers: &[
        ("openai", "We could not parse the JSON body of your request."),
        ("anthropic", "The request body is not valid JSON"),
    ],
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
          rule does not apply to session logs, where many line types are normal.",
    help: "give the message a role that the format defines, or remove it",
    answers: &[
        (
            "openai",
            "Invalid value: '…'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
        ),
        ("responses", "Invalid value: '…'. Supported values are: 'assistant', 'system', 'developer', and 'user'."),
        ("anthropic", "messages.N.role: Input should be 'user' or 'assistant'"),
        ("gemini", "Please use a valid role: user, model."),
        ("llama-factory", "Invalid role tag in …"),
    ],
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
        return Vec::new();
    }
    let unknown = context.non_messages.iter().filter(|item| !item.lacks_role());
    unknown
        .filter_map(|item| item.unknown.as_ref().map(|role| (item, role)))
        .map(|(item, role)| {
            Match::new(Some(item.value), format!("the format does not define the role or type `{role}`"))
        })
        .collect()
}

pub(super) static MISSING_ROLE: Rule = Rule {
    code: "S003",
    name: "missing-role",
    level: Level::Deny,
    summary: "A message has no role.",
    why: "An item without a role, or without the type that replaces it, cannot be sent and is useless for training. \
          Often it is an object that was appended to the wrong file.",
    help: "give the message a role, or remove it",
    answers: &[
        ("openai", "Missing required parameter: 'messages[N].role'."),
        ("anthropic", "messages.N.role: Field required"),
    ],
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
    answers: &[],
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
          tokens are only estimated. Usually the dialect was chosen wrongly, or the format is one that curtail cannot read yet.",
    help: "choose the dialect with --dialect NAME; `curtail show` prints how the file is read",
    answers: &[],
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
          find nothing in it. Usually the dialect was chosen wrongly, or the format is one that curtail cannot read yet.",
    help: "choose the dialect with --dialect NAME; `curtail show` prints how the file is read",
    answers: &[],
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
