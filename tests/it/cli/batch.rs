//! Many inputs: order, trees, kills, resuming, progress.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Instant;

use curtail_core::dialects::ReadError;
use curtail_io::batch::{Batch, Flow, Unit, Work};
use curtail_io::{Inputs, Wanted, find_sources};

use crate::program::{GUARD, Place, chat, chats, gzip, program, terminal, text, wait_until};

#[test]
fn any_number_of_jobs_writes_the_same_bytes() {
    let place = Place::new();
    // Several blocks in a file, and one file smaller than a block between two that are not.
    place.write("a.jsonl", chats(2000).as_bytes());
    place.write("b.jsonl", chat("b", 5).trim_end().as_bytes());
    place.write("c.jsonl.gz", &gzip(&chats(1500)));
    for command in [
        &["window", "-n", "5"][..],
        &["filter", "--persist-results"],
        &["limit", "-t", "100"],
        &["window", "--explain"],
    ] {
        let run = |jobs: &str| {
            let done = place.curtail(command).args(["-j", jobs, "a.jsonl", "b.jsonl", "c.jsonl.gz"]).output().unwrap();
            assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
            (done.stdout, done.stderr)
        };
        let one = run("1");
        assert!(one.0.len() > 100_000, "too little to tell");
        assert_eq!(memchr::memchr_iter(b'\n', &one.0).count(), 3501);
        for jobs in ["2", "8", "0"] {
            assert!(run(jobs) == one, "{command:?} with {jobs} jobs");
        }
    }
}

/// Panics at the first line.
struct Panicking;

impl Work for Panicking {
    type Out = ();

    fn unit(&self, unit: &Unit<'_>, (): &mut ()) -> Result<(), ReadError> {
        assert_ne!(unit.line, 1, "the first line");
        Ok(())
    }
}

#[test]
fn a_worker_that_panics_leaves_no_other_waiting() {
    let place = Place::new();
    // More blocks than workers may run ahead of the one that panics.
    place.write("a.jsonl", chats(1500).repeat(8).as_bytes());
    let path = place.path("a.jsonl");
    let (sender, ended) = mpsc::channel();
    std::thread::spawn(move || {
        let Inputs { sources, errors: missing, .. } =
            find_sources(&Wanted { paths: &[path], ..Wanted::default() }).unwrap();
        assert!(missing.is_empty());
        let batch = Batch { jobs: 2, ..Batch::default() };
        let run = || batch.run(sources, &Panicking, |_| Flow::Continue);
        sender.send(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err()).unwrap();
    });
    assert_eq!(ended.recv_timeout(GUARD), Ok(true), "a worker waits for a result that never comes");
}

#[test]
fn an_error_late_in_a_file_is_found_in_its_place_whatever_the_jobs() {
    let place = Place::new();
    let good = chats(1500);
    place.write("a.jsonl", format!("{good}{{\"messages\": [}}\n{good}").as_bytes());
    place.write("b.jsonl", chat("b", 2).as_bytes());
    for jobs in ["1", "2", "8"] {
        let done = place.curtail(&["window", "-n", "999", "-j", jobs, "a.jsonl", "b.jsonl"]).output().unwrap();
        assert_eq!(text(&done.stderr), "curtail: a.jsonl:1501:15: expected a JSON value\n", "{jobs} jobs");
        assert!(done.stdout == format!("{good}{}", chat("b", 2)).as_bytes(), "{jobs} jobs");
        assert_eq!(done.status.code(), Some(2));
        place.curtail(&["window", "-j", jobs, "a.jsonl", "b.jsonl", "-O", "out", "--force"]).assert().code(2);
        assert!(!place.path("out/a.jsonl").exists() && place.path("out/b.jsonl").exists(), "{jobs} jobs");
    }
}

