//! What a person asked last stays with the round that answers it, and no cut asks nothing in silence.

use curtail_core::json::Document;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{
    DropMessages, HistoryWindow, Keep, MessageRange, Overflow, Pins, Processor, Question, SlidingWindow, Strip,
    TokenLimit, View, WindowUnit,
};
use curtail_core::transcript::{Message, Pairs, Role, in_flight, open_questions, prompts};
use proptest::prelude::*;

use super::cases::{history, limit};
use super::check::{cut_with, reading};
use super::generated::serializer;
use crate::properties::{drawn, tried};
use crate::serializers::{Serializer, Turn, ai_sdk, broken_script, gemini, open_script, responses, sound_script};
use curtail_core::dialects::Framing;

const CHAINS: &[fn() -> Chain] = &[
    || Chain::default().then(HistoryWindow { cap_in_flight: true, ..history(1, WindowUnit::Items, Keep::default()) }),
    || {
        let window = history(2, WindowUnit::Segments, Keep::default());
        Chain::default().then(HistoryWindow { max_expansion: Some(1), cap_in_flight: true, ..window })
    },
    || Chain::default().then(SlidingWindow { size: 4, ..SlidingWindow::default() }),
    || Chain::default().then(SlidingWindow { size: 4, unit: WindowUnit::Segments, ..SlidingWindow::default() }),
    || Chain::default().then(limit(50, Overflow::Error)),
    || Chain::default().then(limit(30, Overflow::Truncate)),
    || Chain::default().then(limit(30, Overflow::KeepNewest)),
    || Chain::default().then(TokenLimit { step: 15, ..limit(60, Overflow::Error) }),
    || Chain::default().then(Strip { roles: vec![Role::Assistant, Role::Tool], ..Strip::default() }),
    || Chain::default().then(MessageRange { from: 6, ..MessageRange::default() }),
    || {
        let messages = std::iter::once(0..4).collect();
        let turns = std::iter::once(1..9).collect();
        Chain::default().then(DropMessages { messages, turns, ..DropMessages::default() })
    },
];

/// The same without reasoning: what a broken thought takes along is a law of its own.
fn thoughtless(turn: Turn) -> Turn {
    match turn {
        Turn::Assistant { text, calls, .. } => Turn::Assistant { reasoning: None, text, calls },
        other => other,
    }
}

