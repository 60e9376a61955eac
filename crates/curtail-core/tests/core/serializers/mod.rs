//! Neutral scripts, and their form in the dialects of `SERIALIZERS`, on which the laws are tested.
//!
//! A serializer is a function `fn(&[Turn]) -> Vec<String>`: the items of the transcript, each as compact JSON.

pub mod agentkit;
pub mod ai_sdk;
pub mod anthropic;
pub mod antigravity;
pub mod atif;
pub mod bedrock;
pub mod claude_code;
pub mod codex;
pub mod copilot;
pub mod cursor;
pub mod described;
pub mod droid;
pub mod gemini;
pub mod goose;
pub mod grok;
pub mod inspect;
pub mod interactions;
pub mod kimi;
pub mod kiro;
pub mod langchain;
pub mod metadata;
pub mod openai;
pub mod opencode;
pub mod openhands;
pub mod otel;
pub mod pi;
pub mod pydantic_ai;
pub mod qwen;
pub mod responses;
pub mod sharegpt;
pub mod simple;
pub mod unknown;
pub mod written;

use curtail_core::json::quote;
use proptest::prelude::*;

/// Something that happens in a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    System(String),
    User(String),
    Assistant { reasoning: Option<String>, text: Option<String>, calls: Vec<Call> },
    Result { id: String, name: String, text: String },
}

/// A tool call; `arguments` is the JSON text of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub id: String,
    pub name: String,
    pub arguments: String,
}

/// A dialect's name and its serializer.
pub type Serializer = (&'static str, fn(&[Turn]) -> Vec<String>);

/// The serializers, each with the name of its dialect. Some dialects have several, for the forms that they are written in;
/// the laws are tested on the others with fixtures alone.
pub const SERIALIZERS: &[Serializer] = &[
    ("openai", openai::serialize),
    ("responses", responses::serialize),
    ("responses", responses::serialize_background),
    ("anthropic", anthropic::serialize),
    ("agentkit", agentkit::serialize),
    ("gemini", gemini::serialize),
    ("gemini", gemini::serialize_recording),
    ("gemini", gemini::serialize_lines),
    ("gemini", gemini::serialize_rewound),
    ("gemini", gemini::serialize_events),
    ("bedrock", bedrock::serialize),
    ("ai-sdk", ai_sdk::serialize),
    ("ai-sdk", ai_sdk::serialize_ui),
    ("ai-sdk", ai_sdk::serialize_approvals),
    ("langchain", langchain::serialize),
    ("sharegpt", sharegpt::serialize),
    ("claude-code", claude_code::serialize),
    ("claude-code", claude_code::serialize_session),
    ("claude-code", claude_code::serialize_torn),
    ("codex", codex::serialize),
    ("codex", codex::serialize_rewound),
    ("pi", pi::serialize),
    ("pi", pi::serialize_branches),
    ("pi", pi::serialize_trace),
    ("qwen", qwen::serialize),
    ("qwen", qwen::serialize_branches),
    ("qwen", qwen::serialize_compressed),
    ("copilot", copilot::serialize),
    ("droid", droid::serialize),
    ("grok", grok::serialize),
    ("kimi", kimi::serialize),
    ("kimi", kimi::serialize_rewound),
    ("cursor", cursor::serialize),
    ("antigravity", antigravity::serialize),
    ("openhands", openhands::serialize),
    ("openhands", openhands::serialize_version_0),
    ("atif", atif::serialize),
    ("otel", otel::serialize),
    ("inspect", inspect::serialize),
    ("opencode", opencode::serialize),
    ("opencode", opencode::serialize_version_2),
    ("pydantic-ai", pydantic_ai::serialize),
    ("gemini-interactions", interactions::serialize),
    ("goose", goose::serialize),
    ("kiro", kiro::serialize),
    ("kiro", kiro::serialize_stored),
    ("haystack", described::haystack),
    ("llama-index", described::llama_index),
    ("autogen-core", described::autogen_core),
    ("semantic-kernel", described::semantic_kernel),
    ("microsoft-extensions-ai", described::extensions_ai),
    ("spring-ai", described::spring_ai),
    ("langchain4j", described::langchain4j),
    ("ag-ui", described::ag_ui),
    ("continue", described::continue_session),
    ("kimi-wire", described::kimi_wire),
    ("mcp-sampling", described::mcp_sampling),
    ("mastra", described::mastra),
    ("ollama", described::ollama),
    ("simple", simple::serialize),
];

/// Dialects whose calls are texts.
pub const WRITTEN: &[Serializer] = &[
    ("openai", written::serialize),
    ("openai", written::serialize_in_user),
    ("sharegpt", written::serialize_turns),
    ("simple", written::serialize_plain),
];

/// The parent of each turn of a script in which the user goes back now and then: a question can follow any turn before it.
pub fn rewound(script: &[Turn]) -> Vec<Option<usize>> {
    let parent = |(nth, turn): (usize, &Turn)| {
        let last = nth.checked_sub(1)?;
        match turn {
            Turn::User(text) if (nth + text.len()).is_multiple_of(3) => (nth * 5 + text.len()).checked_rem(last),
            _ => Some(last),
        }
    };
    script.iter().enumerate().map(parent).collect()
}

/// The provider's count of the request for the turn `nth`.
pub const fn tokens(nth: usize) -> usize {
    1_000 * (nth + 1)
}

/// A JSON string.
pub fn json(text: &str) -> String {
    quote(text)
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,8}( [a-z]{1,8}){0,12}",
        Just(String::from("ein \"Zitat\" \\ und\n\tUmlaute: äöü 漢字 🙂")),
        Just(String::from("x")),
        "[ -~]{1,60}",
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![Just("search"), Just("bash"), Just("debug_dump"), Just("fetch")].prop_map(String::from)
}

