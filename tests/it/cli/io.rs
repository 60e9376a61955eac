//! One input, one output: what is read, what is written where, and which errors are reported.

use std::fs;

use crate::program::{Place, chat, chats, gzip, isolated, program, root, text, zstd};

/// Input on standard input, output, words on standard error, status.
type IoCase = (&'static str, &'static [u8], &'static [u8], &'static str, i32);

const CASES: &[IoCase] = &[
    ("nothing", b"", b"", "", 0),
    ("only white space", b" \n\n", b" \n\n", "", 0),
    ("zeros", b"\0\0\0\0", b"", "stdin:1:1: expected a JSON value", 2),
    ("no JSON", b"y\ny\n", b"", "stdin:1:1: expected a JSON value", 2),
    ("CRLF", b"{\"messages\":[]}\r\n{\"messages\":[]}\r\n", b"{\"messages\":[]}\r\n{\"messages\":[]}\r\n", "", 0),
    ("byte order mark", b"\xef\xbb\xbf{\"messages\":[]}\n", b"\xef\xbb\xbf{\"messages\":[]}\n", "", 0),
    ("no last line end", b"{\"messages\":[]}\n{\"messages\":[]}", b"{\"messages\":[]}\n{\"messages\":[]}", "", 0),
    (
        "blank lines",
        b"{\"messages\":[]}\n\n \n{\"messages\":[]}\n",
        b"{\"messages\":[]}\n\n \n{\"messages\":[]}\n",
        "",
        0,
    ),
    (
        "torn last record",
        b"{\"messages\":[]}\n{\"messages\":[",
        b"{\"messages\":[]}\n",
        "stdin:2:14: the text ends inside a value",
        2,
    ),
    (
        "invalid UTF-8",
        b"{\"messages\":[]}\n{\"x\":\"\xc3\xa9\xff\"}\n",
        b"{\"messages\":[]}\n",
        "stdin:2:8: invalid UTF-8",
        2,
    ),
    ("no messages", b"{\"messages\":[]}\n{\"x\":1}\n", b"{\"messages\":[]}\n", "stdin:2:1: no list of messages", 2),
];

#[test]
fn bytes_in_bytes_out() {
    let place = Place::new();
    for (name, input, output, expected, status) in CASES {
        let done = place.curtail(&["window"]).write_stdin(*input).output().unwrap();
        assert_eq!(text(&done.stdout), text(output), "{name}");
        assert!(text(&done.stderr).contains(expected), "{name}: {}", text(&done.stderr));
        assert_eq!(done.stderr.is_empty(), expected.is_empty(), "{name}: {}", text(&done.stderr));
        assert_eq!(done.status.code(), Some(*status), "{name}");
    }
}

#[test]
fn a_long_line_is_read_whole() {
    let place = Place::new();
    let input = chat("long", 3).replace("question 1", &"x".repeat(3_000_000));
    let done = place.curtail(&["window", "-n", "100"]).write_stdin(input.as_str()).output().unwrap();
    assert_eq!(done.status.code(), Some(0));
    assert!(done.stdout == input.as_bytes(), "the line came back otherwise");
}

/// The first block ends with the first line, which alone could be a whole document.
#[test]
fn a_list_longer_than_a_block_is_the_first_of_many() {
    let place = Place::new();
    let long = format!("[{{\"role\":\"user\",\"content\":\"{}\"}}]\n", "x".repeat(3_000_000));
    for lines in [long.repeat(2), format!("{long}[]\n{long}")] {
        place.write("lists.jsonl", lines.as_bytes());
        let done = place.curtail(&["window", "-n", "100", "lists.jsonl"]).output().unwrap();
        assert_eq!(text(&done.stderr), "");
        assert!(done.stdout == lines.as_bytes(), "the lines came back otherwise");
    }
}

#[test]
fn packed_streams_are_known_by_their_bytes_and_written_by_their_name() {
    let place = Place::new();
    let plain = chats(40);
    let cut = place.curtail(&["window", "-n", "2"]).write_stdin(plain.as_str()).output().unwrap().stdout;
    // Two members, as `cat one.gz two.gz` leaves them.
    let (head, tail) = plain.split_at(plain.len() / 3);
    for (name, packed) in [("a.jsonl", [gzip(head), gzip(tail)].concat()), ("b.jsonl", zstd(&plain))] {
        place.write(name, &packed);
        let done = place.curtail(&["window", "-n", "2", name]).output().unwrap();
        assert!(done.stdout == cut, "{name}");
    }
    for name in ["out.jsonl.gz", "out.jsonl.zst", "out.JSONL.GZ", "out.Zst"] {
        let done = place.curtail(&["window", "-n", "2", "a.jsonl", "-o", name]).output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        assert_ne!(place.read(name), cut, "{name} is not packed");
        let again = place.curtail(&["window", "-n", "2", name]).output().unwrap();
        assert!(again.stdout == cut, "{name}");
    }
}

