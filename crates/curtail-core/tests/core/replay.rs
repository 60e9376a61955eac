//! What holds for the replay of every session: generated transcripts of every dialect, broken ones and compacted ones included.

use curtail_core::dialects::{Framing, Reading, dialect_named};
use curtail_core::json::Document;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{
    CapKeep, CapResults, ClearResults, Keep, Overflow, Plan, Processor, ProcessorError, Question, SlidingWindow,
    StaleResults, TokenLimit, ToolFilter, ToolGlobs, Traits, View, WindowUnit,
};
use curtail_lab::replay::{Apply, Policy, PolicyChain, PolicyReport, Prices, Replay, SessionReport};
use curtail_lab::sessions;
use proptest::prelude::*;

use crate::laws::bounded::{BOUNDED, marked};
use crate::laws::cases::{globs, history, keep, limit, rolling, tokenizer};
use crate::laws::generated::with_rules;
use crate::properties::{Drawn, drawn, property, tried};
use crate::serializers::{SERIALIZERS, anthropic, broken_script, open_script, sound_script};

/// A table in which a token costs a dollar for a million, everything is cached, and writing and reading cost as in most.
const PRICES: &str = r#"date = "2026-01-01"
[cache.marked]
minimum = 1
lifetime = 300
write = 1.25
read = 0.1
breakpoints = true
[cache.automatic]
minimum = 1
lifetime = 300
write = 1.0
read = 0.1
breakpoints = false
[cache.anthropic-like]
minimum = 1
lifetime = 300
write = 1.25
read = 0.1
breakpoints = true
[providers]
openai = "marked"
anthropic = "marked"
[[model]]
name = "m"
input = 1.0
cache = "marked"
"#;

/// A policy, and whether it writes nothing of its own.
type PolicyCase = (&'static str, fn() -> Chain, bool);

const CASES: &[PolicyCase] = &[
    ("never", || Chain::default().then(history(100_000, WindowUnit::Items, Keep::default())), true),
    ("window", || Chain::default().then(history(3, WindowUnit::Items, Keep::default())), true),
    ("turns", || Chain::default().then(history(1, WindowUnit::Turns, keep(true, 0, true))), true),
    ("head", || Chain::default().then(history(2, WindowUnit::Segments, keep(true, 2, false))), true),
    ("sliding", || Chain::default().then(sliding()), true),
    ("limit", || Chain::default().then(limit(60, Overflow::Empty)), true),
    ("budget", || Chain::default().then(TokenLimit { preserve_system: true, ..limit(60, Overflow::KeepNewest) }), true),
    ("truncate", || Chain::default().then(limit(30, Overflow::Truncate)), true),
    ("trigger", || Chain::default().then(TokenLimit { trigger: Some(90), ..limit(40, Overflow::KeepNewest) }), true),
    ("tools", || Chain::default().then(tools()), true),
    ("clear", || Chain::default().then(clear()), true),
    ("clear above a trigger", || Chain::default().then(ClearResults { trigger: Some(60), ..clear() }), true),
    ("clear in steps", || Chain::default().then(ClearResults { step: 2, ..clear() }), true),
    ("cap", || Chain::default().then(cap()), true),
    ("summaries", || Chain::default().then(rolling(4, 2, curtail_memory::rolling::Counted::default())), false),
    ("chain", || Chain::default().then(tools()).then(limit(60, Overflow::Empty)), true),
];

fn sliding() -> SlidingWindow {
    SlidingWindow { size: 4, unit: WindowUnit::Messages, keep: Keep::default(), step: 1 }
}

fn clear() -> ClearResults {
    ClearResults::new(StaleResults::AllButLast(1), tokenizer())
}

fn cap() -> CapResults {
    let keep = CapKeep::default();
    CapResults { max_tokens: Some(8), tools: Vec::new(), keep, exempt: globs(&[]), tokenizer: tokenizer() }
}

fn tools() -> ToolFilter {
    ToolFilter { tools: ToolGlobs::Exclude(globs(&["bash"])), persist_results: false, dropped: None }
}

/// The first processor of a chain, which always sees the whole history.
struct Whole(Chain);

impl Whole {
    fn first(&self) -> &dyn Processor {
        &*self.0.stages[0].processor
    }
}

impl Processor for Whole {
    fn name(&self) -> &'static str {
        self.first().name()
    }

    fn traits(&self) -> Traits {
        Traits { at_once: None, ..self.first().traits() }
    }

    fn would_change(&self, view: &View<'_, '_>) -> Result<bool, ProcessorError> {
        self.first().would_change(view)
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        self.first().decide(view)
    }
}

