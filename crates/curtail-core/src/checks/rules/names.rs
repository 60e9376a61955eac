//! Ids of calls and items, and names of tools: which characters and how many a provider accepts.

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

use super::renaming::{Naming, NamingSites};
use super::{ANSWERED_CALL, RULE};
use crate::checks::constraints::{Pattern, pattern};
use crate::checks::{Detector, Fix, Match, Rule, RuleContext};
use crate::dialects::Patch;
use crate::digest::fnv1a_64;
use crate::json::quote;
use crate::transcript::{Content, Family, Message, Role, ToolCall};

pub(super) static TOOL_USE_ID_FORMAT: Rule = Rule {
    code: "S014",
    name: "tool-use-id-format",
    summary: "The provider does not accept the id of a call or of an item.",
    why: "Providers limit the characters and the length of ids, each in its own way: OpenAI accepts 40 characters in \
          chats and 64 in the Responses API, Mistral exactly 9, and Anthropic and Bedrock no punctuation but a few \
          marks. Ids of another provider or of a framework fit neither, and a converted transcript then fails at its \
          first call. Items of the Responses API begin with the letters of their kind, such as `fc_`.",
    help: "change the id, in the call and in its result: `--fix` does this",
    fix: Fix::Part,
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"tool_use","id":"call 1|weather","name":"weather","input":{"city":"Oslo"}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"call 1|weather","content":"rain"}]}
{"role":"assistant","content":[{"type":"text","text":"It is."}]}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"tool_use","id":"call_1-weather","name":"weather","input":{"city":"Oslo"}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1-weather","content":"rain"}]}
{"role":"assistant","content":[{"type":"text","text":"It is."}]}
"#,
    detector: Detector::Transcript(tool_use_id_format),
    ..RULE
};

fn tool_use_id_format<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if context.provider_rules.converts {
        return Vec::new();
    }
    [call_ids(context), item_ids(context)].concat()
}

fn call_ids<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let patterns = IdPatterns::of(context.provider_rules.provider);
    let owners = LazyCell::new(|| patterns.owners(context));
    let mut sites = None;
    let wrong = context.calls().filter(|(at, _)| !context.lacks_id(*at)).filter_map(|(at, call)| {
        let (what, pattern) = patterns.of_call(call)?;
        let id = call.id.as_ref()?.decode();
        let fault = pattern.fault(&id)?;
        let mended = pattern.mended(&id);
        let is_shared = owners.get(&mended).is_some_and(|ids| ids.len() > 1);
        let new = if is_shared { pattern.mended(&format!("{id} {:016x}", fnv1a_64(id.bytes()))) } else { mended };
        let message = format!("the id `{id}` {fault}");
        let found = context.match_with(at, context.pairs.counterpart(at), message).of(what);
        Some(sites.get_or_insert_with(|| NamingSites::of(context, Naming::Id)).renaming(found, &id, &new))
    });
    wrong.collect()
}

/// How a provider writes the ids of calls: of those that the caller answers, and of its own.
struct IdPatterns {
    of_calls: Option<Pattern>,
    of_servers: Option<Pattern>,
}

impl IdPatterns {
    fn of(provider: &str) -> Self {
        Self { of_calls: pattern(provider, "call id"), of_servers: pattern(provider, "server call id") }
    }

    /// What the table calls the id of `call`, and its form.
    fn of_call(&self, call: &ToolCall<'_>) -> Option<(&'static str, &Pattern)> {
        match call.family {
            Family::Server => Some(("server call id", self.of_servers.as_ref()?)),
            _ => Some(("call id", self.of_calls.as_ref()?)),
        }
    }

    /// The ids that are the same once each has its form, by this form.
    fn owners(&self, context: &RuleContext<'_, '_>) -> HashMap<String, HashSet<String>> {
        let mut owners: HashMap<String, HashSet<String>> = HashMap::new();
        for (_, call) in context.calls() {
            if let (Some(id), Some((_, pattern))) = (&call.id, self.of_call(call)) {
                let id = id.decode().into_owned();
                owners.entry(pattern.mended(&id)).or_default().insert(id);
            }
        }
        owners
    }
}

/// Ids of items by their kind, where a provider stores items.
fn item_ids<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if !context.provider_rules.server_state || context.messages.iter().any(is_of_another_store) {
        return Vec::new();
    }
    let wrong = context.messages.iter().enumerate().filter_map(|(at, message)| {
        let what = kind_of(message)?;
        let id = message.id.as_ref()?.decode();
        let pattern = pattern(context.provider_rules.provider, what)?;
        let fault = pattern.fault(&id)?;
        let found = context.match_message(at, format!("the id `{id}` of the item {fault}")).of(what);
        // No item has another name for itself: without it, the item is sent whole.
        let own = context.own_id(at).into_iter().collect();
        Some(found.removing(own).warning_if(context.provider_rules.log))
    });
    wrong.collect()
}

/// Whether an item has members that only items of another interface have, such as those of speech: a program writes them anew
/// before it sends them.
fn is_of_another_store(message: &Message<'_>) -> bool {
    message.value().is_some_and(|item| item.has("object") || item.has("interrupted"))
}