#[test]
fn several_inputs_follow_one_another_only_as_records() {
    let place = Place::new();
    place.write("a.jsonl", chat("a", 1).trim_end().as_bytes());
    place.write("b.jsonl", format!("\u{feff}{}", chat("b", 1)).as_bytes());
    place.write("empty.jsonl", b"");
    place.write("log.jsonl", b"{\"role\":\"user\",\"content\":\"x\"}\n{\"role\":\"assistant\",\"content\":\"y\"}\n");
    let done = place.curtail(&["window", "a.jsonl", "empty.jsonl", "b.jsonl"]).output().unwrap();
    assert_eq!(text(&done.stdout), format!("{}{}", chat("a", 1), chat("b", 1)));
    let done = place.curtail(&["window", "a.jsonl", "log.jsonl"]).output().unwrap();
    let stderr = text(&done.stderr);
    assert!(stderr.contains("log.jsonl: several inputs share standard output"), "{stderr}");
    assert!(stderr.contains("--output-dir") && stderr.contains("--in-place"), "{stderr}");
    assert_eq!(done.status.code(), Some(2));
}

#[test]
fn trees_are_mirrored() {
    let place = Place::new();
    for name in ["data/a.jsonl", "data/sub/b.ndjson", "data/sub/c.JSON", "data/.hidden/d.jsonl"] {
        place.write(name, chat(name, 3).as_bytes());
    }
    place.write("data/e.jsonl.gz", &gzip(&chat("e", 3)));
    place.write("data/notes.txt", b"no transcript");
    place.write("data/.gitignore", b"*.jsonl\n");
    place.curtail(&["window", "-n", "2", "data", "-O", "out"]).assert().success();
    for name in ["a.jsonl", "sub/b.ndjson", "sub/c.JSON", "e.jsonl.gz"] {
        assert!(place.path("out").join(name).exists(), "{name}");
    }
    assert!(!place.path("out/.hidden").exists());
    place.curtail(&["window", "-n", "2", "data", "-O", "all", "--hidden"]).assert().success();
    assert!(place.path("all/.hidden/d.jsonl").exists() && place.path("all/a.jsonl").exists());
    assert!(!place.path("out/notes.txt").exists() && !place.path("out/.curtail-resume").exists());
    // Into a directory inside the input, which is no input itself.
    for _ in 0..2 {
        place.curtail(&["window", "-n", "2", "data", "-O", "data/cut", "--force"]).assert().success();
        assert!(place.path("data/cut/a.jsonl").exists() && !place.path("data/cut/cut").exists());
    }
    // Globs of ours, for shells that have none, and names as they were typed.
    let arguments = ["window", "-n", "2", "data/*.jsonl", "data/sub/**", "-O", "globs"];
    place.curtail(&arguments).assert().success();
    assert!(place.path("globs/data/a.jsonl").exists() && place.path("globs/data/sub/b.ndjson").exists());
    place.write("top.jsonl", chat("t", 3).as_bytes());
    place.curtail(&["window", "-n", "2", "t*.jsonl", "-O", "here"]).assert().success();
    assert!(place.path("here/top.jsonl").exists(), "a glob without a directory");
}

#[test]
fn bad_files_do_not_stop_the_others() {
    let place = Place::new();
    place.write("a.jsonl", b"{\n");
    place.write("b.jsonl", chat("b", 3).as_bytes());
    let done = place.curtail(&["window", "-i", "a.jsonl", "none.jsonl", "b.jsonl", "-n", "2"]).output().unwrap();
    let stderr = text(&done.stderr);
    assert!(stderr.contains("none.jsonl: no such file or directory") && stderr.contains("a.jsonl:1:2: "), "{stderr}");
    assert_eq!(done.status.code(), Some(2));
    assert_eq!(place.read("a.jsonl"), b"{\n");
    assert_ne!(place.read("b.jsonl"), chat("b", 3).as_bytes());
}

