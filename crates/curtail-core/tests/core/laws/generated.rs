//! The laws on generated transcripts of every dialect.

use curtail_core::dialects::Framing;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{Keep, Overflow, Repair, RepairMode, WindowUnit};
use proptest::prelude::*;

use super::cases::{CASES, Change, IDLE, LawCase, history, keep, limit, persist};
use super::check::{Stage, check_laws, check_stages, cut_unless_refused, cut_with, is_refused, read_seen};
use crate::properties::{drawn, tried};
use crate::serializers::unknown::with_unknown;
use crate::serializers::{SERIALIZERS, Serializer, Turn, WRITTEN, broken_script, respace, sound_script};

/// Items as a text of some framing, with white space of its own.
pub fn frame(items: &[String], framing: Framing, seed: u64) -> String {
    let items: Vec<String> = items.iter().enumerate().map(|(nth, item)| respace(item, seed ^ nth as u64)).collect();
    match framing {
        Framing::Lines => items.iter().map(|item| format!("{item}\r\n")).collect(),
        Framing::Records => format!("{{\"id\": 17, \"messages\": [{}], \"x\": 1e-7}}\n", items.join(" , ")),
        Framing::Document => format!("\u{feff}[\n  {}\n]", items.join(",\n  ")),
    }
}

pub fn framings() -> impl Strategy<Value = Framing> {
    prop_oneof![Just(Framing::Lines), Just(Framing::Records), Just(Framing::Document)]
}

/// Every serializer, or those of the dialect that `CURTAIL_DIALECT` names.
pub fn serializer() -> impl Strategy<Value = Serializer> {
    let asked = std::env::var("CURTAIL_DIALECT").ok();
    let all = SERIALIZERS.iter().chain(WRITTEN);
    let chosen = all.filter(|serializer| asked.as_ref().is_none_or(|asked| asked == serializer.0));
    prop::sample::select(chosen.copied().collect::<Vec<_>>())
}

/// A turn without reasoning. What a broken thought takes along is a law of its own, and so is when a signed thought leaves that
/// stands behind a change.
pub fn thoughtless(turn: Turn) -> Turn {
    match turn {
        Turn::Assistant { text, calls, .. } => Turn::Assistant { reasoning: None, text, calls },
        other => other,
    }
}

fn check_chain(dialect: Option<&str>, framing: Framing, text: &str) -> Result<(), TestCaseError> {
    let stages: [Stage; 3] = [
        Box::new(|| persist("bash")),
        Box::new(|| Chain::default().then(history(6, WindowUnit::Items, keep(true, 0, false)))),
        Box::new(|| Chain::default().then(limit(80, Overflow::Truncate))),
    ];
    check_stages(&stages, dialect, framing, text)
}

