//! Parts of unknown type that hold much of the text, or ids that other parts name.

use super::nothing_read;
use crate::checks::{Detector, Group, Level, Match, Rule, RuleContext};
use crate::transcript::Unread;

pub(super) static RULE: Rule = Rule {
    code: "S016",
    name: "unread-content",
    group: Group::Shape,
    level: Level::Warn,
    summary: "Parts of unknown type hold a tenth of the text or more, or an id that another part names.",
    why: "A part whose type the format does not define is kept byte for byte, and its tokens are estimated. Whether it \
          is a call or a result is not known, so a cut can separate it from the part that belongs to it, and other rules \
          find nothing in it. Usually the dialect was chosen wrongly, or the format is one that curtail cannot read yet.",
    help: "choose the dialect with --dialect NAME; `curtail show` prints how the file is read",
    answers: &[],
    flags: "",
    bad: r#"{"role":"user","content":[{"type":"text","text":"Is it raining in Oslo?"}]}
{"role":"assistant","content":[{"type":"forecastRequest","id":"f1","place":"Oslo"}]}
{"role":"user","content":[{"type":"forecastResponse","id":"f1","sky":"rain since noon"}]}
{"role":"assistant","content":[{"type":"text","text":"Yes, since noon."}]}
"#,
    good: r#"{"role":"user","content":[{"type":"text","text":"Is it raining in Oslo?"}]}
{"role":"assistant","content":[{"type":"tool_use","id":"f1","name":"forecast","input":{"place":"Oslo"}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"f1","content":"rain since noon"}]}
{"role":"assistant","content":[{"type":"text","text":"Yes, since noon."}]}
"#,
    detector: Detector::Transcript(detect),
};

fn detect<'a>(context: &RuleContext<'_, 'a>) -> Vec<Match<'a>> {
    // Outside of logs, items of unknown type are findings of their own.
    let items = if context.provider_rules.log { context.non_messages } else { &[] };
    let Some(unread) = Unread::find(context.messages, items) else { return Vec::new() };
    if !nothing_read::detect(context).is_empty() {
        return Vec::new();
    }
    let message_index = unread.message;
    vec![Match { message_index, ..Match::new(Some(unread.first), unread.to_string()) }]
}
