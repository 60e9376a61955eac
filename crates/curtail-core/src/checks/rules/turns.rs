//! Which roles have messages, and in which order.

use std::collections::HashSet;

use super::{ANSWER, RULE};
use crate::checks::constraints::names;
use crate::checks::{Detector, Fix, Level, Match, Rule, RuleContext};
use crate::dialects::Patch;
use crate::json::{Text, Value, ValueKind, quote};
use crate::patches::rewriting;
use crate::transcript::{Content, Message, PartRef, Role, Turns, same_side};

pub(super) static NO_USER_MESSAGE: Rule = Rule {
    code: "T001",
    name: "no-user-message",
    level: Level::Warn,
    summary: "The transcript has no user message.",
    why: "A transcript without a user message is usually a part that was cut out of a conversation. Some providers and \
          chat templates reject it. Tool results alone are not a user message, even in a message with the role `user`.",
    help: "keep at least one user message, for example with `curtail window`",
    bad: r#"{"role":"system","content":"Answer in one sentence."}
{"role":"assistant","content":"It is raining in Oslo."}
"#,
    good: r#"{"role":"system","content":"Answer in one sentence."}
{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"It is raining in Oslo."}
"#,
    detector: Detector::Transcript(no_user_message),
    ..RULE
};

fn no_user_message<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if context.messages.is_empty() || context.is_continued() || context.messages.iter().any(asks) {
        return Vec::new();
    }
    vec![context.match_all("the transcript has no user message")]
}

/// Whether a message asks: results alone, whatever their role, do not.
fn asks(message: &Message<'_>) -> bool {
    message.is_exchange() || message.role == Role::User && message.parts.iter().any(|part| !part.content.is_tool())
}

pub(super) static FIRST_SPEAKER: Rule = Rule {
    code: "T002",
    name: "first-speaker",
    summary: "The conversation does not begin with a user message.",
    why: "Some formats require that a user message comes first, after the instructions. They reject a window that \
          begins with an answer. `curtail window --start-on user` begins at a user message. In a session log, whose \
          program can put something before it, and for trainers, the finding is a warning.",
    help: "begin with a user message, for example with `curtail window --start-on user`",
    command: "curtail window --start-on user -n 1000000 --in-place FILE",
    bad: r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"weather","input":{"city":"Oslo"}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"rain"},{"type":"text","text":"So?"}]}
{"role":"assistant","content":[{"type":"text","text":"It is raining."}]}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"weather","input":{"city":"Oslo"}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"rain"},{"type":"text","text":"So?"}]}
{"role":"assistant","content":[{"type":"text","text":"It is raining."}]}
"#,
    detector: Detector::Transcript(first_speaker),
    ..RULE
};

fn first_speaker<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let Some(required) = context.provider_rules.first_speaker else { return Vec::new() };
    let Some((at, first)) = context.dialogue().next() else { return Vec::new() };
    // Another rule reports a transcript without that role. A provider reads a compaction in place of what was said before it,
    // whoever wrote the compaction.
    if first.role == required || first.is_boundary() || context.of_role(required).next().is_none() {
        return Vec::new();
    }
    let (role, required) = (first.role.name(), required.name());
    let text = format!("the conversation begins with the role `{role}`, not with `{required}`");
    let is_mild = context.provider_rules.log || names(context.provider_rules.provider, "first message").is_none();
    vec![context.match_message(at, text).warning_if(is_mild)]
}

pub(super) static ALTERNATION: Rule = Rule {
    code: "T003",
    name: "alternation",
    level: Level::Warn,
    summary: "Two consecutive messages are from the same side.",
    why: "Bedrock, and trainers that read ShareGPT by position, require that user and assistant alternate. They reject \
          a transcript with two consecutive messages from one side, or skip it without a warning. Tool results belong \
          to the user's side. The rule does not apply to formats whose providers join such messages.",
    help: "join the two messages, or drop one: `--fix --unsafe-fixes` joins two that have nothing but a role and a content",
    fix: Fix::Unsafe,
    bad: r#"{"conversations":[{"from":"human","value":"Is it raining in Oslo?"},{"from":"human","value":"Hello?"},{"from":"gpt","value":"It is."}]}
"#,
    good: r#"{"conversations":[{"from":"human","value":"Is it raining in Oslo?"},{"from":"gpt","value":"It is."}]}
"#,
    detector: Detector::Transcript(alternation),
    ..RULE
};

