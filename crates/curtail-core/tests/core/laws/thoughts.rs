//! Law 9: no thought is left after a change that its model checks, and none is lost that a provider wants back.

use std::collections::BTreeMap;
use std::iter;

use curtail_core::dialects::Framing;
use curtail_core::figures::StaleFigures;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{
    ClearResults, DropMessages, MediaLimits, MessageRange, Overflow, Repair, RepairMode, ScaledLimit, StaleResults,
    Thinking,
};
use curtail_core::transcript::{Content, PartRef, RequiredReasoning};
use curtail_memory::rolling::{Counted, RollingSummary, Shown, Taken, Thread};
use proptest::prelude::*;

use super::bounded::{BOUNDED, marked};
use super::cases::{CASES, Change, LIVE, LawCase, REPAIRS, limit, named, rolling, tokenizer};
use super::check::{cut_with, is_refused, reading};
use super::signed::{SIGNED, Signed};
use crate::properties::{Drawn, drawn, tried};
use crate::serializers::{SERIALIZERS, Turn, broken_script, sound_script};

/// A model that checks its thoughts, and one that does not.
const CHECKING: &str = "claude-opus-5-5";
const TOLERANT: &str = "claude-sonnet-4-5";

fn cut(case: &LawCase, thinking: Thinking, signed: &Signed, text: &str) -> Result<Option<String>, TestCaseError> {
    let mut chain = (case.chain)();
    chain.thinking = thinking;
    match cut_with(chain, Some(signed.dialect), signed.framing(), text) {
        Err(TestCaseError::Fail(reason)) if is_refused(reason.message()) => Ok(None),
        cut => cut.map(Some),
    }
}

const MORE: &[LawCase] = &[
    LIVE,
    LawCase {
        name: "a chain",
        chain: || {
            let mut chain = (named("history 3").chain)();
            for name in ["filter exclude", "clear results", "cap results", "supersede reads, dedupe results"] {
                chain.stages.extend((named(name).chain)().stages);
            }
            chain.then(Repair { mode: RepairMode::Drop, pending: true })
        },
        change: Change::Writes,
    },
];

/// What holds for one case on one transcript, given as signed by a checking model, by a tolerant one, and by none that is
/// named. `instructs` is whether there are instructions among the messages.
fn hold(case: &LawCase, signed: &Signed, texts: [&str; 3], instructs: bool) -> Result<(), TestCaseError> {
    let [checked, unchecked, unnamed] = texts;
    let (name, dialect) = (case.name, signed.dialect);
    let Some(auto) = cut(case, Thinking::Auto, signed, checked)? else { return Ok(()) };
    let kept = cut(case, Thinking::Keep, signed, checked)?.unwrap_or_default();
    let (valid, invalid) = signed.verify(&auto);
    prop_assert_eq!(invalid, 0, "{}: {}: a thought does not hold\nin  {}\nout {}", dialect, name, checked, auto);
    // Not one is dropped that would have held.
    if !instructs {
        let would = signed.verify(&kept).0;
        prop_assert_eq!(
            valid,
            would,
            "{}: {}: a good thought is gone\nin  {}\nout {}\nkept {}",
            dialect,
            name,
            checked,
            auto,
            kept
        );
    }
    hold_unchecked(case, signed, unchecked)?;
    // Twice is once, for every processor.
    let Some(unnamed) = Some(unnamed).filter(|_| name != "a chain") else { return Ok(()) };
    prop_assert_eq!(
        cut(case, Thinking::Auto, signed, &auto)?,
        Some(auto),
        "{}: {}: twice\nin {}",
        dialect,
        name,
        checked
    );
    let bare = cut(case, Thinking::Auto, signed, unnamed)?.unwrap_or_default();
    prop_assert_eq!(
        cut(case, Thinking::Auto, signed, &bare)?,
        Some(bare),
        "{}: {}: unnamed, twice\nin {}",
        dialect,
        name,
        unnamed
    );
    Ok(())
}

/// A model that does not check loses nothing, unless it is asked for.
fn hold_unchecked(case: &LawCase, signed: &Signed, unchecked: &str) -> Result<(), TestCaseError> {
    let (name, dialect) = (case.name, signed.dialect);
    let dropped = cut(case, Thinking::Drop, signed, unchecked)?.unwrap_or_default();
    prop_assert_eq!(signed.verify(&dropped).1, 0, "{}: {}: drop\nin  {}\nout {}", dialect, name, unchecked, dropped);
    let loose = cut(case, Thinking::Auto, signed, unchecked)?;
    prop_assert_eq!(loose, cut(case, Thinking::Keep, signed, unchecked)?, "{}: {}: tolerant", dialect, name);
    Ok(())
}