/// Whether the last of `messages` call tools or answer them.
fn is_in_flight(messages: &[Message<'_>]) -> bool {
    in_flight(messages) < messages.len()
}

/// Logs with calls that wait for an answer.
const WAITING: &[Serializer] = &[
    ("gemini", gemini::serialize_events),
    ("ai-sdk", ai_sdk::serialize_approvals),
    ("responses", responses::serialize_background),
];

/// Cuts that pin nothing.
const WITHOUT_PINS: &[fn() -> Chain] = &[
    || {
        let keep = Keep { question: Question::Never, ..Keep::default() };
        Chain::default().then(HistoryWindow { cap_in_flight: true, ..history(1, WindowUnit::Items, keep) })
    },
    || Chain::default().then(TokenLimit { question: Question::Never, ..limit(60, Overflow::Empty) }),
    || {
        let pins = Pins { question: Question::Never, ..Pins::default() };
        Chain::default().then(MessageRange { from: 6, pins, ..MessageRange::default() })
    },
];

/// The messages that a model reads with a call that waits for its answer, each with the message of a person before it.
fn waiting(messages: &[Message<'_>]) -> Vec<(usize, Option<usize>)> {
    let awaiting = Pairs::from_messages(messages).awaiting(messages);
    let mut calls: Vec<usize> = awaiting.iter().map(|part| part.message).collect();
    calls.retain(|at| messages[*at].standing.is_read() && messages[*at].calls().next().is_some());
    let prompts = prompts(messages);
    calls.into_iter().map(|call| (call, prompts.iter().rfind(|prompt| **prompt < call).copied())).collect()
}

/// The first request of a conversation has the instructions beside the question.
#[test]
fn a_question_beside_instructions_stays_with_its_round() {
    let ask = r#"{"parts":[{"content":"Answer briefly.","part_kind":"system-prompt"},{"content":"Does it rain?","part_kind":"user-prompt"}],"kind":"request"}"#;
    let round = |nth: u32| {
        let call = format!(
            r#"{{"parts":[{{"tool_name":"look","args":{{}},"tool_call_id":"c{nth}","part_kind":"tool-call"}}],"kind":"response"}}"#
        );
        let result = format!(
            r#"{{"parts":[{{"tool_name":"look","content":"clouds","tool_call_id":"c{nth}","part_kind":"tool-return"}}],"kind":"request"}}"#
        );
        format!("{call}\n{result}\n")
    };
    let text = format!("{ask}\n{}", (1..5).map(round).collect::<String>());
    for (nth, chain) in CHAINS.iter().enumerate() {
        let Ok(out) = cut_with(chain(), Some("pydantic-ai"), Framing::Lines, &text) else { continue };
        assert!(!out.contains("tool-call") || out.contains("Does it rain?"), "chain {nth}: {out}");
    }
}

proptest! {
    #![proptest_config(crate::properties::property(48))]

    /// A cut that leaves a part of the in-flight round leaves the messages of a person that it answers.
    #[test]
    fn the_question_stays_with_its_round(
        script in prop_oneof![open_script(), broken_script()],
        serializer in serializer(),
        drawn in drawn(),
    ) {
        let script: Vec<Turn> = script.into_iter().map(thoughtless).collect();
        let text: String = (serializer.1)(&script).iter().map(|item| format!("{item}\n")).collect();
        let document = Document::parse_log(&text).expect("what is written is JSON");
        for (_, transcript) in reading(Some(serializer.0), Framing::Lines).transcripts_or_none(&document).expect("it is read") {
            let messages = &transcript.messages;
            let questions = open_questions(messages, &Pairs::from_messages(messages));
            for chain in tried(CHAINS, drawn) {
                let Ok(run) = chain().run(&transcript.layout, messages.clone(), |_, _, _| {}) else { continue };
                let kept: Vec<usize> = run.messages.iter().filter_map(Message::source_index).collect();
                // Of a round in whose middle a person wrote, what comes before is not in flight.
                let is_left = kept.iter().any(|&at| at >= in_flight(messages));
                if is_left && is_in_flight(messages) && is_in_flight(&run.messages) {
                    // The first question can begin a part of the round that is cut.
                    // A message that answers calls can ask as well, and does so once they are gone.
                    let asked = prompts(&run.messages).last().and_then(|&at| run.messages[at].source_index());
                    let is_kept = questions.last().is_none_or(|question| asked.is_some_and(|asked| asked >= *question));
                    prop_assert!(is_kept, "of {:?}, only {:?} is left of {:?} in\n{}", questions, kept, in_flight(messages), text);
                }
            }
        }
    }

    /// Where a call that waits for its answer is left, so is the message of a person that led to it, and no call comes first where
    /// the provider wants the user's message there.
    #[test]
    fn a_call_that_waits_does_not_come_first(
        script in prop_oneof![sound_script(), open_script(), broken_script()],
        serializer in prop::sample::select(WAITING),
        drawn in drawn(),
    ) {
        let text: String = (serializer.1)(&script).iter().map(|item| format!("{item}\n")).collect();
        let document = Document::parse_log(&text).expect("what is written is JSON");
        for (_, transcript) in reading(Some(serializer.0), Framing::Lines).transcripts_or_none(&document).expect("it is read") {
            for chain in tried(CHAINS, drawn).into_iter().chain(tried(WITHOUT_PINS, drawn)) {
                let Ok(run) = chain().run(&transcript.layout, transcript.messages.clone(), |_, _, _| {}) else { continue };
                let kept: Vec<usize> = run.messages.iter().filter_map(Message::source_index).collect();
                for (call, asked) in waiting(&transcript.messages) {
                    let is_asked = !kept.contains(&call) || asked.is_none_or(|asked| kept.contains(&asked));
                    prop_assert!(is_asked, "of {:?} and {}, only {:?} is left in\n{}", asked, call, kept, text);
                }
                let said = |message: &&Message<'_>| message.counts_in(0) && !message.role.instructs();
                let [before, after] = [&transcript.messages, &run.messages].map(|messages| messages.iter().find(said));
                let begins_with_user = |first: Option<&Message<'_>>| first.is_none_or(Message::begins_turn);
                let first = after.and_then(Message::source_index);
                let waits = first.is_some_and(|first| waiting(&transcript.messages).iter().any(|(call, _)| *call == first));
                let is_refused = transcript.layout.context.user_first && begins_with_user(before) && waits;
                prop_assert!(!is_refused, "a call comes first of {:?} in\n{}", kept, text);
            }
        }
    }

    /// `limit` keeps a message of a person or fails, and what it writes begins with the user where the provider wants that.
    #[test]
    fn a_limit_asks_something_or_fails(
        script in prop_oneof![open_script(), broken_script()],
        serializer in serializer(),
        tokens in 5..120_usize,
        how in prop::sample::select(&[Overflow::Error, Overflow::Truncate][..]),
    ) {
        let text: String = (serializer.1)(&script).iter().map(|item| format!("{item}\n")).collect();
        let document = Document::parse_log(&text).expect("what is written is JSON");
        for (_, transcript) in reading(Some(serializer.0), Framing::Lines).transcripts_or_none(&document).expect("it is read") {
            let chain = Chain::default().then(TokenLimit { preserve_system: true, ..limit(tokens, how) });
            let Ok(run) = chain.run(&transcript.layout, transcript.messages.clone(), |_, _, _| {}) else { continue };
            prop_assert!(!run.messages.is_empty() || transcript.messages.is_empty(), "nothing is left of\n{}", text);
            if run.changed && !prompts(&transcript.messages).is_empty() {
                prop_assert!(!prompts(&run.messages).is_empty(), "nothing is asked any more in\n{}", text);
                let is_said = |message: &&Message<'_>| message.standing.is_read() && !message.role.instructs();
                let [before, after] = [&transcript.messages, &run.messages].map(|messages| messages.iter().find(is_said));
                // What begins with an answer or a result already has no message of a person before its first round.
                let begins_with_user = before.is_none_or(Message::begins_turn);
                let needs_user = transcript.layout.context.user_first && begins_with_user;
                let is_answer = after.is_some_and(|message| message.role == Role::Assistant);
                prop_assert!(!needs_user || !is_answer, "an answer comes first of {:?} in\n{}", run.messages.iter().map(Message::source_index).collect::<Vec<_>>(), text);
            }
        }
    }

    /// A budget of as many tokens as a transcript has changes nothing, wherever its instructions are.
    #[test]
    fn a_budget_that_is_enough_changes_nothing(
        script in prop_oneof![sound_script(), open_script(), broken_script()],
        serializer in serializer(),
        preserve_system in any::<bool>(),
        step in prop::sample::select(&[1_usize, 15][..]),
    ) {
        let text: String = (serializer.1)(&script).iter().map(|item| format!("{item}\n")).collect();
        let document = Document::parse_log(&text).expect("what is written is JSON");
        for (_, transcript) in reading(Some(serializer.0), Framing::Lines).transcripts_or_none(&document).expect("it is read") {
            let limit = limit(0, Overflow::Error);
            let total = limit.counting.total(&View::of_layout(&transcript.layout, &transcript.messages));
            let max_tokens = total.expect("a sum is no template");
            let enough = TokenLimit { max_tokens, preserve_system, step, ..limit };
            let plan = enough.decide(&View::of_layout(&transcript.layout, &transcript.messages)).expect("it fits");
            prop_assert!(plan.is_identity(), "{} tokens of\n{}", max_tokens, text);
        }
    }
}
