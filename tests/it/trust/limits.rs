//! What never ends, and what killed runs leave behind.

use std::io::Write as _;
use std::process::Stdio;

use super::{curtail, folder, text};

/// A flag that names a small file reads a bounded part of a device.
#[cfg(unix)]
#[test]
fn flags_that_name_small_files_read_no_device_for_ever() {
    let folder = folder();
    let chat = "{\"role\":\"user\",\"content\":\"Hello\"}\n".repeat(9);
    std::fs::write(folder.path().join("chat.jsonl"), chat).expect("it can be written");
    let asks = ["summarize", "-n", "6", "--summarizer", "openai", "--summary-model", "m", "chat.jsonl"];
    let runs: [&[&str]; 9] = [
        &["--api-key-file", "/dev/zero"],
        &["--prompt", "/dev/zero"],
        &["--ca-file", "/dev/zero"],
        &["limit", "-t", "9", "--template", "/dev/zero", "chat.jsonl"],
        &["replay", "--price", "/dev/zero", "chat.jsonl"],
        &["memory", "recall", "--state", "/dev/zero", "chat.jsonl"],
        &["memory", "recall", "--thread", "x", "--schema", "/dev/zero", "chat.jsonl"],
        &["run", "-c", "/dev/zero", "chat.jsonl"],
        &["store", "import", "--store", "s.db", "/dev/zero"],
    ];
    for run in runs {
        let summarizes: &[&str] = if run[0].starts_with("--") { &asks } else { &[] };
        let mut command = curtail(folder.path());
        command.env("OPENAI_API_KEY", "sk-0123456789abcdef").env("HOME", folder.path());
        let output = command.args(summarizes).args(run).output().expect("the binary runs");
        let error = text(&output.stderr);
        let bounded = ["larger than", "longer than", "not an export"].iter().any(|part| error.contains(part));
        assert!(output.status.code() == Some(2) && bounded, "{run:?}: {error}");
    }
}

/// The names in a folder.
fn names(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A first write of a store that is killed leaves nothing that a later run does not remove.
#[cfg(unix)]
#[test]
fn what_a_killed_first_write_leaves_is_removed() {
    let folder = folder();
    let write = |store: &str| {
        let mut command = curtail(folder.path());
        command.args(["memory", "set", "--store", store, "--thread", "t", "-"]).stdin(Stdio::piped());
        let mut child = command.spawn().expect("the binary runs");
        child.stdin.take().expect("a pipe").write_all(b"{\"a\":1}").expect("it is read");
        child
    };
    for nth in 0..24_u64 {
        let mut child = write(&format!("killed-{nth}.db"));
        std::thread::sleep(std::time::Duration::from_millis(3 * nth));
        child.kill().expect("it runs or ended");
        child.wait().expect("it ended");
    }
    // One that another run is writing stays.
    let busy = std::fs::File::create(folder.path().join(".curtail-busybusy00.tmp")).expect("it can be written");
    busy.lock().expect("a lock");
    std::fs::write(folder.path().join(".curtail-abandoned0.tmp"), "").expect("it can be written");
    assert!(write("kept.db").wait().expect("it ends").success());
    let left: Vec<String> = names(folder.path()).into_iter().filter(|name| name.starts_with('.')).collect();
    assert_eq!(left, [".curtail-busybusy00.tmp"]);
    drop(busy);
    // The next one sweeps an existing store's folder as well. A process that another test begins may have the file for a moment.
    let is_swept = (0..50).any(|_| {
        assert!(write("kept.db").wait().expect("it ends").success());
        let left = names(folder.path()).iter().any(|name| name.starts_with('.'));
        if left {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        !left
    });
    assert!(is_swept, "{:?}", names(folder.path()));
}
