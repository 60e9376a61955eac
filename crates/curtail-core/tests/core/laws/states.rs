//! State lines of Claude Code on real transcripts, if `CURTAIL_DATA` names a folder of them: every command keeps the last one of
//! each type.

use std::collections::HashMap;

use curtail_core::dialects::Framing;
use serde_json::Value;

use super::check::cut_with;
use super::fixtures::dialect_of;
use super::real::COMMANDS;
use crate::dialects::files::{paths, real_data};

/// Lines of Claude Code of which a resumed session reads only the last of their type.
const STATES: &[&str] =
    &["permission-mode", "mode", "custom-title", "agent-name", "worktree-state", "last-prompt", "ai-title", "pr-link"];

#[test]
fn real_sessions_keep_their_last_state_lines() {
    let Some(data) = real_data() else { return println!("no real transcripts at hand: CURTAIL_DATA names none") };
    let mut counts: HashMap<&str, [usize; 2]> = HashMap::new();
    for file in paths(&data) {
        let text = std::fs::read_to_string(&file).expect("transcripts are UTF-8");
        if dialect_of(Framing::Lines, &text) != Some("claude-code") {
            continue;
        }
        for text in [text.clone(), with_states(&text)] {
            let before = last_states(&text);
            for case in COMMANDS {
                let cut = cut_with((case.chain)(), Some("claude-code"), Framing::Lines, &text).expect("it can be cut");
                assert_eq!(last_states(&cut), before, "{}: {}", file.display(), case.name);
                let [files, lines] = counts.entry(case.name).or_default();
                (*files, *lines) = (*files + 1, *lines + before.len());
            }
        }
    }
    for (command, [texts, lines]) in &counts {
        println!("{command}: {lines} last state lines kept in {texts} texts");
    }
    assert!(counts.values().all(|[_, lines]| *lines > 0), "{counts:?}");
}

/// The log with state lines of every type behind every ninth line, each with another value.
fn with_states(text: &str) -> String {
    let mut out = String::new();
    for (nth, line) in text.lines().enumerate() {
        out.push_str(line);
        out.push('\n');
        let kind = STATES[nth / 9 % STATES.len()];
        if nth % 9 == 4 {
            out.push_str(&format!("{{\"type\":\"{kind}\",\"value\":\"v{nth}\",\"sessionId\":\"s\"}}\n"));
        }
    }
    out
}

/// The last state line of each type, without its link to a message, which follows a cut.
fn last_states(text: &str) -> HashMap<String, String> {
    let mut last = HashMap::new();
    for line in text.lines() {
        let Ok(mut value) = serde_json::from_str::<Value>(line) else { continue };
        let kind = value["type"].as_str().unwrap_or_default().to_owned();
        if STATES.contains(&kind.as_str()) && value.get("sessionId").is_some() {
            value.as_object_mut().map(|line| line.shift_remove("leafUuid"));
            last.insert(kind, value.to_string());
        }
    }
    last
}
