//! Reasoning, the calls that it led to, and the signatures of both.

use super::RULE;
use crate::checks::constraints::states;
use crate::checks::{Detector, Fix, Level, Match, Rule, RuleContext, member_first};
use crate::dialects::Patch;
use crate::json::Value;
use crate::transcript::{
    BESIDE_CALLS, Message, PartRef, calls_without_reasoning, emptied_thoughts, items_without_reasoning,
    loose_reasoning, messages_without_reasoning, replies_of_thinking_alone, stored_reasoning, thoughts_not_first,
    unsigned_calls, unsigned_thoughts,
};

pub(super) static REASONING_WITHOUT_CALL: Rule = Rule {
    code: "S008",
    name: "reasoning-without-call",
    summary: "A reasoning item is not followed by the item that it produced.",
    why: "The Responses API ties a reasoning item to the call or the message that it produced. If a filter drops the \
          call and keeps the reasoning, the request fails. In a session log, the finding is a warning. With `--stateful` \
          the rule ignores the end of a transcript, because the provider may store what follows.",
    help: "drop the reasoning, or put back the item that it produced: `--fix` drops it",
    fix: Fix::Part,
    bad: r#"{"type":"message","role":"user","content":"Is it raining in Oslo?"}
{"type":"reasoning","id":"rs_1","summary":[]}
{"type":"message","role":"user","content":"Hello?"}
{"type":"message","role":"assistant","content":"It is."}
"#,
    good: r#"{"type":"message","role":"user","content":"Is it raining in Oslo?"}
{"type":"reasoning","id":"rs_1","summary":[]}
{"type":"message","role":"assistant","content":"It is."}
"#,
    detector: Detector::Transcript(reasoning_without_call),
    ..RULE
};

fn reasoning_without_call<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if !context.provider_rules.server_state {
        return Vec::new();
    }
    let last = context.messages.len().saturating_sub(1);
    let loose = loose_reasoning(context.messages).into_iter().filter(|at| *at < last || !context.stateful);
    let text = "the reasoning is not followed by the item that it produced";
    loose.map(|at| context.match_message(at, text).cut().warning_if(context.provider_rules.log)).collect()
}

pub(super) static CALL_WITHOUT_REASONING: Rule = Rule {
    code: "S009",
    name: "call-without-reasoning",
    level: Level::Warn,
    summary: "A stored call has lost the reasoning that produced it.",
    why: "When a reasoning model calls a tool, the Responses API requires the reasoning item together with the call, \
          as long as the call carries the id under which it was stored. A transcript does not show this with \
          certainty: the rule warns if the transcript has reasoning elsewhere and a reply that calls a tool has none.",
    help: "put the reasoning back before the call, or remove the call's own `id` (not its `call_id`): `--fix` removes it",
    fix: Fix::Part,
    bad: r#"{"type":"message","role":"user","content":"Is it raining in Oslo?"}
{"type":"function_call","id":"fc_1","call_id":"call_1","name":"weather","arguments":"{\"city\":\"Oslo\"}"}
{"type":"function_call_output","call_id":"call_1","output":"rain"}
{"type":"reasoning","id":"rs_2","summary":[]}
{"type":"message","role":"assistant","content":"It is."}
"#,
    good: r#"{"type":"message","role":"user","content":"Is it raining in Oslo?"}
{"type":"reasoning","id":"rs_1","summary":[]}
{"type":"function_call","id":"fc_1","call_id":"call_1","name":"weather","arguments":"{\"city\":\"Oslo\"}"}
{"type":"function_call_output","call_id":"call_1","output":"rain"}
{"type":"reasoning","id":"rs_2","summary":[]}
{"type":"message","role":"assistant","content":"It is."}
"#,
    detector: Detector::Transcript(call_without_reasoning),
    ..RULE
};

fn call_without_reasoning<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    [stored_calls(context), inside_messages(context)].concat()
}

/// Messages with items inside, one of which refers to reasoning that is gone.
fn inside_messages<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if context.provider_rules.server_state {
        return Vec::new();
    }
    let lost = messages_without_reasoning(context.messages).into_iter();
    lost.map(|at| context.match_message(at, "a call has an item id, but the reasoning before it is missing")).collect()
}

fn stored_calls<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if !context.provider_rules.server_state {
        return Vec::new();
    }
    let lost = items_without_reasoning(context.messages, context.is_refused).into_iter().map(|at| {
        let item = if context.messages[at].calls().next().is_some() { "call" } else { "item" };
        let text = format!("the {item} has its own `id`, but the reasoning before it is missing");
        context.match_message(at, text).removing(context.own_id(at).into_iter().collect())
    });
    lost.collect()
}

