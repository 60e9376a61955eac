//! No file is lost, overwritten unasked or left behind, whatever the flags name and whenever a run ends.

use std::fs;
use std::io::Write as _;
use std::process::Command;

use crate::program::{Place, chat, chats, isolated, program, text};

/// Five inputs in `data`.
fn filled() -> Place {
    let place = Place::new();
    (0..5).for_each(|nth| place.write(&format!("data/{nth}.jsonl"), chats(3).as_bytes()));
    place
}

/// The status, and the words on standard error.
fn run(place: &Place, arguments: &[&str]) -> (i32, String) {
    let done = place.curtail(&["window", "-n", "2"]).args(arguments).output().unwrap();
    (done.status.code().unwrap(), text(&done.stderr))
}

#[test]
fn a_record_for_resume_never_replaces_another_file() {
    for (name, content) in [
        ("notes.txt", "my notes"),
        ("notes.json", "{\"options\":\"of another program\"}\n"),
        ("data/0.jsonl", ""),
        ("out/0.jsonl", ""),
    ] {
        let place = filled();
        if !content.is_empty() {
            place.write(name, content.as_bytes());
        }
        let before = place.path(name).exists().then(|| place.read(name));
        let (status, stderr) = run(&place, &["data", "-O", "out", &format!("--resume={name}")]);
        assert_eq!(status, 2, "{name}: {stderr}");
        assert!(stderr.contains(name) && stderr.lines().count() == 1, "{stderr}");
        assert_eq!(place.path(name).exists().then(|| place.read(name)), before, "{name}");
    }
}

#[test]
fn rejects_of_a_run_that_failed_do_not_block_the_next() {
    let place = Place::new();
    place.write("good.jsonl", (chats(2) + "{\n").as_bytes());
    place.write("bad.jsonl", (chats(2) + "{\n").as_bytes());
    place.write("torn.jsonl.gz", b"\x1f\x8bno gzip");
    for (output, inputs) in
        [("-o", &["bad.jsonl"][..]), ("-O", &["bad.jsonl", "good.jsonl"]), ("-O", &["gone.jsonl", "torn.jsonl.gz"])]
    {
        let (status, stderr) = run(&place, &[inputs, &[output, "out", "--rejects", "rejects"]].concat());
        assert!(status == 2 && !place.path("rejects").exists(), "{stderr}");
    }
    let arguments = ["bad.jsonl", "-o", "single", "--on-error", "skip", "--rejects", "rejects"];
    assert_eq!(run(&place, &arguments).0, 0);
    assert_eq!(text(&place.read("rejects")).lines().count(), 1);
    // What is complete stays, and a run that continues adds to it.
    let (status, stderr) = run(&place, &[&arguments[..], &["-q"]].concat());
    assert!(status == 2 && stderr.contains("exists already"), "{stderr}");
    let resumed = ["good.jsonl", "-O", "more", "--on-error", "skip", "--rejects", "rejects", "--resume"];
    assert_eq!(run(&place, &resumed).0, 0);
    assert_eq!(text(&place.read("rejects")).lines().count(), 2);
}

#[test]
fn a_record_for_resume_that_would_be_an_input_is_named() {
    let place = filled();
    let before = place.read("data/0.jsonl");
    for (arguments, words) in [
        (
            &["data", "-O", "out", "--resume", "r.log"][..],
            "r.log: not an input; to keep the record of --resume there, pass --resume=r.log",
        ),
        (&["data", "-i=.bak", "--resume", "r.log"], "pass --resume=r.log"),
        (&["data", "-i", "--resume", "r.log"], "pass -i=r.log; to name the record, --resume=r.log"),
        (&["data", "-i", "--resume", "a/longer-name"], "pass --resume=a/longer-name"),
    ] {
        let (status, stderr) = run(&place, arguments);
        assert!(status == 2 && stderr.contains(words), "{stderr}");
        assert_eq!(place.read("data/0.jsonl"), before);
    }
    assert_eq!(run(&place, &["data", "-O", "out", "--resume=r.log"]).0, 0);
    let (status, stderr) = run(&place, &["data", "-O", "out", "--resume", "r.log"]);
    assert!(status == 2 && stderr.contains("pass --resume=r.log"), "{stderr}");
    let (status, stderr) = run(&place, &["gone.jsonl", "-O", "out", "--resume"]);
    assert!(status == 2 && stderr.contains("no such file"), "{stderr}");
}

