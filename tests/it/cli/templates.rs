//! Counts and budgets are those of what a chat template renders.

use std::path::Path;

use curtail_core::dialects::{Framing, Reading};
use curtail_tokens::templates::{ChatMessage, ChatTemplate};
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
    let messages = transcripts[0].1.messages.iter().flat_map(|message| template.messages_of(message));
    let messages: Vec<ChatMessage> = messages.collect();
    let text = template.render(&messages.iter().collect::<Vec<_>>(), None).unwrap();
    curtail_tokens::tokenizers::tokenizer_by_name("o200k_base").unwrap().count(&text)
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
    for budget in [150, 200, 300] {
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
        let reported = |row: &str| {
            let row: Value = serde_json::from_str(row).unwrap();
            row["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "assistant").count()
        };
        let all: usize = chats(9).lines().map(reported).sum();
        assert_eq!(split.iter().map(|row| reported(row)).sum::<usize>(), all, "every target once");
        // No row could have taken the first message of the assistant in the next one.
        let checked = place.curtail(&["check", "-t", &tokens, "-", "--template", &template()]);
        let mut checked = checked;
        let status = checked.write_stdin(split.join("\n")).output().unwrap().status.code();
        assert_eq!(status, Some(0), "check agrees");
    }
}

#[test]
fn a_window_that_does_not_fit_has_the_tokens_that_it_renders_to() {
    let place = Place::new();
    place.write("in.jsonl", chats(9).as_bytes());
    for budget in ["40", "60", "80"] {
        let arguments =
            ["split", "-t", budget, "in.jsonl", "--on-overflow", "keep", "--map", "map", "--force", "--template"];
        let done = place.curtail(&[&arguments[..], &[&template()]].concat()).output().unwrap();
        let map = place.read("map");
        let map = text(&map);
        assert!(text(&done.stderr).contains("kept in a window of their own"), "{}", text(&done.stderr));
        let rows = lines(&done.stdout);
        assert_eq!(rows.len(), map.lines().count());
        for (row, window) in rows.iter().zip(map.lines()) {
            let window: Value = serde_json::from_str(window).unwrap();
            assert_eq!(window["tokens"], rendered(row), "{window}");
        }
    }
}

#[test]
fn a_window_that_the_template_refuses_is_said_to_be_estimated() {
    let place = Place::new();
    place.write("in.jsonl", chats(9).as_bytes());
    let refusing = "{% if messages|length < 6 %}{{ raise_exception('too short') }}{% endif %}\
                    {% for message in messages %}{{ message.content }}{% endfor %}";
    place.write("refusing.jinja", refusing.as_bytes());
    let arguments = ["split", "-t", "40", "in.jsonl", "--on-overflow", "keep", "--template", "refusing.jinja"];
    let done = place.curtail(&[&arguments[..], &["--on-error", "keep"]].concat()).output().unwrap();
    let stderr = text(&done.stderr);
    assert!(
        stderr.lines().any(|line| line.contains("; its tokens are estimated: ") && line.contains("too short")),
        "{stderr}"
    );
}

