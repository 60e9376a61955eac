//! Damaged logs: what can be read is read, what cannot is named, and nothing is dropped unasked.

use std::sync::Arc;

use curtail::embedded::{Command, Reader};
use curtail_core::dialects::Framing;

use crate::program::{Place, run, text};

const SAY: &str = r#"{"role":"user","content":"When does it leave?"}"#;
const ANSWER: &str = r#"{"role":"assistant","content":"At 05:12."}"#;
const THANKS: &str = r#"{"role":"user","content":"Thanks."}"#;

#[test]
fn a_rescue_keeps_every_sound_line_and_names_each_loss() {
    let torn = &THANKS[..20];
    for (damaged, kept, losses) in [
        (format!("{SAY}\n\0\0{ANSWER}\n{THANKS}\n"), format!("{SAY}\n{ANSWER}\n{THANKS}\n"), 1),
        (format!("{SAY}\n{ANSWER}{THANKS}\n"), format!("{SAY}\n{ANSWER}\n{THANKS}\n"), 1),
        (format!("{SAY}\nkilled\n{ANSWER}\n{torn}"), format!("{SAY}\n{ANSWER}\n"), 2),
        (format!("{SAY}\n{torn}{ANSWER}\n"), format!("{SAY}\n{ANSWER}\n"), 1),
    ] {
        let output = run(&["repair", "--damaged"], &damaged);
        let errors = text(&output.stderr);
        assert_eq!((text(&output.stdout), output.status.code()), (kept, Some(0)), "{damaged:?}: {errors}");
        assert_eq!(errors.lines().count(), losses, "{damaged:?}: {errors}");
        let plain = run(&["repair"], &damaged);
        assert!(
            plain.status.code() == Some(2) || text(&plain.stdout).contains(torn),
            "{damaged:?}: nothing is dropped unasked"
        );
    }
}

/// However many lines of other programs are before it, and although no pair of it has to be repaired.
#[test]
fn a_log_behind_other_output_is_read_to_its_end_and_written() {
    let place = Place::new();
    let chat = format!("{SAY}\n{ANSWER}\n").repeat(9_000);
    place.write("a.jsonl", ("npm WARN deprecated\n".repeat(20) + &chat).as_bytes());
    let output = place.curtail(&["repair", "--damaged", "a.jsonl"]).output().unwrap();
    assert!(text(&output.stdout) == chat, "{}", text(&output.stderr));
    let count = place.curtail(&["count", "a.jsonl"]).output().unwrap();
    assert!(text(&count.stdout).contains("18000 "), "{}", text(&count.stdout));
    assert!(place.curtail(&["repair", "--damaged", "--in-place", "a.jsonl"]).output().unwrap().status.success());
    assert!(text(&place.read("a.jsonl")) == chat);
}

/// A log is one although its first line breaks off where nothing is wrong yet.
#[test]
fn a_torn_first_line_makes_no_document() {
    for torn in [r#"{"role""#, r#"{"role":"#, r#"{"role":"user","#, r#"{"role":"user","content":[{"type":"text"}"#] {
        let output = run(&["repair", "--damaged"], &format!("{torn}\n{SAY}\n{ANSWER}\n"));
        let errors = text(&output.stderr);
        assert_eq!((text(&output.stdout), output.status.code()), (format!("{SAY}\n{ANSWER}\n"), Some(0)), "{errors}");
        assert!(errors.contains("stdin:1:1: "), "{errors}");
    }
    let printed = format!("{{\n\"messages\":[\n{SAY}\n,\n{ANSWER}\n]}}\n");
    assert!(text(&run(&["show"], &printed).stdout).contains("framing document"));
}

/// Each line of such a file is a transcript, and the damage of one does not make another file of it.
#[test]
fn damage_at_the_beginning_leaves_a_file_of_records_one() {
    let record = format!("[{SAY},{ANSWER}]");
    let torn = &record[..60];
    for damaged in [
        format!("null\n{record}\n{record}\n"),
        format!("{torn}{record}{record}\n"),
        format!("{}\n{}\n{record}\n{record}\n", &record[..27], record.replace("05", "\u{1}")),
        format!("{record}\n\u{feff}{record}\n"),
    ] {
        let output = run(&["repair", "--damaged"], &damaged);
        let errors = text(&output.stderr);
        assert_eq!(text(&output.stdout), format!("{record}\n{record}\n"), "{damaged:?}: {errors}");
        assert!(!errors.is_empty(), "{damaged:?}");
        let counted = run(&["count", "--output-format", "json"], &damaged);
        assert!(text(&counted.stdout).contains("\"transcripts\":2"), "{damaged:?}: {}", text(&counted.stdout));
    }
}

