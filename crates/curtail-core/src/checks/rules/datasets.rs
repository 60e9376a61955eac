//! A transcript as one of many: an example to train on.

use super::RULE;
use crate::checks::{Detector, Level, Match, Rule, RuleContext, TokenCounts};
use crate::counting::token_count;
use crate::dialects::reply_of;
use crate::json::Value;
use crate::transcript::{Message, Role};

pub(super) static NO_ASSISTANT_MESSAGE: Rule = Rule {
    code: "D001",
    name: "no-assistant-message",
    level: Level::Warn,
    summary: "The transcript has no assistant message.",
    why: "A training example without a reply teaches nothing, and fine-tuning services reject it. A session that was \
          saved before its first answer looks the same and is not broken. A row with nothing but a `prompt` is meant to \
          have no reply, because the model writes one while it is trained: it has no finding. Nor has a row with its \
          answer beside the messages, as `output`, `completion` or `response`.",
    help: "drop the transcript from the dataset",
    bad: r#"{"messages":[{"role":"system","content":"Answer in one sentence."},{"role":"user","content":"Is it raining in Oslo?"}]}
"#,
    good: r#"{"messages":[{"role":"system","content":"Answer in one sentence."},{"role":"user","content":"Is it raining in Oslo?"},{"role":"assistant","content":"It is."}]}
"#,
    detector: Detector::Transcript(no_assistant_message),
    ..RULE
};

fn no_assistant_message<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let replies = context.is_continued()
        || context.of_role(Role::Assistant).next().is_some()
        || context.calls().next().is_some()
        || context.messages.iter().any(Message::is_exchange);
    match (replies, context.messages.is_empty()) {
        (true, _) => Vec::new(),
        (false, _) if is_answered_beside(context) => Vec::new(),
        (false, false) if asks_only(context) => Vec::new(),
        (false, false) => vec![context.match_all("the transcript has no assistant message")],
        // Of items that no format defines, `nothing-read` has a finding.
        (false, true) if context.non_messages.iter().any(|item| item.unknown.is_some()) => Vec::new(),
        (false, true) => vec![context.match_all("the transcript has no message")],
    }
}

/// Whether the transcript is the `prompt` of a row without an answer.
fn asks_only(context: &RuleContext<'_, '_>) -> bool {
    let list = context.messages.first().and_then(Message::value).and_then(Value::parent);
    context.record.is_some_and(|record| {
        record.get("prompt") == list && record.get("completion").is_none() && record.get("chosen").is_none()
    })
}

/// Whether the row has an answer outside the list of messages.
fn is_answered_beside(context: &RuleContext<'_, '_>) -> bool {
    let around = std::iter::successors(context.record, |record| record.parent());
    around.filter(|record| record.is_object()).flat_map(|record| reply_of(record).answer).any(|text| !text.is_blank())
}

pub(super) static TOO_LONG: Rule = Rule {
    code: "D002",
    name: "too-long",
    summary: "A transcript has more tokens than `--max-tokens` allows.",
    why: "A trainer cuts off what exceeds its window, even in the middle of a call. The rule runs only with \
          `--max-tokens`. `curtail limit` cuts a transcript to size without breaking pairs, and `curtail split` makes \
          several of it.",
    help: "split it with `curtail split`, or cut it to size with `curtail limit`",
    flags: "--max-tokens 8",
    bad: r#"{"messages":[{"role":"user","content":"Is it raining in Oslo, and will it go on until the evening?"},{"role":"assistant","content":"It is, and it will."}]}
"#,
    good: r#"{"messages":[{"role":"user","content":"Rain?"},{"role":"assistant","content":"Yes."}]}
"#,
    detector: Detector::Budget(too_long),
    ..RULE
};

fn too_long<'a>(context: &RuleContext<'_, 'a>, tokens: &TokenCounts, limit: usize) -> Vec<Match<'a>> {
    if tokens.total <= limit {
        return Vec::new();
    }
    vec![context.match_all(format!("the transcript has {}, more than {limit}", token_count(tokens.total)))]
}

pub(super) static TRUNCATED_TARGET: Rule = Rule {
    code: "D004",
    name: "truncated-target",
    level: Level::Allow,
    summary: "An assistant message begins beyond the tokens that `--max-tokens` allows.",
    why: "A trainer that cuts rows at N tokens computes no loss on what is behind them. A row whose assistant messages are \
          all behind them has no trainable token: its loss is undefined, or the row is lost without a warning. Messages \
          that the dataset excludes from training (`weight: 0`, `train: false`) do not count. The rule runs only with \
          `--max-tokens`, and is off by default. `curtail split` makes several rows that fit of a long \
          one, and each assistant message is a target once.",
    help: "split the transcript with `curtail split`",
    flags: "--max-tokens 12 -A too-long -W truncated-target",
    bad: r#"{"messages":[{"role":"user","content":"Is it raining in Oslo, and will it go on until the evening?"},{"role":"assistant","content":"It is, and it will."}]}
"#,
    good: r#"{"messages":[{"role":"user","content":"Rain in Oslo?"},{"role":"assistant","content":"It is raining there, and it will until the evening."}]}
"#,
    detector: Detector::Budget(truncated_target),
    ..RULE
};

fn truncated_target<'a>(context: &RuleContext<'_, 'a>, tokens: &TokenCounts, limit: usize) -> Vec<Match<'a>> {
    let mut before = tokens.outside;
    let mut beyond = Vec::new();
    for (at, (message, count)) in context.messages.iter().zip(&tokens.messages).enumerate() {
        if message.is_target() && before >= limit {
            beyond.push(at);
        }
        before += count;
    }
    let Some(&first) = beyond.first() else { return Vec::new() };
    let targets = context.messages.iter().filter(|message| message.is_target()).count();
    let limit = token_count(limit);
    let message = if beyond.len() == targets {
        format!("no assistant message begins within {limit}: a row cut there has no trainable token")
    } else {
        format!("{} of {targets} assistant messages begin beyond {limit}; this is the first", beyond.len())
    };
    vec![context.match_message(first, message)]
}

pub(super) static DUPLICATE_TRANSCRIPT: Rule = Rule {
    code: "D003",
    name: "duplicate-transcript",
    level: Level::Allow,
    summary: "A transcript has the same messages as an earlier one.",
    why: "A model learns copies in a dataset twice, and copies leak from the training set into the test set. Two \
          transcripts are equal if their messages are equal as values, and so are the instructions, tools and answers \
          beside the messages (`system`, `output`, `rejected`). White space, the order of keys, escapes (`\\u00e9`), the \
          spelling of numbers (`1.0`) and keys whose value is null make no difference. Ids of records and other fields are \
          ignored. The rule keeps a fingerprint of every transcript of the run, and is \
          off by default.",
    help: "drop the copy",
    flags: "-W duplicate-transcript",
    bad: r#"{"id":1,"messages":[{"role":"user","content":"Is it raining in Oslo?"},{"role":"assistant","content":"It is."}]}
{"id":2,"messages":[{"content":"Is it raining in Oslo?","role":"user"}, {"role":"assistant","content":"It is."}]}
"#,
    good: r#"{"id":1,"messages":[{"role":"user","content":"Is it raining in Oslo?"},{"role":"assistant","content":"It is."}]}
{"id":2,"messages":[{"role":"user","content":"Is it raining in Rome?"},{"role":"assistant","content":"It is not."}]}
"#,
    detector: Detector::Dataset,
    ..RULE
};
