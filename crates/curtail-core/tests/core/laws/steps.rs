//! Cuts at fixed places: of a conversation that grows, the earlier output is a prefix of the later one until the next step.

use curtail_core::dialects::Framing;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{
    ClearResults, Counting, HistoryWindow, Keep, Overflow, Question, SlidingWindow, StaleResults, TokenLimit, View,
    WindowUnit,
};
use curtail_core::transcript::{Message, Pairs, first_prompt, joints, prompts, segments, settled};
use proptest::prelude::*;

use super::cases::{history, keep, limit, tokenizer};
use super::check::{cut_with, is_refused, read_seen, reading};
use super::generated::{serializer, thoughtless};
use crate::properties::{drawn, tried};
use crate::serializers::{Turn, sound_script};

/// What a chain makes of a log, after each of its lines.
fn outputs(dialect: &str, items: &[String], chain: fn() -> Chain) -> Result<Vec<String>, TestCaseError> {
    let lines: Vec<String> = items.iter().map(|item| format!("{item}\n")).collect();
    let cut = |count: usize| match cut_with(chain(), Some(dialect), Framing::Lines, &lines[..count].concat()) {
        // A log can take back all that it has.
        Err(TestCaseError::Fail(reason)) if is_refused(reason.message()) => Err(TestCaseError::Reject(reason)),
        out => out,
    };
    (1..=lines.len()).map(cut).collect()
}

/// How often an output is no prefix of the next one.
fn breaks(outputs: &[String]) -> usize {
    outputs.windows(2).filter(|pair| !pair[1].starts_with(&pair[0])).count()
}

/// Whether what is read of each line stays as it is when the next one is there.
fn grows(dialect: &str, items: &[String]) -> bool {
    let read = |count: usize| read_seen(Some(dialect), Framing::Lines, &items[..count].join("\n")).positional.len();
    let written = |count: usize| written_calls(dialect, &items[..count]);
    (1..items.len()).all(|count| read(count + 1) <= read(count) + 1 && written(count + 1).starts_with(&written(count)))
}

/// The number of calls in the text of each message: a text becomes a call with the result after it.
fn written_calls(dialect: &str, items: &[String]) -> Vec<usize> {
    let text = items.join("\n");
    let document = curtail_core::json::Document::parse_log(&text).expect("it is a log");
    let transcripts = reading(Some(dialect), Framing::Lines).transcripts_or_none(&document).expect("it is read");
    let messages = transcripts.iter().flat_map(|(_, transcript)| &transcript.messages);
    messages.map(|message| message.calls().filter(|(_, call)| call.written.is_some()).count()).collect()
}

fn clearing(step: usize) -> Chain {
    let clear = ClearResults::new(StaleResults::AllButLast(3), tokenizer());
    Chain::default().then(ClearResults { step, placeholder: String::from("-"), ..clear })
}

/// A chain that cuts in steps, and how many steps are due in a transcript; `None` if not even they leave anything.
struct Stepped {
    name: &'static str,
    chain: fn() -> Chain,
    due: fn(&View<'_, '_>) -> Option<usize>,
}

const STEPPED: &[Stepped] = &[
    Stepped {
        name: "history",
        chain: || {
            Chain::default().then(HistoryWindow { step: 3, ..history(5, WindowUnit::Items, keep(true, 0, false)) })
        },
        due: |view| {
            let before = &view.messages[..settled(view.messages)];
            Some(steps(before.iter().filter(|message| !is_kept(message)).count(), 5, 3))
        },
    },
    Stepped {
        name: "history of segments, pinned",
        chain: || {
            let keep = Keep { first_user: true, ..Keep::default() };
            Chain::default().then(HistoryWindow { step: 2, ..history(4, WindowUnit::Segments, keep) })
        },
        due: |view| {
            let task = first_prompt(view.messages);
            let end = settled(view.messages);
            let others = |range: &std::ops::Range<usize>| {
                !range.clone().all(|at| task == Some(at) || is_kept(&view.messages[at]))
            };
            let before = &view.messages[..end];
            Some(steps(
                segments(before, &Pairs::from_messages(before)).iter().filter(|segment| others(segment)).count(),
                4,
                2,
            ))
        },
    },
    Stepped {
        name: "sliding",
        chain: || {
            let keep = Keep { system: false, ..Keep::default() };
            Chain::default().then(SlidingWindow { size: 6, step: 4, unit: WindowUnit::Items, keep })
        },
        // A place is for what began the turn.
        due: |view| {
            let due = steps(view.messages.len(), 6 - usize::from(first_prompt(view.messages).is_some()), 4);
            let last = joints(view.messages, &Pairs::from_messages(view.messages)).pop()?;
            // A boundary stays.
            let before = view.messages[..last].iter().filter(|message| !message.is_boundary());
            (before.count() >= due * 4).then_some(due)
        },
    },
    Stepped {
        name: "limit",
        chain: || {
            let limit = TokenLimit { question: Question::Never, ..limit(BUDGET, Overflow::Empty) };
            Chain::default().then(TokenLimit { step: STEP, ..limit })
        },
        due: |view| {
            let counting = Counting::new(tokenizer());
            let room = BUDGET.checked_sub(counting.outside(view))?;
            let tokens: Vec<usize> = view.messages.iter().map(|message| counting.message(message)).collect();
            let due = steps(tokens.iter().sum(), room, STEP);
            let last = joints(view.messages, &Pairs::from_messages(view.messages)).pop()?;
            // A boundary stays.
            let before = view.messages[..last].iter().zip(&tokens).filter(|(message, _)| !message.is_boundary());
            (before.map(|(_, tokens)| tokens).sum::<usize>() >= due * STEP).then_some(due)
        },
    },
    Stepped {
        name: "limit, with what began the turn",
        chain: || Chain::default().then(TokenLimit { step: STEP, ..limit(BUDGET, Overflow::KeepNewest) }),
        due: |view| {
            let counting = Counting::new(tokenizer());
            let tokens = |at: usize| counting.message(&view.messages[at]);
            let room = BUDGET.checked_sub(counting.outside(view))?;
            let excess = (0..view.messages.len()).map(tokens).sum::<usize>().saturating_sub(room);
            let (places, prompts) =
                (joints(view.messages, &Pairs::from_messages(view.messages)), prompts(view.messages));
            let opener = |at: usize| prompts.iter().rfind(|&&prompt| prompt < at && !prompts.contains(&at));
            let needed = |at: usize| (excess + opener(at).map_or(0, |&at| tokens(at))).next_multiple_of(STEP);
            let removed = |at: usize| (0..at).filter(|&at| !view.messages[at].is_boundary()).map(tokens).sum::<usize>();
            places.into_iter().find(|&at| removed(at) >= needed(at))
        },
    },
];

