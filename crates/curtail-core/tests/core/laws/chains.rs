//! A chain writes what its stages write one after another: pairs of stages, on every fixture and on generated transcripts.

use std::collections::HashSet;
use std::path::Path;

use curtail_core::dialects::Framing;
use curtail_core::json::Document;
use curtail_core::pipeline::{Chain, TextCutter};
use curtail_core::processors::{MessageRange, SlidingWindow, Thinking, ToolFilter, ToolGlobs};
use proptest::prelude::*;
use rayon::prelude::*;

use super::cases::{CASES, LawCase, REPAIRS, persist};
use super::check::{Stage, check_laws, check_stages, cut_with_notes, keeps_broken_thoughts, reading, revives_thoughts};
use super::fixtures::dialect_of;
use super::generated::{frame, framings, serializer, with_rules};
use crate::dialects::files::{paths, pieces};
use crate::properties::asks_for_cases;
use crate::serializers::metadata::{self, NOTED};
use crate::serializers::{anthropic, broken_script};

/// A stage and its name.
type NamedStage = (&'static str, fn() -> Chain);

fn named_stage(case: &LawCase) -> NamedStage {
    (case.name, case.chain)
}

/// Cases that decide as another one does. `CURTAIL_ALL_PAIRS=1` tries them on the fixtures as well.
const ALIKE: &[&str] = &[
    "history 5 bare",
    "history 2 head",
    "history segments",
    "history messages",
    "sliding turns",
    "sliding head",
    "filter exclude",
    "supersede reads, dedupe results",
    "summarize 5",
    "limit 25 newest",
    "role assistant, tool",
    "repair drop",
];

/// The cases of the laws, and stages that write what no case writes.
fn stages() -> Vec<NamedStage> {
    let persist_all: NamedStage = ("persist all", || persist("*"));
    CASES.iter().map(named_stage).chain([persist_all]).chain(REPAIRS.iter().map(named_stage)).collect()
}

/// The result of the first stage of a pair.
struct Once {
    text: String,
    /// Whether it [keeps broken thoughts](keeps_broken_thoughts).
    keeps_broken: bool,
}

/// A text that is cut in one go.
struct Piece<'t> {
    dialect: &'static str,
    framing: Framing,
    text: &'t str,
}

impl Piece<'_> {
    /// `text` after `chain`; `None` if it is refused.
    fn cut(&self, chain: Chain, text: &str) -> Option<String> {
        cut_with_notes(chain, Some(self.dialect), self.framing, text).ok().map(|(out, _)| out)
    }

    /// Whether a message is read in `text`, or nothing is in it.
    fn is_read(&self, text: &str) -> bool {
        let document = Document::parse_log(text).expect("what we write is JSON");
        reading(Some(self.dialect), self.framing).transcripts(&document).is_ok()
    }

    /// `text` after the first stage of a pair; `None` if it is refused.
    fn cut_first(&self, chain: Chain) -> Option<Once> {
        let (text, notes) = cut_with_notes(chain, Some(self.dialect), self.framing, self.text).ok()?;
        Some(Once { text, keeps_broken: keeps_broken_thoughts(&notes) })
    }

    /// What the chain of two stages writes, and what the second stage makes of `once`, the result of the first one.
    fn both_ways(&self, [first, second]: [&NamedStage; 2], thinking: Thinking, once: &str) -> [Option<String>; 2] {
        let mut chain = Chain { thinking, ..first.1() };
        chain.stages.extend(second.1().stages);
        [self.cut(chain, self.text), self.cut(Chain { thinking, ..second.1() }, once)]
    }

    /// How the chain of two stages differs from one after the other. Where a stage [keeps broken thoughts](keeps_broken_thoughts)
    /// or [revives thoughts](revives_thoughts), the two may differ in thoughts alone: they are compared with every thought kept.
    fn difference(&self, pair: [&NamedStage; 2], once: &Once) -> Option<String> {
        let [mut chain, mut apart] = self.both_ways(pair, Thinking::Auto, &once.text);
        let revives = |apart: &str| revives_thoughts(Some(self.dialect), self.framing, &once.text, apart);
        if chain != apart && (once.keeps_broken || apart.as_deref().is_some_and(revives)) {
            let kept = self.cut_first(Chain { thinking: Thinking::Keep, ..pair[0].1() })?;
            [chain, apart] = self.both_ways(pair, Thinking::Keep, &kept.text);
        }
        let [first, second] = pair.map(|stage| stage.0);
        (chain != apart).then(|| format!("{first} | {second}\nchain  {chain:?}\nstages {apart:?}"))
    }

    /// The pairs of `stages` that give something else as a chain: of every pair, or of one in `share` of the first stages, from
    /// `start` on. A stage that gives what an earlier one gave is passed over.
    fn differences(&self, stages: &[NamedStage], start: usize, share: usize) -> Vec<String> {
        let mut known = HashSet::from([self.text.to_owned()]);
        let mut found = Vec::new();
        for first in stages.iter().skip(start % share).step_by(share) {
            let Some(once) = self.cut_first(first.1()).filter(|once| known.insert(once.text.clone())) else { continue };
            found.extend(stages.iter().filter_map(|second| self.difference([first, second], &once)));
        }
        found
    }
}

