//! `check --error`: what an answer means, from every place that it can come from, and what the status says.

use crate::program::{Place, run, text};

const ORPHAN: &str = "{\"role\":\"user\",\"content\":\"Rain?\"}\n{\"role\":\"tool\",\"tool_call_id\":\"call_1\",\"content\":\"rain\"}\n{\"role\":\"assistant\",\"content\":\"Yes.\"}\n";
const ANSWER: &str =
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";

#[test]
fn an_answer_is_read_from_an_argument_a_file_or_standard_input() {
    let place = Place::new();
    place.write("chat.jsonl", ORPHAN.as_bytes());
    place.write("answer.txt", ANSWER.as_bytes());
    for arguments in [["check", "--error", ANSWER, "chat.jsonl"], ["check", "--error", "@answer.txt", "chat.jsonl"]] {
        let output = place.command(&arguments).output().unwrap();
        let printed = text(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{printed}{}", text(&output.stderr));
        assert!(printed.contains("error[P001]") && printed.contains("--> chat.jsonl:2:1"), "{printed}");
        assert!(printed.ends_with("to mend it:\n  curtail check --fix chat.jsonl\n"), "{printed}");
    }
    let piped = run(&["check", "--error", ANSWER], ORPHAN);
    assert!(text(&piped.stdout).contains("--> stdin:2:1"));
    let alone = run(&["check", "--error", ANSWER], "");
    assert_eq!(alone.status.code(), Some(2));
    assert!(
        text(&alone.stderr).contains("no transcript was read; name the one that was sent"),
        "{}",
        text(&alone.stderr)
    );
}

#[test]
fn the_printed_command_mends_what_was_found() {
    for (answer, bad) in [
        (ANSWER, ORPHAN),
        (
            "messages: text content blocks must be non-empty",
            "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Rain?\"},{\"type\":\"text\",\"text\":\"\"}]}\n{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"So.\",\"signature\":\"c2ln\"},{\"type\":\"text\",\"text\":\"Yes.\"}]}\n",
        ),
        (
            "messages.1.content.0.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
            "{\"role\":\"user\",\"content\":\"Rain?\"}\n{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"the weather\",\"input\":{}}]}\n{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_1\",\"content\":\"rain\"}]}\n",
        ),
        // What only some models refuse.
        (
            "Invalid type for 'messages[1].tool_calls[0].function.arguments': expected a string, but got an object instead.",
            "{\"role\":\"user\",\"content\":\"Rain?\"}\n{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"weather\",\"arguments\":{\"city\":\"Oslo\"}}}]}\n{\"role\":\"tool\",\"tool_call_id\":\"call_1\",\"content\":\"rain\"}\n{\"role\":\"assistant\",\"content\":\"Yes.\"}\n",
        ),
        (
            "Item 'fc_68ab01' of type 'function_call' was provided without its required 'reasoning' item: 'rs_68aa99'.",
            "{\"type\":\"message\",\"role\":\"user\",\"content\":\"Rain?\"}\n{\"type\":\"function_call\",\"id\":\"fc_68ab01\",\"call_id\":\"call_1\",\"name\":\"weather\",\"arguments\":\"{}\"}\n{\"type\":\"function_call_output\",\"call_id\":\"call_1\",\"output\":\"rain\"}\n{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"Yes.\"}\n",
        ),
    ] {
        let place = Place::new();
        place.write("chat.jsonl", bad.as_bytes());
        let output = place.command(&["check", "--error", answer, "chat.jsonl"]).output().unwrap();
        let printed = text(&output.stdout);
        let command = printed.lines().find_map(|line| line.strip_prefix("  curtail ")).unwrap();
        let words: Vec<&str> = command.split(' ').collect();
        let mended = place.command(&words).output().unwrap();
        assert!(mended.status.success(), "{command}: {}", text(&mended.stdout));
        assert_ne!(text(&place.read("chat.jsonl")), bad, "{command}");
        let checked = place.command(&["check", "chat.jsonl"]).output().unwrap();
        assert_eq!(text(&checked.stdout), "no findings in 1 transcript of 1 file\n", "{command}");
    }
}

/// The words name the provider to which a block of another one was sent.
#[test]
fn an_answer_settles_the_format_of_messages_in_two() {
    let chat = "{\"role\":\"user\",\"content\":\"Rain?\"}\n{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"weather\",\"arguments\":\"{}\"}}]}\n{\"role\":\"tool\",\"tool_call_id\":\"call_1\",\"content\":\"rain\"}\n{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_1\",\"content\":\"rain\"}]}\n{\"role\":\"assistant\",\"content\":\"Yes.\"}\n";
    let answer = "Invalid value: 'tool_result'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', 'audio', \
                  and 'file'. (param: messages[3].content[0].type)";
    let printed = text(&run(&["check", "--error", answer], chat).stdout);
    assert!(printed.contains("[S016]") && printed.contains("--> stdin:4:"), "{printed}");
}

#[test]
fn an_answer_without_words_is_an_error_of_its_own() {
    let place = Place::new();
    place.write("chat.jsonl", ORPHAN.as_bytes());
    place.write("answer.txt", b" \n");
    for answer in ["", "@answer.txt"] {
        let output = place.command(&["check", "--error", answer, "chat.jsonl"]).output().unwrap();
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()));
        let told = "curtail: --error: the answer is empty; pass what the provider answered\n";
        assert_eq!(text(&output.stderr), told);
    }
}

