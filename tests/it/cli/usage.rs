//! Counts and budgets that are calibrated by the provider's usage.

use serde_json::{Value, json};

use crate::program::{Place, text};

/// `count` words of one token each.
fn words(letter: char, count: usize) -> String {
    vec![letter.to_string(); count].join(" ")
}

/// A chat of `rounds` questions of 100 tokens and answers of 10. The provider counts 5,000 tokens that the log does not
/// contain, and two for each of ours.
fn chat(rounds: u64) -> String {
    (0..rounds).map(|nth| round(5_000 + 2 * (110 * nth + 100))).collect()
}

/// A question and an answer, for which the provider counts `input` tokens.
fn round(input: u64) -> String {
    let usage = json!({"prompt_tokens": input, "completion_tokens": 20});
    let asked = json!({"role": "user", "content": words('a', 100)});
    let reply = json!({"role": "assistant", "content": words('b', 10), "usage": usage});
    format!("{asked}\n{reply}\n")
}

fn run(place: &Place, arguments: &[&str]) -> (i32, String, String) {
    let done = place.curtail(arguments).output().unwrap();
    (done.status.code().unwrap(), text(&done.stdout), text(&done.stderr))
}

fn report(place: &Place, arguments: &[&str]) -> Value {
    let (status, out, errors) = run(place, &[&["count", "--output-format", "json"], arguments].concat());
    assert_eq!(status, 0, "{errors}");
    serde_json::from_str(&out).unwrap()
}

#[test]
fn count_is_that_of_the_provider() {
    let place = Place::new();
    place.write("chat.jsonl", chat(6).as_bytes());
    let printed = report(&place, &["--tokenizer", "usage", "--by", "role", "chat.jsonl"]);
    // 6 questions of 200 and 6 answers of 20, and what the log does not contain.
    assert_eq!(
        (&printed["tokens"], &printed["tokenizer"], &printed["exact"]),
        (&json!(6_320), &json!("usage:o200k_base"), &json!(false))
    );
    let row = |name: &str| {
        printed["rows"].as_array().unwrap().iter().find(|row| row["role"] == name).unwrap()["tokens"].clone()
    };
    assert_eq!((row("user"), row("assistant"), row("hidden")), (json!(1_200), json!(120), json!(5_000)));
    let by_message = report(&place, &["--tokenizer", "usage", "--by", "message", "chat.jsonl"]);
    assert_eq!(by_message["rows"][0]["tokens"], json!(200));
}

#[test]
fn count_shows_the_figures_beside_its_own() {
    let place = Place::new();
    place.write("chat.jsonl", chat(6).as_bytes());
    let printed = report(&place, &["--usage", "chat.jsonl"]);
    assert_eq!(printed["tokens"], json!(660));
    // Nobody pays for usage that was not asked for.
    assert_eq!(report(&place, &["chat.jsonl"])["usage"], Value::Null);
    // The last request: 650 of ours.
    let expected = json!({"transcripts": 1, "provider": 6_300, "calibrated": 6_300, "hidden": 5_000, "counted": 650, "dropped": 0, "shared": 0});
    assert_eq!(printed["usage"], expected);
    let (_, table, _) = run(&place, &["count", "--usage", "chat.jsonl"]);
    let line = "provider's count of the last request: 6,300 (ours: 650 in o200k_base; 5,000 of instructions and tools are not in \
                the log)\n";
    assert!(table.contains(line), "{table}");
    place.write("plain.jsonl", b"{\"role\": \"user\", \"content\": \"Hi.\"}\n");
    assert_eq!(report(&place, &["--usage", "plain.jsonl"])["usage"], Value::Null);
}

#[test]
fn a_cut_that_the_log_does_not_record_is_reported() {
    let place = Place::new();
    // From the seventh question on, the program sends only the newest 200 tokens.
    let cut: String = (0..6).map(|_| round(5_000 + 2 * 200)).collect();
    place.write("chat.jsonl", (chat(6) + &cut).as_bytes());
    let (_, table, _) = run(&place, &["count", "--tokenizer", "usage", "chat.jsonl"]);
    let line = "\nshorter than logged: 1 transcript, in which the provider counted less from some request on, although the log \
                records no cut; our count contains what was left out\n";
    assert!(table.contains(line), "{table}");
    let printed = report(&place, &["--usage", "chat.jsonl"]);
    assert_eq!(printed["usage"]["dropped"], 1);
    place.write("whole.jsonl", chat(6).as_bytes());
    let (_, table, _) = run(&place, &["count", "--tokenizer", "usage", "whole.jsonl"]);
    assert!(!table.contains("shorter than logged"), "{table}");
}