fn policy(name: &str, chain: Chain) -> Policy {
    Policy { name: name.to_owned(), command: String::new(), chain: PolicyChain::Fixed(chain), swept: false }
}

fn replayed(policies: Vec<Policy>, apply: Apply, live: bool, dialect: &str, text: &str) -> Vec<SessionReport> {
    let counting = curtail_core::processors::Counting::new(tokenizer());
    let prices = Prices::parse(PRICES).unwrap();
    let policies = std::iter::once(Policy::recorded()).chain(policies).collect();
    let replay = Replay {
        policies,
        apply,
        live,
        counting,
        prices,
        model: None,
        cache: Some("marked".into()),
        missing: true,
        keep_inaccurate: false,
        outcome: None,
    };
    let dialect = dialect_named(dialect);
    let reading = Reading { framing: Framing::Lines, dialect, named: true, messages_key: None };
    let document = Document::parse_log(text).unwrap();
    let transcripts = reading.transcripts(&document).unwrap();
    transcripts.iter().flat_map(|(dialect, transcript)| replay.transcript("s", *dialect, transcript).unwrap()).collect()
}

fn figures_add_up(session: &SessionReport) -> Result<(), TestCaseError> {
    for policy in &session.policies {
        let mut before = 0;
        for request in &policy.requests {
            prop_assert_eq!(request.billed.read + request.billed.write + request.billed.uncached, request.tokens_sent);
            prop_assert!(request.common_prefix <= request.tokens_sent.min(before), "{}", policy.name);
            prop_assert!(request.losses.kept_references <= request.losses.needed_references);
            before = request.tokens_sent;
        }
        let missing = policy.total.losses.needed_references - policy.total.losses.kept_references;
        prop_assert_eq!(policy.missing.len(), missing, "{}", policy.name);
    }
    Ok(())
}

/// No policy that writes nothing sends more than was recorded.
fn sends_no_more(session: &SessionReport, cases: &[PolicyCase]) -> Result<(), TestCaseError> {
    for (policy, case) in session.policies[1..].iter().zip(cases).filter(|(_, case)| case.2) {
        for (request, recorded) in policy.requests.iter().zip(&session.policies[0].requests) {
            prop_assert!(
                request.tokens_sent <= recorded.tokens_sent,
                "{}: request {} sends {}, recorded {}",
                case.0,
                request.number,
                request.tokens_sent,
                recorded.tokens_sent
            );
        }
    }
    Ok(())
}

fn requests(policy: &PolicyReport) -> (&[curtail_lab::replay::RequestReport], &[curtail_lab::replay::Missing]) {
    (&policy.requests, &policy.missing)
}

/// What is decided from the end of the conversation, or from what was decided before, is what the whole of it gives.
fn sends_the_same(items: &[String], dialect: &str, drawn: Drawn) -> Result<(), TestCaseError> {
    let cases = tried(CASES.iter().filter(|case| (case.1)().stages.len() == 1), drawn);
    let cases: Vec<(&str, Chain)> = cases.iter().map(|case| (case.0, (case.1)())).collect();
    chains_send_the_same(items, dialect, &cases)
}

