//! Two consecutive messages from one side.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};
use crate::transcript::{Role, Turns};

pub(super) static RULE: Rule = Rule {
    code: "T003",
    name: "alternation",
    group: Group::Turn,
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
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    if context.provider_rules.turns != Turns::Alternate {
        return Vec::new();
    }
    let is_assistant = |role: Role| role == Role::Assistant;
    let single = context.dialogue().filter(|(_, message)| !message.is_exchange());
    let dialogue: Vec<(usize, Role)> = single.map(|(at, message)| (at, message.role)).collect();
    // Consecutive tool messages become one user message in the request.
    let again = dialogue.windows(2).filter(|pair| {
        is_assistant(pair[0].1) == is_assistant(pair[1].1) && (pair[0].1, pair[1].1) != (Role::Tool, Role::Tool)
    });
    again
        .map(|pair| {
            let message = if is_assistant(pair[1].1) {
                "two consecutive messages are from the assistant"
            } else {
                "two consecutive messages are from the user's side"
            };
            Match {
                other: Some((pair[0].0, context.messages[pair[0].0].value())),
                ..context.match_message(pair[1].0, message)
            }
        })
        .collect()
}