#[test]
fn the_status_says_whether_a_place_was_found() {
    let sound = "{\"role\":\"user\",\"content\":\"Rain?\"}\n{\"role\":\"assistant\",\"content\":\"Yes.\"}\n";
    for (answer, chat, status, printed) in [
        (ANSWER, sound, 0, "the transcript has no such place"),
        ("Request contains an invalid argument.", sound, 0, "means P004 (call ids) or S006 (names), and the"),
        ("invalid x-api-key", sound, 0, "not about the transcript but about the account"),
        ("context_management: Extra inputs are not permitted", sound, 0, "a field of the request"),
        ("the weather is fine", sound, 2, "the nearest are"),
    ] {
        let output = run(&["check", "--error", answer], chat);
        assert_eq!(output.status.code(), Some(status), "{answer}");
        assert!(text(&output.stdout).contains(printed), "{answer}: {}", text(&output.stdout));
    }
}

/// A rule that says so is mended by `--fix`, and its example has no finding then.
#[test]
fn every_rule_that_says_it_is_fixed_is_fixed() {
    use curtail_core::checks::{ALL, Fix};
    let mut left = Vec::new();
    for rule in ALL.iter().filter(|rule| matches!(rule.fix, Fix::Part | Fix::Unsafe)) {
        let place = Place::new();
        place.write("t.jsonl", rule.bad.as_bytes());
        let mut arguments = vec!["check", "--fix", "--unsafe-fixes"];
        arguments.extend(rule.flags.split_whitespace());
        arguments.push("t.jsonl");
        let output = place.command(&arguments).output().unwrap();
        let printed = text(&output.stdout);
        if !printed.contains("no findings") {
            left.push(format!("{}: {printed}{}", rule.name, text(&output.stderr)));
        }
    }
    assert!(left.is_empty(), "{}", left.join("\n"));
}

#[test]
fn a_file_of_an_answer_is_a_small_file() {
    let place = Place::new();
    place.write("chat.jsonl", ORPHAN.as_bytes());
    let refusal = |file: &str| {
        let output = place.command(&["check", "--error", file, "chat.jsonl"]).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        text(&output.stderr)
    };
    assert_eq!(refusal("@missing.txt"), "curtail: missing.txt: no such file or directory\n");
    if std::path::Path::new("/dev/zero").exists() {
        assert!(refusal("@/dev/zero").contains("/dev/zero: larger than 64 MB"));
    }
}