/// The same for each transcript in a fixture.
fn differences_in(file: &Path, stages: &[NamedStage], start: usize, share: usize) -> Vec<String> {
    let Ok(text) = std::fs::read_to_string(file) else { return Vec::new() };
    let (framing, pieces) = pieces(&text);
    let pieces =
        pieces.into_iter().filter_map(|text| Some(Piece { dialect: dialect_of(framing, text)?, framing, text }));
    let found = pieces.flat_map(|piece| piece.differences(stages, start, share));
    found.map(|found| format!("{} {found}", file.display())).collect()
}

/// Where no cases are asked for, each fixture is cut by one in eight of the first stages, the next fixture by others.
#[test]
fn every_pair_of_stages_is_a_chain_on_every_fixture() {
    let all = std::env::var_os("CURTAIL_ALL_PAIRS").is_some();
    let share = if all || asks_for_cases() { 1 } else { 8 };
    let mut stages = stages();
    stages.retain(|(name, _)| all || !ALIKE.contains(name));
    let fixtures = paths(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures"));
    let found: Vec<String> = fixtures
        .par_iter()
        .enumerate()
        .flat_map_iter(|(nth, file)| differences_in(file, &stages, nth, share))
        .collect();
    assert!(found.is_empty(), "{} pairs\n{}", found.len(), found.join("\n\n"));
}

/// A signed thought that is kept while its round is in flight, though messages before it were dropped, is dropped by the stage
/// that ends the round.
#[test]
fn a_chain_drops_a_thought_that_is_in_flight_no_more() {
    let text = concat!(
        r#"[{"role":"user","content":"a"},"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"b"}]},"#,
        r#"{"role":"user","content":"c"},"#,
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"d","signature":"c2ln"},"#,
        r#"{"type":"text","text":"e"},{"type":"tool_use","id":"f","name":"g","input":{}}]},"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"f","content":"h"}]}]"#
    );
    let piece = Piece { dialect: "anthropic", framing: Framing::Document, text };
    let has_thought = |out: Option<String>| out.expect("it can be cut").contains("\"thinking\"");
    let first = || Chain::default().then(MessageRange { from: 2, to: None, ..MessageRange::default() });
    let last_stage = MessageRange { from: 0, to: Some(2), ..MessageRange::default() };
    assert!(has_thought(piece.cut(first(), text)) && piece.cut_first(first()).is_some_and(|once| once.keeps_broken));
    assert!(!has_thought(piece.cut(first().then(last_stage), text)));
}