pub(super) static THINKING_ONLY_MESSAGE: Rule = Rule {
    code: "S010",
    name: "thinking-only-message",
    summary: "A reply contains thinking and nothing else.",
    why: "A reply that was interrupted after its thinking, or lost its only call to a filter, ends with a thinking \
          block, which Anthropic rejects. Consecutive records are one reply, because session logs split replies. At \
          the end of a transcript the finding is a warning, because the rest may follow. In a session log it is a \
          warning too: the program that wrote the log leaves such replies out of its requests.",
    help: "drop the message, or put back its content: `--fix` drops it",
    fix: Fix::Part,
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"thinking","thinking":"Rain, then.","signature":"c2lnbmVk"}]}
{"role":"user","content":"Hello?"}
{"role":"assistant","content":[{"type":"text","text":"It is."}]}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"thinking","thinking":"Rain, then.","signature":"c2lnbmVk"},{"type":"text","text":"It is."}]}
"#,
    detector: Detector::Transcript(thinking_only_message),
    ..RULE
};

fn thinking_only_message<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if context.provider_rules.signatures.is_empty() {
        return Vec::new();
    }
    let is_mild = context.provider_rules.log || context.provider_rules.converts;
    let found = replies_of_thinking_alone(context.messages).into_iter().map(|reply| {
        let found = context.match_message(reply.at, "the reply contains thinking and nothing else").cut();
        found.warning_if(reply.is_last || is_mild)
    });
    found.collect()
}

pub(super) static SIGNATURE_LOST: Rule = Rule {
    code: "S011",
    name: "signature-lost",
    summary: "A thinking block or a call has lost its signature.",
    why: "Anthropic signs thinking blocks and rejects a block whose signature is missing or does not match its text: \
          keep a thinking block whole, or drop it whole. Gemini signs the first call of each reply; if that call is \
          dropped, the whole reply has lost its signature. As Gemini does, the rule examines only the calls since the last \
          text of the user, and only in transcripts that have signed calls. A signature that no longer matches the \
          messages before it cannot be seen in a transcript: cut with --thinking auto to drop such thoughts.",
    help: "drop the whole thinking block, or put its signature back: `--fix` drops it; `--fix --unsafe-fixes` gives a call of \
           Gemini the signature that the provider does not check",
    fix: Fix::Part,
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"thinking","thinking":"Rain, then."},{"type":"text","text":"It is."}]}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"thinking","thinking":"Rain, then.","signature":"c2lnbmVk"},{"type":"text","text":"It is."}]}
"#,
    detector: Detector::Transcript(signature_lost),
    ..RULE
};

fn signature_lost<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    [unsigned_thinking(context), calls_of_unsigned_replies(context)].concat()
}

fn unsigned_thinking<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    const SIGNED: &str = "signed thoughts";
    let rules = &context.provider_rules;
    // A program that writes its messages anew keeps the thoughts of models that sign none.
    if rules.converts && !states(rules.provider, SIGNED) {
        return Vec::new();
    }
    let text = "the thinking block has no signature";
    let unsigned = unsigned_thoughts(context.messages, rules.signatures).into_iter();
    unsigned.map(|at| context.match_at(at, text).of(SIGNED).cut().warning_if(rules.converts)).collect()
}

fn calls_of_unsigned_replies<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let unsigned = unsigned_calls(context.messages, context.provider_rules.call_signatures, context.is_refused);
    let found = unsigned.into_iter().map(|at| {
        let found = context.match_at(at, "no part of the reply has a signature").of("signatures");
        match context.element(at).filter(|call| call.has("functionCall")) {
            Some(call) => found.writing([member_first(call, UNCHECKED)]).unsafely(),
            None => found,
        }
    });
    found.collect()
}

/// The signature that Gemini's pages name for calls that the model did not make: it is accepted unread.
const UNCHECKED: &str = "\"thoughtSignature\":\"skip_thought_signature_validator\"";

pub(super) static EMPTIED_THINKING: Rule = Rule {
    code: "S024",
    name: "emptied-thinking",
    level: Level::Allow,
    summary: "A thinking block has a signature and no text.",
    why: "A signature proves that the text is the model's own. If a program saves the block without its text, the provider \
          says that thinking blocks \"cannot be modified\" and rejects every further request of the session. Newer models hide \
          their thoughts and send such blocks themselves, so an empty one is not a fault by itself: the rule is off by \
          default. Turn it on for a session that was rejected.",
    help: "drop the thinking block: `--fix` does this",
    fix: Fix::Part,
    flags: "-W emptied-thinking",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"c2lnbmVk"},{"type":"text","text":"It is."}]}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"thinking","thinking":"Rain, then.","signature":"c2lnbmVk"},{"type":"text","text":"It is."}]}
"#,
    detector: Detector::Transcript(emptied_thinking),
    ..RULE
};

fn emptied_thinking<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let text = "the thinking block has a signature and no text";
    let emptied = emptied_thoughts(context.messages, context.provider_rules.signatures).into_iter();
    emptied.map(|at| context.match_at(at, text).of("emptied thinking").cut()).collect()
}