#[cfg(unix)]
#[test]
fn odd_names_deep_trees_and_loops() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;

    let place = Place::new();
    let odd = place.path("data").join(OsStr::from_bytes(b"n\xff\n.jsonl"));
    let deep = place.path("data").join(vec!["d"; 300].join("/"));
    fs::create_dir_all(&deep).unwrap();
    fs::write(&odd, chat("odd", 3)).unwrap();
    fs::write(deep.join("x.jsonl"), chat("deep", 3)).unwrap();
    symlink(place.path("data"), place.path("data/loop")).unwrap();
    let done = place.curtail(&["window", "-n", "2", "data", "-O", "out"]).output().unwrap();
    let stderr = text(&done.stderr);
    assert!(stderr.contains("data/loop: a symbolic link leads back to data"), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert_eq!(done.status.code(), Some(2));
    let out = place.path("out");
    assert!(out.join(odd.file_name().unwrap()).exists());
    assert!(out.join(deep.strip_prefix(place.path("data")).unwrap()).join("x.jsonl").exists());
}

#[test]
fn a_file_that_fails_counts_once() {
    let place = Place::new();
    let whole = gzip(&chats(3000));
    place.write("a.jsonl.gz", &whole[..whole.len() / 2]);
    for inputs in [&["a.jsonl.gz"][..], &["none.jsonl", "a.jsonl.gz"]] {
        for to in [&[][..], &["--output-dir", "out"]] {
            let arguments = [&["window", "-n", "2", "--stats=json"], inputs, to].concat();
            let stderr = text(&place.curtail(&arguments).output().unwrap().stderr);
            assert!(stderr.contains(&format!("\"failed_files\":{}", inputs.len())), "{stderr}");
        }
    }
}

#[cfg(unix)]
#[test]
fn rejects_can_be_discarded() {
    let place = Place::new();
    place.write("a.jsonl", b"{bad\n");
    let done = place.curtail(&["window", "a.jsonl", "-O", "out", "--rejects", "/dev/null"]).output().unwrap();
    assert_eq!(text(&done.stderr), "curtail: a.jsonl:1:2: expected a key in double quotes\n");
}

