//! Calls without results, results without calls, and pairs that do not match.

use super::rounds::{explained_calls, miscounted_messages, miscounted_rounds};
use super::{ANSWERED_CALL, RULE};
use crate::checks::constraints::states;
use crate::checks::{Detector, Fix, Level, Match, Rule, RuleContext};
use crate::numbers::number_of;
use crate::transcript::{Family, Fault, FaultKind, PairingRules, Placement, ResultPlace};

pub(super) static ORPHAN_RESULT: Rule = Rule {
    code: "P001",
    name: "orphan-result",
    summary: "A tool result answers no earlier call.",
    why: "A result belongs to the closest earlier open call with its id. If there is none, a window was cut between \
          call and result, or the id was changed on one side only. Providers reject the whole transcript. A session \
          with an orphan result stays broken, because every later request repeats it.\n\n\
          The result of a tool that the provider runs needs its call too, in the same message. With \
          `--stateful`, a result may answer a call that the provider stores, and the rule does not apply to formats \
          that allow this.",
    help: "put its call back before the result, or drop the result: `--fix` drops it",
    fix: Fix::Pairs(Some(FaultKind::OrphanResult)),
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"tool","tool_call_id":"call_1","content":"rain"}
{"role":"assistant","content":"It is."}
"#,
    good: ANSWERED_CALL,
    detector: Detector::Transcript(orphan_result),
    ..RULE
};

fn orphan_result<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if context.is_continued() {
        return Vec::new();
    }
    let miscounted = miscounted_messages(context);
    let orphans = context.faults(FaultKind::OrphanResult);
    let orphans = orphans.filter(|fault| !context.lacks_id(fault.at) && !miscounted.contains(&fault.at.message));
    context.match_faults(orphans, |result| format!("the result of {result} answers no earlier call"))
}

pub(super) static UNANSWERED_CALL: Rule = Rule {
    code: "P002",
    name: "unanswered-call",
    summary: "A tool call has no result, although the conversation continues.",
    why: "Every call needs a result before another message follows. Calls stay unanswered when a tool is interrupted, \
          when a session is compacted while the tool runs, or when a filter removes the result. Providers reject the \
          transcript, and a model that is trained on it learns not to wait for results.\n\n\
          A call that the provider runs itself carries its result and needs no other. A call at the very end is \
          [pending-call](pending-call.md).",
    help: "drop the call, or answer it: `--fix=stub` adds a result that says it was interrupted",
    fix: Fix::Pairs(Some(FaultKind::UnansweredCall)),
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"user","content":"Hello?"}
{"role":"assistant","content":"Sorry, I was away."}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"[interrupted: this tool call was never answered]"}
{"role":"user","content":"Hello?"}
{"role":"assistant","content":"Sorry, I was away."}
"#,
    detector: Detector::Transcript(unanswered_call),
    ..RULE
};

fn unanswered_call<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let miscounted = miscounted_messages(context);
    let explained = explained_calls(context);
    let open = context.faults(FaultKind::UnansweredCall);
    let open = open.filter(|fault| !context.lacks_id(fault.at) && !miscounted.contains(&fault.at.message));
    let open = open.filter(|fault| !explained.contains(&fault.at));
    context.match_faults(open, |call| format!("the call of {call} has no result"))
}

pub(super) static PENDING_CALL: Rule = Rule {
    code: "P003",
    name: "pending-call",
    level: Level::Warn,
    summary: "A tool call at the end of the transcript has no result yet.",
    why: "A transcript that is saved while a tool runs ends with an open call. The session is in the middle of a round \
          and nothing is broken: the result may still arrive. A provider would reject the transcript as it is, and as \
          a training example it ends before the result.",
    help: "add the result, or repair with `--fix --repair-pending`",
    fix: Fix::Pairs(Some(FaultKind::PendingCall)),
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"rain"}
"#,
    detector: Detector::Transcript(pending_call),
    ..RULE
};

fn pending_call<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let explained = explained_calls(context);
    let open = context.faults(FaultKind::PendingCall);
    let open = open.filter(|fault| !context.lacks_id(fault.at) && !explained.contains(&fault.at));
    context.match_faults(open, |call| format!("the call of {call} has no result yet"))
}

