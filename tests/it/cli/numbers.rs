//! Numbers out of bounds: the errors of the program.

use crate::program::{Place, text};

fn refusal(flags: &[&str]) -> String {
    let place = Place::new();
    place.write("chat.jsonl", b"{\"role\":\"user\",\"content\":\"Hi\"}\n");
    let done = place.curtail(&[flags, &["chat.jsonl"]].concat()).output().expect("it starts");
    assert_eq!(done.status.code(), Some(2), "{flags:?}");
    let stderr = text(&done.stderr);
    assert!(!stderr.contains("-- -"), "{flags:?}: {stderr}");
    stderr
}

#[test]
fn a_number_out_of_bounds_is_named_with_its_bound() {
    for (flags, words) in [
        (&["window", "-n", "0"][..], "error: -n must be at least 1\n"),
        (&["window", "-n", "-3"], "error: -n must be at least 1\n"),
        (&["window", "--size=-3"], "error: --size must be at least 1\n"),
        (&["window", "--max-expansion", "0"], "error: --max-expansion must be at least 1\n"),
        (&["window", "--keep-first", "-1"], "error: --keep-first must not be negative\n"),
        (&["summarize", "-n", "0"], "error: -n must be at least 1\n"),
        (&["summarize", "--max-summaries", "-2"], "error: --max-summaries must be at least 1\n"),
        (&["summarize", "--timeout", "-1", "--summarizer-cmd", "cat"], "error: --timeout must not be negative\n"),
        (&["limit", "-t", "-5"], "error: -t must not be negative\n"),
        (&["limit", "-t", "9", "--reserve", "-5"], "error: --reserve must not be negative\n"),
        (&["filter", "--keep-last-results", "-1"], "error: --keep-last-results must not be negative\n"),
        (&["filter", "--keep-last-results", "few"], "error: --keep-last-results takes a whole number, not `few`\n"),
        (&["check", "--max-findings", "-1"], "error: --max-findings must not be negative\n"),
        (&["-j", "-1", "window"], "error: -j must not be negative\n"),
        (
            &["limit", "-t", "10", "--step", "20"],
            "curtail: --step 20 exceeds --max-tokens 10: everything would be dropped\n",
        ),
        (
            &["limit", "-t", "50%", "--step", "50.1%"],
            "curtail: --step 50.1% exceeds --max-tokens 50%: everything would be dropped\n",
        ),
    ] {
        assert_eq!(refusal(flags), words, "{flags:?}");
    }
}

/// The time of the reproducible-builds specification is used or refused, and never passed over.
#[test]
fn a_time_that_is_no_number_of_seconds_is_refused() {
    for (seconds, words) in [
        ("yesterday", "`SOURCE_DATE_EPOCH` takes the seconds since 1970, not `yesterday`"),
        ("-5", "`SOURCE_DATE_EPOCH` takes the seconds since 1970, not `-5`"),
        ("99999999999999999999", "not `99999999999999999999`"),
        ("18446744073709551615", "not `18446744073709551615`"),
    ] {
        let summarize = ["summarize", "--emit", "state", "chat.jsonl"];
        for command in [&summarize[..], &["summarize", "--follow", "chat.jsonl"], &["sessions"]] {
            let place = Place::new();
            place.write("chat.jsonl", b"{\"role\":\"user\",\"content\":\"Hi\"}\n");
            let done = place.curtail(command).env("SOURCE_DATE_EPOCH", seconds).output().expect("it starts");
            let stderr = text(&done.stderr);
            assert_eq!(done.status.code(), Some(2), "{command:?} {seconds}: {stderr}");
            assert!(stderr.contains(words), "{command:?} {seconds}: {stderr}");
        }
    }
}

#[test]
fn a_number_without_its_flag_is_answered_with_the_flag() {
    for (flags, words) in [
        (&["window", "-5"][..], "a number needs a flag, such as `-n 5`"),
        (&["limit", "-800", "chat.jsonl"], "a number needs a flag, such as `-t 800`"),
        (&["store", "export", "--force", "x.jsonl"], "an export never overwrites a file; name another file"),
    ] {
        let error = refusal(flags);
        assert!(error.contains(words) && !error.contains("similar argument"), "{flags:?}: {error}");
    }
}