#[test]
fn utf32_is_never_read_as_something_else() {
    let place = Place::new();
    let text_of = "{\"messages\":[{\"role\":\"user\",\"content\":\"\u{4e2d} \u{1f600}\"}]}\n".repeat(2);
    let bytes: Vec<u8> = text_of.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    place.write("a.jsonl", &bytes);
    for command in [&["repair", "--damaged", "a.jsonl"][..], &["repair", "a.jsonl"], &["count", "a.jsonl"]] {
        let done = place.curtail(command).output().unwrap();
        let stderr = text(&done.stderr);
        assert!(stderr.contains("a.jsonl:1:1: the file is UTF-32"), "{command:?}: {stderr}");
        assert_eq!((done.status.code(), text(&done.stdout).contains("-N")), (Some(2), false), "{command:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_in_a_directory_is_named_once() {
    let place = Place::new();
    place.write("data/a.jsonl", chat("a", 3).as_bytes());
    std::os::unix::fs::symlink("nowhere", place.path("data/b.jsonl")).unwrap();
    let done = place.curtail(&["window", "-n", "2", "data", "-O", "out", "-q"]).output().unwrap();
    assert_eq!(text(&done.stderr), "curtail: data/b.jsonl: no such file or directory\n");
    assert_eq!(done.status.code(), Some(2));
    assert!(place.path("out/a.jsonl").exists(), "the other file is cut");
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_is_named() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = Place::new();
    place.write("a.jsonl", chat("a", 3).as_bytes());
    place.write("b.jsonl", chat("b", 3).as_bytes());
    fs::set_permissions(place.path("a.jsonl"), fs::Permissions::from_mode(0o000)).unwrap();
    // Root reads everything: a directory in a file's place is unreadable for root, too.
    let unreadable = if fs::read(place.path("a.jsonl")).is_ok() { "c.jsonl" } else { "a.jsonl" };
    fs::create_dir(place.path("c.jsonl")).unwrap();
    fs::create_dir(place.path("c.jsonl/x.jsonl")).unwrap();
    let done = place.curtail(&["window", "b.jsonl", unreadable, "-q"]).output().unwrap();
    assert_eq!(text(&done.stdout), chat("b", 3));
    if unreadable == "a.jsonl" {
        assert_eq!(text(&done.stderr), "curtail: a.jsonl: permission denied\n");
        assert_eq!(done.status.code(), Some(2));
    }
}

#[test]
fn ten_thousand_tiny_files() {
    let place = Place::new();
    for nth in 0..10_000 {
        place.write(&format!("data/{:02}/{nth}.jsonl", nth % 100), b"{\"messages\":[]}\n");
    }
    let done = place.curtail(&["window", "data"]).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert_eq!(done.stdout.len(), 160_000);
}

/// Kills the program at random moments and sees to it that every file is old or new.
fn killed_at_random(arguments: &[&str], outputs: &str, times: u32) {
    let fill = |place: &Place| {
        (0..200).for_each(|nth| place.write(&format!("data/{nth}.jsonl"), chats(2 + nth % 7).as_bytes()));
    };
    let whole = Place::new();
    fill(&whole);
    let begun = Instant::now();
    whole.curtail(arguments).assert().success();
    let took = begun.elapsed();
    let place = Place::new();
    for time in 0..times {
        if time % 5 == 0 {
            drop(fs::remove_dir_all(place.path(outputs)));
            fill(&place);
        }
        let mut child = place.command(&[]);
        child.args(arguments).arg("--resume").current_dir(place.path("")).stderr(Stdio::null());
        let mut child = child.spawn().unwrap();
        // Moments spread over the run by the golden ratio, all different.
        let part = (f64::from(time) * 0.618_033_988_75).fract();
        std::thread::sleep(took.mul_f64(part));
        child.kill().unwrap();
        child.wait().unwrap();
        for nth in 0..200 {
            let name = format!("{outputs}/{nth}.jsonl");
            let Ok(content) = fs::read(place.path(&name)) else {
                assert_ne!(outputs, "data", "{name} is lost");
                continue;
            };
            let old = place.path("data") == place.path(outputs) && content == chats(2 + nth % 7).as_bytes();
            assert!(old || content == whole.read(&name), "{name} is torn after kill {time}");
        }
    }
    place.curtail(arguments).arg("--resume").assert().success();
    for nth in 0..200 {
        let name = format!("{outputs}/{nth}.jsonl");
        assert!(place.read(&name) == whole.read(&name), "{name}");
    }
}

#[test]
fn killed_while_writing_a_directory() {
    killed_at_random(&["window", "-n", "3", "data", "-O", "out"], "out", 25);
}

#[test]
fn killed_while_replacing() {
    killed_at_random(&["window", "-n", "3", "data", "-i"], "data", 25);
}

#[test]
fn resume_leaves_out_what_is_done() {
    let place = Place::new();
    (0..20).for_each(|nth| place.write(&format!("data/{nth}.jsonl"), chats(3).as_bytes()));
    let run = |size: &str| {
        let arguments = ["window", "-n", size, "data", "-O", "out", "--resume", "--stats=json"];
        let done = place.curtail(&arguments).output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        let sums: serde_json::Value = serde_json::from_slice(&done.stderr).unwrap();
        (sums["files"].as_u64().unwrap(), sums["finished_before"].as_u64().unwrap())
    };
    assert_eq!(run("3"), (20, 0));
    assert_eq!(run("3"), (0, 20));
    fs::remove_file(place.path("out/7.jsonl")).unwrap();
    // It has another size, whatever the clock of the file system.
    place.write("data/8.jsonl", chats(4).as_bytes());
    assert_eq!(run("3"), (2, 18));
    assert_eq!(run("2"), (20, 0), "other options make other outputs");
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_with_what_is_whole() {
    let place = Place::new();
    (0..100).for_each(|nth| place.write(&format!("data/{nth}.jsonl"), chats(3).as_bytes()));
    // The last input never ends, so the run is in progress whenever the signal comes.
    assert!(Command::new("mkfifo").arg(place.path("pipe.jsonl")).status().unwrap().success());
    let _writer = fs::File::options().read(true).write(true).open(place.path("pipe.jsonl")).unwrap();
    let mut child = place.command(&[]);
    child.args(["window", "-n", "3", "data", "pipe.jsonl", "-O", "out"]);
    let child = child.current_dir(place.path("")).stderr(Stdio::piped()).spawn().unwrap();
    let id = child.id().to_string();
    wait_for(&place.path("out"));
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(130), "{}", text(&done.stderr));
    assert!(text(&done.stderr).contains("interrupted after "), "{}", text(&done.stderr));
    let left = fs::read_dir(place.path("out")).unwrap().map(|entry| entry.unwrap().file_name());
    let torn = left.filter(|name| name.to_string_lossy().ends_with(".tmp")).count();
    assert_eq!(torn, 0, "a file that was not finished was left behind");
}

/// A summarizer's program runs in a group of its own, which a terminal's Ctrl-C does not reach.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_ends_the_summarizer_of_a_stream() {
    let place = Place::new();
    place.write("slow.sh", b"echo $$ > pid.$$\nmv pid.$$ pid\nexec sleep 10000\n");
    let mut child = place.command(&["summarize", "-n", "1", "--summarizer-cmd", "sh slow.sh"]);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(chats(3).as_bytes()).unwrap();
    wait_until("a summarizer", || place.path("pid").exists());
    let pid = text(&place.read("pid"));
    let is_running = || {
        let status = fs::read_to_string(format!("/proc/{}/status", pid.trim())).unwrap_or_default();
        !status.is_empty() && !status.contains("\nState:\tZ")
    };
    assert!(is_running());
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(130), "{}", text(&done.stderr));
    assert!(!is_running(), "the summarizer outlived the program");
}

