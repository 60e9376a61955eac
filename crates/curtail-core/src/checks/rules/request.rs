//! A request as a whole: cache marks, and the number of tools.

use std::collections::HashSet;

use super::{ANSWERED_CALL, RULE};
use crate::checks::constraints::most;
use crate::checks::{Detector, Fix, Match, Rule, RuleContext};
use crate::json::{Text, Value};

pub(super) static CACHE_MARKS: Rule = Rule {
    code: "S021",
    name: "cache-marks",
    summary: "The request has too many cache marks, or has them in an order or a place that is not allowed.",
    why: "Anthropic and Bedrock accept four cache marks in a request, those of the tools, of the instructions and of the \
          whole request included. A program that marks the newest message in every turn and never removes a mark has a \
          fifth one soon. A mark with a lifetime of an hour must come before those with five minutes, in the order tools, \
          instructions, messages. Thoughts cannot be marked.",
    help: "remove the oldest marks of the messages, the marks on thoughts, and the `ttl` of a mark that comes too late: `--fix` \
           does this",
    fix: Fix::Part,
    bad: r#"{"system":[{"type":"text","text":"Answer in one sentence.","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"Is it raining in Oslo?","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":[{"type":"text","text":"It is.","cache_control":{"type":"ephemeral"}}]},{"role":"user","content":[{"type":"text","text":"In Rome?","cache_control":{"type":"ephemeral"}},{"type":"text","text":"In Paris?","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":[{"type":"text","text":"No."}]}]}
"#,
    good: r#"{"system":[{"type":"text","text":"Answer in one sentence.","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"Is it raining in Oslo?"}]},{"role":"assistant","content":[{"type":"text","text":"It is."}]},{"role":"user","content":[{"type":"text","text":"In Rome?","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":[{"type":"text","text":"No."}]}]}
"#,
    detector: Detector::Transcript(cache_marks),
    ..RULE
};

/// Members that mark a block for the cache, each with the provider whose models read it, wherever the request is sent. OpenAI's are
/// not counted: of any number, it writes the latest.
const MARKS: [(&str, &str); 2] = [("cache_control", "anthropic"), ("cachePoint", "bedrock")];

/// A mark, and the message that it is in.
struct Mark<'a> {
    value: Value<'a>,
    message: Option<usize>,
}

impl<'a> Mark<'a> {
    /// A finding about it.
    fn found(&self, message: impl Into<String>) -> Match<'a> {
        Match { message_index: self.message, ..Match::new(Some(self.value), message.into()) }
    }

    fn is_long(&self) -> bool {
        self.value.member_is("ttl", "1h")
    }

    /// Whether the block is one that cannot be marked.
    fn is_on_thought(&self) -> bool {
        let kind = self.value.parent().and_then(|block| block.get("type"));
        kind.is_some_and(|kind| kind.is("thinking") || kind.is("redacted_thinking"))
    }

    /// What is removed with it: the block that is nothing but the mark, as Bedrock's is, because a provider refuses an empty one.
    fn removed(&self) -> Value<'a> {
        let block = self.value.parent().filter(|block| block.members().count() == 1);
        block.filter(|block| block.parent().is_some_and(Value::is_array)).unwrap_or(self.value)
    }
}

fn cache_marks<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let mut marks = MARKS.map(|_| Vec::new());
    for (key, mark) in all_marks(context) {
        marks[key].push(mark);
    }
    MARKS.iter().zip(marks).flat_map(|((_, provider), marks)| faults_of(&marks, provider)).collect()
}

/// What is wrong with the marks of one kind, by the limits of `provider`.
fn faults_of<'a>(marks: &[Mark<'a>], provider: &str) -> Vec<Match<'a>> {
    let Some(limit) = most(provider, "cache marks") else { return Vec::new() };
    let mut matches = Vec::new();
    if let Some(surplus) = marks.get(limit) {
        let message = format!("the request has {} cache marks, and {limit} are accepted", marks.len());
        let (in_messages, beside): (Vec<&Mark<'a>>, Vec<&Mark<'a>>) =
            marks.iter().partition(|mark| mark.message.is_some());
        let oldest = in_messages.into_iter().chain(beside);
        let gone = oldest.take(marks.len() - limit).map(Mark::removed).collect();
        matches.push(surplus.found(message).of("cache marks").removing(gone));
    }
    let mut is_short_before = false;
    for mark in marks {
        if mark.is_on_thought() {
            let found = mark.found("a thought cannot be marked for the cache").of("marked blocks");
            matches.push(found.removing(vec![mark.value]));
        } else if mark.is_long() && is_short_before {
            let found = mark.found("a mark with a lifetime of an hour comes after one with five minutes");
            let ttl = mark.value.get("ttl").into_iter().collect();
            matches.push(found.of("order of cache marks").removing(ttl));
        }
        is_short_before |= !mark.is_long();
    }
    matches
}

