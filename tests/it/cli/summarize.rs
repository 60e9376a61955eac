//! `curtail summarize` as a user runs it: the binary, real files, a real store, real processes.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use crate::program::command;
use crate::server::{Reply, Server};
use serde_json::{Value, json};

/// `curtail summarize` in `folder`, at the time 0.
fn curtail(folder: &Path) -> Command {
    let mut command = command(folder, &["summarize"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).env("SOURCE_DATE_EPOCH", "0");
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    curtail(folder).args(arguments).output().expect("the binary runs")
}

/// Standard output of a run that must succeed.
fn good(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", words(&output.stderr));
    words(&output.stdout)
}

/// Standard error of a run that must fail with status 2 and write nothing.
fn bad(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert_eq!((output.status.code(), words(&output.stdout).as_str()), (Some(2), ""), "{arguments:?}");
    words(&output.stderr)
}

fn words(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn message(n: usize) -> String {
    let role = if n % 2 == 1 { "user" } else { "assistant" };
    json!({"role": role, "content": format!("Message {n} decides to fix file{n}.rs.")}).to_string()
}

const SYSTEM: &str = "{\"role\": \"system\",  \"content\": \"Be terse.\"}\n";

/// A conversation after instructions.
fn chat(folder: &Path, messages: usize) -> PathBuf {
    let path = folder.join(format!("chat{messages}.jsonl"));
    let lines: Vec<String> = (1..=messages).map(|n| message(n) + "\n").collect();
    fs::write(&path, SYSTEM.to_owned() + &lines.concat()).expect("it can be written");
    path
}

fn name(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn ranges(state: &str) -> Vec<(u64, u64)> {
    let state: Value = serde_json::from_str(state).expect("JSON");
    let summaries = state["summaries"].as_array().expect("a list");
    let number = |range: &Value, name: &str| range["range"][name].as_u64().expect("a number");
    summaries.iter().map(|summary| (number(summary, "startIndex"), number(summary, "endIndex"))).collect()
}

#[test]
fn the_example_of_85_messages_comes_out_to_the_number() {
    let folder = folder();
    for (messages, expected, first) in [
        (1, &[][..], 1),
        (21, &[], 1),
        (22, &[(2, 22)], 2),
        (43, &[(2, 22), (23, 43)], 23),
        (64, &[(2, 22), (23, 43), (44, 64)], 44),
        (85, &[(23, 43), (44, 64), (65, 85)], 65),
    ] {
        let chat = chat(folder.path(), messages);
        let state = good(folder.path(), &["--emit", "state", name(&chat)]);
        assert_eq!(ranges(&state), expected, "{messages} messages");
        let state: Value = serde_json::from_str(&state).expect("JSON");
        let held = state["interactions"].as_array().expect("a list");
        assert_eq!(held.len(), messages - first + 1, "{messages} messages");
        let side = if first % 2 == 1 { "userRequest" } else { "aiResponse" };
        assert_eq!(held[0][side].to_string(), message(first));
        assert_eq!(held[0]["ts"], "1970-01-01T00:00:00.000Z");
    }
}

#[test]
fn the_context_is_instructions_summaries_and_the_window() {
    let folder = folder();
    let chat = chat(folder.path(), 85);
    let text = fs::read_to_string(&chat).expect("it was written");
    let context = good(folder.path(), &[name(&chat)]);
    let lines: Vec<&str> = context.lines().collect();
    assert_eq!(lines.len(), 1 + 1 + 21);
    assert_eq!(format!("{}\n", lines[0]), SYSTEM, "kept byte for byte");
    assert_eq!(lines[2..].join("\n") + "\n", text.lines().skip(65).collect::<Vec<_>>().join("\n") + "\n");
    let block: Value = serde_json::from_str(lines[1]).expect("JSON");
    let block = block["content"].as_str().expect("text");
    let place = |from: usize| block.find(&format!("<summary from=\"{from}\"")).expect("a summary");
    assert!(
        block.starts_with("<conversation_summaries next=\"65\">") && place(65) < place(44) && place(44) < place(23)
    );
    fs::write(&chat, &context).expect("it can be written");
    assert_eq!(good(folder.path(), &[name(&chat)]), context, "once more changes nothing");
}

/// The context contains everything that later runs need: with new messages appended, it gives the same result as the whole.
#[test]
fn a_context_can_be_summarized_further() {
    let folder = folder();
    let whole = good(folder.path(), &[name(&chat(folder.path(), 90))]);
    let part = good(folder.path(), &[name(&chat(folder.path(), 70))]);
    let more: Vec<String> = (71..=90).map(|n| message(n) + "\n").collect();
    let path = folder.path().join("more.jsonl");
    fs::write(&path, part + &more.concat()).expect("it can be written");
    assert_eq!(good(folder.path(), &[name(&path)]), whole);
}

const TOOLS: &str = r#"{"role":"user","content":"Look at a.rs and b.rs, please."}
{"role":"assistant","content":"I will read both.","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a.rs\"}"}},{"id":"c2","type":"function","function":{"name":"read","arguments":"{\"path\":\"b.rs\"}"}}]}
{"role":"tool","tool_call_id":"c1","content":"fn a() {}"}
{"role":"tool","tool_call_id":"c2","content":"error: b.rs is missing"}
{"role":"assistant","content":"b.rs is missing, so I decided to write it."}
{"role":"assistant","content":null,"tool_calls":[{"id":"c3","type":"function","function":{"name":"write","arguments":"{\"path\":\"b.rs\"}"}}]}
{"role":"tool","tool_call_id":"c3","content":"ok"}
{"role":"assistant","content":"Done."}
{"role":"user","content":"Thanks."}
{"role":"assistant","content":"And tests?","tool_calls":[{"id":"c4","type":"function","function":{"name":"test","arguments":"{}"}}]}
"#;