#[test]
fn a_budget_holds_for_what_the_provider_counts() {
    let place = Place::new();
    place.write("chat.jsonl", chat(6).as_bytes());
    // Two rounds of 220 and an answer of 20 fit beside 5,000 in 5,500.
    let (status, out, errors) = run(&place, &["limit", "-t", "5500", "--tokenizer", "usage", "--stats", "chat.jsonl"]);
    assert_eq!((status, out.lines().count()), (0, 5), "{errors}");
    assert!(errors.contains(" 6320 ") && errors.contains(" 5460\n") && errors.contains("usage:o200k_base"), "{errors}");
    let (_, all, _) = run(&place, &["limit", "-t", "6320", "--tokenizer", "usage", "chat.jsonl"]);
    assert_eq!(all, chat(6));
    let (_, fewer, _) = run(&place, &["limit", "-t", "6319", "--tokenizer", "usage", "chat.jsonl"]);
    assert_eq!(fewer.lines().count(), 11);
    let check = |budget: &str| run(&place, &["check", "--max-tokens", budget, "--tokenizer", "usage", "chat.jsonl"]).0;
    assert_eq!((check("6320"), check("6319")), (0, 1));
}

#[test]
fn windows_of_a_split_hold_too() {
    let place = Place::new();
    let turns: Vec<Value> = chat(6).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    place.write("chats.jsonl", format!("{}\n", json!({"messages": turns})).as_bytes());
    let (status, out, errors) = run(&place, &["split", "-t", "5500", "--tokenizer", "usage", "chats.jsonl"]);
    assert_eq!((status, out.lines().count()), (0, 3), "{errors}");
    for jobs in ["1", "8"] {
        let again = run(&place, &["split", "-t", "5500", "--tokenizer", "usage", "--jobs", jobs, "chats.jsonl"]).1;
        assert_eq!(again, out);
    }
}

#[test]
fn each_transcript_is_calibrated_by_itself() {
    let place = Place::new();
    let record = |rounds: u64, hidden: u64| {
        let mut turns: Vec<Value> = chat(rounds).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for turn in &mut turns {
            if let Some(input) = turn.pointer_mut("/usage/prompt_tokens") {
                *input = json!(input.as_u64().unwrap() - 5_000 + hidden);
            }
        }
        json!({"messages": turns}).to_string() + "\n"
    };
    let records: String = (3..40).map(|nth| record(nth, nth * 100)).collect();
    place.write("chats.jsonl", records.as_bytes());
    let arguments = ["--tokenizer", "usage", "--by", "transcript", "chats.jsonl"];
    let printed = report(&place, &arguments);
    let counts: Vec<u64> =
        printed["rows"].as_array().unwrap().iter().map(|row| row["tokens"].as_u64().unwrap()).collect();
    assert_eq!(counts, (3..40).map(|nth| nth * 100 + nth * 220).collect::<Vec<u64>>());
    let limit =
        |jobs: &str| run(&place, &["limit", "-t", "4k", "--tokenizer", "usage", "--jobs", jobs, "chats.jsonl"]).1;
    assert!(limit("1") == limit("8") && limit("1").len() < records.len());
}

#[test]
fn a_transcript_without_figures_is_an_error() {
    let place = Place::new();
    let plain = json!({"messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hi."}]});
    let turns: Vec<Value> = chat(3).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    place.write("chats.jsonl", format!("{}\n{plain}\n", json!({"messages": turns})).as_bytes());
    for arguments in [
        &["count", "--tokenizer", "usage", "chats.jsonl"][..],
        &["limit", "-t", "9k", "--tokenizer", "usage", "chats.jsonl"],
        &["split", "-t", "9k", "--tokenizer", "usage", "chats.jsonl"],
        &["check", "--max-tokens", "9k", "--tokenizer", "usage", "chats.jsonl"],
        &["view", "--text", "--tokenizer", "usage", "chats.jsonl"],
    ] {
        let (status, _, errors) = run(&place, arguments);
        assert_eq!(status, 2, "{arguments:?}");
        assert!(
            errors.contains("chats.jsonl:2:") && errors.contains("name another tokenizer"),
            "{arguments:?}: {errors}"
        );
    }
}

