//! Where outputs are written, and what happens to them when writing fails.

use std::fs;

use crate::program::{Place, chat, chats, gzip, isolated, program, text};

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
