//! What a message contains.

use std::collections::HashSet;

use super::{RULE, result_blocks};
use crate::checks::constraints::{names, states};
use crate::checks::{Detector, Fix, Level, Match, Rule, RuleContext, member_first};
use crate::dialects::Patch;
use crate::json::{Text, Value, quote};
use crate::transcript::{Message, Part, Role, Standing};

pub(super) static EMPTY_CONTENT: Rule = Rule {
    code: "S004",
    name: "empty-content",
    summary: "A message, or a text in it, has no content.",
    why: "A message without content, or with nothing but white space, comes from a reply that was cut off or from a \
          filter that removed everything. Anthropic, Bedrock and Kimi reject it, and a blank text beside other blocks as \
          well. Gemini, xAI and MiniMax reject an empty text, Mistral that of the assistant or the system, and most \
          providers a content that is missing or `null`. What a provider is not known to reject, such as an empty text at \
          OpenAI, is a warning: a model that is trained on it learns to answer with nothing. A reply that only calls \
          tools is not empty, and tool results may be empty.",
    help: "drop the message or the blank text, or give it content: `--fix` drops it",
    fix: Fix::Part,
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
    ..RULE
};

fn empty_content<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let null_results = null_contents(context, "null content", |message| message.role == Role::Tool);
    let null_beside_calls = null_contents(context, "content of calls", |message| {
        message.role == Role::Assistant && message.calls().next().is_some()
    });
    [empty_messages(context), blank_blocks(context), null_results, null_beside_calls].concat()
}

/// Messages whose content is `null` or missing where the provider wants a text, even an empty one.
fn null_contents<'a>(
    context: &RuleContext<'_, 'a>,
    what: &'static str,
    wants_text: impl Fn(&Message<'a>) -> bool,
) -> Vec<Match<'a>> {
    if context.provider_rules.log || !states(context.provider_rules.provider, what) {
        return Vec::new();
    }
    let items = context.items().filter(|(at, _)| wants_text(&context.messages[*at]));
    let null = items.filter_map(|(at, item)| {
        let key = content_key(item)?;
        let patch = match item.get(key) {
            None => member_first(item, &format!("\"{key}\":\"\"")),
            Some(content) if content.raw() == "null" => Patch { span: content.span(), text: String::from("\"\"") },
            // What takes the place of an empty text differs between providers.
            Some(content) => {
                let is_blank = context.is_refused && content.text().is_some_and(|text| text.is_blank());
                return is_blank.then(|| context.match_message(at, "the content is empty").of(what));
            }
        };
        Some(context.match_message(at, "the content is not a text").of(what).writing([patch]))
    });
    null.collect()
}

/// Where an item has its content: items of another form than messages have an output, or nothing. What has its content in parts
/// gets another form when it is sent to such a provider.
fn content_key(item: Value<'_>) -> Option<&'static str> {
    let is_output = item.get_text("type").is_some_and(|kind| kind.decode().ends_with("_call_output"));
    if is_output { Some("output") } else { (item.has("role") && !item.has("parts")).then_some("content") }
}

/// Blank texts beside other parts, where the provider looks at each block.
fn blank_blocks<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if !states(context.provider_rules.provider, "blank blocks") {
        return Vec::new();
    }
    let blank = context.parts().filter(|(at, part)| {
        let message = &context.messages[at.message];
        let is_blank = part.content.text().is_some_and(Text::is_blank) && is_block(part);
        is_blank && !is_empty(message) && message.standing.is_read()
    });
    let log = context.provider_rules.log;
    let mut matches: Vec<Match<'a>> = blank
        .map(|(at, _)| context.match_at(at, "the text is blank").of("blank blocks").cut().warning_if(log))
        .collect();
    let results = context.results().filter(|(at, _)| context.messages[at.message].standing.is_read());
    matches.extend(results.filter_map(|(at, _)| {
        let blank = blank_texts(context.element(at)?);
        let found = context.match_at(at, "a text in the result is blank").of("blank blocks").warning_if(log);
        (!blank.is_empty()).then(|| found.removing(blank))
    }));
    matches
}

/// Whether a part is a block: a string beside calls, as other formats write it, is none.
fn is_block(part: &Part<'_>) -> bool {
    part.place().is_some_and(|place| place.piece.is_none() && place.element.is_object())
}

