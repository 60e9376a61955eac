//! A message that answers another number of calls than were made.

use super::{Case, Hit, Level, Rule};

pub(super) static RULE: Rule = Rule {
    code: "S013",
    name: "response-count",
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
    find,
};

fn find<'a>(case: &Case<'_, 'a>) -> Vec<Hit<'a>> {
    let wrong = (0..case.messages.len()).filter_map(|at| case.miscounted(at).map(|next| (at, next)));
    wrong
        .map(|(at, next)| {
            let (calls, results) = (case.calls_of(at), case.results_of(next));
            let hit = case.hit_message(next, format!("{results} results answer {calls} calls"));
            Hit { other: Some((at, case.messages[at].value)), ..hit }
        })
        .collect()
}