/// What is read of a pipe to find out whether it is a record would be missing from the transcript.
#[cfg(unix)]
#[test]
fn a_pipe_is_read_once_with_resume() {
    let place = filled();
    let chat = place.read("data/0.jsonl");
    assert!(Command::new("mkfifo").arg(place.path("pipe.jsonl")).status().unwrap().success());
    let path = place.path("pipe.jsonl");
    let writer = std::thread::spawn(move || fs::write(path, chat));
    let (status, stderr) = run(&place, &["pipe.jsonl", "-O", "out", "--resume"]);
    assert_eq!(status, 0, "{stderr}");
    writer.join().unwrap().unwrap();
    assert_eq!(run(&place, &["data/0.jsonl", "-O", "cut"]).0, 0);
    assert_eq!(place.read("out/pipe.jsonl"), place.read("cut/data/0.jsonl"));
}

#[test]
fn resume_overwrites_only_outputs_of_its_own() {
    let place = filled();
    place.write("out/3.jsonl", b"mine");
    let (status, stderr) = run(&place, &["data", "-O", "out", "--resume"]);
    assert!(status == 2 && stderr.contains("out/3.jsonl: the output exists already"), "{stderr}");
    assert_eq!(place.read("out/3.jsonl"), b"mine");
    // One that was an output, and that somebody changed since.
    place.write("out/1.jsonl", b"changed");
    place.write("out/2.jsonl", b"changed");
    let (status, stderr) = run(&place, &["data", "-O", "out", "--resume"]);
    assert_eq!((status, stderr.lines().count()), (2, 2), "one line for the first, one for the others: {stderr}");
    assert!(stderr.contains("2 more outputs exist already"), "{stderr}");
    assert_eq!((place.read("out/1.jsonl"), place.read("out/3.jsonl")), (b"changed".to_vec(), b"mine".to_vec()));
    // Other options make other outputs of its own.
    let (status, _) = run(&place, &["data/0.jsonl", "-O", "other", "--resume=record"]);
    let first = place.read("other/data/0.jsonl");
    assert_eq!(
        (status, run(&place, &["--repair", "drop", "data/0.jsonl", "-O", "other", "--resume=record"]).0),
        (0, 0)
    );
    assert!(!first.is_empty());
}

/// A file that is put in the place of another one can bring its own time.
#[test]
fn resume_reads_an_input_of_another_length_again() {
    let place = Place::new();
    place.write("data/0.jsonl", chats(1).as_bytes());
    assert_eq!(run(&place, &["data", "-O", "out", "--resume"]), (0, String::new()));
    let input = place.path("data/0.jsonl");
    let time = std::fs::metadata(&input).unwrap().modified().unwrap();
    place.write("data/0.jsonl", chats(2).as_bytes());
    std::fs::File::options().write(true).open(&input).unwrap().set_modified(time).unwrap();
    assert_eq!(run(&place, &["data", "-O", "out", "--resume"]), (0, String::new()));
    assert_eq!(text(&place.read("out/0.jsonl")).lines().count(), 2);
    let done = "curtail: nothing left to do: the output is complete\n";
    assert_eq!(run(&place, &["data", "-O", "out", "--resume"]), (0, done.to_owned()));
}

#[test]
fn resume_after_a_run_that_finished_has_nothing_to_do() {
    let place = filled();
    assert_eq!(run(&place, &["data", "-O", "out"]), (0, String::new()));
    for _ in 0..2 {
        let expected = "curtail: nothing left to do: all 5 outputs are complete\n";
        assert_eq!(run(&place, &["data", "-O", "out", "--resume"]), (0, expected.to_owned()));
    }
}