#[test]
fn a_range_or_a_budget_that_leaves_nothing_is_named() {
    for (flags, words) in [
        (&["filter", "--range", "8..5"][..], "range 8..5 is empty: the start must not exceed the end"),
        (&["filter", "--range", "5..5"], "range 5..5 is empty: message 5 is not part of it"),
        (&["filter", "--range", "-3..5"], "expected A..B, A.. or ..B with message numbers"),
        (&["limit", "-t", "100", "--reserve", "200"], "--reserve 200 leaves nothing of the budget of 100 tokens"),
        (&["split", "-t", "100", "--reserve", "100"], "--reserve 100 leaves nothing of the budget of 100 tokens"),
        (&["check", "-t", "10", "--reserve", "20"], "--reserve 20 leaves nothing of the budget of 10 tokens"),
        (&["filter", "--trigger", "50%", "--dedupe-results"], "only `limit` and the policies of `replay` take a share"),
        (&["limit", "-t", "half%"], "expected a share of the tokens of each transcript, such as 50%"),
        (&["filter", "--drop", "5..5"], "this range is empty"),
        (&["limit", "--tokens", "5"], "'--max-tokens'"),
        (&["window", "--max-tokens", "5"], "`limit` and `split` take a budget of tokens"),
        (&["window", "--tokens", "5"], "`limit` and `split` take a budget of tokens"),
    ] {
        let error = refusal(flags);
        assert!(error.contains(words), "{flags:?}: {error}");
    }
}

/// A system message that is kept in any case is none of the first messages that a flag asks for.
#[test]
fn the_first_messages_are_counted_without_those_that_are_kept_anyway() {
    let place = Place::new();
    let line = |role: &str, texts: &str| format!("{{\"role\":\"{role}\",\"content\":\"{texts}\"}}\n");
    let texts = ["task", "plan", "more", "done", "next", "end"];
    let talk = texts.iter().enumerate().map(|(nth, texts)| line(["user", "assistant"][nth % 2], texts));
    place.write("chat.jsonl", (line("system", "rules") + &talk.collect::<String>()).as_bytes());
    for (flags, expected) in [
        (&["--keep-first", "1"][..], "rules task next end"),
        (&["--keep-first", "2"], "rules task plan next end"),
        (&["--keep-first", "1", "--no-preserve-system"], "rules next end"),
        (&["--keep-first", "1", "--strategy", "sliding"], "rules task"),
    ] {
        let done =
            place.curtail(&[&["window", "-n", "2"], flags, &["chat.jsonl"]].concat()).output().expect("it starts");
        let kept = text(&done.stdout);
        let words: Vec<&str> =
            ["rules"].into_iter().chain(texts).filter(|texts| kept.contains(&format!("\"{texts}\""))).collect();
        assert_eq!(words.join(" "), expected, "{flags:?}");
    }
}

/// The help tells when the first summary is made, and of what.
#[test]
fn summaries_cover_what_the_help_says() {
    let place = Place::new();
    let help = text(&place.curtail(&["summarize", "--help"]).output().expect("it starts").stdout);
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("made when interaction N+1 arrives, and covers interactions 2 to N+1"), "{help}");
    let line =
        |nth: usize| format!("{{\"role\":\"{}\",\"content\":\"message {nth}\"}}\n", ["assistant", "user"][nth % 2]);
    place.write("chat.jsonl", (1..=4).map(line).collect::<String>().as_bytes());
    let done = place.curtail(&["summarize", "-n", "3", "--emit", "state", "chat.jsonl"]).output().expect("it starts");
    let state: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
    let range = &state["summaries"][0]["range"];
    assert_eq!((&range["startIndex"], &range["endIndex"]), (&serde_json::json!(2), &serde_json::json!(4)));
}
