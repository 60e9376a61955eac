//! Facts where the program shows them: in summaries, in the state, on the page for the next session.

use curtail_core::dialects::{Framing, Reading};
use curtail_core::transcript::Pairs;
use curtail_facts::Facts;

use serde_json::{Value, json};

use crate::program::Place;

/// A transcript in the making.
#[derive(Default)]
struct Log {
    lines: String,
    calls: usize,
}

impl Log {
    fn message(mut self, role: &str, text: &str) -> Self {
        self.lines += &(json!({"role": role, "content": text}).to_string() + "\n");
        self
    }

    fn calls(mut self, name: &str, arguments: &serde_json::Value, result: &str) -> Self {
        self.calls += 1;
        let id = format!("c{}", self.calls);
        let call =
            json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}});
        self.lines += &(json!({"role": "assistant", "content": null, "tool_calls": [call]}).to_string() + "\n");
        self.lines += &(json!({"role": "tool", "tool_call_id": id, "content": result}).to_string() + "\n");
        self
    }

    fn runs(self, command: &str, result: &str) -> Self {
        self.calls("bash", &json!({"command": command}), result)
    }

    fn edits(self, path: &str, old: &str, new: &str) -> Self {
        self.calls("Edit", &json!({"file_path": path, "old_string": old, "new_string": new}), "ok")
    }

    /// The ledger of all messages, read in parts of `part` messages.
    fn ledger(&self, part: usize) -> Facts {
        let reading = Reading::new(Framing::Lines, None, None).unwrap();
        let document = reading.parse(&self.lines).unwrap();
        let read = reading.transcripts(&document).unwrap();
        let messages = &read[0].1.messages;
        let pairs = Pairs::from_messages(messages);
        let mut ledger = Facts::default();
        for start in (0..messages.len()).step_by(part) {
            ledger.read_range(messages, &pairs, start..(start + part).min(messages.len()));
        }
        ledger
    }

    fn whole(&self) -> Facts {
        self.ledger(usize::MAX >> 1)
    }
}

fn long() -> Log {
    let mut log = Log::default().message("user", "Make the export faster.");
    for n in 0..12 {
        log = log
            .message("assistant", &format!("Step {n}."))
            .edits(&format!("/r/src/part{n}/file{n}.rs"), "x", &format!("y{n}"))
            .runs("cargo test", &format!("test a::t{n} ... FAILED\ntest result: FAILED. 0 passed; 1 failed"))
            .runs("git commit -am x", &format!("[main 1a2b3c{n:x}] Step {n}"))
            .message("user", &format!("No, use number {n} instead."));
    }
    log.calls("update_plan", &json!({"plan": [{"step": "Measure", "status": "pending"}]}), "ok")
}