#[test]
fn calls_and_results_travel_with_what_was_said() {
    let folder = folder();
    let path = folder.path().join("tools.jsonl");
    fs::write(&path, TOOLS).expect("it can be written");
    let state = good(folder.path(), &["-n", "2", "--emit", "state", name(&path)]);
    assert_eq!(ranges(&state), [(2, 3), (4, 5)]);
    let state: Value = serde_json::from_str(&state).expect("JSON");
    let reported = state["summaries"][0]["text"].as_str().expect("text");
    assert!(reported.contains("tool read: error: b.rs is missing"), "{reported}");
    assert!(reported.contains("Goal [m0]: Look at a.rs"), "the first message stays: {reported}");
    let done = &state["interactions"][0];
    assert_eq!((&done["aiResponse"]["content"], done["rest"].as_array().map(Vec::len)), (&json!("Done."), Some(2)));
    let pending_id = &state["pending"][0]["tool_calls"][0]["id"];
    assert_eq!(pending_id, "c4", "what waits for a result is no interaction yet");
    let context = good(folder.path(), &["-n", "2", name(&path)]);
    let kept: Vec<&str> = context.lines().skip(1).collect();
    assert_eq!(kept, TOOLS.lines().skip(5).collect::<Vec<_>>());
}

#[test]
fn an_exchange_is_a_request_and_all_that_answers_it() {
    let folder = folder();
    let path = folder.path().join("tools.jsonl");
    fs::write(&path, TOOLS).expect("it can be written");
    let state = good(folder.path(), &["-n", "3", "--unit", "exchange", "--emit", "state", name(&path)]);
    let state: Value = serde_json::from_str(&state).expect("JSON");
    let held = state["interactions"].as_array().expect("a list");
    assert_eq!(held.len(), 1, "the second waits for a result: {state}");
    assert_eq!(held[0]["userRequest"]["content"], "Look at a.rs and b.rs, please.");
    assert_eq!(held[0]["aiResponse"]["content"], "Done.");
    assert_eq!(held[0]["rest"].as_array().map(Vec::len), Some(6));
    assert_eq!(state["pending"].as_array().map(Vec::len), Some(2));
}

/// Takes `messages` one by one into a store, each by a process of its own.
#[test]
fn message_by_message_is_all_in_one_go() {
    let folder = folder();
    for unit in ["message", "exchange"] {
        let shape = ["-n", "4", "--max-summaries", "2", "--unit", unit, "--emit", "state"];
        for upto in [3, 9, 21] {
            let id = format!("{unit}{upto}");
            let mut last = String::new();
            for n in 0..=upto {
                let one = folder.path().join("one.jsonl");
                let text = if n == 0 { SYSTEM.to_owned() } else { message(n) };
                fs::write(&one, text).expect("it can be written");
                let thread = [&shape[..], &["--store", "s.db", "--thread", &id, name(&one)]].concat();
                last = good(folder.path(), &thread);
            }
            let whole = chat(folder.path(), upto);
            assert_eq!(last, good(folder.path(), &[&shape[..], &[name(&whole)]].concat()), "{upto} by {unit}");
            let as_context = ["-n", "4", "--max-summaries", "2", "--unit", unit];
            let kept = good(folder.path(), &[&as_context[..], &["--store", "s.db", "--thread", &id]].concat());
            assert_eq!(kept, good(folder.path(), &[&as_context[..], &[name(&whole)]].concat()), "{upto} by {unit}");
        }
    }
}

