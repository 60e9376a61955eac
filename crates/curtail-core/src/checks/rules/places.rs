//! Results that are not where the format requires them.

use super::{ANTHROPIC_UNANSWERED, BEDROCK_UNANSWERED, GEMINI_COUNT, GEMINI_DETACHED, OPENAI_UNANSWERED};
use crate::checks::{Detector, Level, Match, Rule, RuleContext};
use crate::transcript::{Fault, FaultKind, PairingRules, Placement, ResultPlace};

pub(super) static DETACHED_RESULT: Rule = Rule {
    code: "P007",
    name: "detached-result",
    level: Level::Deny,
    summary: "A tool result does not directly follow its call.",
    why: "The position of results matters. OpenAI requires them in the messages directly after the call, before any \
          other role; Anthropic and Bedrock require them in the next user message. A result after another message has \
          the right id, and the provider still rejects it.\n\n\
          Records that are parts of one reply, and results in several consecutive user messages, are treated as one \
          message.\n\n\
          Some formats pair by id alone, wherever the result is, and the rule never has a finding in them unless \
          `--profile` names a stricter provider: `antigravity`, `claude-code`, `codex`, `copilot`, `droid`, \
          `gemini-interactions`, `kimi`, `openhands`, `qwen`, `responses` and `simple`.",
    help: "move the result to its call: `--fix` does this",
    answers: &[OPENAI_UNANSWERED, ANTHROPIC_UNANSWERED, GEMINI_DETACHED, BEDROCK_UNANSWERED],
    flags: "",
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
};

fn detached_result<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let (_, detached) = misplaced_results(context);
    context.match_faults(detached, |result| format!("the result of {result} does not directly follow its call"))
}

pub(super) static RESULT_NOT_FIRST: Rule = Rule {
    code: "S012",
    name: "result-not-first",
    level: Level::Deny,
    summary: "A tool result comes after other content of its message.",
    why: "The message after a call must begin with the results of all its calls; the user's own content follows them. \
          A single text block before a result makes the request fail.",
    help: "put the results before the rest of the message: `--fix` does this",
    answers: &[(
        "anthropic",
        "Did not find 1 tool_result block(s) at the beginning of this message. Messages following tool_use blocks must begin with a matching number of tool_result blocks.",
    )],
    flags: "",
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
    level: Level::Deny,
    summary: "A message has more or fewer results than the message before it has calls.",
    why: "Most Gemini transcripts have no ids, and Gemini compares the numbers. The message after a turn of parallel \
          calls must contain exactly one response for each call. Which response is missing, or is one too many, is not \
          known, so the finding is at the message and not at a call.",
    help: "put as many responses into the message as there are calls",
    answers: &[GEMINI_COUNT],
    flags: "",
    bad: r#"{"contents":[{"role":"user","parts":[{"text":"Is it raining in Oslo or in Rome?"}]},{"role":"model","parts":[{"functionCall":{"name":"weather","args":{"city":"Oslo"}}},{"functionCall":{"name":"weather","args":{"city":"Rome"}}}]},{"role":"user","parts":[{"functionResponse":{"name":"weather","response":{"sky":"rain"}}}]},{"role":"model","parts":[{"text":"In Oslo."}]}]}
"#,
    good: r#"{"contents":[{"role":"user","parts":[{"text":"Is it raining in Oslo or in Rome?"}]},{"role":"model","parts":[{"functionCall":{"name":"weather","args":{"city":"Oslo"}}},{"functionCall":{"name":"weather","args":{"city":"Rome"}}}]},{"role":"user","parts":[{"functionResponse":{"name":"weather","response":{"sky":"rain"}}},{"functionResponse":{"name":"weather","response":{"sky":"sun"}}}]},{"role":"model","parts":[{"text":"In Oslo."}]}]}
"#,
    detector: Detector::Transcript(response_count),
};

fn response_count<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let plural = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    let wrong = (0..context.messages.len()).filter_map(|at| Some((at, context.miscounted(at)?)));
    wrong
        .map(|(at, round)| {
            let (results, calls) = (plural(round.results, "result"), plural(round.calls, "call"));
            let message = format!("the message has {results}, and the message before it {calls}");
            let other = Some((at, context.messages[at].value()));
            Match { other, ..context.match_message(round.answers.start, message) }
        })
        .collect()
}
