//! A transcript with too many tokens.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};
use crate::counting::token_count;

pub(super) static RULE: Rule = Rule {
    code: "D002",
    name: "too-long",
    group: Group::Dataset,
    level: Level::Deny,
    summary: "A transcript has more tokens than `--max-tokens` allows.",
    why: "A trainer cuts off what exceeds its window, even in the middle of a call. The rule runs only with \
          `--max-tokens`. `curtail limit` cuts a transcript to size without breaking pairs, and `curtail split` makes \
          several of it.",
    help: "split it with `curtail split`, or cut it to size with `curtail limit`",
    answers: &[(
        "openai",
        "This model's maximum context length is … tokens. However, your messages resulted in … tokens. Please reduce the length of the messages.",
    )],
    flags: "--max-tokens 8",
    bad: r#"{"messages":[{"role":"user","content":"Is it raining in Oslo, and will it go on until the evening?"},{"role":"assistant","content":"It is, and it will."}]}
"#,
    good: r#"{"messages":[{"role":"user","content":"Rain?"},{"role":"assistant","content":"Yes."}]}
"#,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let long = context.tokens.as_ref().map(|(tokens, limit)| (tokens.total, *limit));
    let long = long.filter(|(tokens, limit)| tokens > limit);
    long.map(|(tokens, limit)| {
        context.match_all(format!("the transcript has {}, more than {limit}", token_count(tokens)))
    })
    .into_iter()
    .collect()
}