/// A block of records takes minutes where a model is asked for every one of them: it is not waited for.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_block_of_slow_records() {
    let place = Place::new();
    place.write("a.jsonl", chats(300).as_bytes());
    place.write("slow.sh", b"sleep 0.1\necho done\n");
    let command = ["summarize", "-n", "1", "a.jsonl", "--summarizer-cmd", "sh slow.sh"];
    for (goes_to, flags) in [("a file", &["-O", "out"][..]), ("standard output", &[])] {
        let mut child = place.command(&[]);
        child.args(command).args(flags).args(["--cache", "cache"]).current_dir(place.path(""));
        let child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let id = child.id().to_string();
        wait_for(&place.path("cache"));
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        let done = child.wait_with_output().unwrap();
        assert_eq!(done.status.code(), Some(130), "{goes_to}: {}", text(&done.stderr));
        assert!(!place.path("out/a.jsonl").exists(), "a file that was not finished was left behind");
        let made = fs::read_dir(place.path("cache")).unwrap().count();
        // Each record has at least one summary.
        assert!((10..300).contains(&made), "{goes_to}: {made} summaries of 300 records or more were made or kept");
        fs::remove_dir_all(place.path("cache")).unwrap();
    }
}

fn wait_for(path: &Path) {
    wait_until("ten files", || fs::read_dir(path).map_or(0, Iterator::count) >= 10);
}