/// The blank texts in the list of a result, which a provider looks at as at any other.
fn blank_texts(result: Value<'_>) -> Vec<Value<'_>> {
    let blank = result_blocks(result).filter(|block| match block.some("text") {
        Some(text) => text.text().is_some_and(|text| text.is_blank()),
        None => block.member_is("type", "text"),
    });
    blank.collect()
}

fn empty_messages<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    // Where a provider has refused a message, the thoughts of another model are no content.
    let (empty, speaking): (Vec<usize>, Vec<usize>) = (0..context.messages.len()).partition(|&at| {
        let message = &context.messages[at];
        is_empty(message) || context.is_refused && thinks_beside(message)
    });
    if empty.is_empty() {
        return Vec::new();
    }
    let provider = context.provider_rules.provider;
    let wants_blocks = states(provider, "blank blocks");
    // A log can write one reply as several messages: the reply is empty only if all of them are.
    let speaking: HashSet<_> = speaking.into_iter().filter_map(|at| context.messages[at].reply_key()).collect();
    let mut matches = Vec::new();
    for at in empty {
        let message = &context.messages[at];
        let is_sent = message.standing != Standing::RolledBack && !has_content_elsewhere(message);
        if !is_sent || message.reply_key().is_some_and(|reply| speaking.contains(&reply)) {
            continue;
        }
        let is_reply = message.role == Role::Assistant;
        let article = if is_reply { "an" } else { "a" };
        let text = format!("{article} {} message has no content", message.role.name());
        // Where blocks matter, what the assistant says last may be empty, unless it is a blank block: the model goes on.
        let is_last = at + 1 == context.messages.len();
        let is_optional = is_last && is_reply && !message.parts.iter().any(is_block);
        let is_refused = if wants_blocks { !is_optional } else { refuses(provider, message) };
        matches.push(context.match_message(at, text).cut().warning_if(context.provider_rules.log || !is_refused));
    }
    matches
}

/// How the content of a message can be empty. Who refuses one of these refuses those before it.
const EMPTY: [&str; 3] = ["content", "content elements", "empty text"];

/// Whether `provider` is known to refuse a message that is empty as this one is.
fn refuses(provider: &str, message: &Message<'_>) -> bool {
    let Some(item) = message.value().filter(|item| item.has("role")) else { return false };
    let kind = match item.some("content").or_else(|| item.some("parts")) {
        None => 0,
        Some(content) if content.is_array() && content.items().next().is_none() => 1,
        Some(_) if message.parts.iter().all(|part| part.content.text().is_some_and(|text| text.len_bound() == 0)) => 2,
        Some(_) => return false,
    };
    let role = message.role.name();
    EMPTY[kind..].iter().any(|what| {
        states(provider, what) && names(provider, what).is_none_or(|mut roles| roles.any(|name| name == role))
    })
}

/// Whether a message has its content in another member: the id of a reply that was spoken, or what a compaction of a log wrote.
fn has_content_elsewhere(message: &Message<'_>) -> bool {
    message.is_boundary() || message.value().is_some_and(|item| item.has("audio"))
}

/// Whether a message has nothing but reasoning in a member of its own.
fn thinks_beside(message: &Message<'_>) -> bool {
    let Some(item) = message.value().filter(|item| message.is_reasoning() && item.has("role")) else { return false };
    item.get("content").is_none_or(|content| content.items().next().is_none())
}

fn is_empty(message: &Message<'_>) -> bool {
    message.role != Role::Tool && message.parts.iter().all(|part| part.content.text().is_some_and(Text::is_blank))
}

pub(super) static EMPTY_ERROR_RESULT: Rule = Rule {
    code: "S019",
    name: "empty-error-result",
    summary: "A result says that its tool failed, and nothing else.",
    why: "Anthropic rejects a result with `is_error` and without content, although it accepts an empty result of a tool that \
          succeeded. A tool that fails without a message, or a filter that clears results, leaves such a result.",
    help: "give the result a text, or remove `is_error`: `--fix` removes it",
    fix: Fix::Part,
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"weather","input":{"city":"Oslo"}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"","is_error":true}]}
{"role":"assistant","content":[{"type":"text","text":"I cannot tell."}]}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"weather","input":{"city":"Oslo"}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"no connection","is_error":true}]}
{"role":"assistant","content":[{"type":"text","text":"I cannot tell."}]}
"#,
    detector: Detector::Transcript(empty_error_result),
    ..RULE
};