/// The tokens of `chat` under a template.
fn tokens_under(template: &str, chat: &str) -> u64 {
    let place = Place::new();
    place.write("chat.jsonl", format!("{chat}\n").as_bytes());
    place.write("asks.jinja", template.as_bytes());
    let arguments = ["count", "--template", "asks.jinja", "--output-format", "json", "chat.jsonl"];
    let output = place.curtail(&arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let counts: Value = serde_json::from_slice(&output.stdout).unwrap();
    counts["tokens"].as_u64().unwrap()
}

/// Templates ask for the length of the tools if there are any, and `transformers` passes `None` where there are none.
#[test]
fn no_tools_are_not_iterable() {
    let template = "{% if tools is iterable and tools | length > 0 %}many tools{% endif %}{% if messages[0].content is iterable %}x{% endif %}";
    assert_eq!(tokens_under(template, r#"{"role": "user", "content": "Hi."}"#), 1, "only the x is rendered");
}

/// An undefined value has a length and members by number in Jinja, and so is a sequence. `None` is none.
#[test]
fn what_is_undefined_is_a_sequence() {
    let template = "{% if nothing is sequence and nothing is iterable %}x{% endif %}{% if tools is sequence %}many tools{% endif %}";
    assert_eq!(tokens_under(template, r#"{"role": "user", "content": "Hi."}"#), 1, "only the x is rendered");
}

/// `transformers` leaves out the members of a message that are null: a template would write `None`, or fail.
#[test]
fn null_in_a_message_is_nothing() {
    let chat = r#"{"messages": [{"role": "assistant", "content": null, "tool_calls": null, "name": "x"}]}"#;
    let template = "{% for m in messages %}{% if 'content' in m or m.tool_calls is defined %}never never{% endif %}{{ m.name }}{% endfor %}";
    assert_eq!(tokens_under(template, chat), 1, "only the x is rendered");
}

#[test]
fn what_the_template_refuses_is_an_error_with_a_place() {
    let place = Place::new();
    place.write("in.jsonl", chats(1).as_bytes());
    place.write("strict.jinja", b"{{ raise_exception('Only users may speak') }}");
    for command in [&["limit", "-t", "20"][..], &["split", "-t", "20"], &["count"], &["check", "-t", "9"]] {
        let done = place.curtail(command).args(["in.jsonl", "--template", "strict.jinja"]).output().unwrap();
        let stderr = text(&done.stderr);
        assert!(stderr.contains("in.jsonl:1:") && stderr.contains("Only users may speak"), "{command:?}: {stderr}");
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
        let stderr = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("tip: `count`, `check`, `limit` and `split` count what"), "{stderr}");
        assert_eq!(stderr.matches("tip: ").count(), 1, "{stderr}");
    }
}

/// A template is somebody else's program: whatever it does is an error of the transcript, with the template's name.
#[test]
fn a_hostile_template_is_an_error() {
    let place = Place::new();
    place.write("in.jsonl", chats(1).as_bytes());
    let cycle = "{% set x = namespace() %}{% set x.y = x %}";
    for (source, part) in [
        ("{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}", "more steps"),
        ("{% set ns = namespace(x=\"a\") %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}", "memory"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "recursion limit"),
        ("{{ \"x\" * 1000000000 }}", "repeated string is too large"),
        (&format!("{cycle}{{{{ x }}}}"), "deep"),
        (&format!("{cycle}{{{{ x | tojson }}}}"), "deep"),
        (&format!("{cycle}{{{{ x | upper }}}}"), "memory"),
        ("{{ messages | tojson(indent=9223372036854775807) }}", "cannot indent by 9223372036854775807"),
        ("{{ messages | tojson(indent=-1) }}", "t.jinja:1: "),
    ] {
        // Only Linux limits the memory of every process.
        if part == "memory" && !cfg!(target_os = "linux") {
            continue;
        }
        place.write("t.jinja", source.as_bytes());
        let done = place.curtail(&["count", "in.jsonl", "--template", "t.jinja"]).output().unwrap();
        let stderr = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{source}: {stderr}");
        assert!(stderr.contains("in.jsonl:1:") && stderr.contains(part), "{source}: {stderr}");
    }
}

/// Deep nesting overflows a stack before anything is rendered: not that of the program.
#[test]
fn a_template_that_nests_too_deeply_is_an_error() {
    let place = Place::new();
    place.write("in.jsonl", chats(1).as_bytes());
    let repeated = |text: &str| text.repeat(20_000);
    for source in [
        format!("{{{{ {}1 }}}}", repeated("not ")),
        format!("{{{{ {}1 }}}}", repeated("-")),
        format!("{{{{ 1{} }}}}", repeated("|abs")),
        format!("{{{{ 1{} }}}}", repeated("~1")),
        format!("{{{{ a{} }}}}", repeated(".b")),
        format!("{{{{ {}1 }}}}", repeated("1 if 1 else ")),
        format!("{{{{ {}1{} }}}}", repeated("("), repeated(")")),
        format!("{}{}", repeated("{% if 1 %}"), repeated("{% endif %}")),
    ] {
        place.write("t.jinja", source.as_bytes());
        for command in [&["count"][..], &["limit", "-t", "9"]] {
            let done = place.curtail(command).args(["in.jsonl", "--template", "t.jinja"]).output().unwrap();
            let stderr = text(&done.stderr);
            assert_eq!(done.status.code(), Some(2), "{}: {stderr}", &source[..30]);
            let is_told = stderr.contains("compiling t.jinja was stopped: it needs more memory, or nests deeper");
            assert!(is_told || stderr.contains("t.jinja:1: template exceeds maximum recursion limits"), "{stderr}");
        }
    }
}

#[test]
fn a_long_message_of_a_template_is_cut() {
    let place = Place::new();
    place.write("in.jsonl", chats(1).as_bytes());
    place.write("t.jinja", "{{ raise_exception('no ä ' * 1000000) }}".as_bytes());
    let done = place.curtail(&["count", "in.jsonl", "--template", "t.jinja"]).output().unwrap();
    let stderr = text(&done.stderr);
    assert!(stderr.contains("t.jinja:1: no ä no ä ") && stderr.ends_with("… (5999001 more bytes)\n"), "{stderr}");
    assert!(stderr.len() < 1200, "{}", stderr.len());
}

/// An error of the template is reported once: the name of what is undefined, the file and the line.
#[test]
fn an_undefined_name_of_a_template_is_named_once() {
    let place = Place::new();
    place.write("in.jsonl", chats(40).as_bytes());
    place.write("t.jinja", b"{% for m in messages %}\n{{ m.extra.name }}\n{% endfor %}");
    let policy = "limit -t 9 --template t.jinja";
    for command in [
        &["count", "--template", "t.jinja"][..],
        &["check", "-t", "9", "--template", "t.jinja"],
        &["limit", "-t", "9", "--template", "t.jinja", "--on-error", "skip"],
        &["view", "--policy", policy],
    ] {
        let done = place.curtail(command).arg("in.jsonl").output().unwrap();
        let stderr = text(&done.stderr);
        // Where every record is left out, nothing is written, and that is no success.
        assert_eq!(done.status.code(), Some(2), "{stderr}");
        assert_eq!(stderr.matches("t.jinja:2: `m.extra` is undefined").count(), 2, "{stderr}");
        assert!(stderr.contains("39 more transcripts: "), "{stderr}");
    }
    let all = place.curtail(&["-v", "count", "in.jsonl", "--template", "t.jinja"]).output().unwrap();
    assert_eq!(text(&all.stderr).matches("is undefined").count(), 40);
}