#[test]
fn no_flag_names_an_input_or_another_output() {
    let place = filled();
    place.write("0.jsonl", chats(2).as_bytes());
    #[cfg(unix)]
    fs::hard_link(place.path("data/0.jsonl"), place.path("link.jsonl")).unwrap();
    #[cfg(not(unix))]
    fs::copy(place.path("data/0.jsonl"), place.path("link.jsonl")).unwrap();
    for (arguments, expected) in [
        (&["data/0.jsonl", "--rejects", "data/0.jsonl"][..], "--rejects names an input"),
        (&["data/0.jsonl", "--rejects", "./data/../data/0.jsonl"], "--rejects names an input (data/0.jsonl)"),
        (&["data/0.jsonl", "--rejects", "link.jsonl"], "--rejects names an input"),
        (&["data/0.jsonl", "-o", "link.jsonl"], "link.jsonl: the output is the input"),
        (&["data/0.jsonl", "-o", "x", "--rejects", "x"], "x: --rejects names the output of data/0.jsonl"),
        (&["data", "-O", "out", "--rejects", "out/3.jsonl"], "--rejects names the output of data/3.jsonl"),
        (&["data", "-i", "--resume=x", "--rejects", "x"], "--resume and --rejects name the same file"),
        (&["data/0.jsonl", "data/1.jsonl", "0.jsonl", "-O", "."], "the output is the input"),
    ] {
        let (status, words) = run(&place, &[arguments, &["--force"]].concat());
        assert!(status == 2 && words.contains(expected), "{arguments:?}: {words}");
        assert_eq!(place.read("data/0.jsonl"), chats(3).as_bytes(), "{arguments:?}");
        assert!(!place.path("x").exists() && !place.path("out").exists(), "{arguments:?}");
    }
}

#[test]
fn a_refused_run_writes_nothing_and_says_so_once() {
    let place = Place::new();
    (0..1000).for_each(|nth| place.write(&format!("data/{nth}.jsonl"), b"{\"messages\":[]}\n"));
    (0..1000).for_each(|nth| place.write(&format!("out/{nth}.jsonl"), b"old"));
    let (status, stderr) = run(&place, &["data", "-O", "out"]);
    assert_eq!((status, stderr.lines().count()), (2, 1), "{stderr}");
    assert!(stderr.contains("--force overwrites it (so do 999 other outputs)"), "{stderr}");
    assert!(!place.path("out/.curtail-resume").exists());
    let (status, stderr) = run(&place, &["data", "-O", "data"]);
    assert!(status == 2 && stderr.lines().count() <= 11, "{stderr}");
}

#[test]
fn a_suffix_apart_from_its_flag_replaces_nothing() {
    let place = filled();
    for suffix in [".bak", "bak", "~", ".orig"] {
        let (status, stderr) = run(&place, &["-i", suffix, "data/0.jsonl"]);
        assert!(status == 2 && stderr.contains(&format!("pass -i={suffix}")), "{suffix}: {stderr}");
        assert_eq!(place.read("data/0.jsonl"), chats(3).as_bytes());
    }
    assert_eq!(run(&place, &["-i=.bak", "data/0.jsonl"]).0, 0);
    assert_eq!(place.read("data/0.jsonl.bak"), chats(3).as_bytes());
}

