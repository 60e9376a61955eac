//! Standard input that stalls: every record is answered before the next arrives, what needs the end waits for it, and a
//! signal ends the wait.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::program::{GUARD, chat, command, root, text};

fn start(arguments: &[&str]) -> Child {
    let mut child = command(root(), arguments);
    child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The lines of a stream, as they arrive.
fn lines(stream: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        while stream.read_line(&mut line).unwrap_or(0) > 0 && sender.send(std::mem::take(&mut line)).is_ok() {}
    });
    receiver
}

/// What `pack` makes of each record, sent one at a time; the next only after the answer to the one before.
fn answers(arguments: &[&str], records: &[String], mut pack: impl FnMut(&str) -> Vec<u8>) {
    let mut child = start(arguments);
    let mut input = child.stdin.take().unwrap();
    let output = lines(child.stdout.take().unwrap());
    for record in records {
        input.write_all(&pack(record)).unwrap();
        input.flush().unwrap();
        let answer = output.recv_timeout(GUARD);
        if answer.is_err() {
            child.kill().unwrap();
        }
        assert_eq!(answer.as_deref().unwrap_or("no answer"), record, "{arguments:?}");
    }
    drop(input);
    assert!(output.recv_timeout(GUARD).is_err(), "{arguments:?} wrote more");
    assert!(child.wait().unwrap().success());
}