/// A note comes between a thought and the calls of the same step: what bound the two binds the thought to the note no more.
#[test]
fn a_note_parts_the_pieces_of_a_step() {
    let event = |event: &str| format!("{{\"type\":\"context.append_loop_event\",\"event\":{event}}}\n");
    let call = |step: &str, id: &str, name: &str| {
        event(&format!(
            r#"{{"type":"tool.call","stepUuid":"{step}","toolCallId":"{id}","name":"{name}","args":{{"query":"{}"}}}}"#,
            "to be or not ".repeat(4)
        ))
    };
    let thought = r#"{"type":"content.part","stepUuid":"s1","part":{"type":"think","think":"a gust of wind and a long night of rain, too"}}"#;
    let log = [
        event(thought),
        call("s1", "c1", "search"),
        call("s1", "c2", "search"),
        event(r#"{"type":"tool.result","toolCallId":"c2","result":{"output":"four words and more"}}"#),
        call("s2", "c3", "bash"),
        call("s2", "c4", "search"),
    ];
    check_chain(Some("kimi"), Framing::Lines, &log.concat()).unwrap();
}

/// The items with a rule of the application at the end of every second message of the user.
pub fn with_rules(items: &[String]) -> (Vec<String>, usize) {
    let mut rules = 0;
    let mut users = 0;
    let ruled = items.iter().map(|item| {
        let mut item: serde_json::Value = serde_json::from_str(item).expect("JSON");
        users += usize::from(item["role"] == "user");
        if item["role"] == "user" && users % 2 == 1 {
            if item["content"].is_string() {
                item["content"] = serde_json::json!([{"type": "text", "text": item["content"]}]);
            }
            let rule = serde_json::json!({"type": "mid_conv_system", "content": [{"type": "text", "text": format!("rule {rules}.")}]});
            item["content"].as_array_mut().expect("a list").push(rule);
            rules += 1;
        }
        item.to_string()
    });
    (ruled.collect(), rules)
}

proptest! {
    #![proptest_config(crate::properties::property(24))]

    /// Laws 2 to 6, for every case.
    #[test]
    fn cutting_keeps_the_laws(script in broken_script(), serializer in serializer(), framing in framings(), seed in any::<u64>(), drawn in drawn()) {
        let text = frame(&(serializer.1)(&script), framing, seed);
        for case in tried(CASES, drawn) {
            check_laws(case, Some(serializer.0), framing, &text)?;
        }
    }

    /// A chain gives what its stages give one after another, each reading what the last one wrote.
    #[test]
    fn a_chain_is_its_stages_in_a_row(script in broken_script(), serializer in serializer(), framing in framings(), seed in any::<u64>()) {
        match check_chain(Some(serializer.0), framing, &frame(&(serializer.1)(&script), framing, seed)) {
            // A boundary with a long list cannot be cut.
            Err(TestCaseError::Fail(reason)) if is_refused(reason.message()) => {}
            checked => checked?,
        }
    }

    /// The same laws, where a dialect does not know all parts and items, and some of them have ids that others name.
    #[test]
    fn unknown_parts_keep_the_laws(script in broken_script(), serializer in serializer(), framing in framings(), seed in any::<u64>(), drawn in drawn()) {
        let items = with_unknown(serializer.0, &(serializer.1)(&script), seed);
        let text = frame(&items, framing, seed);
        for case in tried(CASES, drawn) {
            check_laws(case, Some(serializer.0), framing, &text)?;
        }
        match check_chain(Some(serializer.0), framing, &text) {
            // A boundary that contains much unknown text cannot be cut.
            Err(TestCaseError::Fail(reason)) if is_refused(reason.message()) => {}
            checked => checked?,
        }
        let idle = Chain::default().then(history(100_000, WindowUnit::Items, Keep::default()));
        prop_assert_eq!(&cut_with(idle, Some(serializer.0), framing, &text)?, &text);
        let repair = || Chain::default().then(Repair { mode: RepairMode::Drop, pending: true });
        if let Some(mended) = cut_unless_refused(repair(), Some(serializer.0), framing, &text)? {
            prop_assert!(read_seen(Some(serializer.0), framing, &mended).faults.is_empty());
            prop_assert_eq!(&cut_with(repair(), Some(serializer.0), framing, &mended)?, &mended);
        }
    }

    /// Law 1: nothing to do is the identity.
    #[test]
    fn nothing_to_do_is_the_identity(script in broken_script(), serializer in serializer(), framing in framings(), seed in any::<u64>(), drawn in drawn()) {
        let text = frame(&(serializer.1)(&script), framing, seed);
        for idle in tried(IDLE, drawn) {
            prop_assert_eq!(&cut_with(idle(), Some(serializer.0), framing, &text)?, &text);
        }
    }

    /// Law 3 with repair: no fault at all is left, and what was sound stays as it was.
    #[test]
    fn repair_leaves_no_fault(script in broken_script(), sound in sound_script(), serializer in serializer(), framing in framings(), seed in any::<u64>(), drawn in drawn()) {
        let repairs: [fn() -> Chain; 3] = [
            || Chain::default().then(Repair { mode: RepairMode::Drop, pending: true }),
            || Chain::default().then(Repair { mode: RepairMode::Stub, pending: true }).then(Repair { mode: RepairMode::Drop, pending: true }),
            || Chain::default().then(Repair { mode: RepairMode::Move, pending: true }).then(Repair { mode: RepairMode::Drop, pending: true }),
        ];
        for chain in tried(repairs, drawn) {
            let case = LawCase { name: "repair", chain, change: Change::Writes };
            let text = frame(&(serializer.1)(&script), framing, seed);
            let Some(mended) = cut_unless_refused((case.chain)(), Some(serializer.0), framing, &text)? else { continue };
            let faults = read_seen(Some(serializer.0), framing, &mended).faults;
            prop_assert!(faults.is_empty(), "{:?} left\nin  {}\nout {}", faults, text, mended);
            prop_assert_eq!(&cut_with((case.chain)(), Some(serializer.0), framing, &mended)?, &mended, "repairing twice");
        }
        let whole = frame(&(serializer.1)(&sound), framing, seed);
        let faults = read_seen(Some(serializer.0), framing, &whole).faults;
        if faults.is_empty() {
            let case = LawCase { name: "repair", chain: repairs[0], change: Change::Writes };
            prop_assert_eq!(&cut_with((case.chain)(), Some(serializer.0), framing, &whole)?, &whole);
        }
    }

    /// Instructions beside a question or a result stay where system messages stay, and everything else around them is cut.
    #[test]
    fn instructions_beside_other_blocks_stay(script in broken_script(), drawn in drawn()) {
        let (items, rules) = with_rules(&crate::serializers::anthropic::serialize(&script));
        let text: String = items.iter().map(|item| format!("{item}\n")).collect();
        for case in tried(CASES, drawn) {
            check_laws(case, Some("anthropic"), Framing::Lines, &text)?;
            let preserves = ["history 3", "history turns", "history bounded", "sliding 4", "sliding head", "range", "filter all"];
            if rules > 0 && (preserves.contains(&case.name) || case.name.starts_with("summarize")) {
                let out = cut_with((case.chain)(), Some("anthropic"), Framing::Lines, &text)?;
                for rule in 0..rules {
                    prop_assert!(out.contains(&format!("\"rule {rule}.\"")), "{}: rule {} is gone\nin  {}\nout {}", case.name, rule, text, out);
                }
            }
        }
    }
}