#[test]
fn a_dash_as_output_is_standard_output() {
    let place = filled();
    let done = place.curtail(&["window", "data/0.jsonl", "-o", "-"]).output().unwrap();
    assert_eq!(text(&done.stdout), chats(3));
    assert_eq!(place.list(), ["data"]);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_not_replaced() {
    let place = filled();
    assert!(Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    let (status, stderr) = run(&place, &["-i", "pipe"]);
    assert!(status == 2 && stderr.contains("pipe: is not a regular file"), "{stderr}");
}

#[test]
fn temporary_files_of_killed_runs_are_swept_and_others_are_not() {
    let place = filled();
    let stale = ["data/.curtail-AbC123aaaa.tmp", "data/.curtail-AbCdEf1234.tmp"];
    let others = [
        "data/.curtail-notes.tmp",
        "data/.curtail-mynotes.tmp",
        "data/.curtail-AbCdEf1234",
        "data/curtail-AbCdEf1234.tmp",
    ];
    stale.iter().chain(&others).for_each(|name| place.write(name, b"x"));
    // One that another run is writing.
    place.write("data/.curtail-aaaaaaaaaa.tmp", b"x");
    let live = fs::File::open(place.path("data/.curtail-aaaaaaaaaa.tmp")).unwrap();
    live.lock().unwrap();
    assert_eq!(run(&place, &["-i", "data"]).0, 0);
    assert!(stale.iter().all(|name| !place.path(name).exists()));
    assert!(others.iter().all(|name| place.path(name).exists()));
    assert!(place.path("data/.curtail-aaaaaaaaaa.tmp").exists());
    drop(live);
}

/// A run that was killed right after it replaced a log leaves the old version under a temporary name, and a program may have opened it
/// just before: its lines are not removed under it.
#[cfg(target_os = "linux")]
#[test]
fn an_old_version_that_a_program_writes_to_is_not_swept() {
    let place = filled();
    place.write("data/.curtail-AbCdEf1234.tmp", b"old\n");
    let log = fs::File::options().append(true).open(place.path("data/.curtail-AbCdEf1234.tmp")).unwrap();
    assert_eq!(run(&place, &["-i", "data"]).0, 0);
    assert_eq!(place.read("data/.curtail-AbCdEf1234.tmp"), b"old\n");
    drop(log);
    place.write("data/0.jsonl", chats(3).as_bytes());
    assert_eq!(run(&place, &["-i", "data"]).0, 0);
    assert!(!place.path("data/.curtail-AbCdEf1234.tmp").exists());
}

/// Transcripts are private: a file that did not exist lets nobody read what the inputs do not let them read.
#[cfg(unix)]
#[test]
fn new_files_grant_no_more_than_their_inputs() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let mode = |name: &str| fs::metadata(place.path(name)).unwrap().permissions().mode() & 0o777;
    let usual = {
        place.write("usual", b"");
        mode("usual")
    };
    for (input, most) in [(0o600, 0o600), (0o666, usual)] {
        place.write("a.jsonl", (chats(3) + "{\n").as_bytes());
        fs::set_permissions(place.path("a.jsonl"), fs::Permissions::from_mode(input)).unwrap();
        for (made, arguments) in [
            ("out", &["window", "-n", "2", "-o", "out", "a.jsonl", "--on-error", "skip"][..]),
            ("rejects", &["window", "-n", "2", "--rejects", "rejects", "a.jsonl", "--on-error", "skip"]),
            ("map", &["split", "-t", "1k", "--map", "map", "a.jsonl", "--on-error", "skip"]),
            ("page.html", &["view", "-o", "page.html", "a.jsonl"]),
        ] {
            place.curtail(arguments).output().unwrap();
            assert_eq!(mode(made), most, "{made} of an input with {input:o}");
            fs::remove_file(place.path(made)).unwrap();
        }
    }
}

/// A program that keeps a log open would write on to the replaced file.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_another_program_has_open_stays() {
    let place = filled();
    let log = fs::File::options().append(true).open(place.path("data/0.jsonl")).unwrap();
    let (status, stderr) = run(&place, &["-i", "data"]);
    assert!(status == 2 && stderr.contains("data/0.jsonl: another program has the file open for writing"), "{stderr}");
    assert_eq!(place.read("data/0.jsonl"), chats(3).as_bytes());
    assert_ne!(place.read("data/1.jsonl"), chats(3).as_bytes());
    drop(log);
    assert_eq!(run(&place, &["-i", "data"]).0, 0);
}

/// A file that somebody writes to between opening and replacing: a slow summarizer keeps the run busy meanwhile.
#[cfg(unix)]
#[test]
fn a_file_that_changes_while_it_is_read_stays() {
    let place = Place::new();
    let old = chat("a", 6);
    place.write("slow.sh", b"touch started\nwhile [ ! -e go ]; do sleep 0.02; done\necho done\n");
    let changes: [(&str, fn(&Place)); 3] = [
        ("appended", |place| {
            let mut log = fs::File::options().append(true).open(place.path("a.jsonl")).unwrap();
            log.write_all(chat("b", 1).as_bytes()).unwrap();
        }),
        ("replaced", |place| {
            place.write("new", chat("n", 6).as_bytes());
            fs::rename(place.path("new"), place.path("a.jsonl")).unwrap();
        }),
        ("rewritten", |place| place.write("a.jsonl", chat("c", 6).as_bytes())),
    ];
    for (how, change) in changes {
        ["started", "go"].iter().for_each(|name| drop(fs::remove_file(place.path(name))));
        place.write("a.jsonl", old.as_bytes());
        let mut child = place.command(&[]);
        child.args(["summarize", "-n", "2", "-i=.bak", "a.jsonl", "--summarizer-cmd", "sh slow.sh"]);
        let child = child.current_dir(place.path("")).stderr(std::process::Stdio::piped()).spawn().unwrap();
        crate::program::wait_until("a summarizer that was started", || place.path("started").exists());
        change(&place);
        place.write("go", b"");
        let changed = place.read("a.jsonl");
        let done = child.wait_with_output().unwrap();
        assert!(text(&done.stderr).contains("a.jsonl: changed while it was read; left as it was"), "{how}");
        assert_eq!(done.status.code(), Some(2), "{how}");
        assert_eq!(text(&place.read("a.jsonl")), text(&changed), "{how}");
        assert!(place.list().iter().all(|name| ![".tmp", ".bak"].iter().any(|end| name.ends_with(end))), "{how}");
    }
}