/// Standard output of `curtail` with these arguments.
fn stdout_of(place: &Place, arguments: &[&str]) -> String {
    let output = place.curtail(arguments).env("SOURCE_DATE_EPOCH", "0").output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn state(place: &Place, arguments: &[&str]) -> Value {
    let arguments = [&["summarize", "--emit", "state"], arguments].concat();
    serde_json::from_str(&stdout_of(place, &arguments)).unwrap()
}

/// The fourth summary knows what only the first one covered, in one go, in a store, and where only the text is left.
#[test]
fn facts_survive_the_fourth_summary() {
    let place = Place::new();
    let log = long();
    place.write("log.jsonl", log.lines.as_bytes());
    let whole = state(&place, &["-n", "5", "--summary-tokens", "1200", "log.jsonl"]);
    let summaries = whole["summaries"].as_array().unwrap();
    let newest = summaries.last().unwrap();
    assert_eq!(newest["range"]["startIndex"], 17);
    let ledger = &newest["ledger"];
    assert_eq!(ledger["goal"], json!({"text": "Make the export faster.", "message": 0}));
    assert_eq!(ledger["changed"][0]["path"], "/r/src/part0/file0.rs");
    assert_eq!(ledger["commits"][0]["hash"], "1a2b3c0");
    assert!(summaries[0].get("ledger").is_none(), "only the newest has them");
    let text = newest["text"].as_str().unwrap();
    for part in ["Goal [m0]: Make the export faster.", "below /r/src/", "part0/file0.rs", "1a2b3c0 Step 0"] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    for (nth, line) in log.lines.lines().enumerate() {
        place.write("one.jsonl", format!("{line}\n").as_bytes());
        let thread = ["-n", "5", "--summary-tokens", "1200", "--store", "s.db", "--thread", "t", "one.jsonl"];
        if nth + 1 < log.lines.lines().count() {
            state(&place, &thread);
        } else {
            assert_eq!(state(&place, &thread), whole);
        }
    }
    let beginning: String = log.lines.lines().take(50).flat_map(|line| [line, "\n"]).collect();
    place.write("half.jsonl", beginning.as_bytes());
    let context = stdout_of(&place, &["summarize", "-n", "5", "--summary-tokens", "1200", "half.jsonl"]);
    let rest: String = log.lines.lines().skip(50).flat_map(|line| [line, "\n"]).collect();
    place.write("context.jsonl", (context + &rest).as_bytes());
    let later = state(&place, &["-n", "5", "--summary-tokens", "1200", "context.jsonl"]);
    let recalled = &later["summaries"].as_array().unwrap().last().unwrap()["ledger"];
    assert_eq!(recalled["goal"], ledger["goal"]);
    assert_eq!(recalled["messages"], ledger["messages"], "messages are numbered on");
    let paths = |ledger: &Value| {
        ledger["changed"].as_array().unwrap().iter().map(|change| change["path"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(paths(recalled), paths(ledger));
}

#[test]
fn a_pointer_leads_to_the_message() {
    let place = Place::new();
    let log = long();
    place.write("log.jsonl", log.lines.as_bytes());
    let change = &log.whole().changed[3];
    let number = change.at.message.unwrap().to_string();
    let shown = stdout_of(&place, &["show", "--message", &number, "log.jsonl"]);
    assert!(shown.contains(&change.path), "{shown}");
    assert_eq!(shown.trim_end(), log.lines.lines().nth(change.at.message.unwrap()).unwrap());
    // A summary writes `[m4]`.
    assert_eq!(stdout_of(&place, &["show", "--message", &format!("m{number}"), "log.jsonl"]), shown);
    place.write("ids.jsonl", b"{\"id\":\"a\",\"role\":\"user\",\"content\":\"x\"}\n{\"id\":\"b\",\"role\":\"assistant\",\"content\":\"y\"}\n");
    let two = stdout_of(&place, &["show", "--message", "b", "--message", "0", "ids.jsonl"]);
    assert_eq!(
        two,
        "{\"id\":\"b\",\"role\":\"assistant\",\"content\":\"y\"}\n{\"id\":\"a\",\"role\":\"user\",\"content\":\"x\"}\n"
    );
    // Several records of one reply have its id.
    place.write("same.jsonl", b"{\"id\":\"a\",\"role\":\"assistant\",\"content\":\"x\"}\n{\"id\":\"a\",\"role\":\"assistant\",\"content\":\"y\"}\n");
    assert_eq!(stdout_of(&place, &["show", "--message", "a", "same.jsonl"]).lines().count(), 2);
    let output = place.curtail(&["show", "--message", "9", "ids.jsonl"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(error.contains("ids.jsonl: no message 9 found; messages are numbered 0 to 1"), "{error}");
    // Of several transcripts, one may have it.
    let long = "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"assistant\",\"content\":\"y\"}]}\n";
    place.write("two.jsonl", format!("{long}{{\"messages\":[{{\"role\":\"user\",\"content\":\"z\"}}]}}\n").as_bytes());
    let second = stdout_of(&place, &["show", "--message", "1", "two.jsonl"]);
    assert_eq!(second, "{\"role\":\"assistant\",\"content\":\"y\"}\n");
    let output = place.curtail(&["show", "--message", "2", "two.jsonl"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), error.matches("no message 2 found").count()), (Some(2), 1), "{error}");
}

#[test]
fn a_page_for_the_next_session_has_all_sections() {
    let place = Place::new();
    place.write("log.jsonl", long().message("assistant", "Shall I push it?").lines.as_bytes());
    let page = stdout_of(&place, &["summarize", "--handoff", "log.jsonl"]);
    for part in [
        "# Handoff\n",
        "## Goal\n\n- Make the export faster. [m0]\n",
        "## Asked since, newest first\n\n- No, use number 11 instead.",
        "## Changed files\n\n- `/r/src/part11/file11.rs`",
        "## Commits, newest first\n\n- `1a2b3cb` Step 11",
        "- fails: a::t11",
        "- [ ] Measure",
        "- unanswered: Shall I push it?",
    ] {
        assert!(page.contains(part), "{part}:\n{page}");
    }
    for flags in [&["--emit", "state"][..], &["--thread", "t"], &["-i"]] {
        let arguments = [&["summarize", "--handoff", "log.jsonl"], flags].concat();
        assert_eq!(place.curtail(&arguments).output().unwrap().status.code(), Some(2), "{flags:?}");
    }
}

/// Few messages with many tokens are summarized too, and the window keeps within its tokens.
#[test]
fn tokens_trigger_summaries() {
    let place = Place::new();
    let talk = |count: usize| {
        let line = |n: usize| {
            let role = if n % 2 == 1 { "user" } else { "assistant" };
            json!({"role": role, "content": format!("Message {n} says: {}", "word ".repeat(100))}).to_string() + "\n"
        };
        (1..=count).map(line).collect::<String>()
    };
    place.write("talk.jsonl", talk(12).as_bytes());
    assert_eq!(state(&place, &["talk.jsonl"])["summaries"], json!([]));
    let flags = ["--trigger-tokens", "450", "--summary-tokens", "60"];
    let whole = state(&place, &[&flags[..], &["talk.jsonl"]].concat());
    let ranges: Vec<(u64, u64)> = whole["summaries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|summary| {
            (summary["range"]["startIndex"].as_u64().unwrap(), summary["range"]["endIndex"].as_u64().unwrap())
        })
        .collect();
    assert_eq!(ranges, [(1, 5), (6, 10)]);
    assert_eq!(whole["interactions"].as_array().unwrap().len(), 4);
    for line in talk(12).lines() {
        place.write("one.jsonl", format!("{line}\n").as_bytes());
        let last = state(&place, &[&flags[..], &["--store", "s.db", "--thread", "t", "one.jsonl"]].concat());
        if line.contains("Message 12 ") {
            assert_eq!(last, whole, "one by one");
        }
    }
    let context = stdout_of(&place, &[&["summarize"], &flags[..], &["talk.jsonl"]].concat());
    assert_eq!(context.lines().count(), 5);
    place.write("context.jsonl", context.as_bytes());
    assert_eq!(stdout_of(&place, &[&["summarize"], &flags[..], &["context.jsonl"]].concat()), context, "twice is once");
}
