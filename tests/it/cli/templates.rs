//! Counts and budgets are those of what a chat template renders.

use std::path::Path;

use curtail::dialects::{Framing, Reading};
use curtail::templates::{ChatMessage, ChatTemplate};
use serde_json::Value;

use crate::program::{Place, chats, text};

fn template() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/templates/chat_template.jinja").display().to_string()
}

/// Tokens of a record as the template renders it.
fn rendered(record: &str) -> usize {
    let template = ChatTemplate::open(Path::new(&template())).unwrap();
    let reading = Reading::new(Framing::Records, None, None).unwrap();
    let document = reading.parse(record).unwrap();
    let transcripts = reading.transcripts(&document).unwrap();
    let messages: Vec<ChatMessage> = transcripts[0].1.messages.iter().flat_map(ChatMessage::from_message).collect();
    let text = template.render(&messages.iter().collect::<Vec<_>>(), None).unwrap();
    curtail::tokenizers::tokenizer_by_name("o200k_base").unwrap().count(&text)
}

fn lines(bytes: &[u8]) -> Vec<String> {
    text(bytes).lines().map(str::to_owned).collect()
}

#[test]
fn count_is_what_the_template_renders() {
    let place = Place::new();
    place.write("in.jsonl", chats(9).as_bytes());
    let arguments = ["count", "in.jsonl", "--by", "transcript", "--output-format", "csv", "--template", &template()];
    let done = place.curtail(&arguments).output().unwrap();
    let rows = lines(&done.stdout);
    let column = rows[0].split(',').position(|name| name == "tokens").expect("a column of tokens");
    for (row, record) in rows[1..].iter().zip(chats(9).lines()) {
        assert_eq!(row.split(',').nth(column).unwrap(), rendered(record).to_string(), "{row}");
    }
}

#[test]
fn budgets_hold_for_what_the_template_renders() {
    let place = Place::new();
    place.write("in.jsonl", chats(9).as_bytes());
    for budget in [100, 150, 300] {
        let tokens = budget.to_string();
        let run = |command: &str| {
            let done =
                place.curtail(&[command, "-t", &tokens, "in.jsonl", "--template", &template()]).output().unwrap();
            assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
            lines(&done.stdout)
        };
        let (limited, split) = (run("limit"), run("split"));
        for (before, after) in chats(9).lines().zip(&limited) {
            let fits = rendered(before) <= budget;
            assert_eq!(fits, before == after, "what fits is not cut");
            assert!(rendered(after) <= budget);
        }
        assert!(split.iter().all(|row| rendered(row) <= budget));
        let said = |row: &str| {
            let row: Value = serde_json::from_str(row).unwrap();
            row["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "assistant").count()
        };
        let all: usize = chats(9).lines().map(said).sum();
        assert_eq!(split.iter().map(|row| said(row)).sum::<usize>(), all, "every target once");
        // No row could have taken the first message of the assistant in the next one.
        let checked = place.curtail(&["check", "-t", &tokens, "-", "--template", &template()]);
        let mut checked = checked;
        let status = checked.write_stdin(split.join("\n")).output().unwrap().status.code();
        assert_eq!(status, Some(0), "check agrees");
    }
}

#[test]
fn what_the_template_refuses_is_an_error_with_a_place() {
    let place = Place::new();
    place.write("in.jsonl", chats(1).as_bytes());
    place.write("strict.jinja", b"{{ raise_exception('Only users may speak') }}");
    for command in [&["limit", "-t", "20"][..], &["split", "-t", "20"], &["count"], &["check", "-t", "9"]] {
        let done = place.curtail(command).args(["in.jsonl", "--template", "strict.jinja"]).output().unwrap();
        let said = text(&done.stderr);
        assert!(said.contains("in.jsonl:1:") && said.contains("Only users may speak"), "{command:?}: {said}");
        assert_eq!(done.status.code(), Some(2), "{command:?}");
    }
    let done = place.curtail(&["count", "in.jsonl", "--template", "none.jinja"]).output().unwrap();
    assert!(text(&done.stderr).contains("none.jinja: "), "{}", text(&done.stderr));
}

/// The commands that count message by message say which ones count what a template renders.
#[test]
fn a_template_for_another_command_is_an_error_with_advice() {
    let place = Place::new();
    place.write("in.jsonl", chats(2).as_bytes());
    for command in ["window", "view", "replay"] {
        let done = place.curtail(&[command, "in.jsonl", "--template", &template()]).output().unwrap();
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{said}");
        assert!(said.contains("tip: `count`, `check`, `limit` and `split` count what"), "{said}");
        assert_eq!(said.matches("tip: ").count(), 1, "{said}");
    }
}
