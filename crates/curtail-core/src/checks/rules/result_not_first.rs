//! A result after other content of the right message.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};
use crate::transcript::{Fault, FaultKind, PairingRules, Placement, ResultPlace};

pub(super) static RULE: Rule = Rule {
    code: "S012",
    name: "result-not-first",
    group: Group::Shape,
    level: Level::Deny,
    summary: "A tool result comes after other content of its message.",
    why: "The message after a call must begin with the results of all its calls; the user's own content follows them. \
          A single text block before a result makes the request fail.",
    help: "put the results before the rest of the message: `--fix` does this",
    answers: &[(
        "anthropic",
        "Did not find 1 tool_result block(s) at the beginning of this message. Messages following tool_use blocks must begin with a matching number of tool_result blocks.",
    )],
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"weather","input":{"city":"Oslo"}}]}
{"role":"user","content":[{"type":"text","text":"Here it is:"},{"type":"tool_result","tool_use_id":"toolu_1","content":"rain"}]}
{"role":"assistant","content":[{"type":"text","text":"It is."}]}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"weather","input":{"city":"Oslo"}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"rain"},{"type":"text","text":"There it was."}]}
{"role":"assistant","content":[{"type":"text","text":"It is."}]}
"#,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let message = |at| format!("the result of {} comes after other content of its message", context.name_of(at));
    let (misplaced, _) = split(context);
    misplaced.into_iter().map(|fault| context.match_with(fault.at, fault.other, message(fault.at))).collect()
}

/// The detached results in two lists: those in the right message, which would not be detached if the order inside a message
/// did not matter, and those in another message.
pub(super) fn split<'c>(context: &'c RuleContext<'_, '_>) -> (Vec<&'c Fault>, Vec<&'c Fault>) {
    let detached: Vec<&Fault> = context.faults(FaultKind::DetachedResult).collect();
    if detached.is_empty() || context.pairing_rules.results != ResultPlace::NextMessageFirst {
        return (Vec::new(), detached);
    }
    let lenient = PairingRules { results: ResultPlace::NextMessage, ..context.pairing_rules };
    let placement = Placement::new(context.messages, lenient);
    detached.into_iter().partition(|fault| fault.other.is_some_and(|call| placement.is_attached(call, fault.at)))
}