#[test]
fn every_record_is_answered_before_the_next_arrives() {
    let records: Vec<String> = (0..9).map(|nth| chat(&format!("chat-{nth}"), 1)).collect();
    let lists: Vec<String> = (0..9).map(|nth| format!("[{{\"role\":\"user\",\"content\":\"{nth}\"}}]\n")).collect();
    for jobs in ["1", "2", "8"] {
        for records in [&records, &lists] {
            let arguments = ["window", "-n", "40", "-j", jobs];
            answers(&arguments, records, |record| record.as_bytes().to_vec());
            let mut packer = flate2::Compress::new(flate2::Compression::fast(), false);
            // A header without a name (RFC 1952, section 2.3), then one block of deflate for each record.
            let mut head = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
            let mut child = start(&arguments);
            let mut input = child.stdin.take().unwrap();
            let output = lines(child.stdout.take().unwrap());
            for record in records {
                let mut packed = Vec::with_capacity(4096);
                packer.compress_vec(record.as_bytes(), &mut packed, flate2::FlushCompress::Sync).unwrap();
                input.write_all(&[std::mem::take(&mut head), packed].concat()).unwrap();
                input.flush().unwrap();
                let answer = output.recv_timeout(GUARD);
                assert_eq!(answer.as_deref().unwrap_or("no answer"), record, "gzip with {jobs} jobs");
            }
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

#[test]
fn a_broken_record_is_reported_before_the_next_arrives() {
    let mut child = start(&["window", "--on-error", "skip"]);
    let mut input = child.stdin.take().unwrap();
    let (output, errors) = (lines(child.stdout.take().unwrap()), lines(child.stderr.take().unwrap()));
    input.write_all(b"{\"messages\": [}\n").unwrap();
    let warning = errors.recv_timeout(GUARD).unwrap_or_default();
    assert!(warning.contains("stdin:1:15: expected a JSON value (dropped)"), "{warning}");
    input.write_all(chat("a", 1).as_bytes()).unwrap();
    assert_eq!(output.recv_timeout(GUARD).unwrap_or_default(), chat("a", 1));
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn findings_are_reported_before_the_next_record_arrives() {
    for jobs in ["1", "8"] {
        for (format, begins, count) in [("text", "error[T001]", 7), ("github", "::error file=stdin", 1)] {
            let mut child = start(&["check", "--output-format", format, "-D", "T001", "-j", jobs]);
            let mut input = child.stdin.take().unwrap();
            let output = lines(child.stdout.take().unwrap());
            for line in 1..4 {
                writeln!(input, "[{{\"role\":\"assistant\",\"content\":\"{line}\"}}]").unwrap();
                let next = || output.recv_timeout(GUARD).unwrap_or_default();
                let found: String = std::iter::repeat_with(next).take(count).collect();
                let place = if format == "text" { format!("stdin:{line}:2") } else { format!("line={line},") };
                assert!(found.starts_with(begins) && found.contains(&place), "{format}: {found:?}");
            }
            drop(input);
            let rest: Vec<String> = output.iter().collect();
            let summary = if format == "text" { "3 errors in 3 transcripts of 1 file\n" } else { "" };
            assert_eq!(rest.last().map_or("", String::as_str), summary, "{format}");
            assert_eq!(child.wait().unwrap().code(), Some(1));
        }
    }
}

#[test]
fn a_record_that_fails_is_answered_with_its_reason() {
    for jobs in ["1", "8"] {
        let mut child = start(&["window", "--framing", "records", "--on-error", "report", "-j", jobs]);
        let mut input = child.stdin.take().unwrap();
        let output = lines(child.stdout.take().unwrap());
        let mut ask = |record: &[u8]| {
            input.write_all(record).unwrap();
            output.recv_timeout(GUARD).unwrap_or_default()
        };
        assert_eq!(ask(b"{\"messages\": [}\n"), "!{\"line\":1,\"column\":15,\"reason\":\"expected a JSON value\"}\n");
        assert_eq!(ask(chat("a", 1).as_bytes()), chat("a", 1));
        let garbled = ask(b"\xff\n");
        assert!(garbled.starts_with("!{\"line\":3,") && garbled.contains("UTF-8"), "{garbled}");
        assert_eq!(ask(chat("b", 2).as_bytes()), chat("b", 2));
        drop(input);
        let done = child.wait_with_output().unwrap();
        assert!(done.status.success());
        assert_eq!(text(&done.stderr), "");
    }
}

#[test]
fn the_shortest_records_are_answered() {
    for (first, answer) in [
        ("[]\n", "[]\n"),
        ("{\n", "!{\"line\":"),
        ("(\n", "!{\"line\":1,\"column\":1,"),
        ("\u{1f}\n", "!{\"line\":1,\"column\":1,"),
    ] {
        let mut child = start(&["window", "--framing", "records", "--on-error", "report"]);
        let mut input = child.stdin.take().unwrap();
        let output = lines(child.stdout.take().unwrap());
        input.write_all(first.as_bytes()).unwrap();
        let answered = output.recv_timeout(GUARD).unwrap_or_default();
        assert!(answered.starts_with(answer), "{first:?}: {answered:?}");
        drop(input);
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn reasons_are_written_to_pipes_of_records_only() {
    let place = crate::program::Place::new();
    place.write("a.jsonl", chat("a", 1).as_bytes());
    let records = ["--framing", "records"];
    for flags in [&["-"][..], &[&records[..], &["a.jsonl"]].concat(), &[&records[..], &["-o", "b.jsonl"]].concat()] {
        let done = place.curtail(&[&["window", "--on-error", "report"], flags].concat()).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{flags:?}");
        assert!(text(&done.stderr).contains("--on-error report answers records in a pipe"), "{flags:?}");
        assert_eq!(place.list(), ["a.jsonl"], "{flags:?}");
    }
}

#[test]
fn what_needs_its_end_waits_for_it() {
    // A log, a document over several lines, and blank lines before a record.
    for pieces in [
        ["{\"role\":\"user\",\"content\":\"a\"}\n", "{\"role\":\"assistant\",\"content\":\"b\"}\n"],
        ["[\n", "{\"role\":\"user\",\"content\":\"a\"}\n]\n"],
        ["[[{\"role\":\"user\",\"content\":\"a\"}],[{\"role\":\"user\",\"content\":\"b\"}]]\n", "\n"],
        ["\n \n", "{\"messages\": []}\n"],
        ["{\"messages\"", ": []}\n"],
    ] {
        let mut child = start(&["window"]);
        let mut input = child.stdin.take().unwrap();
        for piece in pieces {
            input.write_all(piece.as_bytes()).unwrap();
            input.flush().unwrap();
            // The pieces usually arrive one by one; the output is the same if they do not.
            std::thread::sleep(Duration::from_millis(60));
        }
        drop(input);
        let done = child.wait_with_output().unwrap();
        assert_eq!(text(&done.stderr), "", "{pieces:?}");
        assert_eq!(text(&done.stdout), pieces.concat());
    }
}

/// Waits until a program handles signals and sleeps, as it does while it waits for its input.
#[cfg(target_os = "linux")]
fn wait_until_it_waits(child: &Child) {
    let field = |status: &str, name: &str| status.lines().find_map(|line| line.strip_prefix(name).map(str::to_owned));
    crate::program::wait_until("a program that waits for its input", || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let caught = field(&status, "SigCgt:").and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        // SIGTERM is number 15.
        caught.is_some_and(|mask| mask >> 14 & 1 == 1)
            && field(&status, "State:").is_some_and(|state| state.trim().starts_with('S'))
    });
}

/// Whether whoever started the tests ignores the hang-up signal, as `nohup` does: programs inherit that.
#[cfg(target_os = "linux")]
fn hang_ups_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 != 0)
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_the_wait_for_an_input() {
    let place = crate::program::Place::new();
    let all = [("-INT", 130), ("-TERM", 143), ("-HUP", 129)];
    for (signal, status) in all.into_iter().filter(|(signal, _)| *signal != "-HUP" || !hang_ups_are_ignored()) {
        for first in ["", "{\"messages\": []}\n", "{\"role\": \"user\", \"content\": \"a\"}\n"] {
            let mut child = place.command(&["window", "-o", "out"]);
            child.stdin(Stdio::piped());
            let mut child = child.stderr(Stdio::piped()).spawn().unwrap();
            let mut input = child.stdin.take().unwrap();
            input.write_all(first.as_bytes()).unwrap();
            wait_until_it_waits(&child);
            assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
            let mut printed = String::new();
            child.stderr.take().unwrap().read_to_string(&mut printed).unwrap();
            assert_eq!(child.wait().unwrap().code(), Some(status), "{signal} after {first:?}: {printed}");
            assert!(printed.starts_with("curtail: interrupted after 0 files"), "{printed}");
            assert_eq!(place.list(), [""; 0], "{signal} after {first:?}");
            drop(input);
        }
    }
}

/// A summarizer's program runs in a process group of its own, and must not outlive the program that asked it.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_the_program_of_a_summarizer() {
    let place = crate::program::Place::new();
    place.write("slow.sh", b"echo $$ > running.new; mv running.new running; exec sleep 600\n");
    let rain = "rain ".repeat(80);
    let round =
        format!("{{\"role\":\"user\",\"content\":\"{rain}?\"}}\n{{\"role\":\"assistant\",\"content\":\"{rain}.\"}}\n");
    place.write("chat.jsonl", round.repeat(60).as_bytes());
    let asks = ["--summarizer-cmd", "sh slow.sh", "chat.jsonl"];
    let policy = "summarize -n 2 --summarizer-cmd 'sh slow.sh'";
    for arguments in [
        [&["summarize", "--handoff"][..], &asks].concat(),
        [&["summarize", "--emit", "state"][..], &asks].concat(),
        [&["summarize", "--thread", "t", "--on-summary-error", "extractive"][..], &asks].concat(),
        vec!["replay", "--allow-summarizer", "--policy", policy, "chat.jsonl"],
    ] {
        for (signal, status) in [("-INT", 2), ("-TERM", 15)] {
            let mut child = place.command(&arguments);
            let mut child = child.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            crate::program::wait_until("a program that summarizes", || place.path("running").exists());
            let running = text(&place.read("running")).trim().to_owned();
            assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
            let mut written = String::new();
            child.stdout.take().unwrap().read_to_string(&mut written).unwrap();
            assert_eq!(written, "", "made of a summary that was stopped: {arguments:?}");
            let ended = child.wait().unwrap();
            assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended), Some(status), "{arguments:?} {signal}");
            crate::program::wait_until("the end of a program that summarizes", || {
                !std::path::Path::new("/proc").join(&running).exists()
            });
            std::fs::remove_file(place.path("running")).unwrap();
        }
    }
}