/// Pages are written record by record: one that cannot be read is no failure of the file.
#[test]
fn a_long_record_that_is_lost_is_no_failure_of_the_others() {
    let long = ANSWER.replace("05:12", &"05:12 ".repeat(8000));
    let record = format!("{{\"id\":1,\"messages\":[{SAY},{long}]}}");
    let damaged = format!("{record}\n{}\n,{record}\n", &record[..record.len() - 9]);
    let output = run(&["view", "--text"], &damaged);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(errors.contains("stdin:3:1: 1 byte left out"), "{errors}");
}

/// Pages are made of small blocks: the first one may be a torn line alone.
#[test]
fn a_torn_first_line_before_a_long_one_makes_no_document() {
    let long = ANSWER.replace("05:12", &"05:12 ".repeat(8000));
    let output = run(&["view", "--text"], &format!("{}\n{long}\n{SAY}\n", &SAY[..24]));
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(errors.contains("stdin:1:1: 24 bytes left out"), "{errors}");
}

/// UTF-16 with letters of another script is no text with NUL bytes between its letters.
#[test]
fn files_of_records_in_utf16_are_converted() {
    let record = format!("[{SAY},{}]", ANSWER.replace("05", "“fünf”"));
    let log = format!("{record}\n{}{record}\n", "\0".repeat(512));
    for unit in [u16::to_le_bytes, u16::to_be_bytes] {
        let place = Place::new();
        place.write("in.jsonl", &log.encode_utf16().flat_map(unit).collect::<Vec<u8>>());
        let output = place.command(&["repair", "--damaged", "in.jsonl"]).output().unwrap();
        assert_eq!(text(&output.stdout), format!("{record}\n{record}\n"), "{}", text(&output.stderr));
    }
}

/// Nothing else is found in such a file, whatever its encoding makes of its lines, and it stays as it is.
#[test]
fn a_check_of_utf16_says_so_once() {
    let record = format!("[{SAY},{ANSWER}]\n");
    let log = format!("{SAY}\n{ANSWER}\n");
    let document = format!("{{\"messages\":[{SAY},{ANSWER}]}}");
    let encodings: [(&str, fn(u16) -> [u8; 2]); 2] = [("", u16::to_le_bytes), ("\u{feff}", u16::to_be_bytes)];
    for chat in [record.repeat(3), record.repeat(9_000), log, document] {
        for (mark, unit) in encodings {
            let place = Place::new();
            let encoded: Vec<u8> = format!("{mark}{chat}").encode_utf16().flat_map(unit).collect();
            place.write("in.jsonl", &encoded);
            let output = place.command(&["check", "--fix", "in.jsonl"]).output().unwrap();
            let printed = text(&output.stdout);
            assert_eq!(output.status.code(), Some(1), "{printed}{}", text(&output.stderr));
            assert!(printed.contains("error[S001]: the file is UTF-16; convert it to UTF-8"), "{printed}");
            assert!(printed.contains("1 error in 1 file"), "{printed}");
            assert!(place.read("in.jsonl") == encoded);
        }
    }
}