pub(super) static STORED_ITEM: Rule = Rule {
    code: "S028",
    name: "stored-item",
    level: Level::Allow,
    summary: "A reasoning item is sent by its id alone.",
    why: "Without `encrypted_content`, a reasoning item only names what the provider stored. A request with `store: false`, of \
          another account, or after a month does not find it. The rule is off by default, because a provider that stores \
          the items finds them.",
    help: "drop the reasoning, or request `reasoning.encrypted_content`: `--fix` drops it",
    fix: Fix::Part,
    flags: "-W stored-item",
    bad: r#"{"type":"message","role":"user","content":"Is it raining in Oslo?"}
{"type":"reasoning","id":"rs_1","summary":[]}
{"type":"message","role":"assistant","content":"It is."}
"#,
    good: r#"{"type":"message","role":"user","content":"Is it raining in Oslo?"}
{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAAABn"}
{"type":"message","role":"assistant","content":"It is."}
"#,
    detector: Detector::Transcript(stored_item),
    ..RULE
};

fn stored_item<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if !context.provider_rules.server_state {
        return Vec::new();
    }
    let stored = stored_reasoning(context.messages).into_iter();
    stored.map(|at| context.match_message(at, "the reasoning is sent by its id alone").cut()).collect()
}

pub(super) static MISSING_REASONING: Rule = Rule {
    code: "S029",
    name: "missing-reasoning",
    level: Level::Warn,
    summary: "A reply has lost the reasoning that the provider wants back.",
    why: "DeepSeek and Kimi want the reasoning of every reply that called a tool, as long as the model thinks, and Anthropic \
          wants it first in its message, unless the thinking is adaptive. A filter that drops reasoning, or a program that \
          forgets it now and then, breaks the session. A transcript does not show this with certainty: the rule warns if \
          a reply that calls a tool has no reasoning, and replies before and after it have.",
    help: "put the reasoning back; `--fix --unsafe-fixes` writes a blank thought beside the calls, after which models have \
           answered with nothing. If the model thinks no more, `curtail filter --strip all-reasoning` drops that of all replies. \
           Thinking that is not first stays where it is, because its signature binds it",
    fix: Fix::Unsafe,
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"reasoning_content":"I should look.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"rain"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_2","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Rome\"}"}}]}
{"role":"tool","tool_call_id":"call_2","content":"sun"}
{"role":"assistant","content":"It is.","reasoning_content":"Rain, then."}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"reasoning_content":"I should look.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"rain"}
{"role":"assistant","content":null,"reasoning_content":"And there.","tool_calls":[{"id":"call_2","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Rome\"}"}}]}
{"role":"tool","tool_call_id":"call_2","content":"sun"}
{"role":"assistant","content":"It is.","reasoning_content":"Rain, then."}
"#,
    detector: Detector::Transcript(missing_reasoning),
    ..RULE
};

fn missing_reasoning<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    [late_thoughts(context), calls_without_thoughts(context)].concat()
}

/// Messages whose thinking comes after other content, where a provider signs it.
fn late_thoughts<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let is_free = !context.is_refused && context.record.is_some_and(thinks_adaptively);
    if context.provider_rules.log || context.provider_rules.signatures.is_empty() || is_free {
        return Vec::new();
    }
    let text = "the thinking of the message is not its first block";
    let first = thoughts_not_first(context.messages).into_iter().map(|message| PartRef { message, part: 0 });
    first.map(|at| context.match_at(at, text).of("thinking first")).collect()
}

/// Whether a request lets the model think where it wants to.
fn thinks_adaptively(request: Value<'_>) -> bool {
    let holder = request.get("additionalModelRequestFields").unwrap_or(request);
    holder.get("thinking").is_some_and(|thinking| thinking.get("type").is_some_and(|kind| kind.is("adaptive")))
}

/// Replies with calls and without the reasoning that stands beside a message.
fn calls_without_thoughts<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let rules = &context.provider_rules;
    let is_elsewhere = rules.server_state || !rules.signatures.is_empty() || !rules.call_signatures.is_empty();
    if rules.log || rules.provider.is_empty() || is_elsewhere {
        return Vec::new();
    }
    let is_wanted = states(rules.provider, BESIDE_CALLS);
    let is_named = is_wanted || context.messages.iter().filter_map(Message::value).any(|item| item.has(BESIDE_CALLS));
    let lost = calls_without_reasoning(context.messages, is_wanted).into_iter().map(|at| {
        let found = context.match_message(at, "the reply calls a tool and has lost its reasoning").of(BESIDE_CALLS);
        found.writing(context.messages[at].value().filter(|_| is_named).map(blank_thought))
    });
    lost.collect()
}

/// The patch that writes a thought without words. Some models want more than an empty text.
fn blank_thought(item: Value<'_>) -> Patch {
    match item.get(BESIDE_CALLS) {
        Some(empty) => Patch { span: empty.span(), text: String::from("\" \"") },
        None => member_first(item, &format!("\"{BESIDE_CALLS}\":\" \"")),
    }
}