/// No stage lets a model read a thought again that a compaction replaced: the compaction stays with it.
#[test]
fn a_chain_keeps_a_compaction_with_what_it_replaced() {
    let line = |nth: u8, parent: &str, rest: &str| {
        format!(r#"{{"parentUuid":{parent},"isSidechain":false,"sessionId":"s",{rest},"uuid":"u{nth}"}}"#) + "\n"
    };
    let message = |role: &str, content: &str| {
        format!(r#""type":"{role}","message":{{"id":"m","role":"{role}","content":[{content}]}}"#)
    };
    let boundary = r#""type":"system","subtype":"compact_boundary""#;
    let summary = format!(r#""isCompactSummary":true,{}"#, message("user", r#"{"type":"text","text":"c"}"#));
    let thought = r#"{"type":"thinking","thinking":"d","signature":"c2ln"},{"type":"text","text":"e"}"#;
    let log = [
        line(0, "null", &message("user", r#"{"type":"text","text":"a"}"#)),
        line(1, "\"u0\"", &message("user", r#"{"type":"text","text":"b"}"#)),
        line(2, "\"u1\"", &message("assistant", thought)),
        line(3, "null", boundary),
        line(4, "\"u3\"", &summary),
        line(5, "\"u4\"", &message("user", r#"{"type":"text","text":"f"}"#)),
    ];
    let text = log.concat();
    let piece = Piece { dialect: "claude-code", framing: Framing::Lines, text: &text };
    let range = |from, to| Chain::default().then(MessageRange { from, to, ..MessageRange::default() });
    let once = piece.cut(range(1, None), &text).expect("it can be cut");
    let mut chain = range(1, None);
    chain.stages.extend(range(0, Some(2)).stages);
    let [out, apart] = [piece.cut(chain, &text), piece.cut(range(0, Some(2)), &once)].map(Option::unwrap);
    assert!(once.contains("\"thinking\"") && apart.contains("isCompactSummary"), "{apart}");
    assert_eq!(out, apart);
    assert!(!revives_thoughts(Some("claude-code"), Framing::Lines, &once, &apart));
}

/// A snapshot of the files belongs to the message that it was taken for, also where nothing is left before the two: there, it
/// was read as a header.
#[test]
fn a_snapshot_is_dropped_with_its_message() {
    let line = |parent: &str, uuid: &str, role: &str, text: &str| {
        format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"sessionId":"s","type":"{role}","message":{{"role":"{role}","content":"{text}"}},"uuid":"{uuid}"}}"#
        )
    };
    let snapshot = r#"{"type":"file-history-snapshot","messageId":"u3","snapshot":{}}"#.to_owned();
    let [question, reply] = [line("null", "u1", "user", "One."), line("\"u1\"", "u2", "assistant", "First.")];
    let [second_question, second_reply] =
        [line("\"u2\"", "u3", "user", "Two."), line("\"u3\"", "u4", "assistant", "Second.")];
    // Directly before its message, and one line earlier.
    for lines in [
        [&question, &reply, &snapshot, &second_question, &second_reply],
        [&question, &snapshot, &reply, &second_question, &second_reply],
    ] {
        let text: String = lines.into_iter().map(|line| format!("{line}\n")).collect();
        let piece = Piece { dialect: "claude-code", framing: Framing::Lines, text: &text };
        let range = |from| move || Chain::default().then(MessageRange { from, to: None, ..MessageRange::default() });
        let once = piece.cut(range(2)(), &text).expect("it can be cut");
        assert!(once.starts_with(&snapshot), "{once}");
        let mut chain = range(2)();
        chain.stages.extend(range(1)().stages);
        let out = piece.cut(chain, &text);
        assert_eq!(out, piece.cut(range(1)(), &once));
        assert!(!out.expect("it can be cut").contains("snapshot"));
    }
}

/// Instructions that are all that is left of a message are instructions to the next stage: without them, a thought before them
/// is dropped as well.
#[test]
fn instructions_that_one_stage_left_alone_are_instructions_to_the_next() {
    let text = concat!(
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"a","signature":"c2ln"},{"type":"text","text":"b"},"#,
        r#"{"type":"tool_use","id":"c","name":"f","input":{}}]}"#,
        "\n",
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"d"},"#,
        r#"{"type":"mid_conv_system","content":[{"type":"text","text":"e"}]}]}"#,
        "\n",
        r#"{"role":"assistant","content":[{"type":"text","text":"f"}]}"#,
        "\n"
    );
    let piece = Piece { dialect: "anthropic", framing: Framing::Lines, text };
    let stage = |name: &'static str| stages().into_iter().find(|stage| stage.0 == name).expect("a stage");
    let [first, second] = [stage("filter all"), stage("role assistant, tool")];
    let once = piece.cut_first(first.1()).expect("it can be cut");
    let [chain, apart] = piece.both_ways([&first, &second], Thinking::Auto, &once.text);
    assert_eq!(chain, apart);
}

/// A log without results is one of a version that writes none, whose calls need none: `filter` makes such a log here.
#[test]
fn a_stage_after_the_last_result_is_gone_reads_a_log_without_results() {
    let log = [
        r#"{"role":"user","message":{"content":[{"type":"text","text":"Look."}]}}"#,
        r#"{"role":"assistant","message":{"content":[{"type":"tool_use","name":"f","input":{}},{"type":"tool_use","name":"f","input":{}}]}}"#,
        r#"{"role":"user","message":{"content":[{"type":"tool_result","name":"f","content":[{"type":"text","text":"a"}]}]}}"#,
        r#"{"role":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}"#,
        r#"{"role":"user","message":{"content":[{"type":"text","text":"Good."}]}}"#,
    ];
    let text = log.map(|line| format!("{line}\n")).concat();
    let piece = Piece { dialect: "cursor", framing: Framing::Lines, text: &text };
    let stage = |name: &'static str| stages().into_iter().find(|stage| stage.0 == name).expect("a stage");
    let [first, second] = [stage("role assistant, tool"), stage("repair drop")];
    let once = piece.cut_first(first.1()).expect("it can be cut");
    let [chain, apart] = piece.both_ways([&first, &second], Thinking::Auto, &once.text);
    assert!(apart.as_ref().is_some_and(|text| text.contains("tool_use")), "{apart:?}");
    assert_eq!(chain, apart);
}

/// The decisions of a later stage refer to the messages as they were read first.
#[test]
fn a_stage_after_notes_names_messages_as_they_were_read() {
    let lines = [
        r#"{"role":"user","content":"Go"}"#,
        r#"{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}"#,
        r#"{"role":"tool","tool_call_id":"c","content":"ok"}"#,
        r#"{"role":"assistant","content":"Gone"}"#,
        r#"{"role":"user","content":"Good"}"#,
    ];
    let text = lines.map(|line| format!("{line}\n")).concat();
    let chain = persist("*").then(MessageRange { from: 3, to: None, ..MessageRange::default() });
    let mut out = String::new();
    let reading = reading(Some("openai"), Framing::Lines);
    let cut =
        TextCutter { chain, explain: true, counting: None }.cut(&reading, &text, &mut out).expect("it can be cut");
    assert_eq!(out, format!("{}\n", lines[4]));
    let dropped = cut.explained.iter().map(|(_, decision)| decision).filter(|decision| decision.action == "dropped");
    let dropped: Vec<_> = dropped.map(|decision| (decision.message, decision.offset)).collect();
    let read = |at: usize| (Some(at), text.find(lines[at]));
    assert_eq!(dropped, [read(2), read(0), (None, None), read(3)]);
}

/// Without the newest message of Claude Code's log, an older tree is the newest.
#[test]
fn a_stage_reads_the_tree_that_is_the_newest_now() {
    let line = |nth: u8, parent: &str, kind: &str, content: &str| {
        format!(
            r#"{{"parentUuid":{parent},"sessionId":"s","type":"{kind}","message":{{"role":"{kind}","content":[{content}]}},"uuid":"u{nth}"}}"#
        ) + "\n"
    };
    let log = [
        line(0, "null", "assistant", r#"{"type":"tool_use","id":"t","name":"Grep","input":{}}"#),
        line(1, "null", "user", r#"{"type":"text","text":"Find the lamp."}"#),
        line(2, "\"u1\"", "user", r#"{"type":"text","text":"And the rug."}"#),
        line(3, "\"u0\"", "user", r#"{"type":"tool_result","tool_use_id":"t","content":"None."}"#),
    ];
    let stages: [Stage; 2] = [
        Box::new(|| Chain::default().then(ToolFilter { tools: ToolGlobs::All, persist_results: false, dropped: None })),
        Box::new(|| Chain::default().then(SlidingWindow { size: 1, ..SlidingWindow::default() })),
    ];
    check_stages(&stages, Some("claude-code"), Framing::Lines, &log.concat()).unwrap();
}

proptest! {
    #![proptest_config(crate::properties::property(64))]

    /// A pair that is drawn, on a generated transcript.
    #[test]
    fn a_pair_of_stages_is_a_chain(
        script in broken_script(),
        serializer in serializer(),
        framing in framings(),
        seed in any::<u64>(),
        first in prop::sample::select(stages()),
        second in prop::sample::select(stages()),
    ) {
        let text = frame(&(serializer.1)(&script), framing, seed);
        let piece = Piece { dialect: serializer.0, framing, text: &text };
        if let Some(once) = piece.cut_first(first.1()) {
            prop_assert_eq!(piece.difference([&first, &second], &once), None, "in {}", text);
        }
    }

    /// The same around metadata: what belongs to a message belongs to the same one after every stage.
    #[test]
    fn metadata_belongs_to_the_same_message_in_a_chain(
        script in broken_script(),
        noted in prop::sample::select(NOTED),
        lines in prop::collection::vec(any::<[u8; 3]>(), 1..6),
        first in prop::sample::select(stages()),
        second in prop::sample::select(stages()),
    ) {
        let lines: Vec<[usize; 3]> = lines.into_iter().map(|line| line.map(usize::from)).collect();
        let text: String = metadata::serialize(&script, &noted, &lines).iter().map(|item| format!("{item}\n")).collect();
        let (dialect, framing) = (noted.0.0, Framing::Lines);
        let piece = Piece { dialect, framing, text: &text };
        // A log without messages is refused.
        if !piece.is_read(&text) {
            return Ok(());
        }
        let once = piece.cut_first(first.1());
        if once.as_ref().is_some_and(|once| !piece.is_read(&once.text)) {
            return Ok(());
        }
        if let Some(once) = once {
            prop_assert_eq!(piece.difference([&first, &second], &once), None, "in {}", text);
        }
        if let Some(case) = CASES.iter().find(|case| case.name == first.0) {
            check_laws(case, Some(dialect), framing, &text)?;
        }
    }

    /// The same where messages of the user contain instructions of the application.
    #[test]
    fn instructions_beside_other_blocks_are_read_alike_in_a_chain(
        script in broken_script(),
        first in prop::sample::select(stages()),
        second in prop::sample::select(stages()),
    ) {
        let (items, _) = with_rules(&anthropic::serialize(&script));
        let text: String = items.iter().map(|item| format!("{item}\n")).collect();
        let piece = Piece { dialect: "anthropic", framing: Framing::Lines, text: &text };
        if let Some(once) = piece.cut_first(first.1()) {
            prop_assert_eq!(piece.difference([&first, &second], &once), None, "in {}", text);
        }
    }
}
