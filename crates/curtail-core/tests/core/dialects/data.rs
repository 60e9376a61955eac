//! Real transcripts, in the folder that `CURTAIL_DATA` names: whatever is read and written stays as it is, and the dialect is
//! detected in the folders that are listed here.

use std::path::Path;

use curtail_core::dialects::Framing;

use super::files::{File, below, read_transcripts, real_data};
use super::identity;

/// What is expected of the files whose name begins so, most particular first.
const EXPECTED: &[(&str, &str, Framing)] = &[
    ("ai-sdk/", "ai-sdk", Framing::Lines),
    ("agent-sessions/gemini/jsonl", "gemini", Framing::Lines),
    ("agent-sessions/gemini/", "gemini", Framing::Document),
    ("agent-sessions/hermes/", "openai", Framing::Document),
    ("agent-sessions/antigravity/", "antigravity", Framing::Lines),
    ("agent-sessions/claude/", "claude-code", Framing::Lines),
    ("agent-sessions/codex/", "codex", Framing::Lines),
    ("agent-sessions/copilot/", "copilot", Framing::Lines),
    ("agent-sessions/cursor/", "cursor", Framing::Lines),
    ("agent-sessions/droid/", "droid", Framing::Lines),
    ("agent-sessions/grok/", "grok", Framing::Lines),
    ("agent-sessions/kimi/", "kimi", Framing::Lines),
    ("agent-sessions/openclaw/", "pi", Framing::Lines),
    ("agent-sessions/pi/", "pi", Framing::Lines),
    ("agent-sessions/qwen/", "qwen", Framing::Lines),
    ("anthropic/", "anthropic", Framing::Lines),
    ("claude-code/", "claude-code", Framing::Lines),
    ("codex/", "codex", Framing::Lines),
    ("gemini-interactions/", "gemini-interactions", Framing::Document),
    ("inspect/", "inspect", Framing::Document),
    ("langchain/", "langchain", Framing::Lines),
    ("openai-legacy/", "openai", Framing::Records),
    ("openai/", "openai", Framing::Records),
    ("opencode/", "opencode", Framing::Document),
    ("openhands/", "openhands", Framing::Lines),
    ("pi/", "pi", Framing::Lines),
    ("preferences/llamafactory-dpo-zh.json", "sharegpt", Framing::Document),
    ("preferences/", "sharegpt", Framing::Records),
    ("pydantic-ai/", "pydantic-ai", Framing::Document),
    ("responses/", "responses", Framing::Lines),
    ("sharegpt/", "sharegpt", Framing::Records),
    ("swe-agent/", "openai", Framing::Lines),
    ("verifiers/", "openai", Framing::Records),
];

fn expected(file: &File) -> Option<(&'static str, Framing)> {
    // The extension of the Agent Development Kit's files shows their framing.
    if file.name.starts_with("gemini/") {
        let framing = if Path::new(&file.name).extension().is_some_and(|kind| kind == "jsonl") {
            Framing::Lines
        } else {
            Framing::Document
        };
        return Some(("gemini", framing));
    }
    // Settings beside a session are no transcript.
    if file.name.starts_with("agent-sessions/")
        && ["state.json", "summary.json", "meta.json"].iter().any(|end| file.name.ends_with(end))
    {
        return None;
    }
    EXPECTED.iter().find(|(prefix, ..)| file.name.starts_with(prefix)).map(|(_, dialect, framing)| (*dialect, *framing))
}

#[test]
fn real_transcripts_are_told_and_stay_as_they_are() {
    let Some(data) = real_data() else { return println!("no real transcripts at hand: CURTAIL_DATA names none") };
    let mut complaints = Vec::new();
    for file in below(&data) {
        let expected = expected(&file);
        let mut is_written = true;
        let reported = read_transcripts(&file.text, |reported, transcript| {
            is_written &= reported.writer().is_some();
            // A file without messages decides nothing.
            if let Some((dialect, _)) = expected
                && reported.name() != dialect
                && !transcript.messages.is_empty()
            {
                complaints.push(format!("{}: {} and not {dialect}", file.name, reported.name()));
            }
        });
        match (reported, expected) {
            (Ok(reported), Some((_, framing))) if reported != framing => {
                complaints.push(format!("{}: {} and not {}", file.name, reported.name(), framing.name()));
            }
            (Ok(_), _) if is_written => complaints.extend(identity::complaint(&file)),
            (Err(error), Some(_)) => complaints.push(format!("{}: {}", file.name, error.what)),
            // What is only read, and what nothing reads.
            (Ok(_) | Err(_), _) => {}
        }
    }
    assert!(complaints.is_empty(), "{complaints:#?}");
}