/// A compaction that was asked for.
const ON_DEMAND: &str =
    r#"{"role":"assistant","content":[{"type":"compaction","content":"The key is 42.","encrypted_content":""}]}"#;

fn hold_all(signed: &Signed, items: &[String], instructs: bool, drawn: Drawn) -> Result<(), TestCaseError> {
    // A log with nothing but a header is refused.
    if items.is_empty() {
        return Ok(());
    }
    let texts = [Some(CHECKING), Some(TOLERANT), None].map(|model| signed.text(items, model));
    for case in tried(CASES.iter().chain(&REPAIRS).chain(MORE), drawn) {
        hold(case, signed, [&texts[0], &texts[1], &texts[2]], instructs)?;
    }
    Ok(())
}

/// The thread that reads `pieces` one after another, as a model should read it after each.
pub fn threads(
    summary: &RollingSummary,
    dialect: &str,
    pieces: &[String],
    thinking: Thinking,
) -> Result<Vec<String>, String> {
    let (mut thread, mut marks) = (None, Vec::new());
    let reading = reading(Some(dialect), Framing::Lines);
    let mut shown = Vec::new();
    for text in pieces {
        let taken = Taken { text, reading: &reading, from: None, now: "2026-11-01T00:00:00Z", rewind: false };
        let known: Vec<String> = marks.clone();
        let (after, fresh) =
            Thread::after(thread.take(), summary, taken, &|mark| known.iter().any(|other| other == mark))
                .map_err(|error| error.to_string())?;
        marks.extend(fresh);
        let context = after.render(summary, Shown::Context { thinking, figures: StaleFigures::Reset }, Framing::Lines);
        shown.push(context.map_err(|error| error.to_string())?);
        thread = Some(after);
    }
    Ok(shown)
}

proptest! {
    #![proptest_config(crate::properties::property(12))]

    #[test]
    fn every_signature_that_is_left_holds(script in broken_script(), signed in prop::sample::select(SIGNED), drawn in drawn()) {
        let instructs = script.iter().any(|turn| matches!(turn, Turn::System(_)));
        hold_all(&signed, &(signed.serialize)(&script), instructs, drawn)?;
    }

    /// What lies before the last boundary is no longer read, and binds nothing.
    #[test]
    fn every_signature_behind_a_boundary_holds(
        script in sound_script(),
        bounded in prop::sample::select(BOUNDED),
        places in prop::collection::vec(any::<prop::sample::Index>(), 1..3),
        drawn in drawn(),
    ) {
        let Some(signed) = SIGNED.iter().find(|signed| signed.dialect == bounded.0) else { return Ok(()) };
        let (items, _) = marked(&script, &bounded, &places);
        hold_all(signed, &items, true, drawn)?;
    }

    /// A compaction on demand of Anthropic: the turns behind the block were written before it. What the block replaced may be
    /// dropped; a cut or an insertion between it and a thought takes that thought away.
    #[test]
    fn every_signature_of_turns_that_a_compaction_kept_holds(
        summarized in sound_script(),
        kept in broken_script(),
        bare in any::<bool>(),
        drawn in drawn(),
    ) {
        let signed = &SIGNED[0];
        let mut items = (signed.serialize)(&summarized);
        let from = if bare { items.len() } else { 0 };
        items.push(String::from(ON_DEMAND));
        items.extend((signed.serialize)(&kept));
        let instructs = summarized.iter().chain(&kept).any(|turn| matches!(turn, Turn::System(_)));
        let texts = [Some(CHECKING), Some(TOLERANT), None].map(|model| signed.sign(&items, model)[from..].concat());
        for case in tried(CASES.iter().chain(&REPAIRS).chain(MORE), drawn) {
            hold(case, signed, [&texts[0], &texts[1], &texts[2]], instructs)?;
        }
    }

    /// A thread in the store, after every piece that it reads.
    #[test]
    fn every_signature_in_a_thread_holds(
        script in sound_script(),
        signed in prop::sample::select(SIGNED),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..3),
        drawn in drawn(),
    ) {
        // A thread reads logs.
        if signed.framing() != Framing::Lines {
            return Ok(());
        }
        let items = (signed.serialize)(&script);
        for model in tried([CHECKING, TOLERANT], drawn) {
            let lines = signed.sign(&items, Some(model));
            // The first piece has a message, and not only the header of the log.
            let least = lines.len() - items.len() + 1;
            if lines.len() < least {
                continue;
            }
            let end = |cut: &prop::sample::Index| cut.index(lines.len() + 1).max(least);
            let mut ends: Vec<usize> = cuts.iter().map(end).chain([lines.len()]).collect();
            ends.sort_unstable();
            let starts = std::iter::once(0).chain(ends.iter().copied());
            let pieces: Vec<String> = starts.zip(&ends).map(|(start, &end)| lines[start..end].concat()).collect();
            let summary = rolling(2, 2, Counted::Message);
            let auto = threads(&summary, signed.dialect, &pieces, Thinking::Auto).map_err(TestCaseError::fail)?;
            if model == TOLERANT {
                let kept = threads(&summary, signed.dialect, &pieces, Thinking::Keep).map_err(TestCaseError::fail)?;
                prop_assert_eq!(auto, kept, "{}: tolerant", signed.dialect);
                continue;
            }
            for auto in auto {
                let invalid = signed.verify(&auto).1;
                prop_assert_eq!(invalid, 0, "{}: a thought does not hold\nin  {}\nout {}", signed.dialect, lines.concat(), auto);
            }
        }
    }
}