#[test]
fn a_broken_packed_stream_is_an_error_with_its_place_and_no_output() {
    let place = Place::new();
    let packed = gzip(&chats(40));
    let mut corrupt = packed.clone();
    let middle = corrupt.len() / 2;
    corrupt[middle..middle + 8].fill(0xff);
    let zstd = zstd(&chats(40));
    for (name, bytes, expected) in [
        ("cut.jsonl.gz", &packed[..packed.len() / 2], "the gzip stream is cut short near byte"),
        ("corrupt.jsonl.gz", &corrupt, "the gzip stream is corrupt near byte"),
        ("cut.jsonl.zst", &zstd[..zstd.len() / 2], "the zstd stream is cut short near byte"),
    ] {
        place.write(name, bytes);
        let done = place.curtail(&["window", name, "-o", "out"]).output().unwrap();
        assert!(text(&done.stderr).contains(expected), "{}", text(&done.stderr));
        assert_eq!(done.status.code(), Some(2));
        assert!(!place.path("out").exists(), "{name} left an output");
    }
}

#[test]
fn outputs_are_never_overwritten_unasked() {
    let place = Place::new();
    place.write("in.jsonl", chats(3).as_bytes());
    place.write("there.jsonl", b"old");
    place.write("in.jsonl.bak", b"old");
    fs::create_dir(place.path("dir")).unwrap();
    for (arguments, expected) in [
        (&["in.jsonl", "-o", "there.jsonl"][..], "there.jsonl: the output exists already; --force overwrites it"),
        (&["in.jsonl", "-o", "./in.jsonl"], "./in.jsonl: the output is the input"),
        (&["in.jsonl", "-o", "in.jsonl", "--force"], "in.jsonl: the output is the input"),
        (&["in.jsonl", "-O", "."], "in.jsonl: the output is the input"),
        (&["in.jsonl", "-o", "dir"], "dir: the output is a directory"),
        (&["in.jsonl", "-i=.bak"], "in.jsonl.bak: the backup exists already"),
        (&["-", "-i"], "standard input cannot be replaced"),
        (&["in.jsonl", "there.jsonl", "-o", "x"], "x: this output belongs to both in.jsonl and there.jsonl"),
        (&["in.jsonl", "-o", "x", "--resume"], "--resume needs --output-dir or --in-place"),
    ] {
        let done = place.curtail(&["window", "-n", "1"]).args(arguments).output().unwrap();
        assert!(text(&done.stderr).contains(expected), "{arguments:?}: {}", text(&done.stderr));
        assert_eq!(done.status.code(), Some(2), "{arguments:?}");
    }
    assert_eq!(place.read("there.jsonl"), b"old");
    assert_eq!(place.read("in.jsonl"), chats(3).as_bytes());
    let done = place.curtail(&["window", "-n", "1", "in.jsonl", "-o", "there.jsonl", "--force"]).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert_ne!(place.read("there.jsonl"), b"old");
}

