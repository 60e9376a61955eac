//! How much of what the next agent needs the built-in summaries contain: measured on generated coding sessions whose facts are
//! known, with a floor for each kind of fact. `tests/quality/` measures the same on real sessions, and ROUGE on talk.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::program::Place;

/// Number of generated sessions.
const SESSIONS: u64 = 90;

/// Tokens of a summary.
const TOKENS: usize = 400;

/// Speaking messages of a session: one more than the default window, so that one summary covers all but the first.
const SPOKEN: usize = 22;

/// A generator of numbers that is the same everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn pick<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        &list[self.roll(list.len())]
    }

    fn words(&mut self, count: usize) -> String {
        (0..count).map(|_| *self.pick(WORDS)).collect::<Vec<_>>().join(" ")
    }
}

#[rustfmt::skip]
const WORDS: &[&str] = &[
    "invoice", "rounding", "cache", "session", "export", "ledger", "retry", "timeout", "report", "currency", "worker", "queue", "parser",
    "token", "schema", "migration", "column", "index", "handler", "socket", "buffer", "archive", "monthly", "customer", "refund", "batch",
    "nightly", "header", "decimal", "import", "window", "budget", "policy", "stream", "reader", "writer", "filter", "limit", "state",
];

/// How an agent names its tools.
#[derive(Clone, Copy)]
enum Agent {
    Claude,
    Codex,
    Generic,
}

/// The test runners whose output a session shows.
#[derive(Clone, Copy)]
enum Runner {
    Pytest,
    Cargo,
    Go,
    Jest,
}

/// What a summary of the session should contain.
#[derive(Default)]
struct Facts {
    changed: BTreeSet<String>,
    failing: Vec<String>,
    commits: Vec<String>,
    open: Vec<String>,
    asked: Vec<String>,
    last_text: String,
    /// Lines of files that tools showed.
    source: Vec<String>,
    /// Code in the arguments of edits.
    code: Vec<String>,
}

/// A session in the making.
struct Session {
    dice: Dice,
    agent: Agent,
    runner: Runner,
    messages: Vec<Value>,
    facts: Facts,
    files: Vec<String>,
    calls: usize,
    spoken: usize,
}

