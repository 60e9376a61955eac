//! A message that answers another number of calls than were made.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};

pub(super) static RULE: Rule = Rule {
    code: "S013",
    name: "response-count",
    group: Group::Shape,
    level: Level::Deny,
    summary: "A message answers another number of calls than the message before it made.",
    why: "Gemini has no ids in most transcripts: it counts. The message after a turn of parallel calls must hold exactly one \
          response for each, all of them together. Which response is missing or too many cannot be told for sure, so the message is \
          reported and not a call.",
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
    let wrong = (0..context.messages.len()).filter_map(|at| context.miscounted(at).map(|next| (at, next)));
    wrong
        .map(|(at, next)| {
            let (calls, results) = (context.calls_of(at), context.results_of(next));
            let found = context.match_message(next, format!("{results} results answer {calls} calls"));
            Match { other: Some((at, context.messages[at].value)), ..found }
        })
        .collect()
}