pub(super) static DUPLICATE_RESULT: Rule = Rule {
    code: "P005",
    name: "duplicate-result",
    summary: "A tool call has two results.",
    why: "A second result for an answered call comes from a retry, or from a resumed session that wrote its last \
          messages again. Providers reject it. Repair keeps the first result, because the rest of the conversation \
          builds on it.",
    help: "drop the second result: `--fix` does this",
    fix: Fix::Pairs(Some(FaultKind::DuplicateResult)),
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"rain"}
{"role":"tool","tool_call_id":"call_1","content":"rain, still"}
{"role":"assistant","content":"It is."}
"#,
    good: ANSWERED_CALL,
    detector: Detector::Transcript(duplicate_result),
    ..RULE
};

fn duplicate_result<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let again = context.faults(FaultKind::DuplicateResult).filter(|fault| !context.lacks_id(fault.at));
    let beside_first = again.map(|fault| {
        let first = fault.other.and_then(|call| context.pairs.counterpart(call));
        Fault { other: first.or(fault.other), ..fault }
    });
    context.match_faults(beside_first, |call| format!("the call of {call} already has a result"))
}

pub(super) static RESULT_BEFORE_CALL: Rule = Rule {
    code: "P006",
    name: "result-before-call",
    summary: "A tool result comes before the call that it answers.",
    why: "Messages were sorted by a clock that was set back, or merged from two logs in the wrong order. Calls and \
          results are paired forward only: the result answers nothing, and the call has no result.",
    help: "put the call before its result: `--fix` moves the result behind its call",
    fix: Fix::Pairs(Some(FaultKind::ResultBeforeCall)),
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"tool","tool_call_id":"call_1","content":"rain"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"assistant","content":"It is."}
"#,
    good: ANSWERED_CALL,
    detector: Detector::Transcript(result_before_call),
    ..RULE
};

fn result_before_call<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let early = context.faults(FaultKind::ResultBeforeCall);
    context.match_faults(early, |result| format!("the result of {result} comes before its call"))
}

pub(super) static FAMILY_MISMATCH: Rule = Rule {
    code: "P008",
    name: "family-mismatch",
    summary: "A tool result is of another kind than the call with the same id.",
    why: "Each kind of call has its own kind of result: only a `custom_tool_call_output` answers a `custom_tool_call`. \
          No provider accepts a result of the wrong kind, even if the ids are equal.",
    help: "answer the call with its own kind of result",
    fix: Fix::Pairs(Some(FaultKind::FamilyMismatch)),
    bad: r#"{"type":"message","role":"user","content":"Is it raining in Oslo?"}
{"type":"custom_tool_call","call_id":"call_1","name":"weather","input":"Oslo"}
{"type":"function_call_output","call_id":"call_1","output":"rain"}
{"type":"message","role":"assistant","content":"It is."}
"#,
    good: r#"{"type":"message","role":"user","content":"Is it raining in Oslo?"}
{"type":"custom_tool_call","call_id":"call_1","name":"weather","input":"Oslo"}
{"type":"custom_tool_call_output","call_id":"call_1","output":"rain"}
{"type":"message","role":"assistant","content":"It is."}
"#,
    detector: Detector::Transcript(family_mismatch),
    ..RULE
};

fn family_mismatch<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let other_kind = context.faults(FaultKind::FamilyMismatch);
    context.match_faults(other_kind, |result| {
        format!("the result of {result} is of another kind than the call with the same id")
    })
}

pub(super) static NAME_MISMATCH: Rule = Rule {
    code: "S006",
    name: "name-mismatch",
    level: Level::Warn,
    summary: "A tool result names another tool than its call.",
    why: "A result that repeats the name of its tool should repeat the name that was called. A difference points to a \
          renamed tool or to swapped results: the ids match, the content does not.",
    help: "give the call and the result the same tool name",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"tool","tool_call_id":"call_1","name":"calendar","content":"rain"}
{"role":"assistant","content":"It is."}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"tool","tool_call_id":"call_1","name":"weather","content":"rain"}
{"role":"assistant","content":"It is."}
"#,
    detector: Detector::Transcript(name_mismatch),
    ..RULE
};

fn name_mismatch<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let mismatches = context.pairs.pairs().filter_map(|(call, result)| {
        let called = context.tool_name(call)?;
        let named = context.tool_name(result).filter(|named| *named != called)?;
        let message = format!("a result of `{named}` answers a call of `{called}`");
        Some(context.match_with(result, Some(call), message))
    });
    mismatches.collect()
}

// Results that are not where the format requires them.

