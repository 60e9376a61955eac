//! `--concurrency N` keeps N requests in progress, whatever the number of threads and the size of the records.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};

use serde_json::json;

use super::{curtail, folder, text};
use crate::server::{Reply, Server};

/// A server that answers a request only when `wanted` are waiting or no more come. Returns it, and the most that waited.
fn server(wanted: usize, requests: usize) -> (Server, Arc<Mutex<usize>>) {
    let most = Arc::new(Mutex::new(0));
    let state = Arc::new((Mutex::new((0, 0)), Condvar::new()));
    let seen = Arc::clone(&most);
    let server = Server::answering(move |_, _| {
        let (counts, changed) = &*state;
        let mut counts = counts.lock().expect("no thread panicked");
        (counts.0, counts.1) = (counts.0 + 1, counts.1 + 1);
        let mut most = seen.lock().expect("no thread panicked");
        *most = (*most).max(counts.0);
        drop(most);
        changed.notify_all();
        // The last requests cannot be joined by others.
        let alone = |counts: &mut (usize, usize)| counts.0 < wanted && counts.1 < requests;
        let (mut counts, _) =
            changed.wait_timeout_while(counts, crate::program::GUARD, alone).expect("no thread panicked");
        counts.0 -= 1;
        Reply::ok(json!({"choices": [{"message": {"content": "Fine."}}]}).to_string())
    });
    (server, most)
}

fn records(folder: &Path, count: usize) {
    let mut lines = String::new();
    for record in 0..count {
        let messages: Vec<_> =
            (0..3).map(|n| json!({"role": "user", "content": format!("{record}: message {n}.")})).collect();
        let _ = writeln!(lines, "{}", json!({"id": record, "messages": messages}));
    }
    std::fs::write(folder.join("set.jsonl"), lines).expect("it can be written");
}

fn run(folder: &Path, endpoint: &str, flags: &[&str]) -> String {
    let ask = ["summarize", "-n", "2", "--summary-model", "m", "--summarizer", "openai", "--endpoint", endpoint];
    let output = curtail(folder).args(ask).args(flags).output().expect("the binary runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn small_records_are_asked_about_side_by_side() {
    for (jobs, wanted, emit) in [("1", 8, "context"), ("2", 8, "state"), ("8", 3, "context"), ("1", 1, "state")] {
        let folder = folder();
        records(folder.path(), 24);
        let (server, most) = server(wanted, 24);
        let concurrency = wanted.to_string();
        let flags = ["--jobs", jobs, "--concurrency", &concurrency, "--emit", emit, "set.jsonl"];
        let written = run(folder.path(), &server.address, &flags);
        assert_eq!(*most.lock().expect("no thread panicked"), wanted, "--jobs {jobs}");
        let order: Vec<usize> = written.lines().map(numbered).collect();
        assert_eq!(order, (0..24).collect::<Vec<_>>(), "in the order of the input");
    }
}

/// The number of the record that a line of output is about.
fn numbered(line: &str) -> usize {
    let at = line.find(": message").expect("a message");
    let digits = line[..at].rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    digits.parse().expect("a number")
}

/// Several small files, a chain of `run`, and outputs in a folder.
#[test]
fn files_and_chains_are_asked_about_side_by_side() {
    let folder = folder();
    records(folder.path(), 6);
    std::fs::copy(folder.path().join("set.jsonl"), folder.path().join("more.jsonl")).expect("it can be copied");
    let (server, most) = server(6, 12);
    let chain = format!(
        "[[history.processors]]\ntype = \"summarize\"\nwindow = 2\nsummarizer = \"openai\"\nsummary-model = \"m\"\n\
         concurrency = 6\nendpoint = \"{}\"\n",
        server.address
    );
    std::fs::write(folder.path().join("chain.toml"), chain).expect("it can be written");
    let arguments = ["run", "-c", "chain.toml", "--jobs", "2", "-O", "out", "set.jsonl", "more.jsonl"];
    let output = curtail(folder.path()).args(arguments).output().expect("the binary runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(*most.lock().expect("no thread panicked"), 6);
    for name in ["set.jsonl", "more.jsonl"] {
        let written = std::fs::read_to_string(folder.path().join("out").join(name)).expect("it was written");
        assert_eq!(written.matches("Fine.").count(), 6, "{written}");
    }
}