#[test]
fn a_torn_line_alone_is_no_output() {
    let place = Place::new();
    let line = |role: &str| {
        format!(
            "{{\"type\":\"{role}\",\"message\":{{\"role\":\"{role}\",\"content\":\"hello there\"}},\"uuid\":\"{role}\",\"parentUuid\":null,\"sessionId\":\"s\"}}\n"
        )
    };
    place.write("torn.jsonl", format!("{}{}{{\"type\":\"user\",\"mess", line("user"), line("assistant")).as_bytes());
    let done = place.curtail(&["limit", "-t", "1", "-q", "torn.jsonl"]).output().unwrap();
    assert_eq!(text(&done.stdout), "");
    place.curtail(&["window", "-q"]).write_stdin(done.stdout).assert().success();
    let done = place.curtail(&["window", "-n", "1000", "-q", "torn.jsonl"]).output().unwrap();
    assert_eq!(done.stdout, place.read("torn.jsonl"), "a torn line stays as long as a message does");
}

#[test]
fn records_past_the_limit_are_errors_with_a_place() {
    let place = Place::new();
    let long = chat("long", 1).replace("question 1", &"x".repeat(100_000));
    place.write("a.jsonl", format!("{}{long}{}", chat("a", 1), chat("b", 1)).as_bytes());
    let (status, stderr) = run(&place, &["a.jsonl", "--max-record", "64k"]);
    assert!(status == 2 && stderr.contains("a.jsonl:2:1: longer than 64000 bytes"), "{stderr}");
    let (status, stderr) = run(&place, &["a.jsonl", "--max-record", "64k", "--on-error", "skip"]);
    assert!(status == 0 && stderr.contains("(dropped)"), "{stderr}");
    for size in ["0", "1g", "200000"] {
        assert_eq!(run(&place, &["a.jsonl", "--max-record", size]), (0, String::new()), "{size}");
    }
    assert_eq!(run(&place, &["a.jsonl", "--max-record", "much"]).0, 2);
}

/// A limit far below what is read at once also ends a line that goes on and on.
#[test]
fn a_record_of_many_blocks_past_a_small_limit_is_an_error() {
    let place = Place::new();
    let long = format!("{}{}", chats(40), "a".repeat(1_500_000));
    place.write("a.jsonl", long.as_bytes());
    for jobs in ["1", "2"] {
        let (status, stderr) = run(&place, &["a.jsonl", "--max-record", "9000", "-j", jobs]);
        assert!(status == 2 && stderr.contains("a.jsonl:41:1: longer than 9000 bytes"), "{stderr}");
    }
    let done = place.curtail(&["window", "--max-record", "9000", "--framing", "records"]).write_stdin(long).output();
    let stderr = text(&done.unwrap().stderr);
    assert!(stderr.contains("stdin:41:1: longer than 9000 bytes"), "{stderr}");
}

/// A named file is read at several places at once, a stream in order. Lines end shortly before, at and after the half megabyte that
/// is read at once, and some are longer than several of them.
#[test]
fn a_file_gives_the_same_as_a_stream() {
    const HALF: usize = 512 * 1024;
    let place = Place::new();
    let padded = |len: usize| {
        let short = chat("a", 3);
        let missing = len - short.len();
        short.replace("question 1", &format!("question 1{}", "x".repeat(missing)))
    };
    for (name, lengths, command) in [
        ("whole blocks", vec![HALF, HALF, HALF - 1, HALF + 1, HALF], ["window", "--explain"]),
        ("ends nearby", vec![HALF - 2, 1000, HALF, HALF - 1000, 2000, 1000], ["check", "--exit-zero"]),
        ("long lines", vec![1000, HALF * 3, HALF * 9 + 17, 1000, 1000], ["window", "--explain"]),
        ("many lines", vec![997; 1500], ["check", "--exit-zero"]),
    ] {
        let lines: String = lengths.iter().map(|&len| padded(len)).collect();
        for input in [lines.trim_end().to_owned(), format!("{lines}{{\"messages\": [}}\n")] {
            place.write("a.jsonl", input.as_bytes());
            let streamed = [&command[..], &["--stdin-filename", "a.jsonl"]].concat();
            let streamed = place.curtail(&streamed).write_stdin(input.as_str()).output().unwrap();
            for jobs in ["1", "3"] {
                let read = place.curtail(&[&command[..], &["a.jsonl", "-j", jobs]].concat()).output().unwrap();
                assert!(read == streamed, "{name}, {jobs} jobs: {}", text(&read.stderr));
            }
        }
    }
}