/// The cache marks of the request, in the order in which the provider reads them, each with the index of its kind.
fn all_marks<'a>(context: &RuleContext<'_, 'a>) -> Vec<(usize, Mark<'a>)> {
    let lists = ["tools", "toolConfig", "system"].into_iter().filter_map(|list| context.record?.get(list));
    let messages = context.read_messages().filter_map(|(at, message)| Some((Some(at), message.value()?)));
    let places = lists.map(|value| (None, value)).chain(messages);
    let mut marks = Vec::new();
    for (message, value) in places {
        for block in value.holders() {
            for (kind, mark) in block.get_each(MARKS.map(|(key, _)| key)).into_iter().enumerate() {
                if let Some(mark) = mark.filter(|mark| mark.is_object() && !is_of_a_tool(block, value)) {
                    marks.push((kind, Mark { value: mark, message }));
                }
            }
        }
    }
    marks.extend(automatic_mark(context).map(|value| (AUTOMATIC, Mark { value, message: None })));
    marks
}

/// The index of the marks with which a request may mark its last block.
const AUTOMATIC: usize = 0;

/// The mark beside the messages, with which the provider marks the last block itself. A mark that this block has takes its place.
fn automatic_mark<'a>(context: &RuleContext<'_, 'a>) -> Option<Value<'a>> {
    let (key, _) = MARKS[AUTOMATIC];
    let last = context.read_messages().last().and_then(|(_, message)| message.value()?.get("content")?.items().last());
    let mark = context.record?.get(key).filter(|mark| mark.is_object());
    mark.filter(|_| !last.is_some_and(|block| block.has(key)))
}

/// Members with what a tool takes or gives: keys in there are the tool's.
const OF_TOOLS: [&str; 8] =
    ["input", "arguments", "args", "parameters", "input_schema", "inputSchema", "json", "response"];

/// Whether `block`, which is in `value`, is in what a tool takes or gives.
fn is_of_a_tool<'a>(block: Value<'a>, value: Value<'a>) -> bool {
    let mut inner = block;
    while inner != value
        && let Some(outer) = inner.parent()
    {
        if outer.members().any(|member| member.value == inner && member.key.is_one_of(&OF_TOOLS)) {
            return true;
        }
        inner = outer;
    }
    false
}

pub(super) static TOO_MANY_TOOLS: Rule = Rule {
    code: "S025",
    name: "too-many-tools",
    summary: "The request defines more tools than the provider accepts.",
    why: "OpenAI accepts 128 tools in a request, and Gemini 512. Programs that add the tools of every server of the Model \
          Context Protocol exceed this without noticing.",
    help: "define fewer tools: turn off servers that the task does not need; `--fix --unsafe-fixes` removes the last ones of \
           those that no message calls and the choice of tools does not name",
    fix: Fix::Unsafe,
    bad: TOO_MANY,
    good: ANSWERED_CALL,
    detector: Detector::Transcript(too_many_tools),
    ..RULE
};

/// A request with 129 tools.
const TOO_MANY: &str = r#"{"messages":[{"role":"user","content":"Is it raining in Oslo?"},{"role":"assistant","content":"It is."}],"tools":[{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}]}
"#;

fn too_many_tools<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let limit = most(context.provider_rules.provider, "number of tools");
    let tools = context.record.and_then(|record| record.get("tools"));
    let Some((limit, tools)) = limit.zip(tools) else { return Vec::new() };
    let defined: Vec<Value<'a>> = tools.items().flat_map(declarations).collect();
    let Some(surplus) = defined.get(limit) else { return Vec::new() };
    let message = format!("the request defines {} tools, and {limit} are accepted", defined.len());
    let found = Match::new(Some(*surplus), message).of("number of tools");
    let called = context.calls().map(|(_, call)| call.name.decode().into_owned());
    let needed: HashSet<String> = called.chain(chosen(context)).collect();
    let idle = defined.iter().rev().filter(|tool| name_of(**tool).is_none_or(|name| !needed.contains(&*name.decode())));
    let gone: Vec<Value<'a>> = idle.copied().take(defined.len() - limit).collect();
    vec![if gone.len() == defined.len() - limit { found.removing(gone) } else { found }]
}

/// The texts of the choice of tools, among which are the names of those that the model must or may call.
fn chosen(context: &RuleContext<'_, '_>) -> impl Iterator<Item = String> {
    let choices = ["tool_choice", "toolConfig", "tool_config"].into_iter().filter_map(|key| context.record?.get(key));
    choices.flat_map(|choice| choice.within(|_| false)).filter_map(|value| Some(value.text()?.decode().into_owned()))
}

/// The name of the tool that `definition` defines.
fn name_of(definition: Value<'_>) -> Option<Text<'_>> {
    [definition.get("function"), Some(definition)].into_iter().flatten().find_map(|tool| tool.get_text("name"))
}

/// The definitions in an element of the list of tools, which may hold several.
fn declarations(tool: Value<'_>) -> Vec<Value<'_>> {
    let inside = ["functionDeclarations", "function_declarations"].into_iter().find_map(|key| tool.get(key));
    inside.map_or_else(|| vec![tool], |list| list.items().collect())
}
