//! `curtail replay` on sessions that were computed by hand, and properties of every session.

mod figures;

use serde_json::{Value, json};

use crate::program::{Place, text};

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

/// `count` tokens.
fn tokens(letter: char, count: usize) -> String {
    vec![letter.to_string(); count].join(" ")
}

fn entry(role: &str, content: &str, second: usize) -> String {
    let time = format!("2026-01-01T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60);
    json!({"role": role, "content": content, "timestamp": time, "model": "m"}).to_string() + "\n"
}

/// Three questions of 100 tokens and three answers of 10; the answers at these seconds.
fn chat(seconds: [usize; 3]) -> String {
    let rounds = ['a', 'b', 'c'].into_iter().zip(seconds);
    rounds
        .map(|(letter, at)| entry("user", &tokens(letter, 100), at) + &entry("assistant", &tokens('d', 10), at))
        .collect()
}

/// A folder with a log and with [`PRICES`].
fn place_with(name: &str, log: &str) -> Place {
    let place = Place::new();
    place.write(name, log.as_bytes());
    place.write("prices.toml", PRICES.as_bytes());
    place
}

/// What `curtail replay` prints with these arguments.
fn printed(place: &Place, arguments: &[&str]) -> String {
    let done = place.curtail(&[&["replay"], arguments].concat()).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    text(&done.stdout)
}

/// The report as JSON.
fn reported(place: &Place, arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(place, &[&["--output-format", "json"], arguments].concat())).unwrap()
}

fn replay_named(name: &str, log: &str, arguments: &[&str]) -> Value {
    reported(&place_with(name, log), &[&[name, "--price", "prices.toml"], arguments].concat())
}

fn replay(log: &str, arguments: &[&str]) -> Value {
    replay_named("chat.jsonl", log, arguments)
}

/// The value of every request of the policy with this number, `as recorded` being 0.
fn per_request(report: &Value, policy: usize, key: &str) -> Vec<u64> {
    let requests = report["sessions"][0]["policies"][policy]["requests"].as_array().unwrap();
    requests.iter().map(|request| request[key].as_u64().unwrap()).collect()
}

#[test]
fn an_append_only_session_reads_the_request_before() {
    let report = replay(&chat([0, 10, 20]), &["-p", "window -n 1000"]);
    for policy in [0, 1] {
        assert_eq!(per_request(&report, policy, "tokens_sent"), [100, 210, 320]);
        assert_eq!(per_request(&report, policy, "cache_read"), [0, 100, 210]);
        assert_eq!(per_request(&report, policy, "cache_write"), [100, 110, 110]);
        // (0.1 × 310 read + 1.25 × 320 written) dollars for a million.
        let cost = report["sessions"][0]["policies"][policy]["cost"].as_f64().unwrap();
        assert!((cost - 431e-6).abs() < 1e-12, "{cost}");
    }
}

#[test]
fn a_cut_at_each_turn_reads_nothing() {
    let report = replay(&chat([0, 10, 20]), &["-p", "window --strategy sliding -n 1"]);
    assert_eq!(per_request(&report, 1, "tokens_sent"), [100, 100, 100]);
    assert_eq!(per_request(&report, 1, "cache_read"), [0, 0, 0]);
    assert_eq!(report["sessions"][0]["policies"][1]["prefix_breaks"], 2);
}

#[test]
fn a_trigger_breaks_the_prefix_only_when_it_fires() {
    let report = replay(&chat([0, 10, 20]), &["-p", "limit -t 120 --trigger 250"]);
    assert_eq!(per_request(&report, 1, "tokens_sent"), [100, 210, 110]);
    assert_eq!(per_request(&report, 1, "cache_read"), [0, 100, 0]);
    let policy = &report["sessions"][0]["policies"][1];
    assert_eq!(
        (&policy["prefix_breaks"], &policy["breaks_paid_back"], &policy["pays_back_after"]),
        (&json!(1), &json!(1), &json!(0))
    );
}

#[test]
fn a_break_at_a_change_of_the_model_costs_nothing_more() {
    let pays_back = |log: &str| {
        let report = replay(log, &["-p", "limit -t 250"]);
        assert_eq!(per_request(&report, 1, "tokens_sent"), [100, 210, 220]);
        report["sessions"][0]["policies"][1]["pays_back_after"].clone()
    };
    // The cut writes 220 tokens; without it, 210 are read and 110 written. It saves 100 to read in each later request.
    let log = chat([0, 10, 20]);
    assert_eq!(pays_back(&log), 12);
    // The cache of the other model contains neither.
    let at = log.rfind("\"m\"").unwrap();
    assert_eq!(pays_back(&format!("{}\"n\"{}", &log[..at], &log[at + 3..])), 0);
}

#[test]
fn nothing_is_read_after_a_pause_longer_than_the_lifetime() {
    let report = replay(&chat([0, 400, 410]), &["-p", "window -n 1000"]);
    assert_eq!(report["sessions"][0]["paused_before"], json!([2]));
    assert_eq!(per_request(&report, 0, "cache_read"), [0, 0, 210]);
    assert_eq!(per_request(&report, 0, "cache_write"), [100, 210, 110]);
}

/// A Claude Code session: a question, an answer, a compaction to 20 tokens, a question, an answer.
fn compacted() -> String {
    let line = |kind: &str, content: &str, more: Value| {
        let mut line = json!({"type": kind, "uuid": content, "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z",
            "message": {"role": kind, "content": content, "id": format!("id-{content}")}});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line.to_string() + "\n"
    };
    let boundary = json!({"type": "system", "subtype": "compact_boundary", "isSidechain": false, "uuid": "b"});
    [
        line("user", &tokens('a', 100), json!({})),
        line("assistant", &tokens('b', 10), json!({})),
        boundary.to_string() + "\n",
        line("user", &tokens('s', 20), json!({"isCompactSummary": true})),
        line("user", &tokens('c', 100), json!({})),
        line("assistant", &tokens('d', 10), json!({})),
    ]
    .concat()
}

