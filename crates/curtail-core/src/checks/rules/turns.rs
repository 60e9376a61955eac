//! Which roles have messages, and in which order.

use super::ANSWER;
use crate::checks::{Detector, Level, Match, Rule, RuleContext};
use crate::transcript::{Role, Turns, same_side};

pub(super) static NO_USER_MESSAGE: Rule = Rule {
    code: "T001",
    name: "no-user-message",
    level: Level::Warn,
    summary: "The transcript has no user message.",
    why: "A transcript without a user message is usually a part that was cut out of a conversation. Some providers and \
          chat templates reject it. Tool results alone are not a user message, even in a message with the role `user`.",
    help: "keep at least one user message, for example with `curtail window`",
    answers: &[("anthropic", "messages: at least one message is required"), ("gemini", "contents are required")],
    flags: "",
    bad: r#"{"role":"system","content":"Answer in one sentence."}
{"role":"assistant","content":"It is raining in Oslo."}
"#,
    good: r#"{"role":"system","content":"Answer in one sentence."}
{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"It is raining in Oslo."}
"#,
    detector: Detector::Transcript(no_user_message),
};

fn no_user_message<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let asks = context.of_role(Role::User).any(|(_, message)| message.parts.iter().any(|part| !part.content.is_tool()));
    if asks || context.messages.is_empty() {
        Vec::new()
    } else {
        vec![context.match_all("the transcript has no user message")]
    }
}

pub(super) static FIRST_SPEAKER: Rule = Rule {
    code: "T002",
    name: "first-speaker",
    level: Level::Warn,
    summary: "The conversation does not begin with a user message.",
    why: "Some formats require that a user message comes first, after the instructions. They reject a window that \
          begins with an answer. `curtail window --start-on user` begins at a user message.",
    help: "begin with a user message, for example with `curtail window --start-on user`",
    answers: &[
        ("anthropic", "messages: first message must use the \"user\" role"),
        ("bedrock", "A conversation must start with a user message."),
        (
            "gemini",
            "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        ),
        ("llama-factory", "Invalid role tag in …"),
    ],
    flags: "",
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
};

fn first_speaker<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let Some(required) = context.provider_rules.first_speaker else { return Vec::new() };
    // Another rule reports a transcript without that role.
    let occurs = context.of_role(required).next().is_some();
    let first = context.dialogue().next().filter(|(_, message)| occurs && message.role != required);
    let text = |role: &str| format!("the conversation begins with the role `{role}`, not with `{}`", required.name());
    first.map(|(at, message)| context.match_message(at, text(message.role.name()))).into_iter().collect()
}

pub(super) static ALTERNATION: Rule = Rule {
    code: "T003",
    name: "alternation",
    level: Level::Warn,
    summary: "Two consecutive messages are from the same side.",
    why: "Bedrock, and trainers that read ShareGPT by position, require that user and assistant alternate. They reject \
          a transcript with two consecutive messages from one side, or skip it without a warning. Tool results belong \
          to the user's side. The rule does not apply to formats whose providers join such messages.",
    help: "join the two messages, or drop one",
    answers: &[
        (
            "bedrock",
            "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.",
        ),
        ("llama-factory", "Invalid role tag in …"),
    ],
    flags: "",
    bad: r#"{"conversations":[{"from":"human","value":"Is it raining in Oslo?"},{"from":"human","value":"Hello?"},{"from":"gpt","value":"It is."}]}
"#,
    good: r#"{"conversations":[{"from":"human","value":"Is it raining in Oslo?"},{"from":"gpt","value":"It is."}]}
"#,
    detector: Detector::Transcript(alternation),
};

fn alternation<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if context.provider_rules.turns != Turns::Alternate {
        return Vec::new();
    }
    let again = same_side(context.dialogue()).into_iter();
    again
        .map(|[first, second]| {
            let message = if context.messages[second].role == Role::Assistant {
                "two consecutive messages are from the assistant"
            } else {
                "two consecutive messages are from the user's side"
            };
            Match { other: Some((first, context.messages[first].value())), ..context.match_message(second, message) }
        })
        .collect()
}

pub(super) static ENDS_WITH_ASSISTANT: Rule = Rule {
    code: "T004",
    name: "ends-with-assistant",
    level: Level::Allow,
    summary: "The last message is from the assistant.",
    why: "A finished conversation ends with an answer, and so does a training example: the rule is off by default. \
          Turn it on for transcripts that will be sent as they are, because newer models accept no answer that has \
          already begun.",
    help: "end with a user message or a tool result",
    answers: &[(
        "anthropic",
        "This model does not support assistant message prefill. The conversation must end with a user message.",
    )],
    flags: "-W ends-with-assistant",
    bad: ANSWER,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"It is."}
{"role":"user","content":"And in Rome?"}
"#,
    detector: Detector::Transcript(ends_with_assistant),
};

fn ends_with_assistant<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let last = context.dialogue().last().filter(|(_, message)| message.role == Role::Assistant);
    let done = last.filter(|(_, message)| message.calls().next().is_none());
    done.map(|(at, _)| context.match_message(at, "the last message is from the assistant")).into_iter().collect()
}

pub(super) static SYSTEM_NOT_FIRST: Rule = Rule {
    code: "T005",
    name: "system-not-first",
    level: Level::Warn,
    summary: "A system message comes after the beginning.",
    why: "Many chat templates accept one block of instructions at the beginning and fail on any other; so do some \
          providers. Merged transcripts, and wrongly cut ones, have instructions in the middle. Anthropic's API accepts them \
          there, so its messages are not examined.",
    help: "move the instructions to the beginning",
    answers: &[("mistral", "Unexpected role 'system' after role 'user'")],
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"system","content":"Answer in one sentence."}
{"role":"assistant","content":"It is."}
"#,
    good: r#"{"role":"system","content":"Answer in one sentence."}
{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"It is."}
"#,
    detector: Detector::Transcript(system_not_first),
};

fn system_not_first<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if context.provider_rules.system_anywhere {
        return Vec::new();
    }
    let Some((begun, _)) = context.dialogue().next() else { return Vec::new() };
    let late = context.of_role(Role::System).filter(|(at, _)| *at > begun);
    late.map(|(at, _)| context.match_message(at, "a system message comes after the beginning")).collect()
}
