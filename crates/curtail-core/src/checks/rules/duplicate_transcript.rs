//! A copy of an earlier transcript.

use crate::checks::{Detector, Group, Level, Rule};

pub(super) static RULE: Rule = Rule {
    code: "D003",
    name: "duplicate-transcript",
    group: Group::Dataset,
    level: Level::Allow,
    summary: "A transcript has the same messages as an earlier one.",
    why: "A model learns copies in a dataset twice, and copies leak from the training set into the test set. Two \
          transcripts are equal if their messages are equal as values, however they are written: white space, the \
          order of keys, escapes (`\\u00e9`), the spelling of numbers (`1.0`) and keys whose value is null make no difference. Ids of records and \
          other fields beside the messages are ignored. The rule keeps a fingerprint of every transcript of the run, and is \
          off by default.",
    help: "drop the copy",
    answers: &[],
    flags: "-W duplicate-transcript",
    bad: r#"{"id":1,"messages":[{"role":"user","content":"Is it raining in Oslo?"},{"role":"assistant","content":"It is."}]}
{"id":2,"messages":[{"content":"Is it raining in Oslo?","role":"user"}, {"role":"assistant","content":"It is."}]}
"#,
    good: r#"{"id":1,"messages":[{"role":"user","content":"Is it raining in Oslo?"},{"role":"assistant","content":"It is."}]}
{"id":2,"messages":[{"role":"user","content":"Is it raining in Rome?"},{"role":"assistant","content":"It is not."}]}
"#,
    detector: Detector::Dataset,
};
