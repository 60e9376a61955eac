//! An assistant message that a trainer never sees, because it begins beyond its window.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};
use crate::counting::token_count;
use crate::transcript::Role;

pub(super) static RULE: Rule = Rule {
    code: "D004",
    name: "truncated-target",
    group: Group::Dataset,
    level: Level::Allow,
    summary: "An assistant message begins beyond the tokens that `--max-tokens` allows.",
    why: "A trainer that cuts rows at N tokens computes no loss on what is behind them. A row whose assistant messages are \
          all behind them has no trainable token: its loss is undefined, or the row is lost without a warning. The rule \
          runs only with `--max-tokens`, and is off by default. `curtail split` makes several rows that fit of a long \
          one, and each assistant message is a target once.",
    help: "split the transcript with `curtail split`",
    answers: &[],
    flags: "--max-tokens 12 -A too-long -W truncated-target",
    bad: r#"{"messages":[{"role":"user","content":"Is it raining in Oslo, and will it go on until the evening?"},{"role":"assistant","content":"It is, and it will."}]}
"#,
    good: r#"{"messages":[{"role":"user","content":"Rain in Oslo?"},{"role":"assistant","content":"It is raining there, and it will until the evening."}]}
"#,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let Some((tokens, limit)) = &context.tokens else { return Vec::new() };
    let mut before = tokens.outside;
    let mut beyond = Vec::new();
    for (at, (message, count)) in context.messages.iter().zip(&tokens.messages).enumerate() {
        if message.role == Role::Assistant && before >= *limit {
            beyond.push(at);
        }
        before += count;
    }
    let Some(&first) = beyond.first() else { return Vec::new() };
    let all = context.of_role(Role::Assistant).count();
    let limit = token_count(*limit);
    let message = if beyond.len() == all {
        format!("no assistant message begins within {limit}: a row cut there has no trainable token")
    } else {
        format!("{} of {all} assistant messages begin beyond {limit}; this is the first", beyond.len())
    };
    vec![context.match_message(first, message)]
}
