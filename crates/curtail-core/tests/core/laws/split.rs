//! What holds for every split: each message is in one window of its own, each window fits and breaks no pair.

use std::path::Path;

use curtail_core::dialects::{Dialect, Framing, ReadError, Reading};
use curtail_core::json::Document;
use curtail_core::pipeline::{Chain, Cut, Splitting, TextCutter, Window};
use curtail_core::processors::{
    Counting, Overlap, Pins, Split, SplitOverflow, SplitWindow, TargetRule, Thinking, View, WindowUnit,
};
use curtail_core::transcript::{FaultKind, Message, Pairs, Part, Role, Transcript, first_prompt, whole_segments};
use proptest::prelude::*;

use super::bounded::{BOUNDED, marked};
use super::cases::tokenizer;
use super::check::{cut_with, read_seen, reading};
use super::fixtures::dialect_of;
use super::generated::with_rules;
use super::rolled_back::RolledBack;
use crate::dialects::files::{folder, paths, pieces, real_data};
use crate::serializers::{SERIALIZERS, broken_script, respace, sound_script};

fn split(max_tokens: usize) -> Split {
    Split { on_overflow: SplitOverflow::Keep, ..Split::new(max_tokens, Counting::new(tokenizer())) }
}

fn overlaps() -> impl Strategy<Value = Overlap> {
    let units = prop::sample::select(&[WindowUnit::Turns, WindowUnit::Segments, WindowUnit::Messages][..]);
    prop_oneof![
        Just(Overlap::NONE),
        Just(Overlap::ALL),
        (1..4_usize, units).prop_map(|(count, unit)| Overlap { count, unit })
    ]
}

type Options = (usize, Overlap, (bool, bool, bool), TargetRule);

fn options() -> impl Strategy<Value = Options> {
    let rule = prop_oneof![Just(TargetRule::All), Just(TargetRule::LastTurn)];
    (10..200_usize, overlaps(), any::<(bool, bool, bool)>(), rule)
}

fn with(options: Options) -> Split {
    let (budget, overlap, (system, first_user, at_boundaries), targets) = options;
    Split { overlap, pins: Pins { system, first_user, ..Pins::default() }, at_boundaries, targets, ..split(budget) }
}

fn cut(split: &Split, reading: &Reading, text: &str) -> Result<(Cut, String), String> {
    let splitting = Some(Splitting::new(split.clone()));
    let chain = Chain { splitting, thinking: Thinking::Keep, ..Chain::default() };
    let cutter = TextCutter { chain, explain: true, counting: None };
    let mut out = String::new();
    let done = cutter.cut(reading, text, &mut out).map_err(|error| ReadError::from(error).what)?;
    Ok((done, out))
}

fn view<'v, 'a>(transcript: &'v Transcript<'a>) -> View<'v, 'a> {
    View::of_layout(&transcript.layout, &transcript.messages)
}