fn chains_send_the_same(items: &[String], dialect: &str, chains: &[(&str, Chain)]) -> Result<(), TestCaseError> {
    let text: String = items.iter().map(|item| format!("{item}\n")).collect();
    let incremental = chains.iter().map(|(name, chain)| policy(name, chain.clone())).collect();
    let whole = chains.iter().map(|(name, chain)| policy(name, Chain::default().then(Whole(chain.clone())))).collect();
    let incremental = replayed(incremental, Apply::View, false, dialect, &text);
    let whole = replayed(whole, Apply::View, false, dialect, &text);
    for (incremental, whole) in incremental.iter().zip(&whole) {
        for (incremental, whole) in incremental.policies.iter().zip(&whole.policies) {
            prop_assert_eq!(requests(incremental), requests(whole), "{} in {}", &incremental.name, &text);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(property(12))]

    #[test]
    fn figures_of_every_session_add_up(script in broken_script(), serializer in prop::sample::select(SERIALIZERS)) {
        let text: String = (serializer.1)(&script).iter().map(|item| format!("{item}\n")).collect();
        // A policy sees what was before a compaction, and none of its summary.
        if text.matches("\"parentUuid\":null").count() > 1 || text.contains("chat_compression") {
            return Ok(());
        }
        let policies = || CASES.iter().map(|case| policy(case.0, (case.1)())).collect();
        let view = replayed(policies(), Apply::View, false, serializer.0, &text);
        let rewrite = replayed(policies(), Apply::Rewrite, false, serializer.0, &text);
        prop_assert_eq!(view.len(), rewrite.len());
        for (view, rewrite) in view.iter().zip(&rewrite) {
            for session in [view, rewrite] {
                figures_add_up(session)?;
                // A policy stands in place of the log's own compaction, and may send more.
                if session.compacted_before.is_empty() {
                    sends_no_more(session, CASES)?;
                }
                let never = &session.policies[1];
                prop_assert_eq!(never.total.losses.kept_references, never.total.losses.needed_references, "in {}", &text);
            }
            prop_assert_eq!(requests(&view.policies[1]), requests(&rewrite.policies[1]), "in {}", &text);
            if view.compacted_before.is_empty() {
                prop_assert_eq!(&view.policies[1].requests.iter().map(|r| r.tokens_sent).collect::<Vec<_>>(),
                    &view.policies[0].requests.iter().map(|r| r.tokens_sent).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_policy_sends_the_same_as_with_the_whole_history(script in broken_script(), more in broken_script(), serializer in prop::sample::select(SERIALIZERS), drawn in drawn()) {
        sends_the_same(&(serializer.1)(&[script, more].concat()), serializer.0, drawn)?;
    }

    #[test]
    fn a_policy_goes_on_as_with_the_whole_history(scripts in prop::collection::vec(sound_script(), 4..8), end in broken_script(), serializer in prop::sample::select(SERIALIZERS), drawn in drawn()) {
        sends_the_same(&(serializer.1)(&[scripts.concat(), end].concat()), serializer.0, drawn)?;
    }

    #[test]
    fn sums_of_tokens_decide_as_the_limit_does(scripts in prop::collection::vec(sound_script(), 0..5), (rounds, end) in (open_script(), broken_script()), serializer in prop::sample::select(SERIALIZERS), budgets in prop::collection::vec(1..400_usize, 8), trigger in prop::option::of(1..400_usize), question in prop::sample::select(&[Question::InFlight, Question::Never][..])) {
        let limits: Vec<(&str, Chain)> = budgets.into_iter().map(|budget| {
            let limit = TokenLimit { trigger, preserve_system: true, question, ..limit(budget, Overflow::KeepNewest) };
            ("limit", Chain::default().then(limit))
        }).collect();
        let items = (serializer.1)(&[scripts.concat(), rounds, end].concat());
        chains_send_the_same(&items, serializer.0, &limits)?;
    }

    /// A message of the user that also contains instructions is kept for them, wherever it is.
    #[test]
    fn instructions_beside_other_blocks_are_sent_the_same(scripts in prop::collection::vec(sound_script(), 1..5), end in broken_script(), drawn in drawn()) {
        let (items, _) = with_rules(&anthropic::serialize(&[scripts.concat(), end].concat()));
        sends_the_same(&items, "anthropic", drawn)?;
    }

    #[test]
    fn figures_of_compacted_sessions_add_up(
        script in sound_script(),
        bounded in prop::sample::select(BOUNDED),
        places in prop::collection::vec(any::<prop::sample::Index>(), 1..3),
    ) {
        let (items, _) = marked(&script, &bounded, &places);
        let text: String = items.iter().map(|item| format!("{item}\n")).collect();
        let policies = || CASES.iter().map(|case| policy(case.0, (case.1)())).collect();
        for live in [false, true] {
            for session in replayed(policies(), Apply::View, live, bounded.0, &text) {
                figures_add_up(&session)?;
                if live {
                    sends_no_more(&session, CASES)?;
                }
            }
        }
    }
}

/// The first request contains a system prompt and a question, so no window drops all of it.
#[test]
fn a_system_prompt_beside_a_question_is_sent_the_same() {
    let message = |kind: &str, part: &str, text: &str| {
        format!(r#"{{"parts":[{{"content":"{text}","part_kind":"{part}"}}],"kind":"{kind}"}}"#)
    };
    let (question, answer) = (message("request", "user-prompt", "Now?"), message("response", "text", "Soon."));
    let prompt_and_question = r#"{"parts":[{"content":"Be brief.","part_kind":"system-prompt"},{"content":"Go.","part_kind":"user-prompt"}],"kind":"request"}"#;
    let items = [
        prompt_and_question.to_owned(),
        question.clone(),
        question.clone(),
        answer.clone(),
        answer.clone(),
        question.clone(),
        answer,
    ];
    sends_the_same(&items, "pydantic-ai", None).unwrap();
}

/// The call that a late result answers is outside the window. Without that result, the call before it is unanswered, until a
/// later message shows that it always was.
#[test]
fn a_round_that_lost_a_result_is_decided_again() {
    let call = |id: &str| {
        format!(
            r#"{{"parts":[{{"tool_name":"look","args":{{}},"tool_call_id":"{id}","part_kind":"tool-call"}}],"kind":"response"}}"#
        )
    };
    let returned = |id: &str, beside: &str| {
        format!(
            r#"{{"parts":[{{"tool_name":"look","content":"a lamp","tool_call_id":"{id}","part_kind":"tool-return"}}{beside}],"kind":"request"}}"#
        )
    };
    let prompt = r#"{"content":"Now?","part_kind":"user-prompt"}"#;
    let question = format!(r#"{{"parts":[{prompt}],"kind":"request"}}"#);
    let answer = r#"{"parts":[{"content":"Soon.","part_kind":"text"}],"kind":"response"}"#.to_owned();
    let items = [
        question.clone(),
        call("a"),
        question.clone(),
        answer.clone(),
        question,
        call("b"),
        returned("a", &format!(",{prompt}")),
        call("c"),
        returned("c", ""),
        answer,
    ];
    sends_the_same(&items, "pydantic-ai", None).unwrap();
}

/// A request behind a rewind sends nothing of the branch, and what a compaction of the branch replaced.
#[test]
fn a_request_behind_a_rewind_sends_no_branch() {
    let logs = [
        (include_str!("../../../../fixtures/dialects/claude-code/rewind.jsonl"), vec![0..6, 9..10]),
        (include_str!("../../../../fixtures/dialects/pi/branches.jsonl"), vec![0..2, 6..8]),
        (include_str!("../../../../fixtures/dialects/qwen/rewind.jsonl"), vec![0..1, 2..3]),
    ];
    for (text, sent) in logs {
        let document = Document::parse_log(text).unwrap();
        let reading = Reading::new(Framing::Lines, None, None).unwrap();
        let transcripts = reading.transcripts(&document).unwrap();
        let (dialect, transcript) = &transcripts[0];
        let found = sessions(*dialect, transcript);
        assert_eq!(found[0].requests.last().unwrap().sent, sent, "{}", dialect.name());
    }
}

/// What only a branch mentions is not missing in what a policy sends behind it.
#[test]
fn a_reference_of_a_branch_is_not_needed() {
    let entry = |id: &str, parent: &str, role: &str, part: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"message":{{"role":"{role}","content":[{part}]}}}}"#
        ) + "\n"
    };
    let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let call = r#"{"type":"toolCall","id":"c","name":"bash","arguments":{"command":"cat src/kiln/glaze.rs"}}"#;
    let log = [
        entry("a", "null", "user", &text("Find it.")),
        entry("b", "\"a\"", "assistant", &text("It is in src/kiln/glaze.rs.")),
        entry("c", "\"a\"", "user", &text("Look again.")),
        entry("d", "\"c\"", "assistant", call),
    ];
    let sessions = replayed(Vec::new(), Apply::View, false, "pi", &log.concat());
    assert_eq!(sessions[0].policies[0].total.losses.needed_references, 0);
}