#[test]
fn what_was_recorded_begins_anew_at_a_compaction_and_policies_do_not() {
    let report = replay(&compacted(), &["-p", "window -n 1000"]);
    assert_eq!(per_request(&report, 0, "tokens_sent"), [100, 120]);
    assert_eq!(per_request(&report, 1, "tokens_sent"), [100, 210]);
    assert_eq!(report["sessions"][0]["compacted_before"], json!([2]));
    let live = replay(&compacted(), &["-p", "window -n 1000", "--live"]);
    assert_eq!(per_request(&live, 1, "tokens_sent"), [100, 120]);
}

/// A line of a Codex log.
fn codex(kind: &str, payload: &Value) -> String {
    json!({"timestamp": "2026-01-01T00:00:00Z", "type": kind, "payload": payload}).to_string() + "\n"
}

fn codex_message(role: &str, letter: char, count: usize) -> String {
    codex("response_item", &item(role, letter, count))
}

fn item(role: &str, letter: char, count: usize) -> Value {
    let kind = if role == "assistant" { "output_text" } else { "input_text" };
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": tokens(letter, count)}]})
}

#[test]
fn codex_sends_the_history_that_a_compaction_wrote() {
    let compacted = |history: Value| codex("compacted", &json!({"message": "", "replacement_history": history}));
    let log = [
        codex("session_meta", &json!({"id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/"})),
        codex_message("user", 'a', 100),
        codex_message("assistant", 'b', 10),
        compacted(json!([item("user", 'a', 100), item("user", 's', 20)])),
        codex_message("user", 'c', 100),
        codex_message("assistant", 'd', 10),
        compacted(json!([item("user", 'c', 100), item("user", 't', 30)])),
        codex_message("user", 'e', 100),
        codex_message("assistant", 'f', 10),
        codex_message("user", 'g', 100),
        codex_message("assistant", 'h', 10),
    ]
    .concat();
    let report = replay(&log, &["-p", "window -n 1000"]);
    assert_eq!(per_request(&report, 0, "tokens_sent"), [100, 220, 230, 340]);
    assert_eq!(report["sessions"][0]["compacted_before"], json!([2, 3]));
    // The text of the messages, without the lists that repeat and sum it up.
    assert_eq!(per_request(&report, 1, "tokens_sent"), [100, 210, 320, 430]);
    let live = replay(&log, &["-p", "window -n 1000", "--live"]);
    assert_eq!(per_request(&live, 1, "tokens_sent"), [100, 220, 230, 340]);
}

#[test]
fn codex_sends_no_turns_that_were_rolled_back() {
    let log = [
        codex("session_meta", &json!({"id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/"})),
        codex_message("user", 'a', 100),
        codex_message("assistant", 'b', 10),
        codex_message("user", 'c', 100),
        codex_message("assistant", 'd', 10),
        codex("event_msg", &json!({"type": "thread_rolled_back", "num_turns": 1})),
        codex_message("user", 'e', 50),
        codex_message("assistant", 'f', 10),
    ]
    .concat();
    let report = replay(&log, &["-p", "window -n 1000", "-p", "limit -t 1000"]);
    for policy in 0..3 {
        assert_eq!(per_request(&report, policy, "tokens_sent"), [100, 210, 160], "{policy}");
    }
    let rewrite = replay(&log, &["-p", "window -n 1000", "--apply", "rewrite"]);
    assert_eq!(per_request(&rewrite, 1, "tokens_sent"), [100, 210, 160]);
}

#[test]
fn codex_sends_again_what_a_rolled_back_compaction_replaced() {
    let compaction = codex("compacted", &json!({"message": tokens('s', 20)}));
    let question = codex_message("user", 'c', 100);
    let begin = codex("event_msg", &json!({"type": "task_started", "turn_id": "2"}));
    // In the middle of the turn, and at its beginning, before the message.
    for (turn, sent) in [([&begin, &question, &compaction], 20), ([&begin, &compaction, &question], 100)] {
        let log = [
            codex("session_meta", &json!({"id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/"})),
            codex_message("user", 'a', 100),
            codex_message("assistant", 'b', 10),
            turn.map(String::as_str).concat(),
            codex_message("assistant", 'd', 10),
            codex("event_msg", &json!({"type": "thread_rolled_back", "num_turns": 1})),
            codex_message("user", 'e', 50),
            codex_message("assistant", 'f', 10),
        ]
        .concat();
        let report = replay(&log, &["-p", "window -n 1000"]);
        assert_eq!(per_request(&report, 0, "tokens_sent"), [100, sent, 160]);
    }
}

#[test]
fn pi_sends_the_messages_that_a_compaction_kept() {
    let entry = |id: u8, role: &str, letter, count| {
        let content = json!([{"type": "text", "text": tokens(letter, count)}]);
        let message = json!({"role": role, "content": content, "api": "anthropic-messages", "model": "unknown-model"});
        let parent = (id > 1).then(|| (id - 1).to_string());
        json!({"type": "message", "id": id.to_string(), "parentId": parent, "timestamp": "2026-01-01T00:00:00Z", "message": message})
            .to_string()
            + "\n"
    };
    let log = [
        entry(1, "user", 'a', 100),
        entry(2, "assistant", 'b', 10),
        entry(3, "user", 'c', 100),
        entry(4, "assistant", 'd', 10),
        json!({"type": "compaction", "id": "5", "parentId": "4", "timestamp": "2026-01-01T00:00:00Z",
            "summary": tokens('s', 20), "firstKeptEntryId": "3", "tokensBefore": 220})
        .to_string()
            + "\n",
        entry(6, "user", 'e', 100),
        entry(7, "assistant", 'f', 10),
    ]
    .concat();
    let report = replay(&log, &["-p", "window -n 1000", "--cache", "marked"]);
    assert_eq!(per_request(&report, 0, "tokens_sent"), [100, 210, 230]);
    assert_eq!(per_request(&report, 0, "messages_sent"), [1, 3, 4]);
    assert_eq!(per_request(&report, 1, "tokens_sent"), [100, 210, 320]);
    // The table does not know the model, but the log names its provider.
    assert_eq!(replay(&log, &[])["sessions"][0]["cache"], json!("marked"));
}

