//! What a person asked last stays with the round that answers it, and no cut asks nothing in silence.

use curtail_core::dialects::Framing;
use curtail_core::json::Document;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{
    DropMessages, HistoryWindow, Keep, MessageRange, Overflow, Pins, Processor, ProcessorError, Question,
    SlidingWindow, Strip, TokenLimit, View, WindowUnit,
};
use curtail_core::transcript::{Message, Pairs, Role, in_flight, open_questions, prompts};
use proptest::prelude::*;

use super::cases::{history, limit};
use super::check::{cut_with, reading};
use super::fixtures::dialect_of;
use super::generated::{serializer, thoughtless};
use crate::dialects::files::{folder, paths, pieces};
use crate::properties::{drawn, tried};
use crate::serializers::{Serializer, Turn, ai_sdk, broken_script, gemini, open_script, responses, sound_script};

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

/// The budget that the error of `limit` names.
fn named(limit: &TokenLimit, view: &View<'_, '_>) -> Option<usize> {
    match limit.decide(view).err()? {
        ProcessorError::BudgetBelowFixed { enough, .. } => enough,
        ProcessorError::QuestionTooLarge { needed, .. } | ProcessorError::SegmentTooLarge { needed, .. } => {
            Some(needed)
        }
        error => panic!("{error}"),
    }
}

/// The budgets that the errors of `limit` name for the transcripts of `text` with one of `budgets` are enough, and with a token less
/// they are not.
fn names_the_smallest_budget(dialect: &str, framing: Framing, text: &str, limit: &TokenLimit, budgets: &[usize]) {
    let document = Document::parse_log(text).expect("it is JSON");
    for (_, transcript) in reading(Some(dialect), framing).transcripts_or_none(&document).expect("it is read") {
        let view = View::of_layout(&transcript.layout, &transcript.messages);
        for &budget in budgets {
            let budgeted = |max_tokens| TokenLimit { max_tokens, ..limit.clone() };
            let Some(needed) = named(&budgeted(budget), &view) else { continue };
            assert!(needed > budget, "{needed} of {budget} in\n{text}");
            let again = named(&budgeted(needed), &view);
            assert_eq!(again, None, "{needed} is not enough in\n{text}");
            assert!(named(&budgeted(needed - 1), &view).is_some(), "{needed} is not the least in\n{text}");
        }
    }
}

/// Limits that pin different messages.
fn pinned() -> impl Iterator<Item = TokenLimit> {
    [Question::InFlight, Question::Always, Question::Never].into_iter().flat_map(|question| {
        [(true, false), (true, true), (false, false)].map(|(preserve_system, first_user)| TokenLimit {
            preserve_system,
            first_user,
            question,
            ..limit(0, Overflow::Error)
        })
    })
}

#[test]
fn an_error_of_a_fixture_names_the_smallest_budget() {
    for file in paths(&folder()) {
        let text = std::fs::read_to_string(&file).expect("fixtures are UTF-8");
        let (framing, pieces) = pieces(&text);
        for piece in pieces {
            let Some(dialect) = dialect_of(framing, piece) else { continue };
            pinned().for_each(|limit| names_the_smallest_budget(dialect, framing, piece, &limit, &[1, 20, 50, 100]));
        }
    }
}

/// A person types beside the last result: in a format whose messages begin with a text of the user, nothing can begin there.
#[test]
fn a_budget_is_named_that_reaches_a_message_of_the_user() {
    let line = "line ".repeat(40);
    let round = |nth: usize, beside: &str| {
        format!(
            r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"t{nth}","name":"run","input":{{}}}}]}}
{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{nth}","content":"{line}"}}{beside}]}}
"#
        )
    };
    let rounds: String = (0..7).map(|nth| round(nth, "")).collect();
    let text = format!(
        "{}\n{rounds}{}{}\n",
        r#"{"role":"user","content":"Mend it."}"#,
        round(7, r#",{"type":"text","text":"And commit."}"#),
        r#"{"role":"assistant","content":"Done."}"#
    );
    pinned().for_each(|limit| names_the_smallest_budget("anthropic", Framing::Lines, &text, &limit, &[1, 60, 200]));
}

/// What `limit` decides about two lines of OpenAI, the second one of which follows a long question.
fn overflowing(on_overflow: Overflow, answer: &str) -> String {
    let question = format!(r#"{{"role":"user","content":"{}"}}"#, "word ".repeat(200));
    let text = format!("{question}\n{answer}\n");
    let document = Document::parse_log(&text).expect("it is JSON");
    let transcripts = reading(Some("openai"), Framing::Lines).transcripts_or_none(&document).expect("it is read");
    let (_, transcript) = &transcripts[0];
    let plan = limit(100, on_overflow).decide(&View::of_layout(&transcript.layout, &transcript.messages));
    format!("{:?}", plan.expect("it is decided"))
}

#[test]
fn what_does_not_fit_is_said() {
    let call = r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]}"#;
    let said = r#"{"role":"assistant","content":"Fine."}"#;
    let both = "the newest segment and the last question do not fit into 100 tokens";
    let truncated = overflowing(Overflow::Truncate, call);
    assert!(truncated.contains(both) && truncated.contains("the in-flight round answers"), "{truncated}");
    let kept = overflowing(Overflow::KeepNewest, call);
    assert!(kept.contains(both) && !kept.contains("alone"), "{kept}");
    let done = overflowing(Overflow::Truncate, said);
    assert!(done.contains("the last message that a person wrote") && !done.contains("in-flight"), "{done}");
    let long = overflowing(Overflow::Truncate, &said.replace("Fine.", &"word ".repeat(200)));
    assert!(long.contains("the newest segment alone does not fit"), "{long}");
}

proptest! {
    #![proptest_config(crate::properties::property(48))]

    /// The budget that an error names works, and one less fails.
    #[test]
    fn an_error_names_the_smallest_budget(
        script in prop_oneof![sound_script(), open_script()],
        serializer in serializer(),
        budget in 0..120_usize,
        nth in 0..9_usize,
    ) {
        let text: String = (serializer.1)(&script).iter().map(|item| format!("{item}\n")).collect();
        let limit = pinned().nth(nth).expect("there are nine");
        names_the_smallest_budget(serializer.0, Framing::Lines, &text, &limit, &[budget]);
    }

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
                let is_refused = transcript.layout.rules.context.user_first && begins_with_user(before) && waits;
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
                let needs_user = transcript.layout.rules.context.user_first && begins_with_user;
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
