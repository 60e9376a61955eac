//! Logs that are trees: what a model reads of them stays so, and no cut begins another tree.

use curtail_core::dialects::Framing;
use curtail_core::json::Value;
use curtail_core::pipeline::Chain;
use proptest::prelude::*;

use super::cases::{CASES, LIVE, last, persist, without};
use super::check::{check_laws, cut_unless_refused, cut_with};
use super::rolled_back::compare_standings;
use crate::dialects::files::{cut, fixture, read_transcripts};
use crate::properties::{drawn, tried};
use crate::serializers::{Serializer, broken_script, claude_code, pi, qwen};

/// Dialects whose logs are trees, with their serializers.
const TREES: &[Serializer] = &[
    ("claude-code", claude_code::serialize_session),
    ("pi", pi::serialize_branches),
    ("qwen", qwen::serialize_branches),
    ("qwen", qwen::serialize_compressed),
];

proptest! {
    #![proptest_config(crate::properties::property(12))]

    /// Logs that are trees, broken ones included: sessions of Claude Code with second roots and compactions, and branches. No cut
    /// begins another tree. Only without the newest message, another path is the newest.
    #[test]
    fn what_is_read_stays_read(
        script in broken_script(),
        tree in prop::sample::select(TREES),
        persisted in any::<bool>(),
        drawn in drawn(),
    ) {
        let (dialect, serialize) = tree;
        let items = serialize(&script);
        let mark = |(nth, item): (usize, &String)| item.replacen('{', &format!("{{\"mark\":\"m{nth}.\","), 1) + "\n";
        let mut text: String = items.iter().enumerate().map(mark).collect();
        if persisted {
            text = cut_with(persist("*"), Some(dialect), Framing::Lines, &text)?;
        }
        for case in tried(CASES.iter().chain([&LIVE]), drawn) {
            check_laws(case, Some(dialect), Framing::Lines, &text)?;
            let newest = items.iter().rposition(|item| !item.contains("\"isSidechain\":true")).unwrap_or_default();
            let newest = format!("\"m{newest}.\"");
            match cut_unless_refused((case.chain)(), Some(dialect), Framing::Lines, &text)? {
                Some(out) if out.contains(&newest) => compare_standings(case.name, dialect, &text, &out)?,
                _ => {}
            }
        }
    }
}

/// Programs resume with what the newest record leads back to, whatever a cut leaves of it.
#[test]
fn what_a_rewind_left_is_not_read() {
    let label = r#"{"type":"label","id":"l","parentId":"b9","targetId":"b8","label":"green"}"#;
    let stray = r#"{"type":"message","id":"s","parentId":"b3","message":{"role":"user","content":[{"type":"text","text":"Or white?"}]}}"#;
    let logs = [
        (fixture("qwen/rewind.jsonl"), "Coarse.", "Ground."),
        (fixture("claude-code/rewind.jsonl"), "vinegar", "The beans are dry."),
        (fixture("pi/branches.jsonl"), "no cobalt left\"", "green is mixed."),
        (fixture("pi/branches.jsonl") + stray + "\n" + label + "\n", "Or white?", "green is mixed."),
    ];
    for (log, left, newest) in logs {
        for chain in [Chain::default(), last(4), last(2), without("grind"), without("bash"), without("Bash")] {
            let out = cut(chain, &log);
            read_transcripts(&out, |_, transcript| {
                let read: Vec<&str> = transcript
                    .messages
                    .iter()
                    .filter(|message| message.standing.is_read())
                    .filter_map(|message| message.value().map(Value::raw))
                    .collect();
                assert!(!read.iter().any(|message| message.contains(left)), "{out}");
                assert!(read.iter().any(|message| message.contains(newest)), "{out}");
            })
            .expect("it is read");
        }
    }
}