#[test]
fn a_policy_sees_what_a_later_compaction_superseded() {
    let report = replay(&compacted(), &["-p", "limit -t 105", "-p", "limit -t 105 | window -n 9"]);
    for policy in [1, 2] {
        assert_eq!(per_request(&report, policy, "tokens_sent"), [100, 100], "{policy}");
    }
}

fn call(id: &str, arguments: &str) -> String {
    let call = json!({"id": id, "type": "function", "function": {"name": "read_file", "arguments": arguments}});
    json!({"role": "assistant", "content": null, "tool_calls": [call], "timestamp": "2026-01-01T00:00:00Z", "model": "m"}).to_string() + "\n"
}

fn result(id: &str, content: &str) -> String {
    json!({"role": "tool", "tool_call_id": id, "content": content}).to_string() + "\n"
}

/// A long question, and calls whose results have 40 tokens each.
fn calling(rounds: usize) -> String {
    let round = |nth: usize| {
        call(&format!("c{nth}"), &format!(r#"{{"path":"f{nth}.txt"}}"#)) + &result(&format!("c{nth}"), &tokens('r', 40))
    };
    entry("user", &tokens('a', 1000), 0) + &(0..rounds).map(round).collect::<String>() + &entry("assistant", "done", 0)
}

#[test]
fn pruning_that_costs_more_than_it_saves_is_reported() {
    let report = replay(&calling(8), &["-p", "filter --keep-last-results 1"]);
    let policy = |nth: usize| &report["sessions"][0]["policies"][nth];
    let figure = |nth: usize, name: &str| policy(nth)[name].as_f64().unwrap();
    assert!(figure(1, "tokens_sent") < figure(0, "tokens_sent") && figure(1, "cost") > figure(0, "cost"));
    let place = place_with("chat.jsonl", &calling(8));
    let table = printed(&place, &["chat.jsonl", "--price", "prices.toml", "-p", "filter --keep-last-results 1"]);
    assert!(
        table.contains("filter --keep-last-results 1 sends less and costs more: 0 of 7 prefix breaks are"),
        "{table}"
    );
}

#[test]
fn an_automatic_cache_reads_up_to_the_first_change() {
    let report = replay(&calling(4), &["-p", "filter --keep-last-results 1", "--cache", "automatic"]);
    let (read, common) = (per_request(&report, 1, "cache_read"), per_request(&report, 1, "common_prefix"));
    assert!(read == common && read[1..].iter().all(|read| *read >= 1000), "{read:?}");
    assert_eq!(per_request(&report, 1, "cache_write"), [0; 5]);
}

#[test]
fn references_of_the_continuation_are_kept_or_missing() {
    let log = [
        entry("user", "Fix src/alpha.rs and port 8080.", 0),
        entry("assistant", "Which first?", 0),
        entry("user", "The file, not config.yaml.", 0),
        entry("assistant", "Edited src/alpha.rs, left config.yaml, and src/new.rs is new.", 0),
    ]
    .concat();
    let report = replay(&log, &["-p", "window --strategy sliding -n 1", "--missing"]);
    // config.yaml is in the request's own message and src/new.rs is new: neither is needed.
    assert_eq!(per_request(&report, 0, "needed_references"), [0, 1]);
    assert_eq!(per_request(&report, 0, "kept_references"), [0, 1]);
    assert_eq!(per_request(&report, 1, "kept_references"), [0, 0]);
    let missing = &report["sessions"][0]["policies"][1]["missing"];
    let expected = json!([{"reference": "src/alpha.rs", "request": 2, "message": 1, "role": "user", "dropped_at": 2}]);
    assert_eq!(*missing, expected);
}

#[test]
fn calls_that_repeat_a_dropped_one_are_counted() {
    let arguments = r#"{"path":"notes.txt"}"#;
    let log = [
        entry("user", "Read it.", 0),
        call("c1", arguments),
        result("c1", "first"),
        entry("assistant", "Read.", 0),
        entry("user", "Again.", 0),
        call("c2", arguments),
        result("c2", "first"),
        entry("assistant", "Done.", 0),
    ]
    .concat();
    let report = replay(&log, &["-p", "window --strategy sliding -n 2"]);
    assert_eq!(per_request(&report, 0, "repeated_calls"), [0; 4]);
    assert_eq!(per_request(&report, 1, "repeated_calls"), [0, 0, 1, 0]);
    assert_eq!(per_request(&report, 1, "files_read_again"), [0, 0, 1, 0]);
}

#[test]
fn figures_of_the_provider_calibrate_and_test() {
    let line = |nth: u64| {
        let input = 40_000 + 220 * nth + 100;
        let usage = json!({"input_tokens": 2, "cache_read_input_tokens": input - 102, "cache_creation_input_tokens": 100, "output_tokens": 5});
        let user = json!({"type": "user", "uuid": format!("u{nth}"), "sessionId": "s", "message": {"role": "user", "content": tokens('a', 100)}});
        let message = json!({"role": "assistant", "id": format!("m{nth}"), "model": "m", "usage": usage, "content": [{"type": "text", "text": tokens('b', 10)}]});
        let reply = json!({"type": "assistant", "uuid": format!("a{nth}"), "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z", "message": message});
        format!("{user}\n{reply}\n")
    };
    let report = replay(&(0..12).map(line).collect::<String>(), &["-p", "window -n 1000"]);
    let session = &report["sessions"][0];
    // Ours is 100 + 110 n, so the factor is 2 and 39,900 tokens are hidden.
    assert_eq!(
        session["calibration"],
        json!([{"from_request": 1, "hidden_tokens": 39_900, "factor": 2.0, "framing": 0.0}])
    );
    let accuracy = &session["accuracy"];
    assert_eq!(
        (&accuracy["requests"], &accuracy["median_error"], &accuracy["p90_error"]),
        (&json!(8), &json!(0.0), &json!(0.0))
    );
    assert_eq!(per_request(&report, 0, "tokens_sent"), per_request(&report, 1, "tokens_sent"));
}

/// The log says what its provider read, but another one reads nothing.
#[test]
fn a_provider_that_caches_nothing_reads_and_writes_nothing() {
    let system = json!({"role": "system", "content": "Be brief and exact in everything that you say."}).to_string();
    let log = system + "\n" + &with_replies("deepseek-chat", 64);
    let report = reported(&place_with("chat.jsonl", &log), &["chat.jsonl", "-p", "window -n 3", "--cache", "none"]);
    assert!(per_request(&report, 1, "cache_read").iter().skip(4).all(|read| *read == 0), "{report:#}");
}

/// A chat whose messages carry the reply of the provider, with so many tokens read from its cache.
fn with_replies(model: &str, cached: u64) -> String {
    let round = |nth: u64| {
        let usage = json!({"prompt_tokens": 500 + 110 * nth, "completion_tokens": 10,
            "prompt_tokens_details": {"cached_tokens": if nth == 0 { 0 } else { cached }}});
        let extra = json!({"response": {"object": "chat.completion", "model": model, "usage": usage}});
        let reply = json!({"role": "assistant", "content": tokens('b', 10), "extra": extra});
        json!({"role": "user", "content": tokens('a', 100)}).to_string() + "\n" + &reply.to_string() + "\n"
    };
    (0..12).map(round).collect()
}

#[test]
fn figures_beside_a_message_calibrate_and_choose_the_cache() {
    let built_in =
        |log: &str| reported(&place_with("chat.jsonl", log), &["chat.jsonl", "-p", "window"])["sessions"][0].clone();
    let session = built_in(&with_replies("deepseek-chat", 64));
    assert_eq!(
        session["calibration"],
        json!([{"from_request": 1, "hidden_tokens": 400, "factor": 1.0, "framing": 0.0}])
    );
    assert_eq!((&session["accuracy"]["requests"], &session["accuracy"]["p90_error"]), (&json!(8), &json!(0.0)));
    assert_eq!(session["cache"], "deepseek");
    assert_eq!(built_in(&with_replies("llama", 64))["cache"], "openai");
    // A dialect that any provider may be behind: the usage in the log decides.
    let pi = |write: u64, read: u64| {
        let usage = json!({"input": 5, "output": 5, "cacheRead": read, "cacheWrite": write});
        let message = |role: &str, usage: &Value| {
            json!({"type": "message", "message": {"role": role, "content": "a", "api": "x", "usage": usage}})
                .to_string()
                + "\n"
        };
        message("user", &Value::Null) + &message("assistant", &usage)
    };
    for (write, read, cache) in [(9, 0, "anthropic"), (0, 9, "openai"), (0, 0, "none")] {
        assert_eq!(built_in(&pi(write, read))["cache"], cache);
    }
}

#[test]
fn a_sweep_marks_what_nothing_beats() {
    let report = replay(&chat([0, 10, 20]), &["--sweep", "window -n {1000,2000} --strategy {history,sliding}"]);
    let policies = report["total"]["policies"].as_array().unwrap();
    assert_eq!(policies.len(), 5);
    assert!(policies[0].get("pareto").is_none() && policies[1..].iter().all(|policy| policy["pareto"] == true));
}

/// A chat whose record contains how it ended, and whose calls have long results that nobody needs again.
fn rewarded(reward: f64, rounds: usize) -> String {
    let lines = calling(rounds);
    let messages: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    json!({"reward": reward, "messages": messages}).to_string() + "\n"
}

#[test]
fn a_verdict_names_the_cheapest_policy_that_keeps_enough() {
    let place = place_with("chats.jsonl", &(rewarded(0.0, 8) + &rewarded(1.0, 8)));
    let run = |arguments: &[&str]| printed(&place, &[&["chats.jsonl", "--price", "prices.toml"], arguments].concat());
    let window = ["-p", "window --strategy sliding -n 2", "-p", "filter --keep-last-results 1"];
    let report = run(&window);
    for outcome in [0, 1] {
        let heading = format!("openai, outcome {outcome} (1 session): window --strategy sliding -n 2 saves ");
        assert!(report.contains(&heading), "{report}");
    }
    assert!(report.contains("\n    curtail window --strategy sliding -n 2 FILE\n"), "{report}");
    let dear = run(&["-p", "filter --keep-last-results 1"]);
    assert!(
        dear.contains("none of these is worth it: the cheapest of them, filter --keep-last-results 1, costs "),
        "{dear}"
    );
    let json: Value = serde_json::from_str(&run(&[&window[..], &["--output-format", "json"]].concat())).unwrap();
    let groups = json["groups"].as_array().unwrap();
    let outcomes: Vec<&Value> = groups.iter().map(|group| &group["outcome"]).collect();
    assert_eq!(outcomes, ["0", "1"]);
    assert_eq!(groups[0]["verdict"]["number"], 1);
    let other = run(&[&window[..], &["--outcome", "/messages/0/role"]].concat());
    assert!(other.contains("openai, outcome user (2 sessions)"), "{other}");
}

#[test]
fn a_session_that_no_fit_explains_saves_nothing() {
    let line = |nth: u64| {
        // The provider's count has nothing to do with the log.
        let input = 1_000 + nth * 37 % 11 * 40_000;
        let usage = json!({"prompt_tokens": input, "completion_tokens": 10});
        let extra = json!({"response": {"object": "chat.completion", "model": "m", "usage": usage}});
        let user = json!({"role": "user", "content": tokens('a', 100)}).to_string();
        user + "\n" + &json!({"role": "assistant", "content": tokens('b', 10), "extra": extra}).to_string() + "\n"
    };
    let log: String = (0..40).map(line).collect();
    let policy = "window --strategy sliding -n 2";
    let (flagged, kept) = (replay(&log, &["-p", policy]), replay(&log, &["-p", policy, "--keep-inaccurate"]));
    assert_eq!(flagged["sessions"][0]["inaccurate"], true, "{}", flagged["sessions"][0]["accuracy"]);
    assert_eq!(flagged["total"]["inaccurate_sessions"], 1);
    let tokens = |report: &Value, nth: usize| report["total"]["policies"][nth]["tokens_sent"].as_u64();
    assert_eq!(tokens(&flagged, 0), flagged["sessions"][0]["policies"][0]["tokens_sent"].as_u64());
    assert_eq!(tokens(&flagged, 0), tokens(&flagged, 1));
    assert!(tokens(&kept, 1) < tokens(&kept, 0));
    let place = place_with("chat.jsonl", &log);
    for format in ["text", "csv", "html"] {
        let report = printed(&place, &["chat.jsonl", "-p", "window", "--output-format", format]);
        assert!(report.contains("inaccurate"), "{format}");
    }
}

#[test]
fn columns_are_chosen() {
    let place = place_with("chat.jsonl", &chat([0, 1, 2]));
    let heading = |arguments: &[&str]| {
        let lines = printed(&place, &[&["chat.jsonl", "-p", "window"], arguments].concat());
        lines.lines().next().unwrap().split("  ").map(str::trim).filter(|cell| !cell.is_empty()).count()
    };
    assert_eq!(heading(&[]), 7);
    assert_eq!(heading(&["--columns", "cost,largest"]), 3);
    assert_eq!(heading(&["--columns", "all"]), 16);
}

/// Every session of the fixtures under policies that write nothing of their own, and one that never fires.
fn all_fixtures(arguments: &[&str]) -> Vec<u8> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/dialects");
    let place = Place::new();
    let fixed =
        ["replay", root, "--output-format", "json", "-p", "window -n 9999", "-p", "window -n 2", "-p", "limit -t 40"];
    place.curtail(&[&fixed, arguments].concat()).output().unwrap().stdout
}

#[test]
fn figures_add_up_in_every_session() {
    let report: Value = serde_json::from_slice(&all_fixtures(&[])).unwrap();
    let sessions = report["sessions"].as_array().unwrap();
    assert!(sessions.len() > 50, "{}", sessions.len());
    for session in sessions {
        let policies = session["policies"].as_array().unwrap();
        for policy in policies {
            let mut before = 0;
            for request in policy["requests"].as_array().unwrap() {
                let figure = |name: &str| request[name].as_u64().unwrap();
                let billed = figure("cache_read") + figure("cache_write") + figure("uncached");
                assert_eq!(billed, figure("tokens_sent"), "{}", session["name"]);
                assert!(figure("common_prefix") <= figure("tokens_sent").min(before), "{}", session["name"]);
                before = figure("tokens_sent");
            }
        }
        if session["compacted_before"] == json!([]) && session["dropped_before"] == json!([]) {
            assert_eq!(policies[1]["needed_references"], policies[1]["kept_references"], "{}", session["name"]);
            for policy in policies {
                let most = policies[0]["tokens_sent"].as_u64();
                assert!(policy["tokens_sent"].as_u64() <= most, "{} {}", session["name"], policy["name"]);
            }
        }
    }
}

#[test]
fn a_policy_that_never_fires_is_the_same_as_view_and_as_rewrite() {
    let policy = |how: &str| {
        let report: Value = serde_json::from_slice(&all_fixtures(&["--apply", how])).unwrap();
        let sessions = report["sessions"].as_array().unwrap();
        sessions.iter().map(|session| session["policies"][1].clone()).collect::<Vec<_>>()
    };
    assert_eq!(policy("view"), policy("rewrite"));
}

#[test]
fn reports_are_the_same_for_any_number_of_threads() {
    let one = all_fixtures(&["--jobs", "1"]);
    assert!(one.len() > 1000 && one == all_fixtures(&["--jobs", "2"]) && one == all_fixtures(&["--jobs", "8"]));
}

#[test]
fn what_cannot_be_replayed_is_an_error() {
    let place = Place::new();
    place.write("chat.jsonl", chat([0, 1, 2]).as_bytes());
    place.write("runs.toml", b"[[history.processors]]\ntype = \"summarize\"\nsummarizer-cmd = \"touch ran\"\n");
    for (arguments, words) in [
        (&["-p", "windw -n 3"][..], "did you mean"),
        (&["-p", "limit"], "--policy `limit`"),
        (&["-p", "summarize --summarizer openai"], "sends nothing"),
        (&["-p", "summarize --summarizer-cmd 'touch ran'"], "pass --allow-summarizer"),
        (&["-c", "runs.toml"], "runs.toml:1: a replay sends nothing and runs no program"),
        (&["-p", "memory"], "there is no policy"),
        (&["--sweep", "limit -t {1k"], "not closed"),
        (&["--cache", "antropic"], "anthropic"),
        (&["--price", "no-such-model"], "neither a file nor a model"),
        (&["--outcome", "reward"], "expected a JSON pointer, such as /reward"),
    ] {
        let done = place.curtail(&[&["replay", "chat.jsonl"], arguments].concat()).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{arguments:?}");
        assert!(text(&done.stderr).contains(words), "{arguments:?}: {}", text(&done.stderr));
    }
    assert!(!place.list().contains(&String::from("ran")), "a refused summarizer has run");
}

/// A summarizer that runs a program is refused, until the user allows it.
#[test]
fn a_summarizer_that_is_allowed_is_replayed() {
    let place = place_with("chat.jsonl", &chat([0, 1, 2]));
    let policy = "summarize -n 1 --summarizer-cmd 'sh -c \"touch ran; cat > /dev/null; echo short\"'";
    printed(&place, &["--allow-summarizer", "-p", policy, "chat.jsonl"]);
    assert!(place.list().contains(&String::from("ran")));
}

/// The same request is counted once, is paid for, and is not made again by a second replay.
#[test]
fn summaries_are_paid_for_once() {
    let place = place_with("chat.jsonl", &chat([0, 1, 2]));
    let policy = "summarize -n 1 --summarizer-cmd 'sh -c \"echo x >> asked; cat > /dev/null; echo short\"'";
    let policies = ["-p", policy, "-p", "summarize -n 1"];
    let run =
        || reported(&place, &[&["chat.jsonl", "--allow-summarizer", "--price", "prices.toml"], &policies[..]].concat());
    let report = run();
    let asked = text(&place.read("asked"));
    let figure = |policy: usize, name: &str| report["sessions"][0]["policies"][policy][name].as_f64().unwrap();
    #[expect(clippy::cast_precision_loss, reason = "a few lines")]
    let times = asked.lines().count() as f64;
    assert!(times > 0.0);
    assert_eq!((figure(1, "summary_requests"), figure(2, "summary_requests")), (times, 0.0));
    assert!(figure(1, "summary_tokens") > 100.0, "{}", figure(1, "summary_tokens"));
    // A token costs a dollar for a million.
    let requests = report["sessions"][0]["policies"][1]["requests"].as_array().unwrap();
    let of_requests: f64 = requests.iter().map(|request| request["cost"].as_f64().unwrap()).sum();
    assert!((figure(1, "cost") - of_requests - figure(1, "summary_tokens") * 1e-6).abs() < 1e-12);
    assert_eq!(run(), report);
    assert_eq!(text(&place.read("asked")), asked, "the second replay asked again");
}

#[test]
fn a_policy_that_fails_leaves_the_others() {
    let system = entry("system", &tokens('s', 50), 0);
    let log = system + &chat([0, 1, 2]);
    let report = replay(&log, &["-p", "limit -t 20", "-p", "window -n 1000"]);
    let policy = |nth: usize| &report["sessions"][0]["policies"][nth];
    assert!(policy(1)["error"].as_str().unwrap().contains("20"), "{}", policy(1)["error"]);
    assert_eq!(policy(2)["tokens_sent"], policy(0)["tokens_sent"]);
    assert_eq!(report["total"]["policies"][1]["failed_sessions"], 1);
    let table = printed(&place_with("chat.jsonl", &log), &["chat.jsonl", "-p", "limit -t 20", "--price", "gpt-4o"]);
    assert!(table.contains("not compared: limit -t 20 fails in 1 of 1 session: chat.jsonl: "), "{table}");
    assert!(table.contains("limit -t 20            -"), "{table}");
}

/// A file is read, forgotten, and used: in a call, whose result shows its name again.
#[test]
fn what_is_lost_is_told_apart() {
    let log = entry("user", "Fix the parser, please.", 0)
        + &call("c1", r#"{"path":"src/parser.rs"}"#)
        + &result("c1", "fn parse_record() {}")
        + &entry("assistant", "I have seen it.", 0)
        + &entry("user", "Go on.", 0)
        + &call("c2", r#"{"path":"src/parser.rs"}"#)
        + &result("c2", "src/parser.rs: fn other() {}")
        + &entry("assistant", "Now parse_record in src/parser.rs.", 0);
    let report = replay(&log, &["-p", "window --strategy sliding -n 2"]);
    let policy = |nth: usize, figure: &str| report["sessions"][0]["policies"][nth][figure].clone();
    let references = |nth| {
        ["kept_references", "needed_references", "kept_in_calls", "needed_in_calls", "shown_again"]
            .map(|figure| policy(nth, figure).as_u64().unwrap())
    };
    // Needed: src/parser.rs by the call, then parse_record and src/parser.rs by the last reply.
    assert_eq!(references(0), [3, 3, 1, 1, 0]);
    let [kept, needed, kept_in_calls, needed_in_calls, shown_again] = references(1);
    assert_eq!((needed, needed_in_calls, kept_in_calls), (3, 1, 0));
    assert!(kept < needed && shown_again >= 1, "{kept} {shown_again}");
    // The first request is a person's alone; afterwards a window of one loses it only when another begins.
    assert_eq!(policy(0, "probes")["instruction"], json!({"sent": 4, "of": 4}));
}

#[test]
fn another_model_has_a_cache_of_its_own() {
    let log = chat([0, 10, 20]);
    let mut lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines[3]["model"] = json!("other");
    let log: String = lines.iter().map(|line| line.to_string() + "\n").collect();
    for cache in ["marked", "automatic"] {
        let report = replay(&log, &["-p", "window -n 1000", "--cache", cache]);
        assert_eq!(report["sessions"][0]["model_changed_before"], json!([2, 3]), "{cache}");
        assert_eq!(per_request(&report, 0, "cache_read")[1], 0, "{cache}");
    }
    // Where the provider read from its cache, the other name is no other model.
    let read =
        json!({"usage": {"prompt_tokens": 210, "prompt_tokens_details": {"cached_tokens": 100}}, "model": "other"});
    lines[3]["extra"] = json!({"response": {"object": "chat.completion"}});
    lines[3]["extra"]["response"].as_object_mut().unwrap().extend(read.as_object().unwrap().clone());
    let log: String = lines.iter().map(|line| line.to_string() + "\n").collect();
    let report = replay(&log, &["-p", "window -n 1000", "--cache", "marked"]);
    assert_eq!(report["sessions"][0]["model_changed_before"], json!([3]));
}

/// The price of the built-in table for a model of which a token of input costs 5 dollars for a million, and one of output 25.
const PRICED: &str = "claude-opus-4-7";

/// A log of Claude Code whose request number `nth` the provider counted as `counts(nth)`: read from its cache, written to it, and
/// neither. The session has the id `name`.
fn counted(name: &str, requests: u64, counts: impl Fn(u64) -> [u64; 3]) -> String {
    let line = |nth: u64| {
        let [read, write, uncached] = counts(nth);
        let usage = json!({"input_tokens": uncached, "cache_read_input_tokens": read,
            "cache_creation_input_tokens": write, "output_tokens": 50});
        let parent = nth.checked_sub(1).map(|before| format!("{name}-a{before}"));
        let time = format!("2026-01-01T00:{:02}:{:02}Z", nth / 60, nth % 60);
        let user = json!({"type": "user", "uuid": format!("{name}-u{nth}"), "parentUuid": parent, "sessionId": name,
            "timestamp": time, "message": {"role": "user", "content": tokens('a', 100)}});
        let message = json!({"role": "assistant", "id": format!("{name}-m{nth}"), "model": PRICED, "usage": usage,
            "content": [{"type": "text", "text": tokens('b', 10)}]});
        let reply = json!({"type": "assistant", "uuid": format!("{name}-a{nth}"), "parentUuid": format!("{name}-u{nth}"),
            "sessionId": name, "timestamp": time, "requestId": format!("{name}-r{nth}"), "message": message});
        format!("{user}\n{reply}\n")
    };
    (0..requests).map(line).collect()
}

/// What a request before this one left in the cache, and what it adds.
fn warm(nth: u64) -> [u64; 3] {
    if nth == 0 { [4_000, 1_098, 2] } else { [5_000 + 110 * nth - 10, 108, 2] }
}

/// What the provider counted costs by the table.
fn paid(counts: impl Iterator<Item = [u64; 3]>) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "few tokens")]
    let price = |[read, write, uncached]: [u64; 3]| {
        (0.1 * read as f64 + 1.25 * write as f64 + uncached as f64) * 5e-6 + 50.0 * 25e-6
    };
    counts.map(price).sum()
}