fn empty_error_result<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if !states(context.provider_rules.provider, "error results") {
        return Vec::new();
    }
    let empty = context.results().filter(|(_, result)| result.media == 0 && result.content.iter().all(Text::is_blank));
    let failed = empty.filter_map(|(at, _)| {
        let element = context.element(at)?;
        let flag = [element].into_iter().chain(element.get("toolResult")).find_map(error_flag)?;
        let message = format!("the result of {} is an error without a text", context.name_of(at));
        Some(context.match_at(at, message).removing(vec![flag]))
    });
    failed.collect()
}

/// The member by which a result says that its tool failed.
fn error_flag(result: Value<'_>) -> Option<Value<'_>> {
    let flag = result.get("is_error").filter(|flag| flag.raw() == "true");
    flag.or_else(|| result.get("status").filter(|status| status.is("error")))
}

pub(super) static EMPTY_CALLS: Rule = Rule {
    code: "S030",
    name: "empty-calls",
    level: Level::Warn,
    summary: "A message has an empty list of calls.",
    why: "OpenAI rejects `tool_calls` with no element: a message that calls nothing has no such member. Libraries that write \
          every member of a message, and filters that remove calls one by one, leave an empty list. Other providers accept \
          it.",
    help: "remove the empty list: `--fix` does this",
    fix: Fix::Part,
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"It is.","tool_calls":[]}
"#,
    good: super::ANSWER,
    detector: Detector::Transcript(empty_calls),
    ..RULE
};

fn empty_calls<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if context.provider_rules.log || !states(context.provider_rules.provider, "call lists") {
        return Vec::new();
    }
    let lists = context.items().filter_map(|(at, item)| Some((at, item.get("tool_calls")?)));
    let empty = lists.filter(|(_, list)| list.is_array() && list.items().next().is_none());
    empty.map(|(at, list)| context.match_message(at, "the list of calls is empty").removing(vec![list])).collect()
}

pub(super) static CONTENT_BLOCKS: Rule = Rule {
    code: "S031",
    name: "content-blocks",
    level: Level::Allow,
    summary: "The content of a message is a list of blocks.",
    why: "Some servers that follow OpenAI's format accept only a text as content, and fail at a list of blocks, even if all \
          of them are texts. The rule is off by default, because OpenAI and most others accept lists.",
    help: "write the texts of the message as one text: `--fix` does this for a single text, and `--fix --unsafe-fixes` for \
           several, with a blank line between them; images stay",
    fix: Fix::Part,
    flags: "-W content-blocks",
    bad: r#"{"role":"user","content":[{"type":"text","text":"Is it raining in Oslo?"}]}
{"role":"assistant","content":"It is."}
"#,
    good: super::ANSWER,
    detector: Detector::Transcript(content_blocks),
    ..RULE
};

fn content_blocks<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let contents = context.items().filter_map(|(at, item)| Some((at, item.get("content")?)));
    let lists = contents.filter(|(_, content)| content.is_array()).map(|(at, list)| {
        let found = context.match_message(at, "the content is a list of blocks").of("content blocks");
        match texts_alone(list) {
            Some(texts) if texts.len() == 1 => found.writing([joined(list, &texts)]),
            Some(texts) if texts.len() > 1 => found.writing([joined(list, &texts)]).unsafely(),
            _ => found,
        }
    });
    lists.collect()
}

/// The texts of a list of blocks that have nothing else; `None` if one has more, or is of another kind.
fn texts_alone(list: Value<'_>) -> Option<Vec<Text<'_>>> {
    let texts = list.items().map(|block| {
        let is_bare = block.members().count() == 2 && block.member_is("type", "text");
        block.get_text("text").filter(|_| is_bare)
    });
    texts.collect()
}

/// The patch that writes `texts` in place of `list`.
fn joined(list: Value<'_>, texts: &[Text<'_>]) -> Patch {
    let texts: Vec<_> = texts.iter().map(Text::decode).collect();
    Patch { span: list.span(), text: quote(&texts.join("\n\n")) }
}