fn alternation<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if context.provider_rules.turns != Turns::Alternate {
        return Vec::new();
    }
    let pairs = same_side(context.dialogue());
    // Messages that are joined have one text: each pair by itself would lose that of the third.
    let runs = pairs.chunk_by(|one, next| one[1] == next[0] && is_joinable(context, one) && is_joinable(context, next));
    runs.flat_map(|run| {
        run.iter().enumerate().map(|(nth, &[first, second])| {
            let side =
                if context.messages[second].role == Role::Assistant { "the assistant" } else { "the user's side" };
            let found = context.match_message(second, format!("two consecutive messages are from {side}"));
            let found = Match { other: context.messages[first].value().map(|value| (first, value)), ..found };
            match nth {
                _ if !is_joinable(context, &run[0]) => found,
                0 => {
                    let (earlier, text) = joined(context, run);
                    found.editing(earlier, text)
                }
                _ => found.mended_with_earlier(),
            }
        })
    })
    .collect()
}

/// Members that say who speaks.
const ROLES: [&str; 2] = ["role", "from"];

/// Members that say what.
const CONTENTS: [&str; 3] = ["content", "parts", "value"];

/// Whether two messages have the same role, the same kind of content, and nothing else. A text that is a call is not joined with
/// another: the joined text would not be read as a call.
fn is_joinable(context: &RuleContext<'_, '_>, pair: &[usize; 2]) -> bool {
    let [Some(one), Some(two)] = pair.map(|at| context.messages[at].value()) else { return false };
    let roles = [one, two].map(|item| member(item, &ROLES).map(Value::raw));
    let kinds = [one, two].map(|item| member(item, &CONTENTS).map(Value::kind));
    let are_joined = match kinds[0] {
        Some(ValueKind::Array) => true,
        Some(ValueKind::String) => pair.iter().all(|at| !context.messages[*at].has_tools()),
        _ => false,
    };
    !context.provider_rules.log
        && one != two
        && roles[0].is_some()
        && roles[0] == roles[1]
        && kinds[0] == kinds[1]
        && are_joined
        && is_bare(one)
        && is_bare(two)
}

/// What is removed and written so that the content of all messages of a run is that of the last.
fn joined<'a>(context: &RuleContext<'_, 'a>, run: &[[usize; 2]]) -> (Vec<Value<'a>>, Vec<Patch>) {
    let messages = run[..1].iter().map(|pair| pair[0]).chain(run.iter().map(|pair| pair[1]));
    let mut items: Vec<Value<'a>> = messages.filter_map(|at| context.messages[at].value()).collect();
    let contents: Vec<Value<'a>> = items.iter().filter_map(|item| member(*item, &CONTENTS)).collect();
    let Some(last) = contents.last() else { return (Vec::new(), Vec::new()) };
    let text = if last.is_array() {
        let blocks: Vec<&str> = contents.iter().flat_map(|list| list.items()).map(Value::raw).collect();
        format!("[{}]", blocks.join(","))
    } else {
        let texts: Vec<Text<'a>> = contents.iter().filter_map(|text| text.text()).collect();
        quote(&texts.iter().map(Text::decode).collect::<Vec<_>>().join("\n\n"))
    };
    items.pop();
    (items, vec![Patch { span: last.span(), text }])
}

/// The first of the members `names` that `item` has.
fn member<'a>(item: Value<'a>, names: &[&str]) -> Option<Value<'a>> {
    names.iter().find_map(|name| item.get(name))
}

/// Whether a message has nothing but a role and a content.
fn is_bare(item: Value<'_>) -> bool {
    item.members().all(|member| ROLES.iter().chain(&CONTENTS).any(|name| member.key.is(name)))
}

pub(super) static ENDS_WITH_ASSISTANT: Rule = Rule {
    code: "T004",
    name: "ends-with-assistant",
    level: Level::Allow,
    summary: "The last message is from the assistant.",
    why: "A finished conversation ends with an answer, and so does a training example: the rule is off by default. \
          Turn it on for transcripts that will be sent as they are, because newer models accept no answer that has \
          already begun.",
    help: "end with a user message or a tool result: `--fix --unsafe-fixes` drops the answers at the end",
    fix: Fix::Unsafe,
    flags: "-W ends-with-assistant",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"It is."}
{"role":"user","content":"And in Rome?"}
{"role":"assistant","content":"No."}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"It is."}
{"role":"user","content":"And in Rome?"}
"#,
    detector: Detector::Transcript(ends_with_assistant),
    ..RULE
};

fn ends_with_assistant<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let dialogue: Vec<(usize, &Message<'a>)> = context.dialogue().collect();
    let answers = dialogue.iter().rev().take_while(|(_, message)| message.role == Role::Assistant);
    let answers: Vec<_> = answers.take_while(|(at, message)| is_answer(context, *at, message)).collect();
    let Some((last, _)) = answers.first() else { return Vec::new() };
    let items = answers.iter().filter_map(|(_, message)| message.value()).collect();
    vec![context.match_message(*last, "the last message is from the assistant").cutting(items)]
}