fn total(report: &Value, policy: usize, figure: &str) -> f64 {
    report["total"]["policies"][policy][figure].as_f64().unwrap()
}

/// The first row is the log: its tokens, its cache, its price, with replies. So is a policy that changes no request.
#[test]
fn what_was_recorded_is_what_the_log_says() {
    // Cold at first, then warm, and one miss in the middle.
    let missing = |nth: u64| if nth == 9 { [0, 6_086, 2] } else { warm(nth) };
    for counts in [warm as fn(u64) -> [u64; 3], missing] {
        let place = place_with("log.jsonl", &counted("one", 18, counts));
        let report = reported(&place, &["log.jsonl", "-p", "window -n 1000"]);
        for policy in [0, 1] {
            for (nth, figure) in ["cache_read", "cache_write", "uncached"].into_iter().enumerate() {
                let expected: Vec<u64> = (0..18).map(|request| counts(request)[nth]).collect();
                assert_eq!(per_request(&report, policy, figure), expected, "{policy} {figure}");
            }
            let cost = total(&report, policy, "cost");
            assert!((cost - paid((0..18).map(counts))).abs() < 1e-9, "{cost}");
        }
        let text = printed(&place, &["log.jsonl", "-p", "window -n 1000"]);
        assert!(text.contains("none of these changes a request"), "{text}");
    }
}

