//! `curtail verify`: exit statuses, formats, texts as AFTER, directories, the compactions of logs, and texts that try to be facts.

use std::fs;

use serde_json::{Value, json};

use crate::program::{Place, gzip, run, text, zstd};

const CHAT: &str = "fixtures/verify/chat.jsonl";
const BEFORE: &str = "fixtures/verify/before.jsonl";

/// The JSON report of these words.
fn report(words: &[&str]) -> Value {
    let words: Vec<&str> = ["verify", "--output-format", "json"].into_iter().chain(words.iter().copied()).collect();
    serde_json::from_str(&text(&run(&words, "").stdout)).unwrap()
}

/// The path of a new file.
fn written(place: &Place, name: &str, text: &str) -> String {
    place.write(name, text.as_bytes());
    place.path(name).display().to_string()
}

fn status(words: &[&str], input: &str) -> i32 {
    run(words, input).status.code().unwrap()
}

/// The finding that is new is named, and not one that was there before.
#[test]
fn a_new_finding_is_told_from_a_known_one() {
    let place = Place::new();
    let line = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "1"});
    let log = |results: &[&str]| {
        let question = json!({"role": "user", "content": "hi"});
        let lines = std::iter::once(question).chain(results.iter().map(|id| line(id)));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    let before = written(&place, "before.jsonl", &log(&["known"]));
    let after = written(&place, "after.jsonl", &log(&["added", "known"]));
    let found = report(&[&before, &after]).to_string();
    assert!(found.contains("added") && !found.contains("`known`"), "{found}");
}

/// Standard input is read once, whatever is written.
#[test]
fn a_log_from_standard_input_is_compared_and_shown() {
    let log =
        fs::read_to_string(crate::program::root().join("fixtures/dialects/claude-code/compaction.jsonl")).unwrap();
    let page = text(&run(&["verify", "--output-format", "html"], &log).stdout);
    assert!(page.contains("Bottle the cider."), "{page}");
    let given = run(&["verify", "--give-back", "50", "--as", "message"], &log);
    assert_eq!((given.status.code(), text(&given.stdout)), (Some(0), log.clone()));
    let page = text(&run(&["verify", CHAT, "-", "--output-format", "html"], "a summary").stdout);
    assert!(page.contains("a summary"), "{page}");
}

#[test]
fn requirements_decide_the_status() {
    let after = "fixtures/verify/after.md";
    assert_eq!(status(&["verify", BEFORE, after], ""), 0);
    assert_eq!(status(&["verify", "--min-kept", "10%", BEFORE, after], ""), 0);
    assert_eq!(status(&["verify", "--min-kept", "90%", BEFORE, after], ""), 1);
    assert_eq!(status(&["verify", "--require", "rule", BEFORE, after], ""), 1);
    assert_eq!(status(&["verify", "--require", "task,file", BEFORE, after], ""), 0);
    assert_eq!(status(&["verify", BEFORE, "fixtures/verify/none.md"], ""), 2);
    assert_eq!(status(&["verify", after, BEFORE], ""), 2);
    // There is no thread without work, however many are asked for.
    assert_eq!(status(&["verify", "--jobs", "100000", BEFORE, after], ""), 0);
}

#[test]
fn the_same_transcript_keeps_everything_and_an_empty_text_nothing() {
    let whole = report(&[BEFORE, BEFORE]);
    assert_eq!(whole["summary"]["share"], json!(1.0));
    assert_eq!(whole["pairs"][0]["sound"], json!(true));
    assert_eq!(whole["pairs"][0]["cache"]["unchanged"], whole["pairs"][0]["cache"]["of"]);
    let place = Place::new();
    let none = written(&place, "none.txt", "");
    let nothing = report(&[BEFORE, &none]);
    assert_eq!(nothing["summary"]["kept"], json!(0));
    assert_eq!(nothing["summary"]["share"], json!(0.0));
}

