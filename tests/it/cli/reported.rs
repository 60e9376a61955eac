//! What is said of inputs: errors with their places, decisions, sums and how a file is read.

use crate::program::{Place, chat, chats, gzip, root, text, zstd};

#[test]
fn bad_records_fail_are_left_out_or_kept() {
    let place = Place::new();
    let (good, last) = (chat("a", 4), chat("b", 4));
    let bad = b"{\"messages\": [{\"role\": \"user\xff\"}]}\n";
    place.write("a.jsonl", &[good.as_bytes(), bad, last.as_bytes()].concat());
    let cases: [(&str, Vec<u8>, i32, &str); 3] = [
        ("fail", good.clone().into_bytes(), 2, ""),
        ("skip", [good.as_bytes(), last.as_bytes()].concat(), 0, "(dropped)"),
        ("keep", [good.as_bytes(), bad, last.as_bytes()].concat(), 0, "(kept unchanged)"),
    ];
    for (policy, output, status, expected) in cases {
        let arguments = ["window", "a.jsonl", "--on-error", policy, "--rejects", "rejects", "--force"];
        let done = place.curtail(&arguments).output().unwrap();
        assert_eq!(text(&done.stdout), text(&output), "{policy}");
        assert_eq!(done.status.code(), Some(status), "{policy}");
        let words = format!("a.jsonl:2:29: invalid UTF-8{}{expected}", if expected.is_empty() { "" } else { " " });
        assert!(text(&done.stderr).contains(&words), "{policy}: {}", text(&done.stderr));
        let reject: serde_json::Value = serde_json::from_slice(&place.read("rejects")).unwrap();
        assert_eq!((&reject["file"], &reject["line"], &reject["column"]), (&"a.jsonl".into(), &2.into(), &29.into()));
        assert_eq!(reject["reason"], "invalid UTF-8");
        assert_eq!(reject["record"], String::from_utf8_lossy(bad).as_ref());
    }
    place.curtail(&["window", "a.jsonl", "-o", "out"]).assert().code(2);
    assert!(!place.path("out").exists(), "a file that fails leaves no output");
}

#[test]
fn a_record_in_another_dialect_is_an_error_with_its_line() {
    let place = Place::new();
    let other = "{\"messages\": [{\"role\": \"user\", \"content\": [{\"type\": \"tool_result\", \"tool_use_id\": \"t\", \"content\": \"x\"}]}]}\n";
    place.write("a.jsonl", format!("{}{other}", chat("a", 4)).as_bytes());
    let done = place.curtail(&["window", "a.jsonl"]).output().unwrap();
    let stderr = text(&done.stderr);
    assert!(
        stderr.contains("a.jsonl:2:15: the file began as `openai`, this transcript is written as `anthropic`"),
        "{stderr}"
    );
    assert_eq!(done.status.code(), Some(2));
}

#[test]
fn explain_says_file_line_and_message_in_words() {
    let place = Place::new();
    place.write("a.jsonl", format!("{}{}", chat("a", 1), chat("b", 6)).as_bytes());
    let done = place.curtail(&["window", "-n", "6", "--dry-run", "--fail-on-change", "a.jsonl"]).output().unwrap();
    assert_eq!(text(&done.stdout), "");
    assert_eq!(done.status.code(), Some(1));
    let stderr = text(&done.stderr);
    let lines: Vec<Vec<&str>> = stderr.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["a.jsonl"]);
    assert_eq!((&lines[2][..3], &lines[3][..3]), (&["2", "0", "program:"][..], &["2", "1", "person:"][..]), "{stderr}");
    assert!(stderr.lines().nth(3).is_some_and(|line| line.contains("  dropped: ")), "{stderr}");
    let arguments = ["window", "-n", "6", "--explain=json", "a.jsonl", "-q", "-o", "out"];
    let done = place.curtail(&arguments).output().unwrap();
    let first: serde_json::Value = serde_json::from_str(text(&done.stderr).lines().nth(1).unwrap()).unwrap();
    assert_eq!((&first["file"], &first["line"], &first["message"]), (&"a.jsonl".into(), &2.into(), &1.into()));
    assert_eq!((&first["role"], &first["action"]), (&"user".into(), &"dropped".into()));
}

