//! Hostile names through every command and format: nothing that a terminal or a CI runner obeys comes out, whether it is a
//! terminal or not. Names are those of tools, calls, roles, keys, models, files and flags, and the answers of servers.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;

use super::{curtail, folder, text};
use crate::program::terminal;
use crate::server::{Reply, Server};

/// Escape sequences, line breaks, marks that reorder text, and commands of CI runners.
const HOSTILE: &str = "x\u{1b}[31mred\u{1b}]0;title\u{7}\n::error::forged\r\u{9b}2J\u{202e}\u{2066}\u{7f}##[error]forged\u{85}\u{2028}\u{feff}";

/// A name of a file: no system allows every character.
const FILE: &str = "::error::forged \u{1b}[31mred\n::error::forged\u{202e}##[error]forged.jsonl";

/// A transcript with a fault of each kind, in which all names are hostile.
fn transcript() -> String {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": HOSTILE, "arguments": "{\"a\":"}});
    let messages = [
        json!({"role": "user", "content": HOSTILE, HOSTILE: 1}),
        json!({"role": "assistant", "content": HOSTILE, "tool_calls": [call(HOSTILE), call(HOSTILE), call("b")]}),
        json!({"role": "tool", "tool_call_id": HOSTILE, "name": HOSTILE, "content": HOSTILE}),
        json!({"role": "tool", "tool_call_id": format!("{HOSTILE}2"), "content": HOSTILE}),
        json!({"role": HOSTILE, "content": "who?"}),
        json!({"role": "assistant", "content": "", "model": HOSTILE}),
        json!({"role": "user", "content": "And?"}),
        json!({"role": "assistant", "content": "Done.", "model": HOSTILE, "tool_calls": [{"id": "u", "type": "function", "function": {"name": "updateWorkingMemory", "arguments": HOSTILE}}]}),
    ];
    messages.iter().fold(String::new(), |mut lines, message| {
        let _ = writeln!(lines, "{message}");
        lines
    })
}

