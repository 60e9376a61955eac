//! Law 9: no thought is left after a change that its model checks. Signatures are digests of everything before them.

use curtail::dialects::Framing;
use curtail::processors::{Repair, RepairMode, Thinking};
use proptest::prelude::*;
use serde_json::Value;

use super::cases::{CASES, LawCase};
use super::check::cut_with;
use crate::spell::{Turn, anthropic, bedrock, broken_script, claude_code};

/// A dialect, its speller, and where its messages are in an item.
type Signed = (&'static str, fn(&[Turn]) -> Vec<String>, fn(&mut Value) -> &mut Value);

const SIGNED: &[Signed] = &[
    ("anthropic", anthropic::spell, |item| item),
    ("claude-code", claude_code::spell, |item| &mut item["message"]),
    ("bedrock", bedrock::spell, |item| item),
];

fn fnv(text: &str, mut digest: u64) -> u64 {
    for byte in text.bytes() {
        digest = (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    digest
}

/// The signature of a thought, if the block is one.
fn signature(block: &mut Value) -> Option<&mut Value> {
    if block.get("type").is_some_and(|kind| kind == "thinking") {
        return block.get_mut("signature");
    }
    let thought = block.get_mut("reasoningContent")?.get_mut("reasoningText")?;
    thought.as_object_mut()?.entry("signature").or_insert(Value::Null);
    thought.get_mut("signature")
}

/// Reads the messages in order, and calls `thought` for each with its signature, a digest of what is before it, and the
/// signature of the thought before.
fn walk(
    items: &mut [Value],
    within: fn(&mut Value) -> &mut Value,
    mut thought: impl FnMut(&mut Value, u64, Option<&str>),
) {
    let (mut digest, mut last) = (0xcbf2_9ce4_8422_2325, None::<String>);
    for item in items {
        let message = within(item);
        let role = message["role"].to_string();
        let Some(blocks) = message["content"].as_array_mut() else {
            digest = fnv(&format!("{role}{}", serde_json::json!({"type": "text", "text": message["content"]})), digest);
            continue;
        };
        for block in blocks {
            match signature(block) {
                Some(signature) => {
                    thought(signature, digest, last.as_deref());
                    last = Some(signature.to_string());
                }
                None => digest = fnv(&format!("{role}{block}"), digest),
            }
        }
    }
}

/// The items as lines, with their thoughts signed; `model` wrote the messages of the assistant.
fn sign(items: &[String], within: fn(&mut Value) -> &mut Value, model: Option<&str>) -> String {
    let mut items: Vec<Value> = items.iter().map(|item| serde_json::from_str(item).expect("JSON")).collect();
    walk(&mut items, within, |signature, digest, last| {
        *signature = Value::from(format!("{digest:016x} {:016x}", fnv(last.unwrap_or_default(), 7)));
    });
    for message in items.iter_mut().map(within).filter(|message| message["role"] == "assistant") {
        if let (Some(model), Some(message)) = (model, message.as_object_mut()) {
            message.insert(String::from("model"), Value::from(model));
        }
    }
    items.iter().map(|item| format!("{item}\n")).collect()
}

/// How many thoughts of `text` a checking model accepts, and how many it rejects. The first thoughts may be missing.
fn verify(text: &str, within: fn(&mut Value) -> &mut Value) -> (usize, usize) {
    let mut items: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let (mut valid, mut invalid) = (0, 0);
    walk(&mut items, within, |signature, digest, last| {
        let before = format!("{digest:016x}");
        let linked = last
            .is_none_or(|last| signature.as_str().is_some_and(|own| own.ends_with(&format!("{:016x}", fnv(last, 7)))));
        let holds = invalid == 0 && linked && signature.as_str().is_some_and(|own| own.starts_with(&before));
        *(if holds { &mut valid } else { &mut invalid }) += 1;
    });
    (valid, invalid)
}

fn cut(case: &LawCase, thinking: Thinking, dialect: &str, text: &str) -> Result<Option<String>, TestCaseError> {
    let mut chain = (case.chain)();
    chain.thinking = thinking;
    match cut_with(chain, Some(dialect), Framing::Lines, text) {
        Err(TestCaseError::Fail(reason)) if reason.message().contains("more than the budget") => Ok(None),
        cut => cut.map(Some),
    }
}

const REPAIRS: &[LawCase] = &[
    LawCase {
        name: "repair drop",
        chain: || curtail::pipeline::Chain::default().then(Repair { mode: RepairMode::Drop, pending: true }),
        writes: true,
    },
    LawCase {
        name: "repair stub",
        chain: || curtail::pipeline::Chain::default().then(Repair { mode: RepairMode::Stub, pending: true }),
        writes: true,
    },
    LawCase {
        name: "repair move",
        chain: || curtail::pipeline::Chain::default().then(Repair { mode: RepairMode::Move, pending: true }),
        writes: true,
    },
    LawCase {
        name: "a chain",
        chain: || {
            let mut chain = (CASES[0].chain)();
            for case in [11, 13, 17, 20] {
                let case: &LawCase = &CASES[case];
                chain.stages.extend((case.chain)().stages);
            }
            chain.then(Repair { mode: RepairMode::Drop, pending: true })
        },
        writes: true,
    },
];

proptest! {
    #![proptest_config(crate::properties::property(96))]

    #[test]
    fn every_signature_that_is_left_holds(script in broken_script(), signed in prop::sample::select(SIGNED)) {
        let (dialect, spell, within) = signed;
        let items = spell(&script);
        let checked = sign(&items, within, Some("claude-opus-5-5"));
        let unchecked = sign(&items, within, Some("claude-sonnet-4-5"));
        let unnamed = sign(&items, within, None);
        let instructs = script.iter().any(|turn| matches!(turn, Turn::System(_)));
        for case in CASES.iter().chain(REPAIRS) {
            let Some(auto) = cut(case, Thinking::Auto, dialect, &checked)? else { continue };
            let kept = cut(case, Thinking::Keep, dialect, &checked)?.unwrap_or_default();
            let (valid, invalid) = verify(&auto, within);
            prop_assert_eq!(invalid, 0, "{}: a thought does not hold\nin  {}\nout {}", case.name, checked, auto);
            // Not one is dropped that would have held.
            if !instructs {
                prop_assert_eq!(valid, verify(&kept, within).0, "{}: a good thought is gone\nin  {}\nout {}", case.name, checked, auto);
            }
            let dropped = cut(case, Thinking::Drop, dialect, &unchecked)?.unwrap_or_default();
            prop_assert_eq!(verify(&dropped, within).1, 0, "{}: drop\nin  {}\nout {}", case.name, unchecked, dropped);
            // A model that does not check loses nothing.
            prop_assert_eq!(cut(case, Thinking::Auto, dialect, &unchecked)?, cut(case, Thinking::Keep, dialect, &unchecked)?);
            // Twice is once, for every processor.
            if case.name == "a chain" {
                continue;
            }
            prop_assert_eq!(cut(case, Thinking::Auto, dialect, &auto)?, Some(auto), "{}: twice\nin {}", case.name, checked);
            let bare = cut(case, Thinking::Auto, dialect, &unnamed)?.unwrap_or_default();
            prop_assert_eq!(cut(case, Thinking::Auto, dialect, &bare)?, Some(bare), "{}: unnamed, twice\nin {}", case.name, unnamed);
        }
    }
}