pub(super) static DETACHED_RESULT: Rule = Rule {
    code: "P007",
    name: "detached-result",
    summary: "A tool result does not directly follow its call.",
    why: "The position of results matters. OpenAI requires them in the messages directly after the call, before any \
          other role; Anthropic and Bedrock require them in the next user message. A result after another message has \
          the right id, and the provider still rejects it.\n\n\
          Records that are parts of one reply, and results in several consecutive user messages, are treated as one \
          message.\n\n\
          Some formats pair by id alone, wherever the result is, and the rule never has a finding in them unless \
          `--profile` names a stricter provider: `antigravity`, `claude-code`, `codex`, `copilot`, `droid`, \
          `gemini-interactions`, `kimi`, `openai-conversations`, `openhands`, `qwen`, `responses`, \
          `simple` and `smolagents-chat`.",
    help: "move the result to its call: `--fix` does this",
    fix: Fix::Pairs(Some(FaultKind::DetachedResult)),
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"user","content":"Hello?"}
{"role":"tool","tool_call_id":"call_1","content":"rain"}
{"role":"assistant","content":"It is."}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"rain"}
{"role":"user","content":"Hello?"}
{"role":"assistant","content":"It is."}
"#,
    detector: Detector::Transcript(detached_result),
    ..RULE
};

fn detached_result<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let (_, detached) = misplaced_results(context);
    context.match_faults(detached, |result| format!("the result of {result} does not directly follow its call"))
}

pub(super) static RESULT_NOT_FIRST: Rule = Rule {
    code: "S012",
    name: "result-not-first",
    summary: "A tool result comes after other content of its message.",
    why: "The message after a call must begin with the results of all its calls; the user's own content follows them. \
          A single text block before a result makes the request fail.",
    help: "put the results before the rest of the message: `--fix` does this",
    fix: Fix::Pairs(None),
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"weather","input":{"city":"Oslo"}}]}
{"role":"user","content":[{"type":"text","text":"Here it is:"},{"type":"tool_result","tool_use_id":"toolu_1","content":"rain"}]}
{"role":"assistant","content":[{"type":"text","text":"It is."}]}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"weather","input":{"city":"Oslo"}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"rain"},{"type":"text","text":"There it was."}]}
{"role":"assistant","content":[{"type":"text","text":"It is."}]}
"#,
    detector: Detector::Transcript(result_not_first),
    ..RULE
};

fn result_not_first<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let (late, _) = misplaced_results(context);
    context.match_faults(late, |result| format!("the result of {result} comes after other content of its message"))
}

/// The detached results in two lists: those in the right message, which would not be detached if the order inside a message
/// did not matter, and those in another message.
fn misplaced_results(context: &RuleContext<'_, '_>) -> (Vec<Fault>, Vec<Fault>) {
    let detached: Vec<Fault> = context.faults(FaultKind::DetachedResult).collect();
    if detached.is_empty() || context.pairing_rules.results != ResultPlace::NextMessageFirst {
        return (Vec::new(), detached);
    }
    let lenient = PairingRules { results: ResultPlace::NextMessage, ..context.pairing_rules };
    let placement = Placement::new(context.messages, lenient);
    detached.into_iter().partition(|fault| fault.other.is_some_and(|call| placement.is_attached(call, fault.at)))
}

pub(super) static RESPONSE_COUNT: Rule = Rule {
    code: "S013",
    name: "response-count",
    summary: "A message has more or fewer results than the message before it has calls.",
    why: "Most Gemini transcripts have no ids, and Gemini compares the numbers. The message after a turn of parallel \
          calls must contain exactly one response for each call. Which response is missing, or is one too many, is not \
          known, so the finding is at the message and not at a call.",
    help: "put as many responses into the message as there are calls: `--fix` takes a response for that of the first call \
           with its name, and drops what is left",
    fix: Fix::Pairs(None),
    bad: r#"{"contents":[{"role":"user","parts":[{"text":"Is it raining in Oslo or in Rome?"}]},{"role":"model","parts":[{"functionCall":{"name":"weather","args":{"city":"Oslo"}}},{"functionCall":{"name":"weather","args":{"city":"Rome"}}}]},{"role":"user","parts":[{"functionResponse":{"name":"weather","response":{"sky":"rain"}}}]},{"role":"model","parts":[{"text":"In Oslo."}]}]}
"#,
    good: r#"{"contents":[{"role":"user","parts":[{"text":"Is it raining in Oslo or in Rome?"}]},{"role":"model","parts":[{"functionCall":{"name":"weather","args":{"city":"Oslo"}}},{"functionCall":{"name":"weather","args":{"city":"Rome"}}}]},{"role":"user","parts":[{"functionResponse":{"name":"weather","response":{"sky":"rain"}}},{"functionResponse":{"name":"weather","response":{"sky":"sun"}}}]},{"role":"model","parts":[{"text":"In Oslo."}]}]}
"#,
    detector: Detector::Transcript(response_count),
    ..RULE
};