/// A real terminal: `script` of util-linux opens one.
#[cfg(target_os = "linux")]
#[test]
fn progress_is_shown_on_a_terminal_and_nowhere_else() {
    let place = Place::new();
    place.write("a.jsonl", chats(3_000).as_bytes());
    let on_terminal = |flags: &str| {
        let line = format!("{} window a.jsonl -o out --force {flags}", program());
        text(&terminal(&line, &place.path("")).output().unwrap().stdout)
    };
    let shown = on_terminal("--progress always");
    assert!(shown.contains("transcripts") && shown.contains("/s"), "no bar: {shown:?}");
    assert!(shown.contains("a.jsonl"), "no bar for the file: {shown:?}");
    assert_eq!(on_terminal("--progress never"), "");
    assert_eq!(on_terminal("--progress always --quiet"), "");
    let done = place.curtail(&["window", "a.jsonl", "-o", "out", "--force"]).output().unwrap();
    assert_eq!(text(&done.stderr), "", "a pipe is no terminal");
    let done = place.curtail(&["window", "a.jsonl", "-o", "out", "--force", "--progress", "always"]).output().unwrap();
    let stderr = text(&done.stderr);
    // A slow run also gets a line every ten seconds.
    assert!(stderr.lines().all(|line| line.starts_with("curtail: ")), "{stderr}");
    assert!(stderr.lines().last().is_some_and(|line| line.ends_with(" 3,000 transcripts")), "{stderr}");
}

/// Summaries by a model take longer than all else, so they are counted as they come.
#[cfg(target_os = "linux")]
#[test]
fn progress_counts_summaries() {
    let place = Place::new();
    place.write("a.jsonl", chats(4).as_bytes());
    place.write("slow.sh", b"sleep 0.1\necho done\n");
    let slow = "summarize -n 1 a.jsonl --summarizer-cmd 'sh slow.sh' --force";
    for flags in ["-o out", "--emit state"] {
        let line = format!("{} {slow} {flags} --progress always 2>&1 >out.txt", program());
        let shown = text(&terminal(&line, &place.path("")).output().unwrap().stdout);
        assert!(shown.contains("1 summary,") && shown.contains("4 summaries"), "{flags}: {shown:?}");
    }
    let mut piped = place.curtail(&["summarize", "-n", "1", "a.jsonl", "-o", "out", "--force", "--progress", "always"]);
    let stderr = text(&piped.output().unwrap().stderr);
    assert!(stderr.contains(" transcripts, ") && stderr.contains(" summaries"), "{stderr}");
}

/// The program does not wait for a transcript to be typed on a terminal.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_as_input_is_a_hint() {
    let place = Place::new();
    let line = format!("{} window", program());
    let done = terminal(&line, &place.path("")).output().unwrap();
    assert!(text(&done.stdout).contains("standard input is a terminal"), "{}", text(&done.stdout));
    assert_eq!(done.status.code(), Some(2));
}

/// Blocks are handed on as they are done: memory does not grow with the file.
#[test]
#[cfg_attr(not(debug_assertions), ignore = "only a debug build counts its work")]
fn memory_stays_flat() {
    let place = Place::new();
    let some = chats(5_000);
    place.write("a.jsonl", some.repeat(4).as_bytes());
    place.write("less.jsonl", some.as_bytes());
    let [less, more] = ["less.jsonl", "a.jsonl"].map(|input| place.work(&["window", "-n", "3", "-j", "2", input]).peak);
    // Six blocks and what is made of them, at most.
    assert!(more < 24 << 20, "{more} bytes");
    assert!(more < less + (12 << 20), "{less} bytes for a quarter, {more} for the whole");
}

/// A run that skips thousands of records of one kind names some of them, and how many more there are.
#[test]
fn errors_that_a_run_passes_over_are_named_and_then_counted() {
    let place = Place::new();
    place.write(
        "rows.jsonl",
        "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}\n{\"messages\":[}\n".repeat(9).as_bytes(),
    );
    for (flags, named) in [(&[][..], 5), (&["-v"], 9)] {
        let done =
            place.curtail(&["limit", "-t", "8k", "--on-error", "skip", "rows.jsonl"]).args(flags).output().unwrap();
        let stderr = text(&done.stderr);
        let lines = (1..=9).filter(|nth| stderr.contains(&format!("rows.jsonl:{}:14: expected a JSON value", nth * 2)));
        assert_eq!((done.status.code(), lines.count()), (Some(0), named), "{stderr}");
        assert_eq!(stderr.contains("4 more transcripts: expected a JSON value"), named == 5, "{stderr}");
    }
}
