//! A log that is followed: each addition is read as the first one, and errors say where they are in the log.

use std::fs;
use std::io::Write as _;
use std::process::{Child, Stdio};

use crate::program::{Place, text, wait_until};

/// A run that follows standard input.
struct Followed<'p> {
    place: &'p Place,
    child: Child,
}

impl<'p> Followed<'p> {
    fn start(place: &'p Place, arguments: &[&str]) -> Self {
        let out = fs::File::create(place.path("out")).unwrap();
        let mut command =
            place.command(&[&["summarize", "-n", "2", "--emit", "state", "--follow"], arguments].concat());
        let child = command.stdin(Stdio::piped()).stdout(out).stderr(Stdio::piped()).spawn().unwrap();
        Self { place, child }
    }

    fn write(&mut self, bytes: &[u8]) {
        self.child.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    fn await_lines(&mut self, lines: usize) {
        let (place, child) = (self.place, &mut self.child);
        wait_until(&format!("{lines} lines"), || {
            assert!(child.try_wait().unwrap().is_none(), "it ended early");
            text(&place.read("out")).lines().count() >= lines
        });
    }

    /// The exit status, and what it said.
    fn end(mut self) -> (Option<i32>, String) {
        drop(self.child.stdin.take());
        let done = self.child.wait_with_output().unwrap();
        (done.status.code(), text(&done.stderr))
    }
}

const GOOD: &str = "{\"role\":\"user\",\"content\":\"When does it leave?\"}\n";

#[test]
fn an_error_says_where_in_the_log_it_is() {
    let wrong = b"{\"role\" \"user\"}\n".as_slice();
    let not_text = b"{\"role\":\"user\",\"content\":\"\xff\"}\n".as_slice();
    for (bytes, column) in [(wrong, "9"), (not_text, "27: invalid UTF-8")] {
        for (more, name) in [(&[][..], "stdin"), (&["--stdin-filename", "foo.jsonl"], "foo.jsonl")] {
            for memory in [&[][..], &["--store", "s.db", "--thread", "t"]] {
                let place = Place::new();
                let arguments = [&["--dialect", "openai"], more, memory].concat();
                let mut first = Followed::start(&place, &arguments);
                first.write(bytes);
                let (status, stderr) = first.end();
                let at = format!("{name}:1:{column}");
                assert!(status == Some(2) && stderr.contains(&at), "{arguments:?}, {at}: {stderr}");
                let mut later = Followed::start(&place, &arguments);
                later.write(GOOD.as_bytes());
                later.await_lines(1);
                later.write(bytes);
                let (status, stderr) = later.end();
                let at = format!("{name}:2:{column}");
                assert!(status == Some(2) && stderr.contains(&at), "{arguments:?}, {at}: {stderr}");
            }
        }
    }
}

/// A description is a part of the command, so it is read once, when the command begins.
#[test]
fn a_description_is_read_once() {
    const FERRY: &str = "name = \"ferry\"\nfits = { who = true }\n[role]\nat = \"who\"\nuser = \"skipper\"\nassistant = \"engine\"\n[[part]]\nis = \"text\"\nat = \"say\"\n[write]\nmessage = '{\"who\": $role, \"say\": $text}'\n";
    let place = Place::new();
    place.write("ferry.toml", FERRY.as_bytes());
    let mut followed = Followed::start(&place, &["--dialect-file", "ferry.toml"]);
    followed.write(b"{\"who\":\"skipper\",\"say\":\"When does it leave?\"}\n");
    followed.await_lines(1);
    fs::remove_file(place.path("ferry.toml")).unwrap();
    followed.write(b"{\"who\":\"engine\",\"say\":\"At nine.\"}\n");
    followed.await_lines(2);
    let (status, stderr) = followed.end();
    assert!(status == Some(0) && stderr.is_empty(), "{stderr}");
    assert!(text(&place.read("out")).lines().last().unwrap().contains("At nine."));
}

/// A log may repeat messages, with their ids. In whatever pieces it comes, its memory is that of one run.
#[test]
fn what_a_log_repeats_is_followed_as_it_is_read() {
    let line = |id: &str, kind: &str, words: &str| {
        format!(
            "{{\"id\":\"{id}\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"{kind}\",\"content\":[{{\"text\":\"{words}\"}}]}}"
        )
    };
    let head = "{\"sessionId\":\"s\",\"projectHash\":\"p\",\"startTime\":\"2026-01-01T00:00:00Z\",\"lastUpdated\":\"2026-01-01T00:00:00Z\",\"kind\":\"main\"}\n";
    let said = line("u1", "user", "Name a river.");
    let set = format!("{{\"$set\":{{\"messages\":[{said}]}}}}\n");
    let place = Place::new();
    let pieces = [format!("{head}{said}\n"), set, line("u2", "user", "And a lake?") + "\n"];
    place.write("log.jsonl", pieces.concat().as_bytes());
    let base = ["summarize", "-n", "2", "--emit", "state", "--dialect", "gemini", "--framing", "lines"];
    let whole = place.curtail(&[&base[..], &["log.jsonl"]].concat()).output().unwrap();
    assert!(whole.status.success(), "{}", text(&whole.stderr));
    let mut followed = Followed::start(&place, &["--dialect", "gemini", "--framing", "lines"]);
    followed.write(pieces[0].as_bytes());
    followed.await_lines(1);
    followed.write((pieces[1].clone() + &pieces[2]).as_bytes());
    followed.await_lines(2);
    let (status, stderr) = followed.end();
    assert_eq!(status, Some(0), "{stderr}");
    assert_eq!(text(&place.read("out")).lines().last(), text(&whole.stdout).lines().last());
}