/// One exchange: a user message, then rounds of calls that are all answered, then an answer.
fn exchange(nth: usize) -> impl Strategy<Value = Vec<Turn>> {
    let call = (name(), words());
    let round = (prop::option::of(words()), prop::option::of(words()), prop::collection::vec(call, 0..4), words());
    (words(), prop::collection::vec(round, 0..3), words(), any::<bool>()).prop_map(
        move |(ask, rounds, answer, answered)| {
            let mut turns = vec![Turn::User(ask)];
            for (r, (reasoning, text, calls, result)) in rounds.into_iter().enumerate() {
                let calls: Vec<Call> = calls
                    .into_iter()
                    .enumerate()
                    .map(|(c, (name, word))| Call {
                        id: format!("call_{nth}_{r}_{c}"),
                        name,
                        arguments: format!("{{\"query\":{}}}", json(&word)),
                    })
                    .collect();
                let results: Vec<Turn> = calls
                    .iter()
                    .map(|call| Turn::Result { id: call.id.clone(), name: call.name.clone(), text: result.clone() })
                    .collect();
                if !calls.is_empty() || text.is_some() {
                    turns.push(Turn::Assistant { reasoning, text, calls });
                    turns.extend(results);
                }
            }
            if answered {
                turns.push(Turn::Assistant { reasoning: None, text: Some(answer), calls: Vec::new() });
            }
            turns
        },
    )
}

/// A conversation in which every call is answered, but that may end in the middle of a round.
pub fn sound_script() -> impl Strategy<Value = Vec<Turn>> {
    let exchanges = (0..6_usize).prop_flat_map(|count| (0..count).map(exchange).collect::<Vec<_>>());
    (prop::option::of(words()), exchanges, 0..3_usize).prop_map(|(system, exchanges, cut)| {
        let mut turns: Vec<Turn> = system.map(Turn::System).into_iter().collect();
        turns.extend(exchanges.into_iter().flatten());
        turns.truncate(turns.len().saturating_sub(cut));
        turns
    })
}

/// A conversation whose last round is in flight: a person asked one or more times, all or some of the calls in parallel are
/// answered, and something may be said between their results.
pub fn open_script() -> impl Strategy<Value = Vec<Turn>> {
    let calls = prop::collection::vec((name(), words()), 1..4);
    let round = (prop::option::of(words()), calls, prop::collection::vec((0..4_u8, words()), 1..4));
    (sound_script(), prop::collection::vec(words(), 0..3), prop::collection::vec(round, 1..3)).prop_map(
        |(mut turns, asked, rounds)| {
            turns.extend(asked.into_iter().map(Turn::User));
            for (r, (text, calls, results)) in rounds.into_iter().enumerate() {
                let call = |(c, (name, word)): (usize, (String, String))| {
                    let arguments = format!("{{\"query\":{}}}", json(&word));
                    Call { id: format!("call_open_{r}_{c}"), name, arguments }
                };
                let calls: Vec<Call> = calls.into_iter().enumerate().map(call).collect();
                let names: Vec<(String, String)> =
                    calls.iter().map(|call| (call.id.clone(), call.name.clone())).collect();
                turns.push(Turn::Assistant { reasoning: None, text, calls });
                for ((id, name), (between, text)) in names.into_iter().zip(results) {
                    turns.push(Turn::Result { id, name, text: text.clone() });
                    match between {
                        0 => turns.push(Turn::User(text)),
                        1 => turns.push(Turn::Assistant { reasoning: None, text: Some(text), calls: Vec::new() }),
                        _ => {}
                    }
                }
            }
            turns
        },
    )
}

/// A conversation with turns lost, repeated and swapped, and with ids that come back.
pub fn broken_script() -> impl Strategy<Value = Vec<Turn>> {
    let script = prop_oneof![3 => sound_script(), 1 => open_script()];
    (script, prop::collection::vec((0..5_u8, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..5))
        .prop_map(|(mut turns, breaks)| {
            for (how, a, b) in breaks {
                if turns.is_empty() {
                    break;
                }
                let (a, b) = (a.index(turns.len()), b.index(turns.len()));
                match how {
                    0 => drop(turns.remove(a)),
                    1 => turns.insert(b, turns[a].clone()),
                    2 => turns.swap(a, b),
                    3 => turns.insert(a, Turn::System(String::from("mind the gap"))),
                    _ => rename(&mut turns[a]),
                }
            }
            turns
        })
}

fn rename(turn: &mut Turn) {
    match turn {
        Turn::Result { id, .. } => *id = String::from("call_0_0_0"),
        Turn::Assistant { calls, .. } => calls.iter_mut().take(1).for_each(|call| call.id = String::from("call_0_0_0")),
        _ => {}
    }
}

/// `json` with white space between its tokens, chosen by `seed`: proven values must not care.
pub fn respace(json: &str, seed: u64) -> String {
    let mut state = seed | 1;
    let mut out = String::with_capacity(json.len() * 2);
    let (mut in_string, mut escaped) = (false, false);
    for c in json.chars() {
        out.push(c);
        in_string ^= c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        if !in_string && matches!(c, '{' | '[' | ':' | ',') {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            out.push_str(["", " ", "  ", "\t"][(state >> 33) as usize % 4]);
        }
    }
    out
}