/// A miss that the log shows happens to a policy that changes requests as well.
#[test]
fn every_policy_misses_the_cache_where_the_log_did() {
    let missing = |nth: u64| if nth == 9 { [0, 6_086, 2] } else { warm(nth) };
    let place = place_with("log.jsonl", &counted("one", 18, missing));
    let report = reported(&place, &["log.jsonl", "-p", "filter --drop 0"]);
    assert_eq!(per_request(&report, 1, "cache_read")[9], 0);
    assert!(per_request(&report, 1, "cache_read")[10] > 5_000);
}

/// A count that dips and comes back is of another request: no cut, no break, and nothing that a policy could save.
#[test]
fn counts_of_other_requests_are_no_cuts() {
    let dipping = |nth: u64| if nth % 5 == 4 { [3_300, 298, 2] } else { warm(nth) };
    let place = place_with("log.jsonl", &counted("one", 30, dipping));
    let report = reported(&place, &["log.jsonl", "-p", "window -n 1000", "-p", "filter --drop 0"]);
    let session = &report["sessions"][0];
    assert_eq!(session["stray_counts"], json!([5, 10, 15, 20, 25, 30]));
    assert_eq!((&session["dropped_before"], &session["inaccurate"]), (&json!([]), &json!(false)));
    assert_eq!((total(&report, 0, "prefix_breaks"), total(&report, 1, "cost")), (0.0, total(&report, 0, "cost")));
    // Every policy pays such a request as the log does.
    assert_eq!(per_request(&report, 2, "tokens_sent")[4], 3_600);
    let text = printed(&place, &["log.jsonl", "-p", "window -n 1000"]);
    assert!(text.contains("6 counts of other requests") && !text.contains("shorter than logged"), "{text}");
}

