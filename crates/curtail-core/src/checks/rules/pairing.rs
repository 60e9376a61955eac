//! Calls without results, results without calls, and pairs that do not match.

use super::{
    ANSWERED_CALL, ANTHROPIC_ORPHAN, ANTHROPIC_UNANSWERED, BEDROCK_SURPLUS, BEDROCK_UNANSWERED, GEMINI_COUNT,
    GEMINI_DETACHED, OPENAI_ORPHAN, OPENAI_UNANSWERED, RESPONSES_ORPHAN, RESPONSES_UNANSWERED,
};
use crate::checks::{Detector, Level, Match, Rule, RuleContext};
use crate::json::Text;
use crate::transcript::{Fault, FaultKind, PartRef};

pub(super) static ORPHAN_RESULT: Rule = Rule {
    code: "P001",
    name: "orphan-result",
    level: Level::Deny,
    summary: "A tool result answers no earlier call.",
    why: "A result belongs to the closest earlier open call with its id. If there is none, a window was cut between \
          call and result, or the id was changed on one side only. Providers reject the whole transcript. A session \
          with an orphan result stays broken, because every later request repeats it.\n\n\
          The result of a tool that the provider runs needs its call too, in the same message. With \
          `--stateful`, a result may answer a call that the provider stores, and the rule does not apply to formats \
          that allow this.",
    help: "put its call back before the result, or drop the result: `--fix` drops it",
    answers: &[OPENAI_ORPHAN, RESPONSES_ORPHAN, ANTHROPIC_ORPHAN, GEMINI_DETACHED, BEDROCK_SURPLUS],
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"tool","tool_call_id":"call_1","content":"rain"}
{"role":"assistant","content":"It is."}
"#,
    good: ANSWERED_CALL,
    detector: Detector::Transcript(orphan_result),
};

fn orphan_result<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if context.stateful && context.provider_rules.server_state {
        return Vec::new();
    }
    let miscounted = context.miscounted_messages();
    let orphans = context.faults(FaultKind::OrphanResult);
    let orphans = orphans.filter(|fault| !context.lacks_id(fault.at) && !miscounted.contains(&fault.at.message));
    context.match_faults(orphans, |result| format!("the result of {result} answers no earlier call"))
}

pub(super) static UNANSWERED_CALL: Rule = Rule {
    code: "P002",
    name: "unanswered-call",
    level: Level::Deny,
    summary: "A tool call has no result, although the conversation continues.",
    why: "Every call needs a result before another message follows. Calls stay unanswered when a tool is interrupted, \
          when a session is compacted while the tool runs, or when a filter removes the result. Providers reject the \
          transcript, and a model that is trained on it learns not to wait for results.\n\n\
          A call that the provider runs itself carries its result and needs no other. A call at the very end is \
          [pending-call](pending-call.md).",
    help: "drop the call, or answer it: `--fix=stub` adds a result that says it was interrupted",
    answers: &[
        OPENAI_UNANSWERED,
        RESPONSES_UNANSWERED,
        ANTHROPIC_UNANSWERED,
        GEMINI_COUNT,
        BEDROCK_UNANSWERED,
        ("ai-sdk", "AI_MissingToolResultsError"),
        ("mistral", "Not the same number of function calls and responses"),
    ],
    flags: "",
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
};

fn unanswered_call<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let (miscounted, explained) = (context.miscounted_messages(), context.explained_calls());
    let is_explained = |call: PartRef| miscounted.contains(&call.message) || explained.contains(&call);
    let open = context.faults(FaultKind::UnansweredCall);
    let open = open.filter(|fault| !context.lacks_id(fault.at) && !is_explained(fault.at));
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
    answers: &[OPENAI_UNANSWERED, RESPONSES_UNANSWERED, ANTHROPIC_UNANSWERED, ("ai-sdk", "AI_MissingToolResultsError")],
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"rain"}
"#,
    detector: Detector::Transcript(pending_call),
};

fn pending_call<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let explained = context.explained_calls();
    let open = context.faults(FaultKind::PendingCall);
    let open = open.filter(|fault| !context.lacks_id(fault.at) && !explained.contains(&fault.at));
    context.match_faults(open, |call| format!("the call of {call} has no result yet"))
}

pub(super) static DUPLICATE_RESULT: Rule = Rule {
    code: "P005",
    name: "duplicate-result",
    level: Level::Deny,
    summary: "A tool call has two results.",
    why: "A second result for an answered call comes from a retry, or from a resumed session that wrote its last \
          messages again. Providers reject it. Repair keeps the first result, because the rest of the conversation \
          builds on it.",
    help: "drop the second result: `--fix` does this",
    answers: &[
        ("anthropic", "each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_…"),
        OPENAI_ORPHAN,
        BEDROCK_SURPLUS,
    ],
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"rain"}
{"role":"tool","tool_call_id":"call_1","content":"rain, still"}
{"role":"assistant","content":"It is."}
"#,
    good: ANSWERED_CALL,
    detector: Detector::Transcript(duplicate_result),
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
    level: Level::Deny,
    summary: "A tool result comes before the call that it answers.",
    why: "Messages were sorted by a clock that was set back, or merged from two logs in the wrong order. Calls and \
          results are paired forward only: the result answers nothing, and the call has no result.",
    help: "put the call before its result: `--fix` moves the result behind its call",
    answers: &[OPENAI_ORPHAN, RESPONSES_ORPHAN, ANTHROPIC_ORPHAN],
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"tool","tool_call_id":"call_1","content":"rain"}
{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}
{"role":"assistant","content":"It is."}
"#,
    good: ANSWERED_CALL,
    detector: Detector::Transcript(result_before_call),
};

fn result_before_call<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let early = context.faults(FaultKind::ResultBeforeCall);
    context.match_faults(early, |result| format!("the result of {result} comes before its call"))
}

pub(super) static FAMILY_MISMATCH: Rule = Rule {
    code: "P008",
    name: "family-mismatch",
    level: Level::Deny,
    summary: "A tool result is of another kind than the call with the same id.",
    why: "Each kind of call has its own kind of result: only a `custom_tool_call_output` answers a `custom_tool_call`. \
          No provider accepts a result of the wrong kind, even if the ids are equal.",
    help: "answer the call with its own kind of result",
    answers: &[
        ("responses", "No tool output found for custom tool call call_…."),
        (
            "anthropic",
            "messages.N.content.M: unexpected `tool_use_id` found in `advisor_tool_result` blocks: srvtoolu_…. Each `advisor_tool_result` block must have a corresponding `server_tool_use` block before it.",
        ),
    ],
    flags: "",
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
    answers: &[],
    flags: "",
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
};

fn name_mismatch<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let name = |at| context.part(at).content.tool_name().map(Text::decode).filter(|name| !name.is_empty());
    let mismatch = |(call, result)| {
        let (called, named) = (name(call)?, name(result)?);
        let message = || format!("a result of `{named}` answers a call of `{called}`");
        (called != named).then(|| context.match_with(result, Some(call), message()))
    };
    context.pairs.pairs().filter_map(mismatch).collect()
}
