//! The copy of an earlier transcript.

use crate::checks::{Detector, Group, Level, Rule};

pub(super) static RULE: Rule = Rule {
    code: "D003",
    name: "duplicate-transcript",
    group: Group::Dataset,
    level: Level::Allow,
    summary: "A transcript has the same messages as an earlier one.",
    why: "Copies in a dataset are learned twice, and leak from the training set into the test set. Transcripts are the same if \
          their messages are, white space between tokens aside; ids of records and other fields beside the messages do not count. \
          The rule remembers a fingerprint of every transcript of the run, and is off unless it is asked for.",
    help: "drop the copy",
    answers: &[],
    flags: "-W duplicate-transcript",
    bad: r#"{"id":1,"messages":[{"role":"user","content":"Is it raining in Oslo?"},{"role":"assistant","content":"It is."}]}
{"id":2,"messages":[{"role":"user","content":"Is it raining in Oslo?"}, {"role":"assistant","content":"It is."}]}
"#,
    good: r#"{"id":1,"messages":[{"role":"user","content":"Is it raining in Oslo?"},{"role":"assistant","content":"It is."}]}
{"id":2,"messages":[{"role":"user","content":"Is it raining in Rome?"},{"role":"assistant","content":"It is not."}]}
"#,
    detector: Detector::Dataset,
};