/// A process that is killed has appended its message or it has not: appending it again, with its number, is right either way.
#[test]
fn a_killed_process_loses_nothing() {
    let folder = folder();
    let shape = ["-n", "3", "--max-summaries", "2", "--emit", "state"];
    let thread = [&shape[..], &["--store", "s.db", "--thread", "t"]].concat();
    for n in 0..=24 {
        let one = folder.path().join("one.jsonl");
        let text = if n == 0 { SYSTEM.to_owned() } else { message(n) };
        fs::write(&one, text).expect("it can be written");
        let number = (n + 1).to_string();
        let append = [&thread[..], &["--from", &number, name(&one)]].concat();
        let mut child = curtail(folder.path()).args(&append).spawn().expect("the binary runs");
        std::thread::sleep(Duration::from_millis((n as u64 * 5) % 23));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        good(folder.path(), &append);
    }
    let whole = chat(folder.path(), 24);
    let state = good(folder.path(), &[&thread[..], &["--from", "1", name(&whole)]].concat());
    assert_eq!(state, good(folder.path(), &[&shape[..], &[name(&whole)]].concat()));
}

#[test]
fn processes_side_by_side_lose_nothing() {
    let folder = folder();
    for n in 1..=24 {
        fs::write(folder.path().join(format!("{n}.jsonl")), message(n)).expect("it can be written");
    }
    let append = |n: usize| -> Child {
        let arguments = ["-n", "5", "--store", "s.db", "--thread", "t", "--emit", "state"];
        curtail(folder.path()).args(arguments).arg(format!("{n}.jsonl")).spawn().expect("the binary runs")
    };
    for round in 0..6 {
        let children: Vec<Child> = (1..=4).map(|k| append(round * 4 + k)).collect();
        for child in children {
            let output = child.wait_with_output().expect("it ends");
            assert!(output.status.success(), "{}", words(&output.stderr));
        }
    }
    let state = good(folder.path(), &["-n", "5", "--store", "s.db", "--thread", "t", "--emit", "state"]);
    assert_eq!(ranges(&state), [(7, 11), (12, 16), (17, 21)]);
    let why = bad(folder.path(), &["--store", "s.db", "--thread", "t", "--from", "26", "1.jsonl"]);
    assert!(why.contains("1.jsonl: the thread has 24 messages, so --from 26 would skip messages 25 to 25"), "{why}");
}

#[test]
fn messages_with_ids_are_known_again() {
    let folder = folder();
    let message = |n: usize| format!("{{\"id\":\"m{n}\",\"role\":\"user\",\"content\":\"Say {n}.\"}}\n");
    let thread = ["-n", "2", "--store", "s.db", "--thread", "t", "--emit", "state"];
    let mut last = String::new();
    for upto in [1, 3, 3, 6] {
        let path = folder.path().join("log.jsonl");
        fs::write(&path, (1..=upto).map(message).collect::<String>()).expect("it can be written");
        last = good(folder.path(), &[&thread[..], &[name(&path)]].concat());
    }
    assert_eq!(ranges(&last), [(2, 3), (4, 5)]);
    let state: Value = serde_json::from_str(&last).expect("JSON");
    assert_eq!(state["summaries"][1]["range"], json!({"startIndex": 4, "endIndex": 5, "startId": "m4", "endId": "m5"}));
    assert_eq!(state["interactions"][1]["userRequest"]["id"], "m6");
}

#[test]
fn a_growing_log_is_followed() {
    let folder = folder();
    let path = folder.path().join("log.jsonl");
    fs::write(&path, message(1) + "\n" + &message(2)[..9]).expect("it can be written");
    let arguments =
        ["-n", "2", "--follow", "--emit", "state", "--store", "s.db", "--thread", "t", "--from", "1", name(&path)];
    let out = folder.path().join("out");
    let file = fs::File::create(&out).expect("it can be made");
    let mut child = curtail(folder.path()).args(arguments).stdout(file).spawn().expect("the binary runs");
    let wait_for = |lines: usize| {
        crate::program::wait_until(&format!("{lines} lines"), || {
            fs::read_to_string(&out).map_or(0, |text| text.lines().count()) >= lines
        });
    };
    wait_for(1);
    let mut log = fs::OpenOptions::new().append(true).open(&path).expect("it is there");
    let rest = message(2)[9..].to_owned() + "\n" + &message(3) + "\n";
    log.write_all(rest.as_bytes()).expect("it can be written");
    wait_for(2);
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let text = fs::read_to_string(&out).expect("it was written");
    let last = text.lines().last().expect("a line");
    assert_eq!(ranges(last), [(2, 3)]);
    let kept = good(folder.path(), &["-n", "2", "--emit", "state", "--store", "s.db", "--thread", "t"]);
    assert_eq!(kept.trim_end(), last);
}