/// A long file is read block by block, and its blocks end at line breaks of its own encoding.
#[test]
fn long_files_in_utf16_are_read_to_their_end() {
    let record = format!("[{SAY},{}]\n", ANSWER.replace("05", &"─".repeat(40)));
    let line = ANSWER.replace("05", &"─".repeat(40)) + "\n";
    for log in [record.repeat(2500), line.repeat(4000)] {
        let place = Place::new();
        place.write("in.jsonl", &log.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
        let output = place.command(&["repair", "--damaged", "in.jsonl"]).output().unwrap();
        assert!(text(&output.stdout) == log, "{}", text(&output.stderr));
        assert_eq!(text(&output.stderr).trim_end(), "curtail: in.jsonl:1:1: the file is UTF-16, and was converted");
        assert_eq!(output.status.code(), Some(0));
        let cut = text(&place.command(&["window", "in.jsonl"]).output().unwrap().stderr);
        assert!(cut.contains("the file is UTF-16; convert it to UTF-8"), "{cut}");
    }
}

/// What a file is shows its first line that is not blank, however many are before it.
#[test]
fn a_file_that_begins_with_many_blank_lines_is_read() {
    let place = Place::new();
    place.write("in.jsonl", format!("{}[{SAY},{ANSWER}]\n[{SAY}]\n", "\n".repeat(600_000)).as_bytes());
    let output = place.command(&["count", "--output-format", "json", "in.jsonl"]).output().unwrap();
    assert!(text(&output.stdout).contains("\"transcripts\":2"), "{}", text(&output.stderr));
}

/// What a line is, the other records of its block tell, however many are worked on at once.
#[cfg(unix)]
#[test]
fn what_is_rescued_depends_on_no_concurrency() {
    let record = format!("[{SAY},{ANSWER}]");
    let damaged = format!("{record}\nnull\n{}{record}\n{record}\n", &record[..40]);
    let summarized = ["1", "4"].map(|concurrency| {
        let words =
            ["summarize", "-n", "1", "--emit", "state", "--summarizer-cmd", "cat", "--concurrency", concurrency];
        let output = run(&words, &damaged);
        (text(&output.stdout).lines().count(), text(&output.stderr), output.status.code())
    });
    assert_eq!(summarized[0], summarized[1]);
    assert_eq!(summarized[0].2, Some(0), "{}", summarized[0].1);
}

/// Some programs read two records on one line, and others stop there.
#[test]
fn records_on_one_line_are_a_warning() {
    let output = run(&["check"], &format!("{SAY}{ANSWER}\n{THANKS}\n"));
    let report = text(&output.stdout);
    assert!(report.contains("warning[S001]") && report.contains("stdin:1:"), "{report}");
    assert_eq!(output.status.code(), Some(0));
    let ends_with_returns = format!("{SAY}\r{ANSWER}\r");
    assert!(!text(&run(&["check"], &ends_with_returns).stdout).contains("S001"));
}

#[test]
fn what_was_left_out_can_be_saved() {
    let place = Place::new();
    place.write("in.jsonl", format!("{SAY}\nkilled\n{ANSWER}\n").as_bytes());
    let output = place.command(&["repair", "--damaged", "--rejects", "lost.jsonl", "in.jsonl"]).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(String::from_utf8_lossy(&place.read("lost.jsonl")).contains("killed"));
}

#[test]
fn a_skipped_log_is_no_success() {
    let output = run(&["window", "-n", "2", "--on-error", "skip"], &format!("{SAY}\nkilled\n{ANSWER}\n"));
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), ("", Some(2)), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("`curtail repair --damaged`"), "{}", text(&output.stderr));
}

/// Whatever it is written to; a log that was read is not damaged.
#[test]
fn a_run_of_which_nothing_is_left_is_no_success() {
    let place = Place::new();
    place.write("in.jsonl", format!("{SAY}\n{ANSWER}\n").as_bytes());
    for output in [&[][..], &["-o", "out.jsonl"]] {
        let limit = ["limit", "-t", "1", "--on-overflow", "error", "--on-error", "skip", "in.jsonl"];
        let done = place.curtail(&limit).args(output).output().unwrap();
        let errors = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{errors}");
        assert!(errors.ends_with("curtail: nothing is left: every record failed\n"), "{errors}");
    }
}

#[test]
fn commands_that_only_read_read_what_they_can() {
    for (damaged, loss) in [
        (format!("{SAY}\n\0\0\0\n{ANSWER}\n"), "stdin:2:1: 3 NUL bytes cut"),
        (format!("{SAY}\n{ANSWER}{THANKS}\n"), "stdin:2:1: 2 records on one line parted"),
        (format!("{SAY}\n{ANSWER}\n{}\n", &THANKS[..20]), "stdin:3:1: 20 bytes left out: not JSON"),
    ] {
        for command in [&["count"][..], &["show"], &["view", "--text"], &["verify"]] {
            let output = run(command, &damaged);
            assert_eq!(output.status.code(), Some(0), "{command:?}: {}", text(&output.stderr));
            assert!(text(&output.stderr).contains(loss), "{command:?}: {}", text(&output.stderr));
        }
    }
    assert_eq!(run(&["count"], "killed\n").status.code(), Some(2));
}