fn messages_in(place: &Place, name: &str) -> u64 {
    let records = text(&place.read(name));
    let records = records.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    records.map(|record| record["messages"].as_array().unwrap().len() as u64).sum()
}

#[test]
fn stats_sum_up() {
    let place = Place::new();
    place.write("a.jsonl", format!("{}{}", chat("a", 1), chat("b", 6)).as_bytes());
    let arguments = ["window", "-n", "6", "-o", "out", "a.jsonl"];
    let done = place.curtail(&arguments).arg("--stats=json").output().unwrap();
    let sums: serde_json::Value = serde_json::from_slice(&done.stderr).unwrap();
    assert_eq!((&sums["files"], &sums["transcripts"], &sums["changed"]), (&1.into(), &2.into(), &1.into()));
    let n = |key: &str| sums[key].as_u64().unwrap();
    assert_eq!(n("messages_before"), messages_in(&place, "a.jsonl"));
    assert_eq!(n("messages_after"), messages_in(&place, "out"));
    assert!(n("tokens_before") > n("tokens_after") && n("tokens_after") > 0);
    let done = place.curtail(&arguments).args(["--force", "--stats"]).output().unwrap();
    assert!(text(&done.stderr).contains("tokens (o200k_base)"), "{}", text(&done.stderr));
    place.write("bad.jsonl", b"{");
    let done = place.curtail(&["window", "--stats", "bad.jsonl", "-o", "none"]).output().unwrap();
    assert!(text(&done.stderr).ends_with(", 1 file failed\n"), "{}", text(&done.stderr));
}

#[test]
fn verbose_says_how_inputs_are_read_and_names_can_be_wrong() {
    let place = Place::new();
    for command in ["window", "count", "check"] {
        for (given, chats) in
            [("chat.jsonl: records, openai", chat("a", 2)), ("chat.jsonl: lines, no message", String::new())]
        {
            let named =
                place.curtail(&[command, "-v", "--stdin-filename", "chat.jsonl"]).write_stdin(chats).output().unwrap();
            let stderr = text(&named.stderr);
            assert_eq!(
                stderr.lines().filter(|line| line.starts_with("curtail: chat.jsonl: ")).count(),
                1,
                "{command}: {stderr}"
            );
            assert!(stderr.contains(given), "{command}: {stderr}");
        }
    }
    let done = place.curtail(&["window", "--dialect", "opnai"]).write_stdin(chat("a", 2)).output().unwrap();
    assert!(
        text(&done.stderr).contains("no dialect is called `opnai`; did you mean `openai`?"),
        "{}",
        text(&done.stderr)
    );
    assert_eq!(done.status.code(), Some(2));
}

#[test]
fn show_reads_what_every_command_reads() {
    let place = Place::new();
    place.write("in/a.jsonl", chat("a", 1).as_bytes());
    place.write("in/b.jsonl.gz", &gzip(&chat("b", 1)));
    place.write("in/c.jsonl.zst", &zstd(&chat("c", 1)));
    place.write("in/broken.jsonl", b"{\"messages\":[\n");
    place.write("in/empty.jsonl", b"");
    for paths in [["in"].as_slice(), &["in/*.jsonl*"]] {
        let done = place.curtail(&[&["show"], paths].concat()).output().unwrap();
        for name in ["in/a.jsonl", "in/b.jsonl.gz", "in/c.jsonl.zst"] {
            assert!(text(&done.stdout).contains(&format!("{name}: framing records, dialect openai")), "{paths:?}");
        }
        assert!(text(&done.stdout).contains("in/empty.jsonl: contains no transcript\n"), "{paths:?}");
        assert!(!text(&done.stdout).contains("in/broken.jsonl"), "{paths:?}");
        assert!(text(&done.stderr).contains("in/broken.jsonl:1:14: "), "{}", text(&done.stderr));
        assert_eq!(done.status.code(), Some(2), "one bad file does not stop the others");
    }
}