/// How the table calls the id of an item of this kind.
fn kind_of(message: &Message<'_>) -> Option<&'static str> {
    let [part] = message.parts.as_slice() else { return None };
    match &part.content {
        Content::Reasoning(_) => Some("reasoning id"),
        Content::ToolCall(call) if call.family == Family::Function && !call.hosted => Some("function_call id"),
        Content::Text(_) if message.role == Role::Assistant => Some("message id"),
        _ => None,
    }
}

pub(super) static TOOL_NAME_FORMAT: Rule = Rule {
    code: "S018",
    name: "tool-name-format",
    summary: "The provider does not accept the name of a tool that was called.",
    why: "A model sometimes calls a tool that does not exist, under a name with dots, blanks or nothing at all. The \
          program answers that there is no such tool, and the session goes on until the provider reads the name in \
          the history: it checks names there as well, and from then on rejects every request. Names of another \
          provider may be longer, or contain dots.",
    help: "rename the tool in the call and in its result: `--fix` does this",
    fix: Fix::Part,
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather of","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"rain"}
{"role":"assistant","content":"It is."}
"#,
    good: ANSWERED_CALL,
    detector: Detector::Transcript(tool_name_format),
    ..RULE
};

fn tool_name_format<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    [names_of_tools(context), names_of_speakers(context)].concat()
}

/// Names beside messages, by which a provider tells speakers apart. Only in a request do they have to be in its form.
fn names_of_speakers<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let Some(pattern) = pattern(context.provider_rules.provider, "name") else { return Vec::new() };
    if context.provider_rules.log {
        return Vec::new();
    }
    let is_mild = !context.is_refused && !context.is_request();
    let wrong = context.messages.iter().enumerate().filter(|(_, message)| message.role != Role::Tool);
    let wrong = wrong.filter_map(|(at, message)| {
        let value = message.value()?.get("name")?;
        let name = value.text()?.decode().into_owned();
        let fault = pattern.fault(&name)?;
        let patch = Patch { span: value.span(), text: quote(&pattern.mended(&name)) };
        let found = context.match_message(at, format!("the name `{name}` of the speaker {fault}"));
        Some(found.of("name").writing([patch]).warning_if(is_mild))
    });
    wrong.collect()
}

fn names_of_tools<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let Some(pattern) = pattern(context.provider_rules.provider, "tool name") else { return Vec::new() };
    let mut sites = None;
    let calls = context.calls().filter(|(_, call)| !call.hosted && is_named(call.family));
    let wrong = calls.filter_map(|(at, call)| {
        let name = call.name.decode();
        let fault = pattern.fault(&name)?;
        let message = format!("the name `{name}` of the tool {fault}");
        let new = if name.is_empty() { String::from("unnamed") } else { pattern.mended(&name) };
        let found = context.match_with(at, context.pairs.counterpart(at), message).of("tool name");
        Some(sites.get_or_insert_with(|| NamingSites::of(context, Naming::ToolName)).renaming(found, &name, &new))
    });
    wrong.collect()
}

/// Whether calls of a kind have names of their own.
const fn is_named(family: Family) -> bool {
    matches!(family, Family::Function | Family::Positional | Family::Custom)
}

pub(super) static DUPLICATE_ITEM_ID: Rule = Rule {
    code: "S020",
    name: "duplicate-item-id",
    summary: "Two items have the same id.",
    why: "The Responses API accepts each stored item once. A program that adds the output of a response to its history \
          twice, or joins two histories of one session, sends an item again.",
    help: "drop the second item: `--fix` does this if both are the same",
    fix: Fix::Part,
    bad: r#"{"type":"message","role":"user","content":"Is it raining in Oslo?"}
{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"It is.","annotations":[]}]}
{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"It is.","annotations":[]}]}
"#,
    good: r#"{"type":"message","role":"user","content":"Is it raining in Oslo?"}
{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"It is.","annotations":[]}]}
{"type":"message","id":"msg_2","status":"completed","role":"assistant","content":[{"type":"output_text","text":"And it will.","annotations":[]}]}
"#,
    detector: Detector::Transcript(duplicate_item_id),
    ..RULE
};

fn duplicate_item_id<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if !context.provider_rules.server_state {
        return Vec::new();
    }
    let mut first: HashMap<String, usize> = HashMap::new();
    let mut matches = Vec::new();
    for (at, message) in context.read_messages() {
        let Some(id) = message.id.as_ref().map(|id| id.decode().into_owned()) else { continue };
        // The parts of one message of a log share its id.
        if let Some(&earlier) = first.get(&id)
            && context.messages[earlier].value() != message.value()
        {
            let other = context.messages[earlier].value().map(|value| (earlier, value));
            let found = context.match_message(at, format!("an earlier item has the id `{id}`"));
            let is_copy =
                context.messages[earlier].value().zip(message.value()).is_some_and(|(one, two)| one.raw() == two.raw());
            let found = if is_copy { found.cut() } else { found };
            matches.push(Match { other, ..found }.warning_if(context.provider_rules.log));
            continue;
        }
        first.insert(id, at);
    }
    matches
}