/// The error of the cost is printed beside that of the tokens, and a saving within it is no verdict.
#[test]
fn a_saving_within_the_error_is_no_verdict() {
    // The requests contain a varying number of tokens that the log does not, so that none is known to better than a few percent.
    let noisy = |nth: u64| {
        let [read, write, uncached] = warm(nth);
        [read, write + nth * 7 % 5 * 60, uncached]
    };
    let place = place_with("log.jsonl", &counted("one", 30, noisy));
    let report = reported(&place, &["log.jsonl", "-p", "filter --drop 0"]);
    let verdict = &report["groups"][0]["verdict"];
    let (saved, error) = (verdict["saved"].as_f64().unwrap(), verdict["error"].as_f64().unwrap());
    assert!(saved > 0.0 && saved < error, "{verdict}");
    assert_eq!(verdict["worth_it"], false);
    let text = printed(&place, &["log.jsonl", "-p", "filter --drop 0"]);
    assert!(text.contains(", cost within ") && text.contains("which is within the error of "), "{text}");
}

/// A page and a replay name the same price.
#[test]
fn a_page_and_a_replay_show_one_price() {
    let place = place_with("log.jsonl", &counted("one", 18, warm));
    let replayed = printed(&place, &["log.jsonl", "--columns", "cost", "-p", "window"]);
    let price = format!("${:.2}", paid((0..18).map(warm)));
    assert!(replayed.contains(&price), "{price}: {replayed}");
    let page = text(&place.curtail(&["view", "log.jsonl"]).output().unwrap().stdout);
    assert!(page.contains(&format!("about {price}")), "{price}");
}

