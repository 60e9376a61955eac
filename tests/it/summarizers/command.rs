//! The summarizer that runs a program, the cache, and the fallback, with real processes and folders.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use curtail_memory::summarizers::{
    Budget, Cached, Command, Extractive, Failure, Fallback, RememberedSummaries, Speaker, Summarizer, Utterance,
};

const LONG: Duration = crate::program::GUARD;

fn words(tokens: usize) -> Budget<'static> {
    Budget { tokens, count: &|text: &str| text.split_whitespace().count() }
}

fn utterances() -> Vec<Utterance<'static>> {
    vec![
        Utterance::new(Speaker::User, "Fix \"it\""),
        Utterance::new(Speaker::Call("sh".into()), r#"{"cmd":"ls"}"#),
        Utterance::new(Speaker::Tool("sh".into()), "a\nb"),
        Utterance::new(Speaker::Assistant, "Done"),
    ]
}

fn run(line: &str, timeout: Duration) -> Result<String, Failure> {
    Command::new(line, timeout)?.summarize(&utterances(), &words(7))
}

#[test]
fn messages_go_in_as_json_and_text_comes_out() {
    let text = run("cat", LONG).map(|text| text.starts_with(r#"[{"role":"user","content":"Fix \"it\""},"#));
    assert!(text.expect("cat works"));
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let line = format!("sh -c 'cat > {}; echo $CURTAIL_SUMMARY_TOKENS tokens'", file.path().display());
    assert_eq!(run(&line, LONG).ok().as_deref(), Some("7 tokens"));
    let input = fs::read_to_string(file.path()).expect("it was written");
    assert_eq!(
        input,
        r#"[{"role":"user","content":"Fix \"it\""},{"role":"assistant","tool_call":{"name":"sh","arguments":"{\"cmd\":\"ls\"}"}},{"role":"tool","name":"sh","content":"a\nb"},{"role":"assistant","content":"Done"}]"#
    );
}

#[test]
fn what_a_program_writes_is_brought_within_the_budget() {
    assert_eq!(run("echo 1 2 3 4 5 6 7 8 9", LONG).ok().as_deref(), Some("1 2 3 4 5 6 …"));
}

#[test]
fn a_program_that_fails_is_quoted() {
    for (line, parts) in [
        ("sh -c 'echo out; echo why >&2; exit 3'", &["sh: exit status: 3", "standard error: why"][..]),
        ("true", &["true: wrote nothing"]),
        ("printf '\\377'", &["not UTF-8"]),
        ("/no/such/program", &["/no/such/program: cannot be started"]),
        ("", &["command is empty"]),
        ("sh 'open", &["not closed"]),
    ] {
        let why = run(line, LONG).expect_err(line).to_string();
        assert!(parts.iter().all(|part| why.contains(part)), "{line}: {why}");
    }
}

#[test]
fn a_program_that_hangs_is_stopped() {
    let folder = tempfile::tempdir().expect("a folder");
    let end = folder.path().join("end");
    let two_commands = format!("sh -c 'echo slow >&2; sleep 60; touch {}'", end.display());
    for line in ["sh -c 'echo slow >&2; exec sleep 60'", two_commands.as_str()] {
        let why = run(line, Duration::from_millis(200)).expect_err(line).to_string();
        assert!(why.contains("stopped after 0.2 s"), "{why}");
    }
    assert!(!end.exists(), "its end was waited for");
}

/// What a program started ends with it.
#[cfg(unix)]
#[test]
fn the_children_of_a_program_that_hangs_are_stopped() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let line = format!("sh -c 'sleep 600 & echo $! > {}; wait'", file.path().display());
    // It may have started nothing yet when its time is over.
    let child = (1..8).find_map(|power| {
        let why = run(&line, Duration::from_millis(50 << power)).expect_err("it hangs").to_string();
        assert!(why.contains("stopped after"), "{why}");
        fs::read_to_string(file.path()).ok()?.trim().parse::<i32>().ok()
    });
    await_end(child.expect("it started"));
}

/// So does what a program started and left behind, if it keeps the output open or the program failed.
#[cfg(unix)]
#[test]
fn the_children_of_a_program_that_ended_are_stopped() {
    for (end, part) in [("exit 0", "ended, but its standard output stayed open"), ("exit 3", "exit status: 3")] {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let line = format!("sh -c 'sleep 600 & echo $! > {}; {end}'", file.path().display());
        let why = run(&line, Duration::from_secs(3)).expect_err("it has no summary").to_string();
        // On a busy machine, the program itself may not have ended in time.
        assert!(why.contains(part) || why.contains("stopped after"), "{why}");
        let child = fs::read_to_string(file.path()).expect("a number");
        await_end(child.trim().parse().expect("a number"));
    }
}

/// Waits until a process has ended.
#[cfg(unix)]
fn await_end(child: i32) {
    let child = rustix::process::Pid::from_raw(child).expect("a number");
    // A process that was ended remains until its new parent has asked for its status.
    let is_gone = || {
        let status = fs::read_to_string(format!("/proc/{}/stat", child.as_raw_nonzero())).unwrap_or_default();
        rustix::process::test_kill_process(child).is_err() || status.contains(") Z ")
    };
    let deadline = Instant::now() + LONG;
    while !is_gone() {
        assert!(Instant::now() < deadline, "it still runs");
        std::thread::yield_now();
    }
}

/// Neither pipe may fill up while the other is served, and a program need not read what it is given.
#[test]
fn much_in_and_much_out_does_not_block() {
    let much = "x ".repeat(1 << 20);
    let utterances = [Utterance::new(Speaker::User, much.as_str())];
    for line in ["sh -c 'yes noise | head -c 3000000 >&2; cat'", "sh -c 'exec 0<&-; echo fine'"] {
        let command = Command::new(line, LONG).expect("a command line");
        assert!(command.summarize(&utterances, &words(3)).is_ok(), "{line}");
    }
}

/// A cache in `folder` that must be writable.
fn cache<S>(inner: S, folder: &Path) -> Cached<S, fn(&str)> {
    Cached::new(inner, folder.to_owned(), |why| panic!("{why}"))
}

#[test]
fn an_answer_is_paid_for_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let count = folder.path().join("count");
    let line = format!("sh -c 'cat > /dev/null; echo x >> {}; echo summary'", count.display());
    let kept = folder.path().join("a/cache");
    let cached = || cache(Command::new(&line, LONG).expect("a command line"), &kept);
    let runs = || fs::read_to_string(&count).map_or(0, |text| text.lines().count());
    for _ in 0..3 {
        let text = cached().summarize(&utterances(), &words(7)).ok();
        assert_eq!((text.as_deref(), runs()), (Some("summary"), 1));
    }
    assert!(cached().summarize(&utterances(), &words(8)).is_ok());
    assert_eq!(runs(), 2, "another budget is another question");
    assert!(cached().summarize(&utterances()[..3], &words(7)).is_ok());
    assert_eq!(runs(), 3, "other messages are another question");
    for entry in fs::read_dir(&kept).expect("it was made") {
        fs::write(entry.expect("an entry").path(), "{\"to\":").expect("it can be written");
    }
    assert!(cached().summarize(&utterances(), &words(7)).is_ok());
    assert_eq!(runs(), 4, "a broken entry is none");
    assert!(cached().summarize(&utterances(), &words(7)).is_ok());
    assert_eq!(runs(), 4, "and is mended");
}