#[cfg(unix)]
#[test]
fn modes_and_links_are_kept() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let place = Place::new();
    for directory in ["data", "out"] {
        fs::create_dir(place.path(directory)).unwrap();
    }
    place.write("data/a.jsonl", chats(3).as_bytes());
    fs::set_permissions(place.path("data/a.jsonl"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("data/a.jsonl", place.path("link.jsonl")).unwrap();
    for arguments in [&["data", "-O", "out"][..], &["link.jsonl", "-i=.bak"]] {
        let done = place.curtail(&["window", "-n", "1"]).args(arguments).output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    }
    for name in ["out/a.jsonl", "data/a.jsonl"] {
        assert_eq!(fs::metadata(place.path(name)).unwrap().permissions().mode() & 0o777, 0o640, "{name}");
    }
    assert!(place.path("link.jsonl").is_symlink(), "the link became a file");
    assert_eq!(place.read("out/a.jsonl"), place.read("data/a.jsonl"));
    // A device is written to, not replaced.
    let done = place.curtail(&["window", "data", "-o", "/dev/null"]).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn what_does_not_change_is_not_touched() {
    let place = Place::new();
    let packed = gzip(&chats(3));
    place.write("a.jsonl.gz", &packed);
    let before = fs::metadata(place.path("a.jsonl.gz")).unwrap().modified().unwrap();
    let done = place.curtail(&["window", "-n", "1000", "-i=.bak", "a.jsonl.gz"]).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert_eq!(fs::metadata(place.path("a.jsonl.gz")).unwrap().modified().unwrap(), before);
    assert!(!place.path("a.jsonl.gz.bak").exists());
    place.curtail(&["window", "-n", "1000", "a.jsonl.gz", "-O", "out"]).assert().success();
    assert_eq!(place.read("out/a.jsonl.gz"), packed, "an unchanged packed file is copied as it is");
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let place = Place::new();
    place.write("a.jsonl", chats(4000).as_bytes());
    let line = format!("{} window a.jsonl | head -c1; echo \" ${{PIPESTATUS[0]}}\"", program());
    let done = isolated("bash", &place.path("")).args(["-c", &line]).output().unwrap();
    assert_eq!(text(&done.stdout), "{ 0\n");
    assert_eq!(text(&done.stderr), "");
    place.curtail(&["memory", "set", "--thread", "a", "tea"]).assert().success();
    for command in [
        "tokenizers", "dialects", "rule", "schema", "schema count", "rule P001", "schema configuration", "store export",
    ] {
        let line = format!("(sleep 0.1; {} {command}; echo $? >&2) | true", program());
        let mut shell = isolated("bash", &place.path(""));
        shell.args(["-c", &line]);
        assert_eq!(text(&shell.output().unwrap().stderr), "0\n", "{command}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_that_names_the_file_and_loses_nothing() {
    let place = Place::new();
    let old = chats(400);
    place.write("a.jsonl", old.as_bytes());
    // Output of one block and of several; in blocks of 1,024 bytes.
    for (flags, blocks) in [("-n 30", 4), ("-n 30 --jobs 2", 100)] {
        let line = format!("ulimit -f {blocks}; exec {} window {flags} -i a.jsonl", program());
        let done = isolated("bash", &place.path("")).args(["-c", &line]).output().unwrap();
        assert!(
            text(&done.stderr).contains("a.jsonl: file too large; the file is as it was"),
            "{}",
            text(&done.stderr)
        );
        assert_eq!(done.status.code(), Some(2));
        assert_eq!(place.read("a.jsonl"), old.as_bytes());
        assert_eq!(place.list(), ["a.jsonl"], "something was left behind");
    }
    let line = format!("exec {} window a.jsonl > /dev/full", program());
    let done = isolated("bash", &place.path("")).args(["-c", &line]).output().unwrap();
    assert!(text(&done.stderr).contains("standard output: no space left on device"), "{}", text(&done.stderr));
    assert_eq!(done.status.code(), Some(2));
}

#[test]
#[cfg(unix)]
fn closed_standard_output_is_an_error_where_it_is_used() {
    let place = Place::new();
    place.write("a.jsonl", chat("a", 4).as_bytes());
    let run = |line: &str| {
        let line = format!("exec {} {line}", program());
        isolated("bash", &place.path("")).args(["-c", &line]).output().unwrap()
    };
    let commands = [
        "window -n 2 a.jsonl",
        "window -n 2 < a.jsonl",
        "window -n 2 -o - a.jsonl",
        "summarize --window 2 a.jsonl",
        "check a.jsonl",
        "check --output-format sarif a.jsonl",
        "count a.jsonl",
        "count --output-format json a.jsonl",
        "show a.jsonl",
        "dialects",
        "completions bash",
        "--help",
        "window --help",
        "--version",
    ];
    for command in commands {
        let done = run(&format!("{command} >&-"));
        assert_eq!(text(&done.stderr), "curtail: standard output: closed before the program started\n", "{command}");
        assert_eq!(done.status.code(), Some(2), "{command}");
        // A reader that wants nothing is served, and so is one that went away.
        let done = run(&format!("{command} > /dev/null"));
        assert_eq!((text(&done.stderr).as_str(), done.status.code()), ("", Some(0)), "{command}");
    }
    for command in ["window -n 2 -o b.jsonl a.jsonl", "window -n 2 -i a.jsonl"] {
        let done = run(&format!("{command} >&-"));
        assert_eq!((text(&done.stderr).as_str(), done.status.code()), ("", Some(0)), "{command}");
    }
    assert_eq!(place.read("a.jsonl"), place.read("b.jsonl"));
}

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

#[test]
fn a_dry_run_writes_no_map_and_no_rejects() {
    let place = Place::new();
    place.write("a.jsonl", chat("a", 4).as_bytes());
    place.write("d.jsonl", b"{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}\nnot JSON\n");
    place.write("kept", b"precious\n");
    for arguments in [
        &["split", "-t", "30", "-O", "parts", "--map", "kept", "a.jsonl"][..],
        &["window", "-n", "1", "--on-error", "skip", "--rejects", "kept", "d.jsonl"],
    ] {
        place.curtail(&[arguments, &["--dry-run", "--force"]].concat()).output().unwrap();
        assert_eq!(place.read("kept"), b"precious\n", "{arguments:?}");
        assert_eq!(place.list(), ["a.jsonl", "d.jsonl", "kept"], "{arguments:?}");
    }
}
