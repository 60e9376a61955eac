//! `curtail sessions`, and the names of sessions wherever a path is taken.

use std::process::Output;
use std::time::{Duration, SystemTime};

use crate::program::{Place, text};

/// A machine with sessions of two agents, the oldest first.
fn machine() -> Place {
    let place = Place::new();
    let claude = |prompt: &str, folder: &str| {
        format!(
            "{{\"type\":\"summary\",\"summary\":\"s\",\"leafUuid\":\"x\"}}\n{{\"type\":\"user\",\"uuid\":\"u\",\"parentUuid\":null,\"sessionId\":\"s\",\"cwd\":\"{folder}\",\"timestamp\":\"2026-01-01T10:00:00Z\",\"message\":{{\"role\":\"user\",\"content\":\"{prompt}\"}}}}\n"
        )
    };
    let codex = "{\"timestamp\":\"2026-01-01T10:00:00Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"c\",\"cwd\":\"/work/mill\"}}\n{\"timestamp\":\"2026-01-01T10:00:01Z\",\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"<environment_context>\\n<cwd>/work/mill</cwd>\\n</environment_context>\"}]}}\n{\"timestamp\":\"2026-01-01T10:00:02Z\",\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"Grind the rye.\"}]}}\n";
    let files = [
        (".claude/projects/-work-kiln/1.jsonl", claude("Fire the\\n\\u001b[31mkiln.", "/work/kiln"), 300),
        (".codex/sessions/2026/01/01/rollout-1.jsonl", codex.to_owned(), 200),
        (".claude/projects/-work-kiln/2.jsonl", claude("Glaze the cups.", "/work/kiln/cups"), 100),
        // None of these is a session of its own.
        (".claude/projects/-work-kiln/2/subagents/agent-9.jsonl", claude("Look.", "/work/kiln"), 0),
        (".claude/projects/-work-kiln/agent-8.jsonl", claude("Look.", "/work/kiln"), 0),
        (".claude/settings.jsonl", claude("Look.", "/work/kiln"), 0),
        (".codex/sessions/notes.jsonl", codex.to_owned(), 0),
    ];
    for (name, content, age) in files {
        place.write(&format!("home/{name}"), content.as_bytes());
        let file = std::fs::File::options().append(true).open(place.path(&format!("home/{name}"))).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age * 3_600)).unwrap();
    }
    place
}

fn run(place: &Place, words: &[&str]) -> Output {
    let mut command = place.curtail(words);
    for moved in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "PI_CODING_AGENT_DIR"] {
        command.env_remove(moved);
    }
    command.env("HOME", place.path("home")).output().unwrap()
}

fn said(place: &Place, words: &[&str]) -> String {
    let output = run(place, words);
    assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn sessions_are_listed_newest_first() {
    let place = machine();
    let json: serde_json::Value =
        serde_json::from_str(&said(&place, &["sessions", "--format", "json", "--tokens"])).unwrap();
    let of = |key: &str| json["sessions"].as_array().unwrap().iter().map(|one| one[key].clone()).collect::<Vec<_>>();
    assert_eq!(of("name"), ["@claude", "@codex", "@claude:2"]);
    assert_eq!(of("project"), ["/work/kiln/cups", "/work/mill", "/work/kiln"]);
    assert_eq!(of("prompt"), ["Glaze the cups.", "Grind the rye.", "Fire the \u{1b}[31mkiln."]);
    assert_eq!(of("messages"), [1, 2, 1]);
    assert!(of("tokens").iter().all(|tokens| tokens.as_u64() > Some(0)), "{json}");
    let table = said(&place, &["sessions"]);
    assert!(table.contains("Fire the ⟨U+001B⟩[31mkiln.") && !table.contains('\u{1b}'), "{table}");
    assert!(
        table.lines().nth(1).is_some_and(|line| line.starts_with("@claude  ") && line.contains("4 d ago")),
        "{table}"
    );
}

#[test]
fn a_list_is_narrowed_and_sorted() {
    let place = machine();
    for (flags, names) in [
        (&["--agent", "claude"][..], &["@claude", "@claude:2"][..]),
        (&["--agent", "codex", "--agent", "Claude"], &["@claude", "@codex", "@claude:2"]),
        (&["--project", "/work/kiln"], &["@claude", "@claude:2"]),
        (&["--project", "/work/kil"], &[]),
        (&["--since", "9d"], &["@claude", "@codex"]),
        (&["-n", "1"], &["@claude"]),
        (&["--sort", "size", "-n", "1"], &["@codex"]),
        (&["--sort", "tokens", "-n", "1"], &["@codex"]),
    ] {
        let words: Vec<&str> = ["sessions", "--format", "json"].iter().chain(flags).copied().collect();
        let json: serde_json::Value = serde_json::from_str(&said(&place, &words)).unwrap();
        let listed: Vec<&str> =
            json["sessions"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
        assert_eq!(listed, names, "{flags:?}");
    }
    let paths = said(&place, &["sessions", "--format", "paths0", "--agent", "claude"]);
    assert_eq!(paths.split_terminator('\0').filter(|path| std::path::Path::new(path).is_file()).count(), 2);
    let output = run(&place, &["sessions", "--agent", "clade"]);
    assert!(!output.status.success() && text(&output.stderr).contains("claude"), "{}", text(&output.stderr));
}

#[test]
fn a_session_is_named_wherever_a_path_is_taken() {
    let place = machine();
    for (name, words) in [
        ("@last", "Glaze"),
        ("@claude:2", "Fire"),
        ("@codex", "Grind"),
        ("@last:2", "Grind"),
        ("@claude-code", "Glaze"),
    ] {
        assert!(said(&place, &["view", "--text", name]).contains(words), "{name}");
    }
    assert!(said(&place, &["count", "--output-format", "csv", "@codex", "@claude"]).contains("rollout-1.jsonl"));
    assert!(said(&place, &["limit", "-t", "100k", "@claude"]).contains("Glaze"));
    // A file with such a name is a file.
    place.write("@last", b"{\"role\":\"user\",\"content\":\"Here.\"}\n");
    assert!(said(&place, &["view", "--text", "@last"]).contains("Here."));
    for (name, words) in [
        ("@claud", "there is no agent `claud`"),
        ("@claude:9", "there are only 2 sessions of Claude Code"),
        ("@codex:2", "there is only 1 session of Codex"),
        ("@pi", "no session of pi was found"),
        ("@codex:0", "a number from 1 on"),
        ("@opencode", "`opencode export ID > FILE`"),
    ] {
        let output = run(&place, &["count", name]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(words), "{name}: {}", text(&output.stderr));
    }
}

#[test]
fn a_variable_moves_the_folder_of_an_agent() {
    let place = machine();
    let mut command = place.curtail(&["sessions", "--format", "paths"]);
    let moved = place.path("home/.claude");
    let output = command.env("HOME", place.path("nowhere")).env("CLAUDE_CONFIG_DIR", moved).output().unwrap();
    assert_eq!(text(&output.stdout).lines().count(), 2);
    let none = place
        .curtail(&["sessions"])
        .env("HOME", place.path("nowhere"))
        .env_remove("CLAUDE_CONFIG_DIR")
        .output()
        .unwrap();
    assert_eq!(text(&none.stdout), "no sessions\n");
}