#[test]
fn what_cannot_be_calibrated_is_refused() {
    let place = Place::new();
    place.write("chat.jsonl", chat(3).as_bytes());
    for (arguments, words) in [
        (&["count", "--tokenizer", "usage:nothing", "chat.jsonl"][..], "unknown tokenizer"),
        (&["count", "--tokenizer", "usages", "chat.jsonl"], "unknown tokenizer"),
        (&["replay", "-p", "limit -t 9k --tokenizer usage", "chat.jsonl"], "replayed policy"),
    ] {
        let (status, _, errors) = run(&place, arguments);
        assert!(status == 2 && errors.contains(words), "{arguments:?}: {errors}");
    }
    let (_, replayed, _) = run(&place, &["replay", "-p", "window", "chat.jsonl"]);
    assert_eq!(run(&place, &["replay", "-p", "window", "--tokenizer", "usage", "chat.jsonl"]).1, replayed);
}

/// Sessions that fill the window of their models, one for each log that an agent reads back.
const FULL: [&str; 7] = [
    "claude-code/full.jsonl", "codex/full.jsonl", "goose/full.json", "kimi/full.jsonl", "opencode/full.json",
    "pi/full.jsonl", "qwen/full.jsonl",
];

fn full(name: &str) -> String {
    format!("{}/fixtures/dialects/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_cut_resets_the_counts_that_it_makes_wrong() {
    let place = Place::new();
    for name in FULL {
        let file = full(name);
        let whole = std::fs::read_to_string(&file).unwrap();
        let cut = |usage: &str| {
            run(&place, &["window", "-n", "1", "--unit", "turns", "--stats=json", "--usage", usage, &file])
        };
        let [(_, reset, totals), (_, kept, totals_of_kept)] = [cut("reset"), cut("keep")];
        let totals: Value = serde_json::from_str(&totals).unwrap();
        assert_eq!(totals["figures_reset"], json!(1), "{name}");
        assert!(!totals_of_kept.contains("figures_reset"), "{name}: {totals_of_kept}");
        assert!(reset.len() < kept.len(), "{name}");
        // Without a change before it, no count is touched.
        let (_, idle, _) = run(&place, &["window", "-n", "100", &file]);
        assert_eq!(idle, whole, "{name}");
        let (_, first, _) = run(&place, &["filter", "--drop", "2..", &file]);
        let (_, first_kept, _) = run(&place, &["filter", "--drop", "2..", "--usage", "keep", &file]);
        assert_eq!(first == first_kept, !name.starts_with("goose"), "{name}\n{first}");
        // The last count was made before the cut, so nothing can be counted by it.
        place.write("reset", reset.as_bytes());
        let (status, _, errors) = run(&place, &["count", "--tokenizer", "usage", "reset"]);
        assert_eq!(status, 2, "{name}");
        assert!(errors.contains("no reply has the provider's count"), "{name}: {errors}");
    }
}

#[test]
fn explain_says_how_many_counts_were_reset() {
    let place = Place::new();
    let (_, _, errors) = run(&place, &["filter", "--drop", "1", "--explain", &full("pi/full.jsonl")]);
    let reset = "reset: the figures of 4 requests: messages before them were dropped or changed";
    assert!(errors.lines().any(|line| line.contains("-  usage ") && line.ends_with(reset)), "{errors}");
    let (_, _, errors) = run(&place, &["filter", "--drop", "1", "--explain=json", &full("pi/full.jsonl")]);
    let last: Value = serde_json::from_str(errors.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["action"], &last["message"], &last["processor"]),
        (&json!("reset"), &Value::Null, &json!("usage"))
    );
}

/// A reply without a count was sent like any other.
#[test]
fn replay_sees_the_requests_whose_counts_were_reset() {
    let place = Place::new();
    for name in ["claude-code/full.jsonl", "pi/full.jsonl", "kimi/full.jsonl"] {
        let (_, cut, _) = run(&place, &["filter", "--drop", "0", &full(name)]);
        place.write("cut.jsonl", cut.as_bytes());
        let (status, out, errors) = run(&place, &["replay", "--output-format", "json", "cut.jsonl"]);
        assert_eq!(status, 0, "{errors}");
        let report: Value = serde_json::from_str(&out).unwrap();
        let session = &report["sessions"][0];
        let expected = if name.starts_with("kimi") { 4 } else { 5 };
        assert_eq!((&session["requests"], &session["rejected"]), (&json!(expected), &json!(0)), "{name}");
    }
}