/// Whether an assistant message or a result is the first after the instructions.
fn begins_inside(messages: &[&Message<'_>]) -> bool {
    let first = messages.iter().find(|message| !message.role.instructs());
    // Some formats write results as the user's.
    let continues =
        |first: &Message<'_>| first.role == Role::Assistant || first.results().next().is_some() && !first.begins_turn();
    first.is_some_and(|first| (first.role == Role::Tool || continues(first)) && !first.is_boundary())
}

/// The windows of a transcript: they cover it once and in order, fit, and hold as much as fits.
fn check_windows(split: &Split, transcript: &Transcript<'_>) -> Result<Vec<SplitWindow>, String> {
    let messages = &transcript.messages;
    let windows = split.windows(&view(transcript)).map_err(|error| error.to_string())?;
    let counting = &split.counting;
    let outside = counting.outside(&view(transcript));
    let instructs = |at: usize, part: usize| messages[at].parts[part].instructs();
    let reduced = |at: usize| counting.message_without(&messages[at], |part| !instructs(at, part));
    let tokens = |whole: &[usize], only_instructions: &[usize]| {
        let whole =
            whole.iter().filter(|at| !only_instructions.contains(at)).map(|&at| counting.message(&messages[at]));
        outside + whole.chain(only_instructions.iter().map(|&at| reduced(at))).sum::<usize>()
    };
    let pairs = Pairs::from_messages(messages);
    let (segments, awaiting) = (whole_segments(messages, &pairs), pairs.awaiting_messages(messages));
    let mut next = 0;
    for (nth, window) in windows.iter().enumerate() {
        assert_eq!(window.own.start, next, "own messages follow each other");
        assert!(window.own.end > next, "a window has messages of its own");
        next = window.own.end;
        assert!(segments.iter().any(|segment| segment.end == next), "segments are whole");
        let all = window.messages();
        assert!(all.is_sorted_by(|a, b| a < b), "in order, each once: {window:?}");
        assert_eq!(window.tokens, tokens(&all, &window.instructions));
        assert!(window.note.is_some() || window.tokens <= split.max_tokens, "{window:?} does not fit");
        let first = all[0];
        // What waits is repeated wherever a window begins, and its question first.
        let waits = |at: &usize| awaiting.contains(at) && !messages[*at].begins_turn();
        let whole = all.iter().filter(|at| !window.instructions.contains(at) && !waits(at));
        let inside = begins_inside(&whole.map(|&at| &messages[at]).collect::<Vec<_>>());
        let input = begins_inside(&messages.iter().collect::<Vec<_>>());
        assert!(
            !inside || input || messages[first].is_boundary() || split.at_boundaries,
            "begins inside a turn: {window:?}"
        );
        check_pins(split, transcript, window);
        check_overflow(split, messages, &segments, window, tokens);
        check_greedy(split, messages, &segments, &windows, nth, tokens);
    }
    assert_eq!(next, messages.len(), "every message is in a window");
    Ok(windows)
}

fn check_pins(split: &Split, transcript: &Transcript<'_>, window: &SplitWindow) {
    let all = window.messages();
    let before = 0..window.own.start;
    if split.pins.system {
        let missing = before.clone().find(|&at| transcript.messages[at].role.instructs() && !all.contains(&at));
        assert_eq!(missing, None, "instructions are in every window");
    }
    let first = first_prompt(&transcript.messages);
    let bounded = split.at_boundaries && transcript.messages.iter().any(Message::is_boundary);
    if split.pins.first_user && !bounded {
        assert!(
            first.is_none_or(|first| !before.contains(&first) || all.contains(&first)),
            "the first question is there"
        );
    }
}

/// A window exceeds the budget only if its target does, with the messages that any window of it repeats.
fn check_overflow(
    split: &Split,
    messages: &[Message<'_>],
    segments: &[std::ops::Range<usize>],
    window: &SplitWindow,
    tokens: impl Fn(&[usize], &[usize]) -> usize,
) {
    if window.note.is_none() || messages.iter().any(Message::is_boundary) {
        return;
    }
    let has_text = |segment: &&std::ops::Range<usize>| messages[(*segment).clone()].iter().any(Message::is_target);
    let owned = segments.iter().filter(|segment| window.own.contains(&segment.start));
    let Some(target) = owned.clone().find(has_text).cloned() else {
        return assert_eq!(owned.count(), 1, "nothing shares a window with a message that is too long: {window:?}");
    };
    let mut all: Vec<usize> = target.clone().collect();
    let before = 0..target.start;
    all.extend(before.clone().filter(|&at| split.pins.system && messages[at].role.instructs()));
    all.extend(first_prompt(messages).filter(|at| split.pins.first_user && before.contains(at)));
    let first = target.clone().find(|&at| !messages[at].role.instructs()).unwrap_or(target.start);
    if !messages[first].begins_turn() {
        let leads = |at: &usize| messages[*at].begins_turn() && messages[*at].thread == messages[first].thread;
        all.extend(before.clone().rev().find(leads));
    }
    let waiting = Pairs::from_messages(messages).awaiting_messages(messages);
    all.extend(before.clone().filter(|at| waiting.contains(at)));
    all.sort_unstable();
    all.dedup();
    let beside = |at: &usize| split.pins.system && messages[*at].parts.iter().any(Part::instructs);
    let beside: Vec<usize> = before.filter(|at| beside(at) && !all.contains(at)).collect();
    assert!(tokens(&all, &beside) > split.max_tokens, "the target at {target:?} fits alone: {window:?}");
}

/// No window could have taken one more target.
fn check_greedy(
    split: &Split,
    messages: &[Message<'_>],
    segments: &[std::ops::Range<usize>],
    windows: &[SplitWindow],
    nth: usize,
    tokens: impl Fn(&[usize], &[usize]) -> usize,
) {
    let window = &windows[nth];
    if nth + 1 == windows.len() || split.targets == TargetRule::LastTurn || split.at_boundaries {
        return;
    }
    let has_text = |range: &std::ops::Range<usize>| messages[range.clone()].iter().any(Message::is_target);
    let mut later_segments = segments.iter().filter(|segment| segment.start >= window.own.end);
    let end = later_segments.find(|segment| has_text(segment)).map_or(messages.len(), |segment| segment.end);
    let more: Vec<usize> = window.messages().into_iter().chain(window.own.end..end).collect();
    assert!(
        window.note.is_some() || tokens(&more, &window.instructions) > split.max_tokens,
        "{window:?} had room up to {end}"
    );
}

/// What was written: every window is a transcript without new faults, whose own messages are those of the input.
fn check_written(reading: &Reading, text: &str, cut: &Cut, out: &str) {
    let dialect = reading.dialect.map(<dyn Dialect>::name);
    let before = read_seen(dialect, reading.framing, text);
    let mut owned = Vec::new();
    let mut targets = 0;
    for window in &cut.windows {
        let part = &out[window.written.clone()];
        let after = read_seen(dialect, reading.framing, part);
        assert_eq!(after.items.len(), window.messages, "{part}");
        for fault in &after.faults {
            let known = before.faults.iter().any(|old| {
                let open = [FaultKind::UnansweredCall, FaultKind::PendingCall];
                let kind = old.kind == fault.kind || open.contains(&old.kind) && fault.kind == FaultKind::PendingCall;
                kind && old.id == fault.id
            });
            // Roo Code leaves out a result whose call a summary hides, and sends both where a later summary hides nothing.
            let left_out = fault.kind == FaultKind::UnansweredCall
                && part.contains("\"isSummary\":true")
                && part.contains(&format!("\"tool_use_id\":\"{}\"", fault.id));
            assert!(known || left_out, "new fault {fault:?}\nin  {text}\nout {part}");
        }
        // A call or result of a broken pair can become an orphan in its window, and is dropped there.
        if !before.faults.is_empty() {
            continue;
        }
        let count: usize = window.own.iter().map(ExactSizeIterator::len).sum();
        owned.extend(after.items[after.items.len() - count..].iter().cloned());
        let repeated = after.items.len() - count;
        assert!(window.targets.iter().all(|&target| target >= repeated && target < window.messages));
        targets += window.targets.len();
    }
    if !before.faults.is_empty() {
        return;
    }
    assert_eq!(owned, before.items, "the windows' own messages are the messages of the input\nin  {text}\nout {out}");
    assert_eq!(targets, before.speaking, "every assistant message is a target once");
}

/// Whether each message of `text` is the own one of a window, and anything is written.
fn is_whole(windows: &[Window], written: &str, reading: &Reading, text: &str) -> bool {
    let dialect = reading.dialect.map(<dyn Dialect>::name);
    let items = read_seen(dialect, reading.framing, text).items;
    let owned: usize = windows.iter().flat_map(|window| &window.own).map(ExactSizeIterator::len).sum();
    owned == items.len() && !written.is_empty()
}

fn check(split: &Split, dialect: &str, framing: Framing, text: &str) -> Result<(), String> {
    let reading = reading(Some(dialect), framing);
    let document = Document::parse_log(text).expect("the text is JSON");
    for (_, transcript) in reading.transcripts(&document).expect("the text is a transcript") {
        match check_windows(split, &transcript) {
            // Pins that alone exceed the budget are refused, and nothing is written.
            Err(error) if error.contains("more than the budget") => return Ok(()),
            windows => drop(windows?),
        }
    }
    let (done, out) = match cut(split, &reading, text) {
        // So are they in what is left without the turns that were rolled back.
        Err(error) if error.contains("more than the budget") => return Ok(()),
        cut => cut?,
    };
    // What was rolled back is in a transcript that fits, and in no window of one that does not.
    let told =
        cut_with(Chain::default().then(RolledBack), Some(dialect), framing, text).map_err(|error| error.to_string())?;
    if out == text && told != text {
        assert_eq!(done.windows.len(), 1);
        return Ok(());
    }
    assert!(is_whole(&done.windows, &out, &reading, &told) || told.trim().is_empty());
    check_written(&reading, &told, &done, &out);
    if done.windows.len() == 1 {
        assert_eq!(out, told, "a transcript that fits is written as it is");
    }
    Ok(())
}

fn record(items: &[String], seed: u64) -> String {
    let items: Vec<String> = items.iter().enumerate().map(|(nth, item)| respace(item, seed ^ nth as u64)).collect();
    format!("{{\"id\": 17, \"messages\": [{}], \"x\": 1e-7}}\n", items.join(" , "))
}

proptest! {
    #![proptest_config(crate::properties::property(64))]

    #[test]
    fn windows_cover_a_transcript_and_fit(
        script in sound_script(),
        serializer in prop::sample::select(SERIALIZERS),
        options in options(),
        seed in any::<u64>(),
    ) {
        let (split, items) = (with(options), (serializer.1)(&script));
        let lines: String = items.iter().map(|item| format!("{item}\n")).collect();
        check(&split, serializer.0, Framing::Lines, &lines).map_err(TestCaseError::fail)?;
        check(&split, serializer.0, Framing::Records, &record(&items, seed)).map_err(TestCaseError::fail)?;
    }

    /// A window of what an older compaction replaced is a transcript, too.
    #[test]
    fn windows_cover_what_compactions_replaced(
        script in sound_script(),
        bounded in prop::sample::select(BOUNDED),
        places in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
        options in options(),
    ) {
        let (items, _) = marked(&script, &bounded, &places);
        let lines: String = items.iter().map(|item| format!("{item}\n")).collect();
        check(&with(options), bounded.0, Framing::Lines, &lines).map_err(TestCaseError::fail)?;
    }

    /// Broken transcripts are covered too, and nothing else breaks.
    #[test]
    fn windows_of_broken_transcripts_cover_them(
        script in broken_script(),
        serializer in prop::sample::select(SERIALIZERS),
        options in options(),
    ) {
        let split = with(options);
        let text: String = (serializer.1)(&script).iter().map(|item| format!("{item}\n")).collect();
        let reading = reading(Some(serializer.0), Framing::Lines);
        let document = Document::parse_log(&text).expect("the text is JSON");
        for (_, transcript) in reading.transcripts(&document).expect("the text is a transcript") {
            match check_windows(&split, &transcript) {
                Err(error) if error.contains("more than the budget") => {}
                windows => drop(windows.map_err(TestCaseError::fail)?),
            }
        }
    }

    /// Every window repeats the instructions before it, also those beside other blocks, and nothing else of these messages.
    #[test]
    fn windows_repeat_instructions_beside_other_blocks(script in sound_script(), options in options()) {
        let (items, _) = with_rules(&crate::serializers::anthropic::serialize(&script));
        let text: String = items.iter().map(|item| format!("{item}\n")).collect();
        let mut split = with(options);
        split.pins.system = true;
        let reading = reading(Some("anthropic"), Framing::Lines);
        let Ok((done, out)) = cut(&split, &reading, &text) else { return Ok(()) };
        for window in &done.windows {
            let part = &out[window.written.clone()];
            let end = window.own.last().map_or(0, |owned| owned.end);
            for item in &items[..end] {
                let ends = |rule: &&str| rule.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(".\"");
                let Some(rule) = item.split("\"rule ").skip(1).find(ends) else { continue };
                let rule = format!("\"rule {}.", rule.split('.').next().unwrap_or_default());
                prop_assert!(part.contains(&rule), "{} is gone\nin  {}\nout {}", rule, text, part);
            }
        }
        let document = Document::parse_log(&text).expect("the text is JSON");
        for (_, transcript) in reading.transcripts(&document).expect("the text is a transcript") {
            check_windows(&split, &transcript).map_err(TestCaseError::fail)?;
        }
    }

    /// What is shortened fits.
    #[test]
    fn shortened_windows_fit(script in sound_script(), serializer in prop::sample::select(SERIALIZERS), budget in 30..90_usize) {
        let text = record(&(serializer.1)(&script), 7);
        let split = Split { on_overflow: SplitOverflow::Truncate, ..split(budget) };
        if let Ok((done, _)) = cut(&split, &reading(Some(serializer.0), Framing::Records), &text) {
            prop_assert!(done.windows.iter().all(|window| window.tokens <= budget), "{:?}", done.windows);
        }
    }
}

fn hold_splits(folder: &Path, step: usize, budgets: &[usize]) -> usize {
    let mut tried = 0;
    for file in paths(folder) {
        let text = std::fs::read_to_string(&file).expect("transcripts are UTF-8");
        let (framing, pieces) = pieces(&text);
        for piece in pieces.iter().step_by(step) {
            let Some(dialect) = dialect_of(framing, piece) else { continue };
            for &budget in budgets {
                for (overlap, targets, at_boundaries) in [
                    (Overlap::NONE, TargetRule::All, false),
                    (Overlap { count: 2, unit: WindowUnit::Segments }, TargetRule::All, true),
                    (Overlap::ALL, TargetRule::LastTurn, false),
                ] {
                    let split = Split { overlap, targets, at_boundaries, ..split(budget) };
                    match check(&split, dialect, framing, piece) {
                        // A row with answers to train on, and a transcript under a name that a second window would lack.
                        Err(error) if error.contains("is not split") || error.contains("under a name") => {}
                        kept => kept.unwrap_or_else(|error| panic!("{}: {error}", file.display())),
                    }
                    tried += 1;
                }
            }
        }
    }
    tried
}

#[test]
fn fixtures_are_split_well() {
    assert!(hold_splits(&folder(), 1, &[20, 60, 200]) > 0, "there are fixtures");
}

#[test]
fn real_transcripts_are_split_well() {
    let Some(data) = real_data() else { return println!("no real transcripts at hand: CURTAIL_DATA names none") };
    assert!(hold_splits(&data, 10, &[1_000, 8_000]) > 0, "there are transcripts in {}", data.display());
}