#[test]
fn one_side_may_be_standard_input() {
    let summary = fs::read_to_string("fixtures/verify/after.md").unwrap();
    let output = run(&["verify", "--output-format", "json", BEFORE, "-"], &summary);
    let piped: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    let named = report(&[BEFORE, "fixtures/verify/after.md"]);
    assert_eq!(piped["summary"], named["summary"]);
    assert_eq!(status(&["verify", "-", "-"], ""), 2);
}

#[test]
fn an_unsound_cut_fails() {
    let place = Place::new();
    let log = fs::read_to_string(BEFORE).unwrap();
    let lines: Vec<&str> = log.lines().filter(|line| !line.contains("call_2\", \"type")).collect();
    let cut = written(&place, "cut.jsonl", &(lines.join("\n") + "\n"));
    let report = report(&[BEFORE, &cut]);
    assert_eq!(report["pairs"][0]["sound"], json!(false));
    assert_eq!(report["pairs"][0]["failed"], json!(["sound"]));
    assert_eq!(status(&["verify", BEFORE, &cut], ""), 1);
}

#[test]
fn directories_are_compared_by_name_whatever_the_number_of_threads() {
    let place = Place::new();
    let log = fs::read_to_string(BEFORE).unwrap();
    for name in ["a", "b", "c"] {
        written(&place, &format!("before/{name}.jsonl"), &log);
    }
    written(&place, "after/a.jsonl", &log);
    written(&place, "after/b.md", "Fix the total of order 48213 in src/cart.py.");
    let [before, after] = ["before", "after"].map(|name| place.path(name).display().to_string());
    let words = ["verify", "--output-format", "json", &before, &after];
    let one = run(&[&words[..], &["--jobs", "1"]].concat(), "");
    let many = run(&[&words[..], &["--jobs", "4"]].concat(), "");
    assert_eq!(text(&one.stdout), text(&many.stdout));
    assert_eq!(one.status.code(), Some(2));
    assert!(text(&one.stderr).contains("c.jsonl"), "{}", text(&one.stderr));
    let found: Value = serde_json::from_str(&text(&one.stdout)).unwrap();
    assert_eq!(found["summary"]["pairs"], json!(2));
}

#[test]
fn compactions_of_a_log_are_compared() {
    let found = report(&["fixtures/verify/session.jsonl"]);
    let pair = &found["pairs"][0];
    assert_eq!(pair["compaction"], json!(1));
    let fate = |words: &str| {
        let facts = pair["facts"].as_array().unwrap().iter();
        let mut facts = facts.filter(|fact| fact["text"].as_str().unwrap().contains(words));
        facts.next().map(|fact| fact["fate"].as_str().unwrap().to_owned())
    };
    assert_eq!(fate("Never change files in vendor").as_deref(), Some("lost"));
    assert_eq!(fate("src/importer.ts").as_deref(), Some("kept"));
    assert_eq!(fate("src/client.ts").as_deref(), Some("lost"));
    assert_eq!(fate("npm test").as_deref(), Some("lost"));
    assert_eq!(fate("Port the retries").as_deref(), Some("kept"));
}

#[test]
fn what_is_given_back_fits_and_begins_with_what_is_needed_most() {
    let session = "fixtures/verify/session.jsonl";
    let given = text(&run(&["verify", "--give-back", "500", session], "").stdout);
    assert!(given.contains("Never change files in vendor/") && given.contains("npm test (failed)"), "{given}");
    assert!(given.find("vendor") < given.find("client.ts"), "{given}");
    assert_eq!(text(&run(&["verify", "--give-back", "5", session], "").stdout), "");
    let little = text(&run(&["verify", "--give-back", "40", session], "").stdout);
    assert!(little.len() < given.len() && little.contains("vendor"), "{little}");
}

#[test]
fn encrypted_compactions_are_unknown() {
    let place = Place::new();
    let log = [
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix src/cart.py. Never push to main."}]}),
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I will."}]}),
        json!({"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAAABo".repeat(20)}),
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go on."}]}),
    ];
    let lines: String = log.iter().map(|line| line.to_string() + "\n").collect();
    let found = report(&[&written(&place, "log.jsonl", &lines)]);
    let kept = &found["pairs"][0]["kept"];
    assert_eq!((&kept["share"], kept["lost"].as_u64()), (&Value::Null, Some(0)), "{found}");
    assert!(kept["unknown"].as_u64().unwrap() > 0);
}