/// Many lines that are lost for one reason are said once, with their number.
#[test]
fn losses_are_listed_only_by_a_rescue() {
    let damaged = format!("{SAY}\n{}{ANSWER}\n", "killed\n".repeat(40));
    let listed = |command: &[&str]| text(&run(command, &damaged).stderr).lines().count();
    for command in [&["count"][..], &["show"], &["view", "--text"], &["replay"]] {
        let shown = run(command, &damaged);
        assert_eq!(listed(command), 6, "{command:?}: {}", text(&shown.stderr));
        assert!(text(&shown.stderr).contains("stdin: 35 more errors: "), "{command:?}: {}", text(&shown.stderr));
    }
    assert_eq!(listed(&["verify"]), 7, "also that there is no compaction");
    assert_eq!(listed(&["count", "-v"]), 41);
    assert_eq!(listed(&["repair", "--damaged"]), 40);
}

/// A chat that is stored as patches is read as far as they can be applied, and its sound lines are kept.
#[test]
fn a_damaged_log_of_patches_is_read_around_the_damage() {
    let first = r#"{"kind":0,"v":{"version":3,"sessionId":"s","requests":[]}}"#;
    let ask = r#"{"kind":2,"k":["requests"],"v":[{"requestId":"r","message":{"text":"Is it lit?"},"response":[]}]}"#;
    let say = r#"{"kind":2,"k":["requests",0,"response"],"v":[{"value":"It is."}]}"#;
    let lost = r#"{"kind":1,"k":["requests",3,"result"],"v":1}"#;
    for (damaged, sound, losses) in [
        (format!("{first}\n{ask}\n\0\0{say}\n"), format!("{first}\n{ask}\n{say}\n"), ["stdin:3:"].as_slice()),
        (format!("{first}\n{ask}{say}\nkilled\n"), format!("{first}\n{ask}\n{say}\n"), &["stdin:2:", "stdin:3:"]),
        (format!("{first}\n{ask}\n{lost}\n{say}\n"), format!("{first}\n{ask}\n{lost}\n{say}\n"), &["stdin:3:"]),
    ] {
        for command in [&["count"][..], &["show"], &["view", "--text"]] {
            let output = run(command, &damaged);
            let errors = text(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{command:?} {damaged:?}: {errors}");
            assert!(losses.iter().all(|loss| errors.contains(loss)), "{command:?} {damaged:?}: {errors}");
            assert_eq!(errors.lines().count(), losses.len(), "{command:?} {damaged:?}: {errors}");
        }
        let output = run(&["repair", "--damaged"], &damaged);
        assert_eq!((text(&output.stdout), output.status.code()), (sound, Some(0)), "{}", text(&output.stderr));
    }
}

#[test]
fn the_lines_of_a_damaged_log_are_those_of_its_file() {
    let output = run(&["show", "--output-format", "json"], &format!("killed\n{SAY}\n\0\0\n{ANSWER}{THANKS}\n"));
    let shown: serde_json::Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    let lines: Vec<_> = shown["items"].as_array().unwrap().iter().map(|item| item["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [2, 4, 4], "{shown}");
}

/// A result alone in its message is where the answer to the call belongs.
#[test]
fn a_stub_does_not_break_the_order_of_turns() {
    let chat = r#"{"role":"user","content":[{"text":"Rain?"}]}
{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"weather","input":{}}}]}
{"role":"user","content":[{"toolResult":{"toolUseId":"lost","content":[{"text":"rain"}]}}]}
{"role":"assistant","content":[{"text":"Yes."}]}
"#;
    let output = run(&["repair", "--mode", "stub"], chat);
    let repaired = text(&output.stdout);
    assert_eq!(
        text(&run(&["check", "--strict"], &repaired).stdout),
        "no findings in 1 transcript of 1 file\n",
        "{repaired}"
    );
}

