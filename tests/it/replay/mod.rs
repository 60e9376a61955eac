//! `curtail replay` on sessions that were computed by hand, and properties of every session.

mod figures;
mod history;
mod provider;

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

/// A line of a Codex log.
fn item(role: &str, letter: char, count: usize) -> Value {
    let kind = if role == "assistant" { "output_text" } else { "input_text" };
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": tokens(letter, count)}]})
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
    let changed = |report: &Value| report["total"]["policies"][1]["changed_requests"].as_u64();
    assert!(changed(&flagged) > Some(0) && changed(&flagged) == changed(&kept));
    let place = place_with("chat.jsonl", &log);
    for format in ["text", "csv", "html"] {
        let report = printed(&place, &["chat.jsonl", "-p", "window", "--output-format", format]);
        assert!(report.contains("inaccurate"), "{format}");
    }
    let report = printed(&place, &["chat.jsonl", "-p", policy]);
    assert!(report.contains("(1 session): not judged: the token counts are too inaccurate\n"), "{report}");
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
    let report = printed(&place, &["chat.jsonl", "-p", "window", "--columns", "cost,tokens,cost"]);
    let titles: Vec<&str> =
        report.lines().next().unwrap().split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    assert_eq!(titles, ["policy", "cost", "tokens sent"]);
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
    for (more, verdict) in [
        (&[][..], "(1 session): not judged: none of these works\n"),
        (&["-p", "window -n 1000"], "(1 session): none of these that works changes a request\n"),
    ] {
        let words = [&["chat.jsonl", "-p", "limit -t 20", "--price", "prices.toml"], more].concat();
        let report = printed(&place_with("chat.jsonl", &log), &words);
        assert!(report.contains(verdict), "{report}");
    }
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
