//! Thinking, or a call, without its signature.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};
use crate::json::Value;
use crate::transcript::{Content, Message, PartRef};

pub(super) static RULE: Rule = Rule {
    code: "S011",
    name: "signature-lost",
    group: Group::Shape,
    level: Level::Deny,
    summary: "A thinking block or a call has lost its signature.",
    why: "Anthropic signs thinking blocks and rejects a block whose signature is missing or does not match its text: \
          keep a thinking block whole, or drop it whole. Gemini signs the first call of a turn; if that call is \
          dropped, the whole turn has lost its signature. Calls are examined only in transcripts that have signed \
          calls. A signature that no longer matches the messages before it cannot be seen in a transcript: cut with \
          --thinking auto to drop such thoughts.",
    help: "drop the whole thinking block, or put its signature back",
    answers: &[
        ("anthropic", "messages.N.content.M.thinking.signature: Field required"),
        ("gemini", "Function call is missing a thought_signature in functionCall parts."),
    ],
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"thinking","thinking":"Rain, then."},{"type":"text","text":"It is."}]}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"thinking","thinking":"Rain, then.","signature":"c2lnbmVk"},{"type":"text","text":"It is."}]}
"#,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let mut matches = unsigned_thinking(context);
    matches.extend(unsigned_calls(context));
    matches
}

fn unsigned_thinking<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let keys = context.provider_rules.signatures;
    let mut matches = Vec::new();
    for (at, message) in context.messages.iter().enumerate().filter(|_| !keys.is_empty()) {
        for (nth, part) in message.parts.iter().enumerate() {
            let lost = part.place().is_some_and(|place| !is_signed(place.element, keys));
            if matches!(part.content, Content::Reasoning(_)) && lost {
                matches.push(
                    context.match_at(
                        PartRef { message: at, part: nth },
                        String::from("the thinking block has no signature"),
                    ),
                );
            }
        }
    }
    matches
}

fn unsigned_calls<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let keys = context.provider_rules.call_signatures;
    let signed = |message: &Message<'_>| {
        message.parts.iter().filter_map(crate::transcript::Part::place).any(|place| is_signed(place.element, keys))
    };
    if keys.is_empty() || !context.messages.iter().any(signed) {
        return Vec::new();
    }
    // Calls that the provider runs have no signature.
    let first = |message: &Message<'_>| message.calls().find(|(_, call)| !call.hosted).map(|(nth, _)| nth);
    let calling = context.messages.iter().enumerate().filter_map(|(at, message)| Some((at, message, first(message)?)));
    calling
        .filter(|(_, message, _)| !signed(message))
        .map(|(at, _, nth)| {
            context.match_at(PartRef { message: at, part: nth }, String::from("no part of the turn has a signature"))
        })
        .collect()
}

fn is_signed(value: Value<'_>, keys: &[&str]) -> bool {
    keys.iter().any(|key| value.get_text(key).is_some_and(|text| text.len_bound() > 0))
}