#[test]
fn show_counts_offsets_from_the_beginning_of_the_file() {
    let place = Place::new();
    let transcripts = format!("\u{feff}{}", chats(9));
    place.write("many.jsonl", transcripts.as_bytes());
    let done = place.curtail(&["show", "--output-format", "json", "many.jsonl"]).output().unwrap();
    for line in text(&done.stdout).lines() {
        let shown: serde_json::Value = serde_json::from_str(line).unwrap();
        let span = |end: usize| usize::try_from(shown["items"][0]["span"][end].as_u64().unwrap()).unwrap();
        assert_eq!(&transcripts[span(0)..span(1)], r#"{"role": "system", "content": "be brief"}"#);
    }
}

#[test]
fn reports_end_quietly_when_their_reader_goes_away() {
    let place = Place::new();
    place.write("many.jsonl", chats(3000).as_bytes());
    let [before, after] = ["before", "chat"].map(|name| root().join(format!("fixtures/verify/{name}.jsonl")));
    let pair = [before.to_str().unwrap(), after.to_str().unwrap()];
    for words in [&["show", "many.jsonl"][..], &["verify", pair[0], pair[1], "--output-format", "github"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let done = place.command(words).stdout(writer).output().unwrap();
        assert_eq!((text(&done.stderr).as_str(), done.status.code()), ("", Some(0)), "{words:?}");
    }
}

#[test]
fn findings_behind_bytes_that_are_no_text_stand_at_their_own_offset() {
    let place = Place::new();
    let good = chat("a", 1);
    let orphan = "{\"messages\":[{\"role\":\"user\",\"content\":\"?\"},{\"role\":\"tool\",\"tool_call_id\":\"x\",\"content\":\"\"}]}\n";
    let whole = [good.as_bytes(), b"{\"messages\":[\"\xff\xff\"]}\n", orphan.as_bytes()].concat();
    place.write("x.jsonl", &whole);
    let done = place.curtail(&["check", "--output-format", "json", "x.jsonl"]).output().unwrap();
    let reported: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    let at = &reported["findings"].as_array().unwrap().iter().find(|one| one["rule"] == "orphan-result").unwrap()["at"];
    let offset = usize::try_from(at["offset"].as_u64().unwrap()).unwrap();
    assert!(whole[offset..].starts_with(b"{\"role\":\"tool\""), "{at}");
    assert_eq!(at["line"], 3);
}

#[test]
fn a_byte_order_mark_takes_no_column_of_a_finding() {
    let place = Place::new();
    let orphan = "{\"role\":\"tool\",\"tool_call_id\":\"x\",\"content\":\"\"}\n";
    place.write("x.jsonl", format!("\u{feff}{orphan}").as_bytes());
    let done = place.curtail(&["check", "x.jsonl"]).output().unwrap();
    assert!(text(&done.stdout).contains("x.jsonl:1:1 "), "{}", text(&done.stdout));
    assert!(text(&done.stdout).contains("\n  | ^^^"), "{}", text(&done.stdout));
}

/// Errors of a command that cannot do what was asked tell its user what to do.
#[test]
fn wrong_input_is_explained() {
    let place = Place::new();
    place.write("notes.txt", b"some notes\nmore of them\n");
    place.write("a.jsonl", chats(1).as_bytes());
    let kind = "notes.txt:1:1: expected a JSON value; a transcript is JSON or JSON Lines\n";
    for (arguments, expected) in [
        (&["count", "nofile"][..], "curtail: nofile: no such file or directory\n"),
        (&["count", "notes.txt"], kind),
        (&["window", "notes.txt"], kind),
        (&["repair", "notes.txt"], kind),
        (&["view", "--text", "notes.txt"], kind),
        (&["replay", "nofile"], "curtail: nofile: no such file or directory\n"),
        (&["store", "import", "nofile"], "curtail: nofile: no such file or directory\n"),
        (&["store", "list"], "`curtail memory list`"),
        (&["config", "check"], "`curtail config show` checks the file"),
        (&["filter", "--tool", "Bash", "a.jsonl"], "a similar argument exists: '--include-tool'"),
    ] {
        let done = place.curtail(arguments).output().unwrap();
        assert_eq!((done.status.code(), text(&done.stdout).as_str()), (Some(2), ""), "{arguments:?}");
        assert!(text(&done.stderr).contains(expected), "{arguments:?}: {}", text(&done.stderr));
    }
    // The tip helps with a file of that name, and with no other word.
    let tip =
        |place: &Place| text(&place.curtail(&["window", "--zzzz"]).output().unwrap().stderr).contains("-- --zzzz");
    assert!(!tip(&place));
    place.write("--zzzz", b"");
    assert!(tip(&place));
}