#[test]
fn the_page_marks_what_was_lost_in_the_transcript() {
    let page = |words: &[&str]| text(&run(&[&["verify", "--output-format", "html"], words].concat(), "").stdout);
    let pair = page(&[BEFORE, "fixtures/verify/after.md"]);
    for expected in
        ["Never push to main", "href=\"#b0-0-m0\"", "content:\"lost: rule\"", "id=\"b0-0-m0\"", "All tests pass."]
    {
        assert!(pair.contains(expected), "{expected}");
    }
    let log = page(&["fixtures/verify/session.jsonl"]);
    assert!(log.contains("What compaction 1 lost") && log.contains("content:\"lost: file\""));
    assert!(log.contains("156 → 46 tokens</p>"), "{log}");
    let same = page(&[BEFORE, BEFORE]);
    assert!(same.contains("kept all") && !same.contains("content:\"lost"));
    assert!(same.contains("id=\"a0-0-m0\"") && same.contains("Where they differ"));
    assert_eq!(status(&["verify", "--output-format", "html", "-", BEFORE], ""), 2);
}

/// Each section names its own transcript, and no id is given twice.
#[test]
fn a_page_of_several_transcripts_names_each() {
    let place = Place::new();
    let messages = fs::read_to_string(CHAT).unwrap().trim().replace('\n', ",");
    let rows = format!("{{\"messages\": [{messages}]}}\n").repeat(2);
    let [before, after] = ["before.jsonl", "after.jsonl"].map(|name| written(&place, name, &rows));
    let page = text(&run(&["verify", "--output-format", "html", &before, &after], "").stdout);
    for title in ["after.jsonl [0] lost", "after.jsonl [1] lost", "before.jsonl [1] and "] {
        assert_eq!(page.matches(title).count(), 1, "{title}");
    }
    let mut ids: Vec<&str> = page.split(" id=\"").skip(1).map(|rest| rest.split_once('"').unwrap().0).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "{ids:?}");
}

#[test]
fn escapes_and_workflow_commands_in_facts_are_shown_and_not_obeyed() {
    let place = Place::new();
    let rule = "Never push \u{1b}[2J\u{1b}]0;owned\u{7} to main.\n::error::fake";
    let log = json!({"role": "system", "content": rule}).to_string()
        + "\n"
        + &json!({"role": "user", "content": "Go on with ::warning::x."}).to_string()
        + "\n";
    let before = written(&place, "before.jsonl", &log);
    let after = written(&place, "after.txt", "Nothing.");
    for format in ["text", "json", "github"] {
        let shown = text(&run(&["verify", "--output-format", format, &before, &after], "").stdout);
        assert!(!shown.contains('\u{1b}') && !shown.contains('\u{7}'), "{format}: {shown}");
        let commands =
            shown.lines().filter(|line| line.starts_with("::error::fake") || line.starts_with("::warning::x"));
        assert_eq!(commands.count(), 0, "{format}: {shown}");
    }
}

#[test]
fn claims_are_no_facts() {
    let place = Place::new();
    let claim = written(&place, "claim.md", "All rules, files, checks, to-dos and decisions were kept.");
    let found = report(&[BEFORE, &claim]);
    assert_eq!(found["summary"]["kept"], json!(0), "{found:#}");
}

#[test]
fn what_is_given_back_as_a_message_is_read() {
    let place = Place::new();
    for after in [
        "fixtures/verify/before.jsonl",
        "fixtures/dialects/anthropic/minimal.jsonl",
        "fixtures/dialects/gemini/minimal.jsonl",
    ] {
        let words = ["verify", "--give-back", "200", "--as", "message", BEFORE, after];
        let next = written(&place, "next.jsonl", &text(&run(&words, "").stdout));
        let lost = |file: &str| report(&[BEFORE, file])["summary"]["lost"].as_u64().unwrap();
        assert!(lost(&next) < lost(after) || lost(after) == 0, "{after}: {} {}", lost(&next), lost(after));
    }
}