impl Session {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
        let agent = *dice.pick(&[Agent::Claude, Agent::Codex, Agent::Generic]);
        let runner = *dice.pick(&[Runner::Pytest, Runner::Cargo, Runner::Go, Runner::Jest]);
        let end = match runner {
            Runner::Pytest => "py",
            Runner::Cargo => "rs",
            Runner::Go => "go",
            Runner::Jest => "ts",
        };
        let root = if matches!(agent, Agent::Claude) { "/home/dev/projects/shop/" } else { "" };
        let files = (0..14)
            .map(|n| {
                let (area, part, file) = (*dice.pick(WORDS), *dice.pick(WORDS), *dice.pick(WORDS));
                format!("{root}services/{area}/src/{part}/{file}_{n}.{end}")
            })
            .collect();
        let mut session =
            Self { dice, agent, runner, messages: Vec::new(), facts: Facts::default(), files, calls: 0, spoken: 0 };
        session.play();
        session
    }

    fn play(&mut self) {
        let goal = format!(
            "Please make the {} of the service {} without changing the {}.",
            self.dice.words(2),
            self.dice.words(3),
            self.dice.words(2)
        );
        self.user(&goal, false);
        let edits = 3 + self.dice.roll(8);
        let mut edited = 0;
        while self.spoken < SPOKEN - 1 {
            let speech = format!("I will look at how the {} is done.", self.dice.words(3));
            match self.dice.roll(8) {
                0 | 1 if self.spoken > 2 && self.spoken < SPOKEN - 3 => self.ask(),
                2 => self.look(&speech),
                3 => self.plan(&speech),
                4 if !self.facts.changed.is_empty() => self.test(&speech),
                5 if !self.facts.changed.is_empty() && self.facts.commits.len() < 3 => self.commit(&speech),
                6 if self.facts.changed.len() > 2 => self.revert(&speech),
                _ if edited < edits => {
                    self.edit(&speech);
                    edited += 1;
                }
                _ => self.look(&speech),
            }
        }
        let last = format!(
            "The {} now {} the {}; what is left is the {} of the {}.",
            self.dice.words(2),
            self.dice.words(1),
            self.dice.words(3),
            self.dice.words(2),
            self.dice.words(2)
        );
        self.say(&last, None);
    }

    fn ask(&mut self) {
        let count = 6 + self.dice.roll(16);
        let text = match self.dice.roll(4) {
            0 => format!("No, not like that: {}.", self.dice.words(count)),
            1 => format!("Now the {}, too.", self.dice.words(count)),
            2 => format!("Why does the {} fail? Check the {}.", self.dice.words(count / 2), self.dice.words(count / 2)),
            _ => format!("Good. Then {}.", self.dice.words(count)),
        };
        self.user(&text, true);
    }

    fn user(&mut self, text: &str, counts: bool) {
        self.messages.push(json!({"role": "user", "content": text}));
        self.spoken += 1;
        if counts {
            self.facts.asked.push(text.to_owned());
        }
    }

    /// The assistant writes text, and calls a tool if there is one: its name, its arguments and its result.
    fn say(&mut self, text: &str, call: Option<(&str, Value, &str)>) {
        self.spoken += 1;
        text.clone_into(&mut self.facts.last_text);
        let Some((name, arguments, result)) = call else {
            self.messages.push(json!({"role": "assistant", "content": text}));
            return;
        };
        self.calls += 1;
        let id = format!("c{}", self.calls);
        let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
        let call = json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
        self.messages.push(json!({"role": "assistant", "content": text, "tool_calls": [call]}));
        self.messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
    }

    fn shell(&mut self, speech: &str, command: &str, result: &str) {
        match self.agent {
            Agent::Claude => {
                self.say(speech, Some(("Bash", json!({"command": command, "description": "Run it"}), result)));
            }
            Agent::Codex => {
                let wrapped =
                    json!({"output": result, "metadata": {"exit_code": 0, "duration_seconds": 0.4}}).to_string();
                self.say(speech, Some(("shell", json!({"command": ["bash", "-lc", command]}), &wrapped)));
            }
            Agent::Generic => self.say(speech, Some(("run_command", json!({"cmd": command}), result))),
        }
    }

    fn look(&mut self, speech: &str) {
        let path = self.dice.pick(&self.files).clone();
        let lines: Vec<String> = (0..30)
            .map(|_| match self.dice.roll(4) {
                0 => format!("raise {}Error(\"{} failed\")", self.dice.words(1), self.dice.words(2)),
                1 => format!("error = failed({})  # fatal: {}", self.dice.words(1), self.dice.words(3)),
                2 => format!("return Err(Error::Invalid{})", self.dice.words(1)),
                _ => format!("let {} = {}_{};", self.dice.words(1), self.dice.words(1), self.dice.words(1)),
            })
            .collect();
        self.facts.source.extend(lines.iter().cloned());
        let number = |mark: &str| {
            lines.iter().enumerate().map(|(n, line)| format!("{:>5}{mark}{line}", n + 1)).collect::<Vec<_>>().join("\n")
        };
        let found =
            lines.iter().enumerate().map(|(n, line)| format!("{path}:{}:{line}", n + 1)).collect::<Vec<_>>().join("\n");
        match (self.agent, self.dice.roll(2)) {
            (Agent::Claude, 0) => self.say(speech, Some(("Read", json!({"file_path": path}), &number("→")))),
            (Agent::Claude, _) => self.say(
                speech,
                Some(("Grep", json!({"pattern": "fail", "path": "src", "output_mode": "content"}), &found)),
            ),
            (Agent::Codex, 0) => self.shell(speech, &format!("sed -n '1,30p' {path}"), &lines.join("\n")),
            (Agent::Codex, _) => self.shell(speech, "rg -n fail", &found),
            (Agent::Generic, 0) => self.say(speech, Some(("read_file", json!({"path": path}), &number("\t")))),
            (Agent::Generic, _) => self.shell(speech, &format!("cat {path} | head -30"), &lines.join("\n")),
        }
    }

    fn edit(&mut self, speech: &str) {
        let path = self.dice.pick(&self.files).clone();
        let (old, new) = (
            format!("fn {}() {{\n    old()\n}}", self.dice.words(1)),
            format!("fn {}() {{\n    new_{}()\n}}", self.dice.words(1), self.calls),
        );
        self.facts.code.extend([&old, &new].map(|code| code.lines().next().unwrap().to_owned()));
        match (self.agent, self.dice.roll(3)) {
            (Agent::Claude, 0) => {
                self.say(speech, Some(("Write", json!({"file_path": path, "content": new}), "File written")));
            }
            (Agent::Claude, _) => {
                let arguments = json!({"replace_all": false, "file_path": path, "old_string": old, "new_string": new});
                self.say(speech, Some(("Edit", arguments, "The file has been updated.")));
            }
            (Agent::Codex, 0) => self.shell(speech, &format!("sed -i 's/old/new_{}/' {path}", self.calls), ""),
            (Agent::Codex, _) => {
                let patch = format!("*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch");
                self.say(
                    speech,
                    Some(("apply_patch", json!({"input": patch}), "Success. Updated the following files:")),
                );
            }
            (Agent::Generic, 0) => self.shell(speech, &format!("cat > {path} <<'EOF'\n{new}\nEOF"), ""),
            (Agent::Generic, _) => {
                let arguments = json!({"command": "str_replace", "path": path, "old_str": old, "new_str": new});
                self.say(speech, Some(("str_replace_based_edit_tool", arguments, "The file has been edited.")));
            }
        }
        self.facts.changed.insert(path);
    }

    /// Discards a change that no commit holds.
    fn revert(&mut self, speech: &str) {
        if !self.facts.commits.is_empty() {
            return self.look(speech);
        }
        let path = self.facts.changed.iter().next().unwrap().clone();
        let verb = *self.dice.pick(&["git checkout --", "git restore"]);
        self.shell(speech, &format!("{verb} {path}"), "");
        self.facts.changed.remove(&path);
    }

    fn plan(&mut self, speech: &str) {
        let count = 3 + self.dice.roll(4);
        let done = self.dice.roll(count);
        let items: Vec<(String, &str)> = (0..count)
            .map(|n| {
                let state = ["completed", "in_progress", "pending"][usize::from(n >= done) + usize::from(n > done)];
                (format!("Check the {} of the {}", self.dice.words(2), self.dice.words(2)), state)
            })
            .collect();
        self.facts.open =
            items.iter().filter(|(_, state)| *state != "completed").map(|(text, _)| text.clone()).collect();
        let list =
            |key: &str| items.iter().map(|(text, state)| json!({key: text, "status": state})).collect::<Vec<_>>();
        let (name, arguments) = match self.agent {
            Agent::Claude => ("TodoWrite", json!({"todos": list("content")})),
            Agent::Codex => ("update_plan", json!({"explanation": "Next", "plan": list("step")})),
            Agent::Generic => ("write_todos", json!({"todos": list("description")})),
        };
        self.say(speech, Some((name, arguments, "Updated")));
    }

    fn test(&mut self, speech: &str) {
        let fails = self.dice.roll(3) > 0;
        let (a, b) = (self.dice.words(1), self.dice.words(1));
        let (command, name, failed, passed) = match self.runner {
            Runner::Pytest => {
                let name = format!("tests/test_{a}.py::test_{b}");
                let failed = format!(
                    "collected 9 items\n....F....\nFAILED {name} - AssertionError: 1 != 2\n1 failed, 8 passed in 0.4s"
                );
                ("pytest -q", name, failed, String::from("9 passed in 0.4s"))
            }
            Runner::Cargo => {
                let name = format!("{a}::tests::{b}_holds");
                let failed = format!(
                    "running 9 tests\ntest {name} ... FAILED\ntest result: FAILED. 8 passed; 1 failed; 0 ignored"
                );
                (
                    "cargo test 2>&1 | tail -20",
                    name,
                    failed,
                    String::from("test result: ok. 9 passed; 0 failed; 0 ignored"),
                )
            }
            Runner::Go => {
                let name = format!("Test{a}_{b}");
                let failed =
                    format!("--- FAIL: {name} (0.00s)\n    x_test.go:12: got 1, want 2\nFAIL\nFAIL\tshop/{a}\t0.1s");
                ("go test ./...", name, failed, format!("ok  \tshop/{a}\t0.1s"))
            }
            Runner::Jest => {
                let name = format!("{a} › keeps the {b}");
                let failed = format!(
                    "FAIL src/{a}.test.ts\n  ● {name}\n\n    expect(1).toBe(2)\n\nTests:       1 failed, 8 passed, 9 total"
                );
                ("npx jest", name, failed, String::from("PASS src/a.test.ts\nTests:       9 passed, 9 total"))
            }
        };
        self.shell(speech, command, if fails { &failed } else { &passed });
        self.facts.failing = if fails { vec![name] } else { Vec::new() };
    }

    fn commit(&mut self, speech: &str) {
        let hash = format!("{:07x}", (self.dice.roll(1 << 24) << 4) + 1);
        let subject = format!("Fix the {} of the {}", self.dice.words(2), self.dice.words(1));
        let output = format!("[main {hash}] {subject}\n 2 files changed, 4 insertions(+), 1 deletion(-)");
        self.shell(speech, &format!("git add -A && git commit -m \"{subject}\""), &output);
        self.facts.commits.push(hash);
    }
}

