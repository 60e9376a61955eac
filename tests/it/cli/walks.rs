//! Which files of a directory are read, and what is reported about those that are not.

use std::io::Write as _;

use crate::program::{Place, chat, shell, text};

/// A project with one transcript among the files of other programs.
fn project() -> Place {
    let place = Place::new();
    place.write("p/logs/chat.jsonl", chat("a", 2).as_bytes());
    for (name, content) in [
        ("package.json", r#"{"name":"x","version":"1.0.0","type":"module"}"#),
        ("node_modules/y/package.json", "{\n  \"name\": \"y\"\n}\n"),
        ("tsconfig.json", "// comments\n{\n  \"include\": [\"src\"]\n}\n"),
        ("words.json", r#"["one","two"]"#),
        ("numbers.json", "[1,2,3]"),
        ("stock.json", r#"[{"sku":1},{"sku":2}]"#),
        ("items.json", r#"{"items":[{"sku":1}]}"#),
        ("lines.json", "[\"a\"]\n[\"b\"]\n"),
        ("one.json", "3"),
        (".git/hooks.json", r#"{"a":1}"#),
        (".git/logs/chat.jsonl", "not a transcript\n"),
    ] {
        place.write(&format!("p/{name}"), content.as_bytes());
    }
    place
}

/// The status, standard output and standard error.
fn run(place: &Place, arguments: &[&str]) -> (i32, String, String) {
    let done = place.curtail(arguments).output().unwrap();
    (done.status.code().unwrap(), text(&done.stdout), text(&done.stderr))
}

#[test]
fn files_of_other_programs_are_passed_over_in_silence() {
    let place = project();
    assert_eq!(
        run(&place, &["check", "p"]),
        (0, "no findings in 1 transcript of 1 file\n".to_owned(), String::new()),
        "the transcript alone is checked"
    );
    for jobs in ["1", "3"] {
        let (status, _, stderr) = run(&place, &["check", "p", "-v", "-j", jobs]);
        let passed_over = stderr.lines().filter(|line| line.ends_with(": contains no messages; skipped")).count();
        assert_eq!((status, passed_over), (0, 9), "one line for every .json, none for .git: {stderr}");
    }
    for command in [&["count", "p"][..], &["show", "p"], &["window", "p"], &["view", "p"], &["replay", "p"]] {
        let (status, _, stderr) = run(&place, command);
        assert_eq!((status, stderr.as_str()), (0, ""), "{command:?}");
    }
    let (status, _, stderr) = run(&place, &["window", "-n", "2", "p", "-O", "out", "-v"]);
    assert!(status == 0 && stderr.contains("p/package.json: contains no messages; skipped"), "{stderr}");
    assert_eq!(place.list(), ["out", "p"]);
    assert!(place.path("out/logs/chat.jsonl").exists() && !place.path("out/package.json").exists());
}

#[test]
fn a_directory_of_other_files_alone_is_said() {
    let place = Place::new();
    place.write("p/package.json", br#"{"name":"x"}"#);
    let (status, out, stderr) = run(&place, &["check", "p"]);
    assert_eq!((status, out.as_str()), (2, "nothing was checked: no transcript in 0 files\n"));
    assert!(stderr.contains("nothing to check"), "{stderr}");
    let (status, _, stderr) = run(&place, &["window", "p"]);
    assert!(status == 0 && stderr.contains("no transcripts found: 1 .json file contains no messages"), "{stderr}");
}

#[test]
fn a_file_that_was_named_is_read_or_is_an_error() {
    let place = project();
    for name in ["p/package.json", "p/words.json", "p/tsconfig.json", "p/*.json", "p/lines.json", "p/one.json"] {
        let (status, out, stderr) = run(&place, &["check", name]);
        assert!(status == 2 || name == "p/tsconfig.json", "{name}: {stderr}");
        let last = out.lines().last().unwrap_or_default();
        assert!(!last.contains("no findings"), "{name}: {out}");
    }
    place.write("words.jsonl", b"[\"a\",\"b\"]\n[\"c\",\"d\"]\n");
    let (status, out, stderr) = run(&place, &["check", "words.jsonl"]);
    assert!(status == 2 && stderr.contains("the first message fits no dialect"), "{out}{stderr}");
}

#[test]
fn an_error_is_in_the_last_line() {
    let place = Place::new();
    place.write("good.jsonl", chat("a", 1).as_bytes());
    let (status, out, _) = run(&place, &["check", "good.jsonl", "missing.jsonl"]);
    assert_eq!((status, out.as_str()), (2, "no findings in 1 transcript; checked 1 of 2 files: 1 error\n"));
    let (_, out, _) = run(&place, &["check", "good.jsonl", "missing.jsonl", "--output-format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["summary"]["errors"], 1);
}

#[test]
fn a_broken_transcript_is_never_passed_over() {
    let place = Place::new();
    let whole = chat("a", 2);
    place.write("p/torn.json", &whole.as_bytes()[..whole.len() / 2]);
    place.write("p/pretty.json", b"{\n  \"messages\": [\n    {\"role\": \"user\", \"content\": \"hi\"},\n  ]\n}\n");
    let (status, out, stderr) = run(&place, &["check", "p"]);
    assert!(status > 0, "{out}{stderr}");
    let all = format!("{out}{stderr}");
    assert!(all.contains("p/torn.json") && all.contains("p/pretty.json"), "{all}");
}

#[test]
fn globs_narrow_a_walk() {
    let place = Place::new();
    for name in ["p/a.jsonl", "p/old/b.jsonl", "p/old/deep/c.jsonl", "p/d.ndjson"] {
        place.write(name, chat("a", 1).as_bytes());
    }
    let counted = |arguments: &[&str]| {
        let (status, out, stderr) = run(&place, &[&["count", "--output-format", "csv"], arguments].concat());
        assert_eq!(status, 0, "{stderr}");
        out.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(counted(&["p", "--exclude", "old"]), ["p/a.jsonl", "p/d.ndjson"]);
    assert_eq!(counted(&["p", "--exclude-path", "old/"]), ["p/a.jsonl", "p/d.ndjson"]);
    assert_eq!(counted(&["p", "--exclude", "./old//deep/", "--exclude", "*.ndjson"]), ["p/a.jsonl", "p/old/b.jsonl"]);
    assert_eq!(counted(&["p", "--exclude", "old/deep", "--exclude", "*.ndjson"]), ["p/a.jsonl", "p/old/b.jsonl"]);
    assert_eq!(counted(&["p", "--exclude", "./[abc].jsonl", "--exclude", "deep/"]), ["p/d.ndjson", "p/old/b.jsonl"]);
    assert_eq!(counted(&["p", "--glob", "*.ndjson"]), ["p/d.ndjson"]);
    assert_eq!(counted(&["p", "--glob", "old/*.jsonl", "--glob", "d.*"]), ["p/d.ndjson", "p/old/b.jsonl"]);
    assert_eq!(counted(&["p/**/*.jsonl", "--exclude", "deep"]), ["p/a.jsonl", "p/old/b.jsonl"]);
    assert_eq!(counted(&["p/old/b.jsonl", "--exclude", "old", "--glob", "x"]), ["p/old/b.jsonl"], "it was named");
    let (status, _, stderr) = run(&place, &["count", "p", "--glob", "a[b"]);
    assert!(status == 2 && stderr.contains("a[b"), "{stderr}");
    let (status, out, _) = run(&place, &["filter", "-x", "look", "--exclude-path", "[od]*", "p"]);
    assert!(status == 0 && !out.contains("look") && out.lines().count() == 1, "{out}");
    // Tools or paths could be meant.
    let (status, _, stderr) = run(&place, &["filter", "--exclude", "look", "p"]);
    assert!(status == 2 && stderr.contains("-x GLOB (--exclude-tool)"), "{stderr}");
}

#[test]
fn the_configuration_skips_paths() {
    let place = Place::new();
    place.write("raw/bad.jsonl", b"{\"role\":\"tool\",\"tool_call_id\":\"x\",\"content\":\"1\"}\n");
    place.write("good.jsonl", chat("a", 1).as_bytes());
    place.write("curtail.toml", b"[[check.paths]]\npath = \"raw/**\"\nskip = true\n");
    assert_eq!(run(&place, &["check", "."]).0, 0);
    let (status, out, stderr) = run(&place, &["check", "-v", "good.jsonl", "raw/bad.jsonl"]);
    assert_eq!((status, out.as_str()), (0, "no findings in 1 transcript of 1 file; 1 file skipped by curtail.toml\n"));
    assert!(stderr.contains("raw/bad.jsonl: skipped by check.paths"), "{stderr}");
    assert_eq!(run(&place, &["check", "raw/bad.jsonl"]).0, 0, "nothing is left to check, as configured");
}

#[test]
fn compressed_files_of_a_walk_are_looked_into() {
    let place = Place::new();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(br#"{"name":"x"}"#).unwrap();
    place.write("p/package.json.gz", &packed.finish().unwrap());
    place.write("p/a.jsonl", chat("a", 1).as_bytes());
    assert_eq!(run(&place, &["check", "p"]).0, 0);
}

/// A command to paste reads the folder that it names and runs nothing else, whatever the folder's name.
#[cfg(unix)]
#[test]
fn a_command_to_paste_quotes_names() {
    let place = Place::new();
    let fixture = include_str!("../../../fixtures/dialects/openhands/minimal.jsonl");
    for (nth, line) in fixture.lines().enumerate() {
        place.write(&format!("it's $(touch pwned)/0/{nth}.json"), line.as_bytes());
        place.write(&format!("-n; touch pwned/1/event-{nth:05}-4f30e663.json"), line.as_bytes());
    }
    let (_, _, stderr) = run(&place, &["count", "."]);
    let commands: Vec<&str> = stderr.lines().filter_map(|line| Some(line.split_once("one log: ")?.1)).collect();
    assert_eq!(commands.len(), 2, "{stderr}");
    for command in commands {
        let command = command.strip_suffix(" | curtail …").expect(command);
        let done = shell(command, &place.path(".")).output().expect("a shell");
        assert_eq!(text(&done.stdout), fixture.replace('\n', ""), "{command}: {}", text(&done.stderr));
    }
    assert!(!place.path("pwned").exists());
    let (_, _, stderr) = run(&place, &["init", "a b.toml"]);
    assert!(stderr.contains("`curtail run -c 'a b.toml' --print`"), "{stderr}");
}

/// The SDK of `OpenHands` stores a conversation as a folder with one event per file, version 0 under plain numbers.
#[test]
fn a_folder_of_events_is_refused_with_advice() {
    let place = Place::new();
    let fixture = include_str!("../../../fixtures/dialects/openhands/minimal.jsonl");
    for (nth, line) in fixture.lines().enumerate() {
        place.write(&format!("s/c1/events/event-{nth:05}-4f30e663.json"), line.as_bytes());
        place.write(&format!("s/c0/events/{}.json", 10_000 + nth), line.as_bytes());
    }
    place.write("s/chat.jsonl", chat("a", 2).as_bytes());
    place.write("s/other/1.json", b"{\"sku\":1}");
    place.write("s/other/2.json", b"{\"sku\":2}");
    for command in [&["check", "s"][..], &["count", "s"], &["window", "-n", "1", "s", "-O", "out"]] {
        let (status, _, stderr) = run(&place, command);
        assert_eq!(status, 2, "{command:?}: {stderr}");
        assert!(stderr.contains("s/c1/events: one event of OpenHands per file"), "{command:?}: {stderr}");
        assert!(stderr.contains("cat s/c1/events/event-*.json | curtail"), "{command:?}: {stderr}");
        assert!(
            stderr.contains("(cd s/c0/events && cat $(ls [0-9]*.json | sort -n)) | curtail"),
            "{command:?}: {stderr}"
        );
        assert!(!stderr.contains("s/other"), "{command:?}: {stderr}");
    }
    assert!(place.path("out/chat.jsonl").exists() && !place.path("out/c1").exists());
    // A file that is named, or that a glob matches, is read.
    assert_eq!(run(&place, &["count", "s/c0/events/10001.json", "s/c1/events/event-0*.json"]).0, 0);
}

/// A link in a directory leads to files, and not to what the system makes up while it is read.
#[cfg(target_os = "linux")]
#[test]
fn links_to_devices_and_proc_are_not_followed() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    place.write("d/a.jsonl", chat("a", 2).as_bytes());
    place.write("elsewhere/b.jsonl", chat("b", 2).as_bytes());
    let links = [
        ("/proc/self/pagemap", "d/pagemap.jsonl"),
        ("/proc/kmsg", "d/kmsg.jsonl"),
        ("/proc/self", "d/process"),
        ("/sys/kernel", "d/kernel"),
        ("/dev/zero", "d/zero.jsonl"),
        ("/dev", "d/dev"),
    ];
    for (to, name) in links {
        symlink(to, place.path(name)).unwrap();
    }
    symlink(place.path("d/zero.jsonl"), place.path("d/twice.jsonl")).unwrap();
    symlink(place.path("elsewhere"), place.path("d/more")).unwrap();
    for command in [&["check", "d"][..], &["count", "d"], &["show", "d"], &["count", "d/**/*.jsonl"]] {
        let (status, stdout, stderr) = run(&place, command);
        assert_eq!((status, stderr.as_str()), (0, ""), "{command:?}");
        assert!(!stdout.contains("process") && !stdout.contains("kernel"), "{stdout}");
    }
    assert_eq!(run(&place, &["check", "d"]).1, "no findings in 2 transcripts of 2 files\n");
}

/// A repository with transcripts that git ignores, hidden ones, and one in sight.
fn repository() -> Place {
    let place = Place::new();
    for name in ["p/a.jsonl", "p/build/b.jsonl", "p/.cache/c.jsonl", "p/raw/d.jsonl", "p/raw/.e.jsonl"] {
        place.write(name, chat("a", 1).as_bytes());
    }
    place.write("p/.git/HEAD", b"ref: refs/heads/main\n");
    place.write("p/.gitignore", b"/build/\n");
    place.write("p/raw/.ignore", b"d.jsonl\n");
    place
}

fn counted(place: &Place, arguments: &[&str]) -> Vec<String> {
    let (_, out, _) = run(place, &[&["count", "--output-format", "csv"][..], arguments].concat());
    out.lines().skip(1).map(|line| line.split(',').next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_walk_leaves_out_what_git_ignores_and_what_is_hidden() {
    let place = repository();
    assert_eq!(counted(&place, &["p"]), ["p/a.jsonl"]);
    assert_eq!(counted(&place, &["--no-ignore", "p"]), ["p/a.jsonl", "p/build/b.jsonl", "p/raw/d.jsonl"]);
    assert_eq!(counted(&place, &["--hidden", "p"]), ["p/.cache/c.jsonl", "p/a.jsonl", "p/raw/.e.jsonl"]);
    let all = ["p/.cache/c.jsonl", "p/a.jsonl", "p/build/b.jsonl", "p/raw/.e.jsonl", "p/raw/d.jsonl"];
    assert_eq!(counted(&place, &["--hidden", "--no-ignore", "p"]), all);
    assert_eq!(counted(&place, &["--hidden", "--no-ignore", "--exclude", "raw", "p"]), all[..3]);
}

#[test]
fn what_is_named_is_read_although_it_is_ignored_or_hidden() {
    let place = repository();
    for named in [&["p/build/b.jsonl"][..], &["p/.cache/c.jsonl"], &["p/build/*.jsonl"], &["p/build"], &["p/.cache"]] {
        assert_eq!(counted(&place, named).len(), 1, "{named:?}");
    }
}

/// Otherwise, a repository whose transcripts are all ignored would pass its check in silence.
#[test]
fn transcripts_that_are_passed_over_are_said_where_nothing_else_is_found() {
    let place = repository();
    let (status, _, stderr) = run(&place, &["check", "p/raw"]);
    assert!(status == 2 && stderr.contains("2 transcripts are ignored (`.gitignore`) or hidden"), "{stderr}");
    let (status, _, stderr) = run(&place, &["check", "p"]);
    assert_eq!((status, stderr.as_str()), (0, ""));
    let (_, _, stderr) = run(&place, &["count", "--no-ignore", "p/a.jsonl"]);
    assert!(stderr.contains("--no-ignore applies to files in directories"), "{stderr}");
}