/// A session of Claude Code with hostile types, tools and models.
fn session() -> String {
    let lines = [
        json!({"type": "user", "uuid": HOSTILE, "parentUuid": null, "sessionId": HOSTILE, "message": {"role": "user", "content": HOSTILE}}),
        json!({"type": HOSTILE, "uuid": "2", "parentUuid": "1"}),
        json!({"type": "assistant", "uuid": "3", "parentUuid": HOSTILE, "message": {"role": "assistant", "model": HOSTILE, "content": [{"type": "tool_use", "id": HOSTILE, "name": HOSTILE, "input": {HOSTILE: HOSTILE}}], "usage": {"input_tokens": 5, "output_tokens": 5}}}),
        json!({"type": "user", "uuid": "4", "parentUuid": "3", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": HOSTILE, "content": HOSTILE}]}}),
        json!({"type": "assistant", "uuid": "5", "parentUuid": "4", "message": {"role": "assistant", "model": HOSTILE, "content": [{"type": HOSTILE, "text": HOSTILE}, {"type": "text", "text": HOSTILE}]}}),
    ];
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// What is wrong with an output, if a terminal or a runner would obey it.
fn obeyed(output: &str, colors: bool) -> Option<String> {
    let mut plain = output.replace("\r\n", "\n");
    if colors {
        for code in ["0", "1", "2", "4", "1;31", "1;33", "1;34", "31", "32", "33", "34", "35", "36"] {
            let code = format!("\u{1b}[{code}m");
            // The color that the names ask for is no color of this program.
            plain = plain.replace(&format!("{code}red"), "OBEYED").replace(&code, "");
        }
        for bold in ["31", "32", "33", "34", "35", "36"] {
            plain = plain.replace(&format!("\u{1b}[1m\u{1b}[{bold}m"), "").replace(&format!("\u{1b}[{bold};1m"), "");
        }
    }
    let control = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    if let Some(c) = plain.chars().find(|c| control(*c)) {
        return Some(format!("U+{:04X}", u32::from(c)));
    }
    let forged = plain.lines().find(|line| line.trim_start().starts_with("::error::") || line.contains("##[error]"));
    forged.map(str::to_owned).or_else(|| plain.contains("OBEYED").then(|| "a color".to_owned()))
}

/// The runs whose output people or logs read. `FILE` and the other hostile names are arguments where they can be.
fn runs() -> Vec<Vec<String>> {
    let mut runs: Vec<Vec<&str>> = Vec::new();
    let inputs = [FILE, "session.jsonl"];
    for input in inputs {
        for format in ["text", "json", "github", "sarif", "junit"] {
            runs.push(vec!["check", "--output-format", format, input]);
        }
        runs.push(vec!["check", "-v", "--strict", input]);
        for format in ["text", "json"] {
            runs.push(vec!["show", "--output-format", format, input]);
        }
        for by in ["file", "transcript", "role", "tool"] {
            for format in ["table", "json", "csv"] {
                runs.push(vec!["count", "--by", by, "--output-format", format, input]);
            }
        }
        for format in ["text", "json", "csv"] {
            runs.push(vec!["replay", "--output-format", format, input]);
        }
        for explain in ["--explain", "--explain=json"] {
            for command in [
                &["filter", "-x", "*"][..],
                &["filter", "--persist-results"],
                &["filter", "--keep-last-results", "0"],
                &["window", "-n", "1", "-v"],
                &["limit", "-t", "9"],
                &["repair", "--mode", "stub"],
                &["summarize", "-n", "1"],
                &["memory", "recall"],
            ] {
                runs.push([command, &[explain, "--dry-run", "--stats", input]].concat());
            }
        }
        runs.push(vec!["summarize", "-n", "1", "--dry-run", input]);
        runs.push(vec!["view", "--text", input]);
        runs.push(vec!["view", "--text", "--full", "--policy", "window -n 1", input]);
        runs.push(vec!["memory", "apply", "--explain", "--output-format", "json", input]);
        runs.push(vec!["memory", "apply", "--explain=json", "--output-format", "json", input]);
        runs.push(vec!["window", "-i", "--rejects", FILE, input]);
        runs.push(vec!["window", "-o", FILE, input]);
    }
    runs.extend([
        vec!["sessions"],
        vec!["sessions", "--tokens"],
        vec!["sessions", "--output-format", "json"],
        vec!["run", "--print", "-c", "hostile.toml"],
        vec!["config", "show", "-c", "hostile.toml"],
        vec!["run", "-c", "wrong.toml", FILE],
        vec!["run", "-c", FILE, FILE],
        vec!["config", "show", "-c", FILE],
        vec!["init", FILE],
        vec!["init", "missing/::error::forged"],
        vec!["memory", "list", "--store", "s.db"],
        vec!["memory", "list", "--store", "s.db", "--output-format", "json"],
        vec!["memory", "show", "--store", FILE, "--resource", HOSTILE],
        vec!["memory", "update", "--store", "s.db", "--resource", HOSTILE, HOSTILE],
        vec!["store", "import", "--store", "t.db", FILE],
        vec!["window", "broken.jsonl"],
        vec!["check", "broken.jsonl"],
        vec!["show", "broken.jsonl"],
        vec!["check", "--fix", "--diff", "session.jsonl", FILE],
        vec!["summarize", "-n", "1", "--summarizer-cmd", HOSTILE, FILE],
        vec!["summarize", "-n", "1", "--summarizer-cmd", "cat no-such-file", FILE],
    ]);
    for flag in ["--dialect", "--messages-key", "--stdin-filename", "--framing", "--max-record", "--no-such-flag"] {
        runs.push(vec!["window", flag, HOSTILE, "-o", "written", "--force", FILE]);
    }
    for command in ["window", "check", "count", "show", "view", "replay", HOSTILE] {
        runs.push(vec![command, "no-such-file ::error::forged \u{1b}[31mred\n::error::forged"]);
        runs.push(vec![command, HOSTILE]);
    }
    runs.push(vec!["limit", "-t", HOSTILE, FILE]);
    runs.push(vec!["limit", "-t", "9", "--tokenizer", HOSTILE, FILE]);
    runs.push(vec!["rule", HOSTILE]);
    runs.into_iter().map(|run| run.into_iter().map(str::to_owned).collect()).collect()
}

fn prepare(folder: &Path) {
    let sessions = folder.join(".claude/projects/-x");
    std::fs::create_dir_all(&sessions).expect("a folder");
    std::fs::write(sessions.join(FILE), session()).expect("it can be written");
    for (name, content) in [
        (FILE, transcript()),
        ("session.jsonl", session()),
        ("broken.jsonl", format!("{{\"role\":\"user\",\"content\":\"hi\"}}\n{{\"role\": {HOSTILE}\n")),
        ("wrong.toml", format!("[[history.processors]]\ntype = \"filter\"\n{:?} = 1\n", "x\u{1b}[31mred\u{202e}")),
        (
            "hostile.toml",
            String::from(
                "[[history.processors]]\ntype = \"filter\"\nplaceholder = \"x\\u001B[31mred\\n::error::forged\\u202E##[error]forged\"\n\
                 [[networks.\"x\\u001B[31mred\\n::error::forged\\u202E\".processors]]\ntype = \"filter\"\n",
            ),
        ),
    ] {
        std::fs::write(folder.join(name), content).expect("it can be written");
    }
    let update = ["memory", "update", "--store", "s.db", "--resource", HOSTILE, "{\"a\":1}"];
    let output = curtail(folder).args(update).output().expect("the binary runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn no_name_is_obeyed_in_a_log() {
    let folder = folder();
    prepare(folder.path());
    let (mut wrong, mut shown) = (String::new(), 0);
    for run in runs() {
        for colors in ["never", "always"] {
            let mut command = curtail(folder.path());
            let output = command.args(&run).env("CURTAIL_COLOR", colors).output().expect("the binary runs");
            for (stream, bytes) in [("out", &output.stdout), ("err", &output.stderr)] {
                let printed = text(bytes);
                shown += usize::from(printed.contains("U+001B") || printed.contains("u001b"));
                if let Some(control) = obeyed(&printed, colors == "always") {
                    let _ = writeln!(wrong, "{run:?} --color {colors}, std{stream}: {control}\n{printed:?}\n");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(shown > 100, "the names are shown and not left out: {shown}");
}

/// The same on a terminal, which gets transcripts, too.
#[cfg(target_os = "linux")]
#[test]
fn no_name_is_obeyed_on_a_terminal() {
    let folder = folder();
    prepare(folder.path());
    let mut wrong = String::new();
    let transcripts =
        [FILE, "session.jsonl"].map(|input| vec!["window".into(), "-n".into(), "40".into(), input.to_owned()]);
    let paths = ["paths", "paths0"].map(|format| ["sessions", "--format", format].map(str::to_owned).to_vec());
    for run in runs().into_iter().chain(transcripts).chain(paths) {
        let printed = on_terminal(folder.path(), &run);
        if let Some(control) = obeyed(&printed, true) {
            let _ = writeln!(wrong, "{run:?}: {control}\n{printed:?}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// What a terminal gets from a run: `script` makes one, and `cat` is its pager.
#[cfg(target_os = "linux")]
fn on_terminal(folder: &Path, run: &[String]) -> String {
    let quoted = |word: &str| format!("'{}'", word.replace('\'', "'\\''"));
    let words: Vec<String> =
        std::iter::once(env!("CARGO_BIN_EXE_curtail")).chain(run.iter().map(String::as_str)).map(quoted).collect();
    let output = terminal(&words.join(" "), folder).env("PAGER", "cat").output();
    let output = output.expect("`script` of util-linux is installed");
    text(&output.stdout)
}

/// Progress bars show names of large files.
#[cfg(target_os = "linux")]
#[test]
fn no_name_is_obeyed_in_a_progress_bar() {
    let folder = folder();
    let record = json!({"messages": [{"role": "user", "content": "word ".repeat(2000)}]});
    std::fs::write(folder.path().join(FILE), format!("{record}\n").repeat(600)).expect("it can be written");
    let run = ["window", "--progress", "always", "-O", "out", "."].map(str::to_owned);
    let printed = on_terminal(folder.path(), &run);
    for part in ["\u{1b}[31mred", "\n::error::", "\u{202e}"] {
        assert!(!printed.contains(part), "{printed:?}");
    }
}

#[test]
fn no_answer_of_a_server_is_obeyed() {
    let folder = folder();
    prepare(folder.path());
    for summarizer in ["openai", "anthropic"] {
        for reply in [
            Reply::status(400, HOSTILE),
            Reply::ok(HOSTILE),
            Reply::status(400, &json!({"error": {"message": HOSTILE}}).to_string()),
            Reply::ok(json!({"choices": [{"message": {"refusal": HOSTILE}}], "content": []}).to_string()),
        ] {
            let server = Server::with_replies(vec![reply.clone()]);
            for more in [&[][..], &["--on-summary-error", "extractive", "--dry-run"], &["--retries", "0", "--explain"]]
            {
                let ask = ["summarize", "-n", "1", "--summary-model", "m", "--summarizer", summarizer, "--endpoint"];
                let run = [&ask[..], &[server.address.as_str()], more, &["-o", "written", "--force", FILE]].concat();
                let output = curtail(folder.path()).args(&run).output().expect("the binary runs");
                let stderr = text(&output.stderr);
                assert_eq!(obeyed(&stderr, false), None, "{run:?}: {stderr:?}");
            }
        }
    }
}