const BUDGET: usize = 160;
const STEP: usize = 30;

/// How many times `step` has to be removed from `all` to leave `most`.
fn steps(all: usize, most: usize, step: usize) -> usize {
    all.saturating_sub(most).div_ceil(step)
}

/// Whether a window keeps the message for what it is.
fn is_kept(message: &Message<'_>) -> bool {
    message.role.instructs()
        || message.is_boundary()
        || message.parts.iter().all(curtail_core::transcript::Part::instructs)
}

/// How many steps are due after each line of a log.
fn due(dialect: &str, items: &[String], stepped: &Stepped) -> Vec<Option<usize>> {
    let after = |count: usize| {
        let text = items[..count].join("\n");
        let document = curtail_core::json::Document::parse_log(&text).expect("it is a log");
        let transcripts = reading(Some(dialect), Framing::Lines).transcripts_or_none(&document).expect("it is read");
        let (_, transcript) = transcripts.first()?;
        // What a log rolls back is sent no longer, in whatever steps it is cut. What stays because a call waits for its answer
        // takes places until the answer comes, and then none.
        transcript.messages.iter().all(|message| message.standing.is_read()).then_some(())?;
        let pairs = Pairs::from_messages(&transcript.messages);
        pairs.awaiting(&transcript.messages).is_empty().then_some(())?;
        (stepped.due)(&View::of_layout(&transcript.layout, &transcript.messages))
    };
    (1..=items.len()).map(after).collect()
}

/// The number of results in a log, those of sub-agents included.
fn results(dialect: &str, items: &[String]) -> usize {
    let text = items.join("\n");
    let document = curtail_core::json::Document::parse_log(&text).expect("it is a log");
    let transcripts = reading(Some(dialect), Framing::Lines).transcripts_or_none(&document).expect("it is read");
    let messages = transcripts.iter().flat_map(|(_, transcript)| &transcript.messages);
    messages.map(|message| message.results().count()).sum()
}

