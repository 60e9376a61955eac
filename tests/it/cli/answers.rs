//! Rows with answers to train on: what comes before the answers is cut, equally in both.

use serde_json::Value;

use crate::program::run;

fn rows(text: &[u8]) -> Vec<Value> {
    String::from_utf8_lossy(text).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn message(text: &str) -> Value {
    serde_json::json!({"role": "user", "content": text})
}

fn answer(text: &str) -> Value {
    serde_json::json!({"role": "assistant", "content": text})
}

#[test]
fn what_both_answers_repeat_is_cut_equally() {
    let begin = [message("one"), answer("two"), message("three")];
    let list = |last: &str| [begin.to_vec(), vec![answer(last)]].concat();
    for row in [
        serde_json::json!({"chosen": list("yes"), "rejected": list("no, and more than that"), "score": 2}),
        serde_json::json!({"rejected": list("no"), "chosen": list("yes")}),
        serde_json::json!({"prompt": begin, "chosen": [answer("yes")], "rejected": [answer("no")]}),
    ] {
        let text = format!("{row}\n");
        assert_eq!(run(&["window", "-n", "9"], &text).stdout, text.as_bytes());
        // Everything before the answers goes.
        let out = rows(&run(&["filter", "--drop", "0..3"], &text).stdout);
        assert_eq!(out[0]["chosen"], serde_json::json!([answer("yes")]), "{row}");
        assert_eq!(out[0]["rejected"].as_array().map(Vec::len), Some(1), "{row}");
        // What is left before the answers is equal in both.
        let out = rows(&run(&["filter", "--drop", "0"], &text).stdout);
        let before = |key: &str| out[0][key].as_array().map(|list| list[..list.len() - 1].to_vec());
        assert_eq!(before("chosen"), before("rejected"), "{row}");
    }
}

/// Data sets also keep the better answer as `messages`, or the question beside answers that repeat it.
#[test]
fn a_list_that_repeats_the_answers_is_cut_with_them() {
    let begin = [message("one"), answer("two"), message("three")];
    let list = |last: &str| [begin.to_vec(), vec![answer(last)]].concat();
    for (key, beside) in [("messages", list("yes")), ("prompt", begin.to_vec())] {
        let row = serde_json::json!({"chosen": list("yes"), "rejected": list("no"), key: beside});
        let out = rows(&run(&["filter", "--drop", "0..2"], &format!("{row}\n")).stdout);
        let left = |last: &str| serde_json::json!([message("three"), answer(last)]);
        assert_eq!((&out[0]["chosen"], &out[0]["rejected"]), (&left("yes"), &left("no")), "{row}");
        assert_eq!(out[0][key], serde_json::json!(beside[2..]), "{row}");
    }
}

#[test]
fn pairs_are_judged_along_each_branch() {
    let call = serde_json::json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}]});
    let result = serde_json::json!({"role": "tool", "tool_call_id": "c", "content": "05:12"});
    let row = serde_json::json!({"prompt": [message("one"), call], "chosen": [result, answer("05:12")], "rejected": [answer("no")]});
    let output = run(&["check"], &format!("{row}\n"));
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.matches("error[").count() == 1 && shown.contains("error[P002]"), "{shown}");
}

#[test]
fn limit_fits_the_longer_answer() {
    let long = "word ".repeat(40);
    let row = |chosen: &str, rejected: &str| {
        let prompt = [message("one two three four five"), answer("six"), message("seven")];
        format!(
            "{}\n",
            serde_json::json!({"prompt": prompt, "chosen": [answer(chosen)], "rejected": [answer(rejected)]})
        )
    };
    for text in [row(&long, "short"), row("short", &long)] {
        let out = rows(&run(&["limit", "--max-tokens", "46"], &text).stdout);
        assert!(out[0]["prompt"].as_array().is_some_and(|list| list.len() < 3), "{text}");
    }
}

#[test]
fn split_says_why_it_refuses() {
    let row = serde_json::json!({"prompt": [message("one")], "chosen": [answer("yes")], "rejected": [answer("no")]});
    let output = run(&["split", "--max-tokens", "50"], &format!("{row}\n"));
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("answers to train on"));
}

/// A label stands beside a whole conversation: its last reply is the answer.
#[test]
fn a_labelled_reply_stays_whole() {
    let list = [message("one two three four five"), answer("six"), message("seven"), answer("yes")];
    let from = |role: &str, text: &str| serde_json::json!({"from": role, "value": text});
    let spoken =
        [from("human", "one two three four five"), from("gpt", "six"), from("human", "seven"), from("gpt", "yes")];
    for (row, key) in [
        (serde_json::json!({"messages": list, "label": true}), "messages"),
        (serde_json::json!({"conversations": spoken, "kto_tag": false}), "conversations"),
    ] {
        let text = format!("{row}\n");
        let output = run(&["check", "-D", "dataset"], &text);
        assert!(output.status.success(), "{row}: {}", String::from_utf8_lossy(&output.stdout));
        assert_eq!(run(&["window", "-n", "9"], &text).stdout, text.as_bytes());
        // Not even a range that leaves nothing drops the answer.
        let out = rows(&run(&["filter", "--drop", "0..9"], &text).stdout);
        assert_eq!(out[0][key], serde_json::json!([row[key][3]]), "{row}");
        let out = rows(&run(&["limit", "--max-tokens", "6"], &text).stdout);
        let kept = out[0][key].as_array().expect("a list");
        assert!(kept.len() < 4 && kept.last() == Some(&row[key][3]), "{row}: {out:?}");
        let output = run(&["split", "--max-tokens", "50"], &text);
        assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("answers to train on"));
    }
}

/// An answer beside the messages is one.
#[test]
fn an_answer_in_another_member_lacks_no_assistant() {
    for (key, says, is_found) in [("output", "two", false), ("completion", "two", false), ("output", " ", true)] {
        let row = format!("{}\n", serde_json::json!({"messages": [message("one")], key: says}));
        assert_eq!(!run(&["check", "-D", "dataset"], &row).status.success(), is_found, "{row}");
    }
}

/// A row with only a prompt lacks no answer; one whose answer has no text does.
#[test]
fn a_prompt_alone_lacks_no_answer() {
    let prompt_row = format!("{}\n", serde_json::json!({"prompt": [message("one")]}));
    let output = run(&["check", "-D", "dataset"], &prompt_row);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let unanswered = format!("{}\n", serde_json::json!({"messages": [message("one")]}));
    let output = run(&["check", "-D", "dataset"], &unanswered);
    assert!(String::from_utf8_lossy(&output.stdout).contains("D001"));
}
