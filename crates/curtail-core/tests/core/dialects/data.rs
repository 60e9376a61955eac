//! Real transcripts, in the folder that `CURTAIL_DATA` names.

use std::path::{Path, PathBuf};

use curtail_core::dialects::Framing;

use super::files::{File, below, read_transcripts};
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
    ("inspect/", "inspect", Framing::Document),
    ("langchain/", "langchain", Framing::Lines),
    ("openai-legacy/", "openai", Framing::Records),
    ("openai/", "openai", Framing::Records),
    ("openhands/", "openhands", Framing::Lines),
    ("pi/", "pi", Framing::Lines),
    ("responses/", "responses", Framing::Lines),
    ("sharegpt/", "sharegpt", Framing::Records),
    ("swe-agent/", "openai", Framing::Lines),
];

fn root() -> Option<PathBuf> {
    std::env::var_os("CURTAIL_DATA").map(PathBuf::from).filter(|root| root.is_dir())
}

fn transcripts() -> Vec<File> {
    let files = root().map_or_else(Vec::new, |root| below(&root));
    files.into_iter().filter(|file| [".json", ".jsonl"].iter().any(|end| file.name.ends_with(end))).collect()
}

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
    let mut complaints = Vec::new();
    for file in transcripts() {
        let Some((dialect, framing)) = expected(&file) else { continue };
        let reported = read_transcripts(&file.text, |reported, transcript| {
            // A file without messages decides nothing.
            if reported.name() != dialect && !transcript.messages.is_empty() {
                complaints.push(format!("{}: {} and not {dialect}", file.name, reported.name()));
            }
        });
        match reported {
            Ok(reported) if reported == framing => complaints.extend(identity::complaint(&file)),
            Ok(reported) => complaints.push(format!("{}: {} and not {}", file.name, reported.name(), framing.name())),
            Err(error) => complaints.push(format!("{}: {}", file.name, error.what)),
        }
    }
    assert!(complaints.is_empty(), "{complaints:#?}");
}
