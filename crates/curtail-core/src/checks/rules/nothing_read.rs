//! A transcript of which the format defines nothing: no rule could find anything in it.

use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};
use crate::transcript::Content;

pub(super) static RULE: Rule = Rule {
    code: "S015",
    name: "nothing-read",
    group: Group::Shape,
    level: Level::Deny,
    summary: "Nothing in the transcript is of a type that its format defines.",
    why: "No item is a message, or every part of every message has an unknown type. Other rules then find nothing, and \
          tokens are only estimated. Usually the dialect was chosen wrongly, or the format is one that curtail cannot read yet.",
    help: "choose the dialect with --dialect NAME; `curtail show` prints how the file is read",
    answers: &[],
    flags: "",
    bad: r#"{"role":"user","parts":[{"type":"sonar","ping":[1,2]}]}
{"role":"assistant","parts":[{"type":"sonar","ping":[3]}]}
"#,
    good: r#"{"role":"user","parts":[{"type":"text","text":"Is it raining in Oslo?"}]}
{"role":"assistant","parts":[{"type":"text","text":"It is."}]}
"#,
    detector: Detector::Transcript(detect),
};

pub(super) fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    let mut unknown = context.non_messages.iter().filter(|item| item.unknown.is_some());
    if let (true, Some(first)) = (context.messages.is_empty(), unknown.next()) {
        return vec![Match::new(Some(first.value), String::from("no item is a message of this format"))];
    }
    let parts = || context.messages.iter().flat_map(|message| &message.parts).map(|part| &part.content);
    let unknown = |content: &Content<'_>| matches!(content, Content::Unknown(_));
    if parts().any(unknown) && parts().all(|content| unknown(content) || matches!(content, Content::Other)) {
        return vec![context.match_all("no part of any message has a type that the format defines")];
    }
    Vec::new()
}