fn response_count<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let found = miscounted_rounds(context).into_iter().map(|round| {
        let results = number_of(round.results, "result");
        let calls = number_of(round.calls, "call");
        let message = format!("the message has {results}, and the message before it {calls}");
        let last = round.turn.end - 1;
        let other = context.messages[last].value().map(|value| (last, value));
        Match { other, ..context.match_message(round.answers.start, message) }
    });
    found.collect()
}

// The ids by which calls and results are paired.

pub(super) static DUPLICATE_CALL_ID: Rule = Rule {
    code: "P004",
    name: "duplicate-call-id",
    summary: "A tool call has the id of another call.",
    why: "An open call needs an id that no other open call has, or its result cannot be assigned. Some formats require \
          ids that are unique in the whole transcript: there, an id must not be reused even after its call was \
          answered.\n\n\
          In all other formats an id may be reused for a new call once the earlier call was answered.",
    help: "give each call its own id, or drop the duplicate: `--fix` drops it",
    fix: Fix::Pairs(Some(FaultKind::DuplicateCallId)),
    bad: r#"{"role":"user","content":"Is it raining in Oslo or in Rome?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}},{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Rome\"}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"rain"}
{"role":"tool","tool_call_id":"call_1","content":"sun"}
{"role":"assistant","content":"In Oslo, I think."}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo or in Rome?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}},{"id":"call_2","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Rome\"}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"rain"}
{"role":"tool","tool_call_id":"call_2","content":"sun"}
{"role":"assistant","content":"In Oslo."}
"#,
    detector: Detector::Transcript(duplicate_call_id),
    ..RULE
};

fn duplicate_call_id<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let again = context.faults(FaultKind::DuplicateCallId).filter(|fault| !context.lacks_id(fault.at));
    context.match_faults(again, |call| format!("the call of {call} has the id of an earlier call"))
}

pub(super) static MISSING_ID: Rule = Rule {
    code: "P009",
    name: "missing-id",
    summary: "A tool call or a tool result has no id.",
    why: "In a format that pairs calls and results by id, a call or a result without an id can only be paired by its \
          position, which no provider does. Formats that pair by position (Gemini, ShareGPT, the legacy \
          `function_call`) need no ids.",
    help: "give the call and its result the same id, or drop both with `curtail check --fix`",
    fix: Fix::Pairs(None),
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"tool","content":"rain"}
{"role":"assistant","content":"It is."}
"#,
    good: ANSWERED_CALL,
    detector: Detector::Transcript(missing_id),
    ..RULE
};

fn missing_id<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let calls = context.pairs.calls().iter().map(|call| (*call, "call"));
    let parts = calls.chain(context.pairs.results().iter().map(|result| (*result, "result")));
    let nameless = parts.filter(|(at, _)| context.lacks_id(*at));
    nameless.map(|(at, kind)| context.match_at(at, format!("a tool {kind} has no id"))).collect()
}

pub(super) static UNANSWERED_SERVER_CALL: Rule = Rule {
    code: "P010",
    name: "unanswered-server-call",
    summary: "A call of a tool that the provider ran has no result.",
    why: "A call of a tool such as a web search carries its result in the same message, because the provider runs it. If the \
          reply was cut off between the two, or a filter removed the result alone, the provider rejects the transcript. At \
          the end of a transcript the finding is a warning: the reply may go on there.",
    help: "drop the call: `--fix` does this",
    fix: Fix::Part,
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"rain Oslo"}},{"type":"text","text":"It is."}]}
{"role":"user","content":"Thanks."}
{"role":"assistant","content":[{"type":"text","text":"You are welcome."}]}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"rain Oslo"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},{"type":"text","text":"It is."}]}
{"role":"user","content":"Thanks."}
{"role":"assistant","content":[{"type":"text","text":"You are welcome."}]}
"#,
    detector: Detector::Transcript(unanswered_server_call),
    ..RULE
};

fn unanswered_server_call<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if !states(context.provider_rules.provider, "server calls") {
        return Vec::new();
    }
    let last = context.messages.len().saturating_sub(1);
    let open = context.calls().filter(|(at, call)| {
        call.family == Family::Server
            && context.messages[at.message].standing.is_read()
            && context.pairs.counterpart(*at).is_none()
    });
    let found = open.map(|(at, _)| {
        let message = format!("the call of {}, which the provider ran, has no result", context.name_of(at));
        context.match_at(at, message).cut().warning_if(at.message == last || context.provider_rules.log)
    });
    found.collect()
}
