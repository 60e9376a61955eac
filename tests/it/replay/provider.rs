//! What the provider counted and was paid: by it a replay is calibrated, and it is the first row.

use serde_json::{Value, json};

use super::{item, per_request, place_with, printed, replay, reported, tokens};
use crate::program::text;

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

/// The log says what its provider read, but another one reads nothing.
#[test]
fn a_provider_that_caches_nothing_reads_and_writes_nothing() {
    let system = json!({"role": "system", "content": "Be brief and exact in everything that you say."}).to_string();
    let log = system + "\n" + &with_replies("deepseek-chat", 64);
    let report = reported(&place_with("chat.jsonl", &log), &["chat.jsonl", "-p", "window -n 3", "--cache", "none"]);
    assert!(per_request(&report, 1, "cache_read").iter().skip(4).all(|read| *read == 0), "{report:#}");
}
