//! One side that speaks twice in a row.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};
use crate::transcript::{Role, Turns};

pub(super) static RULE: Rule = Rule {
    code: "T003",
    name: "alternation",
    group: Group::Turn,
    level: Level::Warn,
    summary: "User and assistant do not take turns.",
    why: "Bedrock, and trainers that read ShareGPT by position, want the two sides to alternate; a row with two messages of one \
          side in a row is refused, or skipped without a word. Tool results stand on the user's side. Formats whose providers \
          join such messages are not looked at.",
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
    let side = |role: Role| role == Role::Assistant;
    let dialogue: Vec<(usize, Role)> = context
        .dialogue()
        .filter(|(_, message)| !RuleContext::is_exchange(message))
        .map(|(at, message)| (at, message.role))
        .collect();
    // Tool messages in a row become one user message when they are sent.
    let again = dialogue
        .windows(2)
        .filter(|pair| side(pair[0].1) == side(pair[1].1) && (pair[0].1, pair[1].1) != (Role::Tool, Role::Tool));
    again
        .map(|pair| {
            let words = if side(pair[1].1) {
                "the assistant speaks twice in a row"
            } else {
                "the user's side speaks twice in a row"
            };
            Match {
                other: Some((pair[0].0, context.messages[pair[0].0].value)),
                ..context.match_message(pair[1].0, words)
            }
        })
        .collect()
}
