//! A result that is separated from its call.

use super::result_not_first;
use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};

pub(super) static RULE: Rule = Rule {
    code: "P007",
    name: "detached-result",
    group: Group::Pairing,
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
    answers: &[
        (
            "openai",
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_…",
        ),
        (
            "anthropic",
            "messages.N: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_…. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
        ),
        ("gemini", "Please ensure that function response turn comes immediately after a function call turn."),
        ("bedrock", "Expected toolResult blocks at messages.N.content for the following Ids: tooluse_…"),
    ],
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
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let message = |at| format!("the result of {} does not directly follow its call", context.name_of(at));
    let (_, detached) = result_not_first::split(context);
    detached.into_iter().map(|fault| context.match_with(fault.at, fault.other, message(fault.at))).collect()
}