/// What was given back is read, and is not given back again.
#[test]
fn what_is_given_back_twice_is_given_back_once() {
    let place = Place::new();
    let given = |log: &str| text(&run(&["verify", "--give-back", "200", "--as", "message", log], "").stdout);
    let once = given("fixtures/verify/session.jsonl");
    assert!(once.contains("lost these facts"), "{once}");
    assert_eq!(given(&written(&place, "once.jsonl", &once)), once);
}

#[test]
fn nothing_is_given_back_into_a_file_without_messages() {
    let place = Place::new();
    let header = json!({"type": "summary", "summary": "Ovens", "leafUuid": "a"}).to_string();
    for (name, after) in [("a.json", "[]"), ("b.json", r#"{"messages": []}"#), ("c.jsonl", ""), ("d.jsonl", &header)] {
        let after = written(&place, name, after);
        let given = run(&["verify", "--give-back", "200", "--as", "message", BEFORE, &after], "");
        assert_eq!((given.status.code(), text(&given.stdout).as_str()), (Some(2), ""), "{name}");
        assert!(text(&given.stderr).contains("pass --as text"), "{name}: {}", text(&given.stderr));
    }
}

/// Of several logs, only one of which was compacted, that one gets its facts back.
#[test]
fn what_is_given_back_goes_into_the_log_that_lost_it() {
    let place = Place::new();
    let log = fs::read_to_string("fixtures/verify/session.jsonl").unwrap();
    let compacted = written(&place, "a.jsonl", &log);
    let other = written(&place, "b.jsonl", &fs::read_to_string(BEFORE).unwrap());
    let given = |logs: &[&str]| {
        let words = ["verify", "--all", "--give-back", "500", "--as", "message"];
        text(&run(&[&words[..], logs].concat(), "").stdout)
    };
    let alone = given(&[&compacted]);
    assert!(alone.contains("lost these facts"), "{alone}");
    assert_eq!(given(&[&compacted, &other]), alone);
    let twin = written(&place, "c.jsonl", &log);
    let both = run(&["verify", "--all", "--give-back", "500", &compacted, &twin], "");
    assert_eq!((both.status.code(), text(&both.stdout).as_str()), (Some(2), ""), "which log lost it is not said");
}

/// A finding belongs to the transcript that it is in, and a mended one elsewhere hides none.
#[test]
fn each_transcript_of_a_file_has_its_own_findings() {
    let place = Place::new();
    let row = |messages: &str| format!("{{\"messages\": [{messages}]}}\n");
    let call = r#"{"role": "user", "content": "Go."}, {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}"#;
    let result =
        r#"{"role": "tool", "tool_call_id": "c1", "content": "ok"}, {"role": "assistant", "content": "Done."}"#;
    let whole = row(&format!("{call}, {result}"));
    let broken = row(&format!("{}, {result}", r#"{"role": "user", "content": "Go."}"#));
    let before = written(&place, "before.jsonl", &format!("{broken}{whole}{whole}"));
    let after = written(&place, "after.jsonl", &format!("{whole}{whole}{broken}"));
    let found = report(&[&before, &after]);
    let sound: Vec<&Value> = found["pairs"].as_array().unwrap().iter().map(|pair| &pair["sound"]).collect();
    assert_eq!(sound, [&json!(true), &json!(true), &json!(false)], "{found:#}");
    let words = ["verify", "--give-back", "200", "--as", "message", &before, &after];
    assert_eq!(status(&words, ""), 2, "which transcript lost it is not said");
}

#[test]
fn a_summary_that_loses_too_much_is_refused() {
    let summarize = |more: &[&str]| {
        let words =
            [&["summarize", "-n", "2", "--summarizer-cmd", "echo ACK", "--verify", "90%"], more, &[CHAT]].concat();
        run(&words, "")
    };
    let refused = summarize(&[]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("less than the required 90 %"), "{}", text(&refused.stderr));
    assert_eq!(summarize(&["--retry-with-missing"]).status.code(), Some(2));
    let repeating = [
        "summarize", "-n", "2", "--summary-tokens", "2000", "--summarizer-cmd", "cat", "--verify", "50%",
        "--retry-with-missing", BEFORE,
    ];
    assert_eq!(run(&repeating, "").status.code(), Some(0));
}

/// Calls that nobody has spoken after yet belong to no summary, and none is blamed for them.
#[test]
fn a_summary_is_judged_by_the_messages_that_it_covers() {
    let place = Place::new();
    let says = |role: &str, text: &str| format!("{{\"role\": \"{role}\", \"content\": \"{text}\"}}\n");
    let edit = |nth: usize| {
        let input = format!("{{\\\"file_path\\\": \\\"src/menu{nth}.py\\\", \\\"content\\\": \\\"x\\\"}}");
        format!(
            "{{\"role\": \"assistant\", \"content\": null, \"tool_calls\": [{{\"id\": \"c{nth}\", \"type\": \"function\", \"function\": {{\"name\": \"Write\", \"arguments\": \"{input}\"}}}}]}}\n{{\"role\": \"tool\", \"tool_call_id\": \"c{nth}\", \"content\": \"ok\"}}\n"
        )
    };
    let talk: String =
        ["user", "assistant", "user"].iter().map(|role| says(role, "Order 48213 is due in src/cart.py.")).collect();
    let path = written(&place, "chat.jsonl", &(talk + &(1..6).map(edit).collect::<String>()));
    let done = run(
        &["summarize", "-n", "2", "--summary-tokens", "4000", "--summarizer-cmd", "cat", "--verify", "100%", &path],
        "",
    );
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
}

/// The report of BEFORE and a file of these bytes.
fn verified(name: &str, bytes: &[u8]) -> Result<Value, String> {
    let place = Place::new();
    place.write(name, bytes);
    let path = place.path(name).display().to_string();
    let done = run(&["verify", "--output-format", "json", BEFORE, &path], "");
    let report: Value = serde_json::from_slice(&done.stdout).unwrap();
    if done.status.code() == Some(2) { Err(text(&done.stderr).replace(&path, name)) } else { Ok(report) }
}

const SUMMARY: &str = "[1]\nFix the total of order 48213 in src/cart.py.\n";

/// What a file contains is said by its content, and by its name without the ending of a compression.
#[test]
fn a_text_is_a_text_whatever_it_is_packed_in() {
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let plain = verified("summary.md", SUMMARY.as_bytes()).unwrap();
    assert_eq!(plain["pairs"][0]["after"]["dialect"], json!("text"));
    for (name, bytes) in [
        ("summary.md.gz", gzip(SUMMARY)),
        ("summary.md.zst", zstd(SUMMARY)),
        ("summary", gzip(SUMMARY)),
        ("summary.txt", utf16(SUMMARY)),
        ("summary.md.gz", utf16(SUMMARY)),
    ] {
        let found = verified(name, &bytes).unwrap();
        assert_eq!(found["pairs"][0]["facts"], plain["pairs"][0]["facts"], "{name}");
    }
    let log = fs::read_to_string(BEFORE).unwrap();
    for (name, bytes) in [
        ("after.jsonl.gz", gzip(&log)),
        ("after.gz", gzip(&log)),
        ("after", zstd(&log)),
        ("after.jsonl", utf16(&log)),
        ("after.txt", log.clone().into_bytes()),
    ] {
        let found = verified(name, &bytes).unwrap();
        assert_eq!(found["pairs"][0]["sound"], json!(true), "{name}");
    }
}

#[test]
fn a_text_that_is_not_utf8_is_named_with_its_line() {
    let bytes = [SUMMARY.as_bytes(), b"ab\xff"].concat();
    for name in ["summary.md", "after.jsonl"] {
        let error = verified(name, &bytes).unwrap_err();
        assert!(error.contains(&format!("{name}:3:3: invalid UTF-8; convert the file to UTF-8")), "{error}");
    }
}

#[test]
fn files_of_two_folders_belong_together_whatever_they_are_packed_in() {
    let log = fs::read_to_string(BEFORE).unwrap();
    for (before, after) in [
        ("s.jsonl.gz", "s.md"),
        ("s.jsonl.zst", "s.jsonl"),
        ("s.jsonl", "s.jsonl.gz"),
        ("s.jsonl", "s.md.zst"),
        ("s.1.jsonl.gz", "s.1.json.gz"),
        ("s.jsonl.gz", "s.jsonl.zst"),
    ] {
        let place = Place::new();
        let packed = |name: &str, text: &str| match name.rsplit('.').next() {
            Some("gz") => gzip(text),
            Some("zst") => zstd(text),
            _ => text.as_bytes().to_vec(),
        };
        place.write(&format!("before/{before}"), &packed(before, &log));
        place.write(&format!("after/{after}"), &packed(after, if after.contains("md") { SUMMARY } else { &log }));
        let done = place.curtail(&["verify", "before", "after", "--output-format", "json"]).output().unwrap();
        let found: Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!(found["summary"]["pairs"], json!(1), "{before} {after}: {}", text(&done.stderr));
    }
}

/// Several pairs would be given back as one.
#[test]
fn of_several_pairs_none_is_given_back() {
    let place = Place::new();
    let row = |text: &str| format!("{{\"messages\": [{{\"role\": \"user\", \"content\": \"{text}\"}}]}}\n");
    let before = written(&place, "before.jsonl", &(row("Always run the tests.") + &row("Never push.")));
    let after = written(&place, "after.jsonl", &row("ok").repeat(2));
    let done = run(&["verify", "--give-back", "99", &before, &after], "");
    assert_eq!((done.status.code(), text(&done.stdout).as_str()), (Some(2), ""));
    assert!(text(&done.stderr).contains("2 pairs"), "{}", text(&done.stderr));
}

/// Another orphan is no orphan that was there, although the rule is the same.
#[test]
fn a_fault_that_is_gone_hides_none_that_is_new() {
    let place = Place::new();
    let log = |id: &str| {
        let question = json!({"role": "user", "content": "hi"});
        let result = json!({"role": "tool", "tool_call_id": id, "content": "1"});
        format!("{question}\n{result}\n")
    };
    let before = written(&place, "before.jsonl", &log("call_1"));
    let after = written(&place, "after.jsonl", &log("call_2"));
    assert_eq!(report(&[&before, &after])["pairs"][0]["sound"], json!(false));
    assert_eq!(status(&["verify", &before, &before], ""), 0);
}

/// What is sent before the messages is a part of the prefix, and the first part.
#[test]
fn the_prefix_begins_before_the_messages() {
    let place = Place::new();
    let body = |system: &str| {
        let messages = json!([{"role": "user", "content": "Is it lit?"}, {"role": "assistant", "content": "It is."}]);
        json!({"system": system, "messages": messages}).to_string() + "\n"
    };
    let [before, after] = ["a", "b"].map(|name| written(&place, &format!("{name}.json"), &body(&name.repeat(900))));
    let cache = |after: &str| report(&[&before, after])["pairs"][0]["cache"].clone();
    assert_eq!(cache(&before)["unchanged"], cache(&before)["of"]);
    assert_eq!(cache(&after)["unchanged"], json!(0));
}

/// What the commands that only look at a file read, this one reads as well; it writes no message into an export.
#[test]
fn exports_are_compared_and_not_written() {
    let place = Place::new();
    let tree = json!({"title": "Lamp", "current_node": "b", "mapping": {
        "a": {"id": "a", "parent": null, "children": ["b"], "message": {"id": "a", "author": {"role": "user"},
            "content": {"content_type": "text", "parts": ["Is the lamp lit?"]}}},
        "b": {"id": "b", "parent": "a", "children": [], "message": {"id": "b", "author": {"role": "assistant"},
            "content": {"content_type": "text", "parts": ["It is."]}}},
    }});
    let export = written(&place, "conversations.json", &json!([tree]).to_string());
    assert_eq!(report(&[&export, &export])["pairs"][0]["sound"], json!(true));
    let given = run(&["verify", "--give-back", "99", "--as", "message", BEFORE, &export], "");
    assert_eq!(given.status.code(), Some(2));
    assert!(text(&given.stderr).contains("an export of ChatGPT"), "{}", text(&given.stderr));
}
