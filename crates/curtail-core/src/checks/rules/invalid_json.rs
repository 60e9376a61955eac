//! A text that is not JSON.

use crate::checks::{Detector, Group, Level, Rule};

pub(super) static RULE: Rule = Rule {
    code: "S001",
    name: "invalid-json",
    group: Group::Shape,
    level: Level::Deny,
    summary: "A line or a document is not JSON.",
    why: "An interrupted write, a trailing comma, a `NaN`: one program reads what the grammar of RFC 8259 does not \
          allow, the next rejects it. The rest of the file is checked.",
    help: "correct the line by hand, or remove it; curtail does not guess",
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