/// The walker finds the thoughts of every dialect: without this, the properties would hold of nothing.
#[test]
fn every_dialect_signs_its_thoughts() {
    let script = [
        Turn::User(String::from("ask")),
        Turn::Assistant { reasoning: Some(String::from("hm")), text: Some(String::from("ok")), calls: Vec::new() },
        Turn::User(String::from("more")),
        Turn::Assistant { reasoning: Some(String::from("well")), text: Some(String::from("done")), calls: Vec::new() },
    ];
    for signed in SIGNED {
        let text = signed.text(&(signed.serialize)(&script), Some(CHECKING));
        let (valid, invalid) = signed.verify(&text);
        assert!(valid >= 2 && invalid == 0, "{}: {text}", signed.dialect);
        // A window of one turn leaves no thought that holds.
        let window = cut(named("history turns"), Thinking::Auto, signed, &text).unwrap().unwrap();
        let kept = cut(named("history turns"), Thinking::Keep, signed, &text).unwrap().unwrap();
        assert_eq!(signed.count(&window), 0, "{}: {window}", signed.dialect);
        assert!(signed.count(&kept) > 0, "{}: {kept}", signed.dialect);
    }
}

/// What is right behind a compaction block binds the thoughts behind it; what is before it does not.
#[test]
fn a_change_behind_a_compaction_block_takes_the_thoughts_behind_it() {
    use curtail_core::pipeline::Chain;
    use curtail_core::processors::DropMessages;
    let signed = &SIGNED[0];
    let user = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
    let thinking_reply = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":""},{"type":"text","text":"At nine."}]}"#;
    let reply = r#"{"role":"assistant","content":"Well."}"#;
    let items = [user("When?"), reply.into(), ON_DEMAND.into(), user("And now?"), thinking_reply.into(), user("Good.")];
    let text = signed.text(&items, Some(CHECKING));
    let all = signed.count(&text);
    assert_eq!((all > 0, signed.verify(&text)), (true, (all, 0)), "{text}");
    let cut = |chain: Chain| cut_with(chain, Some("anthropic"), Framing::Lines, &text).unwrap();
    let dropped = |messages: std::ops::Range<usize>| {
        let messages = std::iter::once(messages).collect();
        cut(Chain::default().then(DropMessages { messages, turns: Vec::new(), ..DropMessages::default() }))
    };
    assert_eq!(signed.verify(&dropped(0..2)), (all, 0));
    assert_eq!(signed.count(&dropped(3..4)), 0);
    let noted = cut(Chain::default().then(crate::laws::cases::memory(r#"{"goal":"ship"}"#)));
    assert!(noted.contains("orking_memory>") && signed.count(&noted) == 0, "{noted}");
}

/// The ids of calls, each with how many thoughts of its message there are, or how many of them a provider wants back.
fn thoughts_by_call(dialect: &str, text: &str, only_required: bool) -> BTreeMap<String, usize> {
    let reading = reading(Some(dialect), Framing::Lines);
    let Ok(document) = reading.parse(text) else { return BTreeMap::new() };
    let mut thoughts = BTreeMap::new();
    for (_, transcript) in reading.transcripts_or_none(&document).unwrap_or_default() {
        let required = RequiredReasoning::of(&transcript.messages);
        for (message, parts) in transcript.messages.iter().enumerate() {
            let is_counted = |part: &usize| match &parts.parts[*part].content {
                Content::Reasoning(_) => !only_required || required.contains(PartRef { message, part: *part }),
                _ => false,
            };
            let count = (0..parts.parts.len()).filter(is_counted).count();
            // Calls without an id cannot be told apart after a cut.
            for id in parts.calls().filter_map(|(_, call)| call.id.as_ref()) {
                *thoughts.entry(id.decode().into_owned()).or_default() += count;
            }
        }
    }
    thoughts
}

/// A change, after which thoughts stay bound to what is before them.
fn kept(case: &LawCase, dialect: &str, text: &str) -> Option<String> {
    let mut chain = (case.chain)();
    chain.thinking = Thinking::Keep;
    cut_with(chain, Some(dialect), Framing::Lines, text).ok()
}

proptest! {
    #![proptest_config(crate::properties::property(12))]

    /// What a provider wants back with a call stays as long as the call, whatever is dropped.
    #[test]
    fn required_reasoning_stays_with_its_calls(script in sound_script(), drawn in drawn()) {
        for (dialect, serialize) in SERIALIZERS {
            let text: String = serialize(&script).into_iter().map(|item| item + "\n").collect();
            let wanted = thoughts_by_call(dialect, &text, true);
            if wanted.values().all(|count| *count == 0) {
                continue;
            }
            for case in tried(CASES.iter().chain(&REPAIRS).chain(MORE), drawn) {
                let Some(after) = kept(case, dialect, &text) else { continue };
                let there = thoughts_by_call(dialect, &after, false);
                for (call, wanted) in &wanted {
                    let is_kept = there.get(call).is_none_or(|there| there >= wanted);
                    prop_assert!(is_kept, "{}: {}: {call} lost its reasoning\nin  {text}\nout {after}", case.name, dialect);
                }
            }
        }
    }
}

/// A text in place of an image, and an empty object in place of arguments, are changes that a signature covers.
#[test]
fn thoughts_behind_a_substitution_are_dropped() {
    let image = r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAyAAAAGQ"}}"#;
    let reply = |signature: &str, block: &str| {
        let thought = format!(r#"{{"type":"thinking","thinking":"Hm.","signature":"{signature}"}}"#);
        format!(r#"{{"role":"assistant","model":"claude-opus-5-5","content":[{thought},{block}]}}"#)
    };
    let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"it is there, at the end of the long list"}]}"#;
    let log = [
        &format!(r#"{{"role":"user","content":[{image}]}}"#),
        &reply("c2ln", r#"{"type":"tool_use","id":"t1","name":"look","input":{"path":"a.png"}}"#),
        result,
        &reply("b25l", r#"{"type":"text","text":"It is."}"#),
        r#"{"role":"user","content":"And now?"}"#,
    ]
    .join("\n");
    let cut = |chain: Chain| cut_with(chain, Some("anthropic"), Framing::Lines, &log).expect("it is cut");
    let media = cut(Chain::default().then(MediaLimits { keep_last: Some(0), ..MediaLimits::default() }));
    assert!(media.contains("removed]") && !media.contains("signature"), "{media}");
    let clear = ClearResults::new(StaleResults::AllButLast(0), tokenizer());
    let cleared = cut(Chain::default().then(ClearResults { clear_inputs: true, ..clear }));
    let call = r#"{"type":"tool_use","id":"t1","name":"look","input":{}}"#;
    assert!(cleared.contains(call) && cleared.contains("c2ln") && !cleared.contains("b25l"), "{cleared}");
}

/// A cut breaks the thoughts behind it, which are dropped. After that, a number means the message that it meant before, and a share
/// is that of what was read.
#[test]
fn numbers_and_shares_are_those_of_what_was_read() {
    let turn = |nth: usize| {
        format!(
            r#"{{"role":"user","content":[{{"type":"text","text":"Question {nth}?"}}]}},{{"role":"assistant","content":[{{"type":"thinking","thinking":"Thought {nth}.","signature":"c2lnbmVk"}},{{"type":"text","text":"Answer {nth}."}}]}}"#
        )
    };
    let turns: Vec<String> = (0..20).map(turn).collect();
    let chat = format!(r#"{{"model":"claude-opus-5","messages":[{}]}}"#, turns.join(","));
    let left = |chain: Chain| {
        let chain = Chain { thinking: Thinking::Drop, ..chain };
        let cut = cut_with(chain, Some("anthropic"), Framing::Document, &chat).expect("it is cut");
        cut.matches(r#""role""#).count()
    };
    let message = DropMessages { messages: iter::once(4..5).collect(), ..DropMessages::default() };
    assert_eq!(left(Chain::default().then(message)), 39);
    let turn = DropMessages { turns: iter::once(3..4).collect(), ..DropMessages::default() };
    assert_eq!(left(Chain::default().then(turn)), 38);
    let range = MessageRange { from: 10, to: Some(30), ..MessageRange::default() };
    assert_eq!(left(Chain::default().then(range)), 20);
    let half = ScaledLimit { limit: limit(1, Overflow::Error), max_tokens: Some(0.5), trigger: None, step: None };
    let of_half = left(Chain::default().then(half));
    assert!((18..=22).contains(&of_half), "{of_half} of 40 messages");
}
