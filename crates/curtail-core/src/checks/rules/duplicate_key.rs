//! An object with a repeated key.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext, rules};
use crate::json::{Value, repeated_members};

pub(super) static RULE: Rule = Rule {
    code: "S007",
    name: "duplicate-key",
    group: Group::Shape,
    level: Level::Deny,
    summary: "An object in a message has the same key twice.",
    why: "RFC 8259 does not define what an object with a repeated key means. Most parsers take the last value, some \
          the first, and some reject the object, so that two programs read two different transcripts. Repeated keys \
          come from logs that were assembled by hand.",
    help: "keep the intended member",
    answers: &[],
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"It is.","content":"It is not."}
"#,
    good: rules::ANSWER,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let messages = context.messages.iter().enumerate().filter_map(|(at, message)| Some((Some(at), message.value()?)));
    let non_messages = context.non_messages.iter().map(|item| (None, item.value));
    messages.chain(non_messages).flat_map(|(message, value)| repeated(message, value)).collect()
}

fn repeated(message: Option<usize>, value: Value<'_>) -> impl Iterator<Item = Match<'_>> {
    repeated_members(value).into_iter().map(move |again| {
        let text = format!("the object already has the key `{}`", again.key.decode());
        Match { message_index: message, ..Match::new(Some(again.value), text) }
    })
}
