//! What a cut inserts is on the line that a program walks when it resumes a log: from the newest message back through the
//! parents.

use std::collections::{HashMap, HashSet};

use curtail_core::dialects::Framing;
use curtail_core::json::{Document, Value};
use curtail_core::pipeline::Chain;
use curtail_core::processors::{Live, ToolFilter, ToolGlobs};
use proptest::prelude::*;

use super::cases::{CASES, Change, LawCase, memory};
use super::check::{check_laws, cut_with};
use crate::properties::{drawn, tried};
use crate::spell::{Turn, claude_code, copilot, droid, pi, qwen, sound_script};

/// A dialect with links, its speller, and the keys of a record's id and its parent.
type Linked = (&'static str, fn(&[Turn]) -> Vec<String>, [&'static str; 2]);

const LINKED: &[Linked] = &[
    ("claude-code", claude_code::spell, ["uuid", "parentUuid"]),
    ("claude-code", claude_code::spell_session, ["uuid", "parentUuid"]),
    ("qwen", qwen::spell, ["uuid", "parentUuid"]),
    ("pi", pi::spell, ["id", "parentId"]),
    ("copilot", copilot::spell, ["id", "parentId"]),
    ("droid", droid::spell, ["id", "parentId"]),
];

const OTHERS: &[LawCase] = &[
    LawCase {
        name: "filter all, persist",
        chain: || Chain::default().then(ToolFilter { tools: ToolGlobs::All, persist_results: true }),
        change: Change::Writes,
    },
    LawCase {
        name: "live, memory",
        chain: || Chain::default().then(Live).then(memory("{\"goal\":\"ship\"}")),
        change: Change::Writes,
    },
];

/// The ids of a log, each with its parent, in order.
fn links(log: &str, [own, parent]: [&str; 2]) -> Vec<(String, Option<String>)> {
    let document = Document::parse_log(log).expect("what we write is JSON");
    let text = |record: Value<'_>, key: &str| record.get_text(key).map(|text| text.decode().into_owned());
    let ids = document.roots().filter_map(|record| Some((text(record, own)?, text(record, parent))));
    ids.collect()
}

/// Every new record hangs off a record before it. If a resumed program reads the tree that it is in, it is on the line to the
/// newest message.
fn check_line(linked: &Linked, name: &str, text: &str, out: &str) -> Result<(), TestCaseError> {
    let before: HashSet<String> = links(text, linked.2).into_iter().map(|(own, _)| own).collect();
    let after = links(out, linked.2);
    let parents: HashMap<&str, Option<&str>> =
        after.iter().map(|(own, parent)| (own.as_str(), parent.as_deref())).collect();
    let up = |id: &&str| parents.get(id).copied().flatten();
    let newest = after.last().map(|(own, _)| own.as_str());
    let line: HashSet<&str> = std::iter::successors(newest, up).take(after.len()).collect();
    let root = after.iter().rposition(|(_, parent)| parent.is_none()).unwrap_or_default();
    let mut known: HashSet<&str> = HashSet::new();
    for (nth, (own, parent)) in after.iter().enumerate() {
        if !before.contains(own) {
            let above = parent.as_deref().is_none_or(|parent| known.contains(parent));
            prop_assert!(above, "{}: {} hangs off nothing before it\nin  {}\nout {}", name, own, text, out);
            let read = nth < root || line.contains(own.as_str());
            prop_assert!(read, "{}: {} is off the line\nin  {}\nout {}", name, own, text, out);
        }
        known.insert(own);
    }
    // What is written for the model stands where it reads it.
    let document = Document::parse_log(out).expect("what we write is JSON");
    let tags = ["<working_memory", "<conversation_summaries", "<\\u0077orking_memory", "<\\u0063onversation_summaries"];
    for record in document.roots().filter(|record| tags.iter().any(|tag| record.raw().contains(tag))) {
        let own = record.get_text(linked.2[0]).map(|own| own.decode().into_owned()).unwrap_or_default();
        prop_assert!(line.contains(own.as_str()), "{}: a block is not read\nin  {}\nout {}", name, text, out);
    }
    Ok(())
}

proptest! {
    #![proptest_config(crate::properties::property(96))]

    #[test]
    fn what_is_inserted_is_on_the_line_of_the_newest_message(
        script in sound_script(),
        linked in prop::sample::select(LINKED),
        drawn in drawn(),
    ) {
        let text: String = (linked.1)(&script).iter().map(|item| format!("{item}\n")).collect();
        for case in tried(CASES.iter().chain(OTHERS).filter(|case| case.writes()), drawn) {
            check_laws(case, Some(linked.0), Framing::Lines, &text)?;
            let out = match cut_with((case.chain)(), Some(linked.0), Framing::Lines, &text) {
                Err(TestCaseError::Fail(reason)) if reason.message().contains("more than the budget") => continue,
                out => out?,
            };
            check_line(&linked, case.name, &text, &out)?;
        }
    }
}