#[test]
fn a_failing_summarizer_loses_nothing() {
    let folder = folder();
    let chat = chat(folder.path(), 22);
    let failing = ["--summarizer-cmd", "sh -c 'echo too tired >&2; exit 7'"];
    let why = bad(folder.path(), &[&failing[..], &[name(&chat)]].concat());
    for part in [name(&chat), "cannot summarize interactions 2 to 22", "exit status: 7", "too tired"] {
        assert!(why.contains(part), "{part}: {why}");
    }
    let before = fs::read(&chat).expect("it was written");
    bad(folder.path(), &[&failing[..], &["--in-place", name(&chat)]].concat());
    assert_eq!(fs::read(&chat).expect("it is still there"), before);
    let thread = ["--store", "s.db", "--thread", "t"];
    bad(folder.path(), &[&failing[..], &thread, &[name(&chat)]].concat());
    assert_eq!(
        good(folder.path(), &[&thread[..], &["--emit", "state"]].concat()),
        "{\"interactions\":[],\"summaries\":[]}\n"
    );
    let output = run(folder.path(), &[&failing[..], &["--on-summary-error", "extractive", name(&chat)]].concat());
    assert!(output.status.success());
    assert!(words(&output.stderr).contains("command failed, so extractive summarizes instead"));
    assert_eq!(words(&output.stdout), good(folder.path(), &[name(&chat)]));
}

#[test]
fn a_server_is_asked_and_a_key_is_never_shown() {
    let folder = folder();
    let chat = chat(folder.path(), 22);
    fs::write(folder.path().join("key"), "sk-secret").expect("it can be written");
    let answer = json!({"choices": [{"message": {"content": "All files are fixed."}}]}).to_string();
    let server = Server::with_replies(vec![Reply::ok(answer)]);
    let endpoint = format!("{}/v1", server.address);
    let ask = ["--summarizer", "openai", "--endpoint", &endpoint, "--summary-model", "m", "--api-key-file", "key"];
    let shown = good(folder.path(), &[&ask[..], &["--dry-run", name(&chat)]].concat());
    assert!(shown.contains("openai summarizes 2 to 22") && shown.contains("tokens to http://127.0.0.1"), "{shown}");
    assert!(server.received().is_empty() && !shown.contains("sk-secret"));
    for _ in 0..2 {
        let context = good(folder.path(), &[&ask[..], &["--cache", "kept", name(&chat)]].concat());
        assert!(context.contains("All files are fixed."), "{context}");
    }
    let received = server.received();
    assert_eq!(received.len(), 1, "the second time it is in the folder");
    assert!(shown.ends_with(&format!("{}\n", received[0].body)), "what was shown is what was sent");
}

#[test]
fn flags_that_would_do_nothing_are_mistakes() {
    let folder = folder();
    let chat = chat(folder.path(), 3);
    let object = "expected a JSON object";
    for (flags, part) in [
        (&["--summarizer", "openai"][..], "needs --summary-model"),
        (&["--summarizer", "openai", "--summary-model", "m"], "needs a key: set OPENAI_API_KEY"),
        (&["--summarizer", "anthropic", "--summary-model", "m"], "needs a key: set ANTHROPIC_API_KEY"),
        (&["--summarizer", "command"], "needs --summarizer-cmd"),
        (&["--timeout", "5"], "--timeout needs --summarizer openai, anthropic or command"),
        (&["--extra-body", "{}"], "--extra-body needs --summarizer openai or anthropic"),
        (&["--extra-body", "[]"], object),
        (&["--extra-body", "{"], object),
        (&["--timeout", "0"], "seconds above 0"),
        (&["--window", "0"], "--window"),
        (&["--from", "1"], "--thread"),
        (&["--repair", "drop", "--emit", "state"], "--repair cannot be used with --emit state"),
        (&["--in-place", "--thread", "t"], "--in-place cannot be used with --thread"),
        (&["--dialect", "klingon", "--thread", "t"], "klingon"),
        (&["--thread", ""], "--thread needs a name"),
    ] {
        let why = bad(folder.path(), &[flags, &[name(&chat)]].concat());
        assert!(why.contains(part), "{flags:?}: {why}");
    }
}