/// Whether a message is what the assistant says: it has no calls, or the provider answered them and text follows.
fn is_answer(context: &RuleContext<'_, '_>, at: usize, message: &Message<'_>) -> bool {
    if message.calls().next().is_none() {
        return true;
    }
    let mut parts = message.parts.iter().rev();
    let last = parts.find(|part| part.content.is_tool() || part.content.has_text());
    let mut calls = message.calls();
    calls.all(|(part, call)| call.hosted && context.pairs.counterpart(PartRef { message: at, part }).is_some())
        && last.is_some_and(|part| !part.content.is_tool())
}

pub(super) static SYSTEM_NOT_FIRST: Rule = Rule {
    code: "T005",
    name: "system-not-first",
    level: Level::Warn,
    summary: "A system message comes after the beginning.",
    why: "Many chat templates accept one block of instructions at the beginning and fail on any other; so do some \
          providers. Merged transcripts, and wrongly cut ones, have instructions in the middle. Anthropic's API accepts them \
          there, so its messages are not examined.",
    help: "move the instructions to the beginning, or let the user say them: `--fix --unsafe-fixes` does the latter in \
           formats with a `role`",
    fix: Fix::Unsafe,
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"system","content":"Answer in one sentence."}
{"role":"assistant","content":"It is."}
"#,
    good: r#"{"role":"system","content":"Answer in one sentence."}
{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"It is."}
"#,
    detector: Detector::Transcript(system_not_first),
    ..RULE
};

fn system_not_first<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if context.provider_rules.system_anywhere {
        return Vec::new();
    }
    let mut begun = HashSet::new();
    let mut lists = HashSet::new();
    let mut matches = Vec::new();
    for (at, message) in context.read_messages() {
        // A log that keeps the messages of each run in a list of its own has their instructions at the beginning of each. Of an
        // answer that repeats its prompt, what is before stands in another list.
        let list = message.value().and_then(Value::parent).filter(|list| list.is_array());
        let first = list.and_then(|list| list.items().next());
        if lists.insert(list) && !begun.is_empty() && first != message.value() {
            begun.insert(list);
        }
        if !message.role.instructs() {
            begun.insert(list);
            continue;
        }
        // Programs for the Responses API send instructions of the developer whenever something changes.
        let may_be_late = message.role == Role::Developer && context.provider_rules.server_state;
        if begun.contains(&list) && !may_be_late {
            let text = format!("a {} message comes after the beginning", message.role.name());
            matches.push(context.match_message(at, text).writing(context.said_by_user(at)));
        }
    }
    matches
}

pub(super) static TRAILING_WHITE_SPACE: Rule = Rule {
    code: "T006",
    name: "trailing-white-space",
    level: Level::Allow,
    summary: "The last message is from the assistant and ends with white space.",
    why: "A model that goes on from the beginning of its answer cannot go on from white space, and Anthropic rejects the \
          request. The rule is off by default, because a finished conversation ends with an answer that nobody continues.",
    help: "remove the white space: `--fix` does this",
    fix: Fix::Part,
    flags: "-W trailing-white-space",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"It is "}
"#,
    good: ANSWER,
    detector: Detector::Transcript(trailing_white_space),
    ..RULE
};

fn trailing_white_space<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let Some((at, message)) = context.dialogue().last() else { return Vec::new() };
    let last = message.parts.iter().enumerate().next_back();
    let Some((part, Content::Text(text))) = last.map(|(nth, part)| (nth, &part.content)) else { return Vec::new() };
    let written = text.decode();
    let trimmed = written.trim_end();
    if message.role != Role::Assistant || trimmed.len() == written.len() || trimmed.is_empty() {
        return Vec::new();
    }
    let at = PartRef { message: at, part };
    let place = at.part_in(context.messages).place();
    let (copies, written) = place.map(|place| rewriting(place, trimmed)).unwrap_or_default();
    vec![context.match_at(at, "the last message ends with white space").editing(copies, written)]
}

pub(super) static USER_AFTER_TOOL: Rule = Rule {
    code: "T007",
    name: "user-after-tool",
    level: Level::Allow,
    summary: "A user message directly follows a tool result.",
    why: "Mistral's API, and chat templates like its own, expect the assistant to speak after a tool. A person who interrupts \
          the assistant there leaves a transcript that is rejected. The rule is off by default, because all others accept it.",
    help: "put an assistant message between the two; curtail does not write it, because it would invent what the assistant said",
    flags: "-W user-after-tool",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"rain"}
{"role":"user","content":"Hello?"}
{"role":"assistant","content":"It is."}
"#,
    good: super::ANSWERED_CALL,
    detector: Detector::Transcript(user_after_tool),
    ..RULE
};

fn user_after_tool<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let dialogue: Vec<(usize, &Message<'a>)> = context.dialogue().collect();
    let pairs = dialogue.windows(2).filter(|pair| pair[0].1.role == Role::Tool && pair[1].1.role == Role::User);
    pairs.map(|pair| context.match_message(pair[1].0, "a user message directly follows a tool result")).collect()
}
