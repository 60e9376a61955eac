//! A text that is no JSON.

use crate::checks::{Detector, Group, Level, Rule};

pub(super) static RULE: Rule = Rule {
    code: "S001",
    name: "invalid-json",
    group: Group::Shape,
    level: Level::Deny,
    summary: "A line or a document is not JSON.",
    why: "A line that was torn by an interrupted write, a trailing comma, a `NaN`: what the grammar of RFC 8259 does not allow is \
          read by one program and refused by the next. The rest of the file is checked all the same.",
    help: "mend the line by hand, or remove it; nothing is guessed",
    answers: &[
        ("openai", "We could not parse the JSON body of your request."),
        ("anthropic", "The request body is not valid JSON"),
    ],
    flags: "",
    bad: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"Let me look
{"role":"assistant","content":"It is."}
"#,
    good: r#"{"role":"user","content":"Is it raining in Oslo?"}
{"role":"assistant","content":"Let me look."}
{"role":"assistant","content":"It is."}
"#,
    detector: Detector::Text,
};