#[test]
fn the_prompt_can_be_seen_and_replaced() {
    let folder = folder();
    let prompt = good(folder.path(), &["--print-prompt"]);
    assert!(bad(folder.path(), &["--prompt", "/no/such/file", "--print-prompt"]).contains("/no/such/file"));
    assert!(
        ["Goal", "Constraints", "Done", "Blocked", "Decisions", "Next", "facts", "data"]
            .iter()
            .all(|word| prompt.contains(word))
    );
    fs::write(folder.path().join("mine"), "Just {tokens} tokens.").expect("it can be written");
    assert_eq!(good(folder.path(), &["--print-prompt", "--prompt", "mine"]), "Just {tokens} tokens.");
}

#[test]
fn many_transcripts_are_summarized_each_by_itself() {
    let folder = folder();
    let record = |messages: usize| {
        let list: Vec<String> = (1..=messages).map(message).collect();
        format!("{{\"id\":{messages},\"messages\":[{}]}}\n", list.join(","))
    };
    let path = folder.path().join("set.jsonl");
    fs::write(&path, [3, 22, 85, 21].map(record).concat()).expect("it can be written");
    let states = good(folder.path(), &["--emit", "state", name(&path)]);
    let counts: Vec<usize> = states.lines().map(|line| ranges(line).len()).collect();
    assert_eq!(counts, [0, 1, 3, 0]);
    let contexts = good(folder.path(), &[name(&path)]);
    let lines: Vec<&str> = contexts.lines().collect();
    assert_eq!((lines.len(), lines[0], lines[3]), (4, record(3).trim_end(), record(21).trim_end()));
    for jobs in ["1", "2", "8"] {
        assert_eq!(good(folder.path(), &["--jobs", jobs, name(&path)]), contexts);
        assert_eq!(good(folder.path(), &["--jobs", jobs, "--emit", "state", name(&path)]), states);
    }
    good(folder.path(), &["-O", "out", name(&path)]);
    assert_eq!(fs::read_to_string(folder.path().join("out/set.jsonl")).expect("it was written"), contexts);
}

/// A model does not read what is before a compaction: the summaries are written after it.
#[test]
fn summaries_follow_the_compaction_in_front_of_the_window() {
    let folder = folder();
    let message = |role: &str, kind: &str, text: &str| {
        format!(
            "{{\"type\":\"message\",\"role\":\"{role}\",\"content\":[{{\"type\":\"{kind}\",\"text\":\"{text}\"}}]}}\n"
        )
    };
    let compaction = "{\"type\":\"compaction\",\"id\":\"cmp_1\",\"encrypted_content\":\"gAAAA\"}\n";
    let window = message("user", "input_text", "Second?") + &message("assistant", "output_text", "Done.");
    fs::write(folder.path().join("items.jsonl"), message("user", "input_text", "First?") + compaction + &window)
        .unwrap();
    let once = good(folder.path(), &["-n", "2", "items.jsonl"]);
    assert!(once.starts_with(compaction) && once.ends_with(&window), "{once}");
    let block = once.lines().nth(1).expect("there are four lines");
    assert!(block.contains("onversation_summaries") && once.lines().count() == 4, "{once}");
    fs::write(folder.path().join("once.jsonl"), &once).unwrap();
    assert_eq!(good(folder.path(), &["-n", "2", "once.jsonl"]), once);
    // Where an older version had written the summaries before the compaction, they move.
    let lines: Vec<&str> = once.lines().collect();
    let moved = [lines[1], lines[0], lines[2], lines[3]].map(|line| format!("{line}\n")).concat();
    fs::write(folder.path().join("moved.jsonl"), &moved).unwrap();
    let more = good(folder.path(), &["-n", "2", "moved.jsonl"]);
    assert_eq!(more.matches("onversation_summaries next").count(), 1, "{more}");
}

#[test]
fn a_record_that_fails_is_skipped_in_states_as_in_cuts() {
    let folder = tempfile::tempdir().unwrap();
    let record = r#"{"messages":[{"role":"user","content":"Hi."},{"role":"assistant","content":"Hello."}]}"#;
    fs::write(folder.path().join("in.jsonl"), format!("{record}\n{{\"messages\":\"none\"}}\n{record}\n")).unwrap();
    for output in [&["--emit", "state"][..], &["--handoff"]] {
        let arguments = [output, &["--on-error", "skip", "in.jsonl"]].concat();
        let done = run(folder.path(), &arguments);
        assert!(done.status.success() && words(&done.stderr).contains("in.jsonl:2:1"), "{}", words(&done.stderr));
        assert_eq!(run(folder.path(), &[output, &["in.jsonl"]].concat()).status.code(), Some(2));
    }
}

#[test]
fn a_summary_without_tokens_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = bad(folder.path(), &["--summary-tokens", "0", "in.jsonl"]);
    assert_eq!(error, "error: --summary-tokens must be at least 1\n");
}