/// The reasoning that a provider wants back stays, wherever a format keeps it.
#[test]
fn required_reasoning_stays_inside_messages() {
    let ask = r#"{"role":"user","content":"Check."}"#;
    let call = r#"{"role":"assistant","content":"","reasoning_content":"So.","tool_calls":[{"id":"1","type":"function","function":{"name":"lint","arguments":"{}"}}]}"#;
    let result = r#"{"role":"tool","tool_call_id":"1","content":"none"}"#;
    let said = r#"{"role":"assistant","content":"None.","reasoning_content":"Say so."}"#;
    let chat = format!("{ask}\n{call}\n{result}\n{said}\n{ask}\n");
    let stripped = text(&run(&["filter", "--strip", "reasoning"], &chat).stdout);
    assert!(stripped.contains("So.") && !stripped.contains("Say so."), "{stripped}");
    let gemini = r#"{"role":"user","parts":[{"text":"Check."}]}
{"role":"model","parts":[{"text":"So.","thought":true,"thoughtSignature":"c2ln"},{"functionCall":{"name":"lint","args":{}}}]}
{"role":"user","parts":[{"functionResponse":{"name":"lint","response":{"output":"none"}}}]}
{"role":"model","parts":[{"text":"Say so.","thought":true},{"text":"None."}]}
{"role":"user","parts":[{"text":"Thanks."}]}
"#;
    let stripped = text(&run(&["filter", "--strip", "reasoning"], gemini).stdout);
    assert!(stripped.contains("So.") && !stripped.contains("Say so."), "{stripped}");
    let sdk = r#"{"role":"user","content":[{"type":"text","text":"Check."}]}
{"role":"assistant","content":[{"type":"reasoning","text":"So.","providerOptions":{"openai":{"itemId":"rs_1"}}},{"type":"tool-call","toolCallId":"1","toolName":"lint","input":{},"providerOptions":{"openai":{"itemId":"fc_1"}}}]}
{"role":"tool","content":[{"type":"tool-result","toolCallId":"1","toolName":"lint","output":{"type":"text","value":"none"}}]}
{"role":"assistant","content":[{"type":"reasoning","text":"Say so."},{"type":"text","text":"None."}]}
{"role":"user","content":[{"type":"text","text":"Thanks."}]}
"#;
    let stripped = text(&run(&["filter", "--strip", "reasoning"], sdk).stdout);
    assert!(stripped.contains("So.") && !stripped.contains("Say so."), "{stripped}");
}

/// Other languages read a log of patches around its damage as the program does, and a torn line is named by all.
#[test]
fn patches_are_rescued_in_process_too() {
    let first = r#"{"kind":0,"v":{"version":3,"sessionId":"s","creationDate":1,"requests":[]}}"#;
    let patch = r#"{"kind":1,"k":["customTitle"],"v":"Ferries"}"#;
    for damaged in [
        format!("{}{first}\n{patch}\n", &first[..40]),
        format!("{first}\n{patch}{patch}\n"),
        format!("{first}\n{patch}\n{{"),
        format!("{first}\n{patch}\n{{\"title\":\"Ferries\"}}}}\n"),
    ] {
        let expected = run(&["repair", "--damaged"], &damaged);
        let command = Command::parse(&["repair", "--damaged"].map(String::from), false).unwrap();
        let reader = Reader::new(Arc::new(command));
        let mut kept = String::new();
        let answer = reader.open(Framing::Lines, [damaged.as_str()]).unwrap().cut(&damaged, &mut kept).unwrap();
        assert_eq!(kept, text(&expected.stdout), "{damaged:?}");
        assert_eq!(answer.notes.len(), text(&expected.stderr).lines().count(), "{damaged:?}: {:?}", answer.notes);
        let counted = run(&["count"], &damaged);
        assert!(counted.status.success() && !counted.stderr.is_empty(), "{damaged:?}: {}", text(&counted.stderr));
    }
}

/// A record that can be read although its line is damaged ends no file: what follows it in other blocks is read, too.
#[test]
fn a_rescued_record_leaves_the_blocks_behind_it_readable() {
    let record = format!("{{\"messages\":[{SAY},{ANSWER}]}}\n");
    let damaged = record.replacen("leave", "leave\",,", 1) + &record.repeat(8000);
    for jobs in ["1", "2"] {
        let output = run(&["summarize", "--emit", "state", "--jobs", jobs], &damaged);
        assert_eq!(text(&output.stdout).lines().count(), 8000, "{}", text(&output.stderr));
    }
}
