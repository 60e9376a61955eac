//! Where user and assistant must alternate, what this program writes joins the user's message that follows.

use std::path::Path;

use super::{curtail, folder, text};

/// Standard output of a run that must succeed.
fn run(folder: &Path, arguments: &[&str]) -> String {
    let output = curtail(folder).args(arguments).output().expect("the binary runs");
    assert!(output.status.success(), "{arguments:?}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// The messages, whatever the white space in them.
fn messages(lines: &str) -> Vec<serde_json::Value> {
    lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("it can be written");
}

/// Message `n` of a chat: odd ones are the user's. Escapes and white space show whether its bytes are kept.
fn message(dialect: &str, n: usize) -> String {
    let user = n % 2 == 1;
    match dialect {
        "bedrock" => {
            let role = if user { "user" } else { "assistant" };
            format!("{{\"role\": \"{role}\", \"content\": [ {{\"text\": \"Say \\u0066act{n}.\"}} ]}}\n")
        }
        _ => {
            let from = if user { "human" } else { "gpt" };
            format!("{{\"from\": \"{from}\", \"value\": \"Say \\u0066act{n}.\"}}\n")
        }
    }
}

fn chat(dialect: &str, range: std::ops::RangeInclusive<usize>) -> String {
    range.map(|n| message(dialect, n)).collect()
}

/// The findings of `check` about turns, of which there must be none.
fn assert_alternates(folder: &Path, dialect: &str, transcript: &str) {
    write(folder, "out.jsonl", transcript);
    run(folder, &["check", "--dialect", dialect, "-D", "alternation", "-D", "first-speaker", "out.jsonl"]);
}

#[test]
fn summaries_join_the_user_that_follows() {
    let folder = folder();
    for dialect in ["bedrock", "sharegpt"] {
        let flags = ["summarize", "--dialect", dialect, "-n", "3"];
        for count in 4..=9 {
            write(folder.path(), "chat.jsonl", &chat(dialect, 1..=count));
            let once = run(folder.path(), &[&flags[..], &["chat.jsonl"]].concat());
            assert_alternates(folder.path(), dialect, &once);
            assert!(once.contains("<\\u0063onversation_summaries"), "{once}");
            // The user's text keeps its bytes behind the block.
            let first = message(dialect, count - 2);
            let kept = first.rsplit_once("\"Say").expect("a text").1;
            let (block, rest) = once.split_once('\n').expect("lines");
            assert!(block.ends_with(kept.trim_end()) || rest.starts_with(&first), "{once}");
            assert_eq!(run(folder.path(), &[&flags[..], &["out.jsonl"]].concat()), once, "twice is once");
        }
    }
}

/// A summarized transcript goes on where it stopped, and a thread that is fed in pieces gives what one go gives.
#[test]
fn summaries_in_front_of_a_message_continue() {
    let folder = folder();
    for dialect in ["bedrock", "sharegpt"] {
        let flags = ["summarize", "--dialect", dialect, "-n", "3", "--max-summaries", "9"];
        let mut part = String::new();
        for n in 1..=11 {
            write(folder.path(), "part.jsonl", &(part + &message(dialect, n)));
            part = run(folder.path(), &[&flags[..], &["part.jsonl"]].concat());
            assert_alternates(folder.path(), dialect, &part);
            write(folder.path(), "chat.jsonl", &chat(dialect, 1..=n));
            let whole = run(folder.path(), &[&flags[..], &["chat.jsonl"]].concat());
            let ranges = |text: &str| text.matches("<summary from=").count();
            assert_eq!(ranges(&part), ranges(&whole), "{part}\n{whole}");
            assert_eq!(part.matches("onversation_summaries next=").count(), usize::from(n > 3), "{part}");
            write(folder.path(), "new.jsonl", &message(dialect, n));
            let thread = ["--store", "s.db", "--thread", dialect, "new.jsonl"];
            assert_eq!(run(folder.path(), &[&flags[..], &thread].concat()), whole, "{dialect}: after {n}");
        }
    }
}

#[test]
fn memory_joins_the_user_that_follows() {
    let folder = folder();
    let update = |state: &str| run(folder.path(), &["memory", "update", "--store", "s.db", "--resource", "r", state]);
    let recall = |name: &str| {
        run(folder.path(), &["memory", "recall", "--store", "s.db", "--resource", "r", "--dialect", "bedrock", name])
    };
    for range in [1..=5, 2..=5] {
        let text = chat("bedrock", range);
        write(folder.path(), "chat.jsonl", &text);
        update("{\"name\":\"Ada\"}");
        let once = recall("chat.jsonl");
        assert_alternates(folder.path(), "bedrock", &once);
        assert!(once.contains("Ada") && once.ends_with(text.split_once('\n').expect("lines").1), "{once}");
        assert_eq!(recall("out.jsonl"), once, "twice is once");
        update("{\"name\":\"Eve\"}");
        let changed = recall("out.jsonl");
        assert_eq!(messages(&changed), messages(&once.replace("Ada", "Eve")));
        run(folder.path(), &["memory", "clear", "--store", "s.db", "--resource", "r"]);
        assert_eq!(messages(&recall("out.jsonl")), messages(&text), "an empty memory leaves what was said");
    }
}

/// Summaries and memory share a message, whichever comes first, and memory outlives the message that it was written into.
#[test]
fn summaries_and_memory_share_a_message() {
    let folder = folder();
    run(folder.path(), &["memory", "update", "--store", "s.db", "--resource", "r", "{\"name\":\"Ada\"}"]);
    let recall = ["memory", "recall", "--store", "s.db", "--resource", "r", "--dialect", "bedrock"];
    let summarize = ["summarize", "--dialect", "bedrock", "-n", "3"];
    for count in 4..=8 {
        for order in [[&recall[..], &summarize[..]], [&summarize[..], &recall[..]]] {
            write(folder.path(), "out.jsonl", &chat("bedrock", 1..=count));
            let mut last = String::new();
            for command in order.into_iter().cycle().take(6) {
                last = run(folder.path(), &[command, &["out.jsonl"]].concat());
                assert_alternates(folder.path(), "bedrock", &last);
                assert!(
                    last.matches("Ada").count() <= 1 && last.matches("onversation_summaries next=").count() <= 1,
                    "{last}"
                );
            }
            assert!(last.contains("Ada") && last.contains("<summary from="), "{last}");
            let messages = last.lines().count();
            assert_eq!(messages, if count % 2 == 1 { 3 } else { 4 }, "{last}");
        }
    }
}

/// A stub that answers a call joins the user's message behind it.
#[test]
fn stubs_join_the_user_that_follows() {
    let folder = folder();
    let call = r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"f","input":{}}}]}"#;
    for rest in [message("bedrock", 3) + &message("bedrock", 4), message("bedrock", 3), String::new()] {
        write(folder.path(), "chat.jsonl", &format!("{}{call}\n{rest}", message("bedrock", 1)));
        let stub = ["repair", "--dialect", "bedrock", "--mode", "stub", "--pending", "chat.jsonl"];
        assert_alternates(folder.path(), "bedrock", &run(folder.path(), &stub));
    }
}
