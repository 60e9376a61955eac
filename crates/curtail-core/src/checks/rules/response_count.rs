//! A message with more or fewer results than there are calls.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};

pub(super) static RULE: Rule = Rule {
    code: "S013",
    name: "response-count",
    group: Group::Shape,
    level: Level::Deny,
    summary: "A message has more or fewer results than the message before it has calls.",
    why: "Most Gemini transcripts have no ids, and Gemini compares the numbers. The message after a turn of parallel \
          calls must contain exactly one response for each call. Which response is missing, or is one too many, is not \
          known, so the finding is at the message and not at a call.",
    help: "put as many responses into the message as there are calls",
    answers: &[(
        "gemini",
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
    )],
    flags: "",
    bad: r#"{"contents":[{"role":"user","parts":[{"text":"Is it raining in Oslo or in Rome?"}]},{"role":"model","parts":[{"functionCall":{"name":"weather","args":{"city":"Oslo"}}},{"functionCall":{"name":"weather","args":{"city":"Rome"}}}]},{"role":"user","parts":[{"functionResponse":{"name":"weather","response":{"sky":"rain"}}}]},{"role":"model","parts":[{"text":"In Oslo."}]}]}
"#,
    good: r#"{"contents":[{"role":"user","parts":[{"text":"Is it raining in Oslo or in Rome?"}]},{"role":"model","parts":[{"functionCall":{"name":"weather","args":{"city":"Oslo"}}},{"functionCall":{"name":"weather","args":{"city":"Rome"}}}]},{"role":"user","parts":[{"functionResponse":{"name":"weather","response":{"sky":"rain"}}},{"functionResponse":{"name":"weather","response":{"sky":"sun"}}}]},{"role":"model","parts":[{"text":"In Oslo."}]}]}
"#,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let plural = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    let wrong = (0..context.messages.len()).filter_map(|at| Some((at, context.miscounted(at)?)));
    wrong
        .map(|(at, (turn, answers))| {
            let calls: usize = turn.map(|at| context.calls_of(at)).sum();
            let results: usize = answers.clone().map(|at| context.results_of(at)).sum();
            let (calls, results) = (plural(calls, "call"), plural(results, "result"));
            let found = context
                .match_message(answers.start, format!("the message has {results}, and the message before it {calls}"));
            Match { other: Some((at, context.messages[at].value())), ..found }
        })
        .collect()
}