/// Requests that several files contain count once, in the first of them: copies, what a resumed session repeats, forks.
#[test]
fn a_request_of_several_files_counts_once() {
    let whole = counted("one", 6, warm);
    let resumed =
        whole.replace(r#""sessionId":"one""#, r#""sessionId":"two""#) + &counted("two", 2, |nth| warm(nth + 6));
    let place = place_with("1.jsonl", &whole);
    place.write("2-resumed.jsonl", resumed.as_bytes());
    place.write("3-copy.jsonl", whole.as_bytes());
    place.write("4-other.jsonl", counted("three", 3, warm).as_bytes());
    let files = ["1.jsonl", "2-resumed.jsonl", "3-copy.jsonl", "4-other.jsonl"];
    let report = reported(&place, &[&files[..], &["-p", "window -n 2"]].concat());
    let shared = |nth: usize| report["sessions"][nth]["shared_requests"].clone();
    assert_eq!([0, 1, 2, 3].map(shared), [0, 6, 6, 0].map(|count| json!(count)));
    assert_eq!((&report["total"]["requests"], &report["total"]["shared_requests"]), (&json!(11), &json!(12)));
    let expected = paid((0..8).chain(0..3).map(warm));
    assert!((total(&report, 0, "cost") - expected).abs() < 1e-9, "{}", total(&report, 0, "cost"));
    let printed_by = |jobs: &str| printed(&place, &[&files[..], &["--jobs", jobs, "--output-format", "json"]].concat());
    assert_eq!(printed_by("1"), printed_by("4"));
    let count = text(&place.curtail(&[&["count", "--usage"], &files[..]].concat()).output().unwrap().stdout);
    assert!(count.contains("of the last requests of 3 transcripts"), "{count}");
    assert!(count.contains("shared: 12 requests repeated from earlier files, which count once"), "{count}");
}

/// A fork of a Codex session repeats its log with new times. It names the session, or all that was said is the same.
#[test]
fn a_fork_counts_what_it_adds() {
    let session = |id: &str, forked: Option<&str>, times: &str, replies: std::ops::Range<u64>| {
        let stamped = |kind: &str, payload: Value| json!({"timestamp": times, "type": kind, "payload": payload});
        let meta = stamped("session_meta", json!({"id": id, "timestamp": times, "cwd": "/", "forked_from_id": forked}));
        let round = |nth: u64| {
            let question = stamped("response_item", item("user", 'a', 100));
            let answer = stamped("response_item", item("assistant", 'b', 10 + usize::try_from(nth).unwrap()));
            let last = json!({"input_tokens": 5_000 + 110 * nth, "cached_input_tokens": 4_900, "output_tokens": 10});
            let count = stamped("event_msg", json!({"type": "token_count", "info": {"last_token_usage": last}}));
            format!("{question}\n{answer}\n{count}\n")
        };
        format!("{meta}\n{}", replies.map(round).collect::<String>())
    };
    let parent = session("p", None, "2026-01-01T00:00:00Z", 0..4);
    for forked in [Some("p"), None] {
        let place = place_with("1-parent.jsonl", &parent);
        place.write("2-fork.jsonl", session("f", forked, "2026-01-02T00:00:00Z", 0..6).as_bytes());
        let report = reported(&place, &["1-parent.jsonl", "2-fork.jsonl", "-p", "window -n 2"]);
        assert_eq!((&report["total"]["requests"], &report["total"]["shared_requests"]), (&json!(6), &json!(4)));
    }
}

/// Links in a circle are no reason to lose the report.
#[test]
fn links_in_a_circle_do_not_stop_a_replay() {
    let message = |id: &str, parent: Option<&str>, role: &str| {
        let content = json!([{"type": "text", "text": id}]);
        json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:00Z",
            "message": {"role": role, "content": content}})
        .to_string()
            + "\n"
    };
    let head = json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/"});
    let circle = |links: &[(&str, Option<&str>)]| {
        let roles = ["user", "assistant"].into_iter().cycle();
        let lines: String = links.iter().zip(roles).map(|((id, parent), role)| message(id, *parent, role)).collect();
        format!("{head}\n{lines}")
    };
    let place = place_with("fine.jsonl", &circle(&[("a", None), ("b", Some("a"))]));
    place.write("three.jsonl", circle(&[("a", Some("b")), ("b", Some("c")), ("c", Some("a"))]).as_bytes());
    place.write("two.jsonl", circle(&[("a", None), ("b", Some("a")), ("c", Some("d")), ("d", Some("c"))]).as_bytes());
    place.write("itself.jsonl", circle(&[("a", Some("a")), ("b", Some("b")), ("c", Some("d"))]).as_bytes());
    let report = reported(&place, &["fine.jsonl", "three.jsonl", "two.jsonl", "itself.jsonl"]);
    assert_eq!(report["total"]["sessions"], 4);
}