/// Mean shares of what was found, kind by kind.
#[derive(Default)]
struct Scores(Vec<(&'static str, Vec<f64>)>);

impl Scores {
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    fn add(&mut self, kind: &'static str, found: usize, of: usize) {
        let share = if of == 0 { return } else { found as f64 / of as f64 };
        match self.0.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, shares)) => shares.push(share),
            None => self.0.push((kind, vec![share])),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    fn mean(&self, kind: &str) -> f64 {
        let shares = &self.0.iter().find(|(known, _)| *known == kind).unwrap_or_else(|| panic!("no {kind}")).1;
        shares.iter().sum::<f64>() / shares.len() as f64
    }
}

/// The first `count` characters of a text.
fn start(text: &str, count: usize) -> String {
    text.chars().take(count).collect()
}

/// The last `count` characters of a text.
fn end(text: &str, count: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    letters[letters.len().saturating_sub(count)..].iter().collect()
}

/// The folder that the line of changed files is below, if it names one.
fn root(summary: &str) -> &str {
    let line = summary.lines().find(|line| line.starts_with("Changed")).unwrap_or_default();
    line.split_once(" below ").and_then(|(_, rest)| rest.split_once(" [m")).map_or("", |(root, _)| root)
}

fn measure(scores: &mut Scores, facts: &Facts, summary: &str) {
    let holds = |text: &str| summary.contains(text);
    let count = |list: &mut dyn Iterator<Item = bool>| list.filter(|held| *held).count();
    let name = |path: &String| path.rsplit('/').next().unwrap().to_owned();
    let root = root(summary);
    let whole = |path: &String| holds(path) || !root.is_empty() && path.strip_prefix(root).is_some_and(holds);
    scores.add("names", count(&mut facts.changed.iter().map(name).map(|name| holds(&name))), facts.changed.len());
    scores.add("paths", count(&mut facts.changed.iter().map(whole)), facts.changed.len());
    scores.add("failing", count(&mut facts.failing.iter().map(String::as_str).map(holds)), facts.failing.len());
    scores.add("commits", count(&mut facts.commits.iter().map(String::as_str).map(holds)), facts.commits.len());
    scores.add("open", count(&mut facts.open.iter().map(|item| holds(&start(item, 40)))), facts.open.len());
    scores.add("asked", count(&mut facts.asked.iter().map(|text| holds(&start(text, 40)))), facts.asked.len());
    scores.add("said", usize::from(holds(&end(&facts.last_text, 40))), 1);
    scores.add("false errors", usize::from(facts.source.iter().any(|line| line.len() > 12 && holds(line))), 1);
    scores.add("code", usize::from(facts.code.iter().any(|line| holds(line))), 1);
    let cut = |word: &str| word.contains('/') && word.trim_end_matches([',', ')']).ends_with('…');
    scores.add("cut paths", usize::from(summary.split_whitespace().any(cut)), 1);
}

/// The newest summary of every session, with its tokens.
fn summaries(sessions: &[Session]) -> Vec<String> {
    let place = Place::new();
    let records: String =
        sessions.iter().map(|session| json!({"messages": session.messages}).to_string() + "\n").collect();
    place.write("sessions.jsonl", records.as_bytes());
    let tokens = TOKENS.to_string();
    let output = place
        .curtail(&["summarize", "--emit", "state", "--summary-tokens", &tokens, "sessions.jsonl"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let newest = |line: &str| {
        let state: Value = serde_json::from_str(line).unwrap();
        state["summaries"].as_array().unwrap().last().expect("a summary")["text"].as_str().unwrap().to_owned()
    };
    text.lines().map(newest).collect()
}

#[test]
fn summaries_of_work_contain_what_the_next_agent_needs() {
    let sessions: Vec<Session> = (1..=SESSIONS).map(Session::new).collect();
    let summaries = summaries(&sessions);
    let mut scores = Scores::default();
    for (session, summary) in sessions.iter().zip(&summaries) {
        let tokens = tiktoken_rs::o200k_base_singleton().encode_ordinary(summary).len();
        assert!(tokens <= TOKENS, "{tokens} tokens:\n{summary}");
        measure(&mut scores, &session.facts, summary);
    }
    let means: Vec<String> = scores.0.iter().map(|(kind, _)| format!("{kind} {:.3}", scores.mean(kind))).collect();
    let means = means.join(", ");
    println!("{means}");
    for (kind, floor) in [
        ("names", 0.95),
        ("paths", 0.75),
        ("failing", 0.8),
        ("commits", 0.95),
        ("open", 0.95),
        ("asked", 0.8),
        ("said", 0.9),
    ] {
        assert!(scores.mean(kind) >= floor, "{kind}: {means}\n{}", summaries[0]);
    }
    for (kind, ceiling) in [("false errors", 0.02), ("code", 0.02), ("cut paths", 0.0)] {
        assert!(scores.mean(kind) <= ceiling, "{kind}: {means}\n{}", summaries[0]);
    }
}