/// A few kilobytes that become gigabytes: the beginning, or the limit, ends it.
#[cfg(target_os = "linux")]
#[test]
fn bombs_are_refused_in_bounded_memory() {
    let place = Place::new();
    let bomb = |unit: &[u8]| {
        let mut packer = zstd::Encoder::new(Vec::new(), 1).unwrap();
        let megabyte = unit.repeat((1 << 20) / unit.len());
        (0..600).for_each(|_| packer.write_all(&megabyte).unwrap());
        packer.finish().unwrap()
    };
    for (unit, expected) in [
        (&b" "[..], "a.jsonl.zst:1:1: longer than 64000000 bytes"),
        (b"\n", "a.jsonl.zst:1:1: longer than 64000000 bytes"),
        (b"\0", "a.jsonl.zst:1:1: expected a JSON value"),
        (b"[", "a.jsonl.zst:1:10001: nesting deeper"),
        (b"{\"a\":", "nesting deeper"),
        (b"[\n", "nesting deeper"),
    ] {
        place.write("a.jsonl.zst", &bomb(unit));
        // An eighth of the address space that all of it needs, and what threads and tables take.
        let line = format!("ulimit -v 400000; exec {} window -j 1 --max-record 64m a.jsonl.zst", program());
        let done = isolated("bash", &place.path("")).args(["-c", &line]).output().unwrap();
        assert!(text(&done.stderr).contains(expected), "{:?}: {}", text(unit), text(&done.stderr));
        assert_eq!((done.status.code(), done.stdout.len()), (Some(2), 0), "{:?}", text(unit));
    }
}

/// Without flushing, the same bytes are written, and nothing else is left beside them.
#[test]
fn outputs_that_are_not_flushed_are_whole() {
    let place = Place::new();
    let line = |n: usize| format!("{{\"messages\":[{{\"role\":\"user\",\"content\":\"line {n}\"}}]}}\n");
    let two = "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"user\",\"content\":\"b\"}]}\n";
    for n in 0..20 {
        place.write(&format!("in/{n}.jsonl"), (line(n) + two).as_bytes());
    }
    for more in [&["-O", "flushed"][..], &["-O", "scratch", "--no-sync"], &["-i", "--no-sync"]] {
        let done = place.curtail(&[&["window", "-n", "1", "in"], more].concat()).output().unwrap();
        assert!(done.status.success(), "{more:?}: {}", text(&done.stderr));
    }
    for n in 0..20 {
        let read = |folder: &str| fs::read_to_string(place.path(&format!("{folder}/{n}.jsonl"))).unwrap();
        assert!(read("flushed").ends_with("[{\"role\":\"user\",\"content\":\"b\"}]}\n"), "{}", read("flushed"));
        assert_eq!([read("scratch"), read("in")], [read("flushed"), read("flushed")]);
    }
    let count = |folder: &str| fs::read_dir(place.path(folder)).unwrap().count();
    assert_eq!([count("flushed"), count("scratch"), count("in")], [20; 3]);
}

/// Where standard output cannot be written to, `-` names no file.
#[test]
fn no_file_is_called_by_the_sign_of_standard_output() {
    for words in [
        &["window", "a.jsonl", "-O", "-"][..],
        &["window", "a.jsonl", "--rejects", "-"],
        &["window", "a.jsonl", "-O", "out", "--resume=-"],
        &["split", "-t", "9", "a.jsonl", "--map", "-"],
        &["view", "a.jsonl", "-O", "-"],
        &["check", "a.jsonl", "--write-baseline", "-"],
        &["memory", "set", "state", "--thread", "a", "--store", "-"],
        &["man", "--out", "-"],
        &["init", "-"],
    ] {
        let place = Place::new();
        place.write("a.jsonl", chats(3).as_bytes());
        let done = place.curtail(words).output().unwrap();
        let stderr = text(&done.stderr);
        assert!(done.status.code() == Some(2) && stderr.contains("must be a path"), "{words:?}: {stderr}");
        assert!(!stderr.contains("Usage") && !place.path("-").exists(), "{words:?}: {stderr}");
    }
}