proptest! {
    #![proptest_config(crate::properties::property(24))]

    /// Clearing in steps changes what was sent before once a step, and not with every result.
    #[test]
    fn clearing_in_steps_changes_the_prefix_once_a_step(script in sound_script(), serializer in serializer()) {
        let script: Vec<Turn> = script.into_iter().map(thoughtless).collect();
        let items = (serializer.1)(&script);
        let plain = outputs(serializer.0, &items, Chain::default)?;
        // Formats whose later lines change earlier ones, or whose results are told apart by later ones, have no prefix to keep.
        prop_assume!(breaks(&plain) == 0 && grows(serializer.0, &items));
        // What is rolled back is cleared at once, and nobody reads it.
        prop_assume!(due(serializer.0, &items, &STEPPED[0]).iter().all(Option::is_some));
        let results = results(serializer.0, &items);
        let outputs = outputs(serializer.0, &items, || clearing(3))?;
        let stepped = breaks(&outputs);
        prop_assert!(stepped <= results.saturating_sub(1) / 3, "{}: {stepped} breaks for {results} results\n{}", serializer.0, outputs.join("\n\n"));
    }

    /// Of a transcript and each longer version, the earlier output is a prefix of the later one, unless another step is due. So it
    /// is where a log ends in the middle of a reply.
    #[test]
    fn cutting_in_steps_keeps_the_prefix_until_the_next_step(script in sound_script(), serializer in serializer(), drawn in drawn()) {
        let script: Vec<Turn> = script.into_iter().map(thoughtless).collect();
        let items = (serializer.1)(&script);
        let plain = outputs(serializer.0, &items, Chain::default)?;
        prop_assume!(breaks(&plain) == 0 && grows(serializer.0, &items));
        for stepped in tried(STEPPED, drawn) {
            let outputs = outputs(serializer.0, &items, stepped.chain)?;
            let due = due(serializer.0, &items, stepped);
            for (last, at) in (1..items.len()).map(|at| (at - 1, at)) {
                // A window that finds no exchange keeps everything, until one is there that it can begin with.
                let first_cut = outputs[last] == plain[last];
                let is_due = due[last] != due[at] || due[at].is_none() || first_cut && due[at] > Some(0);
                // A head that counts its messages is written anew; no provider reads it.
                let items = |text: &str| read_seen(Some(serializer.0), Framing::Lines, text).items;
                let is_kept = |outputs: &[String]| items(&outputs[at]).starts_with(&items(&outputs[last]));
                let is_prefix = outputs[at].starts_with(&outputs[last]) || is_kept(&outputs);
                // A line that adds calls to an earlier message opens a round that had ended.
                prop_assert!(
                    is_prefix || is_due || !is_kept(&plain), "{} {}: step {:?}\n{}\nis followed by\n{}", serializer.0, stepped.name, due[at], outputs[last], outputs[at]
                );
            }
        }
    }
}

/// A line of Codex.
fn codex(kind: &str, payload: &str) -> String {
    format!("{{\"timestamp\":\"t\",\"type\":\"{kind}\",\"payload\":{payload}}}\n")
}

fn codex_says(role: &str, text: &str) -> String {
    let kind = if role == "user" { "input_text" } else { "output_text" };
    let content = format!("[{{\"type\":\"{kind}\",\"text\":\"{text}\"}}]");
    codex("response_item", &format!("{{\"type\":\"message\",\"role\":\"{role}\",\"content\":{content}}}"))
}

/// Rounds of Codex: reasoning, a call and its result.
fn codex_rounds(count: usize) -> Vec<String> {
    let round = |nth: usize| {
        let reasoning = String::from(
            "{\"type\":\"reasoning\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"hm\"}],\"encrypted_content\":null}",
        );
        let call =
            format!("{{\"type\":\"function_call\",\"name\":\"f\",\"arguments\":\"{{}}\",\"call_id\":\"c{nth}\"}}");
        let result = format!("{{\"type\":\"function_call_output\",\"call_id\":\"c{nth}\",\"output\":\"ok\"}}");
        [reasoning, call, result].map(|payload| codex("response_item", &payload))
    };
    let begin = [codex_says("user", "One."), codex_says("assistant", "Yes."), codex_says("user", "Two.")];
    begin.into_iter().chain((0..count).flat_map(round)).collect()
}

/// A record of Claude Code that names no parent, as in its stream.
fn claude_record(kind: &str, message: &str) -> String {
    format!("{{\"type\":\"{kind}\",\"session_id\":\"s\",\"message\":{message}}}\n")
}

/// Rounds of Claude Code, which writes a reply with a text and a call as two records.
fn claude_rounds(count: usize) -> Vec<String> {
    let round = |nth: usize| {
        let block = |block: String| {
            claude_record("assistant", &format!("{{\"id\":\"m{nth}\",\"role\":\"assistant\",\"content\":[{block}]}}"))
        };
        let text = block(format!("{{\"type\":\"text\",\"text\":\"Step {nth}.\"}}"));
        let call = block(format!("{{\"type\":\"tool_use\",\"id\":\"t{nth}\",\"name\":\"f\",\"input\":{{}}}}"));
        let result = format!("{{\"type\":\"tool_result\",\"tool_use_id\":\"t{nth}\",\"content\":\"ok\"}}");
        [text, call, claude_record("user", &format!("{{\"role\":\"user\",\"content\":[{result}]}}"))]
    };
    let asked =
        ["One.", "Two."].map(|text| claude_record("user", &format!("{{\"role\":\"user\",\"content\":\"{text}\"}}")));
    asked.into_iter().chain((0..count).flat_map(round)).collect()
}

/// The ends of a log inside a reply: after reasoning, after a call, and after a text that its calls follow.
#[test]
fn a_step_is_not_undone_when_a_reply_goes_on() {
    for (dialect, lines) in [("codex", codex_rounds(6)), ("claude-code", claude_rounds(6))] {
        for (size, step) in [(4, 2), (3, 2), (5, 3)] {
            let first = |count: usize| {
                let window = HistoryWindow { step, ..history(size, WindowUnit::Items, Keep::default()) };
                let chain = Chain::default().then(window);
                let out = cut_with(chain, Some(dialect), Framing::Lines, &lines[..count].concat()).unwrap();
                lines.iter().position(|line| out.starts_with(line.as_str()))
            };
            for count in 2..=lines.len() {
                assert!(first(count) >= first(count - 1), "{dialect}, {size} in steps of {step}: line {count}");
            }
        }
    }
}