#[test]
fn failures_are_not_kept() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cached = cache(Command::new("false", LONG).expect("a command line"), folder.path());
    assert!(cached.summarize(&utterances(), &words(7)).is_err());
    assert_eq!(fs::read_dir(folder.path()).map(Iterator::count).ok(), Some(0));
}

/// A summary was paid for, so it is used even if it cannot be stored.
#[test]
fn a_summary_that_cannot_be_stored_is_used() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let taken = folder.path().join("taken");
    for (place, blocked) in [(file.path().to_owned(), false), (file.path().join("below"), false), (taken, true)] {
        let reported = Mutex::new(Vec::new());
        let warn = |why: &str| reported.lock().expect("no thread panicked").push(why.to_owned());
        let inner = Command::new("echo fine", LONG).expect("a command line");
        if blocked {
            cache(Command::new("echo fine", LONG).expect("a command line"), &place)
                .summarize(&utterances(), &words(7))
                .expect("it is stored");
            for entry in fs::read_dir(&place).expect("it was made") {
                let path = entry.expect("an entry").path();
                fs::remove_file(&path).expect("it is a file");
                fs::create_dir(path).expect("its name is free");
            }
        }
        let cached = Cached::new(inner, place.clone(), warn);
        for _ in 0..2 {
            assert_eq!(cached.summarize(&utterances(), &words(7)).ok().as_deref(), Some("fine"), "{}", place.display());
        }
        let reported = reported.lock().expect("no thread panicked");
        assert_eq!(reported.len(), 1, "one warning is enough: {reported:?}");
        let says = [place.to_str().expect("a name"), "cannot keep the summary", "--cache"];
        assert!(says.iter().all(|words| reported[0].contains(words)), "{reported:?}");
    }
}

#[test]
fn the_fallback_says_so() {
    let reported = Mutex::new(Vec::new());
    let fallback = |line: &str| Fallback {
        first: Command::new(line, LONG).expect("a command line"),
        second: Extractive,
        warn: |why: &str| reported.lock().expect("no thread panicked").push(why.to_owned()),
    };
    assert_eq!(fallback("echo fine").summarize(&utterances(), &words(7)).ok().as_deref(), Some("fine"));
    assert!(reported.lock().expect("no thread panicked").is_empty());
    let text = fallback("false").summarize(&utterances(), &words(7)).expect("the second works");
    assert!(text.contains("user: Fix"), "{text}");
    let reported = reported.lock().expect("no thread panicked");
    assert_eq!(reported.len(), 1);
    assert!(
        reported[0].starts_with("command failed, so extractive summarizes instead: false: exit status: 1"),
        "{reported:?}"
    );
}

#[cfg(unix)]
#[test]
fn calls_of_two_tools_with_the_same_arguments_have_two_summaries() {
    let remembered = RememberedSummaries::new(Arc::new(Command::new("cat", LONG).expect("a command line")));
    let summary = |tool: &str| {
        let call = Utterance::new(Speaker::Call(tool.to_owned()), "{\"path\": \"a\"}");
        remembered.summarize(&[call], &words(1_000)).expect("a summary")
    };
    assert!(summary("read_file").contains("read_file"));
    assert!(summary("write_file").contains("write_file"));
}

#[test]
fn what_keeps_summaries_leaves_as_much_room_for_facts() {
    let folder = tempfile::tempdir().expect("a folder");
    let cached = cache(Extractive, folder.path());
    assert_eq!(cached.facts_share(), Extractive.facts_share());
    assert_eq!(RememberedSummaries::new(Arc::new(Extractive)).facts_share(), Extractive.facts_share());
    let fallback =
        Fallback { first: Extractive, second: Command::new("cat", LONG).expect("a command line"), warn: |_: &str| {} };
    assert_eq!(fallback.facts_share(), Extractive.facts_share());
}
